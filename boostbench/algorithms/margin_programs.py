"""Boosters of two classes that solve a program of the margins after every round: their base."""

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from boostbench.algorithms.base import Tabular
from boostbench.algorithms.estimators import BinaryClassifier, WithoutEarlyStopping
from boostbench.algorithms.master import NO_EDGE, Master
from boostbench.algorithms.parameters import PositiveInt
from boostbench.algorithms.totally_corrective import TotallyCorrective
from boostbench.core.coefficient_path import CoefficientPath
from boostbench.core.weak.stump import Stumps
from boostbench.core.weak.stumps import StumpSearch

# A score that is this part of the sum of the coefficients is 0: solutions of linear programs have
# coefficients of few digits, which often cancel, but for rounding.
_ZERO = 1e-9


class MarginMaster(Master):
    """Adds the weak learner of the largest edge, where it is larger than that of all before it.

    Parameters
    ----------
    params, search
        As of `Master`.
    signs : ndarray of shape (n_samples,)
        1 and -1.
    program : object
        It has `add`, `dual`, the weights for the next search, `coefficients` and `value`, and for
        `least_edge` the largest `edge` of the weak learners so far.
    """

    def __init__(self, params, search, signs, program):
        super().__init__(params, search)
        self.signs = signs
        self.program = program
        self.learners = []
        self.path = CoefficientPath()
        self.objective = []

    def least_edge(self):
        """Return the edge above which a weak learner is better than those so far."""
        # What is larger by less is no larger, on the scale of a sum of weights.
        return self.program.edge + NO_EDGE * self.program.dual.sum()

    def generate(self):
        """Search by the dual variables; as `Master.generate`."""
        found = self.search.best((self.signs * self.program.dual)[:, None])
        return found if found is not None and found.edge > self.least_edge() else None

    def correct(self, found):
        """Solve the program with one more weak learner; as `Master.correct`."""
        self.program.add(self.signs * found.outputs)
        self.learners.append(found.learner)
        self.path.append(self.program.coefficients)
        self.objective.append(self.program.value)
        return True


class MarginBooster(TotallyCorrective, WithoutEarlyStopping, Tabular, BinaryClassifier):
    """Base of LPBoost and its kin: ``F(x) = sum_j w_j h_j(x)``, no coefficient negative."""

    edition = 2

    n_iterations: PositiveInt = 500

    # The stages of a fit are fits of fewer rounds; see `boostbench.experiment.tuning`.
    staged_parameter: ClassVar = "n_iterations"

    _kind: ClassVar = MarginMaster

    @abstractmethod
    def _program(self, weights):
        """Return the program of samples with these weights, which are positive."""

    def _search(self, X, random_state):
        return StumpSearch(X)

    def _master(self, X, signs, random_state, weights=None):
        weights = np.ones(len(signs)) if weights is None else weights
        return self._kind(self, self._search(X, random_state), signs, self._program(weights))

    def _keep(self, master, stack=Stumps, per_learner=3):
        self.hypotheses_ = stack(master.learners)
        self.coefficients_ = master.program.coefficients
        self.weight_path_ = master.path.matrix(len(self.coefficients_))
        self.objective_ = np.array(master.objective)
        self.dual_ = master.program.dual
        # Of a stump a feature, a threshold, and a coefficient, whose sign is the polarity.
        self.n_parameters_ = per_learner * int(np.count_nonzero(self.coefficients_))

    def score_slack(self):
        """As of `BoostingClassifier.score_slack`."""
        return _ZERO * self.coefficients_.sum()
