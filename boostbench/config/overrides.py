"""What overrides say, and checks of their names and keys before Hydra sees them.

Hydra finds the same mistakes, but one sweep later, in several lines and without near matches.
"""

import functools
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import (
    ChoiceSweep,
    Glob,
    Override,
    Quote,
    QuotedString,
    Transformer,
)
from hydra.errors import OverrideParseException

from boostbench.config import interpolations
from boostbench.util import configs
from boostbench.util.errors import UserError, did_you_mean, invalid_folder_error, unknown_name_error
from boostbench.util.user_paths import user_path

#: Characters of an override, and digits of a number in it.
MOST, DIGITS = 10_000, 400
#: Keys of Hydra's own that choose how it runs a sweep; others name classes that it makes.
_HYDRA = re.compile(
    r"hydra(/\w+|\.(launcher|sweeper)\.[\w.]+|\.(sweep|run)\.\w+|\.(verbose|mode|output_subdir))$"
)
_WITHIN_HYDRA = re.compile(r"_target_|hydra[./]|\(\)")
_LONG = re.compile(rf"\d{{{DIGITS + 1}}}")


class Settings(dict[str, Any]):
    """What overrides say: values by dotted key, with the ``+``, ``++`` or ``~`` before it."""


def settings(overrides: Iterable[str]) -> Settings:
    """Read overrides of one experiment; of several with one key the last counts.

    Raises
    ------
    UserError
        See `parse`; or one that stands for several experiments.
    """
    values = Settings()
    for override in overrides:
        parsed = parse(override)
        key = override.partition("=")[0]
        if parsed.is_sweep_override():
            raise UserError(
                f"{key} is given several values; write [1,2] for a list, and quotes around a text"
            )
        values[key] = parsed.value()
    return values


def name_of(key: str) -> str:
    """Give a key without what stands before it: ``"algo.x"`` of ``"+algo.x"``."""
    return key.lstrip("+~")


def group_of(key: str) -> str:
    """Name what a key is of: ``"algo"`` of ``"+algo.y"``."""
    return name_of(key).partition(".")[0]


def allow_new_parameters(overrides: Iterable[str]) -> list[str]:
    """Let overrides add parameters to a class that replaces the one of the config.

    The replaced class may have a parameter of the same name, and Hydra adds no key that is there.

    Parameters
    ----------
    overrides : iterable of str
        Overrides, or their keys alone.

    Examples
    --------
    >>> allow_new_parameters(["algo._target_=sklearn.svm.SVC", "+algo.C=1"])
    ['algo._target_=sklearn.svm.SVC', '++algo.C=1']
    """
    overrides = list(overrides)
    is_replaced = any(each.partition("=")[0] == "algo._target_" for each in overrides)
    return [f"+{each}" if is_replaced and each.startswith("+algo.") else each for each in overrides]


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
        Unknown option of a group, or unknown key, with the near matches; see also `parse`.
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
            known = configs.list_options(group, folders)
            chosen[group] = list(_options(override))
            for name in chosen[group]:
                check_option(group, name, known)
    keys = set(flat_keys(of_all()))
    for group, options in chosen.items():
        for name in options:
            keys |= set(flat_keys({group: configs.read_option(group, name, folders)}))
    for override in parsed:
        key = override.key_or_group
        if key not in chosen and key not in keys:
            raise unknown_key(key, keys)


def check_option(group: str, name: str, known: Sequence[str]) -> None:
    """Refuse an option that a group does not have."""
    if name in known:
        return
    if group == "data" and os.path.isfile(user_path(name)):
        raise UserError(f"no data set is called {name!r}; the file is {written('data.path', name)}")
    raise unknown_name_error(configs.KINDS[group], name, known, group in ("algo", "data"))


def unknown_key(key: str, known: Iterable[str]) -> UserError:
    """Make the error for a key that the configuration does not have."""
    return UserError(
        f"{unknown_name_error('key', key, known, is_listed=False)} (+{key}=... would add it)"
    )


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


