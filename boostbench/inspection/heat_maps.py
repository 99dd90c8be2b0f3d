"""Tables of two features as heat maps."""

import numpy as np

from boostbench.algorithms.explanation.number_format import shortest_decimals

# Of a drawing, in its own units.
_LEFT, _RIGHT, _TOP, _BOTTOM = 80, 320, 8, 190
# Letters of a category's mark.
_MAX_LABEL_LENGTH = 9


def heat_map_data(shapes, pair, output, largest, number):
    """Give what is drawn of a pair.

    Parameters
    ----------
    shapes : boostbench.algorithms.explanation.shape_functions.ShapeFunctions
    pair : boostbench.algorithms.bag_pairs.Pair
    output : int
        Which score is shown.
    largest : float
        What is drawn in full colour.
    number : callable
        From what is added to text.

    Returns
    -------
    dict
        Of the cells the places, sizes, values by the largest, and texts; of both axes the places
        and texts of some marks; the names of both features; and the edges of the drawing.
    """
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
            + number(float(table[column, row])),
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
    # Numbers would be others without their last digits.
    if axis.thresholds is None:
        names = [
            n if len(n) <= _MAX_LABEL_LENGTH else f"{n[: _MAX_LABEL_LENGTH - 1]}…" for n in names
        ]
    return tick_labels(axis, names, max_labels)


def tick_labels(axis, names, max_labels):
    """Give places and texts of some marks of an axis.

    Parameters
    ----------
    axis : object
        One of the ``axes`` of a pair.
    names : list of str
        Of its cells.
    max_labels : int
        So many thresholds or categories.

    Returns
    -------
    list of (float, str)
        Thresholds are between cells, categories and what is missing in the middle of one; places
        are counted in cells.
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
    # What is missing is beside the last threshold, whose text would be in its way.
    return [*(labels[:-1] or labels), (axis.n_cells - 0.5, "missing")]
