"""Conversion of sums of stumps, with or without tables of pairs, to ONNX.

The graph has one input X. `split_input_into_columns` replaces it by one input per feature, and
`add_metadata` stores the names and categories of the features.
"""

import json

import numpy as np
from sklearn.base import is_regressor

from boostbench.algorithms.explanation.stump_sums import feature_names
from boostbench.conversion.stump_tests import extract_stump_sum, extract_tests, value_cells
from boostbench.util.optional_imports import import_optional

#: Oldest version of the operator set that has all operators used here: most runtimes support it.
OPSET = 13

#: Key of the features in the metadata of an ONNX model.
METADATA_KEY = "boostbench"

# Oldest version of the operator set that encodes texts as numbers.
_ML_OPSET = 2


def booster_to_onnx(model, dtype):
    """Convert a fitted sum of stumps to an ONNX model; see `boostbench.conversion.to_onnx`."""
    # 1) Collect the stumps, which become arrays of the graph.
    onnx = import_optional("onnx")
    stump_sum, inverse_temperature, slack = extract_stump_sum(model)
    tests, pairs = extract_tests(model, stump_sum.stumps), getattr(model, "pairs_", ())
    is_binary = stump_sum.coefficients.ndim == 1
    tensor_types = onnx.TensorProto
    float_types = {
        np.dtype(np.float32): tensor_types.FLOAT,
        np.dtype(np.float64): tensor_types.DOUBLE,
    }
    # The outputs -1 and 1 of a stump are 2 [x > threshold] - 1, so that
    # F = (F_0 - sum_t polarity W) + 2 sum_t [x > threshold] polarity W.
    n_scores = 1 if is_binary else len(model.classes_)
    votes = stump_sum.stumps.polarity[:, None] * stump_sum.coefficients.reshape(-1, n_scores)
    constants = {
        "features": tests.feature,
        "thresholds": np.where(np.isnan(tests.category), tests.threshold, np.inf),
        "votes": 2.0 * votes,
        "base": np.atleast_1d(stump_sum.intercept) - votes.sum(axis=0),
    }
    # 2) Test all stumps on all samples: `condition` names the result of the tests, which are true
    # above a threshold, for one category, or for a missing value.
    make_node = onnx.helper.make_node
    nodes = [
        make_node("Cast", ["X"], ["X_double"], to=tensor_types.DOUBLE),
        make_node("Gather", ["X_double", "features"], ["tested_values"], axis=1),
        make_node("Greater", ["tested_values", "thresholds"], ["is_above"]),
    ]
    condition = "is_above"
    if not np.isnan(tests.category).all():
        constants["categories"] = tests.category
        nodes += [
            make_node("Equal", ["tested_values", "categories"], ["is_category"]),
            make_node("Or", [condition, "is_category"], ["is_true"]),
        ]
        condition = "is_true"
    if tests.allows_missing:
        constants["true_if_missing"] = tests.true_if_missing
        nodes += [
            make_node("IsNaN", ["tested_values"], ["is_missing"]),
            make_node("And", ["is_missing", "true_if_missing"], ["is_missing_above"]),
            make_node("Or", [condition, "is_missing_above"], ["is_true_or_missing"]),
        ]
        condition = "is_true_or_missing"
    # 3) Add up the votes, and the tables of pairs.
    nodes += [
        make_node("Cast", [condition], ["above"], to=tensor_types.DOUBLE),
        make_node("MatMul", ["above", "votes"], ["sums"]),
        make_node("Add", ["sums", "base"], ["stump_scores"]),
    ]
    scores = (
        _add_pair_tables(onnx, model, nodes, constants, "stump_scores") if pairs else "stump_scores"
    )
    nodes.append(make_node("Identity", [scores], ["stump_and_pair_scores"]))
    # 4) Compute the outputs from the scores.
    make_value = onnx.helper.make_tensor_value_info
    if is_regressor(model):
        constants["last_axis"] = np.array([1])
        column = "stump_and_pair_scores"
        if model.link_ == "log":
            nodes.append(make_node("Exp", [column], ["exponential"]))
            column = "exponential"
        nodes.append(make_node("Squeeze", [column, "last_axis"], ["prediction"]))
        outputs = [make_value("prediction", tensor_types.DOUBLE, ["n"])]
    else:
        labels, label_type = _onnx_labels(model, tensor_types)
        constants |= {
            "beta": np.float64(inverse_temperature),
            "slack": np.float64(slack),
            "labels": labels,
        }
        nodes += _classifier_nodes(onnx, constants, is_binary)
        outputs = [
            make_value("label", label_type, ["n"]),
            make_value("probabilities", tensor_types.DOUBLE, ["n", len(labels)]),
            make_value("scores", tensor_types.DOUBLE, ["n"] if is_binary else ["n", n_scores]),
        ]
    # 5) Make the model.
    graph = onnx.helper.make_graph(
        nodes,
        type(model).__name__,
        [make_value("X", float_types[np.dtype(dtype)], ["n", model.n_features_in_])],
        outputs,
        [onnx.numpy_helper.from_array(np.asarray(x), name) for name, x in constants.items()],
    )
    onnx_model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", OPSET)], ir_version=8
    )
    onnx.checker.check_model(onnx_model)
    return onnx_model


