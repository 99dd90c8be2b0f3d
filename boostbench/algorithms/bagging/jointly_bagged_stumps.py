"""Base of the bags of sums of stumps whose members are trained jointly, and their threads."""

import difflib
from abc import abstractmethod
from concurrent.futures import ThreadPoolExecutor
from dataclasses import KW_ONLY
from functools import cache
from itertools import pairwise
from numbers import Integral

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import is_classifier
from threadpoolctl import ThreadpoolController

from boostbench.algorithms.bagging.stump_rounds import JointStumpMaster
from boostbench.algorithms.base.booster import TabularBooster
from boostbench.algorithms.base.input_validation import encode_known_labels, normalise_weights
from boostbench.algorithms.base.observers import stratified_holdout
from boostbench.algorithms.base.parameters import (
    Fraction,
    FractionOrOne,
    Interactions,
    MonotonicConstraints,
    PositiveInt,
    TwoOrMore,
)
from boostbench.algorithms.explanation.spread import member_spread
from boostbench.core.stumps.feature_codes import fit_feature_codes
from boostbench.util.compat import check_monotonic_cst


class JointlyBaggedStumps(TabularBooster):
    """A bag of boosted sums of stumps, which are trained jointly on random parts of the samples.

    A subclass provides the loss with `_make_loss`. The rounds and the stopping rule are described
    in `boostbench.algorithms.BaggedMCBoost`.

    Parameters
    ----------
    n_iterations : int, default=2000
        Maximum number of rounds of stumps, and of rounds of interactions. The attribute
        `n_iterations_` is the sum of both.
    n_estimators : int, default=24
        Number of members of the bag.
    validation_fraction : float, default=0.25
        Fraction of the samples that is left out of each member's bag, stratified by class.
    eta : float, default=0.4
        Shrinkage of the step of each round; scikit-learn's `learning_rate`.
    max_bins : int or None, default=64
        Number of quantile bins of each feature. None: every threshold is admissible.
    patience : int, default=30
        Number of consecutive rounds without progress that ends the training. The best round is
        kept. Unlike `n_iter_no_change` of other boosters, it holds out no samples from the whole
        bag: each sample is validated by the members whose bag does not contain it, unless `fit`
        is given validation samples.
    monotonic_cst : array-like of int of shape (n_features,), dict or None, default=None
        Monotonic constraint of each feature: 1: increasing; -1: decreasing; 0: none. A dict maps
        names of features to constraints; other features have none. Constraints apply to the number
        or, with two classes, to the score of the second class, and hold exactly. Missing values are
        not constrained.
    interactions : int or list of pairs, default=0
        Maximum number of pairs of features with a table of their own, which FAST selects after the
        stumps are trained; or the pairs themselves, as names or indices of features, such as
        ``[("age", "city"), (0, 3)]``. The tables are trained by the same rounds as the stumps. Main
        effects are moved to the stumps, so that every row and column of a table has mean 0 over the
        samples. Features with a monotonic constraint are in no pair. A given pair with a constant
        feature has no table.
    n_jobs : int or None, default=None
        Number of threads, which share the samples. The model does not depend on it. None: 1, except
        in a context of `joblib.parallel_config`; -1: the number of cores.
    random_state : int, RandomState instance or None, default=None
        Seed of the bags and of the drawn thresholds.
    """

    n_iterations: PositiveInt = 2000
    n_estimators: PositiveInt = 24
    validation_fraction: Fraction = 0.25
    eta: FractionOrOne = 0.4
    max_bins: TwoOrMore | None = 64
    patience: PositiveInt = 30
    _: KW_ONLY
    monotonic_cst: MonotonicConstraints = None
    interactions: Interactions = 0
    n_jobs: Integral | None = None

    def fit(self, X, y, sample_weight=None, *, X_val=None, y_val=None, sample_weight_val=None):
        """Train the members.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data; numbers and categories.
        y : array-like of shape (n_samples,)
            Labels, as strings or of a NumPy type, or finite numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Nonnegative factors of the samples' terms in the loss. Samples with weight 0 are
            ignored. None: all weights are 1.
        X_val : array-like of shape (n_validation_samples, n_features), default=None
            Samples whose loss ends the training, in place of the samples out of the bags. The bags
            are drawn from X in both cases. None: the out-of-bag loss ends the training.
        y_val : array-like of shape (n_validation_samples,), default=None
            Labels or numbers of `X_val`.
        sample_weight_val : array-like of shape (n_validation_samples,), default=None
            Weights of the samples of `X_val` in the mean loss; `class_weight` does not change them.
            None: all weights are 1.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If X is not a matrix of numbers and categories, y has only one class or contains numbers
            that are not finite, a parameter is out of range, a weight is negative, all weights are
            0, or there are too few samples to leave some out.
        """
        with one_blas_thread():
            return super().fit(
                X,
                y,
                sample_weight,
                X_val=X_val,
                y_val=y_val,
                sample_weight_val=sample_weight_val,
            )

    def _check_has_early_stopping(self):
        """Do nothing: every training ends by validation."""

    def _make_early_stopping(self, training, X_val, y_val, weights=None):
        """Give the validation samples to the master, which ends the training by itself.

        The result is None, in place of the observer that other boosters have.
        """
        target = (
            encode_known_labels(y_val, self.classes_, "y_val")
            if is_classifier(self)
            else self._encode_target(y_val)
        )
        training.master.set_validation_data(X_val, target, weights)

    @abstractmethod
    def _make_loss(self, target, weights):
        """Return the loss of a training set; the weights have mean 1."""

    def _staged_scores(self, X, stages):
        """Yield the scores of the last stage, the only one that is stored."""
        for _ in stages:
            scores = self.hypotheses_.scores(X, self.coefficients_) + self.intercept_
            for pair in self.pairs_:
                scores = scores + pair.lookup(X).reshape(scores.shape)
            yield scores

    def _make_master(self, X, target, random_state, weights=None):
        """Code the features, draw the bag of each member, and return the master of the rounds."""
        features = X if self.views_.is_plain else X.features
        codes = fit_feature_codes(features, self.views_, self.max_bins, weights)
        weights = np.ones(len(X)) if weights is None else normalise_weights(weights)
        loss = self._make_loss(target, weights)
        is_out_of_bag = np.zeros((self.n_estimators, len(X)), bool)
        for is_out in is_out_of_bag:
            _, held_out = stratified_holdout(loss.strata, self.validation_fraction, random_state)
            is_out[held_out] = True
        return JointStumpMaster(
            self,
            X,
            codes,
            loss,
            is_out_of_bag=is_out_of_bag,
            weights=weights,
            random_state=random_state,
            signs=self._monotonic_signs(),
            threads=Threads(self.n_jobs),
            interactions=self._check_interactions(),
        )

    def _monotonic_signs(self):
        """Return the monotonic constraint of each view: 1, -1 or 0."""
        signs = check_monotonic_cst(self, self.monotonic_cst)
        if not signs.any():
            return np.zeros(len(self.views_.feature), int)
        if len(getattr(self, "classes_", ())) > 2:
            raise ValueError(
                f"monotonic_cst needs numbers or two classes; y has {len(self.classes_)} classes"
            )
        for feature in self.categories_:
            if signs[feature]:
                raise ValueError(
                    f"monotonic_cst constrains feature {feature}, which is categorical: categories "
                    "have no order"
                )
        return np.where(np.isnan(self.views_.category), signs[self.views_.feature], 0)

    def _check_interactions(self):
        """Return `interactions`: a number, or pairs of feature indices without duplicates."""
        if isinstance(self.interactions, Integral):
            return self.interactions
        names = [str(name) for name in getattr(self, "feature_names_in_", ())]
        signs = check_monotonic_cst(self, self.monotonic_cst)
        pairs = []
        for pair in self.interactions:
            if not isinstance(pair, (tuple, list, np.ndarray)) or len(pair) != 2:
                raise ValueError(f"interactions must be pairs of features, got {pair!r}")
            indices = [names.index(feature) if feature in names else feature for feature in pair]
            for feature, index in zip(pair, indices, strict=True):
                if not isinstance(index, Integral) or not 0 <= index < self.n_features_in_:
                    close = difflib.get_close_matches(str(feature), names, n=1)
                    advice = f"; did you mean {close[0]!r}?" if close else ""
                    raise ValueError(f"interactions names no feature of X with {feature!r}{advice}")
                if signs[index]:
                    raise ValueError(
                        f"interactions contains feature {feature!r}, which monotonic_cst "
                        "constrains: remove one of the two"
                    )
            if indices[0] == indices[1]:
                raise ValueError(f"interactions contains a pair of one feature, {pair[0]!r}")
            pairs.append(tuple(sorted(map(int, indices))))
        return list(dict.fromkeys(pairs))

    def _store_explanation(self, master, X, y, weights=None):
        """Store the sizes of the terms and the spread of the members.

        The spread and the weights of the rows take no more bytes than the model, so that a pickle
        at most doubles.
        """
        super()._store_explanation(master, X, y, weights)
        cell_weights = []
        if self.pairs_:
            weights = np.ones(len(X)) if weights is None else weights
            cell_weights = self.shape_functions().cell_weights(X, weights)
        row_weights = self._term_sizes.row_weights
        model_bytes = (
            self.hypotheses_.feature.nbytes
            + self.hypotheses_.threshold.nbytes
            + self.hypotheses_.polarity.nbytes
            + self.coefficients_.nbytes
            + sum(pair.table.nbytes for pair in self.pairs_)
        )
        self._spread = member_spread(
            *master.member_deviations(),
            n_members=self.n_estimators,
            views=self.views_,
            categories=self.categories_,
            weights=row_weights + cell_weights,
            factor=np.sqrt(1 / self.validation_fraction - 1),
            max_bytes=model_bytes - sum(weights.nbytes for weights in row_weights),
        )

    def _store_model(self, master):
        """Store the model of the best rounds."""
        # The spread of an earlier fit does not belong to this model.
        vars(self).pop("_spread", None)
        self.n_iterations_ = master.best_round + master.n_interaction_rounds
        self.validation_losses_ = master.loss.reported_losses(np.array(master.losses))
        self.pairs_, stump_sum = master.model()
        self.hypotheses_, self.coefficients_, self.intercept_ = stump_sum
        self.n_parameters_ = (
            2 * len(self.hypotheses_)
            + self.coefficients_.size
            + self.intercept_.size
            + sum(pair.table.size for pair in self.pairs_)
        )


