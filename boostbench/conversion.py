"""Fitted sums of stumps for programs without Python: ONNX and treelite."""

import importlib
from typing import NamedTuple

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted

from boostbench.algorithms.explaining.stump_sums import check_no_pairs
from boostbench.core.weak.views import plain_views


def to_onnx(model, dtype=np.float32):
    """Turn a fitted sum of stumps into a model of ONNX.

    Its graph is of operators that every runtime has. It compares and adds up in double precision.

    Parameters
    ----------
    model : BoostingClassifier or BoostingRegressor
        Fitted, a sum of stumps.
    dtype : {numpy.float32, numpy.float64}, default=numpy.float32
        Of the features that it takes. A feature in single precision may fall on the other side of a
        threshold than the same one in double precision.

    Returns
    -------
    onnx.ModelProto
        It takes ``X`` of shape (n_samples, n_features). In the place of a category is its number in
        the model's ``categories_``, and NaN where a value is missing or a category is unknown. It
        gives ``label``, of type int64 or string; ``probabilities`` of shape (n_samples, n_classes),
        dtype=float64; and ``scores``, dtype=float64, as of `decision_function`. A model of numbers
        gives ``prediction``, dtype=float64, of shape (n_samples,).

    Raises
    ------
    ImportError
        If onnx is not installed.
    ValueError
        If the model is no sum of stumps, or the labels are neither whole numbers nor strings.
    """
    onnx = _needed("onnx")
    total, beta, slack = _taken_apart(model)
    tests = _tests(model, total.stumps)
    binary = total.coefficients.ndim == 1
    types = onnx.TensorProto
    names = {np.dtype(np.float32): types.FLOAT, np.dtype(np.float64): types.DOUBLE}
    if np.dtype(dtype) not in names:
        raise ValueError(f"dtype must be float32 or float64, got {dtype!r}")
    # F = F_0 + sum_t (2 [x > threshold] - 1) polarity W = (F_0 - sum_t polarity W) + ...
    n_scores = 1 if binary else len(model.classes_)
    votes = total.stumps.polarity[:, None] * total.coefficients.reshape(-1, n_scores)
    constants = {
        "features": tests.feature,
        "thresholds": np.where(np.isnan(tests.category), tests.threshold, np.inf),
        "votes": 2.0 * votes,
        "base": np.atleast_1d(total.intercept) - votes.sum(axis=0),
    }
    node = onnx.helper.make_node
    nodes = [
        node("Cast", ["X"], ["double"], to=types.DOUBLE),
        node("Gather", ["double", "features"], ["tested"], axis=1),
        node("Greater", ["tested", "thresholds"], ["is_above"]),
    ]
    test = "is_above"
    if not np.isnan(tests.category).all():
        constants["categories"] = tests.category
        nodes += [
            node("Equal", ["tested", "categories"], ["is_category"]),
            node("Or", [test, "is_category"], ["is_true"]),
        ]
        test = "is_true"
    if tests.takes_missing:
        constants["true_if_missing"] = tests.missing
        nodes += [
            node("IsNaN", ["tested"], ["is_missing"]),
            node("And", ["is_missing", "true_if_missing"], ["is_missing_above"]),
            node("Or", [test, "is_missing_above"], ["is_true_or_missing"]),
        ]
        test = "is_true_or_missing"
    nodes += [
        node("Cast", [test], ["above"], to=types.DOUBLE),
        node("MatMul", ["above", "votes"], ["sums"]),
        node("Add", ["sums", "base"], ["F"]),
    ]
    value = onnx.helper.make_tensor_value_info
    if is_regressor(model):
        constants["last"] = np.array([1])
        nodes.append(node("Squeeze", ["F", "last"], ["prediction"]))
        outputs = [value("prediction", types.DOUBLE, ["n"])]
    else:
        labels, of_labels = _labels(model, types)
        constants |= {"beta": np.float64(beta), "slack": np.float64(slack), "labels": labels}
        nodes += _of_classes(onnx, constants, binary)
        outputs = [
            value("label", of_labels, ["n"]),
            value("probabilities", types.DOUBLE, ["n", len(labels)]),
            value("scores", types.DOUBLE, ["n"] if binary else ["n", n_scores]),
        ]
    graph = onnx.helper.make_graph(
        nodes,
        type(model).__name__,
        [value("X", names[np.dtype(dtype)], ["n", model.n_features_in_])],
        outputs,
        [onnx.numpy_helper.from_array(np.asarray(x), name) for name, x in constants.items()],
    )
    # The oldest versions with these operators, which the most runtimes know.
    made = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8
    )
    onnx.checker.check_model(made)
    return made


def _labels(model, types):
    """Classes as ONNX has them, and their type."""
    labels = np.array(model.classes_.tolist())
    if labels.dtype.kind in "iubf":
        # Of fractions, only whole ones are classes to scikit-learn.
        return labels.astype(np.int64), types.INT64
    if labels.dtype.kind == "U":
        return labels.astype(object), types.STRING
    raise ValueError("ONNX has labels that are whole numbers or strings only")


