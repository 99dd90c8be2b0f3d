"""Check the names and keys of Hydra overrides before Hydra sees them.

Hydra finds the same mistakes, but one sweep later, in several lines and without near matches.
"""

import functools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Glob, Override

from boostbench import configs
from boostbench.definitions import interpolations
from boostbench.errors import UserError, unknown

#: Characters of an override, and digits of a number in it.
MOST, DIGITS = 10_000, 400
#: Keys of Hydra's own that choose how it runs a sweep; others name classes that it makes.
_HYDRA = re.compile(
    r"hydra(/\w+|\.(launcher|sweeper)\.[\w.]+|\.(sweep|run)\.\w+|\.(verbose|mode|output_subdir))$"
)
_WITHIN_HYDRA = re.compile(r"_target_|hydra[./]|\(\)")
_LONG = re.compile(rf"\d{{{DIGITS + 1}}}")


def check(overrides: Sequence[str], folders: Sequence[Path] = ()) -> None:
    """Raise the error of the first override that names what does not exist.

    Parameters
    ----------
    overrides : sequence of str
        As on the command line: ``algo=a,b``, ``algo.nu=0.1``, ``+algo.x=1``. Those that add, delete
        or force (``+``, ``~``, ``++``), and Hydra's own, are left to Hydra.
    folders : sequence of pathlib.Path, default=()
        More folders of configs.

    Raises
    ------
    UserError
        Unknown option of a group, or unknown key, with the near matches.
    hydra.errors.OverrideParseException
        When an override cannot be parsed.
    """
    parsed = [
        o
        for o in map(parse, overrides)
        if o.type.name == "CHANGE" and not o.key_or_group.startswith("hydra")
    ]
    chosen = {group: [name] for group, name in chosen_by_default().items()}
    for override in parsed:
        group = override.key_or_group
        if group in chosen:
            known = configs.names(group, folders)
            chosen[group] = list(_options(override, known))
            for name in chosen[group]:
                if name not in known:
                    raise unknown(configs.KINDS[group], name, known, group in ("algo", "data"))
    keys = set(_own_keys())
    for group, options in chosen.items():
        for name in options:
            keys |= set(_flatten(configs.read(group, name, folders), group))
    for override in parsed:
        key = override.key_or_group
        if key not in chosen and key not in keys:
            error = unknown("key", key, keys, listed=False)
            raise UserError(f"{error} (+{override.input_line} would add it)")


def check_once(overrides: Sequence[str]) -> None:
    """Refuse what a person gave twice, of which Hydra would take the last.

    Raises
    ------
    UserError
        Two values of one key.
    """
    values: dict[str, str] = {}
    for override in overrides:
        key, _, value = override.partition("=")
        if values.setdefault(key, value) != value:
            raise UserError(f"{key} is given twice, as {values[key]} and {value}; give it once")


def parse(override: str) -> Override:
    """Parse one override.

    Raises
    ------
    UserError
        If it is too long, too deep or holds a number too long for Hydra's parser to end well; if it
        calls something, or changes what Hydra itself runs; or if it names no folder of results.
    hydra.errors.OverrideParseException
        When it is none.
    """
    depth = deepest = 0
    for character in override:
        depth += (character in "[{(") - (character in "]})")
        deepest = max(deepest, depth)
    if len(override) > MOST or deepest > configs.DEEPEST or _LONG.search(override):
        raise UserError(
            f"the override {override[:40]!r}... is too long; at most are {MOST} characters, "
            f"{configs.DEEPEST} brackets inside each other, and {DIGITS} digits of a number"
        )
    key, _, _ = override.lstrip("+~").partition("=")
    of_hydra = key.startswith("hydra")
    interpolations.check(override, key, of_hydra=of_hydra)
    if of_hydra and (not _HYDRA.match(key) or _WITHIN_HYDRA.search(override.partition("hydra")[2])):
        raise UserError(f"{key} is not for a command line: it could run what is no experiment")
    parsed = OverridesParser.create().parse_overrides([override])[0]
    if parsed.package is not None:
        raise UserError(f"{key} is refused: an option cannot go to another place by @")
    if key == "results" and isinstance(parsed.value(), dict | list):
        # Hydra makes the folder of a sweep of it, before the configuration is looked at.
        raise UserError(f"results is {parsed.value()!r}; it must be text, the name of a folder")
    return parsed


def _options(override: Override, known: list[str]) -> Iterator[str]:
    """Yield the options that one override of a group names: several in a sweep."""
    if isinstance(override.value(), Glob):
        values = override.value().filter(known)
    elif override.is_sweep_override():
        values = override.sweep_string_iterator()
    else:
        values = [override.value()]
    for value in values:
        yield "null" if value is None else str(value).removesuffix(".yaml")


@functools.cache
def _config() -> dict:
    return yaml.safe_load((configs.conf_dir() / "config.yaml").read_text(encoding="utf-8"))


@functools.cache
def chosen_by_default() -> dict[str, str]:
    """Read which option of each group ``config.yaml`` chooses."""
    return {
        group: name
        for entry in _config()["defaults"]
        if isinstance(entry, dict)
        for group, name in entry.items()
        if group in configs.KINDS
    }


def _own_keys() -> Iterator[str]:
    """Yield the dotted keys of ``config.yaml``, but for those of Hydra."""
    for key, value in _config().items():
        if key not in ("defaults", "hydra"):
            yield from _flatten(value, key)


def _flatten(tree: object, prefix: str) -> Iterator[str]:
    """Yield the dotted key of every node: ``algo``, ``algo.grid``, ``algo.grid.nu``."""
    yield prefix
    for key, value in tree.items() if isinstance(tree, dict) else ():
        yield from _flatten(value, f"{prefix}.{key}")
