"""Tables of two features as trees: of nested tests, until one cell of each axis is left."""

from collections import deque
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from boostbench.conversion.stumps import cells_of


class Node(NamedTuple):
    """A test of a tree.

    Attributes
    ----------
    test : dict
        What treelite's builder takes: ``category_list`` for categories, those that go to the left;
        ``threshold`` for numbers, which go to the left where they are not above it.
    left, right : Node or int
        What is tested next, or the cell.
    """

    test: Mapping
    left: "Node | int"
    right: "Node | int"


def add_table(made, model, pair, factor):
    """Add the table of a pair, times a factor, as a tree to treelite's builder.

    Parameters
    ----------
    made : treelite.model_builder.ModelBuilder
    model : estimator
        Fitted, with `pairs_`.
    pair : boostbench.algorithms.bag_pairs.Pair
    factor : float
    """
    first, second = (_tests(model, axis) for axis in pair.axes)
    made.start_tree()
    # A part of the tree, and the cell of the first axis where that is known.
    waiting, n_nodes = deque([(0, first, None)]), 1
    while waiting:
        key, part, row = waiting.popleft()
        if row is None and not isinstance(part, Node):
            part, row = second, part
        made.start_node(key)
        if isinstance(part, Node):
            children = {"left_child_key": n_nodes, "right_child_key": n_nodes + 1}
            waiting += [(n_nodes, part.left, row), (n_nodes + 1, part.right, row)]
            n_nodes += 2
            if "threshold" in part.test:
                made.numerical_test(**part.test, **children, opname="<=")
            else:
                made.categorical_test(**part.test, **children, category_list_right_child=False)
        else:
            values = factor * pair.table[row, part]
            made.leaf(float(values[0]) if len(values) == 1 else values.tolist())
        made.end_node()
    made.end_tree()


def _tests(model, axis):
    """Find the cell of an axis by nested tests."""
    codes, missing = cells_of(model, axis)
    feature = int(axis.feature)
    if codes is not None:
        return _of_categories(feature, codes, missing)
    last = len(axis.thresholds)
    if missing <= last:
        return _of_numbers(feature, axis.thresholds, 0, missing)
    # Every number is on the left of the test for a missing value.
    test = {"feature_id": feature, "default_left": False, "threshold": np.finfo(float).max}
    return Node(test, _of_numbers(feature, axis.thresholds, 0, last), missing)


def _of_numbers(feature, thresholds, first, missing):
    """Halve an interval, whose first cell is `first`, until it has no thresholds."""
    if not len(thresholds):
        return first
    middle = len(thresholds) // 2
    test = {
        "feature_id": feature,
        "default_left": missing <= first + middle,
        "threshold": float(thresholds[middle]),
    }
    return Node(
        test,
        _of_numbers(feature, thresholds[:middle], first, missing),
        _of_numbers(feature, thresholds[middle + 1 :], first + middle + 1, missing),
    )


def _of_categories(feature, codes, missing):
    """Ask for one cell after the other; what is in none is in that of missing values."""
    part = missing
    for cell in np.unique(codes[codes != missing]).tolist():
        some = np.flatnonzero(codes == cell).tolist()
        part = Node(
            {"feature_id": feature, "default_left": False, "category_list": some}, cell, part
        )
    return part
