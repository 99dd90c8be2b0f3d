r"""RBoost^rank (RandomBoost, Algorithm 1): boosting by ranking on randomly projected data.

`RBoostRank` fits one coefficient per round, `RBoostRankTC` all coefficients. A *pair* (i, r) is a
sample and a class other than its own; :math:`\delta h` is the output of a weak learner for the
projection of the own class minus its output for the projection of class r.
"""

from typing import Literal, NamedTuple

import numpy as np

from boostbench.algorithms.base.estimators import (
    BoostingClassifier,
    NoEarlyStoppingMixin,
    TotallyCorrective,
    warn_unsolved,
)
from boostbench.algorithms.base.master import MAX_EDGE, MIN_EDGE, Master
from boostbench.algorithms.base.parameters import (
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    TwoOrMore,
)
from boostbench.core.coefficient_path import CoefficientPath
from boostbench.core.learners.discriminants import ProjectedDiscriminantSearch
from boostbench.core.learners.projected_stumps import (
    IndependentProjectionSearch,
    PooledProjectionSearch,
    ProjectedStump,
    ProjectedStumps,
)
from boostbench.core.losses.objective import LOSSES, get_loss
from boostbench.core.losses.restricted_problems import (
    LimitedLogSumExp,
    LogSumExp,
    RankingLoss,
    SumOfLosses,
    pairwise_weights,
)
from boostbench.core.solvers.lbfgs import SOLVERS

# Largest derivative that violates the optimality conditions at the end of a solve, for both
# solvers: L-BFGS-B's "pgtol", which the paper calls the accuracy of the line search.
_SOLVER_TOLERANCE = 1e-5


class _RankBooster(NoEarlyStoppingMixin, BoostingClassifier):
    """Base of `RBoostRank`, which describes the parameters, and `RBoostRankTC`."""

    edition = 3

    n_projections: PositiveInt = 20000
    projections: Literal["independent", "pooled"] = "independent"
    pool_size: PositiveInt = 1000
    n_bins: TwoOrMore = 32
    weak_learner: Literal["stump", "wlda"] = "stump"
    n_selected: PositiveInt = 1000

    def _make_search(self, X, random_state):
        """Return the search for projected stumps, with discriminants if `weak_learner` asks."""
        rng = np.random.default_rng(random_state.randint(2**31))
        settings = (X, len(self.classes_), self.n_projections, self.n_bins, rng)
        if self.projections == "independent":
            search = IndependentProjectionSearch(*settings)
        else:
            search = PooledProjectionSearch(*settings, self.pool_size)
        if self.weak_learner == "wlda":
            return ProjectedDiscriminantSearch(
                search, X, n_projections=self.n_projections, n_selected=self.n_selected, rng=rng
            )
        return search

    def _store_model(self, master):
        """Store the model; see `Booster._store_model`."""
        shape = (len(master.stumps), len(self.classes_), self.n_features_in_)
        directions = [stump.directions for stump in master.stumps]
        self.hypotheses_ = ProjectedStumps(
            np.reshape(directions, shape),
            [stump.threshold for stump in master.stumps],
            [stump.polarity for stump in master.stumps],
        )
        self.coefficients_ = np.array(master.coefficients)
        self.n_parameters_ = self.hypotheses_.directions.size + 2 * len(self.hypotheses_)