class Threads:
    """Threads for functions that spend their time outside of Python's global interpreter lock.

    The thread that calls `map` takes a part of the work.

    Parameters
    ----------
    n_jobs : int or None
        Number of threads; as `n_jobs` of scikit-learn.

    Examples
    --------
    >>> Threads(2).map(abs, [-1, 2, -3])
    [1, 2, 3]
    """

    def __init__(self, n_jobs):
        self._n_threads = effective_n_jobs(n_jobs)
        self._pool = ThreadPoolExecutor(self._n_threads - 1) if self._n_threads > 1 else None

    def map(self, function, items):
        """Return the results for all items, in the order of the items.

        Parameters
        ----------
        function : callable
        items : list

        Returns
        -------
        list
        """
        if self._pool is None:
            return _apply(function, items)
        # Each thread gets one task, not one for each item: to start a task takes some 50
        # microseconds.
        ends = [len(items) * i // self._n_threads for i in range(self._n_threads + 1)]
        parts = [items[start:end] for start, end in pairwise(ends)]
        tasks = [self._pool.submit(_apply, function, part) for part in parts[1:] if part]
        results = _apply(function, parts[0])
        for task in tasks:
            results += task.result()
        return results


def one_blas_thread():
    """Return a context manager that limits BLAS to one thread.

    The products of blocks of samples are so small that threads of BLAS mostly wait for one another.
    """
    return _thread_controller().limit(limits=1, user_api="blas")


# The search for the loaded libraries takes some milliseconds.
@cache
def _thread_controller():
    """Return the controller of the libraries that are loaded."""
    return ThreadpoolController()


def _apply(function, items):
    """Return the results of a function for a list of items."""
    return [function(item) for item in items]
