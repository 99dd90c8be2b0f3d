"""RBoost (paper 1): one vector of coefficients for all classes, by random projections."""

import numpy as np
from scipy import sparse

from boostbench.algorithms.base import ColumnGenerationClassifier, Master, spans
from boostbench.core.learners import ProjectedStumps, Stumps
from boostbench.core.losses import get_loss
from boostbench.core.projected_stumps import IndependentProjections, PooledProjections
from boostbench.core.projections import random_matrix
from boostbench.core.solvers import nonnegative_l1
from boostbench.core.stumps import StumpSearch

# Candidates of RBoost^proj are scored in blocks of that many stumps, the most promising first.
_SCORE_BLOCK = 256


class RBoostRank(ColumnGenerationClassifier):
    """RBoost^rank, stage-wise (paper 1, Algorithm 1 with eq. (8)).

    The data are projected by a random matrix :math:`P^{(r)}` for each class r, and one score
    :math:`F(P^{(r)} x) = \\sum_t w_t h_t(P^{(r)} x)` ranks the classes. A round minimises the
    exponential loss of the pairwise margins :math:`F(P^{(y_i)} x_i) - F(P^{(r)} x_i)` over one new
    stump: the one of the largest edge, eq. (5), with
    :math:`w_t = \\frac14 \\log \\frac{Q_+ + s}{Q_- + s}`, where the smoothing s = 1 / (m (k - 1))
    on weights of sum 1 keeps it finite.

    Parameters
    ----------
    n_iterations : int, default=1000
        T of the paper: boosting rounds at most.
    n_projections : int, default=20000
        n of the paper: projected features per class.
    projections : {"independent", "pooled"}, default="independent"
        ``"independent"`` is the paper's. ``"pooled"`` draws the rows of all projection matrices
        from one pool of `pool_size` directions: several times faster, and a different model.
    pool_size : int, default=1000
        Directions of the pool; used by ``projections="pooled"`` only.
    n_bins : int, default=32
        Bins of a projected feature: ``n_bins - 1`` thresholds, at the quantiles.
    random_state : int, RandomState instance or None, default=None
        Seed of the projections.

    Attributes
    ----------
    hypotheses_ : boostbench.core.learners.ProjectedStumps
    coefficients_ : ndarray of shape (n_iterations_,)
        w.

    Notes
    -----
    Projections mix the features, so they should be on one scale.

    References
    ----------
    .. [1] S. Paisitkriangkrai, C. Shen, Q. Shi and A. van den Hengel, "RandomBoost: Simplified
       multi-class boosting through randomization" (paper 1).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RBoostRank(n_iterations=50, n_projections=500, random_state=0)
    >>> model.fit(X, y).score(X, y) > 0.95
    True
    """

    def __init__(
        self,
        n_iterations=1000,
        n_projections=20000,
        projections="independent",
        pool_size=1000,
        n_bins=32,
        random_state=None,
    ):
        self.n_iterations = n_iterations
        self.n_projections = n_projections
        self.projections = projections
        self.pool_size = pool_size
        self.n_bins = n_bins
        self.random_state = random_state

    def _master(self, X, labels, random_state):
        rng = np.random.default_rng(random_state.randint(2**31))
        arguments = (X, len(self.classes_), self.n_projections, self.n_bins, rng)
        if self.projections == "independent":
            search = IndependentProjections(*arguments)
        elif self.projections == "pooled":
            search = PooledProjections(*arguments, self.pool_size)
        else:
            raise ValueError(
                f"projections must be 'independent' or 'pooled', got {self.projections!r}"
            )
        return _RankMaster(search, X, labels, len(self.classes_))

    def _keep(self, master):
        shape = (len(master.stumps), len(self.classes_), self.n_features_in_)
        directions = [stump.directions for stump in master.stumps]
        self.hypotheses_ = ProjectedStumps(
            np.reshape(directions, shape),
            [stump.threshold for stump in master.stumps],
            [stump.polarity for stump in master.stumps],
        )
        self.coefficients_ = np.array(master.coefficients)
        self.n_parameters_ = self.hypotheses_.directions.size + 2 * len(self.hypotheses_)

    def _staged_scores(self, X, stages):
        scores = np.zeros((len(X), len(self.classes_)))
        for some in spans(stages):
            scores = scores + self.hypotheses_.outputs(X, some) @ self.coefficients_[some]
            yield scores


