"""Results of a sweep over settings: lines over one varied number, else heat maps."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from boostbench.figures.definition import label_axis
from boostbench.figures.lines import draw_varied
from boostbench.figures.panels import Point, draw_panels, tidy
from boostbench.figures.style import COLOURS, PAGE_WIDTH, label, style
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
    if len(keys) == 1 and _is_numeric(point.values[keys[0]] for point in points):
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
    has_panels = "data" not in (along, *stacked)
    frame = pd.DataFrame(
        {
            "panel": [point.values.get("data", "") if has_panels else "" for point in points],
            "hue": "",
            "column": [point.values[along] for point in points],
            "row": [", ".join(point.values[key] for key in stacked) for point in points],
            "mean": [point.mean for point in points],
            "std": [point.std for point in points],
        }
    )
    panels = frame.panel.unique().tolist()
    n_beside = min(_COLUMNS, len(panels))
    has_deviations = PAGE_WIDTH >= _CELL * n_beside * frame.column.nunique()

    def draw_map(axes: Axes, data: pd.DataFrame, index: int, n_hues: int) -> None:
        # Data sets are not compared with each other.
        _draw_map(axes, data, quantity, has_deviations, by_row=stacked == ["data"])

    figure, _ = draw_panels(
        frame,
        draw_map,
        panels=panels,
        hues=[""],
        n_columns=n_beside,
        height=0.75 + _ROW * frame.row.nunique(),
        x_label=along,
        y_label=", ".join(stacked),
        legend="none",
        grid_lines=None,
        pad=None,
    )
    with style():
        suffix = ", with its standard deviation" if has_deviations else ""
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
    axes: Axes, data: pd.DataFrame, quantity: Quantity, has_deviations: bool, by_row: bool
) -> None:
    """Draw a heat map; `by_row`: shades and best numbers are of each row and not of the map."""
    rows, columns = _ascending(data.row), _ascending(data.column)
    table = data.set_index(["row", "column"])
    means, stds = (
        table[name].unstack().reindex(index=rows, columns=columns).to_numpy()
        for name in ("mean", "std")
    )
    losses = rounded(quantity.sign * means, quantity.digits)
    axis = 1 if by_row else None
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
        if has_deviations and not isnan(stds[row, column]):
            text += f" ({fixed(stds[row, column], quantity.digits)})"
        axes.text(column, row, text, ha="center", va="center", fontweight=weight)
    axes.set_xticks(range(len(columns)), map(label, columns))
    axes.set_yticks(range(len(rows)), map(label, rows))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _ascending(values: Iterable[str]) -> list[str]:
    """Return the distinct values; numbers ascend."""
    distinct = list(dict.fromkeys(values))
    return sorted(distinct, key=float) if _is_numeric(distinct) else distinct


def _is_numeric(texts: Iterable[str]) -> bool:
    """Return True if all texts are numbers, and none is NaN."""
    try:
        return not any(isnan(float(text)) for text in texts)
    except ValueError:
        return False
