"""Boosting by programs of the margins, for two classes: LPBoost, NM-Boost and ERLPBoost.

A round adds the weak learner with the largest edge for the dual variables, and solves the program
again for all coefficients. The programs are in `boostbench.core.solvers`; `MarginMaster` and
`MarginBooster` are common to the three algorithms.
"""

import warnings
from abc import abstractmethod
from typing import ClassVar, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from boostbench.algorithms.base.booster import TabularBooster
from boostbench.algorithms.base.estimators import (
    BinaryClassifier,
    NoEarlyStoppingMixin,
    TotallyCorrective,
)
from boostbench.algorithms.base.master import MIN_EDGE, Master
from boostbench.algorithms.base.parameters import (
    FractionOrOne,
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
)
from boostbench.core.coefficient_path import CoefficientPath
from boostbench.core.learners.perceptrons import Perceptrons
from boostbench.core.learners.random_features import SignedPerceptronSearch
from boostbench.core.solvers.entropy_margin import EntropyMarginProgram
from boostbench.core.solvers.linear_programs import NegativeMarginProgram, SoftMarginProgram
from boostbench.core.stumps.search import StumpSearch
from boostbench.core.stumps.stump import Stumps

# Fraction of the sum of the coefficients below which a score is 0. The coefficients of linear
# programs are often simple fractions, which cancel up to rounding.
_SCORE_TOLERANCE = 1e-9

# Excess of an edge over 1 that LPBoost ignores: ten times the feasibility tolerance of HiGHS, 1e-7,
# up to which the constraints of the weak learners in the program are violated as well.
_EDGE_TOLERANCE = 1e-6

