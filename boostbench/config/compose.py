"""The composer: from settings to the resolved config of one experiment.

Groups, values and overrides are merged as Hydra merges them, for the layout of ``conf/`` alone.
Hydra itself takes a tenth of a second for each experiment, and a table has a hundred.
"""

import functools
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from boostbench.config.overrides import (
    Settings,
    allow_new_parameters,
    check_references,
    parse_overrides,
    quote_override,
    strip_prefix,
    top_level_key,
)
from boostbench.spec.algorithm import PRESENTATION
from boostbench.spec.data import DataSpec
from boostbench.spec.experiment import ExperimentConfig, ParallelSettings, Profile
from boostbench.spec.protocol import ProtocolSpec
from boostbench.util import configs
from boostbench.util.errors import UserError, invalid_folder_error, unknown_name_error
from boostbench.util.files import user_path
from boostbench.util.validation import struct_from_mapping

# Modules that read data and look up classes import NumPy or scikit-learn. Functions import them
# when they need them, so that an unknown name on a command line is reported at once.


def compose_experiment(
    values: Settings,
    asked: Collection[str] | None = None,
    folders: Sequence[Path] = (),
) -> ExperimentConfig:
    """Compose one experiment, see `compose_config`."""
    return ExperimentConfig.from_config(compose_config(values, asked, folders))


def compose_config(
    values: Settings,
    asked: Collection[str] | None = None,
    folders: Sequence[Path] = (),
) -> dict[str, Any]:
    """Compose the config of one experiment, as ``--cfg job`` prints it.

    Parameters
    ----------
    values : Settings
        All overrides of ``config.yaml``, of a person or of the definition of a table or figure, see
        `boostbench.config.overrides`.
    asked : collection of str, default=None
        Keys of `values` that a person gave on a command line; a profile leaves their values as they
        are. The other values come from a definition: the profile's numbers are upper limits on
        them. None: a person gave all.
    folders : sequence of pathlib.Path, default=()
        Folders of configs that are searched before ``conf/``.

    Returns
    -------
    dict
        ``algo``, ``data``, ``protocol``, ``profile``, ``parallel``, ``seed``, ``measure``,
        ``results``, ``rerun``, ``shard``. The profile is applied. A class given by
        ``algo._target_=`` does not inherit the parameters and the grid of the algorithm whose
        config it replaces; a file given by ``data.path=`` alone does not inherit the name, the
        expected shape and the sources of the default data set, nor does an OpenML task, which
        brings its splits.

    Raises
    ------
    UserError
        Unknown option of a group, unknown key, or a value that is not valid for its key.
    """
    values = Settings(zip(allow_new_parameters(values), values.values(), strict=True))
    config, choices = merge_configs(values, tuple(folders))
    override_keys = [*map(strip_prefix, values)]
    user_keys = override_keys if asked is None else [*map(strip_prefix, asked)]
    return _finalise(
        config,
        replaced=load_option("algo", choices["algo"], tuple(folders)),
        override_keys=override_keys,
        user_keys=user_keys,
    )


def merge_configs(
    values: Settings, folders: tuple[Path, ...] = ()
) -> tuple[dict[str, Any], dict[str, str]]:
    """Merge ``config.yaml``, the chosen options and the values, and resolve references.

    Returns
    -------
    config : dict
        Plain values, as Hydra composes them.
    choices : dict of str to str
        Option of each group.
    """
    config, choices = configs.base_config(), {}
    for group, default in configs.default_choices().items():
        choice = values.get(group, default)
        choices[group] = "null" if choice is None else str(choice)
        config[group] = config.get(group, {}) | load_option(group, choices[group], folders)
    for key, value in values.items():
        if key not in choices:
            _apply(config, key, value)
    # Most configs hold no reference and are spared the conversion by OmegaConf.
    if "${" in repr(config):
        config = resolve_references(config)
    return config, choices


@functools.cache
def load_option(group: str, name: str, folders: tuple[Path, ...] = ()) -> dict:
    """Return the content of an option; it is cached, so callers must not change it.

    Raises
    ------
    UserError
        If the group has no such option, or its file is not valid.
    """
    check_option(group, name, configs.list_options(group, folders))
    return configs.read_option(group, name, folders)


def check_option(group: str, name: str, valid_names: Sequence[str]) -> None:
    """Raise an error if a group has no such option, with advice if it is the path of a file."""
    if name in valid_names:
        return
    if group == "data" and os.path.isfile(user_path(name)):
        raise UserError(
            f"no data set is called {name!r}; the file is {quote_override('data.path', name)}"
        )
    raise unknown_name_error(configs.KINDS[group], name, valid_names, group in ("algo", "data"))


