"""RBoost^rank (paper 1, Algorithm 1): boosting by ranking on randomly projected data."""

from numbers import Integral
from typing import ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from boostbench.algorithms.base import ColumnGenerationClassifier, Master, spans
from boostbench.algorithms.stagewise import NO_EDGE, PERFECT
from boostbench.core.losses.weights import pairwise_weights
from boostbench.core.weak.discriminants import ProjectedDiscriminants
from boostbench.core.weak.learners import ProjectedStumps
from boostbench.core.weak.projected import IndependentProjections, PooledProjections


class RBoostRank(ColumnGenerationClassifier):
    r"""RBoost^rank, stage-wise (paper 1, Algorithm 1 with eq. (8) or (9)).

    The data are projected by a random matrix :math:`P^{(r)}` for each class r, and one score
    :math:`F(P^{(r)} x) = \sum_t w_t h_t(P^{(r)} x)` ranks the classes. A round minimises the
    exponential loss of the pairwise margins :math:`F(P^{(y_i)} x_i) - F(P^{(r)} x_i)` over one new
    weak learner: the one of the largest edge, eq. (5).

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
    weak_learner : {"stump", "wlda"}, default="stump"
        Stumps on the projected features, or also on one weighted linear discriminant of
        `n_selected` of them, drawn anew in every round (Table VI).
    n_selected : int, default=1000
        Used by ``weak_learner="wlda"`` only.
    step : {"exact", "bound"}, default="exact"
        The coefficient. ``"exact"`` is eq. (8),
        :math:`w_t = \frac14 \log \frac{Q_+ + s}{Q_- + s}`, where the smoothing s = 1 / (m (k - 1))
        on weights of sum 1 keeps it finite. ``"bound"`` is eq. (9), which minimises an upper bound
        of the loss, with :math:`\delta h / 2` in the place of :math:`\delta h`.
    random_state : int, RandomState instance or None, default=None
        Seed of the projections.

    Attributes
    ----------
    hypotheses_ : boostbench.core.weak.learners.ProjectedStumps
    coefficients_ : ndarray of shape (n_iterations_,)
        w.

    Notes
    -----
    Projections mix the features, so they should be on one scale.

    Eq. (9) rests on :math:`e^{-wh} \le \frac12 e^w (1 - h) + \frac12 e^{-w} (1 + h)`, which holds
    for h in [-1, 1]; :math:`\delta h` is in [-2, 2]. As it is printed, the loss grows.

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

    _parameter_constraints: ClassVar = {
        **ColumnGenerationClassifier._parameter_constraints,
        "n_projections": [Interval(Integral, 1, None, closed="left")],
        "projections": [StrOptions({"independent", "pooled"})],
        "pool_size": [Interval(Integral, 1, None, closed="left")],
        "n_bins": [Interval(Integral, 2, None, closed="left")],
        "weak_learner": [StrOptions({"stump", "wlda"})],
        "n_selected": [Interval(Integral, 1, None, closed="left")],
        "step": [StrOptions({"exact", "bound"})],
    }

    def __init__(
        self,
        n_iterations=1000,
        n_projections=20000,
        projections="independent",
        pool_size=1000,
        n_bins=32,
        weak_learner="stump",
        n_selected=1000,
        step="exact",
        random_state=None,
    ):
        self.n_iterations = n_iterations
        self.n_projections = n_projections
        self.projections = projections
        self.pool_size = pool_size
        self.n_bins = n_bins
        self.weak_learner = weak_learner
        self.n_selected = n_selected
        self.step = step
        self.random_state = random_state

    def _master(self, X, labels, random_state):
        own = labels[:, None] == np.arange(len(self.classes_))
        return _StageWiseMaster(self._search(X, random_state), X, own, _STEPS[self.step])

    def _search(self, X, random_state):
        rng = np.random.default_rng(random_state.randint(2**31))
        arguments = (X, len(self.classes_), self.n_projections, self.n_bins, rng)
        if self.projections == "independent":
            search = IndependentProjections(*arguments)
        else:
            search = PooledProjections(*arguments, self.pool_size)
        if self.weak_learner == "wlda":
            return ProjectedDiscriminants(search, X, self.n_projections, self.n_selected, rng)
        return search

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


class RankMaster(Master):
    """Projected stumps, their coefficients, and the weights of the pairs.

    Parameters
    ----------
    search : object
        With ``best(G)``, as `boostbench.core.weak.projected.IndependentProjections` has it.
    X : ndarray of shape (n_samples, n_features)
    own : ndarray of shape (n_samples, n_classes), dtype=bool
        True for r = y_i.
    least_edge : float
        Training ends where no weak learner has a larger edge.
    """

    def __init__(self, search, X, own, least_edge):
        self.search = search
        self.X = X
        self.own = own
        self.least_edge = least_edge
        self.weights = ~own / (~own).sum()
        self.stumps = []
        self.coefficients = []

    def generate(self):
        r"""Find the weak learner of the largest edge, eq. (5).

        Returns
        -------
        (ProjectedStump, ndarray of shape (n_samples, n_classes)) or None
            With its :math:`\delta h` for each pair.
        """
        stump = self.search.best(pairwise_weights(self.weights, self.own))
        outputs = stump(self.X)
        margins = outputs[self.own][:, None] - outputs
        edge = (self.weights * margins).sum()
        return (stump, margins) if edge > self.least_edge else None


class _StageWiseMaster(RankMaster):
    def __init__(self, search, X, own, step):
        super().__init__(search, X, own, NO_EDGE)
        self.step = step
        self.smoothing = 1.0 / (~own).sum()

    def correct(self, column):
        stump, margins = column
        w = self.step(self.weights, margins, self.smoothing)
        self.stumps.append(stump)
        self.coefficients.append(w)
        self.weights *= np.exp(-w * margins)
        self.weights /= self.weights.sum()
        return True


def _exact_step(weights, margins, smoothing):
    """Eq. (8)."""
    right, wrong = weights[margins > 0].sum(), weights[margins < 0].sum()
    return 0.25 * np.log((right + smoothing) / (wrong + smoothing))


def _bound_step(weights, margins, smoothing):
    """Eq. (9) for half the margins, which are in [-1, 1], and twice the coefficient."""
    b = min((weights * margins).sum() / 2, PERFECT)
    return 0.25 * np.log((1 + b) / (1 - b))


_STEPS = {"exact": _exact_step, "bound": _bound_step}