class RBoostRank(_RankBooster):
    r"""RBoost^rank, stage-wise: RandomBoost, Algorithm 1 with equation (8) or (9).

    The data are projected by a random matrix :math:`P^{(r)}` for each class r, and one score
    :math:`F(P^{(r)} x) = \sum_t w_t h_t(P^{(r)} x)` ranks the classes. A round minimises the
    exponential loss of the pairwise margins :math:`F(P^{(y_i)} x_i) - F(P^{(r)} x_i)` over the
    coefficient of one new weak learner. It is the stump with the largest edge, eq. (5), among
    `n_bins - 1` thresholds of each projected feature, 31 by default. The paper searches all
    thresholds.

    Parameters
    ----------
    n_iterations : int, default=1000
        Maximum number of boosting rounds, T of RandomBoost.
    n_projections : int, default=20000
        Number of projected features per class, n of RandomBoost.
    projections : {"independent", "pooled"}, default="independent"
        ``"independent"`` draws the matrices of RandomBoost. ``"pooled"`` draws the rows of all
        matrices from one pool of `pool_size` directions, which is several times as fast, and a
        different model.
    pool_size : int, default=1000
        Number of directions in the pool; used by ``projections="pooled"`` only.
    n_bins : int, default=32
        Number of bins of a projected feature. Its ``n_bins - 1`` thresholds are the quantiles of
        its n_samples * n_classes values. If there are as many bins as values, all thresholds are
        searched, as in the paper.
    weak_learner : {"stump", "wlda"}, default="stump"
        ``"stump"`` uses stumps on the projected features. ``"wlda"`` adds stumps on one weighted
        linear discriminant of `n_selected` projected features, which every round draws (Table VI).
    n_selected : int, default=1000
        Number of projected features in the discriminant; used by ``weak_learner="wlda"`` only.
    step : {"exact", "bound"}, default="exact"
        Rule of the coefficient. ``"exact"`` is eq. (8),
        :math:`w_t = \frac14 \log \frac{Q_+ + s}{Q_- + s}`. The smoothing s = 1 / (m (k - 1)), for
        weights that sum to 1, keeps it finite. ``"bound"`` minimises an upper bound of the loss, as
        eq. (9) does: with the edge b of :math:`\delta h / 2`,
        :math:`w_t = \frac14 \log \frac{1 + b}{1 - b}`.
    random_state : int, RandomState instance or None, default=None
        Seed of the projections.

    Attributes
    ----------
    hypotheses_ : boostbench.core.learners.projected_stumps.ProjectedStumps
    coefficients_ : ndarray of shape (n_iterations_,)
        Coefficients w.

    Notes
    -----
    Scale the features before the fit, since projections mix them.

    Eq. (9) rests on :math:`e^{-wh} \le \frac12 e^w (1 - h) + \frac12 e^{-w} (1 + h)`, which holds
    for h in [-1, 1]; but :math:`\delta h` is in [-2, 2]. With eq. (9) as printed, the loss grows.
    Therefore the bound is applied to :math:`e^{-w \delta h} = e^{-2w (\delta h / 2)}`. Its minimum
    over 2w has the factor :math:`\frac12` of eq. (9), so w has the factor :math:`\frac14`.

    References
    ----------
    .. [1] S. Paisitkriangkrai, C. Shen, Q. Shi and A. van den Hengel, "RandomBoost: Simplified
       multi-class boosting through randomization" (RandomBoost).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RBoostRank(n_iterations=50, n_projections=500, random_state=0)
    >>> model.fit(X, y).score(X, y) > 0.95
    True
    """

    step: Literal["exact", "bound"] = "exact"

    def inverse_temperature(self):
        """Return 2: with the exponential loss, F is half of the log-probabilities."""
        return 2.0

    def _make_master(self, X, labels, random_state):
        return _StageWiseMaster(self, self._make_search(X, random_state), labels)


