"""Sums of stumps as exact functions of one feature each."""

import copy
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd

from boostbench.algorithms.base.booster import to_dense
from boostbench.algorithms.base.decisions import decision_values, labels_from_scores
from boostbench.algorithms.explanation.number_format import shortest_decimals
from boostbench.algorithms.explanation.stump_sums import feature_names, output_names
from boostbench.core.stumps.stump import additive_tables
from boostbench.core.stumps.views import identity_views


class Term(NamedTuple):
    """Contribution of one feature to the scores.

    Attributes
    ----------
    feature : int
        Index of the feature.
    thresholds : ndarray of shape (n_thresholds,)
        Thresholds, ascending; empty for a categorical feature.
    categories : ndarray of shape (n_categories,) or None
        Categories; None for a numeric feature.
    table : ndarray of shape (n_thresholds + 2, n_outputs) or (n_categories + 1, n_outputs)
        Contribution in each interval of values, which includes its upper threshold, or of each
        category. The last row is for a missing value.
    has_missing : bool
        True if the training data had missing values of the feature.
    """

    feature: int
    thresholds: np.ndarray
    categories: np.ndarray | None
    table: np.ndarray
    has_missing: bool

    @property
    def values(self):
        """Table without the row for a missing value."""
        return self.table[:-1]

    @property
    def missing(self):
        """Contribution of a missing value, of shape (n_outputs,)."""
        return self.table[-1]

    def steps(self, low, high):
        """Return the steps of a numeric feature within an interval.

        Parameters
        ----------
        low, high : float
            Ends of the interval.

        Returns
        -------
        edges : ndarray of shape (n_steps + 1,)
            Edges of the steps, from `low` to `high`.
        values : ndarray of shape (n_steps, n_outputs)
            Contribution on each step.
        """
        inside = self.thresholds[(self.thresholds >= low) & (self.thresholds < high)]
        # The first step is the one that contains `low`; its width is 0 if `low` is a threshold.
        first = int(self.thresholds.searchsorted(low))
        return np.concatenate([[low], inside, [high]]), self.table[first : first + len(inside) + 1]

    def row_indices(self, values):
        """Return the row of the table for each value (a number, or the code of a category)."""
        missing = np.isnan(values)
        if self.categories is None:
            rows = self.thresholds.searchsorted(values)
        else:
            rows = np.where(missing, 0, values).astype(int)
        return np.where(missing, len(self.table) - 1, rows)

    def lookup(self, values):
        """Return the contributions of values, of shape (n_values, n_outputs)."""
        return self.table[self.row_indices(values)]


