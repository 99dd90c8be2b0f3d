"""Bases of weighted sums of stumps with a coefficient for every class."""

from dataclasses import KW_ONLY
from typing import ClassVar

import numpy as np

from boostbench.algorithms.base.booster import TabularBooster
from boostbench.algorithms.base.estimators import BoostingClassifier
from boostbench.algorithms.base.master import MAX_EDGE, Master
from boostbench.algorithms.base.parameters import TwoOrMore
from boostbench.algorithms.base.targets import normalise_weights
from boostbench.core.stumps.category_sets import add_category_sets, stack_stumps


class StumpEnsemble(TabularBooster, BoostingClassifier):
    """Classifier of the form ``F(x) = sum_t h_t(x) W[t]`` with stumps and vote vectors.

    Parameters
    ----------
    max_bins : int or None, default=None
        Number of quantile bins of each feature. None: all thresholds are searched.

    Attributes
    ----------
    hypotheses_ : Stumps or StumpsWithSets
        Stump of each round; see `boostbench.core.stumps.category_sets.stack_stumps`.
    coefficients_ : ndarray of shape (n_iterations_, n_classes)
        Vote vector W[t] of each round.
    n_parameters_ : int
        Number of parameters of the stumps and coefficients.
    """

    edition = 2

    _: KW_ONLY
    max_bins: TwoOrMore | None = None

    _takes_sparse: ClassVar = True

    def _store_model(self, master):
        self.hypotheses_ = stack_stumps(master.stumps)
        self.coefficients_ = np.reshape(master.votes, (len(master.stumps), len(self.classes_)))
        self.n_parameters_ = self.hypotheses_.n_parameters + self.coefficients_.size


class CategorySetBooster(TabularBooster):
    """Booster of stumps that may separate a set of categories from the others.

    Parameters
    ----------
    category_sets : bool, default=False
        True: a stump tests the best set of categories. False: a stump separates one category from
        all others. Sets help if features have many categories; with few categories and few samples
        they overfit. Missing values count as one more category.
    """

    _: KW_ONLY
    category_sets: bool = False

    def _enable_category_sets(self, search):
        """Return a search that also finds sets of categories, if `category_sets` is set."""
        return add_category_sets(search, self.views_) if self.category_sets else search


class StumpMaster(Master):
    """Master of boosters that add a stump with fixed votes in each round.

    Parameters
    ----------
    params, search
        See `Master`.
    weights : ndarray of shape (n_samples, n_columns)
        Initial weights for equal sample weights. Their sign is the output that a stump should have.
    sample_weight : ndarray of shape (n_samples,), default=None
        Sample weights; None: all are 1.

    Attributes
    ----------
    weights : ndarray of shape (n_samples, n_columns)
        Signed weights of the next search. The edge of a stump in a column is the sum of the weights
        times its outputs.
    stumps, votes : list
        Stump of each round, and its vote: a coefficient, or one for each class.
    """

    per_round_lists: ClassVar = ("stumps", "votes")

    def __init__(self, params, search, weights, sample_weight=None):
        super().__init__(params, search)
        factors = normalise_weights(sample_weight)
        # Sample weights of mean 1, of shape (n_samples, 1), or None.
        self._sample_factors = None if factors is None else factors[:, None]
        self.weights = self.apply_sample_weight(weights)

    def apply_sample_weight(self, weights):
        """Return `weights`, of shape (n_samples, n_columns), times the sample weights of mean 1."""
        return weights if self._sample_factors is None else weights * self._sample_factors

    def adaboost_coefficient(self, edge):
        """Return AdaBoost's coefficient for an edge, and whether the stump makes errors.

        Parameters
        ----------
        edge : float
            Edge of the stump, from 0 to 1, for weights whose absolute values sum to 1.

        Returns
        -------
        alpha : float
            Half of the logarithm of (1 + edge) / (1 - edge). The edge is capped at `MAX_EDGE`, as a
            perfect stump would get an infinite coefficient.
        has_errors : bool
            False if the edge is 1 up to rounding: the weights of another round would all be 0.
        """
        capped = min(edge, MAX_EDGE)
        return 0.5 * np.log((1 + capped) / (1 - capped)), edge < MAX_EDGE
