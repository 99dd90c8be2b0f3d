"""Export of a fitted model as text: its rules (stumps), or the contributions of its features."""

from itertools import compress, pairwise

import numpy as np

from boostbench.algorithms.explanation.stump_sums import (
    output_names,
    require_stump_sum,
    rules,
    shortest_decimals,
)
from boostbench.inspection.displays import most_important_features

# Maximum number of stumps that are listed by default, as more are hard to read.
_MAX_RULES = 100

# Number of features (terms) that are listed by default for a model with more stumps.
_DEFAULT_TERMS = 5


def export_text(estimator, *, n_rules=None, decimals=None, max_terms=None):
    """Return the rules or the shape functions of a fitted model as text.

    Parameters
    ----------
    estimator : BoostingClassifier or BoostingRegressor
        Fitted model, a sum of stumps.
    n_rules : int, default=None
        Maximum number of rules (stumps), in the order of `rules`. None: all rules of up to 100
        stumps. Not used for a model with pairs, whose features are listed.
    decimals : int, default=None
        Decimals of the contributions; contributions that round to 0 are left out. None: for rules,
        2 or more, so that the largest contribution has two significant digits; for features, a
        step of 1, 2 or 5 times a power of 10, at least a tenth of the largest range of a feature's
        contributions.
    max_terms : int, default=None
        Maximum number of features, by decreasing importance (see `feature_importances_`). A feature
        is listed with the contribution of all its stumps in each interval of its values; adjacent
        intervals of equal text are merged. None: list the rules; a model with more than 100 stumps
        lists 5 features unless `n_rules` is given.

    Returns
    -------
    str
        One line per stump; or, with `max_terms`, per interval (without its left end), per group of
        categories with equal contributions, and for missing values if the training data had some.

    Raises
    ------
    ValueError
        If the estimator is not a sum of stumps, or `n_rules` or `max_terms` is negative.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from boostbench.algorithms import AdaBoostMH
    >>> iris = load_iris(as_frame=True)
    >>> X = iris.data.iloc[:, :3]
    >>> model = AdaBoostMH(n_iterations=3).fit(X, iris.target_names[iris.target])
    >>> print(export_text(model, n_rules=2))
    Added to the scores where a test holds, subtracted where it fails:
    petal length (cm) > 2.45: setosa -0.63, versicolor +0.63, virginica +0.63
    petal length (cm) > 4.75: setosa -0.76, versicolor -0.76, virginica +0.76
    ... 1 more
    >>> print(export_text(model, max_terms=1, decimals=2))
    Added to the scores:
    petal length (cm), importance 1.00
      up to 2.45: setosa +1.38, versicolor +0.13, virginica -1.38
      2.45 to 4.75: setosa +0.13, versicolor +1.38, virginica -0.13
      above 4.75: setosa -1.38, versicolor -0.13, virginica +1.38
    """
    # 1) List the features if they are requested, or if the model has pairs, which are no stumps.
    require_stump_sum(estimator)
    if n_rules is not None and n_rules < 0:
        raise ValueError(f"n_rules must be 0 or more, got {n_rules!r}")
    if max_terms is not None:
        return _export_terms(estimator.shape_functions(), max_terms, decimals)
    if len(getattr(estimator, "pairs_", ())):
        return _export_terms(estimator.shape_functions(), _DEFAULT_TERMS, decimals)
    # 2) Otherwise make the table of the rules, unless they are too many. Its row of round 0 is the
    # intercept.
    table = rules(estimator, in_words=True)
    n_outputs = len(output_names(estimator))
    # Select by position, since a class may have the name of another column.
    tests_by_round, votes = table.iloc[:, :-n_outputs], table.iloc[:, -n_outputs:]
    is_intercept = (tests_by_round["round"] == 0).to_numpy()
    if n_rules is None and (~is_intercept).sum() > _MAX_RULES:
        return _export_terms(estimator.shape_functions(), _DEFAULT_TERMS, decimals)
    # 3) Round the contributions, and write a line for each rule.
    votes, labels = votes.to_numpy(dtype=float), votes.columns
    if decimals is None:
        largest = np.abs(votes[~is_intercept]).max(initial=0.0) or 1.0
        decimals = max(2, 1 - int(np.floor(np.log10(largest))))
    effects = [_format_effects(labels, row, 0.1**decimals) for row in votes]
    lines = [f"Intercept: {effect}" for effect in compress(effects, is_intercept)]
    lines.append("Added to the scores where a test holds, subtracted where it fails:")
    tests, effects = list(tests_by_round["test"][~is_intercept]), effects[int(is_intercept.sum()) :]
    n_shown = len(tests) if n_rules is None else min(n_rules, len(tests))
    shown = zip(tests[:n_shown], effects[:n_shown], strict=True)
    lines += [f"{test}: {effect}" for test, effect in shown]
    if n_shown < len(tests):
        lines.append(f"... {len(tests) - n_shown} more")
    return "\n".join(lines)


