"""What a config may make: estimators, and no other calls."""

from collections.abc import Mapping

from boostbench.errors import UserError
from boostbench.experiment.algorithm import Algorithm


def algorithm_of(config: Mapping) -> Algorithm:
    """Make an algorithm of its config, after a look at the classes that this makes objects of.

    Some classes do things when they are made, as `subprocess.Popen` does. So the class of the
    algorithm must have `fit`, and within its parameters there must be classes, not functions. Of
    these Hydra refuses some by itself.

    Parameters
    ----------
    config : mapping
        As of `Algorithm.from_config`.

    Raises
    ------
    UserError
        If a class is none of these, and as of `Algorithm.from_config`.
    """
    target = config.get("_target_") if isinstance(config, Mapping) else None
    if isinstance(target, str):
        check_target(target)
    _check(config)
    return Algorithm.from_config(config)


def check_target(target: str) -> None:
    """Refuse a class that cannot be fitted, and what is none, by its dotted name."""
    if not hasattr(Algorithm("", target).locate(), "fit"):
        raise UserError(f"algo._target_={target} is no classifier: it has no fit")


def _check(value) -> None:
    if isinstance(value, Mapping):
        if isinstance(value.get("_target_"), str):
            Algorithm("", value["_target_"]).locate()
        value = list(value.values())
    for one in value if isinstance(value, list | tuple) else ():
        _check(one)
