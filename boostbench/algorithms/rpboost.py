"""LsBoost and RpBoost: gradient boosting of the squared error, for regression and two classes.

RpBoost is LsBoost with a new random projection of the data in every round. All estimators share the
master `_LeastSquaresMaster`.
"""

from dataclasses import KW_ONLY
from functools import partial
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from boostbench.algorithms.base.booster import densify
from boostbench.algorithms.base.estimators import (
    BinaryClassifier,
    BoostingRegressor,
    CategorySetBooster,
)
from boostbench.algorithms.base.master import MIN_EDGE, Master
from boostbench.algorithms.base.parameters import NonNegativeFloat, PositiveInt
from boostbench.core.learners.perceptrons import Perceptrons
from boostbench.core.learners.random_projections import RandomProjectionSearch
from boostbench.core.projections import random_matrix, random_orthonormal
from boostbench.core.stumps.category_sets import stack_stumps
from boostbench.core.stumps.search import ConstantFallbackSearch, StumpSearch

# Number of projected features, as a multiple of the number of features.
_DIMENSION_FACTORS = {"sub": 0.5, "same": 1.0, "super": 2.0}


class _SearchCache(NamedTuple):
    """Search of the last fit, for the next fit to the same data.

    Attributes
    ----------
    settings : tuple
        Result of `_LeastSquaresBooster._search_settings`.
    X : ndarray of shape (n_samples, n_features)
        Copy of the training data.
    search : boostbench.core.weak_learner.Search
    """

    settings: tuple
    X: np.ndarray
    search: object


class _LeastSquaresBooster(CategorySetBooster):
    """Base of the boosters of the squared error: ``F(x) = F_0 + sum_t rho_t h_t(x)``.

    A subclass may override `_search_settings` and `_search`. With ``warm_start=True``, a fit to
    equal data with equal settings takes the search of the last fit, which has sorted the data.
    """

    edition = 2

    n_iterations: PositiveInt = 500
    _: KW_ONLY
    penalty: NonNegativeFloat = 0.0
    warm_start: bool = False

    _stack: ClassVar = staticmethod(stack_stumps)

    # Parameters that a warm start may change; see `boostbench.fitting.tuning`.
    warm_parameters: ClassVar = ("penalty",)

    def _make_master(self, X, target, random_state, weights=None):
        """Return the master, with the search of the last fit if it is valid."""
        settings = self._search_settings(random_state)
        cache = getattr(self, "_search_cache", None) if self.warm_start else None
        # The search of the last fit is valid for equal settings and equal data.
        if cache and cache.settings == settings and np.array_equal(cache.X, X):
            search = cache.search
            if isinstance(search, RandomProjectionSearch):
                search.restart()
        else:
            search = self._search(X, *settings)
        self._search_cache = _SearchCache(settings, X.copy(), search) if self.warm_start else None
        return _LeastSquaresMaster(self, search, target, weights)

    def _search_settings(self, random_state):
        """Return the settings of the search: arguments of `_search`, and key of its cache."""
        if not self.category_sets:
            return ()
        # The columns of X are views: numeric columns derived from the features. X alone does not
        # show which columns of 0 and 1 indicate categories.
        views = self.views_
        return views.feature.tobytes(), views.category.tobytes()

    def _search(self, X, *settings):
        """Return the search for weak learners on X. The settings only serve as the cache's key."""
        return ConstantFallbackSearch(self._enable_category_sets(StumpSearch(X)))

    def _store_model(self, master):
        self.intercept_ = master.intercept
        self.hypotheses_ = self._stack(master.learners)
        self.coefficients_ = np.array(master.coefficients)
        self.n_parameters_ = 1 + self.n_iterations_ + self._count_learner_parameters()

    def _count_learner_parameters(self):
        """Return the number of parameters of all weak learners."""
        return self.hypotheses_.n_parameters

    def _staged_scores(self, X, stages):
        for scores in super()._staged_scores(X, stages):
            yield self.intercept_ + scores


class _BinaryLeastSquaresBooster(_LeastSquaresBooster, BinaryClassifier):
    """Base of the classifiers: least squares on -1 and +1, with the sign of F as the class."""

    def inverse_temperature(self):
        """Return 2, the factor that turns scores into log odds.

        F estimates 2 p - 1 for the probability p of the class +1. The log odds are therefore
        ``log((1 + F) / (1 - F))``, which is about 2 F near p = 1/2.
        """
        return 2.0