class ShapeFunctions:
    r"""A fitted sum of stumps as :math:`F(x) = F_0 + \sum_j f_j(x_j)`, a step function per feature.

    Returned by `BoostingClassifier.shape_functions`. The form is exact: stumps on the same feature
    add up to a step function. Every category, and a missing value, has its own function value. A
    bag may also have tables of two features.

    Stumps test views. A view is a derived column of a feature: the feature with missing values
    filled, or an indicator of a category or of missing values.

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
        regressor.
    terms : list of Term
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
        total = model.stump_sum().expand_category_sets(self._views)
        stumps, coefficients, self._intercept = total
        self._is_binary = coefficients.ndim == 1
        columns = coefficients[:, None] if self._is_binary else coefficients
        self.classes_ = getattr(model, "classes_", None)
        self._slack = total.slack(model)
        self._categories = getattr(model, "categories_", {})
        self.outputs = output_names(model)
        self.feature_names = feature_names(model)
        tables = self._move_constant_stumps_to_intercept(additive_tables(stumps, columns))
        self.terms = [
            self._make_term(feature, group) for feature, group in self._group_by_feature(tables)
        ]
        self.pairs = list(getattr(model, "pairs_", ()))
        if X is not None:
            X = self.numbers(X)
            for index, values in enumerate(self._pair_contributions(X)):
                table = self.pairs[index].table.copy()
                self._move_constant(table, values.mean(axis=0))
                self.pairs[index] = self.pairs[index]._replace(table=table)
            for values, term in zip(self._term_contributions(X), self.terms, strict=True):
                self._move_constant(term.table, values.mean(axis=0))

    def decision_function(self, X):
        """Return the scores of the classes, or the predicted numbers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes and for a regressor
            Scores of the model, up to rounding errors.
        """
        X = self.numbers(X)
        scores = np.zeros((len(X), len(self.outputs)))
        for values in [*self._term_contributions(X), *self._pair_contributions(X)]:
            scores += values
        scores += self._intercept
        return decision_values(scores[:, 0] if self._is_binary else scores, self._slack)

    def predict(self, X):
        """Return the predictions of the model, labels or numbers of shape (n_samples,)."""
        scores = self.decision_function(X)
        return scores if self.classes_ is None else labels_from_scores(scores, self.classes_)

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

    def term(self, feature):
        """Return the shape function of a feature; it is 0 if the feature is not in use."""
        used = {term.feature: term for term in self.terms}
        return used[feature] if feature in used else self._make_term(feature, [])

    def explain_global(self):
        """Return the shape functions as a table.

        Returns
        -------
        pandas.DataFrame
            One row per step: ``feature``, the interval of values from ``left`` (exclusive) to
            ``right`` (inclusive), and one column per output with the contribution to the score. If
            the training data have categories or missing values, there is a column ``category``:
            rows of categories, and of missing values (category None), have no ``left`` and
            ``right``. Features that are not in use have no rows.
        """
        columns = ["feature", "left", "right"]
        if not self._views.is_plain:
            columns.append("category")
        frames = []
        for term in self.terms:
            visible = term.table if term.has_missing else term.values
            left = np.full(len(visible), np.nan)
            right, category = left.copy(), np.full(len(visible), None, object)
            if term.categories is None:
                ends = np.concatenate([[-np.inf], term.thresholds, [np.inf]])
                left[: len(ends) - 1], right[: len(ends) - 1] = ends[:-1], ends[1:]
            else:
                category[: len(term.categories)] = term.categories
            steps = {
                "feature": self.feature_names[term.feature],
                "left": left,
                "right": right,
                "category": pd.Series(category, dtype=object),
            }
            # Side by side, as a class may have the name of another column.
            votes = pd.DataFrame(visible, columns=self.outputs)
            frames.append(pd.concat([pd.DataFrame(steps)[columns], votes], axis=1))
        if not frames:
            return pd.DataFrame(columns=[*columns, *self.outputs])
        return pd.concat(frames, ignore_index=True)

    def explain_local(self, X):
        """Return the contributions of the features to the scores of samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        pandas.DataFrame
            One row per sample. The columns are ``intercept``, the name of each feature, and the
            name of each pair, such as ``a & b``. The intercept is the first column, even if a
            feature has this name. The sum of the columns is `decision_function`. For more than two
            classes, the columns have the class as an upper level:
            ``explain_local(X)[label].sum(axis=1)`` is the score of a class.
        """
        X = self.numbers(X)
        pair_values = self._pair_contributions(X)
        n_terms = 1 + self._n_features
        terms = np.zeros((len(X), n_terms + len(pair_values), len(self.outputs)))
        terms[:, 0] = self.intercept
        for index, values in enumerate(pair_values):
            terms[:, n_terms + index] = values
        for term, values in zip(self.terms, self._term_contributions(X), strict=True):
            terms[:, 1 + term.feature] = values
        names = ["intercept", *self.feature_names, *map(self.pair_name, self.pairs)]
        if self._is_binary:
            return pd.DataFrame(terms[..., 0], columns=names)
        columns = pd.MultiIndex.from_product([self.outputs, names], names=["class", "term"])
        return pd.DataFrame(np.swapaxes(terms, 1, 2).reshape(len(X), -1), columns=columns)

    def numbers(self, X):
        """Check samples, and replace categories by their codes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_features), dtype=float64
            Samples. The code of a category is its position in `Term.categories`; NaN for unknown
            categories and missing values.
        """
        return to_dense(self._model._validate_input(X, reset=False))

    def pair_name(self, pair):
        """Return the name of a pair, made of its features."""
        return " & ".join(str(self.feature_names[axis.feature]) for axis in pair.axes)

    def cell_names(self, axis):
        """Return the names of the cells along an axis of a pair."""
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
        Z = self._views.transform(X)
        return [
            np.bincount(pair.flat_cell_indices(Z), weights, pair.n_cells) for pair in self.pairs
        ]

    def _pair_contributions(self, X):
        """Return the contributions of the pairs, each of shape (n_samples, n_outputs)."""
        if not self.pairs:
            return []
        Z = self._views.transform(X)
        return [pair.lookup(Z) for pair in self.pairs]

    def _term_contributions(self, X):
        """Yield the contributions of the terms, each of shape (n_samples, n_outputs)."""
        for term in self.terms:
            yield term.lookup(X[:, term.feature])

    def _move_constant(self, table, constant):
        """Move a constant from a table to the intercept."""
        table -= constant
        self._intercept = self._intercept + constant

    def _move_constant_stumps_to_intercept(self, tables):
        """Move constant stumps, whose thresholds are infinite, to the intercept.

        Returns
        -------
        list of (int, ndarray, ndarray)
            For each view in use: its index, its finite thresholds in ascending order, and the
            values of its step function between them.
        """
        varying = []
        for view, thresholds, table in tables:
            thresholds = thresholds[np.isfinite(thresholds)]
            table = table[: len(thresholds) + 1]
            if len(thresholds):
                varying.append((view, thresholds, table))
            else:
                self._move_constant(table, table[0].copy())
        return varying

    def _group_by_feature(self, tables):
        """Return the features in use in ascending order, each with the tables of its views."""
        by_feature = {}
        for table in tables:
            by_feature.setdefault(int(self._views.feature[table[0]]), []).append(table)
        return sorted(by_feature.items())

    def _make_term(self, feature, tables):
        """Return the `Term` of a feature, the sum of the tables of its views."""
        categories = self._categories.get(feature)
        term_thresholds = np.empty(0)
        if categories is None:
            is_filled = np.isnan(self._views.category)
            view_thresholds = [thresholds for view, thresholds, _ in tables if is_filled[view]]
            term_thresholds = np.unique(np.concatenate([term_thresholds, *view_thresholds]))
            # Each step, and a missing value, is represented by one value of the feature.
            values = np.concatenate([term_thresholds, [np.finfo(float).max, np.nan]])
        else:
            values = np.append(np.arange(len(categories)), np.nan)
        table = np.zeros((len(values), len(self.outputs)))
        for view, thresholds, view_table in tables:
            table += view_table[thresholds.searchsorted(self._views.expand_values(values, view))]
        return Term(feature, term_thresholds, categories, table, self._views.has_missing(feature))
