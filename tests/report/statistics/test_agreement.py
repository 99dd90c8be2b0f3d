import numpy as np
import pytest
from scipy import stats

from boostbench.report.statistics.agreement import agreement


def test_agreement_is_welchs_interval():
    # An end of the 95% interval is a difference that the data would just reject at 5%.
    result = agreement(10.0, 2.0, 10, 12.0, 3.0, 20)
    for end in (result.low, result.high):
        test = stats.ttest_ind_from_stats(10 - end, 2, 10, 12, 3, 20, equal_var=False)
        assert test.pvalue == pytest.approx(0.05)
    assert result.low < result.difference == -2 < result.high


@pytest.mark.parametrize(
    ("mean", "verdict"),
    [(9.0, "better"), (9.97, "reproduced"), (10.02, "reproduced"), (11.0, "worse")],
)
def test_agreement_within_rounding(mean, verdict):
    assert agreement(mean, 0.0, 10, 10.0, 0.0, 10).verdict == verdict


def test_agreement_without_a_published_deviation():
    result = agreement(9.0, 1.0, 10, 10.0, float("nan"), 10)
    assert result.verdict == "better"
    assert np.isnan(result.low)