class RBoostRankTC(TotallyCorrective, _RankBooster):
    r"""RBoost^rank, totally corrective (RandomBoost, Algorithm 1).

    The model is the same as for `RBoostRank`. After each new weak learner, all coefficients are
    refitted with a warm start. With the m (k - 1) pairs (i, r) for all r other than y_i, they solve
    eq. (2)

    .. math:: \min_{w \ge 0} \log \sum_{ir} e^{-\rho_{ir}} + \nu 1^\top w

    or eq. (12)

    .. math:: \min_{w \ge 0} \sum_{ir} \lambda(\rho_{ir}) + \nu 1^\top w

    with the margins :math:`\rho_{ir} = F(P^{(y_i)} x_i) - F(P^{(r)} x_i)`. The next weak learner
    has the largest edge :math:`\sum_{ir} u_{ir} \delta h_{ir}`, eqs. (5) and (17), with the dual
    variables u, eqs. (4) and (16). Training ends if no edge exceeds :math:`\nu + \epsilon`, since
    then no constraint of the dual problem is violated.

    Parameters
    ----------
    n_iterations : int, default=1000
        Maximum number of boosting rounds, T of RandomBoost.
    n_projections, projections, pool_size, n_bins, weak_learner, n_selected
        Same as for `RBoostRank`.
    loss : {"logistic", "exponential", "exponential_sum"}, default="logistic"
        ``"exponential"`` is eq. (2); the others are eq. (12), ``"exponential_sum"`` with
        :math:`\lambda(\rho) = e^{-\rho}`.
    nu : float, default=1e-4
        Weight of the L1 norm of w. Eq. (12) sums the losses, as printed, and does not average
        them; u has the same scale.
    unbounded : {"limit", "continue", "stop"}, default="limit"
        Handling of eq. (2) without a solution: if the smallest margin exceeds nu times the norm of
        w, multiples of w lower the objective without end (see Notes). ``"limit"`` limits the norm
        of w. ``"continue"`` follows RandomBoost: a solve ends at its limit of iterations.
        ``"stop"`` does the same, and ends the training once w proves that there is no solution.
    solver : {"lbfgs", "newton"} or None, default=None
        ``"lbfgs"`` is projected L-BFGS. It has the stopping rules of RandomBoost's L-BFGS-B and
        gives the same result on every machine. ``"newton"`` has the same optimum of eq. (12), and
        is more exact and several times as fast; it does not solve eq. (2), where the limit of
        iterations determines the result. None: ``"newton"`` for eq. (12), ``"lbfgs"`` for eq. (2).
        Both solvers stop at gradients below 1e-5. So with `nu` <= 1e-5 neither reaches the optimum,
        and models for different `nu` hardly differ.
    tol : float, default=1e-5
        Permitted violation :math:`\epsilon` of constraints in the stopping rule. With a value
        below the tolerance of the solver, 1e-5, training may select the same weak learner again.
    solver_iterations : int, default=100
        Maximum number of iterations of the solver per round.
    random_state : int, RandomState instance or None, default=None
        Seed of the projections.

    Attributes
    ----------
    hypotheses_ : boostbench.core.learners.projected_stumps.ProjectedStumps
    coefficients_ : ndarray of shape (n_iterations_,)
        Coefficients w after the last round.
    weight_path_ : scipy.sparse.csr_array of shape (n_iterations_, n_iterations_)
        Coefficients w after each round, row by row.
    objective_ : ndarray of shape (n_iterations_,)
        Objective after each round, including the term of ``unbounded="limit"``; it never rises.
    converged_ : ndarray of shape (n_iterations_,), dtype=bool
        True for rounds in which the solver converged before `solver_iterations`. If it did not
        converge in the last round, there is a `ConvergenceWarning`.
    dual_ : ndarray of shape (n_samples, n_classes)
        Dual variables u after the last round; 0 for r = y_i. In eq. (2) their sum is 1.
    unbounded_at_ : int or None
        First round after which w proved that eq. (2) has no solution. None: there is no such round.

    Notes
    -----
    Eq. (2) has no solution if there is a :math:`w \ge 0` with :math:`\min_{ir} \rho_{ir} > \nu
    1^\top w`. In that direction the objective is unbounded below, and the dual problem is
    infeasible. With RandomBoost's grid for :math:`\nu`, this happens as soon as the weak learners
    separate the training set: after 4 to 6 rounds on wine, after about 25 on glass. The training
    error is then 0, since all margins are positive.

    In such a problem the state of L-BFGS-B after 100 iterations is arbitrary. In most cases w
    becomes a huge multiple of one direction at once (norms of 1e25; steps that overflow are not
    taken), u is 0 except for one or two pairs, and all remaining rounds select the same weak
    learner and change nothing. In other cases w grows slowly, and every round takes all 100
    iterations. Therefore ``unbounded="limit"`` keeps the norm of w below 355, so that no
    :math:`e^{-\rho_{ir}}` overflows or underflows in double precision; see
    `boostbench.core.losses.restricted_problems.LimitedLogSumExp`.

    Eq. (12) has a solution for any :math:`\nu > 0`, also with the exponential loss. It solves
    eq. (2) with :math:`\nu / S` in place of :math:`\nu`, for the sum S of the losses. If the data
    are separable, :math:`\nu / S` is just below the largest margin per norm. The paper writes
    ":math:`\nu` in (12)" for both of its losses.

    References
    ----------
    .. [1] S. Paisitkriangkrai, C. Shen, Q. Shi and A. van den Hengel, "RandomBoost: Simplified
       multi-class boosting through randomization" (RandomBoost).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RBoostRankTC(n_iterations=50, n_projections=500, random_state=0)
    >>> model.fit(X, y).score(X, y) > 0.95
    True
    """

    edition = 5

    loss: Literal[*LOSSES, "exponential_sum"] = "logistic"
    nu: PositiveFloat = 1e-4
    unbounded: Literal["limit", "continue", "stop"] = "limit"
    solver: Literal[*SOLVERS] | None = None
    tol: NonNegativeFloat = 1e-5
    solver_iterations: PositiveInt = 100

    def _make_master(self, X, labels, random_state):
        """Check the parameters, and return the master; see `Booster._make_master`."""
        if self.loss == "exponential" and self.solver == "newton":
            raise ValueError(
                "solver='newton' is for eq. (12); loss='exponential' is eq. (2): set "
                "solver='lbfgs' or loss='exponential_sum'"
            )
        return _TotallyCorrectiveMaster(self, self._make_search(X, random_state), labels)

    def _store_model(self, master):
        """Store the model, with the path of the coefficients; see `Booster._store_model`."""
        super()._store_model(master)
        self.weight_path_ = master.path.matrix(len(master.stumps))
        self.objective_ = np.array(master.objective)
        self.dual_ = master.weights
        self.unbounded_at_ = master.unbounded_at
        self.converged_ = np.array(master.converged, dtype=bool)


