"""Fitted sums of stumps, and of tables of pairs, as models of treelite."""

import numpy as np
from sklearn.base import is_regressor

from boostbench.conversion.pair_trees import Node, add_tree, tree_of
from boostbench.conversion.stumps import Tests, taken_apart, tests_of
from boostbench.util.optional_imports import needed


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
    builder = needed("treelite").model_builder
    total, beta, slack = taken_apart(model)
    binary = total.coefficients.ndim == 1
    task, after = ("kBinaryClf", "sigmoid") if binary else ("kMultiClf", "softmax")
    if is_regressor(model):
        task, after = "kRegressor", "identity"
    k = 1 if binary else len(model.classes_)
    votes = beta * total.stumps.polarity[:, None] * total.coefficients.reshape(-1, k)
    tests = tests_of(model, total.stumps)
    # Of equal scores the first class is predicted; there is no other way to say so.
    base = beta * (total.intercept - slack * (1 if binary else np.arange(k)))
    # A constant stump has no test that treelite would take; and there must be a tree.
    is_constant = np.isinf(tests.threshold)
    base = base - votes[is_constant].sum(axis=0)
    stumps = [
        (test, vote)
        for test, vote in zip(tests.each(), votes, strict=True)
        if not np.isinf(test.threshold)
    ] or [(Tests(0, 0.0, np.nan, False, False), np.zeros(k))]
    pairs = getattr(model, "pairs_", ())
    n_trees = len(stumps) + len(pairs)
    made = builder.ModelBuilder(
        threshold_type="float64",
        leaf_output_type="float64",
        metadata=builder.Metadata(
            num_feature=model.n_features_in_,
            task_type=task,
            average_tree_output=False,
            num_target=1,
            num_class=[k],
            leaf_vector_shape=(1, k),
        ),
        tree_annotation=builder.TreeAnnotation(
            num_tree=n_trees,
            target_id=[0] * n_trees,
            class_id=[0 if binary else -1] * n_trees,
        ),
        postprocessor=builder.PostProcessorFunc(name=after),
        base_scores=np.atleast_1d(base).tolist(),
    )
    for test, vote in stumps:
        add_tree(made, Node(_asked(model, test), -vote, vote))
    for pair in pairs:
        add_tree(made, tree_of(model, pair, beta))
    return made.commit()


def _asked(model, test):
    """Say what a stump tests, as of `Node`."""
    asked = {"feature_id": int(test.feature), "default_left": not test.missing}
    known = getattr(model, "categories_", {}).get(test.feature)
    if known is None:
        # Every number is on the left of the test for a missing value.
        end = np.finfo(float).max if np.isinf(test.category) else test.threshold
        return {**asked, "threshold": float(end)}
    others = np.flatnonzero(np.arange(len(known)) != test.category)
    return {**asked, "category_list": others.tolist()}
