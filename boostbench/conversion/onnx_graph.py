"""Conversion of sums of stumps, with or without tables of pairs, to ONNX.

The graph has one input X. `split_input_into_columns` replaces it by one input per feature, and
`add_metadata` stores the names and categories of the features.

A graph is a list of nodes in the order of their computation. A node applies an operator of ONNX,
such as ``MatMul``, to arrays that are named by strings, and names its outputs.
"""

import json

import numpy as np
from sklearn.base import is_regressor

from boostbench.algorithms.explanation.stump_sums import feature_names
from boostbench.conversion.stump_tests import extract_stump_sum, extract_tests, value_cells
from boostbench.util.process import import_optional

#: Oldest version of the operator set that has all operators used here: most runtimes support it.
OPSET = 13

#: Key of the features in the metadata of an ONNX model.
METADATA_KEY = "boostbench"

# Oldest version of the operator set that encodes texts as numbers.
_ML_OPSET = 2


class _Graph:
    """Nodes and constants of an ONNX graph that is being built.

    Attributes
    ----------
    nodes : list of onnx.NodeProto
    constants : dict of str to array-like
        Constants by their names.
    cell_names : dict of (int, tuple or None) to str
        Names of the arrays of cells that `_add_cell` has added, so that pairs share them. The key
        is the feature with its thresholds in the pair.
    """

    def __init__(self):
        self.onnx = import_optional("onnx")
        self.types = self.onnx.TensorProto
        self.nodes = []
        self.constants = {}
        self.cell_names = {}

    def add(self, operator, inputs, *outputs, **attributes):
        """Append a node, and return the name of its first output.

        Parameters
        ----------
        operator : str
            Name of the operator, such as ``"MatMul"``.
        inputs : list of str
            Names of inputs of the graph, constants, or outputs of earlier nodes.
        *outputs : str
            Names of the outputs.
        **attributes
            Attributes of the operator.

        Returns
        -------
        str
        """
        self.nodes.append(self.onnx.helper.make_node(operator, inputs, outputs, **attributes))
        return outputs[0]

    def tensors(self):
        """Return the constants as a list of onnx.TensorProto."""
        from_array = self.onnx.numpy_helper.from_array
        return [from_array(np.asarray(value), name) for name, value in self.constants.items()]


def booster_to_onnx(model, dtype):
    """Convert a fitted sum of stumps to an ONNX model; see `boostbench.conversion.to_onnx`."""
    stump_sum, inverse_temperature, slack = extract_stump_sum(model)
    is_binary = stump_sum.coefficients.ndim == 1
    n_scores = 1 if is_binary else len(model.classes_)
    # 1) Compute the scores, of shape (n_samples, n_scores).
    graph = _Graph()
    graph.add("Cast", ["X"], "X_double", to=graph.types.DOUBLE)
    scores = _add_stumps(graph, model, stump_sum, n_scores)
    for index, pair in enumerate(getattr(model, "pairs_", ())):
        scores = _add_pair(graph, model, pair, f"pair_{index}", scores)
    graph.add("Identity", [scores], "stump_and_pair_scores")
    # 2) Compute the outputs from the scores.
    make_value = graph.onnx.helper.make_tensor_value_info
    if is_regressor(model):
        graph.constants["last_axis"] = np.array([1])
        column = "stump_and_pair_scores"
        if model.link_ == "log":
            column = graph.add("Exp", [column], "exponential")
        graph.add("Squeeze", [column, "last_axis"], "prediction")
        outputs = [make_value("prediction", graph.types.DOUBLE, ["n"])]
    else:
        labels, label_type = _onnx_labels(model, graph.types)
        graph.constants |= {
            "beta": np.float64(inverse_temperature),
            "slack": np.float64(slack),
            "labels": labels,
        }
        _add_classifier_outputs(graph, is_binary)
        scores_shape = ["n"] if is_binary else ["n", n_scores]
        outputs = [
            make_value("label", label_type, ["n"]),
            make_value("probabilities", graph.types.DOUBLE, ["n", len(labels)]),
            make_value("scores", graph.types.DOUBLE, scores_shape),
        ]
    # 3) Make the model.
    inputs = [make_value("X", _float_type(graph, dtype), ["n", model.n_features_in_])]
    helper = graph.onnx.helper
    onnx_model = helper.make_model(
        helper.make_graph(graph.nodes, type(model).__name__, inputs, outputs, graph.tensors()),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=8,
    )
    graph.onnx.checker.check_model(onnx_model)
    return onnx_model


