"""Figures before they are files, and the notes that kinds share."""

import importlib.util
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from boostbench.fitting.quantities import Quantity
from boostbench.util.errors import UserError, truncated_list


@dataclass(frozen=True)
class Drawing:
    """A figure of matplotlib, the folder of results, and the contents of its page.

    Attributes
    ----------
    figure : matplotlib.figure.Figure
    results : Path
    notes : list of str
        Remarks that follow the caption.
    facts : list of list of str
        Lines of a table of the drawn numbers.
    header : list of str
        Its headings.
    failed : int
        Number of experiments that could not be computed.
    """

    figure: Any
    results: Path
    notes: list[str]
    facts: list[list[str]] = field(default_factory=list)
    header: list[str] = field(default_factory=list)
    failed: int = 0


def need_matplotlib() -> None:
    """Raise an error without matplotlib.

    Raises
    ------
    UserError
        If matplotlib is not installed.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise UserError("figures need matplotlib; install it by 'pip install matplotlib'")


def label_axis(quantity: Quantity) -> str:
    """Return the label of an axis: ``"test error (%)"``."""
    return f"{quantity.phrase} ({quantity.symbol})" if quantity.symbol else quantity.phrase


def sentence(message: str) -> list[str]:
    """Return the headline of a figure as a note; empty without a headline."""
    return [f"{message}."] if message else []


def stale_note(stale: Iterable[str]) -> list[str]:
    """Return a note on stale results that names the first of them; empty without any."""
    what = truncated_list(list(dict.fromkeys(stale)), max_names=3)
    return [f"Not what today's code gives (rerun=stale runs it again): {what}."] if what else []
