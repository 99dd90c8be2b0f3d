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

from boostbench.figures.definition import axis_label
from boostbench.figures.lines import draw_varied_lines
from boostbench.figures.panels import Point, draw_panels, tidy
from boostbench.figures.style import COLOURS, PAGE_WIDTH, label, style
from boostbench.fitting.quantities import Quantity
from boostbench.util.numbers import fixed, rounded

_MAX_COLUMNS = 3  # heat maps side by side; with more, a page has no room for their numbers
_ROW_HEIGHT = 0.24  # inches, of a row of a heat map
_MARGIN_HEIGHT = 0.75  # inches, of the title and the horizontal axis of a heat map
_NUMBER_WIDTH = 0.7  # inches, which a number takes with its deviation
#: Keys that name data, one of which may be varied.
_DATA_KEYS = {"data", "data.path", "data.openml_task"}
#: A range of at least this factor is drawn on a logarithmic axis.
_MIN_LOG_RANGE = 20


class Setting(NamedTuple):
    """An experiment of a sweep, with its result.

    Attributes
    ----------
    values : mapping of str to str
        Text of the value of each key that the sweep varies, e.g. ``{"algo.nu": "0.1"}``.
    mean, std : float
        Mean and standard deviation of the quantity over splits; NaN without a result.
    """

    values: Mapping[str, str]
    mean: float
    std: float


def draw_sweep(settings: Sequence[Setting], quantity: Quantity) -> Figure:
    """Draw the results of a sweep.

    Parameters
    ----------
    settings : sequence of Setting
        Two or more experiments, which have the same keys.
    quantity : Quantity
        Measured quantity, such as the test error.

    Returns
    -------
    matplotlib.figure.Figure
        If one number is varied beside ``data``, a line for each data set; if the values are not
        numbers, a heat map with a row for each data set. Otherwise a heat map for each data set:
        the key with the most values is the horizontal axis, the other keys are the vertical axis.
        Dark is worse. Numbers have their standard deviations, if there is room.
    """
    # Rename the one varied key of data to "data", whichever way the data are given.
    data_keys = _DATA_KEYS & settings[0].values.keys()
    if len(data_keys) == 1:
        settings = [
            setting._replace(
                values={
                    "data" if key in data_keys else key: value
                    for key, value in setting.values.items()
                }
            )
            for setting in settings
        ]
    keys = [key for key in settings[0].values if key != "data"]
    if len(keys) == 1 and _is_numeric(setting.values[keys[0]] for setting in settings):
        return _draw_lines(settings, keys[0], quantity)
    return _draw_maps(settings, keys, quantity)


def _draw_lines(settings: Sequence[Setting], key: str, quantity: Quantity) -> Figure:
    """Draw the mean over the number `key`, with a line for each data set."""
    frame = tidy(
        Point(
            panel="",
            hue=setting.values.get("data", ""),
            x=float(setting.values[key]),
            y=setting.mean,
            error=setting.std,
        )
        for setting in sorted(settings, key=lambda setting: float(setting.values[key]))
        if not isnan(setting.mean)
    )
    low, high = frame.x.min(), frame.x.max()
    scale = "log" if low > 0 and high >= _MIN_LOG_RANGE * low else "linear"
    hues = frame.hue.unique().tolist()
    return draw_varied_lines(frame, hues, [""], key, [axis_label(quantity)], scale)


def _draw_maps(settings: Sequence[Setting], keys: list[str], quantity: Quantity) -> Figure:
    """Draw heat maps over `keys`, the varied keys besides ``data``."""
    # 1) Give each setting a panel, a row and a column of the heat map. Each data set has a panel,
    #    unless the data are one of the two axes.
    column_key, row_keys = _map_axes(settings, keys)
    has_data_panels = "data" not in (column_key, *row_keys)
    frame = pd.DataFrame(
        {
            "panel": [
                setting.values.get("data", "") if has_data_panels else "" for setting in settings
            ],
            "hue": "",  # `draw_panels` draws each hue of a panel; a heat map is drawn once
            "column": [setting.values[column_key] for setting in settings],
            "row": [", ".join(setting.values[key] for key in row_keys) for setting in settings],
            "mean": [setting.mean for setting in settings],
            "std": [setting.std for setting in settings],
        }
    )
    panels = frame.panel.unique().tolist()
    n_columns = min(_MAX_COLUMNS, len(panels))
    has_deviations = PAGE_WIDTH >= _NUMBER_WIDTH * n_columns * frame.column.nunique()

    def draw_map(axes: Axes, data: pd.DataFrame, index: int, n_hues: int) -> None:
        # Rows that are data sets are not compared with each other.
        is_by_row = row_keys == ["data"]
        _draw_map(axes, data, quantity, has_deviations=has_deviations, is_by_row=is_by_row)

    # 2) Draw a heat map in each panel.
    figure, _ = draw_panels(
        frame,
        draw_map,
        panels=panels,
        hues=[""],
        n_columns=n_columns,
        height=_MARGIN_HEIGHT + _ROW_HEIGHT * frame.row.nunique(),
        x_label=column_key,
        y_label=", ".join(row_keys),
        legend="none",
        grid_lines=None,
        pad=None,
    )
    with style():
        suffix = ", with its standard deviation" if has_deviations else ""
        figure.suptitle(f"{axis_label(quantity)}{suffix}, the best in bold", fontsize="medium")
    return figure


