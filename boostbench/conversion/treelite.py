"""Conversion of sums of stumps, with or without tables of pairs, to treelite.

treelite is a format, and a library, for the prediction of tree ensembles. A stump becomes a tree of
two leaves; its output -1 is the left leaf, and +1 the right one.
"""

from collections import deque
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_regressor

from boostbench.conversion.stump_tests import (
    StumpTest,
    extract_stump_sum,
    extract_tests,
    value_cells,
)
from boostbench.core.stumps.views import MISSING
from boostbench.util.process import import_optional


class NodeTest(NamedTuple):
    """Test of an inner node, with a threshold or with categories; see `TreeNode`.

    Attributes
    ----------
    feature : int
    default_left : bool
        True if missing values belong to the left child.
    threshold : float or None
        Numbers up to the threshold belong to the left child; None: a test of categories.
    categories : list of int or None
        Codes of the categories that belong to the left child.
    """

    feature: int
    default_left: bool
    threshold: float | None = None
    categories: list | None = None


class TreeNode(NamedTuple):
    """Inner node of a tree.

    Attributes
    ----------
    test : NodeTest
    left_child, right_child : TreeNode, int or ndarray
        Inner node or leaf. A leaf is the number of a cell while the tree of a pair is built, and
        finally an array of scores.
    """

    test: NodeTest
    left_child: Any
    right_child: Any


def to_treelite(model):
    """Convert a fitted sum of stumps to a treelite model.

    A pair of features becomes a tree with a leaf for each cell of its table.

    Parameters
    ----------
    model : BoostingClassifier or BoostingRegressor
        A fitted sum of stumps, with or without pairs of features.

    Returns
    -------
    treelite.Model
        Categories are encoded as for `to_onnx`. The prediction of a classifier is the result of
        `predict_proba`, for two classes the probability of the second class, and the prediction of
        a regressor is the result of `predict`. With ``pred_margin=True`` it is the scores times
        the factor in `predict_proba`. The scores of later classes are reduced by the bound of the
        rounding error, about 1e-12 of the score. Therefore ties go to the first class, as in
        `predict`, and the probability of the second of two classes exceeds one half if and only if
        it is predicted.

    Raises
    ------
    ImportError
        If treelite is not installed.
    ValueError
        If the model is not a sum of stumps.
    """
    # Fail first if treelite is not installed.
    import_optional("treelite")
    # 1) Collect the leaf values: a stump adds its value above the threshold, and minus it below.
    stump_sum, inverse_temperature, slack = extract_stump_sum(model)
    is_binary = stump_sum.coefficients.ndim == 1
    n_outputs = 1 if is_binary else len(model.classes_)
    leaf_values = (
        inverse_temperature
        * stump_sum.stumps.polarity[:, None]
        * stump_sum.coefficients.reshape(-1, n_outputs)
    )
    tests = extract_tests(model, stump_sum.stumps)
    # 2) Collect the base scores. treelite has no tolerance for ties, so the score of class k is
    # lowered by k * slack, and an earlier class wins a tie.
    base_scores = inverse_temperature * (
        stump_sum.intercept - slack * (1 if is_binary else np.arange(n_outputs))
    )
    # treelite refuses infinite thresholds, so constant stumps become part of the base scores. The
    # test X > infinity is never true: the output of a constant stump is its left leaf, minus the
    # leaf value.
    is_constant = np.isinf(tests.threshold)
    base_scores = base_scores - leaf_values[is_constant].sum(axis=0)
    varying_stumps = [
        (test, leaf_value)
        for test, leaf_value in zip(tests.iterate(), leaf_values, strict=True)
        if not np.isinf(test.threshold)
    ]
    if not varying_stumps:
        # treelite refuses a model without trees.
        test = StumpTest(feature=0, threshold=0.0, category=np.nan, true_if_missing=False)
        varying_stumps = [(test, np.zeros(n_outputs))]
    # 3) Build a tree for each stump and each pair.
    pairs = getattr(model, "pairs_", ())
    builder = _make_builder(model, len(varying_stumps) + len(pairs), np.atleast_1d(base_scores))
    for test, leaf_value in varying_stumps:
        _add_tree(builder, TreeNode(_node_test(model, test), -leaf_value, leaf_value))
    for pair in pairs:
        _add_tree(builder, _pair_tree(model, pair, inverse_temperature))
    return builder.commit()


def _make_builder(model, n_trees, base_scores):
    """Return treelite's `ModelBuilder` for a model, without trees.

    Parameters
    ----------
    model : BoostingClassifier or BoostingRegressor
    n_trees : int
        Number of trees that will be added.
    base_scores : ndarray of shape (n_outputs,)
        Constant of each score; one score for two classes and for a regressor.

    Returns
    -------
    treelite.model_builder.ModelBuilder
    """
    model_builder = import_optional("treelite").model_builder
    n_outputs = len(base_scores)
    if is_regressor(model):
        task_type = "kRegressor"
        postprocessor = "exponential" if model.link_ == "log" else "identity"
    elif n_outputs == 1:
        task_type, postprocessor = "kBinaryClf", "sigmoid"
    else:
        task_type, postprocessor = "kMultiClf", "softmax"
    return model_builder.ModelBuilder(
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
            # The class -1 means that a leaf has a score for each class.
            class_id=[0 if n_outputs == 1 else -1] * n_trees,
        ),
        postprocessor=model_builder.PostProcessorFunc(name=postprocessor),
        base_scores=base_scores.tolist(),
    )


