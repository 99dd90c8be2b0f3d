"""Tests, cells and coefficients of a fitted sum of stumps, for its conversion.

A booster tests *views*: numeric columns that are derived from the features (values, missing or not,
one category or not). The converted model tests the columns of X themselves, where a category is its
code. A *cell* is an interval or a category of a feature in the table of a pair of features.
"""

from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from boostbench.algorithms.explanation.stump_sums import require_stump_sum
from boostbench.core.stumps.views import identity_views


class StumpTest(NamedTuple):
    """Test of one stump, an entry of each array of `StumpTests`, which explains the fields."""

    feature: int
    threshold: float
    category: float
    true_if_missing: bool


class StumpTests(NamedTuple):
    """Tests of stumps on the columns of X.

    Attributes
    ----------
    feature : ndarray of shape (n_stumps,), dtype=int64
        Column of X.
    threshold : ndarray of shape (n_stumps,), dtype=float64
        A test ``X > threshold`` is true above it; infinite for a constant stump.
    category : ndarray of shape (n_stumps,), dtype=float64
        A test ``X == category`` is true for this category. `MISSING` (infinity, which no value
        equals) for a test for missing values only; NaN for a test of a threshold.
    true_if_missing : ndarray of shape (n_stumps,), dtype=bool
        Result of the test for a missing value.
    allows_missing : bool
        True if the model accepts missing values.
    """

    feature: np.ndarray
    threshold: np.ndarray
    category: np.ndarray
    true_if_missing: np.ndarray
    allows_missing: bool

    def iterate(self):
        """Return an iterator over the tests, of type `StumpTest`."""
        return map(StumpTest, self.feature, self.threshold, self.category, self.true_if_missing)


def extract_tests(model, stumps):
    """Return the tests of the stumps of a model on the columns of X.

    Parameters
    ----------
    model : estimator
        Fitted model.
    stumps : boostbench.core.stumps.stump.Stumps
        Its stumps, on views.

    Returns
    -------
    StumpTests
    """
    # Models that accept missing values and categories have `views_`.
    allows_missing = hasattr(model, "views_")
    views = model.views_ if allows_missing else identity_views(model.n_features_in_)
    feature = views.feature[stumps.feature]
    # A constant stump counts as a test of an infinite threshold.
    category = np.where(np.isinf(stumps.threshold), np.nan, views.category[stumps.feature])
    true_if_missing = views.is_missing_above(stumps.feature, stumps.threshold)
    return StumpTests(
        feature=feature,
        threshold=stumps.threshold,
        category=category,
        true_if_missing=true_if_missing,
        allows_missing=allows_missing,
    )


def value_cells(model, axis):
    """Return the cells of the values of a feature in a table of a pair.

    Parameters
    ----------
    model : estimator
        Fitted model with `pairs_`.
    axis : boostbench.core.learners.feature_interactions.Axis

    Returns
    -------
    cells : ndarray of shape (n_categories,), dtype=int64, or None
        Cell of each category. None for a numeric feature, whose cell is the number of thresholds
        below the value.
    missing_cell : int
        Cell of a missing value.
    """
    # Transform one sample for each category and one with a missing value, and look up their cells.
    categories = model.categories_.get(axis.feature)
    values = np.append(np.empty(0) if categories is None else np.arange(len(categories)), np.nan)
    X = np.zeros((len(values), model.views_.n_features))
    X[:, axis.feature] = values
    *cells, missing_cell = axis.cell_indices(model.views_.transform(X))
    return None if categories is None else np.array(cells), int(missing_cell)


def extract_stump_sum(model):
    """Return the sum of stumps of a model, and the constants of its predictions.

    Parameters
    ----------
    model : estimator

    Returns
    -------
    stump_sum : boostbench.algorithms.explanation.stump_sums.StumpSum
        Stumps that separate sets of categories are expanded to stumps on single categories.
    inverse_temperature : float
        Factor of the scores in the probabilities.
    slack : float
        Difference of scores up to which they count as equal.

    Raises
    ------
    ValueError
        If the model is not a fitted sum of stumps.
    """
    require_stump_sum(model)
    check_is_fitted(model)
    stump_sum = model.stump_sum()
    if hasattr(model, "views_"):
        stump_sum = stump_sum.expand_category_sets(model.views_)
    return stump_sum, model.inverse_temperature(), stump_sum.slack(model)
