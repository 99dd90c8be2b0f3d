"""Bags of sums of stumps whose members are trained at the same time."""

from abc import abstractmethod
from dataclasses import KW_ONLY
from numbers import Integral

import numpy as np

from boostbench.algorithms.bagging.stump_rounds import JointStumpMaster
from boostbench.algorithms.base.booster import TabularBooster
from boostbench.algorithms.base.early_stopping import stratified_holdout
from boostbench.algorithms.base.parameters import (
    Fraction,
    FractionOrOne,
    MonotonicConstraints,
    NonNegativeInt,
    PositiveInt,
    TwoOrMore,
)
from boostbench.algorithms.base.threads import Threads, one_blas_thread
from boostbench.algorithms.base.weights import normalise_weights
from boostbench.core.stumps.feature_codes import FeatureCodes
from boostbench.util.compat.sklearn import check_monotonic_cst


class JointlyBaggedStumps(TabularBooster):
    """The mean of boosted sums of stumps, trained together on random parts of the samples.

    A subclass gives the loss, by `_make_loss`. What members, rounds and the end of the training are
    is said in `boostbench.algorithms.bagging.bagged_mcboost.BaggedMCBoost`.

    Parameters
    ----------
    n_iterations : int, default=2000
        Rounds of the functions at most, and as many again of the tables of pairs; the attribute
        `n_iterations_` has both.
    n_estimators : int, default=24
        Members of the bag.
    validation_fraction : float, default=0.25
        Part of the samples that a member does not see; of classes it is stratified.
    eta : float, default=0.4
        Shrinkage of what a round adds; scikit-learn's `learning_rate`.
    max_bins : int or None, default=64
        Quantile bins of each feature; None: all thresholds are tried.
    patience : int, default=30
        Rounds in a row without progress after which the training ends. The model is that of the
        best round. It is no `n_iter_no_change`, which keeps samples apart: here each member's
        unseen samples say it.
    monotonic_cst : array-like of int of shape (n_features,), dict or None, default=None
        Which features may move the score or number up only, 1; down only, -1; or both, 0. A dict
        has the names of features as keys; what it does not name is free. The finished function
        holds this exactly. For two classes the score is that of the second one. A missing value is
        free.
    interactions : int, default=0
        Pairs of features, at most, that have a table besides the functions of single features. They
        are chosen as FAST does, by what the functions leave, and trained after these, by the same
        rounds. What is of one feature goes to its function, so that a table has the mean 0 over the
        samples in every row and column. Features of `monotonic_cst` are in none.
    n_jobs : int or None, default=None
        Number of threads of the training, which share the samples. The model is the same for every
        number. None: 1, except in a context of `joblib.parallel_config`; -1: the number of cores.
    random_state : int, RandomState instance or None, default=None
        Seed of the parts and thresholds.
    """

    n_iterations: PositiveInt = 2000
    n_estimators: PositiveInt = 24
    validation_fraction: Fraction = 0.25
    eta: FractionOrOne = 0.4
    max_bins: TwoOrMore | None = 64
    patience: PositiveInt = 30
    _: KW_ONLY
    monotonic_cst: MonotonicConstraints = None
    interactions: NonNegativeInt = 0
    n_jobs: Integral | None = None

    def fit(self, X, y, sample_weight=None):
        """Train the members.

        Parameters
        ----------
        X, y : array-like of shape (n_samples, n_features) and (n_samples,)
            Training data, and their labels, strings or of one of NumPy's own types, or finite
            numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            What the terms of the samples in the loss are multiplied with, not negative; the weight
            0 is no sample at all. None: all are 1.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If X is no matrix of numbers and categories, y holds one class only or numbers that are
            not finite, a parameter is out of range, a weight is negative or all are 0, or there are
            too few samples to leave some out.
        """
        with one_blas_thread():
            return super().fit(X, y, sample_weight)

    @abstractmethod
    def _make_loss(self, target, weights):
        """Return the loss of a training set; the weights have the mean 1."""

    def _staged_scores(self, X, stages):
        """Yield the scores of the only stage that is kept, the last."""
        for _ in stages:
            scores = self.hypotheses_.scores(X, self.coefficients_) + self.intercept_
            for pair in self.pairs_:
                scores = scores + pair.lookup(X).reshape(scores.shape)
            yield scores

    def _make_master(self, X, target, random_state, weights=None):
        features = X if self.views_.is_plain else X.features
        table = FeatureCodes.from_features(features, self.views_, self.max_bins, weights)
        weights = np.ones(len(X)) if weights is None else normalise_weights(weights)
        loss = self._make_loss(target, weights)
        is_out_of_bag = np.zeros((self.n_estimators, len(X)), bool)
        for member in is_out_of_bag:
            member[stratified_holdout(loss.strata, self.validation_fraction, random_state)[1]] = (
                True
            )
        return JointStumpMaster(
            self,
            X,
            table,
            loss,
            is_out_of_bag,
            weights,
            random_state,
            self._monotonic_signs(),
            Threads(self.n_jobs),
        )

    def _monotonic_signs(self):
        """Return which views may move the scores up only, 1, down only, -1, or both, 0."""
        signs = check_monotonic_cst(self, self.monotonic_cst)
        if not signs.any():
            return np.zeros(len(self.views_.feature), int)
        if len(getattr(self, "classes_", ())) > 2:
            raise ValueError(
                "monotonic_cst is for numbers and for two classes, and y holds "
                f"{len(self.classes_)} classes"
            )
        for feature in self.categories_:
            if signs[feature]:
                raise ValueError(
                    f"monotonic_cst constrains feature {feature}, which is one of categories: they "
                    "have no order"
                )
        return np.where(np.isnan(self.views_.category), signs[self.views_.feature], 0)

    def _store_model(self, master):
        self.n_iterations_ = master.best_round + master.n_interaction_rounds
        self.validation_losses_ = master.loss.to_user_units(np.array(master.losses))
        self.pairs_, stump_sum = master.model()
        self.hypotheses_, self.coefficients_, self.intercept_ = stump_sum
        self.n_parameters_ = (
            2 * len(self.hypotheses_)
            + self.coefficients_.size
            + self.intercept_.size
            + sum(pair.table.size for pair in self.pairs_)
        )