def _apply(config: dict, key: str, value: Any) -> None:
    """Apply one override to `config` in place, as Hydra does.

    Parameters
    ----------
    config : dict
        Config, of which nodes may be shared with the cache of `load_option`.
    key : str
        Dotted key. Without a prefix, the value of an existing key changes; ``+`` adds a key, ``++``
        adds it or changes its value, ``~`` deletes it.
    value : object
        New value. With ``~``, the value that the key must have, or None or "" for any.
    """
    name, is_addition, is_deletion = strip_prefix(key), key.startswith("+"), key.startswith("~")
    # 1) Find the node that holds the value. Each node on the way is copied, as it may be shared.
    *outer, last = name.split(".")
    node = config
    for part in outer:
        inner = node.get(part)
        if not isinstance(inner, dict):
            if not is_addition:
                raise unknown_key_error(name, flat_keys(config))
            inner = {}
        node[part] = dict(inner)
        node = node[part]
    old = node.get(last)
    if last not in node and not is_addition:
        raise unknown_key_error(name, flat_keys(config))
    # 2) Delete, merge or set the value.
    if is_deletion:
        if value not in (None, "", old):
            raise UserError(f"cannot delete {name}={value}: it is {old}")
        del node[last]
    elif isinstance(value, dict) and isinstance(old, dict):
        for inner_key, inner in value.items():
            _apply(config, f"{key}.{inner_key}", inner)
    elif key == f"+{name}" and old is not None and not isinstance(value, dict | list):
        raise UserError(f"{key} is there already, as {old}; {name}=... changes it")
    else:
        node[last] = value


def unknown_key_error(key: str, valid_keys: Iterable[str]) -> UserError:
    """Return the error for a key that the config does not have."""
    return UserError(
        f"{unknown_name_error('key', key, valid_keys, is_listed=False)} (+{key}=... would add it)"
    )


def flat_keys(tree: object, prefix: str = "") -> Iterator[str]:
    """Yield the dotted key of every node: ``algo``, ``algo.grid``, ``algo.grid.nu``."""
    for key, value in tree.items() if isinstance(tree, dict) else ():
        yield f"{prefix}{key}"
        yield from flat_keys(value, f"{prefix}{key}.")


def resolve_references(config: dict) -> dict:
    """Replace references such as ``${seed}`` by the values that they refer to."""
    check_references(config, "")
    try:
        return OmegaConf.to_container(OmegaConf.create(config), resolve=True, throw_on_missing=True)
    except OmegaConfBaseException as error:
        # OmegaConf's message has lines with inner names below the first ones.
        lines = str(error).splitlines()
        inner_names = ("full_key:", "object_type=", "reference_type=")
        texts = [line.strip() for line in lines if not line.strip().startswith(inner_names)]
        raise UserError("; ".join(text for text in texts if text)) from error


class _Composed(msgspec.Struct):
    """Keys of a composed config; values of type Any are checked where they are used."""

    algo: dict[str, Any]
    data: dict[str, Any]
    protocol: dict[str, Any]
    profile: Profile
    parallel: ParallelSettings
    seed: Any
    measure: Any
    results: str
    rerun: Any
    shard: Any


def _finalise(
    config: dict, replaced: Mapping[str, Any], override_keys: list[str], user_keys: list[str]
) -> dict:
    """Check a merged config, drop values of the replaced algorithm and data, apply the profile.

    Parameters
    ----------
    config : dict
        Merged config, which is changed in place and returned.
    replaced : mapping
        Content of the chosen option of ``algo``, whose class ``algo._target_=`` may replace.
    override_keys : list of str
        Keys of all overrides, without prefixes.
    user_keys : list of str
        Keys that a person gave on a command line, without prefixes.
    """
    # 1) Check the types, and the values that this function uses.
    # A folder may have a number as its name.
    if isinstance(config.get("results"), int | float) and config["results"] is not True:
        config["results"] = str(config["results"])
    content = {key: config[key] for key in _Composed.__struct_fields__ if key in config}
    try:
        msgspec.convert(content, _Composed)
    except msgspec.ValidationError:
        # The slower check raises the error again, with the key and advice.
        struct_from_mapping(_Composed, content, "the configuration", allow_empty=True)
    if not config["results"]:
        raise invalid_folder_error(config["results"])
    config["results"] = str(user_path(config["results"]))
    algo, data = config["algo"], config["data"]
    if "name" not in algo:
        raise UserError("the configuration lacks algo.name, which names the files of records")
    if not isinstance(algo["name"], str):
        raise UserError(f"algo.name is {algo['name']!r}; it must be text")
    algo.setdefault("title", algo["name"])
    # 2) Drop the values that belong to a replaced algorithm or to replaced data.
    if "algo._target_" in override_keys:
        _replace_algorithm(algo, replaced, override_keys)
    task = data.get("openml_task")
    # `data=NAME data.path=FILE` gives another file to a known data set, whose values stay.
    is_default_data = "data" not in override_keys
    if (data.get("path") or task) and is_default_data:
        _replace_data(data, override_keys)
    if task:
        # The task brings its splits.
        for key, value in {"sampling": "fixed", "n_splits": None}.items():
            if not _is_overridden(f"protocol.{key}", override_keys):
                config["protocol"][key] = value
    # 3) Apply the profile, and check the values that it may have changed.
    _apply_profile(config, override_keys, user_keys)
    _check_data_and_protocol(config)
    return config


