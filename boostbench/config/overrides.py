"""Overrides in Hydra's grammar: ``algo=mcboost``, ``algo.nu=0.1``, ``+algo.x=1``, ``~algo.grid``.

Hydra's parser reads them. Before it does, this module refuses texts on which the parser would not
end well, and values that would copy something of the machine into a config.
"""

import functools
import itertools
import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import ChoiceSweep, Glob, Override, Transformer
from hydra.errors import HydraException, OverrideParseException

from boostbench.util import configs
from boostbench.util.errors import UserError, did_you_mean, invalid_folder_error
from boostbench.util.terminal import truncated_repr

#: Largest number of characters of an override: Hydra's parser takes minutes for longer ones.
MAX_CHARACTERS = 10_000
#: Largest number of digits of a number: Hydra's parser raises RecursionError for longer ones.
MAX_DIGITS = 400
_LONG_NUMBER = re.compile(rf"\d{{{MAX_DIGITS + 1}}}")

#: References that a value may hold: ``${seed}``, ``${algo.nu}``, ``${.nu}``.
_REFERENCE = re.compile(r"\$\{\s*\.*\w+(\.\w+)*\s*\}")


#: Keys and groups that the overrides in a file may set. Other keys decide where records are
#: written, which splits are run again and on which machines: a file of somebody else must not.
_FILE_KEYS = ("algo", "data", "protocol", "profile", "measure", "seed")


class Settings(dict[str, Any]):
    """Values of overrides by dotted key; the key keeps its prefix ``+``, ``++`` or ``~``."""

    def __or__(self, other: "Settings") -> "Settings":
        """Return the union of two settings; `other` has priority."""
        return Settings({**self, **other})

    @classmethod
    def parse(cls, overrides: Sequence[str], where: str) -> "Settings":
        """Parse the overrides of a file.

        Parameters
        ----------
        overrides : sequence of str
            Overrides of one experiment.
        where : str
            File, and the place in it, for messages.

        Raises
        ------
        UserError
            If an override is not valid, or is for the command line alone.
        """
        try:
            values = parse_overrides(overrides)
        except UserError as error:
            raise UserError(f"{where}: {error}") from None
        for key in values:
            if top_level_key(key) not in _FILE_KEYS:
                raise UserError(
                    f"{where}: {truncated_repr(key)} is for the command line; overrides in a file "
                    f"are of {', '.join(_FILE_KEYS)}"
                )
        return values


def parse_overrides(overrides: Iterable[str]) -> Settings:
    """Parse the overrides of one experiment; the last value of a key counts.

    Raises
    ------
    UserError
        If an override cannot be parsed (see `parse`), or stands for several experiments.
    """
    values = Settings()
    for override in overrides:
        parsed = parse_override(override)
        key = override.partition("=")[0]
        if parsed.is_sweep_override():
            raise UserError(
                f"{key} is given several values; write [1,2] for a list, and quotes around a text"
            )
        values[key] = parsed.value()
    return values


def strip_prefix(key: str) -> str:
    """Return a key without its prefix: ``"algo.x"`` for ``"+algo.x"``."""
    return key.lstrip("+~")


def top_level_key(key: str) -> str:
    """Return the first part of a key: ``"algo"`` for ``"+algo.y"``."""
    return strip_prefix(key).partition(".")[0]


def allow_new_parameters(keys: Iterable[str]) -> list[str]:
    """Return the keys of overrides, so that they may set any parameter of a class that is given.

    ``+algo.C`` adds a key, and Hydra refuses to add a key that exists. If ``algo._target_``
    replaces the class, the keys of the config belong to another class, so ``+`` becomes ``++``.

    Examples
    --------
    >>> allow_new_parameters(["algo._target_", "+algo.C"])
    ['algo._target_', '++algo.C']
    """
    keys = list(keys)
    is_replaced = "algo._target_" in keys
    return [f"+{key}" if is_replaced and key.startswith("+algo.") else key for key in keys]


