"""Fitted sums of stumps, and of tables of pairs, as models of treelite."""

from collections import deque
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_regressor

from boostbench.conversion.stump_tests import (
    StumpTests,
    extract_stump_sum,
    extract_tests,
    value_cells,
)
from boostbench.util.optional_imports import needed


class TreeNode(NamedTuple):
    """A test of a tree.

    Attributes
    ----------
    test : dict
        What treelite's builder takes: ``category_list`` for categories, those that go to the left;
        ``threshold`` for numbers, which go to the left where they are not above it.
    left_child, right_child : TreeNode or leaf
        What is tested next; or what is there: in the end the scores, an ndarray.
    """

    test: Mapping
    left_child: Any
    right_child: Any


def to_treelite(model):
    """Turn a fitted sum of stumps into a model of treelite.

    A pair of features becomes a tree with a leaf for each cell of its table.

    Parameters
    ----------
    model : BoostingClassifier or BoostingRegressor
        Fitted, a sum of stumps; it may have pairs of features.

    Returns
    -------
    treelite.Model
        It takes categories as the model of `to_onnx` does. It gives probabilities as of
        `predict_proba`, for two classes that of the second, and numbers as of `predict`; with
        ``pred_margin=True`` the scores times the factor that `predict_proba` has. Later classes
        have less by what rounding can be, some 1e-12 of the score, so that of equal ones the first
        is the largest, as `predict` has it; of two, the second is above one half where it is
        predicted.

    Raises
    ------
    ImportError
        If treelite is not installed.
    ValueError
        If the model is no sum of stumps.
    """
    model_builder = needed("treelite").model_builder
    stump_sum, inverse_temperature, slack = extract_stump_sum(model)
    is_binary = stump_sum.coefficients.ndim == 1
    task_type, postprocessor = ("kBinaryClf", "sigmoid") if is_binary else ("kMultiClf", "softmax")
    if is_regressor(model):
        task_type, postprocessor = "kRegressor", "identity"
    n_outputs = 1 if is_binary else len(model.classes_)
    leaf_values = (
        inverse_temperature
        * stump_sum.stumps.polarity[:, None]
        * stump_sum.coefficients.reshape(-1, n_outputs)
    )
    tests = extract_tests(model, stump_sum.stumps)
    # Of equal scores the first class is predicted; there is no other way to say so.
    base_scores = inverse_temperature * (
        stump_sum.intercept - slack * (1 if is_binary else np.arange(n_outputs))
    )
    # A constant stump has no test that treelite would take; and there must be a tree.
    is_constant = np.isinf(tests.threshold)
    base_scores = base_scores - leaf_values[is_constant].sum(axis=0)
    stumps = [
        (test, leaf_value)
        for test, leaf_value in zip(tests.iterate(), leaf_values, strict=True)
        if not np.isinf(test.threshold)
    ] or [(StumpTests(0, 0.0, np.nan, False, False), np.zeros(n_outputs))]
    pairs = getattr(model, "pairs_", ())
    n_trees = len(stumps) + len(pairs)
    builder = model_builder.ModelBuilder(
        threshold_type="float64",
        leaf_output_type="float64",
        metadata=model_builder.Metadata(
            num_feature=model.n_features_in_,
            task_type=task_type,
            average_tree_output=False,
            num_target=1,
            num_class=[n_outputs],
            leaf_vector_shape=(1, n_outputs),
        ),
        tree_annotation=model_builder.TreeAnnotation(
            num_tree=n_trees,
            target_id=[0] * n_trees,
            class_id=[0 if is_binary else -1] * n_trees,
        ),
        postprocessor=model_builder.PostProcessorFunc(name=postprocessor),
        base_scores=np.atleast_1d(base_scores).tolist(),
    )
    for test, leaf_value in stumps:
        _add_tree(builder, TreeNode(_node_test(model, test), -leaf_value, leaf_value))
    for pair in pairs:
        _add_tree(builder, _pair_tree(model, pair, inverse_temperature))
    return builder.commit()


