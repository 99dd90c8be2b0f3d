"""Intervals of means over folds, by cross-validations of a decision tree on one data set."""

from math import inf

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from boostbench.analysis.statistics.agreement import compare_means
from boostbench.analysis.statistics.resampled import (
    INDEPENDENT,
    TEN_FOLDS,
    FoldRatio,
    complete_repetitions,
    fold_ratio,
    pooled_ratio,
)
from boostbench.util.numbers import rounded

N_SIMULATED = 400


@pytest.fixture(scope="module")
def cross_validations():
    """Return the errors in percent of many 10-fold cross-validations, one row each."""
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:150], y[:150]
    errors = np.empty((N_SIMULATED, 10))
    for i in range(N_SIMULATED):
        folds = StratifiedKFold(10, shuffle=True, random_state=i)
        for j, (train, test) in enumerate(folds.split(X, y)):
            tree = DecisionTreeClassifier(max_depth=2, random_state=i).fit(X[train], y[train])
            errors[i, j] = 100 * np.mean(tree.predict(X[test]) != y[test])
    return errors


def _share_that_differs(cross_validations, n_repetitions, folds):
    """Return the share of equal experiments that differ; the published one has two repetitions."""
    rng = np.random.default_rng(0)
    differs = []
    for _ in range(1000):
        drawn = cross_validations[rng.permutation(N_SIMULATED)[: n_repetitions + 2]]
        ours, theirs = drawn[2:].ravel(), drawn[:2].ravel()
        ratio = folds(ours)
        printed = rounded(theirs.mean(), 1), rounded(theirs.std(ddof=1), 1)
        compared = compare_means(
            ours.mean(), ours.std(ddof=1), len(ours), *printed, len(theirs), folds=ratio
        )
        differs.append(compared.differs)
    return np.mean(differs)


def test_interval_from_ten_repetitions_covers_the_difference_of_equal_experiments(
    cross_validations,
):
    share = _share_that_differs(
        cross_validations, 10, lambda numbers: fold_ratio(range(len(numbers)), numbers, 10)
    )
    assert share == pytest.approx(0.05, abs=4 * (0.05 * 0.95 / 1000) ** 0.5)


def test_pooled_ratio_covers_with_two_repetitions(cross_validations):
    ratio = pooled_ratio([cross_validations[i : i + 2] for i in range(0, 100, 2)])
    share = _share_that_differs(cross_validations, 2, lambda numbers: ratio)
    assert share == pytest.approx(0.05, abs=4 * (0.05 * 0.95 / 1000) ** 0.5)


def test_intervals_that_take_folds_as_independent_are_too_wide(cross_validations):
    assert _share_that_differs(cross_validations, 10, lambda numbers: INDEPENDENT) < 0.01


def test_ratio_is_the_variance_between_cross_validations_by_that_of_independent_splits(
    cross_validations,
):
    ratio = pooled_ratio([cross_validations])
    assert ratio.freedom == N_SIMULATED - 1
    between = cross_validations.mean(axis=1).var(ddof=1)
    assert ratio.variance_ratio == pytest.approx(10 * between / cross_validations.var(ddof=1))
    assert ratio.variance_ratio < 0.5
    # Pairs of repetitions estimate the same ratio.
    pairs = pooled_ratio(np.split(cross_validations, N_SIMULATED // 2))
    assert pairs.variance_ratio == pytest.approx(ratio.variance_ratio, rel=0.35)


def test_our_variance_is_that_between_ten_repetitions():
    rng = np.random.default_rng(1)
    values = rng.normal(10, 2, (12, 10))
    ratio = fold_ratio(range(120), values.ravel(), 10)
    std, means = values.std(ddof=1), values.mean(axis=1)
    assert ratio.variance_ratio * std**2 / 120 == pytest.approx(means.var(ddof=1) / 12)
    assert ratio.freedom == 11


def test_rule_for_few_repetitions_depends_on_the_number_of_folds():
    assert fold_ratio(range(20), [1.0] * 20, 10) == TEN_FOLDS
    assert fold_ratio(range(10), [1.0] * 10, 5) == INDEPENDENT
    # 9 complete repetitions, and one that lacks a fold.
    assert fold_ratio(range(99), [1.0] * 99, 10) == TEN_FOLDS


def test_incomplete_repetitions_do_not_count():
    repetitions = complete_repetitions([0, 1, 2, 4, 5], [1.0, 2.0, 3.0, 5.0, 6.0], 2)
    assert repetitions.tolist() == [[1.0, 2.0], [5.0, 6.0]]
    assert complete_repetitions([], [], 2).shape == (0, 2)


def test_results_without_variance_have_no_ratio():
    assert pooled_ratio([np.ones((3, 4))]) == INDEPENDENT
    assert pooled_ratio([np.arange(4.0).reshape(1, 4)]) == FoldRatio(1.0, inf)
