import numpy as np
import pytest
from scipy import stats

from boostbench.report.statistics.agreement import BASES, agreement

NAN = float("nan")


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


def test_an_unknown_published_deviation_is_taken_as_ours():
    """The interval is that of a t test with the common variance of our splits alone."""
    result = agreement(9.0, 1.0, 10, 10.0, NAN, 5)
    half = stats.t.ppf(0.975, 9) * np.sqrt(1 / 10 + 1 / 5)
    assert (result.high - result.low) / 2 == result.half == pytest.approx(half)
    assert (result.verdict, result.basis) == ("reproduced", "ours")
    assert agreement(9.0, 0.1, 10, 10.0, NAN, 5).verdict == "better"
    assert agreement(9.0, 0.1, 10, 10.0, NAN, 5, sign=-1).verdict == "worse"


def test_the_interval_of_a_taken_deviation_holds_in_95_percent():
    """Of two means of one normal distribution, where only the deviation of the first is known."""
    rng = np.random.default_rng(0)
    ours, theirs = rng.normal(50, size=(4000, 6)), rng.normal(50, size=(4000, 3))
    found = [
        agreement(a.mean(), a.std(ddof=1), 6, b.mean(), NAN, 3, digits=9).verdict
        for a, b in zip(ours, theirs, strict=True)
    ]
    assert np.mean([verdict == "reproduced" for verdict in found]) == pytest.approx(0.95, abs=0.01)


def test_one_split_takes_the_published_deviation():
    result = agreement(29.0, NAN, 1, 30.0, 1.0, 10)
    assert result.half == pytest.approx(stats.t.ppf(0.975, 9) * np.sqrt(1 + 1 / 10))
    assert (result.verdict, result.basis) == ("reproduced", "published")


@pytest.mark.parametrize(
    ("mean", "digits", "verdict"),
    [
        (98.54, 1, "reproduced"),
        (98.56, 1, "better"),
        (98.40, 1, "worse"),
        (98.51, 2, "better"),
        (98.504, 2, "reproduced"),
    ],
)
def test_by_rounding_alone(mean, digits, verdict):
    """An accuracy of one official split, published without a deviation: the higher, the better."""
    result = agreement(mean, NAN, 1, 98.5, NAN, 1, digits, sign=-1)
    assert (result.verdict, result.basis) == (verdict, "rounding")
    assert np.isnan([result.low, result.high]).all()


def test_by_counts_of_test_samples():
    """One official split of 10 000 samples, published without a deviation: the z test of shares."""
    found = agreement(1.39, NAN, 1, 1.24, NAN, 1, 2, n_tested=10_000)
    assert (found.verdict, found.basis) == ("undecided", "counts")
    z = 0.15 / np.sqrt(2 * 1.315 * 98.685 / 10_000)
    assert found.p == pytest.approx(2 * stats.norm.sf(z))
    assert found.half == pytest.approx(0.15 * stats.norm.ppf(0.975) / z)
    assert agreement(2.0, NAN, 1, 1.24, NAN, 1, 2, n_tested=10_000).verdict == "worse"
    assert agreement(21.0, NAN, 1, 20.6, NAN, 1, 1, n_tested=10_000).verdict == "reproduced"
    # A deviation that is known comes first.
    assert agreement(2.0, 0.1, 5, 1.9, NAN, 1, n_tested=10_000).basis == "ours"


def test_counts_find_what_they_say_they_find():
    """Drawn: a true difference of that size is found 4 times in 5."""
    rng = np.random.default_rng(0)
    theirs, n = 5.0, 2000
    found = agreement(theirs, NAN, 1, theirs, NAN, 1, 2, n_tested=n)
    errors = 100 * rng.binomial(n, (theirs + found.detectable) / 100, 4000) / n
    published = 100 * rng.binomial(n, theirs / 100, 4000) / n
    told = [
        agreement(ours, NAN, 1, other, NAN, 1, 2, n_tested=n).verdict
        for ours, other in zip(errors, published, strict=True)
    ]
    assert told.count("worse") / len(told) == pytest.approx(0.8, abs=0.04)


@pytest.mark.parametrize("std", [0.0, 1.0, NAN])
@pytest.mark.parametrize("published_std", [0.0, 1.0, NAN])
@pytest.mark.parametrize("n", [1, 2, 10])
@pytest.mark.parametrize("published_n", [1, 10])
def test_no_verdict_comes_from_a_nan(std, published_std, n, published_n):
    """Far away is worse and equal is not, whatever is not known."""
    for difference, verdict in ((0.0, "reproduced"), (1000.0, "worse"), (-1000.0, "better")):
        result = agreement(50 + difference, std, n, 50.0, published_std, published_n)
        missed = difference == 0 and result.detectable > 10
        assert result.verdict == ("undecided" if missed else verdict)
        assert result.basis in BASES
        assert np.isnan(result.p) == np.isnan(result.detectable) == (result.basis == "rounding")
        assert np.isnan(result.low) or result.low <= difference <= result.high


