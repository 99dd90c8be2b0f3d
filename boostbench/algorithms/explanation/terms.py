"""Terms of a sum of stumps: the contribution of each feature, as a table, and its mean size.

Stumps test *views*, numeric columns derived from features (`boostbench.core.stumps.views`): a
number with missing values as its lowest or highest value, or the indicator of a category or of
missing values. All stumps on the views of a feature add up to its term.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from boostbench.algorithms.base.decision_values import ROUNDING
from boostbench.core.stumps.stump import Stumps, additive_tables
from boostbench.core.stumps.thresholds import bin_indices


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
    spread : ndarray of shape (n_rows, n_outputs, n_components) or None
        Square root of the covariance of the table; see
        `boostbench.algorithms.explanation.spread.Spread`. None: the model has no estimate of its
        uncertainty.
    """

    feature: int
    thresholds: np.ndarray
    categories: np.ndarray | None
    table: np.ndarray
    has_missing: bool
    spread: np.ndarray | None = None

    @property
    def values(self):
        """Table without the row for a missing value."""
        return self.table[:-1]

    @property
    def missing(self):
        """Contribution of a missing value, of shape (n_outputs,)."""
        return self.table[-1]

    @property
    def std(self):
        """Standard deviation of each entry of the table; None if `spread` is None."""
        return None if self.spread is None else np.sqrt((self.spread**2).sum(axis=-1))

    def centre(self, weights):
        """Return the term minus its mean, and the mean.

        Parameters
        ----------
        weights : ndarray of shape (n_rows,)
            Weight of each row of the table in the mean.

        Returns
        -------
        term : Term
        mean : ndarray of shape (n_outputs,)
        spread_mean : ndarray of shape (n_outputs, n_components) or None
        """
        shares = weights / weights.sum()
        mean = shares @ self.table
        if self.spread is None:
            return self._replace(table=self.table - mean), mean, None
        spread_mean = np.tensordot(shares, self.spread, axes=1)
        return (
            self._replace(table=self.table - mean, spread=self.spread - spread_mean),
            mean,
            spread_mean,
        )

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
        """Return the row of the table for each value.

        Parameters
        ----------
        values : ndarray of shape (n_values,), dtype=float64
            Numbers, or codes of categories; NaN for missing values.

        Returns
        -------
        ndarray of shape (n_values,), dtype=int64
        """
        is_missing = np.isnan(values)
        present = np.where(is_missing, 0.0, values)
        if self.categories is None:
            present = bin_indices(present, self.thresholds)
        return np.where(is_missing, len(self.table) - 1, present.astype(int))

    def lookup(self, values):
        """Return the contributions of values, of shape (n_values, n_outputs)."""
        return self.table[self.row_indices(values)]


def build_terms(stumps, coefficients, views, categories):
    """Add up the stumps of each feature.

    Parameters
    ----------
    stumps : boostbench.core.stumps.stump.Stumps
    coefficients : ndarray of shape (n_stumps, n_outputs)
    views : boostbench.core.stumps.views.Views
        Views that the stumps test.
    categories : dict of int to ndarray
        Categories of each categorical feature.

    Returns
    -------
    terms : list of Term
        Terms of the features in use, in ascending order.
    constant : ndarray of shape (n_outputs,)
        Sum of the stumps with infinite thresholds, which are constant.
    """
    feature = views.feature[stumps.feature]
    is_used = np.isin(feature, feature[np.isfinite(stumps.threshold)])
    # A stump with the threshold infinity has the output -polarity.
    constant = -(stumps.polarity[~is_used] @ coefficients[~is_used])
    terms = []
    for used_feature in np.unique(feature[is_used]):
        selection = np.flatnonzero(feature == used_feature)
        term_stumps = Stumps.positive(stumps.feature[selection], stumps.threshold[selection])
        votes = stumps.polarity[selection, None] * coefficients[selection]
        terms.append(build_term(int(used_feature), term_stumps, votes, views, categories))
    return terms, constant


