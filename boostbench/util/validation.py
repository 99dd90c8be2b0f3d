"""Validation of configs and of files by the types of a struct, with error messages of one line.

msgspec checks single values. This module finds the key of a fault, and adds near matches and a
description of the type. It has two families of functions:

- `check_config_group` and `struct_from_config` check a group of a config, such as ``data``. Its
  struct has fields of described types (`annotated_type`), which messages quote.
- `struct_from_yaml` and `check_value` check a YAML file, such as the definition of a table. Its
  struct has fields of plain types, which this module puts into words.
"""

import contextlib
import functools
import math
import types
from collections.abc import Collection, Iterable, Mapping
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec

from boostbench.util.errors import UserError, did_you_mean, unknown_name_error
from boostbench.util.terminal import truncated_repr

#: Struct that a function makes.
T = TypeVar("T")

#: Descriptions of the types of one value and of several values.
_DESCRIPTIONS = {
    str: ("text", "texts"),
    int: ("a whole number", "whole numbers"),
    float: ("a number", "numbers"),
    bool: ("true or false", "true or false"),
}


def annotated_type(kind: Any, description: str, **limits) -> Any:
    """Return a type with a description of its values and with limits for `msgspec.Meta`."""
    return Annotated[kind, msgspec.Meta(description=description, **limits)]


def annotated_description(kind: Any) -> str:
    """Return the description of an `annotated_type`, or of a union of such types."""
    return " or ".join(
        metadata.description
        for alternative in _alternatives(kind)
        for metadata in getattr(alternative, "__metadata__", ())
        if metadata.description
    )


def check_config_group(cls: type[msgspec.Struct], content: Mapping, where: str) -> None:
    """Check the keys and values of a mapping by the types of a struct's fields.

    Parameters
    ----------
    cls : type
        Struct. The type of a field is a literal, an `annotated_type` of values or of a nested
        struct, or a union of these with null.
    content : mapping
        Mapping of JSON types.
    where : str
        Name of the mapping in messages.

    Raises
    ------
    UserError
        If a key is unknown (the message has near matches), or a value has another type.

    Examples
    --------
    >>> class Seeded(msgspec.Struct):
    ...     seed: annotated_type(int, "a whole number, 0 or more", ge=0)
    >>> check_config_group(Seeded, {"seed": -1}, "data")
    Traceback (most recent call last):
    boostbench.util.errors.UserError: data.seed is -1; it must be a whole number, 0 or more
    """
    fields = _fields(cls)
    for key, value in content.items():
        if key not in fields:
            raise unknown_name_error(f"key of {where}", str(key), fields, is_listed=False)
        kind = fields[key].described_type
        try:
            msgspec.convert(value, kind)
        except (ValueError, RecursionError):
            # msgspec does not name the key of a fault in a nested struct. A check of its entries
            # one by one raises the precise error. If each entry is valid, or a required key is
            # missing, the message below describes the value as a whole.
            nested = _nested_struct(kind)
            if nested and isinstance(value, Mapping) and value.keys() >= set(_required(nested)):
                check_config_group(nested, value, f"{where}.{key}")
            advice = _advice(kind, value, f"{where}.{key}")
            raise UserError(f"{where}.{key} is {value!r}; {advice}") from None


#: Structs by their class and the text of their config, see `struct_from_config`.
_structs_by_config: dict[tuple[type, str], Any] = {}


def struct_from_config(cls: type[T], config: Mapping, where: str) -> T:
    """Return a struct of the values in a group of a config, see `check_config_group`.

    Equal configs give the same struct: the cells of a table share a few.
    """
    cache_key = cls, repr(config)
    if cache_key not in _structs_by_config:
        check_config_group(cls, config, where)
        _structs_by_config[cache_key] = msgspec.convert(config, cls)
    return _structs_by_config[cache_key]


def _advice(kind: Any, value: Any, key: str) -> str:
    """Return advice on a value of a wrong type.

    Parameters
    ----------
    kind : type
        Described type, see `check_config_group`.
    value : object
        Value that has another type.
    key : str
        Dotted key of the value.
    """
    first_type = _alternatives(kind)[0]
    if get_origin(first_type) is Literal:
        return did_you_mean(value, get_args(first_type))
    advice = f"it must be {annotated_description(kind)}"
    if _is_unquoted_text(value, kind):
        example = '["..."]' if isinstance(value, list) else '"..."'
        advice += f"; if it is meant as text, quote it: '{key}={example}'"
    return advice


