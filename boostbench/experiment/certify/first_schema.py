"""Serve `boostbench.experiment.refit` in checkouts from before it existed.

``python -P first_schema.py REFIT``, with the checkout on the path, where REFIT is today's file.
What is imported here are names of then; they never change.
"""

import importlib.util
import json
import sys

import numpy as np


def _module(path: str):
    spec = importlib.util.spec_from_file_location("refit", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _surface(refit):
    from boostbench.experiment.boundary import BoundaryExperiment, BoundaryTrial
    from boostbench.experiment.coefficient_path import PathExperiment, PathTrial
    from boostbench.experiment.environment import environment
    from boostbench.experiment.estimator import Algorithm
    from boostbench.experiment.feature_use import FeatureUseExperiment, FeatureUseTrial
    from boostbench.experiment.features import prepare
    from boostbench.experiment.plan import Experiment
    from boostbench.experiment.trial import Trial
    from boostbench.experiment.walk import Walk

    measures = {
        "prediction": (Experiment, Trial),
        "boundary": (BoundaryExperiment, BoundaryTrial),
        "feature_use": (FeatureUseExperiment, FeatureUseTrial),
        "paths": (PathExperiment, PathTrial),
    }

    def code(job):
        return measures[job["measure"]][0](None, Algorithm("", job["target"]), None).fingerprint

    def carry_out(job, X, y):
        algorithm = Algorithm("", job["target"], job["params"], job["grid"])
        built = _watch(algorithm)
        train, test = rows = [np.asarray(job[part], np.int64) for part in ("train", "test")]
        protocol, points = job["protocol"], job["points"]
        prepared = {"scale": protocol["scale"], "pca": protocol.get("pca")}
        if points and len(points) > 1:
            trial = Walk(algorithm, {}, *rows, job["split_seed"], points=tuple(points), **prepared)
            found = trial.measure(X, y)
            labels = enumerate(built[-1][1].values())
            return {"validation_errors": found["test_errors"]}, {str(i): one for i, one in labels}
        measure = Trial if points else measures[job["measure"]][1]
        chosen = points[0] if points else job["chosen"]
        prepared["checkpoints"] = () if points else tuple(protocol["checkpoints"])
        trial = measure(algorithm, chosen, *rows, job["split_seed"], **prepared)
        outcome = trial.measure(X, y)
        if measure is not Trial:
            return outcome, {}
        X_test = prepare(X[train], X[test], trial.scale, trial.pca)[1]
        outputs = _predictions(built[-1][0], X_test, trial.checkpoints)
        return ({"validation_error": outcome["test_error"]} if points else outcome), outputs

    return refit.Surface(environment, code, carry_out)


def _watch(algorithm) -> list:
    """List the estimators that are going to be built, each with what it predicts by its point."""
    built, build = [], algorithm.build

    def watched(*arguments, **parameters):
        estimator = build(*arguments, **parameters)
        predict, predicted = estimator.predict, {}

        def remember(X):
            params = estimator.get_params()
            point = json.dumps({name: params[name] for name in algorithm.grid})
            predicted[point] = predict(X)
            return predicted[point]

        if "warm_start" in parameters:
            estimator.predict = remember
        built.append((estimator, predicted))
        return estimator

    object.__setattr__(algorithm, "build", watched)
    return built


def _predictions(estimator, X, checkpoints) -> dict[str, np.ndarray]:
    found = {"end": estimator.predict(X)}
    if checkpoints and hasattr(estimator, "staged_predict"):
        for stage, labels in enumerate(estimator.staged_predict(X), start=1):
            if stage in checkpoints:
                found[str(stage)] = labels
    return found


if __name__ == "__main__":
    refit = _module(sys.argv[1])
    refit.main(_surface(refit))