def check_no_conflicting_values(overrides: Sequence[str]) -> None:
    """Raise an error, with both values, if a key is given twice with different values."""
    values = {}
    for override in overrides:
        key, _, value = override.partition("=")
        if values.setdefault(key, value) != value:
            raise UserError(f"{key} is given twice, as {values[key]} and {value}; give it once")


@functools.cache
def parse_override(override: str) -> Override:
    """Parse one override.

    Raises
    ------
    UserError
        If the text is no override, is too long, too deep or holds too long a number; if its value
        calls a resolver; if it moves an option to another key (``@``); or if ``results`` is no
        text.
    """
    # 1) Refuse a text that is too long, too deeply nested or has too long a number.
    depth = deepest = 0
    for character in override:
        depth += (character in "[{(") - (character in "]})")
        deepest = max(deepest, depth)
    if (
        len(override) > MAX_CHARACTERS
        or deepest > configs.MAX_DEPTH
        or _LONG_NUMBER.search(override)
    ):
        raise UserError(
            f"the override {override[:40]!r}... is too long; the limits are {MAX_CHARACTERS} "
            f"characters, {configs.MAX_DEPTH} nested brackets and {MAX_DIGITS} digits of a number"
        )
    # 2) Refuse resolvers, and settings of Hydra itself.
    key, _, _ = override.lstrip("+~").partition("=")
    check_references(override, key)
    if re.match(r"hydra\b", key):
        raise UserError(f"{key} is refused: boostbench runs sweeps itself; see parallel= and -m")
    # 3) Parse the text.
    try:
        [parsed] = OverridesParser.create().parse_overrides([override])
    except OverrideParseException:
        prefixed_key, _, value = override.partition("=")
        advice = "KEY=VALUE is expected, with quotes around odd values"
        quoted = f"{prefixed_key}={configs.hydra_text(value)}"
        # A value that begins with a bracket was meant as a list or a mapping, not as a text.
        if value[:1] not in "[{" and _parses_to(quoted, value):
            advice = f"write {quote_override(prefixed_key, value)}"
        raise UserError(f"cannot read {override!r} as an override: {advice}") from None
    if parsed.package is not None:
        raise UserError(f"{key} is refused: an option cannot go to another place by @")
    if key == "results" and (isinstance(parsed.value(), dict | list) or parsed.value() == ""):
        raise invalid_folder_error(parsed.value())
    return parsed


def check_references(value: object, where: str) -> None:
    """Raise an error if a value calls a resolver of OmegaConf.

    A value may refer to another value of the same config, as ``${seed}`` does. Resolvers such as
    ``${oc.env:TOKEN}`` would copy a variable of the environment to records and reports.

    Parameters
    ----------
    value : object
        Value of JSON types before references are resolved.
    where : str
        Key of the value, for the message.

    Raises
    ------
    UserError
        If a text in the value holds ``${`` that does not begin a plain reference.
    """
    if isinstance(value, dict):
        for key, inner in value.items():
            check_references(inner, f"{where}.{key}" if where else str(key))
    elif isinstance(value, list | tuple):
        for inner in value:
            check_references(inner, where)
    elif isinstance(value, str) and "${" in _REFERENCE.sub("", value):
        raise UserError(
            f"{where} is refused: ${{...}} may name another value, as ${{seed}} does, and nothing "
            "of the machine or the environment"
        )


