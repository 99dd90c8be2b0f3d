"""Sums of stumps in one form for all estimators whose scores are such sums, and their rules.

`rules` lists the stumps of a fitted model as a table, with thresholds as texts. A stump tests a
*view*, a numeric column derived from a feature: the feature itself, or the indicator of a category
or of missing values (`boostbench.core.stumps.views`).
"""

from itertools import compress
from math import floor
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from boostbench.algorithms.base.decision_values import rounding_slack
from boostbench.core.stumps.category_sets import StumpsWithSets
from boostbench.core.stumps.stump import Stump, Stumps
from boostbench.core.stumps.views import identity_views

# Numbers of this size and above have no meaningful decimals.
_MAX_WITH_FRACTION = 1e15

# Number of significant digits that identify a number in double precision.
_MAX_DIGITS = 17

# A coefficient below this fraction of the largest coefficient of its stump is a rounding error.
_ZERO_TOLERANCE = 1e-12


class StumpSum(NamedTuple):
    r"""The scores :math:`F(x) = F_0 + \sum_t h_t(x) W_t` with stumps h.

    Attributes
    ----------
    stumps : boostbench.core.stumps.stump.Stumps
        Stumps in the order of the training (except for `AdaBoostMO` and bags). A stump with an
        infinite threshold is constant.
    coefficients : ndarray of shape (n_stumps,) or (n_stumps, n_classes)
        Coefficients W. For two classes one number per stump, positive towards the second class.
    intercept : ndarray of shape () or (n_classes,)
        Constant :math:`F_0`.
    """

    stumps: Stumps
    coefficients: np.ndarray
    intercept: np.ndarray

    def slack(self, model):
        """Return the largest difference of scores that may be a rounding error.

        Parameters
        ----------
        model : BoostingClassifier or BoostingRegressor

        Returns
        -------
        float
            The larger of the slacks of the model's scores and of this sum; 0 for a regressor.
        """
        if not hasattr(model, "classes_"):
            return 0.0
        return max(model.score_slack(), rounding_slack(self.coefficients, self.intercept[None]))

    def expand_category_sets(self, views):
        r"""Replace stumps on sets of categories by stumps on single categories.

        A stump on a set S is :math:`\sum_{v \in S} h_v + |S| - 1` with the stumps on its views: for
        two categories, :math:`h_a + h_b + 1` is 1 if one of them is present, else -1. The stumps on
        all k views of a feature add up to the constant 2 - k. Therefore a number can be subtracted
        from all their coefficients, and 2 - k times it added to the intercept. The median minimises
        the sum of absolute coefficients. Equal stumps on these features are merged.

        Parameters
        ----------
        views : boostbench.core.stumps.views.Views

        Returns
        -------
        StumpSum
            Sum of stumps on single views; this sum if there are no sets.
        """
        stumps = self.stumps
        if not isinstance(stumps, StumpsWithSets):
            return self
        # 1) Read the sets: is_in_set[v, s] is 1 if view v is in set s. A stump on a set has a
        #    negative feature, the index of its set from the end of `stumps.sets`. `stump_votes`,
        #    coefficient times polarity, has the shape (n_stumps, n_outputs).
        stump_votes = (self.coefficients.T * stumps.polarity).T.reshape(len(stumps), -1)
        is_in_set = np.zeros((len(views.feature), len(stumps.sets)))
        for column, set_views in zip(is_in_set.T, stumps.sets, strict=True):
            column[list(set_views)] = 1.0
        features_of_sets = np.unique(views.feature[is_in_set.any(axis=1)])
        # Stumps on single views join the sets of their features. Constant stumps, whose threshold
        # is infinite, and stumps on other features stay as they are.
        is_set = stumps.feature < 0
        is_single = ~is_set & np.isin(views.feature[stumps.tested], features_of_sets)
        is_single &= np.isfinite(stumps.threshold)
        # 2) Add up the votes of each set, and distribute them over its views. Add the votes of the
        #    stumps on single views of the same features.
        # Negative features index `set_votes` from its end, as they do `stumps.sets`.
        set_votes = np.zeros((len(stumps.sets), stump_votes.shape[1]))
        np.add.at(set_votes, stumps.feature[is_set], stump_votes[is_set])
        intercept = self.intercept + (is_in_set.sum(axis=0) - 1) @ set_votes
        votes = is_in_set @ set_votes
        np.add.at(votes, stumps.feature[is_single], stump_votes[is_single])
        # 3) Move the median of each feature's votes to the intercept. The outputs of the stumps on
        #    all k views of a feature add up to 2 - k, as exactly one of them is +1.
        for feature in features_of_sets:
            is_view = views.feature == feature
            median = np.median(votes[is_view], axis=0)
            votes[is_view] -= median
            intercept = intercept - (is_view.sum() - 2) * median
        # 4) Join the stumps on single views with the stumps on all other features.
        used = np.flatnonzero(votes.any(axis=1))
        is_unchanged = ~(is_set | is_single)
        coefficients = [
            self.coefficients[is_unchanged].reshape(-1, stump_votes.shape[1]),
            votes[used],
        ]
        return StumpSum(
            Stumps([*compress(stumps, is_unchanged), *(Stump(view, 0.5) for view in used)]),
            np.concatenate(coefficients).reshape(-1, *self.coefficients.shape[1:]),
            intercept.reshape(self.intercept.shape),
        )


