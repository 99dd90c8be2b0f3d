"""Overrides that several cells share: each applies where the algorithm has the parameter.

``algo.n_iterations=50`` for a whole table does not concern a column of logistic regressions.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from boostbench.config.compose import option
from boostbench.config.overrides import Settings, group_of, name_of
from boostbench.spec import trusted_imports
from boostbench.spec.algorithm import PRESENTATION
from boostbench.util.errors import UserError, unknown_name_error

#: Keys of an algorithm's config that are no parameters of its class.
_OF_ALL = ("_target_", *PRESENTATION)


def applicable(shared: Mapping[str, Any], chosen: Mapping[str, Any]) -> Settings:
    """Select the overrides that concern an experiment.

    Parameters
    ----------
    shared : mapping
        Overrides of several experiments.
    chosen : mapping
        Settings of this one. ``algo`` and ``algo._target_`` are looked at.

    Returns
    -------
    Settings
        All but those of parameters that the algorithm does not have. A parameter of the class that
        its config does not mention is added.
    """
    keys = {key: _key_for(key, value, chosen) for key, value in shared.items()}
    return Settings({keys[key]: value for key, value in shared.items() if keys[key]})


def check_applicable(
    shared: Mapping[str, Any], cells: Iterable[Mapping[str, Any]], where: str = ""
) -> None:
    """Refuse an override of a parameter that no algorithm has.

    Parameters
    ----------
    shared : mapping
        Overrides of several experiments.
    cells : iterable of mapping
        Settings of each of them.
    where : str, default=""
        Names the file, and the place in it, in the message.

    Raises
    ------
    UserError
        The near matches are named.
    """
    cells = list(cells)
    for key, value in shared.items():
        if not any(_key_for(key, value, chosen) for chosen in cells):
            known = {f"algo.{name}" for chosen in cells for name in _parameters_of(chosen)}
            error = unknown_name_error("key", name_of(key), known, is_listed=False)
            raise UserError(f"{where}: {error}") if where else error


def _key_for(key: str, value: Any, chosen: Mapping[str, Any]) -> str | None:
    """Return the key by which an override is applied; None where it is not."""
    _, *path = name_of(key).split(".")
    if group_of(key) != "algo" or not path or path[0] in _OF_ALL:
        return key
    config = _config_of(chosen)
    if path[0] == "grid":
        known, names = config.get("grid", {}), path[1:2] or (value or ())
    else:
        known, names = config, path[:1]
    if all(name in known for name in names):
        return key
    if path[0] == "grid" and not key.startswith("+"):
        return None
    if key.startswith("~") or not _class_takes(config.get("_target_"), names):
        return None
    return f"++{name_of(key)}"


def _config_of(chosen: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the config of an algorithm; of a class that another config does not name, its name."""
    algo, target = chosen.get("algo"), chosen.get("algo._target_")
    config = option("algo", algo) if algo else {}
    return config if target in (None, config.get("_target_")) else {"_target_": target}


def _class_takes(target: Any, names: Iterable[str]) -> bool:
    """Return True if a class has parameters, or is not found: the error is raised elsewhere."""
    try:
        known, takes_any = trusted_imports.constructor_parameters(
            trusted_imports.import_estimator(target)
        )
    except UserError:
        return True
    return takes_any or set(known).issuperset(names)


def _parameters_of(chosen: Mapping[str, Any]) -> Iterator[str]:
    config = _config_of(chosen)
    yield from config
    yield from (f"grid.{name}" for name in config.get("grid", {}))
    with suppress(UserError):
        yield from trusted_imports.constructor_parameters(
            trusted_imports.import_estimator(config.get("_target_"))
        )[0]
