"""Grid of panels on tidy data, which the ordinary kinds of figures share.

Tidy data have a row for each point. A kind of figure chooses the numbers of x and y, the hue (each
of its values has a colour and a marker), the panel, and the mark: a function that draws the points
of one hue in one panel.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from boostbench.figures.style import (
    COLOURS,
    MARKERS,
    label,
    legend_lines,
    make_panels,
    marked_line_style,
    plain_ticks,
    put_headline,
    style,
)

_BAND_OPACITY = 0.2
_MAX_LOOSE_ENTRIES = 7  # a legend with more entries in a free place is set densely
# An axis is long if its ends have at least this ratio, about a decade.
_LONG_AXIS_RATIO = 8
# Ticks in a decade of a long axis, and of a short one.
_FEW_TICKS = (1, 2, 3, 5)
_MANY_TICKS = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8)


class Point(NamedTuple):
    """Row of tidy data.

    Attributes
    ----------
    panel, hue : str
        Titles of the panel and of the line.
    x, y : float
        Coordinates, in the units of the axes.
    error : float, default=nan
        Half of the length of the error bar; NaN: no bar.
    """

    panel: str
    hue: str
    x: float
    y: float
    error: float = float("nan")


def tidy(points: Iterable[Point]) -> pd.DataFrame:
    """Return points as a data frame with the columns panel, hue, x, y and error."""
    return pd.DataFrame(points, columns=Point._fields)


#: Function that draws the points of one hue in a panel. Its arguments are the axes, the tidy
#: points, the position of the hue, which determines its look, and the number of hues.
Mark = Callable[[Axes, pd.DataFrame, int, int], object]


def draw_line(axes: Axes, data: pd.DataFrame, index: int, n_hues: int) -> None:
    """Draw a line through marked points."""
    axes.plot(data.x, data.y, **marked_line_style(index))


def draw_line_with_band(axes: Axes, data: pd.DataFrame, index: int, n_hues: int) -> None:
    """Draw a line through marked points, with a band as high as twice the errors."""
    look = marked_line_style(index)
    axes.plot(data.x, data.y, **look)
    if data.error.notna().any():
        # A logarithmic axis has no 0, so that the band ends at a tenth of the line.
        lower = np.maximum(data.y - data.error, data.y / 10)
        upper = data.y + data.error
        axes.fill_between(
            data.x, lower, upper, color=look["color"], alpha=_BAND_OPACITY, linewidth=0
        )


def draw_line_with_bars(axes: Axes, data: pd.DataFrame, index: int, n_hues: int) -> None:
    """Draw a line through marked points, with error bars."""
    axes.errorbar(data.x, data.y, data.error, elinewidth=0.5, **marked_line_style(index))


def draw_markers(axes: Axes, data: pd.DataFrame, index: int, n_hues: int) -> None:
    """Draw points with error bars; several hues stand side by side."""
    # Points are at whole numbers, so that the hues of a point have half of the distance.
    spread = 0.5 if n_hues > 1 else 0.0
    axes.errorbar(
        data.x + np.linspace(-spread / 2, spread / 2, n_hues)[index],
        data.y,
        None if data.error.isna().all() else data.error,
        fmt=MARKERS[index % len(MARKERS)],
        color=COLOURS[index % len(COLOURS)],
        markersize=3,
        elinewidth=0.7,
        label=data.hue.iloc[0],
    )


def draw_panels(
    frame: pd.DataFrame,
    mark: Mark,
    *,
    panels: Sequence[str],
    hues: Sequence[str],
    n_columns: int,
    height: float,
    x_label: str = "",
    y_label: str = "",
    headline: str = "",
    legend: Literal["above", "free place", "none"] = "above",
    has_titles: bool = True,
    n_legend_columns: int = 5,
    grid_lines: Literal["x", "y", "both"] | None = "y",
    pad: float | None = 0.03,
    **options,
) -> tuple[Figure, list[Axes]]:
    """Draw tidy data as a grid of panels with one legend.

    Parameters
    ----------
    frame : pandas.DataFrame
        See `tidy`.
    mark : callable
        Draws the points of one hue in one panel.
    panels : sequence of str
        Titles of the panels, in their order.
    hues : sequence of str
        Titles of the lines, each of which has one look in all panels.
    n_columns : int
        Panels in a row.
    height : float
        Height of a row, in inches.
    x_label, y_label : str, default=""
        Labels that all panels share.
    headline : str, default=""
        Sentence above the panels.
    legend : {"above", "free place", "none"}, default="above"
        Place of the legend: above the panels, or in a place of the grid without a panel. If all
        places have panels, a legend for a free place stands above.
    has_titles : bool, default=True
        Whether titles stand above the panels.
    n_legend_columns : int, default=5
        Entries in a row of a legend above the panels.
    grid_lines : {"x", "y", "both"}, default="y"
        Axes with grid lines; None: no lines.
    pad : float, default=0.03
        Inches around a panel; None: default of matplotlib.
    **options
        Further options of `make_panels`.

    Returns
    -------
    figure : matplotlib.figure.Figure
    grid : list of matplotlib.axes.Axes
        The panels.
    """
    with style():
        figure, grid, free = make_panels(len(panels), n_columns, height, pad=pad, **options)
        for axes, panel in zip(grid, panels, strict=True):
            if has_titles:
                axes.set_title(label(panel), pad=3)
            rows = frame[frame.panel == panel]
            for hue in rows.hue.unique():
                mark(axes, rows[rows.hue == hue], hues.index(hue), len(hues))
            if grid_lines:
                axes.grid(axis=grid_lines)
        if x_label:
            figure.supxlabel(label(x_label), fontsize="medium")
        if y_label:
            figure.supylabel(label(y_label), fontsize="medium")
        lines = [] if legend == "none" else legend_lines(hues)
        is_in_free_place = legend == "free place" and bool(free)
        put_headline(figure, headline, [] if is_in_free_place else lines, n_legend_columns)
        if is_in_free_place:
            free[0].legend(
                handles=lines,
                loc="center left",
                frameon=False,
                labelspacing=0.7 if len(lines) <= _MAX_LOOSE_ENTRIES else 0.4,
                borderaxespad=0,
            )
    return figure, grid


def set_log_ticks(axes: Axes) -> None:
    """Set plain ticks on a logarithmic vertical axis, more of them on a short axis."""
    low, high = axes.get_ylim()
    is_long = high > _LONG_AXIS_RATIO * low
    axes.yaxis.set_major_locator(LogLocator(subs=_FEW_TICKS if is_long else _MANY_TICKS))
    plain_ticks(axes.yaxis)


def distant_values(values: Sequence[float]) -> list[float]:
    """Return values whose tick labels do not overlap.

    Parameters
    ----------
    values : sequence of float
        Ascending values on a linear axis.

    Returns
    -------
    list of float
        The first value, and each value that is more than 1/16 of the range above the one before.

    Examples
    --------
    >>> distant_values([2, 3, 5, 8, 27])
    [2, 5, 8, 27]
    """
    distant: list[float] = []
    for value in values:
        if not distant or value - distant[-1] > (values[-1] - values[0]) / 16:
            distant.append(value)
    return distant
