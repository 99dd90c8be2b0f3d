"""Conversion of text to HTML, and the verdicts' colours in a light and in a dark theme."""

import re

from markupsafe import Markup, escape

from boostbench.analysis.verdicts import VERDICTS


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


#: Verdicts with a colour of their own in cells and words; the others are grey.
_COLOURED = ("reproduced", "better", "worse", "failed")

_WHITE, _BLACK = "#ffffff", "#000000"
#: The background of the dark theme, as in ``page.css``.
_DARK = "#14171b"


def style() -> str:
    """Return CSS variables: ``--bar-x`` per verdict; ``--x`` for text and ``--on-x`` behind it.

    Text has a contrast ratio of at least 4.5 on its background.
    """
    lines = []
    for name in _COLOURED:
        colour = VERDICTS[name].colour
        lines += [
            f"--bar-{name}: {colour};",
            f"--{name}: light-dark({mix(colour, _BLACK, 0.6)}, {mix(colour, _WHITE, 0.75)});",
            f"--on-{name}: light-dark({mix(colour, _WHITE, 0.12)}, {mix(colour, _DARK, 0.2)});",
        ]
    for verdict, (colour, *_) in VERDICTS.items():
        if colour and verdict not in _COLOURED:
            name = verdict.replace(" ", "-")
            lines.append(f"--bar-{name}: light-dark({colour}, {mix(colour, _DARK, 0.4)});")
    return ":root {\n  " + "\n  ".join(lines) + "\n}\n"


def mix(first: str, second: str, share: float) -> str:
    """Return the mixture of two colours, with `share` of the first one.

    Examples
    --------
    >>> mix("#ff0000", "#ffffff", 0.5)
    '#ff8080'
    """
    pairs = ((int(first[i : i + 2], 16), int(second[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}" for a, b in pairs)
