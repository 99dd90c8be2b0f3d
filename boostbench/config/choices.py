"""Choices of data and algorithms, and the shared overrides that concern an algorithm.

A table or a figure has many experiments. Its definition and the command line give overrides for all
of them, and an override of a parameter applies where the algorithm has the parameter.
"""

import os
from collections import ChainMap
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from boostbench.config.compose import ConfigTree, load_option
from boostbench.config.overrides import Settings, parse_overrides, strip_prefix, top_level_key
from boostbench.spec.algorithm import PRESENTATION
from boostbench.util import configs
from boostbench.util.errors import UserError, unknown_name_error
from boostbench.util.files import user_path

# Modules that read data and look up classes import NumPy or scikit-learn. Functions import them
# when they need them, so that an unknown name on a command line is reported at once.


def data_settings(data: str) -> Settings:
    """Return the settings that choose data: a data set, an OpenML task or a file.

    Parameters
    ----------
    data : str
        Name of a data set, ``openml-task-NUMBER``, or path of a file.

    Raises
    ------
    UserError
        If there is no such file.
    """
    if data.startswith(configs.TASK_PREFIX):
        return parse_overrides([f"data.openml_task={data.removeprefix(configs.TASK_PREFIX)}"])
    if _is_file(data):
        return Settings({"data.path": data})
    from boostbench.data.readers import reader_of

    # A name with a folder in it, or with the ending of a data file, was meant as a path.
    path = Path(data)
    if path.name != data or reader_of(path):
        raise UserError(f"there is no file {data}; check the path")
    return Settings({"data": data})


def data_title(data: str) -> str:
    """Return the heading of data: their name or, for a file, the name of the data set in it."""
    if not _is_file(data):
        return data
    from boostbench.data.sources.local_files import data_set_name

    return data_set_name(Path(data))


def _is_file(data: str) -> bool:
    """Return whether `data` is the path of a file, and not the name of a data set."""
    return os.path.isfile(user_path(data)) and data not in configs.list_options("data")


class AlgorithmChoice(NamedTuple):
    """Choice of an experiment's algorithm, on which the applicable overrides depend.

    Attributes
    ----------
    algo : str, default=None
        Name of an algorithm. None: a class without a config.
    target : str, default=None
        Dotted name of a class that replaces the class of the algorithm. None: there is none.
    """

    algo: str | None = None
    target: str | None = None

    @classmethod
    def resolve(cls, *layers: Settings) -> "AlgorithmChoice":
        """Return the choice of several settings; later ones have priority."""
        settings = ChainMap(*reversed(layers))
        values = settings.get("algo"), settings.get("algo._target_")
        # A value that is no text is refused where the experiment is composed.
        return cls(*(None if value is None else str(value) for value in values))

    def config(self) -> ConfigTree:
        """Return the algorithm's config, or only ``_target_`` for a class without a config."""
        config = load_option("algo", self.algo) if self.algo else {}
        is_replaced = self.target not in (None, config.get("_target_"))
        return ConfigTree({"_target_": self.target} if is_replaced else config)


def select_applicable(shared: Settings, choice: AlgorithmChoice) -> Settings:
    """Select the overrides that concern an experiment.

    ``algo.n_iterations=50`` for a whole table does not concern a column of logistic regressions.

    Parameters
    ----------
    shared : Settings
        Overrides of several experiments.
    choice : AlgorithmChoice
        Algorithm of one experiment.

    Returns
    -------
    Settings
        Overrides without parameters that the algorithm does not have. A parameter of the class that
        its config does not mention is added.
    """
    keys = {key: _applicable_key(key, value, choice) for key, value in shared.items()}
    return Settings({keys[key]: value for key, value in shared.items() if keys[key]})


def check_applicable(shared: Settings, choices: Iterable[AlgorithmChoice], where: str = "") -> None:
    """Raise an error for an override of a parameter that no algorithm has.

    Parameters
    ----------
    shared : Settings
        Overrides of several experiments.
    choices : iterable of AlgorithmChoice
        Algorithm of each experiment; equal ones are asked once.
    where : str, default=""
        File, and the place in it, for the message.

    Raises
    ------
    UserError
        With the near matches.
    """
    distinct_choices = dict.fromkeys(choices) if shared else {}
    for key, value in shared.items():
        if not any(_applicable_key(key, value, choice) for choice in distinct_choices):
            names = {name for choice in distinct_choices for name in _parameter_keys(choice)}
            valid_keys = {f"algo.{name}" for name in names}
            error = unknown_name_error("key", strip_prefix(key), valid_keys, is_listed=False)
            raise UserError(f"{where}: {error}") if where else error


def _applicable_key(key: str, value: Any, choice: AlgorithmChoice) -> str | None:
    """Return the key by which a shared override is applied to one experiment.

    Parameters
    ----------
    key : str
        Key of the override, with its prefix.
    value : object
        Value of the override.
    choice : AlgorithmChoice
        Algorithm of the experiment.

    Returns
    -------
    str or None
        `key` itself, or ``++`` and the key to add a parameter of the class that the algorithm's
        config does not mention. None: the algorithm has no such parameter, and the override does
        not apply.
    """
    # 1) Keys other than parameters exist in every experiment.
    _, *path = strip_prefix(key).split(".")
    if top_level_key(key) != "algo" or not path or path[0] in ("_target_", *PRESENTATION):
        return key
    # 2) A parameter in the algorithm's config, or in its grid, is overridden as it is.
    config, is_grid = choice.config().values, path[0] == "grid"
    if not is_grid:
        names, config_names = path[:1], config
    elif len(path) > 1:
        # An override such as `algo.grid.nu=[0.1,1]` names one parameter in its key.
        names, config_names = path[1:2], config.get("grid", {})
    else:
        # The value of an override such as `algo.grid={nu:[0.1,1]}` names parameters; null has none.
        names, config_names = value or (), config.get("grid", {})
    if all(name in config_names for name in names):
        return key
    # 3) Another parameter of the class may be added, with the prefix `+` in any case. An override
    #    without a prefix adds it to the config, but not to the grid, which states the tuned
    #    parameters. The prefix `~` deletes, and there is nothing to delete.
    may_add = key.startswith("+") or not (is_grid or key.startswith("~"))
    if may_add and _has_parameters(config.get("_target_"), names):
        return f"++{strip_prefix(key)}"
    return None


def _has_parameters(target: Any, names: Iterable[str]) -> bool:
    """Return whether the class `target` has all parameters `names`.

    A class that cannot be imported counts as having them: the error is raised where it is fitted.
    """
    from boostbench.spec import trusted_imports

    try:
        cls = trusted_imports.import_estimator(target)
    except UserError:
        return True
    parameters, takes_any = trusted_imports.constructor_parameters(cls)
    return takes_any or set(parameters).issuperset(names)


def _parameter_keys(choice: AlgorithmChoice) -> Iterator[str]:
    """Yield the keys below ``algo`` that an override of an experiment may set, for near matches."""
    from boostbench.spec import trusted_imports

    config = choice.config().values
    yield from config
    yield from (f"grid.{name}" for name in config.get("grid", {}))
    with suppress(UserError):
        cls = trusted_imports.import_estimator(config.get("_target_"))
        yield from trusted_imports.constructor_parameters(cls).names
