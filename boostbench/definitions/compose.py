"""From overrides to the plain, resolved configuration of one experiment."""

import functools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.types import Override, OverrideType
from hydra.errors import HydraException, OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from boostbench import configs
from boostbench.definitions import files, interpolations
from boostbench.definitions import overrides as checks
from boostbench.errors import UserError


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn errors of Hydra and OmegaConf into a `UserError` of one line."""
    try:
        yield
    except OverrideParseException as error:
        what = f"cannot read {error.override!r} as an override"
        raise UserError(f"{what}: KEY=VALUE is expected, with quotes around odd values") from error
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


def experiments(
    overrides: Sequence[Sequence[str]], asked: Sequence[str] | None = None
) -> list[dict]:
    """Compose one experiment for each list of overrides.

    The cells of tables are a few options crossed, and Hydra takes a tenth of a second for each. So
    plain choices and values are merged here, group by group, each distinct one once; what is
    neither is left to Hydra, and so is every mistake.

    Parameters
    ----------
    overrides : sequence of sequence of str
        Hydra overrides, checked for unknown names and keys before anything is composed.
    asked : sequence of str, default=None
        Those of them that a person gave on a command line, which a profile leaves as they are; what
        a definition says besides, its numbers limit. By default all.

    Returns
    -------
    list of dict
        Resolved configs, see `resolve`.

    Raises
    ------
    UserError
        Unknown option of a group, unknown key, or whatever else Hydra finds wrong.
    """
    with one_line_errors():
        return [_merge(own, asked) or compose_by_hydra(own, asked) for own in overrides]


def compose_by_hydra(overrides: Sequence[str], asked: Sequence[str] | None = None) -> dict:
    """Compose one experiment as ``boostbench run`` does: what `experiments` has to equal."""
    checks.check(overrides)
    with _apart(), initialize_config_dir(str(configs.conf_dir()), version_base="1.3"):
        return resolve(compose("config", list(overrides), return_hydra_config=True), asked=asked)


@contextmanager
def _apart() -> Iterator[None]:
    """Set aside the Hydra that runs a job, so that another can compose inside it."""
    state = GlobalHydra.instance()
    running = state.hydra
    state.clear()
    try:
        yield
    finally:
        state.hydra = running


def _merge(overrides: Sequence[str], asked: Sequence[str] | None = None) -> dict | None:
    """Merge an experiment of its groups; None where that is Hydra's to do."""
    if any("$" in override for override in overrides):  # may refer to another group
        return None
    defaults = checks.chosen_by_default()
    # In Hydra's order; "" is what is in no group.
    order = [*(key if key in defaults else "" for key in _top()), *defaults]
    groups: dict[str, list[str]] = {group: [] for group in order}
    for override in overrides:
        own = files.group_of(override)
        groups[own if own in defaults else ""].append(override)
    spec = {}
    for group, own in groups.items():
        part = _part(group, tuple(own))
        if part is None:
            return None
        spec |= _copy(part)
    # What is new stands behind all else.
    spec |= {key: spec.pop(key) for key in [*spec] if key not in _top() and key not in defaults}
    return _settle(spec, _choice("algo", groups["algo"]), overrides, asked)


_parse = functools.cache(checks.parse)


@functools.cache
def _top() -> dict:
    """Read ``config.yaml``, without what is Hydra's."""
    top = _load(configs.conf_dir() / "config.yaml")
    return {key: value for key, value in top.items() if key not in ("defaults", "hydra")}


# Tables share most of what their cells are composed of.
@functools.cache
def _part(group: str, overrides: tuple[str, ...]) -> dict | None:
    """Compose one group, or what is in none (``""``)."""
    try:
        parsed = [_parse(override) for override in overrides]
        if group:
            path = configs.conf_dir() / group / f"{_choice(group, overrides)}.yaml"
            config = {group: _top().get(group, {}) | _load(path)}
            if "defaults" in config[group]:
                return None
        else:
            config = {key: _top()[key] for key in _top() if key not in checks.chosen_by_default()}
        config = _copy(config)
        settings = (override for override in parsed if not _chooses(override, group))
        return config if all(_set(config, override) for override in settings) else None
    except (HydraException, OmegaConfBaseException, OSError):
        return None


