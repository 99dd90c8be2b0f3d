import numpy as np
import pytest
from scipy import stats

from boostbench.analysis.statistics.agreement import BASES, MARGIN, compare_means
from boostbench.util.numbers import rounded

NAN = float("nan")


def test_agreement_is_welchs_interval():
    # An end of the 95% interval is a difference that the data would just reject at 5%.
    result = compare_means(10.0, 2.0, 10, 12.0, 3.0, 20, digits=9)
    for end in (result.low, result.high):
        test = stats.ttest_ind_from_stats(10 - end, 2, 10, 12, 3, 20, equal_var=False)
        assert test.pvalue == pytest.approx(0.05)
    assert result.low < result.difference == -2 < result.high


@pytest.mark.parametrize(
    ("mean", "verdict"),
    [(9.0, "better"), (9.95, "reproduced"), (10.05, "reproduced"), (11.0, "worse")],
)
def test_agreement_within_rounding(mean, verdict):
    compared = compare_means(mean, 0.0, 10, 10.0, 0.0, 10, rule="power")
    assert compared.verdict == verdict
    assert compared.differs == (verdict != "reproduced")


def test_unknown_published_deviation_is_replaced_by_ours():
    """The interval belongs to a t test with the variance of our splits."""
    result = compare_means(9.0, 1.0, 10, 10.0, NAN, 5, digits=9)
    half = stats.t.ppf(0.975, 9) * np.sqrt(1 / 10 + 1 / 5)
    assert (result.high - result.low) / 2 == pytest.approx(half)
    assert result.half_width == pytest.approx(half)
    assert (result.verdict, result.differs, result.basis) == ("reproduced", False, "ours")
    assert compare_means(7.0, 0.1, 10, 10.0, NAN, 5).verdict == "better"
    assert compare_means(7.0, 0.1, 10, 10.0, NAN, 5, sign=-1).verdict == "worse"


def test_interval_with_our_deviation_covers_95_percent():
    """Both means come from one normal distribution; only the first deviation is known."""
    rng = np.random.default_rng(0)
    ours, theirs = rng.normal(50, size=(4000, 6)), rng.normal(50, size=(4000, 3))
    differs = [
        compare_means(a.mean(), a.std(ddof=1), 6, b.mean(), NAN, 3, digits=9).differs
        for a, b in zip(ours, theirs, strict=True)
    ]
    assert np.mean(differs) == pytest.approx(0.05, abs=0.01)


def test_single_split_uses_the_published_deviation():
    result = compare_means(29.0, NAN, 1, 30.0, 1.0, 10, digits=9)
    assert result.half_width == pytest.approx(stats.t.ppf(0.975, 9) * np.sqrt(1 + 1 / 10))
    assert (result.verdict, result.basis) == ("reproduced", "published")


@pytest.mark.parametrize(
    ("mean", "digits", "verdict"),
    [
        (98.54, 1, "reproduced"),
        (98.56, 1, "better"),
        (98.40, 1, "worse"),
        (98.51, 2, "better"),
        (98.504, 2, "reproduced"),
        (98.45, 1, "reproduced"),  # halves round up, as they print
        (98.55, 1, "better"),
    ],
)
def test_verdict_by_rounding_alone(mean, digits, verdict):
    """An accuracy of one official split, published without a deviation: the higher, the better."""
    result = compare_means(mean, NAN, 1, 98.5, NAN, 1, digits, sign=-1, rule="power")
    assert (result.verdict, result.basis) == (verdict, "rounding")
    assert np.isnan([result.low, result.high]).all()


def test_verdict_by_counts_of_test_samples():
    """Shares of one official test part of 10 000 samples are compared by a z test."""
    result = compare_means(1.39, NAN, 1, 1.24, NAN, 1, 9, n_tested=10_000)
    assert (result.verdict, result.basis) == ("undecided", "counts")
    z = 0.15 / np.sqrt(2 * 1.315 * 98.685 / 10_000)
    assert result.p == pytest.approx(2 * stats.norm.sf(z))
    assert result.half_width == pytest.approx(0.15 * stats.norm.ppf(0.975) / z)
    assert compare_means(2.0, NAN, 1, 1.24, NAN, 1, 2, n_tested=10_000).verdict == "worse"
    assert compare_means(21.0, NAN, 1, 20.6, NAN, 1, 1, n_tested=10_000).verdict == "reproduced"
    # A deviation that is known comes first.
    assert compare_means(2.0, 0.1, 5, 1.9, NAN, 1, n_tested=10_000).basis == "ours"