def expand_sweep(overrides: Sequence[str], folders: Sequence[Path] = ()) -> list[list[str]]:
    """Return the overrides of each job of a sweep, in the order of Hydra's own sweeper.

    Parameters
    ----------
    overrides : sequence of str
        Overrides with values separated by commas, ``range(...)`` or ``glob(...)``.
    folders : sequence of pathlib.Path, default=()
        Folders of configs that are searched before ``conf/``.

    Returns
    -------
    list of list of str
        Distinct jobs; one job if no override has several values.

    Raises
    ------
    UserError
        If an override cannot be parsed, or a ``glob(...)`` matches no option.

    Examples
    --------
    >>> expand_sweep(["algo=constant,glob(samm*)", "seed=1"])
    [['algo=constant', 'seed=1'], ['algo=samme', 'seed=1'], ['algo=samme_tree', 'seed=1']]
    """
    choices = {}
    for override in overrides:
        parsed, key = parse_override(override), override.partition("=")[0]
        choices[key] = [override]
        if parsed.is_sweep_override():
            try:
                choices[key] = [f"{key}={value}" for value in _sweep_values(parsed, folders)]
            except HydraException as error:
                raise UserError(f"{override} is refused: {error}") from None
    jobs = itertools.product(*choices.values())
    return [list(job) for job in dict.fromkeys(jobs)]


def _sweep_values(parsed: Override, folders: Sequence[Path]) -> list[str]:
    """Return the values of an override with several values, as texts.

    Parameters
    ----------
    parsed : Override
        Hydra's parsed override.
    folders : sequence of pathlib.Path
        See `expand_sweep`.
    """
    value = parsed.value()
    values = value.list if isinstance(value, ChoiceSweep) else [value]
    if any(isinstance(choice, Glob) for choice in values):
        names = (name for choice in values for name in _expand_glob(choice, parsed, folders))
        return list(dict.fromkeys(names))
    if not parsed.is_discrete_sweep():
        raise UserError(f"{parsed.input_line} is refused: name the values, with commas between")
    return list(parsed.sweep_string_iterator())


def _expand_glob(choice: object, parsed: Override, folders: Sequence[Path]) -> list[str]:
    """Return the options that a glob matches; for any other value, its text.

    Parameters
    ----------
    choice : object
        One of the values of an override: a `Glob`, or a value of JSON types.
    parsed : Override
        Hydra's parsed override, whose key is the group of the options.
    folders : sequence of pathlib.Path
        See `expand_sweep`.
    """
    if not isinstance(choice, Glob):
        return [Transformer.str(choice)]
    group = parsed.key_or_group
    groups = configs.base_config().options
    if group not in groups:
        raise UserError(
            f"{parsed.input_line} is refused: glob(...) chooses among "
            f"{', '.join(groups)}; name the values, with commas between them"
        )
    options = configs.list_options(group, folders)
    names = choice.filter(options)
    if not names:
        advice = did_you_mean(",".join(choice.include), options)
        raise UserError(f"{parsed.input_line} matches no {configs.OPTION_NOUNS[group]}; {advice}")
    return names


def varying_keys(jobs: Sequence[Sequence[str]]) -> list[str]:
    """Return the keys that differ between the jobs of a sweep.

    Examples
    --------
    >>> varying_keys([["algo=a", "seed=1", "data=x"], ["algo=b", "seed=1", "data=x"]])
    ['algo']
    """
    columns = zip(*jobs, strict=True)
    return [column[0].partition("=")[0] for column in columns if len(set(column)) > 1]


def quote_override(key: str, text: str) -> str:
    """Return an override whose value is a text, with the quotes that a command line needs.

    Examples
    --------
    >>> quote_override("data.path", "d/my.csv"), quote_override("data.path", "my data.csv")
    ('data.path=d/my.csv', "'data.path=my data.csv'")
    >>> print(quote_override("data.path", "größe.csv"))
    'data.path="größe.csv"'
    """
    plain = f"{key}={text}"
    quoted = f"{key}={configs.hydra_text(text)}"
    return shlex.quote(plain if _parses_to(plain, text) else quoted)


def _parses_to(override: str, text: str) -> bool:
    """Return whether Hydra's parser reads an override as a text."""
    try:
        [parsed] = OverridesParser.create().parse_overrides([override])
    except OverrideParseException:
        return False
    return not parsed.is_sweep_override() and parsed.value() == text
