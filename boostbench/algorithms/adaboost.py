"""AdaBoost for two classes, AdaBoost.MH for more; with stumps, projected stumps or perceptrons.

The estimators come first, and their masters (the state of a training, see
`boostbench.algorithms.base.master`) follow.
"""

from dataclasses import KW_ONLY
from typing import ClassVar

import numpy as np

from boostbench.algorithms.base.estimators import (
    BinaryClassifier,
    CategorySetBooster,
    StumpEnsemble,
)
from boostbench.algorithms.base.master import MIN_EDGE, StumpMaster
from boostbench.algorithms.base.parameters import NonNegativeInt, PositiveInt
from boostbench.core.learners.perceptrons import Perceptrons
from boostbench.core.learners.random_features import SignedPerceptronSearch
from boostbench.core.stumps.category_sets import stack_stumps
from boostbench.core.stumps.search import ConstantFallbackSearch, StumpSearch


class AdaBoostMH(StumpEnsemble):
    r"""AdaBoost.MH with one stump and one vote vector per round.

    Every sample has a weight for every label. A round adds ``alpha_t h_t(x) v_t``: a stump h_t with
    a vote of -1 or +1 for each class, which decreases the exponential loss

    .. math:: \sum_{i,r} \exp(-Y_{ir} F_r(x_i)), \quad Y_{ir} = 2 [r = y_i] - 1

    with :math:`\alpha_t = \frac12 \log \frac{1 + g}{1 - g}` and
    :math:`g = \sum_r |\sum_i D_{ir} Y_{ir} h_t(x_i)|`.

    Parameters
    ----------
    n_iterations : int, default=1000
        Maximum number of boosting rounds. Training ends earlier if no stump has a positive edge, or
        if a stump is perfect.

    Attributes
    ----------
    hypotheses_ : boostbench.core.stumps.stump.Stumps
    coefficients_ : ndarray of shape (n_iterations_, n_classes)
        Votes ``alpha_t v_t`` of each round.

    See Also
    --------
    AdaBoost : Two classes.

    References
    ----------
    .. [1] R. E. Schapire and Y. Singer, "Improved boosting algorithms using confidence-rated
       predictions", Machine Learning 37, 1999. It is the baseline "AdaBoost.MH" of
       RandomBoost and MCBoost.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> AdaBoostMH(n_iterations=50).fit(X, y).score(X, y) > 0.95
    True
    """

    def inverse_temperature(self):
        """Return the slope of the log-odds in F, 2 - 2 / k for k classes.

        Each label has an exponential loss of its own, whose minimum is F_r = 1/2 log(p_r / (1 -
        p_r)) for the probability p_r of class r. Where all probabilities are 1 / k, F_r therefore
        has the slope k / (2 (k - 1)) in log p_r.
        """
        return 2.0 - 2.0 / len(self.classes_)

    def _make_master(self, X, labels, random_state, weights=None):
        return _MHMaster(self, StumpSearch(X, self.max_bins, weights), labels, weights)


class AdaBoost(CategorySetBooster, StumpEnsemble, BinaryClassifier):
    r"""Discrete AdaBoost with stumps, for two classes.

    A round adds ``alpha_t h_t(x)`` with the stump of smallest weighted error :math:`\epsilon_t`
    and :math:`\alpha_t = \frac12 \log \frac{1 - \epsilon_t}{\epsilon_t}`.

    Parameters
    ----------
    n_iterations : int, default=1000
        Maximum number of boosting rounds. Training ends earlier if no stump is better than chance,
        or if a stump is perfect.
    constant : bool, default=False
        If True, the constant stump is a weak learner too, as in RpBoost's Tables 12.4 and 12.6.

    Attributes
    ----------
    hypotheses_ : boostbench.core.stumps.stump.Stumps
        Stumps of the rounds; the constant stump has an infinite threshold.
    coefficients_ : ndarray of shape (n_iterations_,)
        Positive coefficients :math:`\alpha_t`; the stumps have a polarity.

    See Also
    --------
    AdaBoostMH : More classes.

    References
    ----------
    .. [1] Y. Freund and R. E. Schapire, "A decision-theoretic generalization of on-line learning
       and an application to boosting", J. Comput. System Sci. 55, 1997. It is the baseline
       "AdaBoost" of RandomBoost, Table IV.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> AdaBoost(n_iterations=50).fit(X, y).score(X, y) > 0.97
    True
    """

    _: KW_ONLY
    constant: bool = False

    def inverse_temperature(self):
        """Return 2: F is half of the log-odds under the exponential loss."""
        return 2.0

    def _make_master(self, X, signs, random_state, weights=None):
        return _BinaryMaster(self, self._make_search(X, random_state, weights), signs, weights)

    def _make_search(self, X, random_state, weights):
        """Return the search for stumps, with the constant one if `constant` is set."""
        search = self._enable_category_sets(StumpSearch(X, self.max_bins, weights))
        return ConstantFallbackSearch(search) if self.constant else search

    def _store_model(self, master):
        """Store the model, with one coefficient per stump; see `Booster._store_model`."""
        self.hypotheses_ = stack_stumps(master.stumps)
        self.coefficients_ = np.array(master.votes)
        # A stump has a polarity and a coefficient besides its own parameters.
        self.n_parameters_ = self.hypotheses_.n_parameters + 2 * len(self.hypotheses_)