def struct_from_yaml(
    cls: type[T], content: Any, where: str, *, allow_empty: bool = False, **given_fields
) -> T:
    """Return a struct with the values of a file, checked by the types of its fields.

    A single text becomes a list where the type is a list of texts.

    Parameters
    ----------
    cls : type
        Struct of msgspec. Its types are ``str``, ``int``, ``float``, ``bool``,
        literals, structs, lists and mappings of these, ``X | None``, and classes with a method
        ``parse(texts, where)``.
    content : mapping
        Values by the names of fields.
    where : str
        File, and the place in it, for messages.
    allow_empty : bool, default=False
        Whether required lists and mappings may be empty.
    **given_fields
        Values of fields that are not keys of the file.

    Returns
    -------
    instance of `cls`

    Raises
    ------
    UserError
        If the content is no mapping, a key is unknown or missing, or a value has another type.
    """
    # 1) Check the keys.
    if not isinstance(content, Mapping):
        raise UserError(f"{where} is {truncated_repr(content)}; it must be KEY: VALUE")
    fields = {name: field for name, field in _fields(cls).items() if name not in given_fields}
    for key in content:
        if key not in fields:
            raise UserError(f"{where} has no key {key!r}; {did_you_mean(key, fields)}")
    required_keys = [name for name in _required(cls) if name not in given_fields]
    for key in required_keys:
        if key not in content:
            raise UserError(f"{where} lacks {key}; it needs {', '.join(required_keys)}")
    # 2) Check the values, and make the struct.
    values = {
        key: check_value(fields[key].type, value, where, key, allow_empty)
        for key, value in content.items()
    }
    for key in required_keys:
        if values[key] in ([], {}) and not allow_empty:
            raise UserError(f"{where}: {key} is empty; it must have entries")
    return cls(**given_fields, **values)


def check_value(kind: Any, value: Any, where: str, key: str, allow_empty: bool = False) -> Any:
    """Return a value of a file as an instance of a type.

    Parameters
    ----------
    kind : type
        See `struct_from_yaml`.
    value : object
        Value as YAML gives it.
    where, key : str
        Place and key of the value, for messages.
    allow_empty : bool, default=False
        See `struct_from_yaml`.

    Returns
    -------
    object
        Value; structs are made, and a text becomes a list where the type is a list of texts.

    Raises
    ------
    UserError
        If the value has another type.
    """
    # 1) Most values are plain text and numbers.
    if type(value) is kind and kind in _DESCRIPTIONS:
        return value
    # 2) Types that have rules of their own: a class that parses a list of texts, such as the
    #    `Settings` of overrides; an optional value; a nested struct.
    origin, args, has_parser, is_struct = _type_facts(kind)
    if has_parser:
        return kind.parse(check_value(list[str], value, where, key), where)
    if origin in (Union, types.UnionType):
        # The only unions in structs of files are ``X | None``.
        [inner] = [arg for arg in args if arg is not type(None)]
        return None if value is None else check_value(inner, value, where, key, allow_empty)
    if is_struct:
        return struct_from_yaml(kind, value, f"{where}: {key}", allow_empty=allow_empty)
    # 3) Lists, mappings and literals. A value that does not fit reaches the error below.
    if origin is list:
        values = [value] if args[0] is str and isinstance(value, str) else value
        if isinstance(values, list):
            return [check_value(args[0], entry, where, f"an entry of {key}") for entry in values]
    elif origin is dict:
        if isinstance(value, dict):
            return {
                check_value(args[0], name, where, key): check_value(
                    args[1], entry, where, f"{key}.{name}"
                )
                for name, entry in value.items()
            }
    elif origin is Literal:
        if value in args and isinstance(value, str):
            return value
        raise UserError(f"{where}: {key} is {truncated_repr(value)}; {did_you_mean(value, args)}")
    else:
        with contextlib.suppress(ValueError, RecursionError):
            msgspec.convert(value, kind)
            return value
    # YAML reads "a: b" without quotes as a mapping.
    quotes = ", in quotes if it holds a colon" if kind is str and isinstance(value, dict) else ""
    raise UserError(
        f"{where}: {key} is {truncated_repr(value)}; it must be {_describe_plain(kind)}{quotes}"
    )


def check_names(names: Iterable[str], valid_names: Collection[str], message: str) -> None:
    """Raise an error for the first unknown name, with its near matches.

    Parameters
    ----------
    names : iterable of str
        Names that a user wrote.
    valid_names : collection of str
        Existing names.
    message : str
        Start of the message, such as ``"table demo has no column"``.
    """
    for name in names:
        if name not in valid_names:
            raise UserError(f"{message} {name!r}; {did_you_mean(name, valid_names)}")