def _onnx_labels(model, tensor_types):
    """Return the classes as integers or strings, and their ONNX type."""
    labels = np.array(model.classes_.tolist())
    if labels.dtype.kind in "iubf":
        if not all(-(2**63) <= label < 2**63 for label in labels.tolist()):
            raise ValueError(
                "labels in ONNX are from -2**63 to 2**63 - 1, and a class lies outside"
            )
        # scikit-learn accepts floats as classes only if they are integers.
        return labels.astype(np.int64), tensor_types.INT64
    if labels.dtype.kind == "U":
        return labels.astype(object), tensor_types.STRING
    raise ValueError("labels in ONNX must be integers or strings")


def _classifier_nodes(onnx, constants, is_binary):
    """Return the nodes that compute label and probabilities, and add their constants."""
    make_node = onnx.helper.make_node
    if is_binary:
        constants |= {"zero": np.float64(0.0), "last_axis": np.array([1])}
        nodes = [
            make_node("Abs", ["stump_and_pair_scores"], ["magnitude"]),
            make_node("LessOrEqual", ["magnitude", "slack"], ["is_zero"]),
            make_node("Where", ["is_zero", "zero", "stump_and_pair_scores"], ["decision"]),
            make_node("Squeeze", ["decision", "last_axis"], ["scores"]),
            make_node("Greater", ["scores", "zero"], ["is_second"]),
            make_node("Cast", ["is_second"], ["winner"], to=onnx.TensorProto.INT64),
            make_node("Mul", ["decision", "beta"], ["logit"]),
            make_node("Mul", ["decision", "zero"], ["zero_logit"]),
            make_node("Concat", ["zero_logit", "logit"], ["logits"], axis=1),
        ]
    else:
        constants["one"] = np.array([1])
        nodes = [
            # TopK has the same signature in all operator sets, unlike ReduceMax.
            make_node(
                "TopK", ["stump_and_pair_scores", "one"], ["largest", "largest_index"], axis=1
            ),
            make_node("Sub", ["largest", "slack"], ["lowest_tied"]),
            make_node("GreaterOrEqual", ["stump_and_pair_scores", "lowest_tied"], ["is_largest"]),
            make_node("Where", ["is_largest", "largest", "stump_and_pair_scores"], ["scores"]),
            make_node("ArgMax", ["scores"], ["winner"], axis=1, keepdims=0),
            make_node("Mul", ["scores", "beta"], ["logits"]),
        ]
    return [
        *nodes,
        make_node("Gather", ["labels", "winner"], ["label"]),
        make_node("Softmax", ["logits"], ["probabilities"], axis=1),
    ]


def _add_pair_tables(onnx, model, nodes, constants, scores):
    """Add the look-up in the tables of pairs to the graph.

    Parameters
    ----------
    onnx : module
    model : estimator
        Fitted model with `pairs_`.
    nodes : list
        Nodes of the graph, extended in place. ``X_double`` holds the features.
    constants : dict of str to ndarray
        Constants of the graph, extended in place.
    scores : str
        Name of the scores without the tables.

    Returns
    -------
    str
        Name of the scores with the tables.
    """
    make_node = onnx.helper.make_node
    cells = {}
    for index, (axes, table) in enumerate(model.pairs_):
        axis_cells = []
        for axis in axes:
            # A feature can have different thresholds in different pairs.
            key = axis.feature, None if axis.thresholds is None else tuple(axis.thresholds)
            if key not in cells:
                cells[key] = _add_cell(onnx, model, axis, f"axis_{len(cells)}", nodes, constants)
            axis_cells.append(cells[key])
        name = f"pair_{index}"
        constants[f"{name}_width"] = np.array(table.shape[1])
        constants[f"{name}_table"] = table.reshape(-1, table.shape[2])
        nodes += [
            make_node("Mul", [axis_cells[0], f"{name}_width"], [f"{name}_row"]),
            make_node("Add", [f"{name}_row", axis_cells[1]], [f"{name}_cell"]),
            make_node("Gather", [f"{name}_table", f"{name}_cell"], [f"{name}_added"]),
            make_node("Add", [scores, f"{name}_added"], [f"{name}_scores"]),
        ]
        scores = f"{name}_scores"
    return scores


