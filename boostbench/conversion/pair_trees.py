"""Trees for treelite's builder; tables of two features as such, a leaf for each cell."""

from collections import deque
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from boostbench.conversion.stumps import cells_of


class Node(NamedTuple):
    """A test of a tree.

    Attributes
    ----------
    test : dict
        What treelite's builder takes: ``category_list`` for categories, those that go to the left;
        ``threshold`` for numbers, which go to the left where they are not above it.
    left, right : Node or leaf
        What is tested next; or what is there: in the end the scores, an ndarray.
    """

    test: Mapping
    left: Any
    right: Any


def add_tree(made, root):
    """Add a tree to treelite's builder, a `ModelBuilder`."""
    made.start_tree()
    waiting, n_nodes = deque([(0, root)]), 1
    while waiting:
        key, part = waiting.popleft()
        made.start_node(key)
        if isinstance(part, Node):
            children = {"left_child_key": n_nodes, "right_child_key": n_nodes + 1}
            waiting += [(n_nodes, part.left), (n_nodes + 1, part.right)]
            n_nodes += 2
            if "threshold" in part.test:
                made.numerical_test(**part.test, **children, opname="<=")
            else:
                made.categorical_test(**part.test, **children, category_list_right_child=False)
        else:
            made.leaf(float(part[0]) if len(part) == 1 else part.tolist())
        made.end_node()
    made.end_tree()


def tree_of(model, pair, factor):
    """Make a tree of the table of a pair, times a factor: nested tests, then the cell's scores."""
    first, second = (_tests(model, axis) for axis in pair.axes)
    table = factor * pair.table
    return _with_leaves(first, lambda row: _with_leaves(second, lambda cell: table[row, cell]))


def _with_leaves(part, leaf):
    """Put what `leaf` gives in the place of each cell."""
    if not isinstance(part, Node):
        return leaf(part)
    return Node(part.test, _with_leaves(part.left, leaf), _with_leaves(part.right, leaf))


def _tests(model, axis):
    """Find the cell of an axis by nested tests; leaves are its number."""
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
