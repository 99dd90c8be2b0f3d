"""Boosting with codewords: MCBoost of Saberian and Vasconcelos, codeword boosting and LADDER.

The predictor maps samples to vectors, and each class has a vector there, its codeword.
`CodewordMCBoost` fits the predictor, `CodewordBoosting` the codewords, and `LADDER` both in turn.
The three share the risk, `boostbench.core.losses.codeword.CodewordRisk`.
"""

from typing import Literal

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from boostbench.algorithms.base.booster import TabularBooster, WeightedBooster
from boostbench.algorithms.base.decision_values import rounding_slack
from boostbench.algorithms.base.estimators import BoostingClassifier, NoEarlyStoppingMixin
from boostbench.algorithms.base.input_validation import normalise_weights
from boostbench.algorithms.base.master import MIN_EDGE, Master
from boostbench.algorithms.base.parameters import NonNegativeInt, PositiveInt, TwoOrMore
from boostbench.algorithms.explanation.stump_sums import stump_sum_from_trees
from boostbench.algorithms.hashing import PackedCodesMixin
from boostbench.core.codebooks import draw_codebook
from boostbench.core.learners.vector_trees import (
    CodewordVote,
    LeastSquares,
    VectorTrees,
    VectorTreeSearch,
)
from boostbench.core.losses.codeword import CodewordRisk
from boostbench.core.stumps.search import StumpSearch