@functools.cache
def parse(override: str) -> Override:
    """Parse one override.

    Raises
    ------
    UserError
        If it is none; if it is too long, too deep or holds a number too long for Hydra's parser to
        end well; if it calls something, or changes what Hydra itself runs; or if it names no folder
        of results.
    """
    depth = deepest = 0
    for character in override:
        depth += (character in "[{(") - (character in "]})")
        deepest = max(deepest, depth)
    if len(override) > MOST or deepest > configs.MAX_DEPTH or _LONG.search(override):
        raise UserError(
            f"the override {override[:40]!r}... is too long; at most are {MOST} characters, "
            f"{configs.MAX_DEPTH} brackets inside each other, and {DIGITS} digits of a number"
        )
    key, _, _ = override.lstrip("+~").partition("=")
    of_hydra = key.startswith("hydra")
    interpolations.check(override, key, of_hydra=of_hydra)
    if of_hydra and (not _HYDRA.match(key) or _WITHIN_HYDRA.search(override.partition("hydra")[2])):
        raise UserError(f"{key} is not for a command line: it could run what is no experiment")
    try:
        [parsed] = OverridesParser.create().parse_overrides([override])
    except OverrideParseException:
        what = f"cannot read {override!r} as an override"
        advice = "KEY=VALUE is expected, with quotes around odd values"
        key, _, value = override.partition("=")
        if value[:1] not in "[{" and _says(_quoted(key, value), value):
            advice = f"write {written(key, value)}"
        raise UserError(f"{what}: {advice}") from None
    if parsed.package is not None:
        raise UserError(f"{key} is refused: an option cannot go to another place by @")
    if key == "results" and (isinstance(parsed.value(), dict | list) or parsed.value() == ""):
        # Hydra makes the folder of a sweep of it, before the configuration is looked at.
        raise invalid_folder_error(parsed.value())
    return parsed


def written_out(override: str, folders: Sequence[Path] = ()) -> str:
    """Write an override as Hydra is to read it: with the names and the folder that it stands for.

    Hydra looks for the options that a ``glob(...)`` matches only where it is the whole value, and
    takes ``~`` for the name of a folder.

    Parameters
    ----------
    override : str
        As on the command line, e.g. ``algo=constant,glob(ada*)``.
    folders : sequence of pathlib.Path, default=()
        More folders of configs.

    Raises
    ------
    UserError
        If there are no options to choose among, or none matches; see also `parse`.

    Examples
    --------
    >>> written_out("algo=constant,glob(samm*)")
    'algo=constant,samme,samme_tree'
    """
    parsed = parse(override)
    value = parsed.value()
    values = value.list if isinstance(value, ChoiceSweep) else [value]
    if any(isinstance(each, Glob) for each in values):
        names = dict.fromkeys(n for each in values for n in _matched(each, parsed, folders))
        return f"{parsed.get_key_element()}={','.join(names)}"
    if parsed.key_or_group == "results" and isinstance(value, str) and value.startswith("~"):
        folder = QuotedString(str(user_path(value)), Quote.double)
        return f"{parsed.get_key_element()}={folder.with_quotes()}"
    return override


def _matched(value: object, override: Override, folders: Sequence[Path]) -> list[str]:
    """Give the options that a glob matches; of another value, how it is written."""
    if not isinstance(value, Glob):
        return [Transformer.str(value)]
    group = override.key_or_group
    if group not in chosen_by_default():
        raise UserError(
            f"{override.input_line} is refused: glob(...) chooses among "
            f"{', '.join(chosen_by_default())}; name the values, with commas between them"
        )
    known = configs.list_options(group, folders)
    names = value.filter(known)
    if not names:
        told = did_you_mean(",".join(value.include), known)
        raise UserError(f"{override.input_line} matches no {configs.KINDS[group]}; {told}")
    return names


def written(key: str, text: str) -> str:
    """Write an override of text for a command line, with the quotes that it needs.

    Examples
    --------
    >>> written("data.path", "d/my.csv"), written("data.path", "my data.csv")
    ('data.path=d/my.csv', "'data.path=my data.csv'")
    >>> print(written("data.path", "größe.csv"))
    'data.path="größe.csv"'
    """
    plain = f"{key}={text}"
    return shlex.quote(plain if _says(plain, text) else _quoted(key, text))


def _quoted(key: str, text: str) -> str:
    return f'{key}="{text}"'


def _says(override: str, text: str) -> bool:
    """Whether Hydra reads an override as the text alone."""
    try:
        [parsed] = OverridesParser.create().parse_overrides([override])
    except OverrideParseException:
        return False
    return not parsed.is_sweep_override() and parsed.value() == text


def _options(override: Override) -> Iterator[str]:
    """Yield the options that one override of a group names: several in a sweep."""
    if override.is_sweep_override():
        values = override.sweep_string_iterator()
    else:
        values = [override.value()]
    for value in values:
        yield "null" if value is None else str(value).removesuffix(".yaml")


@functools.cache
def _config() -> dict:
    return configs.parse_yaml((configs.conf_dir() / "config.yaml").read_text(encoding="utf-8"))


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


def of_all() -> dict:
    """Read what ``config.yaml`` says itself, without Hydra's part."""
    return {key: value for key, value in _config().items() if key not in ("defaults", "hydra")}


def flat_keys(tree: object, prefix: str = "") -> Iterator[str]:
    """Yield the dotted key of every node: ``algo``, ``algo.grid``, ``algo.grid.nu``."""
    for key, value in tree.items() if isinstance(tree, dict) else ():
        yield f"{prefix}{key}"
        yield from flat_keys(value, f"{prefix}{key}.")