def _node_test(model, test):
    """Return the `NodeTest` of a stump: its output -1 is the left child, and +1 the right one."""
    node_test = NodeTest(int(test.feature), not test.true_if_missing)
    categories = getattr(model, "categories_", {}).get(test.feature)
    if categories is None:
        # A test for missing values sends every number, at most the largest float, to the left.
        threshold = np.finfo(float).max if test.category == MISSING else test.threshold
        return node_test._replace(threshold=float(threshold))
    other_categories = np.flatnonzero(np.arange(len(categories)) != test.category)
    return node_test._replace(categories=other_categories.tolist())


def _add_tree(builder, root):
    """Add a tree to treelite's `ModelBuilder`, node by node, breadth first.

    Parameters
    ----------
    builder : treelite.model_builder.ModelBuilder
    root : TreeNode
        Leaves are arrays of scores.
    """
    builder.start_tree()
    # The queue holds nodes with their keys, which are numbers from 0 in the order of the queue.
    queue, n_nodes = deque([(0, root)]), 1
    while queue:
        key, node = queue.popleft()
        builder.start_node(key)
        if isinstance(node, TreeNode):
            test = node.test
            options = {
                "feature_id": test.feature,
                "default_left": test.default_left,
                "left_child_key": n_nodes,
                "right_child_key": n_nodes + 1,
            }
            queue += [(n_nodes, node.left_child), (n_nodes + 1, node.right_child)]
            n_nodes += 2
            if test.threshold is not None:
                builder.numerical_test(threshold=test.threshold, opname="<=", **options)
            else:
                builder.categorical_test(
                    category_list=test.categories, category_list_right_child=False, **options
                )
        else:
            builder.leaf(float(node[0]) if len(node) == 1 else node.tolist())
        builder.end_node()
    builder.end_tree()


def _pair_tree(model, pair, factor):
    """Return a tree whose leaves are the scores of the cells of a pair, multiplied by `factor`.

    A tree finds the cell of the first feature, and each of its leaves is replaced by a tree that
    finds the cell of the second one.
    """
    row_tree, column_tree = (_axis_tree(model, axis) for axis in pair.axes)
    table = factor * pair.table
    return _replace_leaves(
        row_tree, lambda row: _replace_leaves(column_tree, lambda cell: table[row, cell])
    )


def _replace_leaves(node, make_leaf):
    """Return a copy of a tree whose leaves, numbers of cells, are replaced.

    Parameters
    ----------
    node : TreeNode or int
        Root of the tree, which may be a leaf.
    make_leaf : callable
        Function of a cell that returns a leaf, or the root of a tree in its place.
    """
    if not isinstance(node, TreeNode):
        return make_leaf(node)
    return TreeNode(
        node.test,
        _replace_leaves(node.left_child, make_leaf),
        _replace_leaves(node.right_child, make_leaf),
    )


def _axis_tree(model, axis):
    """Return a tree that finds the cell of a feature; its leaves are the numbers of the cells.

    Parameters
    ----------
    model : estimator
    axis : boostbench.core.learners.feature_interactions.Axis
    """
    # `cells` has the cell of each category; it is None for a numeric feature.
    cells, missing_cell = value_cells(model, axis)
    feature = int(axis.feature)
    if cells is not None:
        return _category_tree(feature, cells, missing_cell)
    last_cell = len(axis.thresholds)
    if missing_cell <= last_cell:
        # Missing values share the cell of some numbers.
        return _threshold_tree(feature, axis.thresholds, 0, missing_cell)
    # This test sends every number to the left child, and missing values to the right child.
    test = NodeTest(feature, default_left=False, threshold=np.finfo(float).max)
    return TreeNode(test, _threshold_tree(feature, axis.thresholds, 0, last_cell), missing_cell)


def _threshold_tree(feature, thresholds, first_cell, missing_cell):
    """Return a balanced tree of thresholds.

    Parameters
    ----------
    feature : int
    thresholds : ndarray
        Ascending thresholds; possibly none.
    first_cell : int
        Number of the cell below the lowest threshold.
    missing_cell : int
        Number of the cell of missing values.

    Returns
    -------
    TreeNode or int
    """
    if not len(thresholds):
        return first_cell
    middle = len(thresholds) // 2
    test = NodeTest(
        feature,
        default_left=missing_cell <= first_cell + middle,
        threshold=float(thresholds[middle]),
    )
    return TreeNode(
        test,
        _threshold_tree(feature, thresholds[:middle], first_cell, missing_cell),
        _threshold_tree(feature, thresholds[middle + 1 :], first_cell + middle + 1, missing_cell),
    )


def _category_tree(feature, cells, missing_cell):
    """Return a chain of tests, one per cell; unknown categories get the cell of missing values."""
    node = missing_cell
    for cell in np.unique(cells[cells != missing_cell]).tolist():
        categories = np.flatnonzero(cells == cell).tolist()
        test = NodeTest(feature, default_left=False, categories=categories)
        node = TreeNode(test, cell, node)
    return node