def _map_axes(settings: Sequence[Setting], keys: list[str]) -> tuple[str, list[str]]:
    """Choose the keys of the two axes of heat maps.

    Parameters
    ----------
    settings : sequence of Setting
    keys : list of str
        Varied keys besides ``data``.

    Returns
    -------
    column_key : str
        Key whose values are the columns: the key with the most values, the last one of equals.
    row_keys : list of str
        Keys whose combined values are the rows. Without ``data`` among the axes, each data set has
        a heat map.
    """
    if not keys:
        return "data", []
    if len(keys) == 1 and "data" in settings[0].values:
        return keys[0], ["data"]
    column_key = max(
        reversed(keys), key=lambda key: len({setting.values[key] for setting in settings})
    )
    return column_key, [key for key in keys if key != column_key]


def _draw_map(
    axes: Axes,
    data: pd.DataFrame,
    quantity: Quantity,
    *,
    has_deviations: bool,
    is_by_row: bool,
) -> None:
    """Draw one heat map.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    data : pandas.DataFrame
        Columns ``row``, ``column``, ``mean`` and ``std``, with a line for each cell of the map.
    quantity : Quantity
        Measured quantity, such as the test error.
    has_deviations : bool
        Whether the numbers have their standard deviations.
    is_by_row : bool
        Whether shades and best numbers are relative to their row; else to the whole map.
    """
    # 1) Arrange the numbers as matrices of shape (n_rows, n_columns); NaN: no result.
    rows, columns = _ascending(data.row), _ascending(data.column)
    table = data.set_index(["row", "column"])
    means, stds = (
        table[name].unstack().reindex(index=rows, columns=columns).to_numpy()
        for name in ("mean", "std")
    )
    # 2) Shade from 0, the best printed number, to 1, the worst. Equal numbers all are the best.
    losses = rounded(quantity.sign * means, quantity.digits)
    axis = 1 if is_by_row else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # rows without a number
        lowest = np.nanmin(losses, axis=axis, keepdims=True)
        highest = np.nanmax(losses, axis=axis, keepdims=True)
    shades = (losses - lowest) / np.where(highest > lowest, highest - lowest, 1)
    colours = LinearSegmentedColormap.from_list("losses", ["white", COLOURS[0]])
    axes.imshow(shades, cmap=colours, aspect="auto", alpha=0.6, vmin=0, vmax=1)
    # 3) Print the numbers.
    for (row, column), mean in np.ndenumerate(means):
        if isnan(mean):
            continue
        text = fixed(mean, quantity.digits)
        if has_deviations and not isnan(stds[row, column]):
            text += f" ({fixed(stds[row, column], quantity.digits)})"
        weight = "bold" if shades[row, column] == 0 else "normal"
        axes.text(column, row, text, ha="center", va="center", fontweight=weight)
    axes.set_xticks(range(len(columns)), map(label, columns))
    axes.set_yticks(range(len(rows)), map(label, rows))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _ascending(values: Iterable[str]) -> list[str]:
    """Return the distinct values: numbers in ascending order, other values as they come."""
    distinct = list(dict.fromkeys(values))
    return sorted(distinct, key=float) if _is_numeric(distinct) else distinct


def _is_numeric(texts: Iterable[str]) -> bool:
    """Return True if all texts are numbers, and none is NaN."""
    try:
        return not any(isnan(float(text)) for text in texts)
    except ValueError:
        return False