# Largest duality gap of a solved program of ERLPBoost, as a fraction of epsilon.
_MAX_RELATIVE_GAP = 1e-3


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

    Attributes
    ----------
    learners : list
        Weak learner of each round.
    path : CoefficientPath
        Coefficients after each round.
    objective : list of float
        Value of the program after each round.
    """

    def __init__(self, params, search, signs, program):
        super().__init__(params, search)
        self.signs = signs
        self.program = program
        self.learners = []
        self.path = CoefficientPath()
        self.objective = []

    def edge_threshold(self):
        """Return the edge above which a weak learner can improve the program.

        It is the largest edge of the earlier weak learners, the bound of the dual constraints.
        """
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
    """Base of LPBoost, NMBoost and ERLPBoost: ``F(x) = sum_j w_j h_j(x)`` with ``w >= 0``.

    A subclass has a method `_make_program` and, if `MarginMaster` does not suffice, another
    `_master_class`.
    """

    # Number of the version of the results, see `Booster`.
    edition = 2

    n_iterations: PositiveInt = 500

    # Each stage of a fit equals a fit with fewer rounds; see `boostbench.fitting.tuning`.
    staged_parameter: ClassVar = "n_iterations"

    _master_class: ClassVar = MarginMaster

    @abstractmethod
    def _make_program(self, weights):
        """Return the program for samples with positive weights."""

    def _make_search(self, X, random_state):
        """Return the search for weak learners; subclasses with others than stumps override it."""
        return StumpSearch(X)

    def _make_master(self, X, signs, random_state, weights=None):
        weights = np.ones(len(signs)) if weights is None else weights
        search = self._make_search(X, random_state)
        return self._master_class(self, search, signs, self._make_program(weights))

    def _store_model(self, master, stack=Stumps, n_parameters_per_learner=3):
        """Store the model; see `Booster._store_model`.

        Parameters
        ----------
        master : MarginMaster
        stack : type, default=Stumps
            Class of the stack of the weak learners.
        n_parameters_per_learner : int, default=3
            Numbers that a weak learner needs for predictions. A stump has a feature, a threshold,
            and a coefficient whose sign is the polarity.
        """
        self.hypotheses_ = stack(master.learners)
        self.coefficients_ = master.program.coefficients
        self.weight_path_ = master.path.matrix(len(self.coefficients_))
        self.objective_ = np.array(master.objective)
        self.dual_ = master.program.dual
        n_used = int(np.count_nonzero(self.coefficients_))
        self.n_parameters_ = n_parameters_per_learner * n_used

    def score_slack(self):
        """Return the rounding error of a score; see `BoostingClassifier.score_slack`."""
        return _SCORE_TOLERANCE * self.coefficients_.sum()


class _LPBoostMaster(MarginMaster):
    """Master of `LPBoost`, in whose dual program no edge may exceed 1."""

    def edge_threshold(self):
        """Return 1 plus a tolerance; see `MarginMaster.edge_threshold`."""
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
        """True if X may have missing values and categories: only stumps accept them."""
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


class NMBoost(MarginBooster):
    r"""NM-Boost for two classes: maximise the sum of margins, with extra weight on negative ones.

    The score is :math:`F(x) = \sum_j w_j h_j(x)`, :math:`w \ge 0` and :math:`\sum_j w_j = 1`, with
    margins :math:`\rho_i = y_i F(x_i)`. After each new stump all coefficients are the solution of

    .. math:: \max_w \sum_i (\rho^-_i + C \rho_i), \quad \rho^-_i = \min(0, \rho_i - \tau),

    where :math:`\tau = 1 / J` with J stumps, and 1 / 2 with the first one, whose coefficient is 1
    in any case. The next stump violates the constraint of the dual program most:

    .. math:: \max_{0 \le u \le 1} \tau \sum_i u_i - \gamma \quad\text{s.t.}\quad
              \sum_i (u_i + C) y_i h(x_i) \le \gamma.

    Training ends if no constraint is violated. With a fixed :math:`\tau`, w then solves the program
    over all stumps and their negatives. There is no bias. The dual program differs from LPBoost's
    in its bounds only, and HiGHS's dual simplex method starts from the last solution.

    Parameters
    ----------
    n_iterations : int, default=500
        Maximum number of stumps.
    C : float, default=0.01
        Weight of the margins relative to the negative margins.
    margin : float or None, default=None
        Threshold :math:`\tau` below which a margin counts as negative, at most 1; None: 1 / J.

    Attributes
    ----------
    hypotheses_, coefficients_, weight_path_
        See `LPBoost`.
    objective_ : ndarray of shape (n_iterations_,)
        Minus the maximum divided by the number of samples, after each round.
    dual_ : ndarray of shape (n_samples,)
        Dual variables :math:`u + C` after the last round, times the sample weights, which are
        scaled to mean 1.

    Raises
    ------
    RuntimeError
        If HiGHS does not solve a linear program in `fit`.

    References
    ----------
    .. [1] F. Akkerman, J. Ferry, C. Artigues, E. Hebrard and T. Vidal, "Boosting revisited:
       benchmarking and advancing LP-based ensemble methods", TMLR 2025, as in their library
       colboost.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> NMBoost(n_iterations=30).fit(X, y).score(X, y) > 0.9
    True
    """

    C: PositiveFloat = 0.01
    margin: FractionOrOne | None = None

    def _make_program(self, weights):
        return NegativeMarginProgram(weights, self.C, self.margin)


class _ERLPBoostMaster(MarginMaster):
    """Master of `ERLPBoost`, which ends if no stump can change the value by more than `tol`.

    Attributes
    ----------
    tol : float
        Tolerance of the value.
    bound : float
        Upper bound on the value of the program over all stumps.
    largest_gap : float
        Largest duality gap of a program that was solved.
    """

    def __init__(self, params, search, signs, program):
        super().__init__(params, search, signs, program)
        self.tol = params.epsilon / 2 if params.tol is None else params.tol
        self.bound = np.inf
        self.largest_gap = 0.0

    def generate(self):
        """Return the stump of the largest edge, or None at the end; see `Master.generate`."""
        result = super().generate()
        # The program over all stumps minimises the largest edge plus the relative entropy. The
        # present d is a feasible point, so that its value is an upper bound on the minimum.
        edge = self.program.edge if result is None else result.edge
        self.bound = min(self.bound, edge + self.program.divergence)
        return None if self.bound - self.program.value <= self.tol else result

    def correct(self, result):
        """Solve the program with one more stump; see `Master.correct`."""
        progress = super().correct(result)
        # The program maximises its value; `objective_` is minimised, as for all boosters.
        self.objective[-1] = -self.program.value
        self.largest_gap = max(self.largest_gap, self.program.gap)
        return progress

    def finish(self):
        """Warn if Newton's method left a duality gap; see `Master.finish`."""
        if self.largest_gap > _MAX_RELATIVE_GAP * self.params.epsilon:
            warnings.warn(
                "Newton's method did not solve all programs of ERLPBoost: some soft margin may be "
                f"{self.largest_gap:.1e} larger; a larger epsilon makes them easier",
                ConvergenceWarning,
                stacklevel=2,
            )