def build_term(feature, stumps, votes, views, categories):
    """Return the term of a feature, the sum of its stumps.

    Parameters
    ----------
    feature : int
    stumps : boostbench.core.stumps.stump.Stumps
        Stumps of polarity 1 on views of the feature. No stumps give the term 0.
    votes : ndarray of shape (n_stumps, n_outputs)
        Coefficients of the stumps.
    views, categories
        See `build_terms`.

    Returns
    -------
    Term
    """
    feature_categories = categories.get(feature)
    thresholds = np.empty(0)
    if feature_categories is None:
        is_tested = np.isnan(views.category[stumps.feature]) & np.isfinite(stumps.threshold)
        thresholds = np.unique(stumps.threshold[is_tested])
        # Each step, and a missing value, is represented by one value of the feature.
        values = np.concatenate([thresholds, [np.finfo(float).max, np.nan]])
        table = np.zeros((len(values), votes.shape[1]))
        for view, view_thresholds, view_table in additive_tables(stumps, votes):
            table += view_table[view_thresholds.searchsorted(views.expand_values(values, view))]
    else:
        table = _category_table(len(feature_categories), stumps, votes, views)
    return Term(feature, thresholds, feature_categories, table, views.has_missing(feature))


def _category_table(n_categories, stumps, votes, views):
    """Return the sum of the stumps on a feature, for each category and for a missing value."""

    def outputs(view_values):
        """Return the votes of the stumps at given values of their views."""
        return np.where(view_values > stumps.threshold, 1.0, -1.0)[:, None] * votes

    # Start from the sum where all views are 0. A category changes the outputs of the stumps on one
    # view, its own, which is 1. A missing value, in the last row, sets all views to their `fill`.
    outputs_at_zero = outputs(0.0)
    category = views.category[stumps.feature]
    has_category = np.isfinite(category)
    table = np.zeros((n_categories + 1, votes.shape[1]))
    changes = outputs(1.0)[has_category] - outputs_at_zero[has_category]
    np.add.at(table, category[has_category].astype(int), changes)
    table += outputs_at_zero.sum(axis=0)
    table[-1] = outputs(views.fill[stumps.feature]).sum(axis=0)
    return table


def terms_to_stumps(terms, views):
    r"""Return terms as a sum of stumps, the inverse of `build_terms`.

    A step function with the values :math:`v_0, ..., v_n` is the constant :math:`(v_0 + v_n) / 2`
    plus the stumps at its thresholds with the coefficients :math:`(v_i - v_{i-1}) / 2`. A function
    of categories with the values :math:`v_c` is a stump on each category with the coefficient
    :math:`(v_c - b) / 2`, plus their sum and b, the value of the categories without a view.

    Parameters
    ----------
    terms : list of Term
    views : boostbench.core.stumps.views.Views

    Returns
    -------
    stumps : boostbench.core.stumps.stump.Stumps
        Stumps of polarity 1.
    coefficients : ndarray of shape (n_stumps, n_outputs)
    constant : ndarray of shape (n_outputs,)

    Raises
    ------
    ValueError
        If categories without a view have different values.
    """
    n_outputs = terms[0].table.shape[1] if terms else 1
    stumps, coefficients = [np.empty((2, 0))], [np.empty((0, n_outputs))]
    constant = np.zeros(n_outputs)
    for term in terms:
        convert = _numeric_term_to_stumps if term.categories is None else _category_term_to_stumps
        term_stumps, term_coefficients, term_constant = convert(term, views)
        stumps.append(term_stumps)
        coefficients.append(term_coefficients)
        constant += term_constant
    return Stumps.positive(*np.hstack(stumps)), np.concatenate(coefficients), constant


def _numeric_term_to_stumps(term, views):
    """Return the term of a number as stumps; see `terms_to_stumps`.

    Returns
    -------
    stumps : ndarray of shape (2, n_stumps)
        View and threshold of each stump.
    coefficients : ndarray of shape (n_stumps, n_outputs)
    constant : ndarray of shape (n_outputs,)
    """
    # 1) A stump for each step, on the first view of the feature.
    feature_views = np.flatnonzero(views.feature == term.feature)
    steps = np.diff(term.values, axis=0) / 2
    constant = (term.values[0] + term.values[-1]) / 2
    stumps = np.stack([np.full(len(steps), feature_views[0]), term.thresholds])
    if not term.has_missing:
        return stumps, steps, constant
    # 2) A stump on missing values. The first view counts them as the lowest value, so that their
    #    stump adds the difference to this value; it subtracts half of it from the other values,
    #    which the constant makes up for.
    value_at_fill = term.table[term.row_indices(views.fill[feature_views[:1]])[0]]
    difference = (term.missing - value_at_fill) / 2
    indicator = feature_views[np.isinf(views.category[feature_views])]
    missing_stump = np.stack([indicator, np.full(1, 0.5)])
    return np.hstack([stumps, missing_stump]), np.vstack([steps, difference]), constant + difference