def _choice(group: str, overrides: Sequence[str]) -> str:
    chosen = [o for o in map(_parse, overrides) if _chooses(o, group)]
    return str(chosen[-1].value()) if chosen else checks.chosen_by_default()[group]


def _copy(value: Any) -> Any:
    """Copy plain values, in a tenth of the time of the general `copy.deepcopy`."""
    if isinstance(value, dict):
        return {key: _copy(inner) for key, inner in value.items()}
    return [_copy(inner) for inner in value] if isinstance(value, list) else value


def _chooses(override: Override, group: str) -> bool:
    plain = override.type is OverrideType.CHANGE and override.package is None
    return plain and override.key_or_group == group


@functools.cache
def _load(path: Path) -> dict:
    return OmegaConf.to_container(OmegaConf.load(path), throw_on_missing=True)


def _set(config: dict, override: Override) -> bool:
    """Set or add a value as Hydra does; whether that is plain enough to be done here."""
    key, value = override.key_or_group, _copy(override.value())
    is_new = override.is_add() or override.is_force_add()
    if override.package is not None or override.is_delete() or override.is_sweep_override():
        return False
    *outer, last = key.split(".")
    for name in outer:
        config = config.setdefault(name, {}) if is_new else config.get(name)
        if not isinstance(config, dict):
            return False
    old = config.get(last)
    if "[" in key or value == "???" or (isinstance(value, dict) and old):
        return False
    if override.is_add() and old is not None and not isinstance(value, dict | list):
        return False
    if not is_new and last not in config:
        return False
    config[last] = value
    return True


def _key(override: str) -> str:
    return override.lstrip("+").split("=", 1)[0]


def resolve(
    cfg: DictConfig, hydra: DictConfig | None = None, asked: Sequence[str] | None = None
) -> dict:
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
    hydra : DictConfig, default=cfg.hydra
        Hydra's own part of it: which options were chosen, which overrides given.
    asked : sequence of str, default=None
        See `experiments`.

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
    hydra = cfg.hydra if hydra is None else hydra
    # Without Hydra's own part nothing can refer to it.
    own = OmegaConf.masked_copy(cfg, [key for key in cfg if key != "hydra"])
    interpolations.check(OmegaConf.to_container(own, resolve=False), "")
    spec = OmegaConf.to_container(own, resolve=True, throw_on_missing=True)
    choice = OmegaConf.select(hydra, "runtime.choices.algo")
    return _settle(spec, choice, hydra.overrides.task, asked)


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
class _Config:
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


def _settle(spec: dict, choice: str, overrides: Sequence[str], asked: Sequence[str] | None) -> dict:
    """Drop what overrides have overtaken, and apply the profile."""
    given = [_key(override) for override in overrides]
    if isinstance(spec.get("results"), int | float) and spec["results"] is not True:
        spec["results"] = str(spec["results"])  # a folder of this name
    known = {key: spec[key] for key in _Config.__annotations__ if key in spec}
    files.fill(_Config, known, "the configuration", empty=True)
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
    _apply_profile(spec, given, given if asked is None else [_key(each) for each in asked])
    return spec


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
    grid = algo.get("grid")
    tried = grid.get("n_iterations") if isinstance(grid, dict) else None
    if "n_iterations" in own and isinstance(tried, list) and not _is_given("algo.grid", asked):
        limit = own["n_iterations"]
        grid["n_iterations"] = list(dict.fromkeys(min(number, limit) for number in tried))


def _replace_algorithm(algo: dict, choice: str, given: list[str]) -> None:
    """Forget the parameters of the config `choice` when ``_target_`` is another class than its."""
    if "algo._target_" not in given:
        return
    # As Hydra reads it, for which 1e-2 is a number.
    path = configs.conf_dir() / "algo" / f"{choice}.yaml"
    own = OmegaConf.to_container(OmegaConf.load(path)) if path.is_file() else algo
    if algo.get("_target_") == own["_target_"]:
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
        task, path = data.get("openml_task"), str(data["path"])
        data["name"] = f"{configs.TASK}{task}" if task else Path(path).name.split(".")[0]


def _is_given(key: str, given: list[str]) -> bool:
    """Whether an override sets a key or something below it."""
    return any(set_key == key or set_key.startswith(f"{key}.") for set_key in given)