def _add_cell(onnx, model, axis, name, nodes, constants):
    """Add the nodes that compute the cell of each sample along an axis of a pair.

    Parameters
    ----------
    onnx, model, nodes, constants
        See `_add_pair_tables`.
    axis : boostbench.core.learners.feature_interactions.Axis
    name : str
        Prefix of the names of the nodes' results.

    Returns
    -------
    str
        Name of the cells, of shape (n_samples,), dtype=int64.
    """
    make_node = onnx.helper.make_node
    cells_of_categories, missing_cell = value_cells(model, axis)
    # The cell of a number is the count of thresholds below it. The cell of a category is looked up.
    values = (
        axis.thresholds
        if cells_of_categories is None
        else np.arange(float(len(cells_of_categories)))
    )
    constants |= {
        f"{name}_feature": np.array(axis.feature),
        f"{name}_values": values,
        f"{name}_steps": np.ones(len(values))
        if cells_of_categories is None
        else cells_of_categories.astype(float),
        f"{name}_missing": np.float64(missing_cell),
        f"{name}_last": np.array([1]),
    }
    nodes += [
        make_node("Gather", ["X_double", f"{name}_feature"], [f"{name}_x"], axis=1),
        make_node("Unsqueeze", [f"{name}_x", f"{name}_last"], [f"{name}_column"]),
        make_node(
            "Greater" if cells_of_categories is None else "Equal",
            [f"{name}_column", f"{name}_values"],
            [f"{name}_is_true"],
        ),
        make_node(
            "Cast", [f"{name}_is_true"], [f"{name}_float_is_true"], to=onnx.TensorProto.DOUBLE
        ),
        make_node("MatMul", [f"{name}_float_is_true", f"{name}_steps"], [f"{name}_present_cell"]),
        make_node("IsNaN", [f"{name}_x"], [f"{name}_is_missing"]),
        make_node(
            "Where",
            [f"{name}_is_missing", f"{name}_missing", f"{name}_present_cell"],
            [f"{name}_float_cell"],
        ),
        make_node("Cast", [f"{name}_float_cell"], [f"{name}_cell"], to=onnx.TensorProto.INT64),
    ]
    return f"{name}_cell"


def add_metadata(onnx_model, model):
    """Store the names and the categories of the features in the metadata of an ONNX model.

    The value of the key ``"boostbench"`` is a JSON object. ``features`` is a list with an object
    for each feature, in the order of the columns of X: its ``name`` and, for a categorical feature,
    its ``categories`` in the order of their codes 0, 1, .... ``missing_text`` is a text that is no
    category of any feature.

    Parameters
    ----------
    onnx_model : onnx.ModelProto
        Model that is changed.
    model : estimator
        Fitted model that `onnx_model` was converted from.
    """
    categories = {
        feature: [_to_json_value(category) for category in feature_categories]
        for feature, feature_categories in getattr(model, "categories_", {}).items()
    }
    features = [
        {"name": str(name)} | ({"categories": categories[index]} if index in categories else {})
        for index, name in enumerate(feature_names(model))
    ]
    metadata = {"features": features, "missing_text": _missing_text(categories.values())}
    text = json.dumps(metadata, ensure_ascii=False)
    import_optional("onnx").helper.set_model_props(onnx_model, {METADATA_KEY: text})


def split_input_into_columns(onnx_model, model, dtype):
    """Replace the input X of an ONNX model by one input for each feature.

    Parameters
    ----------
    onnx_model : onnx.ModelProto
        Model whose input ``X`` is in double precision. It is changed.
    model : estimator
        Fitted model that `onnx_model` was converted from.
    dtype : dtype
        Float type of the numeric features.

    Raises
    ------
    ValueError
        If the names of the features cannot name inputs, or the categories of a feature are neither
        texts nor numbers.
    """
    onnx = import_optional("onnx")
    graph = onnx_model.graph
    names = [str(name) for name in feature_names(model)]
    output_names = [output.name for output in graph.output]
    _check_input_names(names, output_names)
    # 1) Make a node that encodes each column, and concatenate the columns.
    inputs, nodes, constants = [], [], []
    for index, name in enumerate(names):
        categories = getattr(model, "categories_", {}).get(index)
        element_type, column_nodes, column_constants = _encode_column(
            onnx, index, name, categories, dtype
        )
        inputs.append(onnx.helper.make_tensor_value_info(f"column_{index}", element_type, ["n", 1]))
        nodes += column_nodes
        constants += column_constants
    columns = [f"encoded_{index}" for index in range(len(names))]
    nodes.append(onnx.helper.make_node("Concat", columns, ["X"], axis=1))
    all_nodes = [*nodes, *graph.node]
    del graph.input[:], graph.node[:]
    graph.input.extend(inputs)
    graph.node.extend(all_nodes)
    graph.initializer.extend(constants)
    if any(node.domain == "ai.onnx.ml" for node in nodes):
        onnx_model.opset_import.append(onnx.helper.make_opsetid("ai.onnx.ml", _ML_OPSET))
    # 2) Give the inputs the names of the features. A prefix keeps all other names apart.
    new_names = {f"column_{index}": name for index, name in enumerate(names)}
    new_names |= {name: name for name in output_names}

    def rename(name):
        return new_names.get(name, f"{METADATA_KEY}/{name}")

    for node in graph.node:
        node.input[:] = map(rename, node.input)
        node.output[:] = map(rename, node.output)
    for value in [*graph.input, *graph.initializer]:
        value.name = rename(value.name)
    onnx.checker.check_model(onnx_model)