class _RankedStump(NamedTuple):
    """Projected stump of a round.

    Attributes
    ----------
    stump : ProjectedStump
    delta_h : ndarray of shape (n_samples, n_classes)
        Difference delta h for each pair (i, r): the output of the stump for the class of sample i
        minus the output for class r.
    """

    stump: ProjectedStump
    delta_h: np.ndarray


class _RankMaster(Master):
    """Base of the masters: projected stumps, their coefficients, and the weights of the pairs.

    A subclass has the attribute `min_edge`. Training ends if no weak learner has a larger edge.

    Parameters
    ----------
    params, search
        Same as for `Master`.
    labels : ndarray of shape (n_samples,)
        Classes from 0 to n_classes - 1.

    Attributes
    ----------
    is_own_class, is_pair : ndarray of shape (n_samples, n_classes), dtype=bool
        Mask of the class of each sample, and mask of the pairs, its complement.
    weights : ndarray of shape (n_samples, n_classes)
        Dual variables u of the pairs; 0 elsewhere.
    stumps : list of ProjectedStump
    coefficients : list of float
    """

    def __init__(self, params, search, labels):
        super().__init__(params, search)
        self.is_own_class = labels[:, None] == np.arange(len(params.classes_))
        self.is_pair = ~self.is_own_class
        self.weights = self.is_pair / self.is_pair.sum()
        self.stumps = []
        self.coefficients = []

    def generate(self):
        r"""Return the weak learner with the largest edge, eq. (5).

        Returns
        -------
        _RankedStump or None
            None if no edge exceeds `min_edge`.
        """
        result = self.search.best(pairwise_weights(self.weights, self.is_own_class))
        delta_h = result.outputs[self.is_own_class][:, None] - result.outputs
        return _RankedStump(result.learner, delta_h) if result.edge > self.min_edge else None


class _StageWiseMaster(_RankMaster):
    """Master of `RBoostRank`: only the coefficient of the new stump is fitted.

    Attributes
    ----------
    step : callable
        Rule of the coefficient, an element of `_STEPS`.
    smoothing : float
        Weight s that keeps the coefficient of eq. (8) finite.
    """

    min_edge = MIN_EDGE

    def __init__(self, params, search, labels):
        super().__init__(params, search, labels)
        self.step = _STEPS[params.step]
        self.smoothing = 1.0 / self.is_pair.sum()

    def correct(self, ranked_stump):
        """Add the stump with its coefficient, and update the weights; see `Master.correct`."""
        stump, delta_h = ranked_stump
        w = self.step(self.weights, delta_h, self.smoothing)
        self.stumps.append(stump)
        self.coefficients.append(w)
        self.weights *= np.exp(-w * delta_h)
        self.weights /= self.weights.sum()
        return True


def _exact_step(weights, delta_h, smoothing):
    """Return the coefficient by eq. (8).

    Q+ and Q- are the weights of the pairs with delta h = 2 and delta h = -2, which the stump ranks
    correctly and wrongly. The coefficient w minimises their exponential loss, the sum of
    ``Q+ exp(-2 w)`` and ``Q- exp(2 w)``.

    Parameters
    ----------
    weights, delta_h : ndarray of shape (n_samples, n_classes)
        Weights of the pairs, and delta h.
    smoothing : float
        Addition s to both weights.

    Returns
    -------
    float
    """
    correct_weight, wrong_weight = weights[delta_h > 0].sum(), weights[delta_h < 0].sum()
    return 0.25 * np.log((correct_weight + smoothing) / (wrong_weight + smoothing))


