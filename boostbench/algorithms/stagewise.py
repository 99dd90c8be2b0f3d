"""What the stage-wise classifiers with stumps share: the AdaBoost family."""

from numbers import Integral
from typing import ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from boostbench.algorithms.base import ColumnGenerationClassifier, Master, spans
from boostbench.core.weak.learners import Stumps

# An edge this near to 1 is a perfect weak learner: its coefficient would be infinite.
PERFECT = 1.0 - 1e-10

# An edge this near to 0 is a rounding error of the search, which adds up in single precision.
NO_EDGE = np.finfo(np.float32).eps


class StageWiseStumps(ColumnGenerationClassifier):
    """Classifiers of the form ``F(x) = sum_t h_t(x) W[t]`` with stumps and vote vectors."""

    _parameter_constraints: ClassVar = {
        **ColumnGenerationClassifier._parameter_constraints,
        "max_bins": [None, Interval(Integral, 2, None, closed="left")],
    }

    def __init__(self, n_iterations=1000, max_bins=None, random_state=None):
        self.n_iterations = n_iterations
        self.max_bins = max_bins
        self.random_state = random_state

    def _keep(self, master):
        self.hypotheses_ = Stumps(master.stumps)
        self.coefficients_ = np.reshape(master.votes, (len(master.stumps), len(self.classes_)))
        self.n_parameters_ = 2 * len(self.hypotheses_) + self.coefficients_.size

    def _staged_scores(self, X, stages):
        scores = np.zeros((len(X), len(self.classes_)))
        for some in spans(stages):
            scores = scores + self.hypotheses_.outputs(X, some) @ self.coefficients_[some]
            yield scores


class StumpMaster(Master):
    """Stumps, their votes, and the weights that the next one is found with.

    Parameters
    ----------
    search : boostbench.core.weak.stumps.StumpSearch
    weights : ndarray of shape (n_samples, n_columns)
    """

    def __init__(self, search, weights):
        self.search = search
        self.weights = weights
        self.stumps = []
        self.votes = []

    def step(self, edge):
        """Return the coefficient for an edge in [0, 1] and whether it leaves errors to correct."""
        capped = min(edge, PERFECT)
        return 0.5 * np.log((1 + capped) / (1 - capped)), edge < PERFECT
