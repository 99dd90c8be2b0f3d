import numpy as np
import pytest
from scipy import stats

from boostbench.analysis.statistics import LEVEL
from boostbench.analysis.statistics.resampled import p_above, p_below

NUMBERS = [0.3, -0.4, 1.9, 0.8, 1.1]


@pytest.mark.parametrize("bound", [-1.0, 0.0, 0.7])
def test_p_values_equal_the_paired_t_test(bound):
    a = np.array([3.0, 1.0, 4.0, 1.5, 9.0])
    b = a - NUMBERS
    for p, alternative in ((p_below, "less"), (p_above, "greater")):
        expected = stats.ttest_rel(a, b + bound, alternative=alternative).pvalue
        assert p(NUMBERS, bound) == pytest.approx(expected)
    assert p_below(NUMBERS, bound) + p_above(NUMBERS, bound) == pytest.approx(1)


def test_equal_differences_have_p_0_or_1():
    assert p_below([-1.0, -1.0], 0.0) == p_above([2.0, 2.0], 1.0) == 0.0
    assert p_below([0.0, 0.0], 0.0) == p_above([0.0, 0.0], 0.0) == 1.0


def test_too_few_differences_have_no_p_value():
    assert np.isnan(p_below([], 0.0))
    assert np.isnan(p_above([5.0], 0.0))


def test_level_is_kept():
    """The test rejects one in twenty true null hypotheses."""
    rng = np.random.default_rng(0)
    rejected = [p_below(rng.normal(size=5), 0.0) <= LEVEL for _ in range(2000)]
    assert np.mean(rejected) == pytest.approx(LEVEL, abs=0.015)