def _replace_algorithm(algo: dict, replaced: Mapping[str, Any], override_keys: list[str]) -> None:
    """Drop the values of the config `replaced` from `algo` if ``_target_`` names another class."""
    # `~algo._target_` deletes the class; the error is raised where the class is needed.
    if algo.get("_target_") in (None, replaced["_target_"]):
        return
    for key in replaced.keys() - {"_target_"}:
        if not _is_overridden(f"algo.{key}", override_keys):
            del algo[key]
    # An override of the grid has been merged with the replaced grid. A parameter remains if an
    # override sets it by its own key, or if its candidates differ from the replaced grid.
    grid = algo.get("grid")
    if isinstance(grid, dict):
        algo["grid"] = {
            parameter: candidates
            for parameter, candidates in grid.items()
            if f"algo.grid.{parameter}" in override_keys
            or replaced["grid"].get(parameter) != candidates
        }
    class_name = str(algo["_target_"]).rpartition(".")[2]
    defaults = {"name": class_name, "title": class_name, "paper": None, "grid": {}}
    for key, value in defaults.items():
        algo.setdefault(key, value)


def _replace_data(data: dict, override_keys: list[str]) -> None:
    """Drop the values of the default data set, which a file or an OpenML task replaces."""
    # The way to read labels and missing values concerns any data.
    for key in data.keys() - {"name", "path", "openml_task", "labels", "missing"}:
        if not _is_overridden(f"data.{key}", override_keys):
            del data[key]
    if "data.name" not in override_keys:
        from boostbench.data.sources.local_files import data_set_name

        task, path = data.get("openml_task"), str(data["path"])
        data["name"] = f"{configs.TASK_PREFIX}{task}" if task else data_set_name(Path(path))


def _apply_profile(config: dict, override_keys: list[str], user_keys: list[str]) -> None:
    """Apply the profile to the protocol and the algorithm, see `_finalise` for the parameters.

    A value that a person gave stays. A number of the profile is an upper limit on any other number,
    and its other values replace the defaults but not the values of a definition.
    """
    profile, algo = config["profile"], config["algo"]
    algo_values = profile["algo"].get("all", {}) | profile["algo"].get(algo["name"], {})
    for group, profile_values in (("protocol", profile["protocol"]), ("algo", algo_values)):
        section = config[group]
        for key, value in profile_values.items():
            if key not in section or _is_overridden(f"{group}.{key}", user_keys):
                continue
            if isinstance(value, int | float) and isinstance(section[key], int | float):
                section[key] = min(value, section[key])
            elif not _is_overridden(f"{group}.{key}", override_keys):
                section[key] = value
    # The limit on the boosting rounds holds for the rounds that are tuned, too.
    if not _is_overridden("algo.grid", user_keys):
        _limit_grid_rounds(algo, algo_values.get("n_iterations"))


def _limit_grid_rounds(algo: dict, limit: object) -> None:
    """Limit the candidates of ``grid.n_iterations``; anything but integers stays as it is."""
    grid = algo.get("grid")
    rounds = grid.get("n_iterations") if isinstance(grid, dict) else None
    if isinstance(rounds, list) and all(isinstance(number, int) for number in [limit, *rounds]):
        limited = dict.fromkeys(min(number, limit) for number in rounds)
        algo["grid"] = grid | {"n_iterations": list(limited)}


def _check_data_and_protocol(config: dict) -> None:
    """Check the data and the protocol; a key that is deleted from the protocol has its default.

    The check belongs here because some commands read these values without making an experiment.
    """
    # All fields have a default.
    for name, default in zip(
        ProtocolSpec.__struct_fields__, ProtocolSpec.__struct_defaults__, strict=True
    ):
        config["protocol"].setdefault(name, default)
    DataSpec.from_config(config["data"])
    ProtocolSpec.from_config(config["protocol"])