class RBoostProj(ColumnGenerationClassifier):
    """RBoost^proj (paper 1, Algorithm 2), totally corrective.

    The outputs H of the weak learners are projected by a random matrix :math:`P^{(r)}` for each
    class r, and the scores are :math:`F_r(x) = w^\\top P^{(r)} H(x)`. After each new stump all n
    coefficients w are found anew, from

    .. math:: \\min_{w \\ge 0} \\frac{1}{mk} \\sum_{i,r} \\lambda(\\rho_{ir}) + \\nu 1^\\top w,
              \\quad \\rho_{ir} = w^\\top (P^{(y_i)} - P^{(r)}) H(x_i)

    which is eq. (18), warm-started.

    Parameters
    ----------
    n_iterations : int, default=1000
        T of the paper: boosting rounds at most.
    n_projections : int, default=1000
        n of the paper: the number of coefficients.
    loss : {"logistic", "exponential"}, default="logistic"
        :math:`\\lambda`.
    nu : float, default=1e-4
        Weight of the L1 norm of w.
    rule : {"paper", "greedy"}, default="paper"
        How the weak learner is chosen. ``"paper"``: the most violated dual constraint, eq. (24),
        over stumps and coefficients v. ``"greedy"``, an extension: the stump of the largest edge
        for the code ``w @ P[:, t]`` that it will receive.
    projection : {"gaussian", "sign"}, default="gaussian"
        Entries of P before the factor 1 / sqrt(n).
    tol : float, default=1e-6
        :math:`\\epsilon` of step 2: training ends where the objective changes by less than this
        part of itself. 0 goes on to `n_iterations`.
    max_iter : int, default=100
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

    def __init__(
        self,
        n_iterations=1000,
        n_projections=1000,
        loss="logistic",
        nu=1e-4,
        rule="paper",
        projection="gaussian",
        tol=1e-6,
        max_iter=100,
        random_state=None,
    ):
        self.n_iterations = n_iterations
        self.n_projections = n_projections
        self.loss = loss
        self.nu = nu
        self.rule = rule
        self.projection = projection
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _master(self, X, labels, random_state):
        if self.rule not in _RULES:
            raise ValueError(f"rule must be one of {sorted(_RULES)}, got {self.rule!r}")
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
        projections = np.reshape(projections, (self.n_iterations_, self.n_projections, -1))
        for stage in stages:
            w = self.weight_path_[[stage - 1]]
            codes = np.einsum("tvr,v->tr", projections[:stage, w.indices], w.data)
            yield outputs[:, :stage] @ codes


class _RankMaster(Master):
    def __init__(self, search, X, labels, n_classes):
        self.search = search
        self.X = X
        self.own = labels[:, None] == np.arange(n_classes)
        self.weights = np.where(self.own, 0.0, 1.0 / (len(X) * (n_classes - 1)))
        self.smoothing = 1.0 / (len(X) * (n_classes - 1))
        self.stumps = []
        self.coefficients = []

    def generate(self):
        stump = self.search.best(pairwise_weights(self.weights, self.own))
        outputs = stump(self.X)
        margins = outputs[self.own][:, None] - outputs
        edge = (self.weights * margins).sum()
        return (stump, margins) if edge > np.finfo(np.float32).eps else None

    def correct(self, column):
        stump, margins = column
        right = self.weights[margins > 0].sum()
        wrong = self.weights[margins < 0].sum()
        w = 0.25 * np.log((right + self.smoothing) / (wrong + self.smoothing))
        self.stumps.append(stump)
        self.coefficients.append(w)
        self.weights *= np.exp(-w * margins)
        self.weights /= self.weights.sum()
        return True


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
        self.violation = np.zeros(params.n_projections)
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
            self.violation = (P @ slope.ravel()).astype(np.float64)
            return value, -self.violation

        self.w, value = nonnegative_l1(smooth, self.w, self.params.nu, self.params.max_iter)
        smooth(self.w)
        self.path.append(self.w)
        self.objective.append(value)
        if t == 0:
            return True
        return abs(self.objective[-2] - value) >= self.params.tol * abs(self.objective[-2])


def pairwise_weights(dual, own):
    """Weights of the weak-learner problem from the dual variables of the pairwise margins.

    Parameters
    ----------
    dual : ndarray of shape (n_samples, n_classes)
        :math:`u_{ir}`, 0 for r = y_i.
    own : ndarray of shape (n_samples, n_classes), dtype=bool
        True for r = y_i.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        G with ``sum_ir u[i, r] (a[i, y_i] - a[i, r]) = sum_ir G[i, r] a[i, r]`` for any a.

    Examples
    --------
    >>> pairwise_weights(np.array([[0.0, 0.25, 0.75]]), np.array([[True, False, False]]))
    array([[ 1.  , -0.25, -0.75]])
    """
    return np.where(own, dual.sum(axis=1, keepdims=True), -dual)


def _most_violated(edges, projection, violation, w):
    """Stump of the largest ``max_v violation[v] + |edges[q] @ projection[v]|`` (eq. (24)).

    A stump of row norm s scores at most ``s max_v |projection[v]| + max_v violation[v]``: sorted
    by their norms, stumps need scoring only down to where that falls below the best so far.
    """
    norms = np.sqrt(np.einsum("qr,qr->q", edges, edges))
    reach = np.sqrt(np.einsum("vr,vr->v", projection, projection)).max()
    order = norms.argsort()[::-1]
    best, position, polarity = -np.inf, 0, 1
    for start in range(0, len(order), _SCORE_BLOCK):
        block = order[start : start + _SCORE_BLOCK]
        if norms[block[0]] * reach + violation.max() <= best:
            break
        gains = edges[block] @ projection.T
        scores = np.abs(gains) + violation
        q, v = divmod(int(scores.argmax()), scores.shape[1])
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
