"""RBoost^rank (paper 1, Algorithm 1): boosting by ranking on randomly projected data."""

from numbers import Integral
from typing import ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from boostbench.algorithms.base import ColumnGenerationClassifier, Master, spans
from boostbench.core.learners import ProjectedStumps
from boostbench.core.margins import pairwise_weights
from boostbench.core.projected_stumps import IndependentProjections, PooledProjections


class RBoostRank(ColumnGenerationClassifier):
    r"""RBoost^rank, stage-wise (paper 1, Algorithm 1 with eq. (8)).

    The data are projected by a random matrix :math:`P^{(r)}` for each class r, and one score
    :math:`F(P^{(r)} x) = \sum_t w_t h_t(P^{(r)} x)` ranks the classes. A round minimises the
    exponential loss of the pairwise margins :math:`F(P^{(y_i)} x_i) - F(P^{(r)} x_i)` over one new
    stump: the one of the largest edge, eq. (5), with
    :math:`w_t = \frac14 \log \frac{Q_+ + s}{Q_- + s}`, where the smoothing s = 1 / (m (k - 1))
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

    _parameter_constraints: ClassVar = {
        **ColumnGenerationClassifier._parameter_constraints,
        "n_projections": [Interval(Integral, 1, None, closed="left")],
        "projections": [StrOptions({"independent", "pooled"})],
        "pool_size": [Interval(Integral, 1, None, closed="left")],
        "n_bins": [Interval(Integral, 2, None, closed="left")],
    }

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
        else:
            search = PooledProjections(*arguments, self.pool_size)
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