class ProjectedAdaBoostMH(AdaBoostMH):
    """AdaBoost.MH with stumps on a random projection of the features.

    RandomBoost, Fig. 2, shows a projection that was "selectively chosen". Here cross-validation can
    choose the projection, by the parameter `draw`.

    Parameters
    ----------
    n_iterations : int, default=1000
        Maximum number of boosting rounds; see `AdaBoostMH`.
    max_bins : int or None, default=None
        Number of quantile bins per projected feature; None: all thresholds are tried.
    n_components : int, default=2
        Dimension of the projected space.
    draw : int, default=0
        Seed of the projection matrix.
    random_state : int, RandomState instance or None, default=None
        Seed of the split for early stopping; `draw` is the seed of the projection.

    Attributes
    ----------
    projection_ : ndarray of shape (n_features_in_, n_components)
        Projection matrix, with entries drawn from N(0, 1).

    See Also
    --------
    RBoostRank : Projects to many dimensions, with one matrix per class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ProjectedAdaBoostMH(n_iterations=50, draw=1).fit(X, y).score(X, y) > 0.9
    True
    """

    _: KW_ONLY
    n_components: PositiveInt = 2
    draw: NonNegativeInt = 0

    categorical_features: ClassVar = None
    _takes_tables: ClassVar = False

    def project(self, X):
        """Return the projected features, of shape (n_samples, n_components)."""
        return X @ self.projection_

    def unproject(self, Z):
        """Return the shortest vectors whose projections are the rows of Z."""
        return Z @ np.linalg.pinv(self.projection_)

    def _make_master(self, X, labels, random_state, weights=None):
        """Draw the projection, and return the master on projected features."""
        rng = np.random.default_rng(self.draw)
        self.projection_ = rng.standard_normal((X.shape[1], self.n_components))
        return super()._make_master(self.project(X), labels, random_state, weights)

    def _store_model(self, master):
        super()._store_model(master)
        self.n_parameters_ += self.projection_.size

    def _staged_scores(self, X, stages):
        return super()._staged_scores(self.project(X), stages)


class PerceptronAdaBoost(AdaBoost):
    r"""Discrete AdaBoost with the best of many random perceptrons in each round.

    A round adds ``alpha_t h_t(x)`` with the perceptron of smallest weighted error
    :math:`\epsilon_t` and
    :math:`\alpha_t = \frac12 \log \frac{1 - \epsilon_t}{\epsilon_t}`.

    Parameters
    ----------
    n_iterations : int, default=500
        Maximum number of boosting rounds. Training ends earlier if no perceptron is better than
        chance, or if a perceptron is perfect.
    n_candidates : int, default=2000
        Number of perceptrons drawn in each round, of which the best one is taken.
    random_state : int, RandomState instance or None, default=None
        Seed of the perceptrons.

    Attributes
    ----------
    hypotheses_ : boostbench.core.learners.perceptrons.Perceptrons
    coefficients_ : ndarray of shape (n_iterations_,)
        Positive coefficients :math:`\alpha_t`.

    See Also
    --------
    AdaBoost : The same algorithm with stumps.

    References
    ----------
    .. [1] C. Shen and F. Liu, "From kernel machines to ensemble learning", 2014 (CGENS): the
       baseline "AdaBoost" of Table II.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = PerceptronAdaBoost(n_iterations=20, random_state=0).fit(scale(X), y)
    >>> model.score(scale(X), y) > 0.95
    True
    """

    n_iterations: PositiveInt = 500
    n_candidates: PositiveInt = 2000
    max_bins: ClassVar = None
    constant: ClassVar = False

    # Each stage of a fit equals a fit with fewer rounds; see `boostbench.fitting.tuning`.
    staged_parameter: ClassVar = "n_iterations"

    _takes_sparse: ClassVar = False
    categorical_features: ClassVar = None
    category_sets: ClassVar = False
    _takes_tables: ClassVar = False

    def _make_search(self, X, random_state, weights):
        """Return the search for random perceptrons."""
        rng = np.random.default_rng(random_state.randint(2**31))
        return SignedPerceptronSearch(X, self.n_candidates, rng)

    def _store_model(self, master):
        """Store the model; see `Booster._store_model`."""
        # The master's list of weak learners holds perceptrons in this class.
        self.hypotheses_ = Perceptrons(master.stumps)
        self.coefficients_ = np.array(master.votes)
        # A perceptron has a direction, a threshold and a coefficient.
        self.n_parameters_ = (self.n_features_in_ + 2) * len(self.hypotheses_)


