"""Validation of config keys by msgspec types, with error messages of one line."""

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec

from boostbench.util.errors import UserError, did_you_mean, unknown_name_error


def annotated_type(kind: Any, description: str, **limits) -> Any:
    """Return a type with a description of its values and with limits for `msgspec.Meta`."""
    return Annotated[kind, msgspec.Meta(description=description, **limits)]


def describe_type(kind: Any) -> str:
    """Return the description of an `annotated_type`, or of a union of such types."""
    return " or ".join(
        metadata.description
        for alternative in _alternatives(kind)
        for metadata in getattr(alternative, "__metadata__", ())
    )


def validate_mapping(kinds: Mapping[str, Any], content: Mapping, where: str) -> None:
    """Check the keys and values of a mapping.

    Parameters
    ----------
    kinds : mapping of str to type
        Type of each key: a literal, an `annotated_type`, or a union of these with null.
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
    >>> seed = annotated_type(int, "a whole number, 0 or more", ge=0)
    >>> validate_mapping({"seed": seed}, {"seed": -1}, "data")
    Traceback (most recent call last):
    boostbench.util.errors.UserError: data.seed is -1; it must be a whole number, 0 or more
    """
    for key, value in content.items():
        if key not in kinds:
            raise unknown_name_error(f"key of {where}", str(key), kinds, is_listed=False)
        try:
            msgspec.convert(value, kinds[key])
        except (ValueError, RecursionError):
            first_type = _alternatives(kinds[key])[0]
            is_choice = get_origin(first_type) is Literal
            advice = (
                did_you_mean(value, get_args(first_type))
                if is_choice
                else f"it must be {describe_type(kinds[key])}"
            )
            if not is_choice and _is_unquoted_text(value, kinds[key]):
                example = '["..."]' if isinstance(value, list) else '"..."'
                advice += f"; if it is meant as text, quote it: '{where}.{key}={example}'"
            raise UserError(f"{where}.{key} is {value!r}; {advice}") from None


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
    """Return whether a value of another type, such as 1e3 or true, may be meant as text."""
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
    return (kind,) if get_origin(kind) in (Annotated, Literal) else get_args(kind)
