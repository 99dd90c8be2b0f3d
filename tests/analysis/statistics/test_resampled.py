import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import make_moons
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.svm import SVC

from boostbench.analysis.statistics.bayesian import correlated_t
from boostbench.analysis.statistics.resampled import corrected_t, standard_error


def test_corrected_t_equals_a_hand_calculation():
    # Mean 2.5, variance 5/3; (1/4 + 1/3) * 5/3 = 35/36, so that t = 2.5355 with 3 degrees.
    assert standard_error([1, 2, 3, 4], 1 / 3) == pytest.approx(np.sqrt(35 / 36))
    assert corrected_t([1, 2, 3, 4], 1 / 3) == pytest.approx(
        2 * stats.t.sf(2.5 / np.sqrt(35 / 36), 3)
    )


def test_corrected_t_without_overlap_is_the_paired_test():
    differences = [0.3, -0.4, 1.9, 0.8, 1.1]
    assert corrected_t(differences, 0.0) == pytest.approx(stats.ttest_1samp(differences, 0).pvalue)


def test_corrected_t_equals_the_example_of_scikit_learn():
    """t = 0.750 and p = 0.227 of one side, in "Statistical comparison of models using grid search".

    With a region of 0.01 on each side it finds 0.068 for the linear kernel, 0.432 for neither and
    0.500 for the other.
    """
    X, y = make_moons(noise=0.352, random_state=1, n_samples=100)
    folds = RepeatedStratifiedKFold(n_splits=10, n_repeats=10, random_state=0)
    scores = [
        cross_val_score(SVC(kernel=kernel), X, y, cv=folds, scoring="roc_auc")
        for kernel in ("rbf", "linear")
    ]
    differences, ratio = scores[0] - scores[1], 10 / 90
    t = differences.mean() / standard_error(differences, ratio)
    assert (round(t, 3), round(corrected_t(differences, ratio) / 2, 3)) == (0.75, 0.227)
    assert correlated_t(differences, 0.01, ratio) == pytest.approx((0.068, 0.432, 0.500), abs=6e-4)


def test_equal_or_too_few_differences():
    assert corrected_t([0.0, 0.0], 0.25) == 1.0
    assert corrected_t([2.0, 2.0], 0.25) == 0.0
    assert np.isnan(corrected_t([2.0], 0.25))


def test_level_is_kept_for_overlapping_splits():
    """Differences between random splits of one pool share half of their samples."""
    rng = np.random.default_rng(0)
    n_pool, n_test, n_splits = 120, 40, 15
    rejected = np.zeros(2)
    for _ in range(400):
        pool = rng.normal(size=n_pool)
        means = [pool[rng.permutation(n_pool)[:n_test]].mean() for _ in range(n_splits)]
        ratios = (0.0, n_test / (n_pool - n_test))
        rejected += [corrected_t(means, ratio) <= 0.05 for ratio in ratios]
    usual, corrected = rejected / 400
    assert usual > 0.3
    assert corrected < 0.1
