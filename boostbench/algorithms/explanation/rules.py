"""Stumps of a fitted model as a table, and thresholds as texts.

A stump tests a *view*, a numeric column derived from a feature: the feature itself, or the
indicator of a category or of missing values (`boostbench.core.stumps.views`).
"""

from math import floor

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from boostbench.algorithms.explanation.stump_sums import (
    feature_names,
    output_names,
    require_no_interactions,
)
from boostbench.core.stumps.views import identity_views

# Numbers of this size and above have no meaningful decimals.
_MAX_WITH_FRACTION = 1e15

# Number of significant digits that identify a number in double precision.
_MAX_DIGITS = 17

# A coefficient below this fraction of the largest coefficient of its stump is a rounding error.
_ZERO_TOLERANCE = 1e-12


def shortest_decimals(numbers, digits=6):
    """Format thresholds of a feature with few digits that do not change their meaning.

    Parameters
    ----------
    numbers : array-like of shape (n,)
        Finite numbers.
    digits : int, default=6
        Usual number of significant digits. More are used if a whole number below 1e15 would change
        sides with the rounded threshold, or different numbers would have equal texts.

    Returns
    -------
    list of str
        Text of each number.

    Examples
    --------
    >>> shortest_decimals([2.45, 4.85, 1 / 3])
    ['2.45', '4.85', '0.333333']
    >>> shortest_decimals([2008.5, 2009.5, 2010.5], digits=3)
    ['2008.5', '2009.5', '2010.5']
    """
    numbers = np.asarray(numbers, float).tolist()
    distinct = sorted(set(numbers))
    neighbours = [np.nan, *distinct, np.nan]
    texts = {
        number: _shortest_decimal(number, (low, high), digits)
        for low, number, high in zip(neighbours, distinct, neighbours[2:], strict=False)
    }
    return [texts[number] for number in numbers]


def _shortest_decimal(number, neighbours, digits):
    """Return the text of a number that differs from the texts of its two neighbours."""
    is_huge = abs(number) >= _MAX_WITH_FRACTION
    if not is_huge:
        # Keep at least one decimal, so that all halves have the same format.
        digits = max(digits, len(str(int(abs(number)))) + 1)
    for n_digits in range(digits, _MAX_DIGITS):
        text = f"{number:.{n_digits}g}"
        keeps_integer_part = is_huge or floor(float(text)) == floor(number)
        if keeps_integer_part and all(text != f"{other:.{n_digits}g}" for other in neighbours):
            return text
    return repr(number)


def rules(model, in_words=False):
    """Return the stumps of a fitted model as a table; see `ExplainableMixin.rules`.

    With `in_words`, the table always has the column ``test``.
    """
    # 1) Find the feature and the values of each stump: it adds `values_above` to the scores above
    # its threshold, and subtracts them below.
    check_is_fitted(model)
    require_no_interactions(model)
    stumps, coefficients, intercept = model.stump_sum()
    views = getattr(model, "views_", None) or identity_views(model.n_features_in_)
    tested = views.feature[stumps.tested]
    features = feature_names(model)[tested] if hasattr(model, "feature_names_in_") else tested
    outputs = output_names(model)
    values_above = (coefficients.T * stumps.polarity).T.reshape(len(stumps), len(outputs))
    # Set rounding errors to 0, which also removes negative zeros.
    size = np.abs(values_above).max(axis=1, keepdims=True, initial=0.0)
    values_above = np.where(np.abs(values_above) > _ZERO_TOLERANCE * size, values_above, 0.0)
    # 2) Make the table. The tests of categories and of missing values have no threshold.
    is_number = np.isnan(views.category[stumps.tested])
    table = pd.DataFrame(
        {
            "round": np.arange(1, len(stumps) + 1),
            "feature": pd.Series(features, dtype=object),
            "threshold": np.where(is_number, stumps.threshold, np.nan),
        }
    )
    # 3) Add the tests in words, and a row for the intercept.
    if in_words or not views.is_plain:
        table["test"] = _test_texts(model, views, stumps)
    if np.any(intercept):
        intercept_row = {
            "round": [0],
            "feature": ["intercept"],
            "threshold": [np.nan],
            "test": ["always"],
        }
        table = pd.concat([pd.DataFrame(intercept_row)[list(table)], table], ignore_index=True)
        values_above = np.concatenate([np.reshape(intercept, (1, -1)), values_above])
    # Concatenate, since a class may have the name of another column.
    return pd.concat([table, pd.DataFrame(values_above, columns=outputs)], axis=1)


def _test_texts(model, views, stumps):
    """Return the tests of stumps on numbers, categories and missing values as texts."""
    # 1) Format the thresholds of each feature together: different ones get different texts.
    names, tests = feature_names(model), []
    is_above = views.above_if_missing(stumps.tested, stumps.threshold)
    numbers = np.empty(len(stumps), dtype=object)
    for feature in np.unique(views.feature[stumps.tested]):
        is_number_test = (views.feature[stumps.tested] == feature) & np.isfinite(stumps.threshold)
        numbers[is_number_test] = shortest_decimals(stumps.threshold[is_number_test])
    # 2) Write the test of each stump: a set of categories (whose index is negative), a constant, a
    # missing value, a number, or one category.
    for index, view, threshold, number, missing in zip(
        stumps.feature, stumps.tested, stumps.threshold, numbers, is_above, strict=True
    ):
        feature, category = views.feature[view], views.category[view]
        name = names[feature]
        if index < 0:
            categories = model.categories_[feature]
            codes = views.category[list(stumps.sets[index])]
            words = ["missing" if np.isinf(code) else str(categories[int(code)]) for code in codes]
            tests.append(f"{name} = {', '.join(words[:-1])} or {words[-1]}")
        elif np.isinf(threshold):
            tests.append("never")
        elif np.isinf(category):
            tests.append(f"{name} is missing")
        elif np.isnan(category):
            can_be_missing = missing and views.has_missing(feature)
            tests.append(f"{name} > {number}{' or missing' if can_be_missing else ''}")
        else:
            tests.append(f"{name} = {model.categories_[feature][int(category)]}")
    return tests
