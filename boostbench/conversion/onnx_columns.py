"""Columns of data frames as inputs of ONNX models, and the features in the metadata."""

import json

import numpy as np

from boostbench.algorithms.explanation.stump_sums import feature_names
from boostbench.util.optional_imports import import_optional

#: Key of the features in the metadata of an ONNX model.
METADATA_KEY = "boostbench"

# Oldest version of the operator set that encodes texts as numbers.
_ML_OPSET = 2


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
    """Return the element type of a column, and the nodes and constants that encode it."""
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
    # The product with the codes plus 1 is 0 if no category is equal.
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