class CodewordMCBoost(
    PackedCodesMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    NoEarlyStoppingMixin,
    TabularBooster,
    BoostingClassifier,
):
    r"""MCBoost of Saberian and Vasconcelos, with codewords of any dimension.

    The predictor :math:`f(x) = \sum_t \alpha_t g_t(x)` has d coordinates, and every class has a
    codeword :math:`y_k`, a unit vector in d dimensions. A round adds the weak learner along which
    the risk

    .. math:: R = \frac1n \sum_i \sum_{j \ne z_i}
              e^{-\frac12 \langle y_{z_i} - y_j, f(x_i) \rangle}

    decreases most steeply, with the step that minimises the risk, eq. (6). The step is limited so
    that no exponent of a loss exceeds 24: a weak learner without mistakes would get an infinite
    step; in rare rounds the limit is below a finite minimum. The predicted class has the largest
    :math:`\langle y_k, f(x) \rangle`. For two classes and stumps, the algorithm is AdaBoost with
    confidence-rated leaves.

    The classifier is also a transformer: `transform` returns f, and `hash` the signs of its
    coordinates.

    Parameters
    ----------
    n_iterations : int, default=200
        Maximum number N_b of boosting rounds. Training ends earlier if no weak learner lowers the
        risk, or a weak learner separates all classes.
    n_components : int or None, default=None
        Dimension d of the codewords. None: n_classes - 1, where the codewords are a regular
        simplex. With fewer dimensions their smallest distance is maximised, eq. (13); with more,
        the simplex is padded with zeros. Codewords are rotated and assigned to the classes at
        random.
    max_depth : int, default=1
        Depth of the trees; 1: stumps.
    leaf_values : {"least_squares", "vote"}, default="least_squares"
        Output of a weak learner in a leaf: the mean of the weights (their least-squares fit), or
        the codeword of the largest inner product with their sum. The paper does not specify it.
    max_bins : int or None, default=32
        Number of quantile bins of each feature. None: all thresholds are searched.
    random_state : int, RandomState instance or None, default=None
        Seed of the codewords.

    Attributes
    ----------
    codewords_ : ndarray of shape (n_classes, n_components)
        Codeword of each class.
    first_codewords_ : ndarray of shape (n_classes, n_components)
        Codewords at the start of the training; equal to `codewords_` unless a subclass moves them.
    hypotheses_ : boostbench.core.learners.vector_trees.VectorTrees
        Weak learners.
    coefficients_ : ndarray of shape (n_iterations_,)
        Steps :math:`\alpha_t`.
    log_risks_ : ndarray of shape (n_iterations_ + 1,)
        Values of :math:`\log R` at the start and after each round.

    Notes
    -----
    With one component and more than two classes, some classes share a codeword and cannot be
    distinguished.

    References
    ----------
    .. [1] M. Saberian and N. Vasconcelos, "Multiclass boosting: theory and algorithms", NIPS 2011.
    .. [2] M. Saberian, J. Costa Pereira, C. Xu, J. Yang and N. Vasconcelos, "Large margin
       discriminant dimensionality reduction in prediction space", NIPS 2016: Algorithm 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CodewordMCBoost(n_iterations=50, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95, model.transform(X).shape
    (True, (150, 2))
    """

    # Since edition 3 codebooks are rounded to a grid.
    edition = 3

    n_iterations: PositiveInt = 200
    n_components: PositiveInt | None = None
    max_depth: PositiveInt = 1
    leaf_values: Literal["least_squares", "vote"] = "least_squares"
    max_bins: TwoOrMore | None = 32

    def transform(self, X):
        """Return the values f(x) of the predictor, of shape (n_samples, n_components)."""
        check_is_fitted(self)
        X = self._compute_views(self._validate_input(X, reset=False))
        return self.hypotheses_.scores(self._reduce_features(X), self.coefficients_)

    def stump_sum(self):
        """Return the scores as a sum of stumps; see `BoostingClassifier.stump_sum`."""
        return stump_sum_from_trees(self, self.hypotheses_.value @ self.codewords_.T)

    def _make_master(self, X, labels, random_state, weights=None):
        """Draw the first codewords, and return the master; see `Booster._make_master`."""
        codewords = _draw_first_codewords(
            len(self.classes_), self._codeword_dimension(), random_state
        )
        # Weights of mean 1: leaves, and therefore coefficients, must not depend on their scale.
        weights = normalise_weights(weights)
        risk = CodewordRisk(labels, codewords, sample_weight=weights)
        search = VectorTreeSearch(StumpSearch(X, self.max_bins, weights), self.max_depth, weights)
        return _CodewordMaster(self, search, risk, 1.0 if weights is None else weights.min())

    def _store_model(self, master):
        """Store the model; see `Booster._store_model`."""
        _store_codewords(self, master)
        self._n_features_out = self.codewords_.shape[1]
        self.hypotheses_ = VectorTrees(master.trees, self._n_features_out)
        self.coefficients_ = np.array(master.coefficients)
        self.n_parameters_ = self.hypotheses_.n_parameters + self.codewords_.size
        self.n_parameters_ += len(self.coefficients_)

    def _staged_scores(self, X, stages):
        """Yield the inner products of f(x) with the codewords of each stage."""
        stages = list(stages)
        staged = super()._staged_scores(self._reduce_features(X), stages)
        for stage, f in zip(stages, staged, strict=True):
            yield f @ self._codewords_at(stage).T

    def _codeword_dimension(self):
        """Return the dimension of the codewords, or None for n_classes - 1 dimensions."""
        return self.n_components

    def _reduce_features(self, X):
        """Return the features that the weak learners test; `ReducedMCBoost` reduces them."""
        return X

    def _codewords_at(self, stage):
        """Return the codewords after `stage` rounds."""
        return self.codewords_