def check_finite(value: Any, where: str) -> None:
    """Check that a value has no NaN and no infinity, which JSON cannot represent.

    Parameters
    ----------
    value : object
        Value of JSON types.
    where : str
        Name of the value in messages.

    Raises
    ------
    UserError
        If there is such a number, in nested lists and mappings too.

    Examples
    --------
    >>> check_finite({"C": [1.0, float("inf")]}, "algo.grid")
    Traceback (most recent call last):
    boostbench.util.errors.UserError: an entry of algo.grid.C is inf, which no record can hold; \
give a finite number, or put quotes around a word
    """
    if isinstance(value, Mapping):
        for key, inner in value.items():
            check_finite(inner, f"{where}.{key}")
    elif isinstance(value, list | tuple):
        for inner in value:
            check_finite(inner, where if isinstance(inner, Mapping) else f"an entry of {where}")
    elif isinstance(value, float) and not math.isfinite(value):
        raise UserError(
            f"{where} is {value}, which no record can hold; give a finite number, or put quotes "
            "around a word"
        )


def _is_unquoted_text(value: Any, kind: Any) -> bool:
    """Return whether a value of another type, such as 1e3 or true, may be meant as text.

    This is so if the value, or each entry of a list, would be valid as a text.
    """
    entries = value if isinstance(value, list) else [value]
    if not all(entry is None or isinstance(entry, str | bool | int | float) for entry in entries):
        return False
    texts = [*map(str, entries)]
    try:
        msgspec.convert(texts if isinstance(value, list) else texts[0], kind)
    except ValueError:
        return False
    return True


def _alternatives(kind: Any) -> tuple:
    """Return the types of a union of described types and literals.

    A described type or a literal is the only one. The fields of configs have no plain types, such
    as ``int``, for which the result is empty.
    """
    return (kind,) if get_origin(kind) in (Annotated, Literal) else get_args(kind)


@functools.cache
def _type_facts(kind: Any) -> tuple[Any, tuple, bool, bool]:
    """Return facts about a type.

    Returns
    -------
    origin, args
        See `typing.get_origin` and `typing.get_args`: ``list`` and ``(str,)`` for ``list[str]``.
    has_parser : bool
        Whether it has a method ``parse``.
    is_struct : bool
        Whether it is a struct of msgspec.
    """
    is_struct = isinstance(kind, type) and issubclass(kind, msgspec.Struct)
    return get_origin(kind), get_args(kind), hasattr(kind, "parse"), is_struct


class _Field(NamedTuple):
    """Field of a struct.

    Attributes
    ----------
    type : object
        Type without a description.
    described_type : object
        Type with the description and limits of `annotated_type`, if it has them.
    is_required : bool
        Whether the field has no default.
    """

    type: Any
    described_type: Any
    is_required: bool


@functools.cache
def _fields(cls: type[msgspec.Struct]) -> dict[str, _Field]:
    """Return the fields of a struct by name."""
    types, described_types = get_type_hints(cls), get_type_hints(cls, include_extras=True)
    return {
        field.name: _Field(types[field.name], described_types[field.name], field.required)
        for field in msgspec.structs.fields(cls)
    }


def _required(cls: type[msgspec.Struct]) -> list[str]:
    """Return the names of the fields without a default."""
    return [name for name, field in _fields(cls).items() if field.is_required]


def _nested_struct(kind: Any) -> type | None:
    """Return the struct in a described type, such as ``annotated_type(DataCounts, "...") | None``.

    None: the type has no struct, or one whose fields all have defaults. Messages describe the value
    of such a field as a whole, as its description lists the keys.
    """
    inner = next((get_args(a)[0] for a in _alternatives(kind) if get_origin(a) is Annotated), None)
    is_struct = isinstance(inner, type) and issubclass(inner, msgspec.Struct)
    return inner if is_struct and _required(inner) else None


def _describe_plain(kind: Any, is_plural: bool = False) -> str:
    """Return the description of a type.

    Examples
    --------
    >>> _describe_plain(list[list[str]]), _describe_plain(dict[str, int])
    ('a list of lists of texts', 'KEY: VALUE with whole numbers as values')
    """
    origin, args = get_origin(kind), get_args(kind)
    if origin is list:
        return f"{'lists' if is_plural else 'a list'} of {_describe_plain(args[0], is_plural=True)}"
    if origin is dict:
        if args[1] is Any:
            return "KEY: VALUE"
        return f"KEY: VALUE with {_describe_plain(args[1], is_plural=True)} as values"
    if hasattr(kind, "parse"):
        return _describe_plain(list[str], is_plural)
    return _DESCRIPTIONS.get(kind, ("KEY: VALUE", "KEY: VALUE"))[is_plural]