def _node_test(model, test):
    """Say what a stump tests, as of `TreeNode`."""
    node_test = {"feature_id": int(test.feature), "default_left": not test.true_if_missing}
    categories = getattr(model, "categories_", {}).get(test.feature)
    if categories is None:
        # Every number is on the left of the test for a missing value.
        threshold = np.finfo(float).max if np.isinf(test.category) else test.threshold
        return {**node_test, "threshold": float(threshold)}
    other_categories = np.flatnonzero(np.arange(len(categories)) != test.category)
    return {**node_test, "category_list": other_categories.tolist()}


def _add_tree(builder, root):
    """Add a tree to treelite's builder, a `ModelBuilder`."""
    builder.start_tree()
    queue, n_nodes = deque([(0, root)]), 1
    while queue:
        key, node = queue.popleft()
        builder.start_node(key)
        if isinstance(node, TreeNode):
            children = {"left_child_key": n_nodes, "right_child_key": n_nodes + 1}
            queue += [(n_nodes, node.left_child), (n_nodes + 1, node.right_child)]
            n_nodes += 2
            if "threshold" in node.test:
                builder.numerical_test(**node.test, **children, opname="<=")
            else:
                builder.categorical_test(**node.test, **children, category_list_right_child=False)
        else:
            builder.leaf(float(node[0]) if len(node) == 1 else node.tolist())
        builder.end_node()
    builder.end_tree()


def _pair_tree(model, pair, factor):
    """Make a tree of the table of a pair, times a factor: nested tests, then the cell's scores."""
    row_tree, column_tree = (_axis_tree(model, axis) for axis in pair.axes)
    table = factor * pair.table
    return _replace_leaves(
        row_tree, lambda row: _replace_leaves(column_tree, lambda cell: table[row, cell])
    )


def _replace_leaves(node, make_leaf):
    """Put what `make_leaf` gives in the place of each cell."""
    if not isinstance(node, TreeNode):
        return make_leaf(node)
    return TreeNode(
        node.test,
        _replace_leaves(node.left_child, make_leaf),
        _replace_leaves(node.right_child, make_leaf),
    )


def _axis_tree(model, axis):
    """Find the cell of an axis by nested tests; leaves are its number."""
    cells, missing_cell = value_cells(model, axis)
    feature = int(axis.feature)
    if cells is not None:
        return _category_tree(feature, cells, missing_cell)
    last_cell = len(axis.thresholds)
    if missing_cell <= last_cell:
        return _threshold_tree(feature, axis.thresholds, 0, missing_cell)
    # Every number is on the left of the test for a missing value.
    test = {"feature_id": feature, "default_left": False, "threshold": np.finfo(float).max}
    return TreeNode(test, _threshold_tree(feature, axis.thresholds, 0, last_cell), missing_cell)


def _threshold_tree(feature, thresholds, first_cell, missing_cell):
    """Halve an interval, whose first cell is `first_cell`, until it has no thresholds."""
    if not len(thresholds):
        return first_cell
    middle = len(thresholds) // 2
    test = {
        "feature_id": feature,
        "default_left": missing_cell <= first_cell + middle,
        "threshold": float(thresholds[middle]),
    }
    return TreeNode(
        test,
        _threshold_tree(feature, thresholds[:middle], first_cell, missing_cell),
        _threshold_tree(feature, thresholds[middle + 1 :], first_cell + middle + 1, missing_cell),
    )


def _category_tree(feature, cells, missing_cell):
    """Ask for one cell after the other; what is in none is in that of missing values."""
    node = missing_cell
    for cell in np.unique(cells[cells != missing_cell]).tolist():
        categories = np.flatnonzero(cells == cell).tolist()
        node = TreeNode(
            {"feature_id": feature, "default_left": False, "category_list": categories}, cell, node
        )
    return node