def _float_type(graph, dtype):
    """Return the ONNX type of a data type, float32 or float64."""
    return graph.types.FLOAT if np.dtype(dtype) == np.float32 else graph.types.DOUBLE


def _add_stumps(graph, model, stump_sum, n_scores):
    """Add the nodes that sum up the stumps, and return the name of the scores.

    The graph has the samples ``X_double``, of shape (n_samples, n_features), and gets scores of
    shape (n_samples, n_scores). All stumps are tested at once: a test is true above a threshold,
    for one category, or for a missing value. With the polarity p_t, the stump t is
    ``h_t = p_t (2 [test_t] - 1)``, and the scores are ::

        F = F_0 + sum_t h_t W_t
          = (F_0 - sum_t p_t W_t) + sum_t [test_t] 2 p_t W_t
          = base + above @ votes

    with the names of the constants ``base`` and ``votes`` and of the array ``above`` of tests.
    """
    tests = extract_tests(model, stump_sum.stumps)
    votes = stump_sum.stumps.polarity[:, None] * stump_sum.coefficients.reshape(-1, n_scores)
    graph.constants |= {
        "features": tests.feature,
        "thresholds": np.where(np.isnan(tests.category), tests.threshold, np.inf),
        "votes": 2.0 * votes,
        "base": np.atleast_1d(stump_sum.intercept) - votes.sum(axis=0),
    }
    graph.add("Gather", ["X_double", "features"], "tested_values", axis=1)
    condition = graph.add("Greater", ["tested_values", "thresholds"], "is_above")
    if not np.isnan(tests.category).all():
        graph.constants["categories"] = tests.category
        graph.add("Equal", ["tested_values", "categories"], "is_category")
        condition = graph.add("Or", [condition, "is_category"], "is_true")
    if tests.allows_missing:
        graph.constants["true_if_missing"] = tests.true_if_missing
        graph.add("IsNaN", ["tested_values"], "is_missing")
        graph.add("And", ["is_missing", "true_if_missing"], "is_missing_above")
        condition = graph.add("Or", [condition, "is_missing_above"], "is_true_or_missing")
    graph.add("Cast", [condition], "above", to=graph.types.DOUBLE)
    graph.add("MatMul", ["above", "votes"], "sums")
    return graph.add("Add", ["sums", "base"], "stump_scores")


def _add_pair(graph, model, pair, name, scores):
    """Add the look-up in the table of a pair of features.

    Parameters
    ----------
    graph : _Graph
    model : estimator
    pair : boostbench.algorithms.bagging.interactions.Pair
    name : str
        Prefix of the names of the nodes' outputs.
    scores : str
        Name of the scores so far.

    Returns
    -------
    str
        Name of the scores with the table.
    """
    # The table is flattened: the cell of a sample is row * width + column.
    axes, table = pair
    row, column = (_add_cell(graph, model, axis) for axis in axes)
    graph.constants[f"{name}_width"] = np.array(table.shape[1])
    graph.constants[f"{name}_table"] = table.reshape(-1, table.shape[2])
    graph.add("Mul", [row, f"{name}_width"], f"{name}_row")
    graph.add("Add", [f"{name}_row", column], f"{name}_cell")
    graph.add("Gather", [f"{name}_table", f"{name}_cell"], f"{name}_added")
    return graph.add("Add", [scores, f"{name}_added"], f"{name}_scores")