def _check_input_names(names, output_names):
    """Raise ValueError if names of features are empty or names of outputs."""
    for name in names:
        if not name or name in output_names:
            raise ValueError(
                f"named inputs need names of features that are not empty and not "
                f"{' or '.join(map(repr, output_names))}; rename {name!r}"
            )


def _encode_column(onnx, index, name, categories, dtype):
    """Return the element type of a column, and the nodes and constants that encode it.

    Parameters
    ----------
    onnx : module
    index : int
        Index of the feature: the column is ``column_<index>``, its code ``encoded_<index>``.
    name : str
        Name of the feature in an error message.
    categories : ndarray of shape (n_categories,) or None
        None: a numeric feature.
    dtype : dtype
        Float type of a numeric feature.

    Returns
    -------
    element_type : int
        Type of ONNX's `TensorProto`.
    nodes : list of onnx.NodeProto
    constants : list of onnx.TensorProto
    """
    make_node, types = onnx.helper.make_node, onnx.TensorProto
    column, encoded = f"column_{index}", f"encoded_{index}"
    if categories is None:
        is_single = np.dtype(dtype) == np.float32
        node = make_node("Cast", [column], [encoded], to=types.DOUBLE)
        return types.FLOAT if is_single else types.DOUBLE, [node], []
    values = [_to_json_value(category) for category in categories]
    if all(isinstance(category, str) for category in categories):
        codes = f"codes_{index}"
        encoder = make_node(
            "LabelEncoder",
            [column],
            [codes],
            domain="ai.onnx.ml",
            keys_strings=values,
            values_floats=np.arange(float(len(values))),
            default_float=np.nan,
        )
        return types.STRING, [encoder, make_node("Cast", [codes], [encoded], to=types.DOUBLE)], []
    if not all(isinstance(category, bool | int | float | np.generic) for category in categories):
        raise ValueError(
            f"named inputs need categories that are all texts or all numbers, and feature {name!r} "
            "has categories of another type"
        )
    # The product of the indicators of the categories with the codes plus 1 is the code of the equal
    # category plus 1, or 0 if no category is equal.
    arrays = {
        "categories": np.array(values, dtype=float)[None],
        "successors": np.arange(1.0, len(values) + 1)[:, None],
        "zero": np.zeros(1),
        "one": np.ones(1),
        "nan": np.full(1, np.nan),
    }
    constants = [
        onnx.numpy_helper.from_array(array, f"{kind}_{index}") for kind, array in arrays.items()
    ]
    steps = [
        ("Equal", [column, "categories"], "is_category", {}),
        ("Cast", ["is_category"], "indicators", {"to": types.DOUBLE}),
        ("MatMul", ["indicators", "successors"], "sum", {}),
        ("Sub", ["sum", "one"], "code", {}),
        ("Equal", ["sum", "zero"], "is_unknown", {}),
        ("Where", ["is_unknown", "nan", "code"], "encoded", {}),
    ]
    nodes = [
        make_node(
            operator,
            [part if part == column else f"{part}_{index}" for part in inputs],
            [f"{output}_{index}"],
            **attributes,
        )
        for operator, inputs, output, attributes in steps
    ]
    return types.DOUBLE, nodes, constants


def _to_json_value(category):
    """Return a category as a value of JSON: a number, a boolean or a text."""
    value = category.item() if isinstance(category, np.generic) else category
    return value if isinstance(value, bool | int | float) else str(value)


def _missing_text(lists_of_categories):
    """Return a text that is no category."""
    categories = {category for values in lists_of_categories for category in values}
    text = ""
    while text in categories:
        text += "?"
    return text