def test_counts_detect_the_stated_difference():
    """A true difference of the detectable size is found in 80% of the draws."""
    rng = np.random.default_rng(0)
    theirs, n = 5.0, 2000
    reference = compare_means(theirs, NAN, 1, theirs, NAN, 1, 2, n_tested=n)
    errors = 100 * rng.binomial(n, (theirs + reference.detectable) / 100, 4000) / n
    published = 100 * rng.binomial(n, theirs / 100, 4000) / n
    higher = [
        compared.differs and compared.difference > 0
        for ours, published_error in zip(errors, published, strict=True)
        for compared in [compare_means(ours, NAN, 1, published_error, NAN, 1, 2, n_tested=n)]
    ]
    assert np.mean(higher) == pytest.approx(0.8, abs=0.04)


@pytest.mark.parametrize("std", [0.0, 1.0, NAN])
@pytest.mark.parametrize("published_std", [0.0, 1.0, NAN])
@pytest.mark.parametrize("n", [1, 2, 10])
@pytest.mark.parametrize("published_n", [1, 10])
def test_unknown_deviations_never_decide_the_verdict(std, published_std, n, published_n):
    """A large difference is worse or better, an equal number is neither."""
    for difference, verdict in ((0.0, "reproduced"), (1000.0, "worse"), (-1000.0, "better")):
        result = compare_means(50 + difference, std, n, 50.0, published_std, published_n)
        missed = difference == 0 and result.p_within > 0.05
        assert result.verdict == ("undecided" if missed else verdict)
        assert result.differs == (difference != 0)
        assert result.basis in BASES
        assert np.isnan(result.p) == np.isnan(result.detectable) == (result.basis == "rounding")
        assert np.isnan(result.p_within) == (result.basis == "rounding")
        assert np.isnan(result.low) or result.low <= difference <= result.high


def test_p_value_is_welchs():
    result = compare_means(10.0, 2.0, 10, 12.0, 3.0, 20, digits=9)
    test = stats.ttest_ind_from_stats(10, 2, 10, 12, 3, 20, equal_var=False)
    assert result.p == pytest.approx(test.pvalue)


@pytest.mark.parametrize("std", [0.0, 0.1, 0.4, 3.0])
def test_variance_of_a_printed_deviation(std):
    """Mean and variance of the squares of all that prints so, by drawing."""
    drawn = np.random.default_rng(0).uniform(max(std - 0.05, 0), std + 0.05, 400_000) ** 2
    interval = compare_means(50.0, 1e-9, 10**9, 50.0, std, 10, digits=1)  # ours is sure
    freedom = 1 / (1 / 9 + drawn.var() / (2 * drawn.mean() ** 2))
    variance = drawn.mean() / 10, 0.1**2 / 12
    total = sum(variance)
    half = stats.t.ppf(0.975, total**2 * freedom / variance[0] ** 2) * np.sqrt(total)
    assert interval.half_width == pytest.approx(half, rel=0.01)


def _shares(draw, n, published_n, shift=0.0, digits=1):
    """Print one of two experiments, and return the shares of lower and higher numbers of ours."""
    ours, theirs = draw(n), draw(published_n)
    printed = rounded(theirs.mean(axis=0), digits), rounded(theirs.std(axis=0, ddof=1), digits)
    lines = zip(ours.mean(axis=0) + shift, ours.std(axis=0, ddof=1), *printed, strict=True)
    compared = [compare_means(a, s, n, b, t, published_n, digits) for a, s, b, t in lines]
    signs = np.array([np.sign(result.difference) * result.differs for result in compared])
    return np.mean(signs < 0), np.mean(signs > 0)


#: Draws of an experiment; four standard errors of a share of 6% of them.
_DRAWN = 4000
_ERROR = 4 * (0.06 * 0.94 / _DRAWN) ** 0.5


@pytest.mark.parametrize("sizes", [(50, 10), (10, 10), (50, 50), (10, 50), (5, 5), (50, 5)])
@pytest.mark.parametrize("std", [0.05, 0.14, 0.3, 1.0])
def test_differences_of_printed_numbers_are_wrong_in_4_to_6_percent(std, sizes):
    """The two numbers belong to one experiment, with a mean anywhere within the last digit.

    Rounding hides differences if the deviation is below 1.5 last digits, so that fewer are wrong.
    """
    rng = np.random.default_rng(3)
    means = 50 + rng.uniform(0, 0.1, _DRAWN)
    wrong = sum(_shares(lambda n: rng.normal(means, std, (n, _DRAWN)), *sizes))
    assert wrong < 0.06 + _ERROR
    assert wrong > 0.04 - _ERROR or std < 0.14