class LsBoostRegressor(BoostingRegressor, _LeastSquaresBooster):
    r"""LsBoost with stumps, for regression.

    A round fits the residuals of the previous rounds: it adds :math:`\rho_t h_t(x)` with the stump
    (or the constant) and the step that lower the squared error most,

    .. math:: h_t = \arg\max_h |\tilde y^\top h|, \quad
              \rho_t = \frac{\tilde y^\top h_t}{N + \lambda}, \quad \tilde y_i = y_i - F(x_i).

    Parameters
    ----------
    n_iterations : int, default=500
        Maximum number of boosting rounds, M of the paper. Training ends earlier if no stump
        correlates with the residuals.
    penalty : float, default=0.0
        Penalty :math:`\lambda`. It shrinks every step by the factor N / (N + lambda), where N is
        the number of samples, or the sum of their weights.
    warm_start : bool, default=False
        True: reuse the sorted data of the previous fit if the data are equal. The solution is
        bit-identical, and takes less time.

    Attributes
    ----------
    intercept_ : float
        Mean F_0 of y.
    hypotheses_ : boostbench.core.stumps.stump.Stumps
        Stumps of the rounds. A constant is a stump with an infinite threshold.
    coefficients_ : ndarray of shape (n_iterations_,)
        Steps :math:`\rho_t`.

    See Also
    --------
    LsBoost : Classifier for two classes.

    References
    ----------
    .. [1] P. Casale, O. Pujol and P. Radeva, "Embedding random projections in regularized gradient
       boosting machines", 2011: Table 12.1 with the penalty of eq. (12.12).

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> LsBoostRegressor(n_iterations=100).fit(X, y).score(X, y) > 0.5
    True
    """

    def staged_predict(self, X):
        """Yield the predictions of `predict` after 1, 2, ..., `n_iterations_` rounds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        X = self._compute_views(densify(self._validate_input(X, reset=False)))
        yield from self._staged_scores(X, range(1, self.n_iterations_ + 1))


class LsBoost(_BinaryLeastSquaresBooster):
    r"""LsBoost with stumps, for two classes: least squares on labels -1 and +1.

    Parameters
    ----------
    n_iterations, penalty, random_state, warm_start
        See `LsBoostRegressor`.

    Attributes
    ----------
    intercept_, hypotheses_, coefficients_
        See `LsBoostRegressor`.

    See Also
    --------
    LsBoostRegressor : Regressor, with the reference.
    RpBoost : Classifier on random projections.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> LsBoost(n_iterations=50).fit(X, y).score(X, y) > 0.95
    True
    """


class RpBoost(_BinaryLeastSquaresBooster):
    r"""RpBoost with stumps, for two classes: LsBoost with a new random projection in every round.

    A round draws a matrix R, projects the data, and continues like `LsBoost` with stumps on
    :math:`x^\top R`.

    Parameters
    ----------
    n_iterations : int, default=500
        Maximum number of boosting rounds, M of the paper.
    space : {"sub", "same", "super"}, default="same"
        Number of columns of R, relative to the number of features: 0.5, 1 or 2.
    projection : {"orthonormal", "sign", "normal"}, default="normal"
        Distribution of R, with the paper's name. ``"orthonormal"`` (P): orthonormal columns; in the
        superspace two such matrices side by side. ``"sign"`` (U): entries -1 and +1. ``"normal"``
        (N): entries from N(0, 1).
    penalty : float, default=0.0
        Penalty :math:`\lambda`, see `LsBoostRegressor`.
    random_state : int, RandomState instance or None, default=None
        Seed of the projections.
    warm_start : bool, default=False
        True: reuse the projections and the sorted projected data of the previous fit if the data,
        `space`, `projection` and the seed are equal. The solution is bit-identical, and takes less
        time.

    Attributes
    ----------
    intercept_ : float
        Mean F_0 of the labels.
    hypotheses_ : boostbench.core.learners.perceptrons.Perceptrons
        Stumps on projected features, as perceptrons.
    coefficients_ : ndarray of shape (n_iterations_,)
        Steps :math:`\rho_t`.

    Notes
    -----
    Stumps do not depend on the length of a direction. In the plane, "orthonormal" and "normal"
    therefore have the same distribution of stumps in every space, and "sign" has two directions
    only, the diagonals.

    Projected values are stored as float32. Centre features whose mean is large compared to their
    deviation; otherwise thresholds are lost to rounding.

    References
    ----------
    .. [1] P. Casale, O. Pujol and P. Radeva, "Embedding random projections in regularized gradient
       boosting machines", 2011: Table 12.2.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> RpBoost(n_iterations=100, random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """

    edition = 3

    space: Literal[*_DIMENSION_FACTORS] = "same"
    projection: Literal["orthonormal", "sign", "normal"] = "normal"

    categorical_features: ClassVar = None
    category_sets: ClassVar = False
    _stack: ClassVar = Perceptrons
    _takes_tables: ClassVar = False

    def _search_settings(self, random_state):
        return self.space, self.projection, random_state.randint(2**31)

    def _search(self, X, space, projection, seed):
        width = max(1, int(_DIMENSION_FACTORS[space] * X.shape[1]))
        draw = partial(_draw_matrices, seed, projection, (X.shape[1], width))
        return RandomProjectionSearch(X, draw, width, cache_batches=self.warm_start)

    def _count_learner_parameters(self):
        """Return the number of coordinates of the directions, and thresholds."""
        return (self.n_features_in_ + 1) * self.n_iterations_

    def _encode_target(self, y):
        """Return -1 and +1 for both classes, after a check that half of the features is not 0."""
        if self.space == "sub" and self.n_features_in_ < 2:
            raise ValueError("space='sub' takes half of the features, and X has n_features=1")
        return super()._encode_target(y)


