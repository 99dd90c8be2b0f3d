"""What the keys of a file or a configuration may hold, by the types of a dataclass's fields."""

import dataclasses
import functools
import types
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from boostbench.config.definition_files import shorten
from boostbench.config.overrides import Settings, group_of
from boostbench.config.overrides import settings as read_settings
from boostbench.util.errors import UserError, did_you_mean

T = TypeVar("T")

#: What the overrides in a file may set, all of it or what is in it.
EXPERIMENT = ("algo", "data", "protocol", "profile", "measure", "seed")

#: What a value has to be, in words: of one, and of several.
_WORDS = {
    str: ("text", "texts"),
    int: ("a whole number", "whole numbers"),
    float: ("a number", "numbers"),
    bool: ("true or false", "true or false"),
    Settings: ("a list of texts", "lists of texts"),
}


def fill(cls: type[T], content: Any, where: str, *, empty: bool = False, **given) -> T:
    """Make a dataclass of what a file says, each value checked by the type of its field.

    Where a list of texts is asked for, one text is a list of one.

    Parameters
    ----------
    cls : type
        The dataclass. Its types are ``str``, ``int``, ``float``, ``bool``, literals, dataclasses,
        lists and mappings of these, `Settings`, and ``X | None``.
    content : mapping
        Values by the names of fields.
    where : str
        Names file and place in messages.
    empty : bool, default=False
        Whether lists and mappings that have to be there may be empty.
    **given
        Fields that are no keys of the file.

    Returns
    -------
    instance of `cls`

    Raises
    ------
    UserError
        Not a mapping, a key that is no field or is missing, or a value of another type.
    """
    if not isinstance(content, Mapping):
        raise UserError(f"{where} is {shorten(content)}; it must be KEY: VALUE")
    fields = {field.name: field for field in dataclasses.fields(cls) if field.name not in given}
    for key in content:
        if key not in fields:
            raise UserError(f"{where} has no key {key!r}; {did_you_mean(key, fields)}")
    for key in _needed(fields):
        if key not in content:
            raise UserError(f"{where} lacks {key}; it needs {', '.join(_needed(fields))}")
    hints = _hints(cls)
    values = {key: check(hints[key], content[key], where, key, empty) for key in content}
    for key in _needed(fields):
        if values[key] in ([], {}) and not empty:
            raise UserError(f"{where}: {key} is empty; it must have entries")
    return cls(**given, **values)


def check(kind: Any, value: Any, where: str, key: str, empty: bool = False) -> Any:
    """Check a value by a type.

    Parameters
    ----------
    kind : type
        See `fill`.
    value : object
        As YAML gives it.
    where, key : str
        Name it in messages.
    empty : bool, default=False
        See `fill`.

    Returns
    -------
    object
        The value; dataclasses and settings are made, and a text becomes a list where one is asked
        for.

    Raises
    ------
    UserError
        A value of another type.
    """
    if kind is Any or type(value) is kind or (kind is float and type(value) is int):
        return value
    if kind is Settings:
        return _settings(check(list[str], value, where, key), where)
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        [inner] = [arg for arg in args if arg is not type(None)]
        return None if value is None else check(inner, value, where, key, empty)
    if dataclasses.is_dataclass(kind):
        return fill(kind, value, f"{where}: {key}", empty=empty)
    if origin is list:
        values = [value] if args[0] is str and isinstance(value, str) else value
        if isinstance(values, list):
            return [check(args[0], entry, where, f"an entry of {key}") for entry in values]
    elif origin is dict:
        if isinstance(value, dict):
            return {
                check(args[0], name, where, key): check(args[1], entry, where, f"{key}.{name}")
                for name, entry in value.items()
            }
    elif origin is Literal:
        if value in args and isinstance(value, str):
            return value
        raise UserError(f"{where}: {key} is {shorten(value)}; {did_you_mean(value, args)}")
    # "a: b" without quotes is no text to YAML.
    quotes = ", in quotes if it holds a colon" if kind is str and isinstance(value, dict) else ""
    raise UserError(f"{where}: {key} is {shorten(value)}; it must be {_describe(kind)}{quotes}")


def check_names(names: Iterable[str], known: Collection[str], what: str) -> None:
    """Refuse a name that is not known, with the near matches; `what` says of what it is none."""
    for name in names:
        if name not in known:
            raise UserError(f"{what} {name!r}; {did_you_mean(name, known)}")


def _settings(overrides: Sequence[str], where: str) -> Settings:
    """Read overrides of an experiment.

    Where records go, what is run again and by which machines is not for a file to say, which may
    come from anybody.
    """
    try:
        settings = read_settings(overrides)
    except UserError as error:
        raise UserError(f"{where}: {error}") from None
    for key in settings:
        if group_of(key) not in EXPERIMENT:
            raise UserError(
                f"{where}: {shorten(key)} is for the command line; overrides in a file are of "
                f"{', '.join(EXPERIMENT)}"
            )
    return settings


_hints = functools.cache(get_type_hints)


def _needed(fields: Mapping[str, dataclasses.Field]) -> list[str]:
    missing = dataclasses.MISSING
    return [n for n, f in fields.items() if f.default is missing and f.default_factory is missing]


def _describe(kind: Any, several: bool = False) -> str:
    """Say what a value has to be.

    Examples
    --------
    >>> _describe(list[list[str]]), _describe(dict[str, int])
    ('a list of lists of texts', 'KEY: VALUE with whole numbers as values')
    """
    origin, args = get_origin(kind), get_args(kind)
    if origin is list:
        return f"{'lists' if several else 'a list'} of {_describe(args[0], several=True)}"
    if origin is dict:
        inner = "" if args[1] is Any else f" with {_describe(args[1], several=True)} as values"
        return f"KEY: VALUE{inner}"
    if kind in _WORDS:
        return _WORDS[kind][several]
    return "KEY: VALUE"