@pytest.mark.parametrize("n_tested", [1000, 2000, 5000])
def test_differences_of_few_errors_are_not_wrong_more_often(n_tested):
    """Errors of 1 in 1000 to 1 in 100 are counts, whose deviations print as 0.0 to 0.3."""
    rng = np.random.default_rng(4)
    share = rng.uniform(0.001, 0.01, _DRAWN)
    wrong = sum(
        _shares(lambda n: 100 * rng.binomial(n_tested, share, (n, _DRAWN)) / n_tested, 50, 10)
    )
    assert wrong < 0.06 + _ERROR


@pytest.mark.parametrize("n", [2, 5, 50])
def test_detectable_difference_is_found_with_80_percent(n):
    """The expected value is from statsmodels, which uses the noncentral t distribution."""
    power = pytest.importorskip("statsmodels.stats.power").TTestIndPower()
    expected = 2 * power.solve_power(nobs1=n, alpha=0.05, power=0.8)
    result = compare_means(50.0, 2.0, n, 50.0, 2.0, n, digits=9)
    assert result.detectable == pytest.approx(expected, rel=1e-4)
    assert result.detectable_share == pytest.approx(expected / 50, rel=1e-4)


@pytest.mark.parametrize(
    ("n", "std", "published_n", "digits"),
    [(10, 2.0, 50, 9), (50, 3.0, 10, 9), (20, 0.2, 20, 1), (50, 0.14, 50, 1)],
)
def test_detectable_difference_is_found_in_80_percent_of_repeats(n, std, published_n, digits):
    """Draw samples of two normal distributions with this distance; one of them is printed."""
    shift = compare_means(50.0, std, n, 50.0, std, published_n, digits).detectable
    rng = np.random.default_rng(1)
    means = 50 + rng.uniform(0, 10.0**-digits, 4000)
    _, worse = _shares(
        lambda size: rng.normal(means, std, (size, 4000)), n, published_n, shift, digits
    )
    # The tolerance is four standard errors, and 0.02 for the steps of the last digit.
    assert worse == pytest.approx(0.8, abs=4 * (0.8 * 0.2 / 4000) ** 0.5 + 0.02)


def test_detectable_difference_by_our_deviation_alone():
    shift = compare_means(50.0, 1.0, 30, 50.0, NAN, 20, digits=9).detectable
    rng = np.random.default_rng(1)
    ours, theirs = rng.normal(50 + shift, 1, (2000, 30)), rng.normal(50, 1, (2000, 20))
    higher = [
        result.differs and result.difference > 0
        for a, b in zip(ours, theirs, strict=True)
        for result in [compare_means(a.mean(), a.std(ddof=1), 30, b.mean(), NAN, 20, digits=9)]
    ]
    assert np.mean(higher) == pytest.approx(0.8, abs=4 * (0.8 * 0.2 / 2000) ** 0.5)


def test_rule_of_power_needs_a_fifth_of_the_published_error_to_be_detectable():
    def verdict(*numbers, **settings):
        return compare_means(*numbers, rule="power", **settings).verdict

    assert verdict(10.0, 1.0, 10, 10.0, 1.0, 10) == "reproduced"  # 1.3 is found
    assert verdict(6.0, 1.0, 10, 6.0, 1.0, 10) == "undecided"
    # The error of an accuracy is its distance from 100%.
    assert verdict(94.0, 1.0, 10, 94.0, 1.0, 10, sign=-1, reference=100) == "undecided"
    assert verdict(90.0, 1.0, 10, 90.0, 1.0, 10, sign=-1, reference=100) == "reproduced"
    assert verdict(9.0, 1.0, 10, 6.0, 1.0, 10) == "worse"
    assert verdict(0.0, 0.0, 10, 0.0, 0.0, 10) == "reproduced"


def test_verdict_combines_the_two_facts():
    cases = {
        "differs within the margin": (11.0, 0.5, "reproduced", True, True),
        "equal within the margin": (10.1, 0.5, "reproduced", False, True),
        "differs by more than the margin": (14.0, 0.5, "worse", True, False),
        "lower by more than the margin": (6.0, 0.5, "better", True, False),
        "too variable for both": (10.5, 4.0, "undecided", False, False),
        "differs, but perhaps by less than the margin": (12.0, 1.5, "worse", True, False),
    }
    for name, (mean, std, verdict, differs, within) in cases.items():
        result = compare_means(mean, std, 10, 10.0, std, 10)
        assert (result.verdict, result.differs, result.within) == (verdict, differs, within), name


def test_p_within_is_the_larger_of_two_one_sided_t_tests():
    """Each compares our numbers with a multiple of the published ones."""
    result = compare_means(11.0, 1.5, 10, 10.0, 2.0, 20, digits=9)
    sides = [
        stats.ttest_ind_from_stats(
            11, 1.5, 10, factor * 10, factor * 2, 20, equal_var=False, alternative=side
        ).pvalue
        for factor, side in ((1 + MARGIN, "less"), (1 - MARGIN, "greater"))
    ]
    assert result.p_within == pytest.approx(max(sides))


