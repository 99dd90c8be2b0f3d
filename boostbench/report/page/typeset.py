"""Conversion of text to HTML."""

import re

from markupsafe import Markup, escape


def typeset(text: object) -> Markup:
    """Escape a text, and set a word behind ``^`` as a superscript.

    Examples
    --------
    >>> print(typeset("RBoost^proj <exp>"))
    RBoost<sup>proj</sup> &lt;exp&gt;
    """
    return Markup(re.sub(r"\^(\w+)", r"<sup>\1</sup>", str(escape(text))))


def identifier(*parts: object) -> str:
    """Return an HTML id made of names; different names give different ids.

    Examples
    --------
    >>> identifier("table", "randomboost5"), identifier("table", "my table")
    ('table-randomboost5', 'table-my.20.table')
    """
    return "-".join(re.sub(r"[^\w-]", _code, str(part)) for part in parts)


def css(verdict: str, kind: str) -> str:
    """Return the CSS class of a verdict: ``"v-not-run"`` of a cell, ``"b-not-run"`` in a bar."""
    return f"{kind}-{verdict.replace(' ', '-')}"


def _code(character: re.Match) -> str:
    return f".{ord(character[0]):x}."
