"""RBoost^proj (RandomBoost, Algorithm 2): boosting by projecting weak learners' outputs."""

from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from boostbench.algorithms.base import BoostingClassifier, Master, TotallyCorrective
from boostbench.core.coefficient_path import CoefficientPath
from boostbench.core.losses.margin import LOSSES, get_loss
from boostbench.core.losses.pairwise import pairwise_weights
from boostbench.core.projections import KINDS, random_matrix
from boostbench.core.solvers.lbfgs import nonnegative_l1
from boostbench.core.weak.coded import CodedStumps
from boostbench.core.weak.discriminants import CodedDiscriminants

_WEAK_LEARNERS = {"stump": CodedStumps, "wlda": CodedDiscriminants}


class RBoostProj(TotallyCorrective, BoostingClassifier):
    r"""RBoost^proj (RandomBoost, Algorithm 2), totally corrective.

    The outputs H of the weak learners are projected by a random matrix :math:`P^{(r)}` for each
    class r, and the scores are :math:`F_r(x) = w^\top P^{(r)} H(x)`. After each new weak learner
    all n coefficients w are found anew, from

    .. math:: \min_{w \ge 0} \frac{1}{mk} \sum_{i,r} \lambda(\rho_{ir}) + \nu 1^\top w,
              \quad \rho_{ir} = w^\top (P^{(y_i)} - P^{(r)}) H(x_i)

    which is eq. (18), warm-started.

    Parameters
    ----------
    n_iterations : int, default=1000
        T of RandomBoost: boosting rounds at most.
    n_projections : int, default=1000
        n of RandomBoost: the number of coefficients.
    loss : {"logistic", "exponential"}, default="logistic"
        :math:`\lambda`.
    nu : float, default=1e-4
        Weight of the L1 norm of w.
    rule : {"paper", "greedy"}, default="paper"
        How the weak learner is chosen. ``"paper"``: the most violated dual constraint, eq. (24),
        over weak learners and coefficients v. ``"greedy"``, an extension: the weak learner of the
        largest edge for the code ``w @ P[:, t]`` that it will receive.
    weak_learner : {"stump", "wlda"}, default="stump"
        ``"wlda"``: for each coefficient, the best stump on the weighted linear discriminant of its
        two-class problem (Table VI).
    positive : bool, default=True
        False, an extension: w may have any sign, with the L1 norm :math:`\nu |w|_1`. That is eq.
        (18) with the rows of -P beside those of P, of 2n coefficients.
    projection : {"gaussian", "sign", "sparse"}, default="gaussian"
        Entries of P before the factor 1 / sqrt(n).
    tol : float, default=1e-3
        :math:`\epsilon` of step 2: training ends where the objective changes by less than this
        part of itself. 0 goes on to `n_iterations`.
    solver_iterations : int, default=100
        L-BFGS-B iterations per round at most.
    random_state : int, RandomState instance or None, default=None
        Seed of the projections.

    Attributes
    ----------
    hypotheses_ : boostbench.core.weak.stumps.Stumps or boostbench.core.weak.linear.Perceptrons
    coefficients_ : ndarray of shape (n_iterations_, n_classes)
        What a weak learner adds to the scores: ``sum_v w[v] P[v, t, r]``.
    objective_ : ndarray of shape (n_iterations_,)
        Eq. (18) after each round, the constant ``lambda(0) / k`` of the terms r = y_i included.
    converged_ : ndarray of shape (n_iterations_,), dtype=bool
        Whether L-BFGS-B came to its end in each round, or stopped at `solver_iterations`.
    weight_path_ : scipy.sparse.csr_array of shape (n_iterations_, n_projections)
        w after each round.

    Notes
    -----
    With RandomBoost's 100 iterations L-BFGS-B rarely comes to the minimum of eq. (18), as
    `converged_` says. On vowel, with the logistic loss and the first 20 rounds, the objective is up
    to 0.1 % above it for :math:`\nu = 10^{-4}`, which is `tol`, and up to 1.4 % for
    :math:`10^{-5}`. For a smaller :math:`\nu` it ends early: its tolerance of the gradient, 1e-5,
    is not below :math:`\nu`.

    References
    ----------
    .. [1] S. Paisitkriangkrai, C. Shen, Q. Shi and A. van den Hengel, "RandomBoost: Simplified
       multi-class boosting through randomization" (RandomBoost).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> RBoostProj(n_iterations=50, random_state=0).fit(X, y).score(X, y) > 0.95
    True
    """

    _parameter_constraints: ClassVar = {
        **BoostingClassifier._parameter_constraints,
        "n_projections": [Interval(Integral, 1, None, closed="left")],
        "loss": [StrOptions(set(LOSSES))],
        "nu": [Interval(Real, 0, None, closed="left")],
        "rule": [StrOptions({"paper", "greedy"})],
        "weak_learner": [StrOptions(set(_WEAK_LEARNERS))],
        "positive": ["boolean"],
        "projection": [StrOptions(set(KINDS))],
        "tol": [Interval(Real, 0, None, closed="left")],
        "solver_iterations": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_iterations=1000,
        n_projections=1000,
        loss="logistic",
        nu=1e-4,
        rule="paper",
        weak_learner="stump",
        positive=True,
        projection="gaussian",
        tol=1e-3,
        solver_iterations=100,
        random_state=None,
    ):
        self.n_iterations = n_iterations
        self.n_projections = n_projections
        self.loss = loss
        self.nu = nu
        self.rule = rule
        self.weak_learner = weak_learner
        self.positive = positive
        self.projection = projection
        self.tol = tol
        self.solver_iterations = solver_iterations
        self.random_state = random_state

    def _master(self, X, labels, random_state):
        self.projection_seed_ = random_state.randint(2**31)
        search = _WEAK_LEARNERS[self.weak_learner](X)
        return _ProjMaster(self, search, labels)

    def projection_columns(self):
        """Yield P[:, t], of shape (n_projections, n_classes), for t = 0, 1, ...

        The fitted model keeps the seed instead of P, which is many times larger than all else.
        """
        rng = np.random.default_rng(self.projection_seed_)
        shape = (self.n_projections, len(self.classes_))
        while True:
            yield random_matrix(self.projection, shape, rng) / np.sqrt(self.n_projections)

    def _keep(self, master):
        self.hypotheses_ = master.search.stack(master.hypotheses)
        self.coefficients_ = master.codes()
        self.objective_ = np.array(master.objective)
        self.converged_ = np.array(master.converged, dtype=bool)
        self.weight_path_ = master.path.matrix(self.n_projections)
        per_round = master.search.size + len(self.classes_)
        self.n_parameters_ = self.n_iterations_ * per_round

    def _staged_coefficients(self, stages):
        columns = self.projection_columns()
        projections = [next(columns) for _ in range(self.n_iterations_)]
        shape = (self.n_iterations_, self.n_projections, len(self.classes_))
        projections = np.reshape(projections, shape)
        for stage in stages:
            w = self.weight_path_[[stage - 1]]
            yield np.einsum("tvr,v->tr", projections[:stage, w.indices], w.data)


