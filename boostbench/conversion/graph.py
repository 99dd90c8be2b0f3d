"""Fitted sums of stumps, and tables of pairs beside them, as models of ONNX."""

import numpy as np
from sklearn.base import is_regressor

from boostbench.conversion.pairs import add_pairs
from boostbench.conversion.stumps import taken_apart, tests_of
from boostbench.util.optional_imports import needed

#: The oldest version of ONNX's operators that has these; the most runtimes know it.
OPSET = 13


def booster_to_onnx(model, dtype):
    """Turn a fitted sum of stumps into a model of ONNX; see `boostbench.conversion.to_onnx`."""
    onnx = needed("onnx")
    total, beta, slack = taken_apart(model)
    tests, pairs = tests_of(model, total.stumps), getattr(model, "pairs_", ())
    binary = total.coefficients.ndim == 1
    types = onnx.TensorProto
    names = {np.dtype(np.float32): types.FLOAT, np.dtype(np.float64): types.DOUBLE}
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
        node("Add", ["sums", "base"], ["of_stumps"]),
    ]
    scores = add_pairs(onnx, model, nodes, constants, "of_stumps") if pairs else "of_stumps"
    nodes.append(node("Identity", [scores], ["F"]))
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
    made = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", OPSET)], ir_version=8
    )
    onnx.checker.check_model(made)
    return made


def _labels(model, types):
    """Classes as ONNX has them, and their type."""
    labels = np.array(model.classes_.tolist())
    if labels.dtype.kind in "iubf":
        if not all(-(2**63) <= label < 2**63 for label in labels.tolist()):
            raise ValueError("ONNX has labels from -2**63 to 2**63 - 1, and a class lies outside")
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
        constants["one"] = np.array([1])
        nodes = [
            # In the same words in all versions, which those of ReduceMax are not.
            node("TopK", ["F", "one"], ["largest", "at_largest"], axis=1),
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
