"""Checks of scikit-learn's meta-estimators around a booster, for the conversion by skl2onnx.

The checks describe skl2onnx 1.20.
"""

from itertools import compress

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


def has_scores_requested(model, scope, container):
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
    estimators = [operator.raw_operator for operator in scope.operators.values()]
    # The keys of options are the addresses of estimators.
    requests_scores = {
        id(meta): container.has_options(meta, "raw_scores")
        and container.get_options(meta, {"raw_scores": False})["raw_scores"]
        for meta in estimators
    }
    for key, options in (scope.options or {}).items():
        if isinstance(key, int) and options.get("raw_scores") and key not in requests_scores:
            raise ValueError(
                "skl2onnx does not pass raw_scores=True from a pipeline to its last step; "
                "name the step: options={'<step>__raw_scores': True}"
            )
    requests = []
    for meta in estimators:
        if isinstance(meta, CalibratedClassifierCV):
            requests += [fold.estimator for fold in meta.calibrated_classifiers_]
        elif isinstance(meta, OneVsOneClassifier):
            requests += meta.estimators_
        elif isinstance(meta, StackingClassifier):
            uses_scores = [method == "decision_function" for method in meta.stack_method_]
            requests += compress(meta.estimators_, uses_scores)
            requests += [meta.final_estimator_] * requests_scores[id(meta)]
        elif requests_scores[id(meta)]:
            is_ensemble = isinstance(meta, BaggingClassifier | OneVsRestClassifier)
            requests += meta.estimators_ if is_ensemble else [meta]
    for estimator in requests:
        innermost = estimator
        while isinstance(innermost, Pipeline | GridSearchCV):
            is_pipeline = isinstance(innermost, Pipeline)
            innermost = innermost[-1] if is_pipeline else innermost.best_estimator_
        if innermost is model:
            return True
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
    for meta in (operator.raw_operator for operator in scope.operators.values()):
        if isinstance(meta, TunedThresholdClassifierCV):
            fault = (
                "without its threshold; convert its estimator_, and compare with best_threshold_"
            )
        elif isinstance(meta, CalibratedClassifierCV) and meta.method == "isotonic":
            fault = "without interpolation between thresholds; set method='sigmoid'"
        elif isinstance(meta, StackingClassifier) and (
            "predict" in meta.stack_method_
            or (len(meta.classes_) == 2 and "decision_function" in meta.stack_method_)
        ):
            fault = "with other inputs of the final estimator; set stack_method='predict_proba'"
        elif (
            isinstance(meta, VotingClassifier | VotingRegressor)
            and meta.weights is not None
            and len(meta.weights) > len(meta.estimators_)
        ):
            fault = "with the weights of dropped estimators; remove these and their weights"
        else:
            continue
        raise ValueError(f"skl2onnx converts {type(meta).__name__} {fault}")