def _draw_matrices(seed, projection, shape, batch, n_rounds):
    """Return random matrices for a batch of rounds.

    It is a function of the module, since a closure could not be pickled with the estimator.

    Parameters
    ----------
    seed : int
    projection : {"orthonormal", "sign", "normal"}
    shape : tuple of int
        (n_features, n_projections).
    batch : int
        Index of the batch; with the seed it determines the matrices.
    n_rounds : int

    Returns
    -------
    ndarray of shape (n_rounds, n_features, n_projections), dtype=float64
    """
    rng = np.random.default_rng([seed, batch])
    if projection == "orthonormal":
        return random_orthonormal((n_rounds, *shape), rng)
    kind = "gaussian" if projection == "normal" else "sign"
    return random_matrix(kind, (n_rounds, *shape), rng).astype(np.float64)


class _LeastSquaresMaster(Master):
    """Master that adds each weak learner with the step that lowers the squared error most.

    Parameters
    ----------
    params : _LeastSquaresBooster
        Estimator in training.
    search : boostbench.core.weak_learner.Search
        Search for weak learners on the training data.
    y : ndarray of shape (n_samples,)
        Targets; -1 and +1 for classifiers.
    sample_weight : ndarray of shape (n_samples,) or None
        None: all weights are 1.

    Attributes
    ----------
    intercept : float
        Weighted mean of y.
    residual : ndarray of shape (n_samples,)
        y minus the scores so far.
    divisor : float
        Sum of the weights plus the penalty: an edge divided by it is a step.
    """

    per_round_lists: ClassVar = ("learners", "coefficients")

    def __init__(self, params, search, y, sample_weight):
        super().__init__(params, search)
        self.weights = sample_weight
        self.intercept = np.average(y, weights=sample_weight)
        self.residual = y - self.intercept
        self.divisor = (len(y) if sample_weight is None else sample_weight.sum()) + params.penalty

    def generate(self):
        """Return the weak learner most correlated with the residuals; see `Master.generate`."""
        weighted_residual = self.residual if self.weights is None else self.weights * self.residual
        result = self.search.best(weighted_residual[:, None])
        # A smaller edge is a rounding error.
        noise = MIN_EDGE * np.abs(weighted_residual).sum()
        return result if abs(result.edge) > noise else None

    def correct(self, result):
        """Add the weak learner with its step, and update the residuals; see `Master.correct`."""
        step = result.edge / self.divisor
        self.residual -= step * result.outputs
        self.learners.append(result.learner)
        self.coefficients.append(step)
        return True
