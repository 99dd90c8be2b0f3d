"""LPBoost: a linear program over weak learners, by column generation."""

from typing import ClassVar, Literal

import numpy as np

from boostbench.algorithms.base.margin_programs import MarginBooster, MarginMaster
from boostbench.algorithms.base.parameters import PositiveFloat, PositiveInt
from boostbench.core.learners.perceptrons import Perceptrons
from boostbench.core.learners.random_features import SignedPerceptronSearch
from boostbench.core.solvers.linear_programs import SoftMarginProgram

# Training ends if no edge exceeds 1 by more than this: ten times the feasibility tolerance of
# HiGHS, 1e-7, up to which the constraints of the weak learners in the program are violated as well.
_EDGE_TOLERANCE = 1e-6


class _LPBoostMaster(MarginMaster):
    def edge_threshold(self):
        return 1.0 + _EDGE_TOLERANCE


class LPBoost(MarginBooster):
    r"""LPBoost for two classes: a soft margin and the L1 norm.

    The score is :math:`F(x) = \sum_j w_j h_j(x)`, :math:`w \ge 0`. After each new weak
    learner all coefficients are the solution of eq. (4) of [1]_,

    .. math:: \min_{w \ge 0, \xi \ge 0} \|w\|_1 + C \sum_i \xi_i
              \quad\text{s.t.}\quad y_i F(x_i) \ge 1 - \xi_i,

    and the next weak learner has the most violated constraint of the dual program, eq. (5):

    .. math:: \max_h \sum_i y_i \alpha_i h(x_i) \le 1, \quad 0 \le \alpha_i \le C.

    Training ends if no constraint is violated. With stumps, w then solves the program over all
    stumps and their negatives. There is no bias.

    Parameters
    ----------
    n_iterations : int, default=500
        Maximum number of weak learners.
    C : float, default=1.0
        Weight of the sum of margin errors: a factor of all sample weights acts as a factor of C.
        With n samples and C < 1 / n the solution is w = 0, and the model is empty.
    weak_learner : {"stump", "perceptron"}, default="stump"
        Stumps with all thresholds, or random perceptrons.
    n_candidates : int, default=2000
        Number of perceptrons drawn in each round.
    random_state : int, RandomState instance or None, default=None
        Seed of the perceptrons; stumps need none.

    Attributes
    ----------
    hypotheses_ : boostbench.core.weak_learner.LearnerStack
        Weak learners: `Stumps` or `Perceptrons`.
    coefficients_ : ndarray of shape (n_iterations_,)
        Coefficients w after the last round; many are 0.
    weight_path_ : scipy.sparse.csr_array of shape (n_iterations_, n_iterations_)
        Coefficients w after each round, row by row.
    objective_ : ndarray of shape (n_iterations_,)
        Objective of eq. (4) after each round.
    dual_ : ndarray of shape (n_samples,)
        Dual variables :math:`\alpha` after the last round.

    Raises
    ------
    RuntimeError
        If HiGHS does not solve a linear program in `fit`.

    References
    ----------
    .. [1] C. Shen and F. Liu, "From kernel machines to ensemble learning", 2014 (CGENS).
    .. [2] A. Demiriz, K. P. Bennett and J. Shawe-Taylor, "Linear programming boosting via column
       generation", Machine Learning 46, 2002.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> LPBoost(n_iterations=50, C=0.1).fit(X, y).score(X, y) > 0.97
    True
    """

    C: PositiveFloat = 1.0
    weak_learner: Literal["stump", "perceptron"] = "stump"
    n_candidates: PositiveInt = 2000

    _master_class: ClassVar = _LPBoostMaster

    @property
    def _takes_tables(self):
        return self.weak_learner == "stump"

    def _make_program(self, weights):
        return SoftMarginProgram(len(weights), self.C * weights)

    def _make_search(self, X, random_state):
        if self.weak_learner == "stump":
            return super()._make_search(X, random_state)
        rng = np.random.default_rng(random_state.randint(2**31))
        return SignedPerceptronSearch(X, self.n_candidates, rng)

    def _store_model(self, master):
        if self.weak_learner == "stump":
            super()._store_model(master)
        else:
            super()._store_model(master, Perceptrons, self.n_features_in_ + 2)