class LADDER(CodewordMCBoost):
    r"""Large margin discriminant dimensionality reduction of predictor and codewords together.

    After every N_b rounds of `CodewordMCBoost`, with the same limit on the step, N_c steps of
    `CodewordBoosting` lower the same risk by moving the codewords.

    Parameters
    ----------
    n_iterations : int, default=200
        Maximum number N_b N_r of boosting rounds in all cycles; see `CodewordMCBoost`.
    n_components, max_depth, leaf_values, max_bins, random_state, class_weight
        See `CodewordMCBoost`. The parameters of the codewords define the first codewords.
    boosting_steps : int, default=2
        Number N_b of boosting rounds in a cycle.
    codeword_steps : int, default=4
        Number N_c of codeword steps at the end of a cycle; fewer if no step lowers the risk.

    Attributes
    ----------
    codewords_, first_codewords_, hypotheses_, coefficients_, log_risks_
        See `CodewordMCBoost`. `codewords_` are the last codewords, and a risk is measured after
        the codewords have moved.

    See Also
    --------
    CodewordBoosting : Codewords for a given predictor.

    References
    ----------
    .. [1] M. Saberian, J. Costa Pereira, C. Xu, J. Yang and N. Vasconcelos, "Large margin
       discriminant dimensionality reduction in prediction space", NIPS 2016: Algorithm 3.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> plain, ladder = (
    ...     model(n_components=3, random_state=0).fit(X[::2], y[::2])
    ...     for model in (CodewordMCBoost, LADDER)
    ... )
    >>> ladder.score(X[1::2], y[1::2]) > plain.score(X[1::2], y[1::2])
    True
    >>> ladder.hash(X).shape
    (1797, 1)
    """

    # Since edition 3 codebooks and codewords are rounded to a grid.
    edition = 3

    boosting_steps: PositiveInt = 2
    codeword_steps: NonNegativeInt = 4

    def _make_master(self, X, labels, random_state, weights=None):
        master = super()._make_master(X, labels, random_state, weights)
        return _LadderMaster(self, master.search, master.risk, master.min_weight)

    def _store_model(self, master):
        super()._store_model(master)
        # A user may change the parameter after the fit.
        self._cycle = self.boosting_steps

    def _codewords_at(self, stage):
        """Return the codewords after `stage` rounds, of the last cycle that was complete then."""
        return self._codewords[stage // self._cycle]


class CodewordBoosting(NoEarlyStoppingMixin, WeightedBooster, BoostingClassifier):
    r"""Codewords for a given predictor, by gradient descent.

    The features are the values f(x) of a predictor. Codewords of length 1 minimise the risk of
    `CodewordMCBoost`, and the predicted class has the largest :math:`\langle y_k, f(x) \rangle`.

    The line search compares risks after the normalisation of the codewords, so the risk never
    rises. Eq. (12) searches before the normalisation, which may raise the risk.

    Parameters
    ----------
    n_iterations : int, default=100
        Maximum number N_c of steps. Training ends earlier if no step lowers the risk.
    random_state : int, RandomState instance or None, default=None
        Seed of the first codewords, see `CodewordMCBoost`.

    Attributes
    ----------
    codewords_, first_codewords_ : ndarray of shape (n_classes, n_features_in_)
        Codewords after the last step, and at the start of the training.
    log_risks_ : ndarray of shape (n_iterations_ + 1,)
        Values of :math:`\log R` at the start and after each step.

    References
    ----------
    .. [1] M. Saberian, J. Costa Pereira, C. Xu, J. Yang and N. Vasconcelos, "Large margin
       discriminant dimensionality reduction in prediction space", NIPS 2016: Algorithm 2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> f = CodewordMCBoost(n_iterations=10, random_state=0).fit(X, y).transform(X)
    >>> CodewordBoosting(random_state=0).fit(f, y).score(f, y) > 0.9
    True
    """

    # Since edition 3 codebooks and codewords are rounded to a grid.
    edition = 3

    n_iterations: PositiveInt = 100

    def _make_master(self, X, labels, random_state, weights=None):
        codewords = _draw_first_codewords(len(self.classes_), X.shape[1], random_state)
        return _CodewordDescent(self, None, CodewordRisk(labels, codewords, X, weights))

    def _store_model(self, master):
        _store_codewords(self, master)
        self.n_parameters_ = self.codewords_.size
        # Largest absolute value of a feature in the training data.
        self._largest = float(np.abs(master.risk.predictions).max())

    def score_slack(self):
        """Return the rounding slack of the scores, which is proportional to the features."""
        return self._largest * rounding_slack(self.codewords_.T)

    def _staged_scores(self, X, stages):
        for stage in stages:
            yield X @ self._codewords[stage].T


class _RiskMaster(Master):
    """Base of the masters that lower the risk of a predictor and codewords.

    Parameters
    ----------
    params, search
        See `Master`.
    risk : CodewordRisk
        Risk R, with the current predictor and codewords.

    Attributes
    ----------
    codewords : list of ndarray of shape (n_classes, n_components)
        Codewords at the start, and after each change.
    log_risks : list of float
        Values of log R at the start and after each round.
    """

    def __init__(self, params, search, risk):
        super().__init__(params, search)
        self.risk = risk
        self.codewords = [risk.codewords]
        self.log_risks = [risk.log_risk]


def _store_codewords(model, master):
    """Store the codewords and the risks of a `_RiskMaster` as attributes of a fitted model.

    The attribute `_codewords` has the codewords of all stages, for staged predictions.
    """
    model._codewords = np.array(master.codewords)
    model.first_codewords_, model.codewords_ = model._codewords[0], model._codewords[-1]
    model.log_risks_ = np.array(master.log_risks)


class _CodewordMaster(_RiskMaster):
    """Master of `CodewordMCBoost`: Algorithm 1 of the LADDER paper.

    Parameters
    ----------
    params, search, risk
        See `_RiskMaster`.
    min_weight : float
        Smallest sample weight, the `count_floor` of `LeastSquares`.

    Attributes
    ----------
    trees : list of Tree
        Weak learner of each round.
    coefficients : list of float
        Step alpha of each round.
    """

    def __init__(self, params, search, risk, min_weight):
        super().__init__(params, search, risk)
        self.min_weight = min_weight
        self.trees = []
        self.coefficients = []

    def generate(self):
        """Return the tree of the largest edge for the weights of eq. (5); see `Master.generate`."""
        weights = self.risk.weights()
        uses_votes = self.params.leaf_values == "vote"
        criterion = (
            CodewordVote(self.risk.codewords) if uses_votes else LeastSquares(self.min_weight)
        )
        result = self.search.best(weights, criterion)
        if result is None:
            return None
        # An edge is a sum of products of weights and leaf values. Smaller ones are rounding errors.
        noise = MIN_EDGE * np.abs(weights).sum() * np.abs(result.values).max()
        return result if abs(result.edge) > noise else None

    def correct(self, result):
        """Add the tree with the step that minimises the risk, eq. (6); see `Master.correct`."""
        # The risk also moves its predictor by the step.
        step, is_perfect = self.risk.add_learner(result.leaf, result.values)
        self.trees.append(result.tree)
        self.coefficients.append(step)
        self.log_risks.append(self.risk.log_risk)
        return not is_perfect


class _LadderMaster(_CodewordMaster):
    """Master of `LADDER`, Algorithm 3: codewords move at the end of each cycle of rounds."""

    def correct(self, result):
        """Add the tree, and move the codewords at the end of a cycle; see `Master.correct`."""
        progress = super().correct(result)
        if len(self.trees) % self.params.boosting_steps == 0:
            for _ in range(self.params.codeword_steps):
                if not self.risk.descend_codewords():
                    break
            self.codewords.append(self.risk.codewords)
            self.log_risks[-1] = self.risk.log_risk
        return progress


class _CodewordDescent(_RiskMaster):
    """Master of `CodewordBoosting`, Algorithm 2: a round is one step of the codewords."""

    def generate(self):
        """Return the risk, as there is no weak learner to find."""
        return self.risk

    def correct(self, risk):
        """Move the codewords; the training ends if no step lowers the risk."""
        progress = risk.descend_codewords()
        self.codewords.append(risk.codewords)
        self.log_risks.append(risk.log_risk)
        return progress


def _draw_first_codewords(n_classes, n_components, random_state):
    """Return random codewords for the start of the training.

    Parameters
    ----------
    n_classes : int
    n_components : int or None
        Dimension; None: n_classes - 1.
    random_state : RandomState

    Returns
    -------
    ndarray of shape (n_classes, n_components)
    """
    rng = np.random.default_rng(random_state.randint(2**31))
    return draw_codebook(n_classes, n_components or n_classes - 1, rng)