def _is_overridden(key: str, override_keys: list[str]) -> bool:
    """Return whether one of the keys is `key` itself or a key below it."""
    return any(other == key or other.startswith(f"{key}.") for other in override_keys)


# --- Settings of several experiments ---


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

    # A text with a folder in it, or with the ending of a data file, was meant as a path.
    path = Path(data)
    if path.name != data or reader_of(path):
        raise UserError(f"there is no file {data}; check the path")
    return Settings({"data": data})


def data_title(row: str) -> str:
    """Return the heading of a row: its name or, for a file, the name of the data set in it."""
    if not _is_file(row):
        return row
    from boostbench.data.sources.local_files import data_set_name

    return data_set_name(Path(row))


def _is_file(data: str) -> bool:
    """Return whether `data` is the path of a file, and not the name of a data set."""
    return os.path.isfile(user_path(data)) and data not in configs.list_options("data")


def select_applicable(shared: Settings, chosen: Settings) -> Settings:
    """Select the overrides that concern an experiment.

    ``algo.n_iterations=50`` for a whole table does not concern a column of logistic regressions.

    Parameters
    ----------
    shared : Settings
        Overrides of several experiments.
    chosen : Settings
        Settings of one experiment, of which ``algo`` and ``algo._target_`` are used.

    Returns
    -------
    Settings
        Overrides without parameters that the algorithm does not have. A parameter of the class that
        its config does not mention is added.
    """
    keys = {key: _applicable_key(key, value, chosen) for key, value in shared.items()}
    return Settings({keys[key]: value for key, value in shared.items() if keys[key]})


def check_applicable(shared: Settings, cells: Iterable[Settings], where: str = "") -> None:
    """Raise an error for an override of a parameter that no algorithm has.

    Parameters
    ----------
    shared : Settings
        Overrides of several experiments.
    cells : iterable of Settings
        Settings of each experiment.
    where : str, default=""
        File, and the place in it, for the message.

    Raises
    ------
    UserError
        With the near matches.
    """
    cells = list(cells) if shared else []  # making the settings of all cells takes a while
    for key, value in shared.items():
        if not any(_applicable_key(key, value, chosen) for chosen in cells):
            valid_keys = {f"algo.{name}" for chosen in cells for name in _parameter_keys(chosen)}
            error = unknown_name_error("key", strip_prefix(key), valid_keys, is_listed=False)
            raise UserError(f"{where}: {error}") if where else error


def _applicable_key(key: str, value: Any, chosen: Settings) -> str | None:
    """Return the key by which a shared override is applied to one experiment.

    Parameters
    ----------
    key : str
        Key of the override, with its prefix.
    value : object
        Value of the override.
    chosen : Settings
        Settings of the experiment.

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
    config, is_grid = _algorithm_config(chosen), path[0] == "grid"
    if is_grid:
        # `algo.grid.nu=[0.1,1]` names one parameter; the value of `algo.grid={nu:[0.1,1]}` names
        # any number of them, and None names none.
        names, config_names = path[1:2] or (value or ()), config.get("grid", {})
    else:
        names, config_names = path[:1], config
    if all(name in config_names for name in names):
        return key
    # 3) Other parameters of the class may be added. `~` has nothing to delete; and the grid says
    #    which parameters are tuned, so that only `+` puts another parameter into it.
    may_add = key.startswith("+") or not (is_grid or key.startswith("~"))
    if may_add and _has_parameters(config.get("_target_"), names):
        return f"++{strip_prefix(key)}"
    return None


def _algorithm_config(chosen: Settings) -> Mapping[str, Any]:
    """Return the config of the chosen algorithm, or only ``_target_`` for a class of the user."""
    algo, target = chosen.get("algo"), chosen.get("algo._target_")
    config = load_option("algo", algo) if algo else {}
    return config if target in (None, config.get("_target_")) else {"_target_": target}


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


def _parameter_keys(chosen: Settings) -> Iterator[str]:
    """Yield the keys below ``algo`` that an override of an experiment may set, for near matches."""
    from boostbench.spec import trusted_imports

    config = _algorithm_config(chosen)
    yield from config
    yield from (f"grid.{name}" for name in config.get("grid", {}))
    with suppress(UserError):
        cls = trusted_imports.import_estimator(config.get("_target_"))
        yield from trusted_imports.constructor_parameters(cls)[0]