def _add_cell(graph, model, axis):
    """Add the nodes that compute the cell of each sample along an axis of a pair.

    The cell of a number is the count of thresholds below it, the sum of the comparisons with all
    thresholds. The cell of a category is the sum of the comparisons with all categories, each times
    the cell of the category. A feature gets its nodes once, even if it is in several pairs.

    Returns
    -------
    str
        Name of the cells, of shape (n_samples,), dtype=int64.
    """
    # 1) Return the cells if another pair has added them. A feature can have different thresholds in
    # different pairs.
    key = axis.feature, None if axis.thresholds is None else tuple(axis.thresholds)
    if key in graph.cell_names:
        return graph.cell_names[key]
    # 2) Define the comparisons, and the increment of the cell if a comparison holds.
    name = f"axis_{len(graph.cell_names)}"
    cells_of_categories, missing_cell = value_cells(model, axis)
    if cells_of_categories is None:
        operator, values, increments = "Greater", axis.thresholds, np.ones(len(axis.thresholds))
    else:
        values = np.arange(float(len(cells_of_categories)))
        operator, increments = "Equal", cells_of_categories.astype(float)
    graph.constants |= {
        f"{name}_feature": np.array(axis.feature),
        f"{name}_values": values,
        f"{name}_increments": increments,
        f"{name}_missing": np.float64(missing_cell),
        f"{name}_last": np.array([1]),
    }
    # 3) Add up the cells, and replace the cell of a missing value.
    graph.add("Gather", ["X_double", f"{name}_feature"], f"{name}_x", axis=1)
    graph.add("Unsqueeze", [f"{name}_x", f"{name}_last"], f"{name}_column")
    graph.add(operator, [f"{name}_column", f"{name}_values"], f"{name}_is_true")
    graph.add("Cast", [f"{name}_is_true"], f"{name}_float_is_true", to=graph.types.DOUBLE)
    graph.add("MatMul", [f"{name}_float_is_true", f"{name}_increments"], f"{name}_present_cell")
    graph.add("IsNaN", [f"{name}_x"], f"{name}_is_missing")
    cases = [f"{name}_is_missing", f"{name}_missing", f"{name}_present_cell"]
    graph.add("Where", cases, f"{name}_float_cell")
    graph.cell_names[key] = graph.add(
        "Cast", [f"{name}_float_cell"], f"{name}_cell", to=graph.types.INT64
    )
    return graph.cell_names[key]


def _onnx_labels(model, tensor_types):
    """Return the classes as integers or strings, and their ONNX type.

    Raises
    ------
    ValueError
        If the classes are neither 64-bit integers nor strings.
    """
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


def _add_classifier_outputs(graph, is_binary):
    """Add the nodes that compute scores, label and probabilities.

    The graph has ``stump_and_pair_scores``, of shape (n_samples, n_scores), and the constants
    ``beta`` (the factor of the scores in the probabilities), ``slack`` and ``labels``. Scores that
    differ by at most ``slack`` are equal: the first class wins.

    Parameters
    ----------
    graph : _Graph
    is_binary : bool
        True if there is one score, which is positive for the second class.
    """
    add, scores = graph.add, "stump_and_pair_scores"
    if is_binary:
        graph.constants |= {"zero": np.float64(0.0), "last_axis": np.array([1])}
        add("Abs", [scores], "magnitude")
        add("LessOrEqual", ["magnitude", "slack"], "is_zero")
        add("Where", ["is_zero", "zero", scores], "decision_column")
        add("Squeeze", ["decision_column", "last_axis"], "scores")
        add("Greater", ["scores", "zero"], "is_second")
        add("Cast", ["is_second"], "winner", to=graph.types.INT64)
        add("Mul", ["decision_column", "beta"], "logit")
        add("Mul", ["decision_column", "zero"], "zero_logit")
        add("Concat", ["zero_logit", "logit"], "logits", axis=1)
    else:
        graph.constants["one"] = np.array([1])
        # TopK has the same signature in all operator sets, unlike ReduceMax.
        add("TopK", [scores, "one"], "largest", "largest_index", axis=1)
        add("Sub", ["largest", "slack"], "lowest_tied")
        add("GreaterOrEqual", [scores, "lowest_tied"], "is_largest")
        add("Where", ["is_largest", "largest", scores], "scores")
        add("ArgMax", ["scores"], "winner", axis=1, keepdims=0)
        add("Mul", ["scores", "beta"], "logits")
    add("Gather", ["labels", "winner"], "label")
    add("Softmax", ["logits"], "probabilities", axis=1)


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
    # 1) Convert the categories to values of JSON.
    categories = {
        feature: [_json_value(category) for category in feature_categories]
        for feature, feature_categories in getattr(model, "categories_", {}).items()
    }
    # 2) Store the object as a property of the model.
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
    names = [str(name) for name in feature_names(model)]
    output_names = [output.name for output in onnx_model.graph.output]
    _check_input_names(names, output_names)
    # 1) Encode each column, and concatenate the columns.
    encoder = _Graph()
    helper, inputs = encoder.onnx.helper, []
    for index, name in enumerate(names):
        categories = getattr(model, "categories_", {}).get(index)
        element_type = _encode_column(encoder, index, name, categories, dtype)
        inputs.append(helper.make_tensor_value_info(f"column_{index}", element_type, ["n", 1]))
    columns = [f"encoded_{index}" for index in range(len(names))]
    encoder.add("Concat", columns, "X", axis=1)
    graph = onnx_model.graph
    all_nodes = [*encoder.nodes, *graph.node]
    del graph.input[:], graph.node[:]
    graph.input.extend(inputs)
    graph.node.extend(all_nodes)
    graph.initializer.extend(encoder.tensors())
    if any(node.domain == "ai.onnx.ml" for node in encoder.nodes):
        onnx_model.opset_import.append(helper.make_opsetid("ai.onnx.ml", _ML_OPSET))
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
    encoder.onnx.checker.check_model(onnx_model)


