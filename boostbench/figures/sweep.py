"""Results of a sweep over settings: lines over one varied number, else heat maps."""

import warnings
from collections.abc import Mapping, Sequence
from math import isnan, nan
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from boostbench.figures.definition import label_axis
from boostbench.figures.lines import draw_varied
from boostbench.figures.panels import Point, tidy
from boostbench.figures.style import COLOURS, PAGE_WIDTH, label, make_panels, style
from boostbench.fitting.quantities import Quantity
from boostbench.util.numbers import fixed, rounded

_COLUMNS = 3  # panels in a row
_ROW = 0.24  # inches, of a heat map
_CELL = 0.7  # inches, which a number takes with its deviation
#: Keys that name data, one of which may be varied.
_DATA = {"data", "data.path", "data.openml_task"}
#: A range of at least this factor is drawn on a logarithmic axis.
_MIN_LOG_RANGE = 20


class Setting(NamedTuple):
    """An experiment of a sweep.

    Attributes
    ----------
    values : dict of str to str
        Settings by the keys that the sweep varies.
    mean, std : float
        Mean and standard deviation of the quantity; NaN without a result.
    """

    values: Mapping[str, str]
    mean: float
    std: float


def draw_sweep(points: Sequence[Setting], quantity: Quantity) -> Figure:
    """Draw the results of a sweep.

    Parameters
    ----------
    points : sequence of Point
        Two or more, of equal keys.
    quantity : Quantity
        Measured quantity.

    Returns
    -------
    matplotlib.figure.Figure
        If one number is varied beside ``data``, a line for each data set; if the values are not
        numbers, a heat map with a row for each data set. Otherwise a heat map for each data set:
        the key with the most values is the horizontal axis, the other keys are the vertical axis.
        Dark is worse. Numbers have their standard deviations, if there is room.
    """
    named = _DATA & points[0].values.keys()
    if len(named) == 1:
        points = [
            point._replace(values={"data" if k in named else k: v for k, v in point.values.items()})
            for point in points
        ]
    keys = [key for key in points[0].values if key != "data"]
    if len(keys) == 1 and _is_numeric(points, keys[0]):
        return _draw_lines(points, keys[0], quantity)
    return _draw_maps(points, keys, quantity)


def _draw_lines(points: Sequence[Setting], key: str, quantity: Quantity) -> Figure:
    frame = tidy(
        Point("", point.values.get("data", ""), float(point.values[key]), point.mean, point.std)
        for point in sorted(points, key=lambda point: float(point.values[key]))
        if not isnan(point.mean)
    )
    low, high = frame.x.min(), frame.x.max()
    scale = "log" if low > 0 and high >= _MIN_LOG_RANGE * low else "linear"
    hues = frame.hue.unique().tolist()
    return draw_varied(frame, hues, key, {"": label_axis(quantity)}, scale)


def _draw_maps(points: Sequence[Setting], keys: list[str], quantity: Quantity) -> Figure:
    along, stacked = _layout(points, keys)
    panels: dict[str, list[Setting]] = {}
    for point in points:
        title = "" if "data" in (along, *stacked) else point.values.get("data", "")
        panels.setdefault(title, []).append(point)
    height = 0.75 + _ROW * len(_texts(points, stacked))
    n_beside = min(_COLUMNS, len(panels))
    deviations = PAGE_WIDTH >= _CELL * n_beside * len(_texts(points, [along]))
    with style():
        figure, grid, _ = make_panels(len(panels), n_beside, height)
        for axes, (title, settings) in zip(grid, panels.items(), strict=True):
            axes.set_title(label(title), pad=3)
            _draw_map(axes, settings, along, stacked, quantity, deviations)
        figure.supxlabel(label(along), fontsize="medium")
        if stacked:
            figure.supylabel(label(", ".join(stacked)), fontsize="medium")
        suffix = " (standard deviation)" if deviations else ""
        figure.suptitle(f"{label_axis(quantity)}{suffix}, the best in bold", fontsize="medium")
    return figure


def _layout(points: Sequence[Setting], keys: list[str]) -> tuple[str, list[str]]:
    """Choose the key along the maps, the last of those with the most values, and those stacked."""
    if not keys:
        return "data", []
    if len(keys) == 1 and "data" in points[0].values:
        return keys[0], ["data"]
    along = max(reversed(keys), key=lambda key: len({point.values[key] for point in points}))
    return along, [key for key in keys if key != along]


def _draw_map(
    axes: Axes,
    points: Sequence[Setting],
    along: str,
    stacked: list[str],
    quantity: Quantity,
    deviations: bool,
) -> None:
    rows, columns = _texts(points, stacked), _texts(points, [along])
    means, stds = np.full((2, len(rows), len(columns)), nan)
    for point in points:
        place = rows.index(_text(point, stacked)), columns.index(point.values[along])
        means[place], stds[place] = point.mean, point.std
    losses = rounded(quantity.sign * means, quantity.digits)
    # Data sets are not compared with each other.
    axis = 1 if stacked == ["data"] else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # rows without a number
        least, most = (f(losses, axis=axis, keepdims=True) for f in (np.nanmin, np.nanmax))
    shades = (losses - least) / np.where(most > least, most - least, 1)
    colours = LinearSegmentedColormap.from_list("losses", ["white", COLOURS[0]])
    axes.imshow(shades, cmap=colours, aspect="auto", alpha=0.6, vmin=0, vmax=1)
    for (row, column), mean in np.ndenumerate(means):
        if isnan(mean):
            continue
        best = shades[row, column] == 0
        text, weight = fixed(mean, quantity.digits), "bold" if best else "normal"
        if deviations and not isnan(stds[row, column]):
            text += f" ({fixed(stds[row, column], quantity.digits)})"
        axes.text(column, row, text, ha="center", va="center", fontweight=weight)
    axes.set_xticks(range(len(columns)), map(label, columns))
    axes.set_yticks(range(len(rows)), map(label, rows))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _texts(points: Sequence[Setting], keys: list[str]) -> list[str]:
    """Return the labels of an axis, numbers ascending."""
    texts = list(dict.fromkeys(_text(point, keys) for point in points))
    return sorted(texts, key=float) if len(keys) == 1 and _is_numeric(points, keys[0]) else texts


def _text(point: Setting, keys: list[str]) -> str:
    return ", ".join(point.values[key] for key in keys)


def _is_numeric(points: Sequence[Setting], key: str) -> bool:
    try:
        return all(float(point.values[key]) == float(point.values[key]) for point in points)
    except ValueError:
        return False