def output_names(model):
    """Return the names of the scores of a fitted model.

    Parameters
    ----------
    model : estimator

    Returns
    -------
    ndarray of shape (n_outputs,)
        Classes; for two classes the second one; ``prediction`` for a regressor, or
        ``log(prediction)`` if its `link_` is ``"log"``.
    """
    if not hasattr(model, "classes_"):
        return np.array(["log(prediction)" if model.link_ == "log" else "prediction"])
    return model.classes_[1:] if len(model.classes_) == 2 else model.classes_


def feature_names(model):
    """Return the names of the features of a fitted model.

    Parameters
    ----------
    model : estimator

    Returns
    -------
    ndarray of shape (n_features,)
        Names of the training data's features, or ``x0``, ``x1``, ...
    """
    default = [f"x{feature}" for feature in range(model.n_features_in_)]
    return np.asarray(getattr(model, "feature_names_in_", default))


def require_stump_sum(model):
    """Raise ValueError if a model cannot be a sum of stumps, for example a pipeline."""
    if not hasattr(model, "stump_sum"):
        last = getattr(model, "steps", [(None, model)])[-1][1]
        advice = (
            "pass its last step, model[-1], and give that model[:-1].transform(X)"
            if hasattr(last, "stump_sum")
            else "pass a fitted booster of stumps"
        )
        raise ValueError(f"{type(model).__name__} is not a sum of stumps; {advice}")


def require_no_interactions(model):
    """Raise ValueError if a fitted model has tables of pairs besides its stumps."""
    if len(getattr(model, "pairs_", ())):
        raise ValueError(
            f"this {type(model).__name__} has pairs of features, so it is not a sum of stumps: "
            "set interactions=0, or see its shape_functions"
        )


def extract_stump_sum(model):
    """Return the `StumpSum` of an estimator whose weak learners are stumps.

    Parameters
    ----------
    model : estimator
        Fitted estimator with stumps on single features in `hypotheses_`, and one coefficient per
        stump, or per stump and class, in `coefficients_`.

    Returns
    -------
    StumpSum

    Raises
    ------
    ValueError
        If the model does not have this form.
    """
    name, stumps = type(model).__name__, getattr(model, "hypotheses_", None)
    if hasattr(model, "project"):
        raise ValueError(f"the stumps of {name} test projected features, not those of X")
    if not isinstance(stumps, Stumps) or stumps.feature.ndim != 1:
        raise ValueError(f"{name} is not a sum of stumps")
    expected = [(len(stumps),), (len(stumps), len(getattr(model, "classes_", ())))]
    if np.shape(model.coefficients_) not in expected:
        raise ValueError(f"{name} is not a sum of stumps with a coefficient for every class")
    intercept = getattr(model, "intercept_", 0.0)
    if hasattr(model, "intercepts_"):
        intercept = model.intercepts_.sum(axis=0)
    return make_stump_sum(stumps, model.coefficients_, intercept)


