"""Converters with which skl2onnx exports boosters in pipelines and meta-estimators.

skl2onnx is the converter of scikit-learn to ONNX. A package registers three functions for a class
of estimators: a parser declares its outputs, a shape calculator sets their types, and a converter
adds its nodes to the graph. A meta-estimator, such as `CalibratedClassifierCV`, contains other
estimators.

The checks of meta-estimators describe skl2onnx 1.20.
"""

from itertools import compress

import numpy as np
from sklearn.base import ClassifierMixin, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    BaggingClassifier,
    StackingClassifier,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from boostbench import algorithms
from boostbench.conversion.onnx_graph import OPSET, booster_to_onnx
from boostbench.util.process import import_optional


def register_with_skl2onnx(*classes):
    """Register the converters of boosters of stumps with skl2onnx.

    Afterwards ``skl2onnx.to_onnx`` converts a booster, alone, in a pipeline or in a meta-estimator
    of scikit-learn. `to_onnx` calls this function for pipelines.

    The option ``raw_scores=True`` gives the scores of `decision_function` instead of
    probabilities; for two classes these are two columns, minus the score and the score. The option
    ``zipmap`` is accepted and has no effect: the probabilities of a booster are always an array.
    Outputs have the float type of the input.

    Parameters
    ----------
    *classes : type
        Additional classes to register: subclasses of boostbench's boosters.

    Raises
    ------
    ImportError
        If skl2onnx is not installed.

    Notes
    -----
    skl2onnx 1.20 converts some meta-estimators to models that predict differently from
    scikit-learn, around any estimator. The conversion of a booster in one of these raises a
    ValueError: `TunedThresholdClassifierCV`, because the threshold is lost;
    `CalibratedClassifierCV` with ``method="isotonic"``, because interpolation is missing;
    `StackingClassifier` with ``stack_method="predict"``, or for two classes with
    ``stack_method="decision_function"``, because the final estimator gets different inputs; and
    voting with weights for dropped estimators.
    """
    update = import_optional("skl2onnx").update_registered_converter
    estimators = [getattr(algorithms, name) for name in algorithms.__all__]
    for booster in [
        *(estimator for estimator in estimators if hasattr(estimator, "stump_sum")),
        *classes,
    ]:
        # All packages share one dictionary of aliases, so the alias contains the module.
        alias = f"{booster.__module__}.{booster.__qualname__}"
        if issubclass(booster, ClassifierMixin):
            options = {"raw_scores": [False, True], "zipmap": [False, True]}
            update(
                booster,
                alias,
                _set_output_types,
                _convert_booster,
                parser=_parse_classifier,
                options=options,
            )
        else:
            update(booster, alias, _set_output_types, _convert_booster)


def pipeline_to_onnx(pipeline, dtype):
    """Convert a fitted pipeline of numeric features to an ONNX model; see `to_onnx`."""
    check_is_fitted(pipeline)
    register_with_skl2onnx(type(pipeline[-1]))
    sample = np.zeros((1, pipeline.n_features_in_), dtype)
    return import_optional("skl2onnx").to_onnx(pipeline, sample)


def _parse_classifier(scope, model, inputs, custom_parsers=None):
    """Declare the outputs of a classifier: label and probabilities.

    skl2onnx's own parser would add the operator ZipMap, which refuses double precision. The
    arguments are skl2onnx's: the graph under construction, the estimator, and its inputs.
    """
    types = import_optional("skl2onnx.common.data_types")
    operator = scope.declare_local_operator(
        import_optional("skl2onnx").get_model_alias(type(model)), model
    )
    operator.inputs = inputs
    float_type = types.guess_tensor_type(inputs[0].type)
    operator.outputs.append(scope.declare_local_variable("label", types.Int64TensorType()))
    operator.outputs.append(scope.declare_local_variable("probabilities", float_type))
    return operator.outputs


