"""From overrides to the plain, resolved configuration of one experiment."""

import functools
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from boostbench.config import fields, interpolations
from boostbench.config import overrides as checks
from boostbench.config.overrides import name_of
from boostbench.util import configs
from boostbench.util.errors import UserError, invalid_folder_error
from boostbench.util.user_paths import user_path


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn errors of Hydra and OmegaConf into a `UserError` of one line."""
    try:
        yield
    except (HydraException, OmegaConfBaseException) as error:
        lines = f"{error}\n{error.__cause__ or ''}".splitlines()
        # Without links to Hydra's manual, the caret that points at a column, and inner names.
        inner = ("https://", "full_key:", "object_type=", "reference_type=")
        kept = [
            line.strip()
            for line in lines
            if line.strip(" ^") and not any(word in line for word in inner)
        ]
        raise UserError("; ".join(dict.fromkeys(kept))) from error


def experiment(settings: Mapping[str, Any], asked: Collection[str] | None = None) -> dict:
    """Compose one experiment as ``boostbench run`` does.

    Hydra takes a tenth of a second for each; a table has a hundred.

    Parameters
    ----------
    settings : Settings
        What is not as ``config.yaml`` has it, see `boostbench.config.overrides`.
    asked : collection of str, default=None
        Those of its keys that a person gave on a command line, which a profile leaves as they are;
        what a definition says besides, its numbers limit. By default all.

    Returns
    -------
    dict
        Resolved config, see `resolve`.

    Raises
    ------
    UserError
        Unknown option of a group, unknown key, or a value that cannot be where it is to go.
    """
    settings = dict(zip(checks.allow_new_parameters(settings), settings.values(), strict=True))
    spec, choices = _copy(checks.of_all()), {}
    for group, usual in checks.chosen_by_default().items():
        choice = settings.get(group, usual)
        choices[group] = "null" if choice is None else str(choice)
        spec[group] = spec.get(group, {}) | _copy(option(group, choices[group]))
    for key, value in settings.items():
        if key not in choices:
            _apply(spec, key, value)
    if "${" in repr(spec):
        spec = _resolved(OmegaConf.create(spec))
    return _settle(spec, choices["algo"], settings, asked)


@functools.cache
def option(group: str, name: str) -> dict:
    """Read an option of a group, which must not be changed.

    Raises
    ------
    UserError
        Unknown option.
    """
    checks.check_option(group, name, configs.list_options(group))
    return configs.read_option(group, name)


def _copy(value: Any) -> Any:
    """Copy plain values, in a tenth of the time of the general `copy.deepcopy`."""
    if isinstance(value, dict):
        return {key: _copy(inner) for key, inner in value.items()}
    return [_copy(inner) for inner in value] if isinstance(value, list) else value


def _apply(spec: dict, key: str, value: Any) -> None:
    """Set, add or delete a value as Hydra does."""
    name, is_new, is_gone = name_of(key), key.startswith("+"), key.startswith("~")
    *outer, last = name.split(".")
    node = spec
    for part in outer:
        if is_new and not isinstance(node.get(part), dict):
            node[part] = {}
        node = node.get(part)
        if not isinstance(node, dict):
            raise checks.unknown_key(name, checks.flat_keys(spec))
    old = node.get(last)
    if last not in node and not is_new:
        raise checks.unknown_key(name, checks.flat_keys(spec))
    if is_gone:
        if value not in (None, "", old):
            raise UserError(f"cannot delete {name}={value}: it is {old}")
        del node[last]
    elif isinstance(value, dict) and isinstance(old, dict):
        for inner, own in value.items():
            _apply(spec, f"{key}.{inner}", own)
    elif key.startswith("+" + name) and old is not None and not isinstance(value, dict | list):
        raise UserError(f"{key} is there already, as {old}; {name}=... changes it")
    else:
        node[last] = _copy(value)


def _resolved(config: DictConfig) -> dict:
    """Give plain values, of which none refers to another any more."""
    interpolations.check(OmegaConf.to_container(config, resolve=False), "")
    with one_line_errors():
        return OmegaConf.to_container(config, resolve=True, throw_on_missing=True)


def resolve(cfg: DictConfig, hydra: DictConfig) -> dict:
    """Turn a composed config into plain values: the profile in effect, what is overtaken dropped.

    A profile changes values of the protocol and of the algorithm, except those that an override has
    set. Its numbers are limits, also of what a definition sets.

    A class given by ``algo._target_=`` does not inherit the parameters and the grid of the
    algorithm whose config it replaces; a file given by ``data.path=`` alone does not inherit the
    name, the expected shape and the sources of the default data set, nor does a task of OpenML,
    which brings its splits.

    Parameters
    ----------
    cfg : DictConfig
        The composed config.
    hydra : DictConfig
        Hydra's own part of it: which options were chosen, which overrides given.

    Returns
    -------
    dict
        ``algo``, ``data``, ``protocol``, ``profile``, ``parallel``, ``seed``, ``results``,
        ``rerun``, ``shard``.

    Raises
    ------
    UserError
        If a value refers to more than other values, or does not fit.
    """
    # Without Hydra's own part nothing can refer to it.
    spec = _resolved(OmegaConf.masked_copy(cfg, [key for key in cfg if key != "hydra"]))
    choice = OmegaConf.select(hydra, "runtime.choices.algo")
    return _settle(spec, choice, [override.partition("=")[0] for override in hydra.overrides.task])


@dataclass
class _Profile:
    name: Any
    protocol: dict[str, Any]
    algo: dict[str, dict[str, Any]]


@dataclass
class _Parallel:
    backend: Any
    n_jobs: Any
    scheduler: Any = None


@dataclass
class _Composed:
    """What has to be there; values that have to be of some type are checked where they are used."""

    algo: dict[str, Any]
    data: dict[str, Any]
    protocol: dict[str, Any]
    profile: _Profile
    parallel: _Parallel
    seed: Any
    measure: Any
    results: str
    rerun: Any
    shard: Any


def _settle(
    spec: dict, choice: str, given: Collection[str], asked: Collection[str] | None = None
) -> dict:
    """Drop what the given keys have overtaken, and apply the profile."""
    given = [*map(name_of, given)]
    if isinstance(spec.get("results"), int | float) and spec["results"] is not True:
        spec["results"] = str(spec["results"])  # a folder of this name
    known = {key: spec[key] for key in _Composed.__annotations__ if key in spec}
    fields.fill(_Composed, known, "the configuration", empty=True)
    if not spec["results"]:
        raise invalid_folder_error(spec["results"])
    spec["results"] = str(user_path(spec["results"]))
    if "name" not in spec["algo"]:
        raise UserError("the configuration lacks algo.name, which names the files of records")
    if not isinstance(spec["algo"]["name"], str):
        raise UserError(f"algo.name is {spec['algo']['name']!r}; it must be text")
    spec["algo"].setdefault("title", spec["algo"]["name"])
    _replace_algorithm(spec["algo"], choice, given)
    task = spec["data"].get("openml_task")
    if (spec["data"].get("path") or task) and "data" not in given:
        _replace_data(spec["data"], given)
    for key, value in {"sampling": "fixed", "n_splits": None}.items() if task else ():
        if not _is_given(f"protocol.{key}", given):
            spec["protocol"][key] = value
    _apply_profile(spec, given, given if asked is None else [*map(name_of, asked)])
    _check(spec)
    return spec


# Data and protocols that were seen to be right, as they are written: a table has few of each.
_right: set[str] = set()


def _check(spec: dict) -> None:
    """Refuse data and a protocol that cannot be; what is deleted of the protocol is at its default.

    Here, as commands read them that never make an experiment of them.
    """
    from boostbench.data.spec import check_spec  # slow to import
    from boostbench.spec.protocol import ProtocolSpec

    for field in msgspec.structs.fields(ProtocolSpec):
        spec["protocol"].setdefault(field.name, field.default)
    written = repr((spec["data"], spec["protocol"]))
    if written not in _right:
        check_spec(spec["data"])
        ProtocolSpec.from_config(spec["protocol"])
        _right.add(written)


def _apply_profile(spec: dict, given: list[str], asked: list[str]) -> None:
    profile, algo = spec["profile"], spec["algo"]
    own = profile["algo"].get("all", {}) | profile["algo"].get(algo["name"], {})
    for group, values in (("protocol", profile["protocol"]), ("algo", own)):
        settings = spec[group]
        for key, value in values.items():
            if key not in settings or _is_given(f"{group}.{key}", asked):
                continue
            if isinstance(value, int | float) and isinstance(settings[key], int | float):
                settings[key] = min(value, settings[key])
            elif not _is_given(f"{group}.{key}", given):
                settings[key] = value
    grid, limit = algo.get("grid"), own.get("n_iterations")
    tried = grid.get("n_iterations") if isinstance(grid, dict) else None
    is_known = isinstance(tried, list) and all(isinstance(n, int) for n in [limit, *tried])
    if is_known and not _is_given("algo.grid", asked):
        grid["n_iterations"] = list(dict.fromkeys(min(number, limit) for number in tried))


def _replace_algorithm(algo: dict, choice: str, given: list[str]) -> None:
    """Forget the parameters of the config `choice` when ``_target_`` is another class than its."""
    if "algo._target_" not in given:
        return
    own = option("algo", choice) if choice in configs.list_options("algo") else algo
    # Nothing at all may be given too, by ~algo._target_: what makes the algorithm refuses it.
    if algo.get("_target_") in (None, own["_target_"]):
        return
    for key in own.keys() - {"_target_"}:
        if not _is_given(f"algo.{key}", given):
            del algo[key]
    # A grid that is given has been merged with that of the config.
    grid = algo.get("grid")
    for parameter, values in own["grid"].items() if isinstance(grid, dict) else ():
        if f"algo.grid.{parameter}" not in given and grid.get(parameter) == values:
            del grid[parameter]
    name = str(algo["_target_"]).rpartition(".")[2]
    for key, value in {"name": name, "title": name, "paper": None, "grid": {}}.items():
        algo.setdefault(key, value)


def _replace_data(data: dict, given: list[str]) -> None:
    """Forget the default data set when a file, or a task of OpenML, takes its place."""
    for key in data.keys() - {"name", "path", "openml_task", "labels", "missing"}:
        if not _is_given(f"data.{key}", given):
            del data[key]
    if "data.name" not in given:
        from boostbench.data.sources.local_files import data_set_name  # slow to import

        task, path = data.get("openml_task"), str(data["path"])
        data["name"] = f"{configs.TASK_PREFIX}{task}" if task else data_set_name(Path(path))


def _is_given(key: str, given: list[str]) -> bool:
    """Whether an override sets a key or something below it."""
    return any(set_key == key or set_key.startswith(f"{key}.") for set_key in given)
