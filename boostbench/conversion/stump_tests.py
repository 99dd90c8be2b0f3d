"""What conversions need of a fitted sum of stumps."""

from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from boostbench.algorithms.explaining.stump_sums import refuse_others
from boostbench.core.weak.views import plain_views


class StumpTests(NamedTuple):
    """What stumps test; the fields may be arrays.

    Attributes
    ----------
    feature, threshold
        Of X; the threshold is infinite where a stump is constant.
    category
        The test is whether X is equal to it; NaN where it is whether X is above the threshold.
    true_if_missing
        Whether the test holds for a missing value.
    allows_missing : bool
        Whether the model does.
    """

    feature: np.ndarray
    threshold: np.ndarray
    category: np.ndarray
    true_if_missing: np.ndarray
    allows_missing: bool

    def iterate(self):
        """Yield the tests one by one."""
        for fields in zip(*self[:-1], strict=True):
            yield StumpTests(*fields, self.allows_missing)


def extract_tests(model, stumps):
    """Say what the stumps of a model test, as features of its X."""
    allows_missing = hasattr(model, "views_")
    views = model.views_ if allows_missing else plain_views(model.n_features_in_)
    feature = views.feature[stumps.feature]
    category = np.where(np.isinf(stumps.threshold), np.nan, views.category[stumps.feature])
    true_if_missing = views.above_if_missing(stumps.feature, stumps.threshold)
    return StumpTests(feature, stumps.threshold, category, true_if_missing, allows_missing)


def value_cells(model, axis):
    """Say in which cell of an axis of a pair each value is.

    Parameters
    ----------
    model : estimator
        Fitted, with `pairs_`.
    axis : boostbench.core.weak.pair_cells.Axis

    Returns
    -------
    cells : ndarray of shape (n_categories,), dtype=int64, or None
        The cell of each category; None for a number, whose cell is that of so many thresholds as it
        is above.
    missing_cell : int
        The cell of a missing value.
    """
    categories = model.categories_.get(axis.feature)
    values = np.append(np.empty(0) if categories is None else np.arange(len(categories)), np.nan)
    X = np.zeros((len(values), model.views_.n_features))
    X[:, axis.feature] = values
    *cells, missing_cell = axis.cells(model.views_.of(X))
    return None if categories is None else np.array(cells), int(missing_cell)


def extract_stump_sum(model):
    """Return a fitted model's sum of stumps, factor for probabilities, and slack of scores.

    Raises
    ------
    ValueError
        If the model is no sum of stumps.
    """
    refuse_others(model)
    check_is_fitted(model)
    stump_sum = model.stump_sum()
    if hasattr(model, "views_"):
        stump_sum = stump_sum.on_views(model.views_)
    return stump_sum, model.inverse_temperature(), stump_sum.slack(model)