def _set_output_types(operator):
    """Set the types and shapes of the outputs, and refuse separate input columns."""
    import_optional("skl2onnx.common.utils").check_input_and_output_numbers(
        operator, input_count_range=1
    )
    types = import_optional("skl2onnx.common.data_types")
    model = operator.raw_operator
    float_type = type(types.guess_tensor_type(operator.inputs[0].type))
    if is_regressor(model):
        operator.outputs[0].type = float_type([None, 1])
        return
    is_numeric = np.array(model.classes_.tolist()).dtype.kind in "iubf"
    label_type = types.Int64TensorType if is_numeric else types.StringTensorType
    operator.outputs[0].type = label_type([None])
    operator.outputs[1].type = float_type([None, len(model.classes_)])


def _convert_booster(scope, operator, container):
    """Insert the graph of a booster into the graph of skl2onnx, with unique names.

    Parameters
    ----------
    scope : skl2onnx.common._topology.Scope
        Names and operators of the graph.
    operator : skl2onnx.common._topology.Operator
        The booster with its inputs and outputs.
    container : skl2onnx.common._container.ModelComponentContainer
        Nodes and constants of the graph, to which the nodes are added.
    """
    opset = container.target_opset_any_domain("")
    if opset < OPSET:
        raise ValueError(f"boosters need target_opset={OPSET} or later, got {opset}")
    model = operator.raw_operator
    if getattr(model, "categories_", None):
        raise ValueError(
            f"{type(model).__name__} has categorical features, but the steps of a pipeline return "
            "numbers; encode the categories in a step, such as OneHotEncoder"
        )
    refuse_inexact_conversions(scope)
    graph = booster_to_onnx(model, np.float64).graph
    # 1) Insert the constants and the nodes. `names` maps names of the booster's graph to names of
    # skl2onnx's graph. The label is the only output among them: the last output is connected in
    # step 2, after a cast.
    names = {graph.input[0].name: operator.inputs[0].full_name}
    if not is_regressor(model):
        names["label"] = operator.outputs[0].full_name

    def unique_name(name):
        return names.setdefault(name, scope.get_unique_variable_name(f"booster_{name}"))

    onnx = import_optional("onnx")
    for tensor in graph.initializer:
        values = onnx.numpy_helper.to_array(tensor)
        flat_values = values.ravel().tolist()
        container.add_initializer(
            unique_name(tensor.name), tensor.data_type, values.shape, flat_values
        )
    for node in graph.node:
        container.add_node(
            node.op_type,
            list(map(unique_name, node.input)),
            list(map(unique_name, node.output)),
            name=scope.get_unique_operator_name(node.op_type),
            **{
                attribute.name: onnx.helper.get_attribute_value(attribute)
                for attribute in node.attribute
            },
        )

    def add_node(op_type, inputs, output, **attributes):
        name = scope.get_unique_operator_name(op_type)
        container.add_node(op_type, inputs, [output], name=name, **attributes)
        return output

    # 2) Connect the output: predictions, probabilities or scores.
    if is_regressor(model):
        # skl2onnx's regressors have outputs of shape (n_samples, 1).
        column = [unique_name("prediction"), unique_name("last_axis")]
        result = add_node("Unsqueeze", column, unique_name("column"))
    elif not is_asked_for_scores(model, scope, container):
        result = unique_name("probabilities")
    elif len(model.classes_) == 2:
        # skl2onnx's meta-estimators select the second column of the scores of two classes.
        negative = add_node("Neg", [unique_name("decision_column")], unique_name("negative"))
        columns = [negative, unique_name("decision_column")]
        result = add_node("Concat", columns, unique_name("columns"), axis=1)
    else:
        result = unique_name("scores")
    output = operator.outputs[-1]
    to = import_optional("skl2onnx.common.data_types").guess_proto_type(output.type)
    add_node("Cast", [result], output.full_name, to=to)