class _BinaryMaster(StumpMaster):
    """Master of `AdaBoost`.

    Parameters
    ----------
    params, search, sample_weight
        See `StumpMaster`.
    signs : ndarray of shape (n_samples,)
        Labels -1 and +1.

    Attributes
    ----------
    weights : ndarray of shape (n_samples, 1)
        Signed weights: the label times the weight of the sample. Their absolute values sum to 1, so
        that an edge is 1 minus twice the weighted error.
    """

    def __init__(self, params, search, signs, sample_weight=None):
        signed = signs[:, None] / len(signs)
        super().__init__(params, search, signed, sample_weight)

    def generate(self):
        """Return the stump of smallest weighted error; see `Master.generate`."""
        result = self.search.best(self.weights)
        return result if result is not None and result.edge > MIN_EDGE else None

    def correct(self, result):
        """Add the stump, and multiply the weights by exp(-alpha y h(x)); see `Master.correct`."""
        alpha, has_errors = self.adaboost_coefficient(result.edge)
        self.stumps.append(result.learner)
        self.votes.append(alpha)
        if has_errors:
            # The sign of a weight is the label y.
            margin = np.where(self.weights[:, 0] > 0, alpha, -alpha) * result.outputs
            self.weights[:, 0] *= np.exp(-margin)
            self.weights /= np.abs(self.weights).sum()
        return has_errors


class _MHMaster(StumpMaster):
    """Master of `AdaBoostMH`.

    Parameters
    ----------
    params, search, sample_weight
        See `StumpMaster`.
    labels : ndarray of shape (n_samples,)
        Classes from 0 to n_classes - 1.

    Attributes
    ----------
    signs : ndarray of shape (n_classes, n_classes)
        Row y holds the labels Y of a sample of class y: +1 in column y, else -1.
    weights : ndarray of shape (n_samples, n_classes)
        Signed weights ``Y D``: the label times the weight of the sample for this label. Their
        absolute values sum to 1.
    """

    def __init__(self, params, search, labels, sample_weight=None):
        self.labels = labels
        self.signs = 2.0 * np.eye(len(params.classes_)) - 1
        signed = self.signs[labels] / (len(labels) * len(self.signs))
        super().__init__(params, search, signed, sample_weight)

    def generate(self):
        """Return the stump with the largest sum of absolute edges, g; see `Master.generate`."""
        result = self.search.best_sum_abs_edge(self.weights)
        return result if result is not None and result.edge > MIN_EDGE else None

    def correct(self, result):
        """Add the stump with its votes, and update the weights; see `Master.correct`.

        A weight is multiplied by ``exp(-Y[i, r] alpha h(x_i) v[r])``.
        """
        alpha, has_errors = self.adaboost_coefficient(result.edge)
        self.stumps.append(result.learner)
        self.votes.append(alpha * result.votes)
        if has_errors:
            # The factor of a weight depends on the class, the side of the stump and the label only:
            # a table of 2 n_classes rows replaces one exponential per weight. Row y is for samples
            # of class y below the threshold, row n_classes + y for samples above it.
            margins = alpha * self.signs * result.votes
            table = np.exp(np.concatenate([margins, -margins]))
            is_above = result.outputs > 0
            self.weights *= table.take(
                self.labels + len(self.signs) * is_above, axis=0, mode="clip"
            )
            # Division by the theoretical sum sqrt(1 - edge^2) would accumulate the rounding errors
            # of the edges from round to round.
            self.weights /= np.abs(self.weights).sum()
        return has_errors
