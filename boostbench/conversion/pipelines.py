"""Boosters at the end of scikit-learn's pipelines, for skl2onnx."""

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted

from boostbench import algorithms
from boostbench.conversion.graph import OPSET, booster_to_onnx
from boostbench.extras import needed


def register_with_skl2onnx(*classes):
    """Tell skl2onnx how to convert boosters of stumps, alone or in pipelines.

    After it, ``skl2onnx.to_onnx(pipeline, frame[:1])`` takes what it takes of scikit-learn's own
    classifiers, columns of words among them. It takes no ``options`` for boosters: probabilities
    are an array, as with ``zipmap=False`` of others. `to_onnx` calls it for pipelines.

    Parameters
    ----------
    *classes : type
        Subclasses of your own.

    Raises
    ------
    ImportError
        If skl2onnx is not installed.
    """
    update = needed("skl2onnx").update_registered_converter
    known = [getattr(algorithms, name) for name in algorithms.__all__]
    for booster in [*(one for one in known if hasattr(one, "stump_sum")), *classes]:
        # Aliases are shared with all converters that anybody has registered.
        update(booster, f"{booster.__module__}.{booster.__qualname__}", _shapes, _convert)


def pipeline_to_onnx(pipeline, dtype):
    """Turn a fitted pipeline that takes numbers into a model of ONNX; as `to_onnx`."""
    check_is_fitted(pipeline)
    register_with_skl2onnx(type(pipeline[-1]))
    sample = np.zeros((1, pipeline.n_features_in_), dtype)
    return needed("skl2onnx").to_onnx(pipeline, sample)


def _shapes(operator):
    """Say what comes out, in skl2onnx's types; refuse columns that no step has put together."""
    needed("skl2onnx.common.utils").check_input_and_output_numbers(operator, input_count_range=1)
    types = needed("skl2onnx.common.data_types")
    model = operator.raw_operator
    if is_regressor(model):
        operator.outputs[0].type = types.DoubleTensorType([None, 1])
        return
    are_numbers = np.array(model.classes_.tolist()).dtype.kind in "iubf"
    label = types.Int64TensorType if are_numbers else types.StringTensorType
    operator.outputs[0].type = label([None])
    operator.outputs[1].type = types.DoubleTensorType([None, len(model.classes_)])


def _convert(scope, operator, container):
    """Put the graph of a booster into that of a pipeline, under names of its own."""
    opset = container.target_opset_any_domain("")
    if opset < OPSET:
        raise ValueError(f"boosters need target_opset={OPSET} or later, got {opset}")
    model = operator.raw_operator
    if getattr(model, "categories_", None):
        raise ValueError(
            f"{type(model).__name__} has categories of its own, which are words and not what a "
            "pipeline's steps give; make numbers of them by a step, such as OneHotEncoder"
        )
    graph = booster_to_onnx(model, np.float64).graph
    names = {graph.input[0].name: operator.inputs[0].full_name}
    if not is_regressor(model):
        names |= {
            given: output.full_name
            for given, output in zip(("label", "probabilities"), operator.outputs, strict=True)
        }

    def renamed(name):
        return names.setdefault(name, scope.get_unique_variable_name(f"booster_{name}"))

    onnx = needed("onnx")
    for tensor in graph.initializer:
        content = onnx.numpy_helper.to_array(tensor)
        flat = content.ravel().tolist()
        container.add_initializer(renamed(tensor.name), tensor.data_type, content.shape, flat)
    for node in graph.node:
        container.add_node(
            node.op_type,
            list(map(renamed, node.input)),
            list(map(renamed, node.output)),
            name=scope.get_unique_operator_name(node.op_type),
            **{one.name: onnx.helper.get_attribute_value(one) for one in node.attribute},
        )
    if is_regressor(model):
        # With a second dimension, as scikit-learn's own regressors have it there.
        column = [renamed("prediction"), renamed("last")]
        name = scope.get_unique_operator_name("Unsqueeze")
        container.add_node("Unsqueeze", column, [operator.outputs[0].full_name], name=name)
