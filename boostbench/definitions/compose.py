"""From overrides to the plain, resolved configuration of one experiment."""

import copy
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, zip_longest
from pathlib import Path

from hydra import compose, initialize_config_dir
from hydra.errors import HydraException, OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from boostbench import configs
from boostbench.definitions import overrides as checks
from boostbench.errors import UserError

#: Groups of which an option never depends on what is chosen of another.
_INDEPENDENT = ("algo", "data", "protocol")


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
        # Without links to Hydra's manual and the caret that points at a column.
        told = [line.strip() for line in lines if line.strip(" ^") and "https://" not in line]
        raise UserError("; ".join(dict.fromkeys(told))) from error


def experiments(overrides: Sequence[Sequence[str]]) -> list[dict]:
    """Compose one experiment for each list of overrides.

    Parameters
    ----------
    overrides : sequence of sequence of str
        Hydra overrides, checked for unknown names and keys before anything is composed.

    Returns
    -------
    list of dict
        Resolved configs, see `resolve`.

    Raises
    ------
    UserError
        Unknown option of a group, unknown key, or whatever else Hydra finds wrong.
    """
    with one_line_errors(), initialize_config_dir(str(configs.conf_dir()), version_base="1.3"):
        # What is chosen of one group decides nothing in the others, unless somebody refers from one
        # to the other.
        apart = [one for one in overrides if not any("${" in override for override in one)]
        parts = _compose_parts(apart)
        return [
            copy.deepcopy(parts[tuple(one)]) if tuple(one) in parts else _compose(one)
            for one in overrides
        ]


def _compose(overrides: Sequence[str]) -> dict:
    checks.check(overrides)
    return resolve(compose("config", list(overrides), return_hydra_config=True))


def _compose_parts(overrides: Iterable[Sequence[str]]) -> dict[tuple[str, ...], dict]:
    """Compose many experiments, group by group, as the cells of tables are few options crossed.

    Hydra takes a tenth of a second each time. So each option of a group is composed once, in
    company of any options of the others.

    Returns
    -------
    dict of tuple of str to dict
        Resolved configs by their overrides.
    """
    split = {tuple(one): _split(one) for one in overrides}
    composed: dict[tuple, dict] = {}
    for common in dict.fromkeys(common for common, _ in split.values()):
        own = [parts for shared, parts in split.values() if shared == common]
        options = [dict.fromkeys(column) for column in zip(*own, strict=True)]
        for company in zip_longest(*options):
            filled = [part or () for part in company]
            spec = _compose([*common, *chain(*filled)])
            for group, part in zip(_INDEPENDENT, filled, strict=True):
                composed.setdefault((common, group, part), spec)
    return {
        one: composed[common, _INDEPENDENT[0], parts[0]]
        | {
            group: composed[common, group, part][group]
            for group, part in zip(_INDEPENDENT, parts, strict=True)
        }
        for one, (common, parts) in split.items()
    }


def _split(overrides: Sequence[str]) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Tell the overrides of each independent group from those that all have in common."""
    common = tuple(o for o in overrides if _group(o) not in _INDEPENDENT)
    return common, tuple(
        tuple(override for override in overrides if _group(override) == group)
        for group in _INDEPENDENT
    )


def _group(override: str) -> str:
    return re.split(r"[.@=]", override.lstrip("+~"), maxsplit=1)[0]


def resolve(cfg: DictConfig, hydra: DictConfig | None = None) -> dict:
    """Turn a composed config into plain values: the profile in effect, what is overtaken dropped.

    A profile changes values of the protocol and of the algorithm, except those that an override has
    set.

    A class given by ``algo._target_=`` does not inherit the parameters and the grid of the
    algorithm whose config it replaces; a file given by ``data.path=`` alone does not inherit the
    name, the expected shape and the sources of the default data set.

    Parameters
    ----------
    cfg : DictConfig
        The composed config.
    hydra : DictConfig, default=cfg.hydra
        Hydra's own part of it: which options were chosen, which overrides given.

    Returns
    -------
    dict
        ``algo``, ``data``, ``protocol``, ``profile``, ``parallel``, ``seed``, ``results``,
        ``rerun``.
    """
    hydra = cfg.hydra if hydra is None else hydra
    given = [override.lstrip("+").split("=", 1)[0] for override in hydra.overrides.task]
    spec = {
        key: OmegaConf.to_container(value, resolve=True, throw_on_missing=True)
        if OmegaConf.is_config(value)
        else value
        for key, value in cfg.items()
        if key != "hydra"
    }
    _replace_algorithm(spec["algo"], hydra.runtime.choices.algo, given)
    if spec["data"].get("path") and "data" not in given:
        _replace_data(spec["data"], given)
    _apply_profile(spec, given)
    return spec


def _apply_profile(spec: dict, given: list[str]) -> None:
    profile, algo = spec["profile"], spec["algo"]
    for key, value in profile["protocol"].items():
        if not _is_given(f"protocol.{key}", given):
            spec["protocol"][key] = value
    values = profile["algo"].get("all", {}) | profile["algo"].get(algo["name"], {})
    for key, value in values.items():
        if key in algo and not _is_given(f"algo.{key}", given):
            algo[key] = value


def _replace_algorithm(algo: dict, choice: str, given: list[str]) -> None:
    """Forget the parameters of the config `choice` when ``_target_`` is another class than its."""
    own = configs.read("algo", choice)
    if algo["_target_"] == own["_target_"]:
        return
    for key in own.keys() - {"_target_"}:
        if not _is_given(f"algo.{key}", given):
            del algo[key]
    name = algo["_target_"].rpartition(".")[2]
    for key, value in {"name": name, "title": name, "paper": None, "grid": {}}.items():
        algo.setdefault(key, value)


def _replace_data(data: dict, given: list[str]) -> None:
    """Forget the default data set when a file takes its place."""
    for key in data.keys() - {"name", "path", "labels", "missing"}:
        if not _is_given(f"data.{key}", given):
            del data[key]
    if "data.name" not in given:
        data["name"] = Path(data["path"]).name.split(".")[0]


def _is_given(key: str, given: list[str]) -> bool:
    """Whether an override sets a key or something below it."""
    return any(one == key or one.startswith(f"{key}.") for one in given)
