"""Cross-validation of a whole grid by one estimator that goes from point to point."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from boostbench.experiment.algorithm import Algorithm
from boostbench.experiment.preparation import prepare
from boostbench.experiment.trial import Trial


@dataclass(frozen=True)
class Walk(Trial):
    """A trial of all points of a grid, in their order; nothing is `chosen` yet.

    Each fit is a warm start from the one before. This is for estimators that come to the same
    solution wherever they start, and say by ``warm_parameters`` what may change in between; see
    `can_walk`.

    Attributes
    ----------
    points : tuple of dict
        The points of the algorithm's grid.
    """

    points: tuple[Mapping, ...] = ()

    def measure(self, X, y: np.ndarray) -> dict:
        """Fit at every point and judge; parameters as for `boostbench.experiment.trial.run_trial`.

        Returns
        -------
        dict
            ``test_errors`` and ``seconds``, the CPU seconds of each fit, point by point.
        """
        X_train, X_test = prepare(X[self.train], X[self.test], self.scale, self.pca)
        estimator = self.algorithm.build(self.seed, warm_start=True)
        errors, seconds = [], []
        for point in self.points:
            start = time.process_time()
            estimator.set_params(**point).fit(X_train, y[self.train])
            seconds.append(round(time.process_time() - start, 4))
            errors.append(float(np.mean(estimator.predict(X_test) != y[self.test])))
        return {"test_errors": errors, "seconds": seconds}


def can_walk(algorithm: Algorithm) -> bool:
    """Tell whether an algorithm's grid is of parameters that a warm start may change."""
    allowed = getattr(algorithm.locate(), "warm_parameters", ())
    return bool(algorithm.grid) and set(algorithm.grid) <= set(allowed)