def _category_term_to_stumps(term, views):
    """Return the term of a category as stumps, of the form of `_numeric_term_to_stumps`."""
    # A stump for each category, on its view; the view of missing values has the code infinity.
    feature_views = np.flatnonzero(views.feature == term.feature)
    codes = views.category[feature_views]
    values = term.table[np.where(np.isinf(codes), len(term.values), codes).astype(int)]
    values_without_view = term.values[np.setdiff1d(np.arange(len(term.values)), codes)]
    if (values_without_view != values_without_view[:1]).any():
        raise ValueError(
            f"categories of feature {term.feature} that do not occur in the training data "
            "must have equal contributions"
        )
    base = values_without_view[0] if len(values_without_view) else np.median(values, axis=0)
    stumps = np.stack([feature_views, np.full(len(feature_views), 0.5)])
    return stumps, (values - base) / 2, base + (values - base).sum(axis=0) / 2


class TermSizes(NamedTuple):
    """Mean absolute terms of features and of pairs.

    Attributes
    ----------
    features : ndarray of shape (n_used,), dtype=int64
        Indices of the features in use.
    sizes : ndarray of shape (n_used,), dtype=float64
        Mean absolute term of each of them.
    pair_sizes : ndarray of shape (n_pairs,), dtype=float64
        Mean absolute entry of the table of each pair.
    row_weights : list of ndarray of shape (n_rows,), dtype=float64
        Sum of the sample weights in each row of the table of each used feature.
    """

    features: np.ndarray
    sizes: np.ndarray
    pair_sizes: np.ndarray
    row_weights: list

    @property
    def total(self):
        """Sum over the features; over the pairs if it is 0; 1 if both are 0."""
        return self.sizes.sum() or self.pair_sizes.sum() or 1.0


def term_sizes(shapes, X, weights=None):
    r"""Compute the mean absolute terms over samples.

    With the mean 0 over the samples, the term of feature j is :math:`f_{jr}` for the score of class
    r. Its size is

    .. math:: \frac{1}{k \sum_i s_i} \sum_{i, r} s_i |f_{jr}(x_{ij}) - \bar f_j(x_{ij})|

    with the weights s of the samples and, for more than two classes, the mean :math:`\bar f_j` over
    the k classes, which changes no prediction. For two classes and for a regressor there is one
    score: k is 1 and :math:`\bar f_j` is 0. The sums run over the rows of a table, not over
    samples.

    Parameters
    ----------
    shapes : boostbench.algorithms.explanation.shape_functions.ShapeFunctions
    X : ndarray or scipy.sparse.csr_array of shape (n_samples, n_features), dtype=float64
        Checked samples, with codes for categories and NaN for missing values.
    weights : ndarray of shape (n_samples,), default=None
        Positive sample weights; None: all are 1.

    Returns
    -------
    TermSizes
    """
    weights = np.ones(X.shape[0]) if weights is None else weights
    columns = X.tocsc() if sparse.issparse(X) else X
    row_weights = []
    for term in shapes.terms:
        values, value_weights = _values_and_weights(columns, term.feature, weights)
        row_weights.append(np.bincount(term.row_indices(values), value_weights, len(term.table)))
    sizes = [
        mean_absolute(term.table, table_weights)
        for term, table_weights in zip(shapes.terms, row_weights, strict=True)
    ]
    pair_sizes = [
        mean_absolute(pair.table.reshape(len(cell_weights), -1), cell_weights)
        for pair, cell_weights in zip(shapes.pairs, shapes.cell_weights(X, weights), strict=True)
    ]
    features = np.array([term.feature for term in shapes.terms], dtype=np.int64)
    return TermSizes(
        features, np.array(sizes, dtype=float), np.array(pair_sizes, dtype=float), row_weights
    )


def _values_and_weights(X, feature, weights):
    """Return the values of a feature and their weights.

    A sparse feature (X is then a `csc_array`) has one more value, 0, with the weight of all samples
    without an entry.
    """
    if not sparse.issparse(X):
        return X[:, feature], weights
    entries = slice(*X.indptr[feature : feature + 2])
    entry_weights = weights[X.indices[entries]]
    zero_weight = max(0.0, weights.sum() - entry_weights.sum())
    return np.append(X.data[entries], 0.0), np.append(entry_weights, zero_weight)


def mean_absolute(table, weights):
    """Return the mean absolute entry of a table whose rows have weights."""
    weights = weights / weights.sum()
    centred = table - weights @ table
    if table.shape[1] > 1:
        centred -= centred.mean(axis=1, keepdims=True)
    size = float(np.mean(weights @ np.abs(centred)))
    # A term that is equal for all classes is 0 up to rounding errors.
    return size if size > ROUNDING * np.abs(table).max() else 0.0