def test_high_accuracies_are_compared_by_their_distance_from_100():
    errors = compare_means(11.0, 1.5, 10, 10.0, 2.0, 20)
    accuracies = compare_means(89.0, 1.5, 10, 90.0, 2.0, 20, sign=-1, reference=100)
    assert accuracies.p_within == pytest.approx(errors.p_within)
    assert accuracies.equivalent_margins == errors.equivalent_margins


def test_margin_is_at_least_one_printed_digit():
    assert compare_means(0.12, 0.05, 50, 0.1, 0.05, 50).equivalent_margins == (0.1, 0.2, 0.3)
    assert compare_means(0.3, 0.05, 50, 0.1, 0.05, 50).equivalent_margins == ()


@pytest.mark.parametrize("sizes", [(10, 10), (50, 10), (10, 50), (5, 50)])
@pytest.mark.parametrize(("std", "error"), [(1.0, 10.0), (2.5, 10.0), (0.3, 3.0), (0.1, 0.5)])
@pytest.mark.parametrize("ratio", [1 + MARGIN, 1 - MARGIN])
def test_false_equivalence_is_below_5_percent(ratio, std, error, sizes):
    """The margin is a share of a published mean that is itself drawn, rounded and printed."""
    rng = np.random.default_rng(5)
    n, published_n = sizes
    true_errors = error + rng.uniform(-0.05, 0.05, _DRAWN)
    ours = rng.normal(ratio * true_errors, std, (n, _DRAWN))
    theirs = rng.normal(true_errors, std, (published_n, _DRAWN))
    printed = rounded(theirs.mean(axis=0), 1), rounded(theirs.std(axis=0, ddof=1), 1)
    lines = zip(ours.mean(axis=0), ours.std(axis=0, ddof=1), *printed, strict=True)
    within = [compare_means(a, s, n, b, t, published_n).within for a, s, b, t in lines]
    assert np.mean(within) < 0.05 + 4 * (0.05 * 0.95 / _DRAWN) ** 0.5


def test_simulated_equivalence_has_the_power_of_the_t_distribution():
    """The share of equal errors within the margin equals the power of two t tests."""
    rng = np.random.default_rng(6)
    n, std = 30, 2.0
    ours, theirs = rng.normal(10, std, (2, n, _DRAWN))
    drawn = [numbers for each in (ours, theirs) for numbers in (each.mean(0), each.std(0, ddof=1))]
    lines = zip(*drawn, strict=True)
    within = [compare_means(a, s, n, b, t, n, digits=9).within for a, s, b, t in lines]
    sides = []
    for factor in (1 + MARGIN, 1 - MARGIN):
        error = std * np.sqrt((1 + factor**2) / n)
        freedom = (1 + factor**2) ** 2 / (1 + factor**4) * (n - 1)
        critical = stats.t.ppf(0.95, freedom)
        sides.append(stats.nct.cdf(critical, freedom, 10 * MARGIN / error))
    # The two tests can hardly fail together.
    assert np.mean(within) == pytest.approx(1 - sum(sides), abs=0.03)


def test_equivalence_requires_enough_published_splits():
    assert compare_means(6.0, 1.0, 10, 6.0, 1.0, 10).can_be_reproduced
    assert not compare_means(2.5, 1.0, 10, 2.5, 1.0, 10).can_be_reproduced
    assert compare_means(2.5, 1.0, 10**6, 2.5, 1.0, 10).verdict == "undecided"
    assert compare_means(6.0, 1.0, 10**6, 6.0, 1.0, 10).verdict == "reproduced"


def test_interval_includes_the_variance_of_one_pool():
    """Splits of samples that were drawn once, against splits of samples that are drawn anew."""
    rng = np.random.default_rng(2)
    share, within = 0.16, 2.2
    between = within * share**0.5
    without_pool, with_pool = 0, 0
    for _ in range(1000):
        theirs = 50 + rng.normal(0, between) + rng.normal(0, within, 50)
        ours = 50 + rng.normal(0, between, 50) + rng.normal(0, within, 50)
        means = ours.mean(), ours.std(ddof=1), 50, theirs.mean(), theirs.std(ddof=1), 50
        without_pool += not compare_means(*means, digits=9).differs
        result = compare_means(*means, digits=9, pool_share=share)
        with_pool += not result.differs
        assert result.basis == "pool"
    assert with_pool / 1000 == pytest.approx(0.95, abs=0.02)
    assert without_pool / 1000 < 0.75
    # Additional splits do not reduce the variance of one published pool.
    assert not compare_means(6.0, 2.2, 50, 6.0, 2.2, 50, pool_share=share).can_be_reproduced