class _ProjMaster(Master):
    def __init__(self, params, search, labels):
        super().__init__(params, search)
        self.loss = get_loss(params.loss)
        self.minimise = nonnegative_l1 if params.positive else _free_l1
        n_samples, n_classes = len(search.X), len(params.classes_)
        self.own = labels[:, None] == np.arange(n_classes)
        self.projection_columns = params.projection_columns()
        # Rows grow to the right: one row of P holds the projections of all weak learners so far.
        self.P = np.empty((params.n_projections, params.n_iterations * n_classes), np.float32)
        self.H = np.empty((n_samples, params.n_iterations), np.float32)
        self.hypotheses = []
        self.objective = []
        self.converged = []
        self.path = CoefficientPath()
        self.w = np.zeros(params.n_projections)
        self.violation = np.zeros(params.n_projections, np.float32)
        self.weights = self._evaluate_weights(np.zeros((n_samples, n_classes)))[1]

    def _evaluate_weights(self, scores):
        """Return the smooth part of eq. (18) and its dual variables as weak-learner weights."""
        margins = scores[self.own][:, None] - scores
        value, dual = self.loss.value_and_dual(margins)
        dual[self.own] = 0.0
        return value.mean(), pairwise_weights(dual / dual.size, self.own)

    def codes(self):
        """What each weak learner adds to the scores, of shape (n_columns, n_classes)."""
        n_columns, n_classes = len(self.hypotheses), self.own.shape[1]
        return (self.w.astype(np.float32) @ self._active_P()).reshape(n_columns, n_classes)

    def _active_P(self):
        return self.P[:, : len(self.hypotheses) * self.own.shape[1]]

    def generate(self):
        projection = next(self.projection_columns)
        found = self._select(projection)
        return None if found is None else (found, projection)

    def _select(self, projection):
        code = (self.w @ projection).astype(np.float32)
        if self.params.rule == "greedy" and code.any():
            return self.search.best(self.weights, code[None], np.zeros(1, np.float32))
        if self.params.positive:
            return self.search.best(self.weights, projection, self.violation)
        # Of the rows v of P and -P, the one whose constraint is nearer comes first with any h: what
        # h adds to one of them, -h adds to the other.
        sign = np.where(self.violation < 0, np.float32(-1), np.float32(1))
        return self.search.best(self.weights, sign[:, None] * projection, np.abs(self.violation))

    def correct(self, column):
        found, projection = column
        n_classes = self.own.shape[1]
        t = len(self.hypotheses)
        self.hypotheses.append(found.learner)
        self.H[:, t] = found.outputs
        self.P[:, t * n_classes : (t + 1) * n_classes] = projection
        P, H = self._active_P(), self.H[:, : t + 1]

        def smooth(w):
            codes = (w.astype(np.float32) @ P).reshape(t + 1, n_classes)
            value, self.weights = self._evaluate_weights((H @ codes).astype(np.float64))
            slope = H.T @ self.weights.astype(np.float32)
            self.violation = P @ slope.ravel()
            return value, -self.violation.astype(np.float64)

        limits = self.params.nu, self.params.solver_iterations
        self.w, value, converged = self.minimise(smooth, self.w, *limits)
        smooth(self.w)
        self.path.append(self.w)
        self.objective.append(value)
        self.converged.append(converged)
        if t == 0:
            return True
        return abs(self.objective[-2] - value) >= self.params.tol * abs(self.objective[-2])


def _free_l1(smooth, start, nu, max_iter):
    """Minimise ``f(w) + nu * abs(w).sum()`` as `nonnegative_l1` does, over w of any sign.

    The positive and the negative part of w are the coefficients.
    """

    def smooth_of_parts(parts):
        value, gradient = smooth(np.subtract(*np.split(parts, 2)))
        return value, np.concatenate([gradient, -gradient])

    parts = np.concatenate([np.maximum(start, 0), np.maximum(-start, 0)])
    parts, value, converged = nonnegative_l1(smooth_of_parts, parts, nu, max_iter)
    positive, negative = np.split(parts, 2)
    # What is in both parts adds to the norm only, where the solver stopped early.
    value -= 2 * nu * np.minimum(positive, negative).sum()
    return positive - negative, value, converged