def is_asked_for_scores(model, scope, container):
    """Return True if the scores of `model` are requested instead of its probabilities.

    skl2onnx's meta-estimators request scores by the option ``raw_scores`` of the estimators in
    them. `Pipeline` and `GridSearchCV` do not pass the option on to their last step or best
    estimator, so the requests are collected from all estimators of the graph.

    Parameters
    ----------
    model : estimator
        Booster that is converted.
    scope : skl2onnx.common._topology.Scope
        Operators of the graph, with their estimators.
    container : skl2onnx.common._container.ModelComponentContainer
        Options of the estimators.

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        If skl2onnx loses the request before it reaches an estimator.
    """
    # 1) Find the estimators of the graph whose option is True, by their addresses.
    estimators = [operator.raw_operator for operator in scope.operators.values()]
    has_option_set = {
        id(estimator): container.has_options(estimator, "raw_scores")
        and container.get_options(estimator, {"raw_scores": False})["raw_scores"]
        for estimator in estimators
    }
    # Keys of options are addresses or names of estimators. The option of an estimator that is not
    # in the graph was lost on the way.
    for key, options in (scope.options or {}).items():
        if isinstance(key, int) and options.get("raw_scores") and key not in has_option_set:
            raise ValueError(
                "skl2onnx does not pass raw_scores=True from a pipeline to its last step; "
                "name the step: options={'<step>__raw_scores': True}"
            )
    # 2) Collect the estimators whose scores are requested. Calibration and one-against-one always
    # use scores, stacking uses them for the estimators with the method `decision_function`, and any
    # other estimator passes its own option on.
    asked_estimators = []
    for estimator in estimators:
        if isinstance(estimator, CalibratedClassifierCV):
            asked_estimators += [fold.estimator for fold in estimator.calibrated_classifiers_]
        elif isinstance(estimator, OneVsOneClassifier):
            asked_estimators += estimator.estimators_
        elif isinstance(estimator, StackingClassifier):
            uses_scores = [method == "decision_function" for method in estimator.stack_method_]
            asked_estimators += compress(estimator.estimators_, uses_scores)
            if has_option_set[id(estimator)]:
                asked_estimators.append(estimator.final_estimator_)
        elif has_option_set[id(estimator)]:
            is_ensemble = isinstance(estimator, BaggingClassifier | OneVsRestClassifier)
            asked_estimators += estimator.estimators_ if is_ensemble else [estimator]
    # 3) Look for the model among these estimators, inside of pipelines and searches.
    for estimator in asked_estimators:
        innermost = estimator
        while isinstance(innermost, Pipeline | GridSearchCV):
            is_pipeline = isinstance(innermost, Pipeline)
            innermost = innermost[-1] if is_pipeline else innermost.best_estimator_
        if innermost is model:
            return True
        # skl2onnx loses the option on the way through a pipeline or a search to an estimator that
        # is no booster.
        has_scores = container.has_options(innermost, "raw_scores") and hasattr(
            innermost, "decision_function"
        )
        if innermost is not estimator and has_scores and not hasattr(innermost, "stump_sum"):
            raise ValueError(
                f"skl2onnx does not pass the request of scores from {type(estimator).__name__} to "
                f"{type(innermost).__name__}, and would use probabilities instead"
            )
    return False


def refuse_inexact_conversions(scope):
    """Raise ValueError if skl2onnx converts an estimator of the graph to a different model.

    The faults are skl2onnx's: they do not depend on the estimator in the meta-estimator.
    """
    for estimator in (operator.raw_operator for operator in scope.operators.values()):
        if isinstance(estimator, TunedThresholdClassifierCV):
            fault = (
                "without its threshold; convert its estimator_, and compare with best_threshold_"
            )
        elif isinstance(estimator, CalibratedClassifierCV) and estimator.method == "isotonic":
            fault = "without interpolation between thresholds; set method='sigmoid'"
        elif isinstance(estimator, StackingClassifier) and (
            "predict" in estimator.stack_method_
            or (len(estimator.classes_) == 2 and "decision_function" in estimator.stack_method_)
        ):
            fault = "with other inputs of the final estimator; set stack_method='predict_proba'"
        elif (
            isinstance(estimator, VotingClassifier | VotingRegressor)
            and estimator.weights is not None
            and len(estimator.weights) > len(estimator.estimators_)
        ):
            fault = "with the weights of dropped estimators; remove these and their weights"
        else:
            continue
        raise ValueError(f"skl2onnx converts {type(estimator).__name__} {fault}")