def _check_input_names(names, output_names):
    """Raise ValueError if names of features are empty or names of outputs."""
    for name in names:
        if not name or name in output_names:
            raise ValueError(
                f"named inputs need names of features that are not empty and not "
                f"{' or '.join(map(repr, output_names))}; rename {name!r}"
            )


def _encode_column(graph, index, name, categories, dtype):
    """Add the nodes that encode a column, and return its element type, of ONNX's `TensorProto`.

    Parameters
    ----------
    graph : _Graph
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
    int
    """
    # 1) Cast numbers to double precision.
    column, encoded = f"column_{index}", f"encoded_{index}"
    double = graph.types.DOUBLE
    if categories is None:
        graph.add("Cast", [column], encoded, to=double)
        return _float_type(graph, dtype)
    # 2) Encode texts by an operator of ONNX.
    values = [_json_value(category) for category in categories]
    if all(isinstance(category, str) for category in categories):
        codes = graph.add(
            "LabelEncoder",
            [column],
            f"codes_{index}",
            domain="ai.onnx.ml",
            keys_strings=values,
            values_floats=np.arange(float(len(values))),
            default_float=np.nan,
        )
        graph.add("Cast", [codes], encoded, to=double)
        return graph.types.STRING
    if not all(isinstance(category, bool | int | float | np.generic) for category in categories):
        raise ValueError(
            f"named inputs need categories that are all texts or all numbers, and feature {name!r} "
            "has categories of another type"
        )
    # 3) Encode numbers by comparisons. The product of the indicators of the categories with the
    # codes plus 1 is the code of the equal category plus 1, or 0 if no category is equal.
    graph.constants |= {
        f"categories_{index}": np.array(values, dtype=float)[None],
        f"successors_{index}": np.arange(1.0, len(values) + 1)[:, None],
        f"zero_{index}": np.zeros(1),
        f"one_{index}": np.ones(1),
        f"nan_{index}": np.full(1, np.nan),
    }
    graph.add("Equal", [column, f"categories_{index}"], f"is_category_{index}")
    graph.add("Cast", [f"is_category_{index}"], f"indicators_{index}", to=double)
    graph.add("MatMul", [f"indicators_{index}", f"successors_{index}"], f"sum_{index}")
    graph.add("Sub", [f"sum_{index}", f"one_{index}"], f"code_{index}")
    graph.add("Equal", [f"sum_{index}", f"zero_{index}"], f"is_unknown_{index}")
    graph.add("Where", [f"is_unknown_{index}", f"nan_{index}", f"code_{index}"], encoded)
    return double


def _json_value(category):
    """Return a category as a value of JSON: a number, a boolean or a text."""
    value = category.item() if isinstance(category, np.generic) else category
    return value if isinstance(value, bool | int | float) else str(value)


def _missing_text(lists_of_categories):
    """Return a text that is no category: the empty text, or a few question marks."""
    categories = {category for values in lists_of_categories for category in values}
    text = ""
    while text in categories:
        text += "?"
    return text