def _of_classes(onnx, constants, binary):
    """Nodes from the scores F to labels and probabilities; adds to the constants."""
    node = onnx.helper.make_node
    if binary:
        constants |= {"zero": np.float64(0.0), "last": np.array([1])}
        nodes = [
            node("Abs", ["F"], ["size"]),
            node("LessOrEqual", ["size", "slack"], ["is_zero"]),
            node("Where", ["is_zero", "zero", "F"], ["decision"]),
            node("Squeeze", ["decision", "last"], ["scores"]),
            node("Greater", ["scores", "zero"], ["is_second"]),
            node("Cast", ["is_second"], ["winner"], to=onnx.TensorProto.INT64),
            node("Mul", ["decision", "beta"], ["log_odds"]),
            node("Mul", ["decision", "zero"], ["no_odds"]),
            node("Concat", ["no_odds", "log_odds"], ["logits"], axis=1),
        ]
    else:
        nodes = [
            node("ReduceMax", ["F"], ["largest"], axes=[1]),
            node("Sub", ["largest", "slack"], ["least"]),
            node("GreaterOrEqual", ["F", "least"], ["is_largest"]),
            node("Where", ["is_largest", "largest", "F"], ["scores"]),
            node("ArgMax", ["scores"], ["winner"], axis=1, keepdims=0),
            node("Mul", ["scores", "beta"], ["logits"]),
        ]
    return [
        *nodes,
        node("Gather", ["labels", "winner"], ["label"]),
        node("Softmax", ["logits"], ["probabilities"], axis=1),
    ]


def to_treelite(model):
    """Turn a fitted sum of stumps into a model of treelite.

    Parameters
    ----------
    model : BoostingClassifier or BoostingRegressor
        Fitted, a sum of stumps.

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
    builder = _needed("treelite").model_builder
    total, beta, slack = _taken_apart(model)
    binary = total.coefficients.ndim == 1
    task, after = ("kBinaryClf", "sigmoid") if binary else ("kMultiClf", "softmax")
    if is_regressor(model):
        task, after = "kRegressor", "identity"
    k = 1 if binary else len(model.classes_)
    votes = beta * total.stumps.polarity[:, None] * total.coefficients.reshape(-1, k)
    tests = _tests(model, total.stumps)
    # Of equal scores the first class is predicted; there is no other way to say so.
    base = beta * (total.intercept - slack * (1 if binary else np.arange(k)))
    # A constant stump has no test that treelite would take; and there must be a tree.
    is_constant = np.isinf(tests.threshold)
    base = base - votes[is_constant].sum(axis=0)
    stumps = [
        (test, vote)
        for test, vote in zip(tests.each(), votes, strict=True)
        if not np.isinf(test.threshold)
    ] or [(_Tests(0, 0.0, np.nan, False, False), np.zeros(k))]
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
            num_tree=len(stumps),
            target_id=[0] * len(stumps),
            class_id=[0 if binary else -1] * len(stumps),
        ),
        postprocessor=builder.PostProcessorFunc(name=after),
        base_scores=np.atleast_1d(base).tolist(),
    )
    for test, vote in stumps:
        made.start_tree()
        made.start_node(0)
        common = {
            "feature_id": int(test.feature),
            "default_left": not test.missing,
            "left_child_key": 1,
            "right_child_key": 2,
        }
        known = getattr(model, "categories_", {}).get(test.feature)
        if known is None:
            # Every number is on the left of the test for a missing value.
            end = np.finfo(float).max if np.isinf(test.category) else test.threshold
            made.numerical_test(**common, threshold=float(end), opname="<=")
        else:
            others = np.flatnonzero(np.arange(len(known)) != test.category)
            made.categorical_test(
                **common, category_list=others.tolist(), category_list_right_child=False
            )
        made.end_node()
        for key, value in ((1, -vote), (2, vote)):
            made.start_node(key)
            made.leaf(float(value[0]) if binary else value.tolist())
            made.end_node()
        made.end_tree()
    return made.commit()


class _Tests(NamedTuple):
    """What stumps test; the fields may be arrays.

    Attributes
    ----------
    feature, threshold
        Of X; the threshold is infinite where a stump is constant.
    category
        The test is whether X is equal to it; NaN where it is whether X is above the threshold.
    missing
        Whether the test holds for a missing value.
    takes_missing : bool
        Whether the model does.
    """

    feature: np.ndarray
    threshold: np.ndarray
    category: np.ndarray
    missing: np.ndarray
    takes_missing: bool

    def each(self):
        """Yield the tests one by one."""
        for fields in zip(*self[:-1], strict=True):
            yield _Tests(*fields, self.takes_missing)


def _tests(model, stumps):
    takes_missing = hasattr(model, "views_")
    views = model.views_ if takes_missing else plain_views(model.n_features_in_)
    category = np.where(np.isinf(stumps.threshold), np.nan, views.category[stumps.feature])
    missing = views.above_if_missing(stumps.feature, stumps.threshold)
    return _Tests(views.feature[stumps.feature], stumps.threshold, category, missing, takes_missing)


def _taken_apart(model):
    if not hasattr(model, "stump_sum"):
        last = getattr(model, "steps", [(None, model)])[-1][1]
        advice = (
            "pass its last step, model[-1], and give that model[:-1].transform(X)"
            if hasattr(last, "stump_sum")
            else "pass a fitted booster of stumps"
        )
        raise ValueError(f"{type(model).__name__} is no sum of stumps; {advice}")
    check_is_fitted(model)
    check_no_pairs(model)
    total = model.stump_sum()
    if hasattr(model, "views_"):
        total = total.on_views(model.views_)
    return total, model.inverse_temperature(), total.slack(model)


def _needed(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ImportError(f"this needs {name}; install it by 'pip install {name}'") from None