class ERLPBoost(MarginBooster):
    r"""Entropy regularised LPBoost for two classes.

    The score is :math:`F(x) = \sum_j w_j h_j(x)`, :math:`w \ge 0` and :math:`\sum_j w_j = 1`. After
    each new stump the distribution d over the samples solves

    .. math:: \min_d \max_j \sum_i d_i y_i h_j(x_i) + \frac1\eta \sum_i d_i \ln \frac{d_i}{d^0_i}
              \quad\text{s.t.}\quad \sum_i d_i = 1, \; 0 \le d_i \le \frac{d^0_i}{\nu},

    where :math:`d^0` are the sample weights, of sum 1, and w are the multipliers of the edges.
    Without the relative entropy its value is the soft margin of LPBoost, the maximum of

    .. math:: \rho - \frac1\nu \sum_i d^0_i \max(0, \rho - y_i F(x_i)).

    The relative entropy raises the value by at most :math:`\ln(1 / \nu) / \eta`, which is half of
    `epsilon` for the :math:`\eta` of [1]_,

    .. math:: \eta = \max\Bigl(\frac12, \frac2\epsilon \ln \frac1\nu\Bigr).

    The next stump has the largest edge. Training ends if no stump can change the value by more than
    `tol`. If `tol` is half of `epsilon`, the number of rounds is at most of the order of
    :math:`\ln(1 / \nu) / \epsilon^2`, and the soft margin is within `epsilon` of the largest [1]_.
    There is no bias.

    Parameters
    ----------
    n_iterations : int, default=500
        Maximum number of stumps.
    nu : float, default=0.1
        Minimum fraction :math:`\nu` of the samples over which d is spread, in (0, 1]; about this
        fraction of the samples may violate the margin.
    epsilon : float, default=0.01
        Maximum error :math:`\epsilon` of the soft margin.
    tol : float or None, default=None
        Tolerance of the stopping rule; None: half of `epsilon`.

    Attributes
    ----------
    hypotheses_, coefficients_, weight_path_
        See `LPBoost`.
    objective_ : ndarray of shape (n_iterations_,)
        Minus the value after each round.
    dual_ : ndarray of shape (n_samples,)
        Distribution d after the last round.
    bound_ : float
        Lower bound on `objective_` for the program over all stumps.

    Warns
    -----
    ConvergenceWarning
        If Newton's method does not solve a program in `fit`.

    References
    ----------
    .. [1] M. K. Warmuth, K. A. Glocer and S. V. N. Vishwanathan, "Entropy regularized LPBoost",
       ALT 2008.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ERLPBoost(n_iterations=30).fit(X, y).score(X, y) > 0.95
    True
    """

    nu: FractionOrOne = 0.1
    epsilon: PositiveFloat = 0.01
    tol: NonNegativeFloat | None = None

    _master_class: ClassVar = _ERLPBoostMaster

    def _make_program(self, weights):
        eta = max(0.5, 2 / self.epsilon * np.log(1 / self.nu))
        return EntropyMarginProgram(weights, self.nu, eta)

    def _store_model(self, master):
        super()._store_model(master)
        self.bound_ = -master.bound
