"""Base of two-class boosters that solve a program of the margins in every round."""

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from boostbench.algorithms.base.booster import TabularBooster
from boostbench.algorithms.base.estimators import BinaryClassifier, NoEarlyStoppingMixin
from boostbench.algorithms.base.master import MIN_EDGE, Master
from boostbench.algorithms.base.parameters import PositiveInt
from boostbench.algorithms.base.totally_corrective import TotallyCorrective
from boostbench.core.coefficient_path import CoefficientPath
from boostbench.core.stumps.search import StumpSearch
from boostbench.core.stumps.stump import Stumps

# A score below this fraction of the sum of the coefficients is 0. The coefficients of linear
# programs are often simple fractions, which cancel up to rounding.
_SCORE_TOLERANCE = 1e-9


class MarginMaster(Master):
    """Master that adds the weak learner with the largest edge.

    Training ends if this edge does not exceed the edges of all earlier weak learners.

    Parameters
    ----------
    params, search
        See `Master`.
    signs : ndarray of shape (n_samples,)
        Labels 1 and -1.
    program : object
        Program with a method `add` and attributes `dual` (weights of the next search),
        `coefficients`, `value` and, for `edge_threshold`, `edge` (largest edge of its weak
        learners).
    """

    def __init__(self, params, search, signs, program):
        super().__init__(params, search)
        self.signs = signs
        self.program = program
        self.learners = []
        self.path = CoefficientPath()
        self.objective = []

    def edge_threshold(self):
        """Return the edge above which a weak learner is better than the earlier ones."""
        # Differences below this fraction of the sum of the weights are rounding errors.
        return self.program.edge + MIN_EDGE * self.program.dual.sum()

    def generate(self):
        """Search with the dual variables; see `Master.generate`."""
        result = self.search.best((self.signs * self.program.dual)[:, None])
        return result if result is not None and result.edge > self.edge_threshold() else None

    def correct(self, result):
        """Solve the program with one more weak learner; see `Master.correct`."""
        self.program.add(self.signs * result.outputs)
        self.learners.append(result.learner)
        self.path.append(self.program.coefficients)
        self.objective.append(self.program.value)
        return True


class MarginBooster(TotallyCorrective, NoEarlyStoppingMixin, TabularBooster, BinaryClassifier):
    """Base of LPBoost, NMBoost and ERLPBoost: ``F(x) = sum_j w_j h_j(x)`` with ``w >= 0``."""

    edition = 2

    n_iterations: PositiveInt = 500

    # Each stage of a fit equals a fit with fewer rounds; see `boostbench.fitting.tuning`.
    staged_parameter: ClassVar = "n_iterations"

    _master_class: ClassVar = MarginMaster

    @abstractmethod
    def _make_program(self, weights):
        """Return the program for samples with positive weights."""

    def _make_search(self, X, random_state):
        return StumpSearch(X)

    def _make_master(self, X, signs, random_state, weights=None):
        weights = np.ones(len(signs)) if weights is None else weights
        search = self._make_search(X, random_state)
        return self._master_class(self, search, signs, self._make_program(weights))

    def _store_model(self, master, stack=Stumps, per_learner=3):
        self.hypotheses_ = stack(master.learners)
        self.coefficients_ = master.program.coefficients
        self.weight_path_ = master.path.matrix(len(self.coefficients_))
        self.objective_ = np.array(master.objective)
        self.dual_ = master.program.dual
        # A stump has a feature, a threshold, and a coefficient whose sign is the polarity.
        self.n_parameters_ = per_learner * int(np.count_nonzero(self.coefficients_))

    def score_slack(self):
        """Return the rounding error of a score; see `BoostingClassifier.score_slack`."""
        return _SCORE_TOLERANCE * self.coefficients_.sum()
