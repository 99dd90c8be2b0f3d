"""Data of heat maps of two features."""

import numpy as np

from boostbench.algorithms.explanation.number_format import shortest_decimals

# Edges of the plot area in units of the SVG view box.
_LEFT, _RIGHT, _TOP, _BOTTOM = 80, 320, 8, 190
# Maximum number of characters of a category label.
_MAX_LABEL_LENGTH = 9


def heat_map_data(shapes, index, output, largest, number, deviation):
    """Return the drawing of a pair for the HTML page.

    Parameters
    ----------
    shapes : boostbench.algorithms.explanation.shape_functions.ShapeFunctions
    index : int
        Index of the pair.
    output : int
        Index of the score.
    largest : float
        Contribution that is drawn in full colour.
    number, deviation : callable
        Formatters of a contribution and of a standard deviation.

    Returns
    -------
    dict
        Names of both features; position, relative value and tooltip of each cell; size of a cell;
        positions and texts of the tick labels of both axes; edges of the plot area.
    """
    pair, stds = shapes.pairs[index], shapes.pair_stds[index]
    across, down = pair.axes
    names = [shapes.cell_names(axis) for axis in (across, down)]
    width = (_RIGHT - _LEFT) / across.n_cells
    height = (_BOTTOM - _TOP) / down.n_cells
    table = pair.table[..., output]
    features = [str(shapes.feature_names[axis.feature]) for axis in pair.axes]
    cells = [
        {
            "x": round(_LEFT + width * column, 2),
            "y": round(_BOTTOM - height * (row + 1), 2),
            "value": round(float(table[column, row]) / largest, 3),
            "text": f"{features[0]} {names[0][column]}, {features[1]} {names[1][row]}: "
            + number(float(table[column, row]))
            + ("" if stds is None else f" {deviation(stds[column, row, output])}"),
        }
        for column, row in np.ndindex(*table.shape)
    ]
    return {
        "features": features,
        "cells": cells,
        "width": round(width + 0.05, 2),
        "height": round(height + 0.05, 2),
        "x_marks": [
            (round(_LEFT + width * position, 1), text)
            for position, text in _short_tick_labels(across, names[0], 3)
        ],
        "y_marks": [
            (round(_BOTTOM - height * position, 1), text)
            for position, text in _short_tick_labels(down, names[1], 4)
        ],
        "box": {"left": _LEFT, "right": _RIGHT, "top": _TOP, "bottom": _BOTTOM},
    }


def _short_tick_labels(axis, names, max_labels):
    # Shorten names only: a number without its last digits would be another number.
    if axis.thresholds is None:
        names = [
            n if len(n) <= _MAX_LABEL_LENGTH else f"{n[: _MAX_LABEL_LENGTH - 1]}…" for n in names
        ]
    return tick_labels(axis, names, max_labels)


def tick_labels(axis, names, max_labels):
    """Return positions and texts of the tick labels of an axis.

    Parameters
    ----------
    axis : object
        Element of the ``axes`` of a pair.
    names : list of str
        Names of its cells.
    max_labels : int
        Maximum number of thresholds or categories with a label.

    Returns
    -------
    list of (float, str)
        Position in cells, and text. Thresholds are at the edges of cells; categories and missing
        values in the middle.
    """
    if axis.thresholds is None:
        return [(position + 0.5, name) for position, name in enumerate(names)][
            :: -(-len(names) // max_labels)
        ]
    positions = np.unique(np.linspace(0, len(axis.thresholds) - 1, max_labels).round().astype(int))
    texts = shortest_decimals(axis.thresholds[positions], digits=3)
    labels = [(int(position) + 1, text) for position, text in zip(positions, texts, strict=True)]
    if not axis.has_missing:
        return labels
    # The label of missing values replaces the last threshold, which it would overlap.
    return [*(labels[:-1] or labels), (axis.n_cells - 0.5, "missing")]
