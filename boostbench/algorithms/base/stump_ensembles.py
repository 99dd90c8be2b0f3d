"""Sums of stumps with a coefficient for every class: their base."""

from dataclasses import KW_ONLY
from typing import ClassVar

import numpy as np

from boostbench.algorithms.base.booster import TabularBooster
from boostbench.algorithms.base.estimators import BoostingClassifier
from boostbench.algorithms.base.master import MAX_EDGE, Master
from boostbench.algorithms.base.parameters import TwoOrMore
from boostbench.algorithms.base.weights import normalise_weights
from boostbench.core.stumps.category_sets import stacked, with_sets


class StumpEnsemble(TabularBooster, BoostingClassifier):
    """Classifiers of the form ``F(x) = sum_t h_t(x) W[t]`` with stumps and vote vectors.

    Parameters
    ----------
    max_bins : int or None, default=None
        Quantile bins of each feature; None: all thresholds are tried.
    """

    edition = 2

    _: KW_ONLY
    max_bins: TwoOrMore | None = None

    _takes_sparse: ClassVar = True

    def _store_model(self, master):
        self.hypotheses_ = stacked(master.stumps)
        self.coefficients_ = np.reshape(master.votes, (len(master.stumps), len(self.classes_)))
        self.n_parameters_ = self.hypotheses_.n_parameters + self.coefficients_.size


class CategorySetBooster(TabularBooster):
    """A booster of stumps that may set several categories apart at once.

    Parameters
    ----------
    category_sets : bool, default=False
        Whether a stump may test any set of categories, and finds the best of all sets, instead of
        one category against the rest. It pays where a feature has many categories, and overfits
        where there are few and the samples are few too. Missing values are a category more.
    """

    _: KW_ONLY
    category_sets: bool = False

    def _enable_category_sets(self, search):
        """Let a search of stumps find sets, if it is to."""
        return with_sets(search, self.views_) if self.category_sets else search


class StumpMaster(Master):
    """Stumps, their votes, and the weights that the next one is found with.

    Parameters
    ----------
    params, search
        As of `Master`.
    weights : ndarray of shape (n_samples, n_columns)
        Those of samples that are all alike.
    sample_weight : ndarray of shape (n_samples,), default=None
        None: all are 1.
    """

    per_round_lists: ClassVar = ("stumps", "votes")

    def __init__(self, params, search, weights, sample_weight=None):
        super().__init__(params, search)
        factors = normalise_weights(sample_weight)
        self._factors = None if factors is None else factors[:, None]
        self.weights = self.apply_sample_weight(weights)

    def apply_sample_weight(self, weights):
        """Multiply what samples alike would weigh with their own weights, of mean 1."""
        return weights if self._factors is None else weights * self._factors

    def step(self, edge):
        """Return the coefficient for an edge in [0, 1] and whether it leaves errors to correct."""
        capped = min(edge, MAX_EDGE)
        return 0.5 * np.log((1 + capped) / (1 - capped)), edge < MAX_EDGE
