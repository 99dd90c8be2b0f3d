"""What the keys of a config may hold, as types that msgspec checks, with errors of one line."""

import functools
from collections.abc import Mapping
from typing import Annotated, Literal, get_args, get_origin, get_type_hints

import msgspec

from boostbench.errors import UserError, hint, unknown


def check(form: type, content: Mapping, where: str) -> None:
    """Hold values against the types of a class.

    Parameters
    ----------
    form : type
        Its annotations are the keys and their types: ``Literal[...]``, or ``Annotated`` with a
        `msgspec.Meta` whose description says in words what a value has to be.
    content : mapping
        Of JSON types.
    where : str
        Names what they are settings of in messages.

    Raises
    ------
    UserError
        An unknown key, with the near matches, or a value of another kind.

    Examples
    --------
    >>> class Form:
    ...     seed: Annotated[int, msgspec.Meta(ge=0, description="a whole number, 0 or more")]
    >>> check(Form, {"seed": -1}, "data")
    Traceback (most recent call last):
    boostbench.errors.UserError: data.seed is -1; it must be a whole number, 0 or more
    """
    kinds = _kinds(form)
    for key, value in content.items():
        if key not in kinds:
            raise unknown(f"key of {where}", str(key), kinds, listed=False)
        try:
            msgspec.convert(value, kinds[key])
        except (ValueError, RecursionError):
            raise UserError(f"{where}.{key} is {value!r}; {_expected(kinds[key], value)}") from None


@functools.cache
def _kinds(form: type) -> dict:
    return get_type_hints(form, include_extras=True)


def _expected(kind, value) -> str:
    alternatives = [kind] if get_origin(kind) in (Annotated, Literal) else get_args(kind)
    if get_origin(alternatives[0]) is Literal:
        return hint(value, get_args(alternatives[0]))
    words = [meta.description for one in alternatives for meta in getattr(one, "__metadata__", ())]
    return f"it must be {' or '.join(words)}"
