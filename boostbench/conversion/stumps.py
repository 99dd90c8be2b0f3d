"""What conversions need of a fitted sum of stumps."""

from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from boostbench.algorithms.explaining.stump_sums import refuse_others
from boostbench.core.weak.views import plain_views


class Tests(NamedTuple):
    """What stumps test; the fields may be arrays.

    Attributes
    ----------
    feature, threshold
        Of X; the threshold is infinite where a stump is constant.
    category
        The test is whether X is equal to it; NaN where it is whether X is above the threshold.
    missing
        Whether the test holds for a missing value.
    takes_missing : bool
        Whether the model does.
    """

    feature: np.ndarray
    threshold: np.ndarray
    category: np.ndarray
    missing: np.ndarray
    takes_missing: bool

    def each(self):
        """Yield the tests one by one."""
        for fields in zip(*self[:-1], strict=True):
            yield Tests(*fields, self.takes_missing)


def tests_of(model, stumps):
    """Say what the stumps of a model test, as features of its X."""
    takes_missing = hasattr(model, "views_")
    views = model.views_ if takes_missing else plain_views(model.n_features_in_)
    category = np.where(np.isinf(stumps.threshold), np.nan, views.category[stumps.feature])
    missing = views.above_if_missing(stumps.feature, stumps.threshold)
    return Tests(views.feature[stumps.feature], stumps.threshold, category, missing, takes_missing)


def cells_of(model, axis):
    """Say in which cell of an axis of a pair each value is.

    Parameters
    ----------
    model : estimator
        Fitted, with `pairs_`.
    axis : boostbench.core.weak.pair_cells.Axis

    Returns
    -------
    codes : ndarray of shape (n_categories,), dtype=int64, or None
        The cell of each category; None for a number, whose cell is that of so many thresholds as it
        is above.
    missing : int
        The cell of a missing value.
    """
    known = model.categories_.get(axis.feature)
    values = np.append(np.empty(0) if known is None else np.arange(len(known)), np.nan)
    X = np.zeros((len(values), model.views_.n_features))
    X[:, axis.feature] = values
    *codes, missing = axis.cells(model.views_.of(X))
    return None if known is None else np.array(codes), int(missing)


def taken_apart(model):
    """Return a fitted model's sum of stumps, factor for probabilities, and slack of scores.

    Raises
    ------
    ValueError
        If the model is no sum of stumps.
    """
    refuse_others(model)
    check_is_fitted(model)
    total = model.stump_sum()
    if hasattr(model, "views_"):
        total = total.on_views(model.views_)
    return total, model.inverse_temperature(), total.slack(model)
