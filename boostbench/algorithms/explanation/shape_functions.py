"""Sums of stumps as exact functions of one feature each; see the method `shape_functions`."""

import copy
from itertools import pairwise

import numpy as np
import pandas as pd

from boostbench.algorithms.base.booster import densify
from boostbench.algorithms.base.decision_values import decision_values, labels_from_scores
from boostbench.algorithms.explanation.stump_sums import (
    feature_names,
    output_names,
    shortest_decimals,
)
from boostbench.algorithms.explanation.terms import build_term
from boostbench.core.stumps.stump import Stumps
from boostbench.core.stumps.views import identity_views


class ShapeFunctions:
    r"""A fitted sum of stumps as :math:`F(x) = F_0 + \sum_j f_j(x_j)`, a step function per feature.

    Returned by `BoostingClassifier.shape_functions`. The form is exact: stumps on the same feature
    add up to a step function. Every category, and a missing value, has its own function value. A
    bag may also have tables of two features.

    Stumps test views. A view is a derived column of a feature: the feature with missing values
    filled, or an indicator of a category or of missing values.

    A bag also has an estimate of its uncertainty, called spread throughout. Every contribution c
    has a vector s(c) of n_components components. Its norm is the standard deviation of c, and the
    inner product of s(c) and s(d) is the covariance of c and d. The vector of a sum is therefore
    the sum of the vectors. `Spread` of `boostbench.algorithms.explanation.spread` says how it is
    estimated.

    Parameters
    ----------
    model : BoostingClassifier or BoostingRegressor
        Fitted model, a sum of stumps.
    X : array-like of shape (n_samples, n_features), default=None
        Samples over which every :math:`f_j` is centred to the mean 0, so that :math:`F_0` is the
        mean score. None: the functions are plain sums of stumps, and :math:`F_0` is the intercept
        of the model.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,) or None
        Classes; None for a regressor.
    feature_names : ndarray of shape (n_features,)
        Names of the training data's features, or ``x0``, ``x1``, ...
    outputs : ndarray of shape (n_outputs,)
        Names of the scores: the classes; for two classes the second one; ``prediction`` for a
        regressor, or ``log(prediction)`` if its `link_` is ``"log"``.
    terms : list of boostbench.algorithms.explanation.terms.Term
        Contributions of the features in use.
    pairs : list of boostbench.algorithms.bagging.interactions.Pair
        Tables of two features, whose values are added to the terms.
    intercept : ndarray of shape (n_outputs,)
        Constant :math:`F_0` of the scores.
    """

    def __init__(self, model, X=None):
        # Copy the model, so that another fit of it changes nothing here.
        self._model = copy.copy(model)
        self._n_features = model.n_features_in_
        self._views = getattr(model, "views_", None) or identity_views(self._n_features)
        self.classes_ = getattr(model, "classes_", None)
        self._categories = getattr(model, "categories_", {})
        self.outputs = output_names(model)
        self.feature_names = feature_names(model)
        # The intercept is a scalar for a single score, and of shape (n_outputs,) otherwise. Scores
        # that differ by less than the slack are ties.
        terms, self._intercept, self._slack = model._build_terms()
        self._is_binary = np.ndim(self._intercept) == 0
        self.pairs = list(getattr(model, "pairs_", ()))
        # The spread is None if the model is no bag. Each term holds its part.
        spread = getattr(model, "_spread", None)
        self.terms = terms if spread is None else spread.attach(terms)
        self._intercept_spread = None if spread is None else spread.intercept_spread()
        self._pair_spreads = [] if spread is None else spread.pair_spreads()
        if X is not None:
            self._centre(self.numbers(X))

    def decision_function(self, X):
        """Return the scores of the classes, or the predicted numbers or their logarithms.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes and for a regressor
            Scores of the model, up to rounding errors.
        """
        return decision_values(self.scores(X), self._slack)

    def scores(self, X):
        """Return the sum of all terms, without the rule for ties of `decision_function`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes and for a regressor
        """
        X = self.numbers(X)
        scores = np.zeros((len(X), len(self.outputs)))
        for contributions in [*self._term_contributions(X), *self._pair_contributions(X)]:
            scores += contributions
        scores += self._intercept
        return scores[:, 0] if self._is_binary else scores

    def predict(self, X):
        """Return the predictions of the model, labels or numbers of shape (n_samples,)."""
        scores = self.decision_function(X)
        if self.classes_ is not None:
            return labels_from_scores(scores, self.classes_)
        return np.exp(scores) if self._model.link_ == "log" else scores

    @property
    def intercept(self):
        """Constant of the scores, of shape (n_outputs,)."""
        return np.broadcast_to(self._intercept, len(self.outputs))

    @property
    def importances(self):
        """Importances of the features, of shape (n_features,), with sum 1.

        They equal `feature_importances_` of the model, which are computed over its training
        samples. They do not depend on the `X` of this object.
        """
        return self._model.feature_importances_

    @property
    def pair_importances(self):
        """Importances of the pairs, of shape (n_pairs,), in the unit of `importances`.

        The importance of a pair is the mean absolute contribution of its table to the scores of
        the training samples, divided by the sum of the mean absolute contributions of all features.
        """
        sizes = self._model._fitted_term_sizes()
        return sizes.pair_sizes / sizes.total

    @property
    def views(self):
        """Columns that the stumps test, `boostbench.core.stumps.views.Views`."""
        return self._views

    def feature_index(self, feature):
        """Return the index of a feature, given by its name or index.

        Raises
        ------
        ValueError
            If there is no such feature.
        """
        names = list(self.feature_names)
        if feature in names:
            return names.index(feature)
        if feature not in range(len(names)):
            raise ValueError(f"there is no feature {feature!r}")
        return int(feature)

    @property
    def has_spread(self):
        """True if standard deviations are known: the model is a bag."""
        return self._intercept_spread is not None

    @property
    def pair_stds(self):
        """Standard deviation of each entry of the tables of the pairs.

        A list of an ndarray of shape (n_cells, n_cells, n_outputs) for each pair, or of None if
        the model is no bag.
        """
        if not self.has_spread:
            return [None] * len(self.pairs)
        return [np.linalg.norm(spread, axis=-1) for spread in self._pair_spreads]

    def spread(self, X):
        """Return the spread of the scores: the square root of their covariance.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_outputs, n_components)
            The norm over the components is the standard deviation of a score, and the inner product
            of two scores is their covariance.

        Raises
        ------
        ValueError
            If the model has no members.
        """
        self._require_spread()
        X = self.numbers(X)
        spread = np.repeat(self._intercept_spread[None], len(X), axis=0)
        for term in self.terms:
            spread += term.spread[term.row_indices(X[:, term.feature])]
        for pair_spread in self._sample_pair_spreads(X):
            spread += pair_spread
        return spread

    def term(self, feature):
        """Return the shape function of a feature; it is 0 if the feature is not in use.

        Parameters
        ----------
        feature : int
            Index of the feature.

        Returns
        -------
        boostbench.algorithms.explanation.terms.Term
        """
        for term in self.terms:
            if term.feature == feature:
                return term
        # A term without stumps is 0 everywhere.
        no_stumps, no_votes = Stumps([]), np.zeros((0, len(self.outputs)))
        return build_term(feature, no_stumps, no_votes, self._views, self._categories)

    def explain_global(self, return_std=False):
        """Return the shape functions as a table.

        Parameters
        ----------
        return_std : bool, default=False
            True: return the standard deviations as well. Only for bags.

        Returns
        -------
        table : pandas.DataFrame
            One row per step: ``feature``, the interval of values from ``left`` (exclusive) to
            ``right`` (inclusive), and one column per output with the contribution to the score. If
            the training data have categories or missing values, there is a column ``category``:
            rows of categories, and of missing values (category None), have no ``left`` and
            ``right``. Features that are not in use have no rows.
        std : pandas.DataFrame
            Standard deviation of each contribution, with the rows and the outputs of the table. It
            is an estimate of the change if the model were trained on another sample of the same
            population; see `boostbench.algorithms.explanation.spread.Spread`. Only if `return_std`
            is True.

        Raises
        ------
        ValueError
            If `return_std` is True and the model has no members.
        """
        columns = ["feature", "left", "right"]
        if not self._views.is_plain:
            columns.append("category")
        # 1) Make a table for each feature. The rows of categories and of missing values have no
        #    interval.
        frames = []
        for term in self.terms:
            # `values` is `table` without its last row, of missing values.
            visible = term.table if term.has_missing else term.values
            left_ends = np.full(len(visible), np.nan)
            right_ends, category = left_ends.copy(), np.full(len(visible), None, object)
            if term.categories is None:
                ends = np.concatenate([[-np.inf], term.thresholds, [np.inf]])
                left_ends[: len(ends) - 1], right_ends[: len(ends) - 1] = ends[:-1], ends[1:]
            else:
                category[: len(term.categories)] = term.categories
            steps = {
                "feature": self.feature_names[term.feature],
                "left": left_ends,
                "right": right_ends,
                "category": pd.Series(category, dtype=object),
            }
            # The frames are joined side by side, as a class may have the name of another column.
            contributions = pd.DataFrame(visible, columns=self.outputs)
            frames.append(pd.concat([pd.DataFrame(steps)[columns], contributions], axis=1))
        if frames:
            table = pd.concat(frames, ignore_index=True)
        else:
            table = pd.DataFrame(columns=[*columns, *self.outputs])
        if not return_std:
            return table
        # 2) Make a table of the standard deviations in the same rows: the last row of a term, for
        #    missing values, is visible if the training data had some.
        self._require_spread()
        stds = [term.std if term.has_missing else term.std[:-1] for term in self.terms]
        stds = np.concatenate([np.empty((0, len(self.outputs))), *stds])
        return table, pd.DataFrame(stds, columns=self.outputs)

    def explain_local(self, X, return_std=False):
        """Return the contributions of the features to the scores of samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        return_std : bool, default=False
            True: return the standard deviations as well. Only for bags.

        Returns
        -------
        terms : pandas.DataFrame
            One row per sample. The columns are ``intercept``, the name of each feature, and the
            name of each pair, such as ``a & b``. The intercept is the first column, even if a
            feature has this name. The sum of the columns is `decision_function`. For more than two
            classes, the columns have the class as an upper level:
            ``explain_local(X)[label].sum(axis=1)`` is the score of a class.
        std : pandas.DataFrame
            Standard deviation of each contribution, in the same form; see `explain_global`. Only if
            `return_std` is True.

        Raises
        ------
        ValueError
            If `return_std` is True and the model has no members.
        """
        X = self.numbers(X)
        if return_std:
            self._require_spread()
            return self._contribution_table(X), self._std_table(X)
        return self._contribution_table(X)

    def _contribution_table(self, X):
        """Return the contributions of `explain_local`.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Samples as `numbers` returns them.
        """
        contributions = self._local_zeros(len(X))
        contributions[:, 0] = self.intercept
        for term, values in zip(self.terms, self._term_contributions(X), strict=True):
            contributions[:, 1 + term.feature] = values
        for index, values in enumerate(self._pair_contributions(X), 1 + self._n_features):
            contributions[:, index] = values
        return self._local_table(contributions)

    def _std_table(self, X):
        """Return the standard deviations of `explain_local`.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Samples as `numbers` returns them.
        """
        stds = self._local_zeros(len(X))
        stds[:, 0] = np.linalg.norm(self._intercept_spread, axis=-1)
        for term in self.terms:
            stds[:, 1 + term.feature] = term.std[term.row_indices(X[:, term.feature])]
        for index, spread in enumerate(self._sample_pair_spreads(X), 1 + self._n_features):
            stds[:, index] = np.linalg.norm(spread, axis=-1)
        return self._local_table(stds)

    def _local_zeros(self, n_samples):
        """Return zeros of shape (n_samples, 1 + n_features + n_pairs, n_outputs).

        The columns belong to the intercept, the features and the pairs.
        """
        n_columns = 1 + self._n_features + len(self.pairs)
        return np.zeros((n_samples, n_columns, len(self.outputs)))

    def _local_table(self, values):
        """Return an array in the form of `_local_zeros` as a data frame."""
        names = ["intercept", *self.feature_names, *map(self.pair_name, self.pairs)]
        if self._is_binary:
            return pd.DataFrame(values[..., 0], columns=names)
        columns = pd.MultiIndex.from_product([self.outputs, names], names=["class", "term"])
        return pd.DataFrame(np.swapaxes(values, 1, 2).reshape(len(values), -1), columns=columns)

    def numbers(self, X):
        """Return checked samples as a matrix of numbers, with codes in place of categories.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_features), dtype=float64
            The code of a category is its position in `Term.categories`; NaN for unknown
            categories and missing values.
        """
        return densify(self._model._validate_input(X, reset=False))

    def pair_name(self, pair):
        """Return the name of a pair, made of its features."""
        return " & ".join(str(self.feature_names[axis.feature]) for axis in pair.axes)

    def cell_names(self, axis):
        """Return the names of the cells along an axis of a pair.

        Parameters
        ----------
        axis : boostbench.core.learners.feature_interactions.Axis

        Returns
        -------
        list of str
            Intervals, such as ``0.5 to 2``, or categories; ``missing`` for missing values.
        """
        if axis.thresholds is not None:
            ends = shortest_decimals(axis.thresholds, digits=4)
            names = [f"up to {ends[0]}", *map(" to ".join, pairwise(ends)), f"above {ends[-1]}"]
            return [*names, "missing"] if axis.has_missing else names
        categories, codes = self._categories[axis.feature], self._views.category[axis.views]
        names = ["missing" if np.isinf(code) else str(categories[int(code)]) for code in codes]
        # An axis with a single indicator has two cells: the indicator is 0 or 1.
        return names if len(names) > 1 else [f"other than {names[0]}", *names]

    def cell_weights(self, X, weights):
        """Return the sum of the sample weights in each cell of each pair.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        weights : ndarray of shape (n_samples,)

        Returns
        -------
        list of ndarray of shape (n_cells,)
            Sums in the order of the raveled table.
        """
        if not self.pairs:
            return []
        view_values = self._views.transform(X)
        return [
            np.bincount(pair.flat_cell_indices(view_values), weights, pair.n_cells)
            for pair in self.pairs
        ]

    def _require_spread(self):
        """Raise ValueError if the model has no standard deviations."""
        if not self.has_spread:
            raise ValueError(
                f"{type(self._model).__name__} has no standard deviations: they are the spread of "
                "the members of a bag, such as BaggedMCBoost"
            )

    def _sample_pair_spreads(self, X):
        """Return the spread of each pair's contribution to the scores of samples.

        Returns
        -------
        list of ndarray of shape (n_samples, n_outputs, n_components)
        """
        if not self.pairs:
            return []
        view_values = self._views.transform(X)
        return [
            spread[tuple(axis.cell_indices(view_values) for axis in pair.axes)]
            for pair, spread in zip(self.pairs, self._pair_spreads, strict=True)
        ]

    def _pair_contributions(self, X):
        """Return the contributions of the pairs, each of shape (n_samples, n_outputs)."""
        if not self.pairs:
            return []
        view_values = self._views.transform(X)
        return [pair.lookup(view_values) for pair in self.pairs]

    def _term_contributions(self, X):
        """Yield the contributions of the terms, each of shape (n_samples, n_outputs)."""
        for term in self.terms:
            yield term.lookup(X[:, term.feature])

    def _centre(self, X):
        """Move the mean of each function over samples to the intercept.

        Spreads are linear in the functions, so that their means move in the same way.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Samples as `numbers` returns them.
        """
        # 1) Centre the terms of the features by the number of samples in each row of their tables.
        means, spread_means = [], []
        for index, term in enumerate(self.terms):
            counts = np.bincount(term.row_indices(X[:, term.feature]), minlength=len(term.table))
            self.terms[index], mean, spread_mean = term.centre(counts)
            means.append(mean)
            spread_means.append(spread_mean)
        # 2) Centre the tables of pairs by the number of samples in each cell.
        cell_counts = self.cell_weights(X, np.ones(len(X)))
        for index, (pair, counts) in enumerate(zip(self.pairs, cell_counts, strict=True)):
            shares = counts.reshape(pair.table.shape[:2]) / len(X)
            means.append(np.tensordot(shares, pair.table))
            self.pairs[index] = pair._replace(table=pair.table - means[-1])
            if self.has_spread:
                spread_means.append(np.tensordot(shares, self._pair_spreads[index]))
                self._pair_spreads[index] = self._pair_spreads[index] - spread_means[-1]
        # 3) Add the means to the intercept.
        self._intercept = self._intercept + sum(means)
        if self.has_spread:
            self._intercept_spread = self._intercept_spread + sum(spread_means)