def _bound_step(weights, delta_h, smoothing):
    """Return the coefficient by eq. (9), applied to half of delta h, which is in [-1, 1].

    See `_exact_step` for the parameters; smoothing is not used.
    """
    b = min((weights * delta_h).sum() / 2, MAX_EDGE)
    return 0.25 * np.log((1 + b) / (1 - b))


# Rule of the coefficient for each value of the parameter `step`.
_STEPS = {"exact": _exact_step, "bound": _bound_step}


class _TotallyCorrectiveMaster(_RankMaster):
    """Master of `RBoostRankTC`: all coefficients are fitted again in every round.

    Attributes
    ----------
    A : ndarray of shape (n_iterations, n_pairs)
        Row t holds delta h of stump t for the pairs (i, r) with r != y_i. The first ``len(stumps)``
        rows are valid.
    coefficients : ndarray of shape (n_stumps,)
        Coefficients w.
    value : float
        Objective of eq. (2) or (12) at w.
    min_edge : float
        Edge above which a stump violates its constraint of the dual problem.
    unbounded_at : int or None
        First round after which w proves that eq. (2) has no solution.
    solver : type
        Class of the solver, a value of `SOLVERS`.
    path : CoefficientPath
        Coefficients w after each round.
    objective : list of float
        Objective after each round.
    converged : list of bool
        Convergence of the solver in each round.
    """

    def __init__(self, params, search, labels):
        super().__init__(params, search, labels)
        self.A = np.empty((params.n_iterations, self.is_pair.sum()))
        self.path = CoefficientPath()
        self.objective = []
        self.converged = []
        self.unbounded_at = None
        default = "lbfgs" if params.loss == "exponential" else "newton"
        self.solver = SOLVERS[params.solver or default]
        self._set_solution(self._problem(), np.zeros(0))

    def _problem(self):
        """Return the loss as a function of the coefficients of the stumps so far."""
        A = self.A[: len(self.stumps)]
        if self.params.loss != "exponential":
            return RankingLoss(A, SumOfLosses(get_loss(self.params.loss.removesuffix("_sum"))))
        if self.params.unbounded == "limit":
            return LimitedLogSumExp(A)
        return RankingLoss(A, LogSumExp())

    def _set_solution(self, problem, w):
        """Store the coefficients, and set the weights of pairs to the dual variables (step 5)."""
        self.value = self._value(problem, w)
        self.coefficients = w
        self.weights = np.zeros(self.is_own_class.shape)
        self.weights[self.is_pair] = problem.dual
        # The dual constraint bounds an edge by nu, plus the slope of the term that limits the norm
        # of w in `LimitedLogSumExp` (0 for the other losses).
        self.min_edge = self.params.nu + problem.norm_slope + self.params.tol

    def _value(self, problem, w):
        """Return the objective at w, which becomes the current point of the problem."""
        return problem.move(w)[0] + self.params.nu * w.sum()

    def correct(self, ranked_stump):
        """Add the stump, and solve for all coefficients; see `Master.correct`."""
        stump, delta_h = ranked_stump
        self.A[len(self.stumps)] = delta_h[self.is_pair]
        self.stumps.append(stump)
        # 1) Solve from the coefficients of the previous round.
        problem = self._problem()
        start = np.append(self.coefficients, 0.0)
        # Steps grow until they overflow in a problem without a solution. A solution that is worse
        # than the start is not taken.
        with np.errstate(over="ignore", invalid="ignore"):
            solution = self.solver().minimise(
                problem,
                start,
                nu=self.params.nu,
                tol=_SOLVER_TOLERANCE,
                max_iter=self.params.solver_iterations,
            )
            is_better = self._value(problem, solution.w) < self.value
        # 2) Store the solution, and record the round.
        self._set_solution(problem, solution.w if is_better else start)
        self.converged.append(solution.converged)
        self.path.append(self.coefficients)
        self.objective.append(self.value)
        # 3) Note the first round in which eq. (2) has no solution.
        if self.unbounded_at is None and self._is_unbounded(problem):
            self.unbounded_at = len(self.stumps)
            return self.params.unbounded != "stop"
        return True

    def finish(self):
        """Warn if the last solve did not converge; see `Master.finish`."""
        warn_unsolved(self.params, self.converged)

    def _is_unbounded(self, problem):
        """Return True if w proves that eq. (2) has no solution; see the notes of `RBoostRankTC`."""
        norm = self.coefficients.sum()
        return self.params.loss == "exponential" and problem.margins.min() > self.params.nu * norm
