"""LPBoost: linear programs over the weak learners found so far, by column generation."""

from numbers import Real
from typing import ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from boostbench.algorithms.base import BoostingClassifier, Master, TotallyCorrective
from boostbench.core.coefficient_path import CoefficientPath, coefficients_at
from boostbench.core.solvers.soft_margin import SoftMarginProgram
from boostbench.core.weak.stumps import Stumps, StumpSearch

# The constraints may be violated by this much, which is what HiGHS solves to.
_TOLERANCE = 1e-6


class LPBoost(TotallyCorrective, BoostingClassifier):
    r"""LPBoost with stumps, for two classes: a soft margin and the L1 norm.

    The score is :math:`F(x) = \sum_j w_j h_j(x)`, :math:`w \ge 0`. After each new stump all
    coefficients are found from eq. (4) of [1]_,

    .. math:: \min_{w \ge 0, \xi \ge 0} \|w\|_1 + C \sum_i \xi_i
              \quad\text{s.t.}\quad y_i F(x_i) \ge 1 - \xi_i,

    and the next stump is that of the most violated constraint of the dual program, eq. (5),

    .. math:: \max_h \sum_i y_i \alpha_i h(x_i) \le 1, \quad 0 \le \alpha_i \le C.

    Where none is violated, w solves the program over all stumps and their negatives, and training
    ends. There is no bias.

    Parameters
    ----------
    n_iterations : int, default=500
        Stumps at most.
    C : float, default=1.0
        Weight of the margin errors. With n samples, no stump is worth its coefficient where C is
        below 1 / n: the model is empty.
    random_state : int, RandomState instance or None, default=None
        Unused: the algorithm is deterministic.

    Attributes
    ----------
    hypotheses_ : boostbench.core.weak.stumps.Stumps
    coefficients_ : ndarray of shape (n_iterations_,)
        w after the last round; many are 0.
    weight_path_ : scipy.sparse.csr_array of shape (n_iterations_, n_iterations_)
        w after each round, row by row.
    objective_ : ndarray of shape (n_iterations_,)
        Of eq. (4) after each round.
    dual_ : ndarray of shape (n_samples,)
        :math:`\alpha` after the last round.

    Raises
    ------
    RuntimeError
        By `fit`, where HiGHS does not solve a linear program.

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

    _parameter_constraints: ClassVar = {
        **BoostingClassifier._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="neither")],
    }

    # The stages of a fit are fits of fewer rounds; see `boostbench.experiment.tuning`.
    staged_parameter: ClassVar = "n_iterations"

    def __init__(self, n_iterations=500, C=1.0, random_state=None):
        self.n_iterations = n_iterations
        self.C = C
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _target(self, y):
        return 2.0 * super()._target(y) - 1.0

    def _master(self, X, signs, random_state):
        return _LPBoostMaster(self, StumpSearch(X), signs)

    def _keep(self, master):
        self.hypotheses_ = Stumps(master.learners)
        self.coefficients_ = master.program.coefficients
        self.weight_path_ = master.path.matrix(len(self.coefficients_))
        self.objective_ = np.array(master.objective)
        self.dual_ = master.program.dual
        # Feature, threshold and coefficient, whose sign is the polarity.
        self.n_parameters_ = 3 * np.count_nonzero(self.coefficients_)

    def _staged_coefficients(self, stages):
        for stage in stages:
            yield coefficients_at(self.weight_path_, stage, self.coefficients_.shape)[:stage]


class _LPBoostMaster(Master):
    def __init__(self, params, search, signs):
        super().__init__(params, search)
        self.signs = signs
        self.program = SoftMarginProgram(len(signs), params.C)
        self.learners = []
        self.path = CoefficientPath()
        self.objective = []

    def generate(self):
        found = self.search.best((self.signs * self.program.dual)[:, None])
        return found if found is not None and found.edge > 1.0 + _TOLERANCE else None

    def correct(self, found):
        self.program.add(self.signs * found.outputs)
        self.learners.append(found.learner)
        self.path.append(self.program.coefficients)
        self.objective.append(self.program.value)
        return True
