"""Boosters of two classes whose coefficients sum to 1, so that scores are margins: their base."""

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from boostbench.algorithms.base import NO_EDGE, Master
from boostbench.algorithms.lpboost import LPBoost
from boostbench.core.coefficient_path import CoefficientPath
from boostbench.core.weak.stumps import StumpSearch


class MarginMaster(Master):
    """Adds the stump of the largest edge, where it is larger than that of all before it."""

    # An edge that is larger by less is no larger, on the scale of a sum of weights.
    tolerance: ClassVar = NO_EDGE

    def __init__(self, params, search, signs, program):
        super().__init__(params, search)
        self.signs = signs
        self.program = program
        self.learners = []
        self.path = CoefficientPath()
        self.objective = []

    def generate(self):
        """Search by the dual variables; as `Master.generate`."""
        found = self.search.best((self.signs * self.program.dual)[:, None])
        if found is None:
            return None
        scale = self.program.dual.sum()
        return found if found.edge > self.program.edge + self.tolerance * scale else None

    def correct(self, found):
        """Solve the program with one more weak learner; as `Master.correct`."""
        self.program.add(self.signs * found.outputs)
        self.learners.append(found.learner)
        self.path.append(self.program.coefficients)
        self.objective.append(self.program.value)
        return True


class NormalisedMargins(LPBoost):
    """LPBoost with stumps and another program, from which `_program` makes a training."""

    # Predictions are LPBoost's, which is asked what its weak learners are.
    weak_learner: ClassVar = "stump"

    _kind: ClassVar = MarginMaster

    @abstractmethod
    def _program(self, weights):
        """Return the program of samples with these weights, which are positive.

        It has `add`, `dual`, the weights for the next search, `edge`, the largest edge of the weak
        learners so far, `coefficients` and `value`.
        """

    def _master(self, X, signs, random_state, weights=None):
        weights = np.ones(len(signs)) if weights is None else weights
        return self._kind(self, StumpSearch(X), signs, self._program(weights))