def test_p_value_is_welchs():
    result = agreement(10.0, 2.0, 10, 12.0, 3.0, 20)
    test = stats.ttest_ind_from_stats(10, 2, 10, 12, 3, 20, equal_var=False)
    assert result.p == pytest.approx(test.pvalue)
    # What rounding can explain is no difference, however small the deviations are.
    assert agreement(10.04, 0.01, 10, 10.0, 0.01, 10).p == 1
    assert agreement(10.06, 0.01, 10, 10.0, 0.01, 10).p < 1e-9
    assert agreement(10.06, 0.0, 10, 10.0, 0.0, 10).p == 0


@pytest.mark.parametrize("n", [2, 5, 50])
def test_detectable_difference_is_found_with_80_percent(n):
    """By statsmodels, which solves for the power of the noncentral t distribution."""
    power = pytest.importorskip("statsmodels.stats.power").TTestIndPower()
    expected = 2 * power.solve_power(nobs1=n, alpha=0.05, power=0.8)
    result = agreement(50.0, 2.0, n, 50.0, 2.0, n, digits=9)
    assert result.detectable == pytest.approx(expected, rel=1e-4)
    assert result.share == pytest.approx(expected / 50, rel=1e-4)


@pytest.mark.parametrize(
    ("n", "std", "published_n", "published_std", "digits"),
    [(10, 2.0, 50, 3.0, 9), (50, 3.0, 10, 2.0, 9), (20, 0.1, 20, 0.1, 0), (30, 1.0, 20, NAN, 9)],
)
def test_detectable_difference_is_found_in_80_percent_of_repeats(
    n, std, published_n, published_std, digits
):
    """Of samples of two normal distributions that are so far apart."""
    shift = agreement(50.0, std, n, 50.0, published_std, published_n, digits).detectable
    rng = np.random.default_rng(1)
    spread = published_std if np.isfinite(published_std) else std
    found = 0
    for _ in range(2000):
        ours, theirs = rng.normal(50 + shift, std, n), rng.normal(50, spread, published_n)
        deviation = theirs.std(ddof=1) if np.isfinite(published_std) else NAN
        means = ours.mean(), ours.std(ddof=1), n, theirs.mean(), deviation, published_n
        found += agreement(*means, digits).verdict == "worse"
    assert found / 2000 == pytest.approx(0.8, abs=0.03)


def test_undecided_is_what_could_hide_a_fifth_of_the_published_error():
    assert agreement(10.0, 1.0, 10, 10.0, 1.0, 10).verdict == "reproduced"  # 1.3 is found
    assert agreement(6.0, 1.0, 10, 6.0, 1.0, 10).verdict == "undecided"
    # Of an accuracy, the error is what lacks to 100%.
    assert agreement(94.0, 1.0, 10, 94.0, 1.0, 10, sign=-1, perfect=100).verdict == "undecided"
    assert agreement(90.0, 1.0, 10, 90.0, 1.0, 10, sign=-1, perfect=100).verdict == "reproduced"
    # A difference that is found is found.
    assert agreement(9.0, 1.0, 10, 6.0, 1.0, 10).verdict == "worse"
    # What prints as nothing is none, where both are perfect.
    assert agreement(0.0, 0.0, 10, 0.0, 0.0, 10).verdict == "reproduced"


def test_more_splits_of_ours_can_tell_unless_the_papers_are_too_few():
    assert agreement(6.0, 1.0, 10, 6.0, 1.0, 10).can_tell
    assert not agreement(4.0, 1.0, 10, 4.0, 1.0, 10).can_tell
    assert agreement(4.0, 1.0, 10**6, 4.0, 1.0, 10).verdict == "undecided"
    assert agreement(6.0, 1.0, 10**6, 6.0, 1.0, 10).verdict == "reproduced"


def test_the_luck_of_one_pool_is_in_the_interval():
    """Splits of samples that were drawn once, against splits of samples that are drawn anew."""
    rng = np.random.default_rng(2)
    share, within = 0.16, 2.2
    between = within * share**0.5
    alone, with_luck = 0, 0
    for _ in range(1000):
        theirs = 50 + rng.normal(0, between) + rng.normal(0, within, 50)
        ours = 50 + rng.normal(0, between, 50) + rng.normal(0, within, 50)
        means = ours.mean(), ours.std(ddof=1), 50, theirs.mean(), theirs.std(ddof=1), 50
        alone += agreement(*means, digits=9).verdict == "reproduced"
        found = agreement(*means, digits=9, pool_share=share)
        with_luck += found.verdict == "reproduced"
        assert found.basis == "pool"
    assert with_luck / 1000 == pytest.approx(0.95, abs=0.02)
    assert alone / 1000 < 0.75
    # No number of our splits makes up for it.
    assert not agreement(7.0, 2.2, 50, 7.0, 2.2, 50, pool_share=share).can_tell
