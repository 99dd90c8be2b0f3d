"""RBoost^proj (paper 1, Algorithm 2): boosting by projecting the weak learners' outputs."""

from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import Interval, StrOptions

from boostbench.algorithms.base import ColumnGenerationClassifier, Master
from boostbench.core.learners import Stumps
from boostbench.core.losses import LOSSES, get_loss
from boostbench.core.margins import pairwise_weights
from boostbench.core.projections import KINDS, random_matrix
from boostbench.core.solvers import nonnegative_l1
from boostbench.core.stumps import StumpSearch

# Candidates are scored in blocks of that many stumps, the most promising first.
_SCORE_BLOCK = 128


class RBoostProj(ColumnGenerationClassifier):
    r"""RBoost^proj (paper 1, Algorithm 2), totally corrective.

    The outputs H of the weak learners are projected by a random matrix :math:`P^{(r)}` for each
    class r, and the scores are :math:`F_r(x) = w^\top P^{(r)} H(x)`. After each new stump all n
    coefficients w are found anew, from

    .. math:: \min_{w \ge 0} \frac{1}{mk} \sum_{i,r} \lambda(\rho_{ir}) + \nu 1^\top w,
              \quad \rho_{ir} = w^\top (P^{(y_i)} - P^{(r)}) H(x_i)

    which is eq. (18), warm-started.

    Parameters
    ----------
    n_iterations : int, default=1000
        T of the paper: boosting rounds at most.
    n_projections : int, default=1000
        n of the paper: the number of coefficients.
    loss : {"logistic", "exponential"}, default="logistic"
        :math:`\lambda`.
    nu : float, default=1e-4
        Weight of the L1 norm of w.
    rule : {"paper", "greedy"}, default="paper"
        How the weak learner is chosen. ``"paper"``: the most violated dual constraint, eq. (24),
        over stumps and coefficients v. ``"greedy"``, an extension: the stump of the largest edge
        for the code ``w @ P[:, t]`` that it will receive.
    projection : {"gaussian", "sign"}, default="gaussian"
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
    hypotheses_ : boostbench.core.learners.Stumps
    coefficients_ : ndarray of shape (n_iterations_, n_classes)
        What a weak learner adds to the scores: ``sum_v w[v] P[v, t, r]``.
    objective_ : ndarray of shape (n_iterations_,)
        Eq. (18) after each round, the constant ``lambda(0) / k`` of the terms r = y_i included.

    References
    ----------
    .. [1] S. Paisitkriangkrai, C. Shen, Q. Shi and A. van den Hengel, "RandomBoost: Simplified
       multi-class boosting through randomization" (paper 1).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> RBoostProj(n_iterations=50, random_state=0).fit(X, y).score(X, y) > 0.95
    True
    """

    _parameter_constraints: ClassVar = {
        **ColumnGenerationClassifier._parameter_constraints,
        "n_projections": [Interval(Integral, 1, None, closed="left")],
        "loss": [StrOptions(set(LOSSES))],
        "nu": [Interval(Real, 0, None, closed="left")],
        "rule": [StrOptions({"paper", "greedy"})],
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
        self.projection = projection
        self.tol = tol
        self.solver_iterations = solver_iterations
        self.random_state = random_state

    def _master(self, X, labels, random_state):
        self.projection_seed_ = random_state.randint(2**31)
        return _ProjMaster(self, StumpSearch(X), labels, self._projection_columns())

    def _projection_columns(self):
        """Yield P[:, t], of shape (n_projections, n_classes), for t = 0, 1, ...

        The fitted model keeps the seed instead of P, which is many times larger than all else.
        """
        rng = np.random.default_rng(self.projection_seed_)
        shape = (self.n_projections, len(self.classes_))
        while True:
            yield random_matrix(self.projection, shape, rng) / np.sqrt(self.n_projections)

    def _keep(self, master):
        self.hypotheses_ = Stumps(master.stumps)
        self.coefficients_ = master.codes()
        self.objective_ = np.array(master.objective)
        self.weight_path_ = sparse.csr_array(np.reshape(master.path, (-1, self.n_projections)))
        self.n_parameters_ = 2 * len(self.hypotheses_) + self.coefficients_.size

    def _staged_scores(self, X, stages):
        stages = list(stages)
        if stages == [self.n_iterations_]:
            yield self.hypotheses_.outputs(X) @ self.coefficients_
            return
        outputs = self.hypotheses_.outputs(X)
        columns = self._projection_columns()
        projections = [next(columns) for _ in range(self.n_iterations_)]
        shape = (self.n_iterations_, self.n_projections, len(self.classes_))
        projections = np.reshape(projections, shape)
        for stage in stages:
            w = self.weight_path_[[stage - 1]]
            codes = np.einsum("tvr,v->tr", projections[:stage, w.indices], w.data)
            yield outputs[:, :stage] @ codes


class _ProjMaster(Master):
    def __init__(self, params, search, labels, projection_columns):
        self.params = params
        self.loss = get_loss(params.loss)
        self.select = _RULES[params.rule]
        self.search = search
        n_samples, n_classes = len(search.X), len(params.classes_)
        self.own = labels[:, None] == np.arange(n_classes)
        self.next_column = projection_columns
        # Rows grow to the right: one row of P holds the projections of all weak learners so far.
        self.P = np.empty((params.n_projections, params.n_iterations * n_classes), np.float32)
        self.H = np.empty((n_samples, params.n_iterations), np.float32)
        self.stumps = []
        self.objective = []
        self.path = []
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
        n_columns, n_classes = len(self.stumps), self.own.shape[1]
        return (self.w.astype(np.float32) @ self._active_P()).reshape(n_columns, n_classes)

    def _active_P(self):
        return self.P[:, : len(self.stumps) * self.own.shape[1]]

    def generate(self):
        if not self.search.n_positions:
            return None
        projection = next(self.next_column)
        edges = self.search.edges(self.weights)
        position, polarity = self.select(edges, projection, self.violation, self.w)
        return self.search.stump(position, polarity), projection

    def correct(self, column):
        stump, projection = column
        n_classes = self.own.shape[1]
        t = len(self.stumps)
        self.stumps.append(stump)
        self.H[:, t] = stump(self.search.X)
        self.P[:, t * n_classes : (t + 1) * n_classes] = projection
        P, H = self._active_P(), self.H[:, : t + 1]

        def smooth(w):
            codes = (w.astype(np.float32) @ P).reshape(t + 1, n_classes)
            value, self.weights = self._evaluate_weights((H @ codes).astype(np.float64))
            slope = H.T @ self.weights.astype(np.float32)
            self.violation = P @ slope.ravel()
            return value, -self.violation.astype(np.float64)

        self.w, value = nonnegative_l1(
            smooth, self.w, self.params.nu, self.params.solver_iterations
        )
        smooth(self.w)
        self.path.append(self.w)
        self.objective.append(value)
        if t == 0:
            return True
        return abs(self.objective[-2] - value) >= self.params.tol * abs(self.objective[-2])


def _most_violated(edges, projection, violation, w):
    """Stump of the largest ``max_v violation[v] + |edges[q] @ projection[v]|`` (eq. (24)).

    A stump of row norm s scores at most ``violation[v] + s |projection[v]|`` with v. So stumps are
    scored in the order of their norms, only with those v that may beat the best so far, until there
    is none.
    """
    norms = np.sqrt(np.einsum("qr,qr->q", edges, edges))
    reach = np.sqrt(np.einsum("vr,vr->v", projection, projection))
    order = norms.argsort()[::-1]
    best, position, polarity = -np.inf, 0, 1
    for start in range(0, len(order), _SCORE_BLOCK):
        block = order[start : start + _SCORE_BLOCK]
        hopeful = np.flatnonzero(violation + norms[block[0]] * reach > best)
        if not len(hopeful):
            break
        gains = edges[block] @ projection[hopeful].T
        scores = np.abs(gains)
        scores += violation[hopeful]
        q, v = divmod(int(scores.argmax()), len(hopeful))
        if scores[q, v] > best:
            best, position, polarity = scores[q, v], block[q], 1 if gains[q, v] >= 0 else -1
    return position, polarity


def _largest_edge(edges, projection, violation, w):
    """Stump of the largest edge for the code it will receive; eq. (24) while w is 0."""
    code = w @ projection
    if not code.any():
        return _most_violated(edges, projection, violation, w)
    gains = edges @ code.astype(np.float32)
    position = int(np.abs(gains).argmax())
    return position, 1 if gains[position] >= 0 else -1


_RULES = {"paper": _most_violated, "greedy": _largest_edge}