def stump_sum_from_trees(model, values):
    """Return the `StumpSum` of an estimator whose weak learners are trees of depth 1.

    Parameters
    ----------
    model : estimator
        Fitted estimator with `hypotheses_` of type `boostbench.core.learners.trees.Trees`, and one
        coefficient per tree in `coefficients_`.
    values : ndarray of shape (n_nodes, n_classes)
        Scores of the nodes, to be multiplied by the coefficients of their trees.

    Returns
    -------
    StumpSum

    Raises
    ------
    ValueError
        If a tree has more than one test.
    """
    trees = model.hypotheses_
    if trees.depth > 1:
        raise ValueError(f"the trees of this {type(model).__name__} are not stumps")
    # The value of a tree is the middle of low and high, plus or minus half of their difference.
    low, high = (values[trees.children[trees.root, side]] for side in (0, 1))
    coefficients = model.coefficients_[:, None]
    stumps = Stumps([*map(Stump, trees.feature[trees.root], trees.threshold[trees.root])])
    middle = (coefficients * (high + low) / 2).sum(axis=0)
    return make_stump_sum(stumps, coefficients * (high - low) / 2, middle)


def make_stump_sum(stumps, coefficients, intercept=0.0):
    """Return a `StumpSum`; for two classes, two columns of coefficients become their difference.

    Parameters
    ----------
    stumps : boostbench.core.stumps.stump.Stumps
    coefficients : ndarray of shape (n_stumps,) or (n_stumps, n_classes)
    intercept : float or ndarray of shape (n_classes,), default=0.0

    Returns
    -------
    StumpSum
    """
    intercept = np.broadcast_to(np.asarray(intercept, float), coefficients.shape[1:])
    if coefficients.shape[1:] == (2,):
        coefficients, intercept = coefficients @ [-1.0, 1.0], intercept @ [-1.0, 1.0]
    return StumpSum(stumps, coefficients, np.asarray(intercept))


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
    largest = np.abs(values_above).max(axis=1, keepdims=True, initial=0.0)
    values_above = np.where(np.abs(values_above) > _ZERO_TOLERANCE * largest, values_above, 0.0)
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
    missing_is_above = views.is_missing_above(stumps.tested, stumps.threshold)
    threshold_texts = np.empty(len(stumps), dtype=object)
    for feature in np.unique(views.feature[stumps.tested]):
        is_number_test = (views.feature[stumps.tested] == feature) & np.isfinite(stumps.threshold)
        threshold_texts[is_number_test] = shortest_decimals(stumps.threshold[is_number_test])
    # 2) Write the test of each stump: a set of categories (whose index is negative), a constant, a
    # missing value, a number, or one category.
    for view_or_set, view, threshold, threshold_text, is_missing_above in zip(
        stumps.feature,
        stumps.tested,
        stumps.threshold,
        threshold_texts,
        missing_is_above,
        strict=True,
    ):
        feature, category = views.feature[view], views.category[view]
        name = names[feature]
        if view_or_set < 0:
            categories = model.categories_[feature]
            codes = views.category[list(stumps.sets[view_or_set])]
            words = ["missing" if np.isinf(code) else str(categories[int(code)]) for code in codes]
            tests.append(f"{name} = {', '.join(words[:-1])} or {words[-1]}")
        elif np.isinf(threshold):
            tests.append("never")
        elif np.isinf(category):
            tests.append(f"{name} is missing")
        elif np.isnan(category):
            accepts_missing = is_missing_above and views.has_missing(feature)
            tests.append(f"{name} > {threshold_text}{' or missing' if accepts_missing else ''}")
        else:
            tests.append(f"{name} = {model.categories_[feature][int(category)]}")
    return tests