def _export_terms(shapes, max_terms, decimals):
    """Return the text of `export_text` by features.

    Parameters
    ----------
    shapes : boostbench.algorithms.explanation.shape_functions.ShapeFunctions
    max_terms : int
        Maximum number of features.
    decimals : int or None
        None: contributions are rounded to a step of 1, 2 or 5 times a power of 10.
    """
    # 1) Write the heading, with the unit of the contributions and the intercept.
    importances = shapes.importances
    terms = {
        feature: shapes.term(feature) for feature in most_important_features(importances, max_terms)
    }
    outputs = list(shapes.outputs)
    lines = ["Added to the scores"]
    if decimals is None:
        step = _readable_step(map(_largest_range, terms.values()))
        lines[0] += f", in steps of {step:g}"
    else:
        step = 0.1**decimals
    if _round_to(shapes.intercept, step).any():
        lines[0] += (
            f", with the intercept {_format_effects(outputs, shapes.intercept, min(step, 0.01))}"
        )
    lines[0] += ":"
    # 2) Write each feature, by intervals or categories.
    for feature, term in terms.items():
        lines.append(f"{shapes.feature_names[feature]}, importance {importances[feature]:.2f}")
        printed = [_format_effects(outputs, value, step) for value in term.values]
        merge = _merge_categories if term.categories is not None else _merge_intervals
        lines += [f"  {test}: {effect}" for test, effect in merge(term, printed)]
        if term.has_missing:
            lines.append(f"  missing: {_format_effects(outputs, term.missing, step)}")
    # 3) Write the features that are left out, and the pairs.
    left_out = int((importances > 0).sum()) - len(terms)
    if left_out:
        lines.append(f"... {left_out} more features")
    for number in np.argsort(-shapes.pair_importances, kind="stable"):
        pair, importance = shapes.pairs[number], shapes.pair_importances[number]
        ends = (f"{end:+z.{_n_decimals(step)}f}" for end in (pair.table.min(), pair.table.max()))
        lines.append(
            f"{shapes.pair_name(pair)}, importance {importance:.2f}: a table, from "
            f"{' to '.join(ends)}"
        )
    return "\n".join(lines)


def _merge_intervals(term, printed):
    """Return (interval, text) pairs; adjacent intervals of equal text are merged.

    Parameters
    ----------
    term : boostbench.algorithms.explanation.terms.Term
        Term of a numeric feature, with n thresholds and n + 1 intervals.
    printed : list of str
        Text of the contributions in each interval.

    Returns
    -------
    iterable of (str, str)
    """
    changes = [i for i in range(len(term.thresholds)) if printed[i] != printed[i + 1]]
    bounds = shortest_decimals(term.thresholds[changes])
    names = ["everywhere"]
    if bounds:
        names = [f"up to {bounds[0]}", *map(" to ".join, pairwise(bounds)), f"above {bounds[-1]}"]
    return zip(names, [*(printed[i] for i in changes), printed[-1]], strict=True)


def _merge_categories(term, printed):
    """Return (categories, text) pairs; categories of equal text are merged.

    See `_merge_intervals` for the parameters; the term is of a categorical feature.
    """
    categories_by_effect = {}
    for category, effect in zip(term.categories, printed, strict=True):
        categories_by_effect.setdefault(effect, []).append(str(category))
    return ((", ".join(names), effect) for effect, names in categories_by_effect.items())


def _largest_range(term):
    """Return the largest range of a term's contributions to a score.

    `table` has the contribution of missing values as its last row, and `values` is without it.
    """
    return np.ptp(term.table if term.has_missing else term.values, axis=0).max()


def _readable_step(differences):
    """Return the smallest of 1, 2, 5 times a power of 10 above a tenth of the largest number.

    Parameters
    ----------
    differences : iterable of float
    """
    tenth = (max(differences, default=0.0) or 1.0) / 10
    size = 10.0 ** np.floor(np.log10(tenth))
    return float(next(size * n for n in (1, 2, 5, 10) if size * n >= tenth))


def _n_decimals(step):
    """Return the number of decimals of multiples of a step, such as 2 for 0.05."""
    # The subtraction keeps a step of 0.1, whose logarithm is inexact, from two decimals.
    return max(0, int(np.ceil(-np.log10(step) - 1e-9)))


def _round_to(numbers, step):
    """Return the numbers, rounded to multiples of a step."""
    return np.round(np.asarray(numbers) / step) * step


def _format_effects(labels, numbers, step):
    """Return the contributions to all scores as text, without those that round to 0."""
    contributions = zip(labels, _round_to(numbers, step), strict=True)
    decimals = _n_decimals(step)
    return (
        ", ".join(f"{label} {number:+.{decimals}f}" for label, number in contributions if number)
        or "nothing"
    )
