"""What all kinds of figures come to, before they are files."""

import importlib.util
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from boostbench.fitting.quantities import Quantity
from boostbench.util.errors import UserError, truncated_list


@dataclass(frozen=True)
class Drawing:
    """A figure of matplotlib, the folder of results, and what the page about it says.

    Attributes
    ----------
    figure : matplotlib.figure.Figure
    results : Path
    notes : list of str
        What a reader must know beside the caption.
    facts : list of list of str
        Lines of a table of what the picture shows.
    header : list of str
        Its headings.
    failed : int
        How much of what is to be drawn could not be computed.
    """

    figure: Any
    results: Path
    notes: list[str]
    facts: list[list[str]] = field(default_factory=list)
    header: list[str] = field(default_factory=list)
    failed: int = 0


def need_matplotlib() -> None:
    """Refuse to go on where nothing can be drawn.

    Raises
    ------
    UserError
        If matplotlib is not installed.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise UserError("figures need matplotlib; install it by 'pip install matplotlib'")


def label_axis(quantity: Quantity) -> str:
    """``"test error (%)"``: what stands along an axis."""
    return f"{quantity.phrase} ({quantity.symbol})" if quantity.symbol else quantity.phrase


def sentence(message: str) -> list[str]:
    """Say the headline of a picture as a note; nothing where it has none."""
    return [f"{message}."] if message else []


def stale_note(stale: Iterable[str]) -> list[str]:
    """Say what other code than today's made, the first few of it; nothing where there is none."""
    what = truncated_list(list(dict.fromkeys(stale)), max_names=3)
    return [f"Not what today's code gives (rerun=stale runs it again): {what}."] if what else []
