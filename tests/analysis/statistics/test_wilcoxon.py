import itertools
import tracemalloc

import numpy as np
import pytest
from scipy import stats

from boostbench.analysis.statistics.wilcoxon import MAX_EXACT, Wilcoxon, critical_value, wilcoxon
from boostbench.papers import published
from boostbench.papers.metadata import library
from boostbench.papers.notes import read_statements
from boostbench.util.numbers import differences

STATEMENTS = [
    (paper.name, reported) for paper in library().papers for reported in read_statements(paper.name)
]
# The second name of a statement's algorithm says which lines of the table are meant.
SETTINGS = {"wlda": "weak_learner", "exponential": "loss", "logistic": "loss"}


def column(table, algorithm):
    """Published means of an algorithm by data set, e.g. of ``mcboost:logistic``."""
    algo, _, setting = algorithm.partition(":")
    return {
        line["data"]: float(line["test_error_mean"])
        for line in published.lines_of(table)
        if line["algo"] == algo and (not setting or line[SETTINGS[setting]] == setting)
    }


@pytest.mark.parametrize(("paper", "reported"), STATEMENTS)
def test_statements_of_the_papers_are_reproduced(paper, reported):
    table = f"{paper}-table{reported.table}"
    a, b = column(table, reported.a), column(table, reported.b)
    assert a.keys() == b.keys()
    result = wilcoxon(differences(list(a.values()), [b[data] for data in a]))
    assert result.n == int(reported.n_data)
    assert result.statistic == float(reported.statistic)
    assert result.critical == int(reported.critical_value_5pct)
    assert result.tabled == result.significant == (reported.significant == "yes")


def test_sentences_agree_with_randomboost():
    # The paper states these statistics below its Tables V and VI.
    expected = {"randomboost-table5": ("16", "10"), "randomboost-table6": ("10.5", "0")}
    for table, (statistic, critical) in expected.items():
        proj, rank = (column(table, algo) for algo in ("rboost_proj", "rboost_rank"))
        result = wilcoxon(differences(list(proj.values()), [rank[data] for data in proj]))
        assert (
            f"the statistic ({statistic}) is above the critical value ({critical}), so that the "
            "test does not reject the null hypothesis at the 5% significance level (exact p = "
        ) in result.sentence("A against B", "data sets")


@pytest.mark.parametrize("n", range(1, 13))
def test_critical_value_equals_enumeration(n):
    signs = np.array([*itertools.product((0, 1), repeat=n)])
    sums = signs @ np.arange(1, n + 1)
    significant = [w for w in range(sums.max() + 1) if 2 * np.mean(sums <= w) <= 0.05]
    assert critical_value(n) == max(significant, default=None)


def critical_value_by_scipy(n):
    """A line of differences for each rank sum; the negative ones are taken from the largest on."""
    sums = np.arange(n * (n + 1) // 4 + 1)
    pairs, remainders = np.tile(np.arange(1.0, n + 1), (len(sums), 1)), sums.copy()
    for rank in range(n, 0, -1):
        negative = remainders >= rank
        pairs[negative, rank - 1] *= -1
        remainders[negative] -= rank
    p = stats.wilcoxon(pairs, method="exact", axis=1).pvalue
    return max(np.flatnonzero(p <= 0.05), default=None)


def test_critical_values_equal_scipy():
    for n in range(1, 61):
        assert critical_value(n) == critical_value_by_scipy(n)


def test_critical_value_needs_little_memory():
    """A line of differences for each rank sum takes half a gigabyte."""
    tracemalloc.start()
    assert critical_value.__wrapped__(300) == 19628
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5e6


def test_approximation_is_near_the_exact_distribution():
    before, exact, near = (critical_value(MAX_EXACT + offset) for offset in (-1, 0, 1))
    assert near - exact == pytest.approx(exact - before, abs=5)
    assert critical_value(10_000) == 24_436_664
    pairs = np.arange(1.0, MAX_EXACT + 2) * np.where(np.arange(MAX_EXACT + 1) % 23 < 10, 1, -1)
    result = wilcoxon(pairs)
    assert not result.exact
    assert wilcoxon(pairs[:-1]).exact
    assert 0.001 < result.p < 0.1
    assert result.p == pytest.approx(stats.wilcoxon(pairs, method="exact").pvalue, rel=0.01)


def test_critical_values_of_textbooks():
    assert [critical_value(n) for n in (6, 10, 15, 20, 25, 50)] == [0, 8, 25, 52, 89, 434]


def test_rounding_makes_equal_differences_tie():
    # 0.3 - 0.2 and 0.2 - 0.1 differ in floating point; as printed they share the rank 1.5.
    result = wilcoxon(differences([0.3, 0.2, 5.0], [0.2, 0.1, 9.0]))
    assert result.statistic == 3.0
    assert wilcoxon(differences([1.04, 2.0], [1.0, 3.0])).ties == 1


def test_rank_biserial_equals_a_hand_calculation():
    # Differences -1, 2, -3: rank sums 2 (higher) and 1 + 3 (lower) of 6.
    assert wilcoxon(differences([1, 4, 3], [2, 2, 6])).effect == pytest.approx((2 - 4) / 6)


def test_rank_biserial_is_1_if_every_pair_agrees():
    a, b = np.array([1.0, 2.0, 3.0]), np.array([1.5, 2.0, 9.0])
    assert wilcoxon(differences(a, b)).effect == -1
    assert wilcoxon(differences(b, a)).effect == 1
    assert wilcoxon(differences(a, a)).effect == 0


def test_rank_biserial_compares_printed_numbers():
    # The difference 0.3 - 0.2 is less than 0.2 - 0.1 in floating point.
    assert wilcoxon(differences([0.3, 0.1], [0.2, 0.2])).effect == 0


def test_ties_take_no_rank_and_no_side():
    result = wilcoxon(differences([1, 2, 3, 4], [1, 2, 3, 4]))
    assert (result.n, result.ties, result.statistic, result.p) == (4, 4, 0.0, 1.0)
    assert not result.significant


def test_ties_do_not_make_a_difference_significant():
    # Six ties of ten leave a rank sum below the critical value, with nothing behind it.
    result = wilcoxon(differences([1, 2, 3, 4, *[5] * 6], [2, 3, 4, 2, *[5] * 6]))
    assert result.tabled
    assert not result.significant
    sentence = result.sentence("A against B", "splits")
    assert sentence.endswith(
        f"exact p = {result.p:.3g}, which does not reject the null hypothesis at the 5% "
        "significance level; the statistic (4) is at most the critical value (8), but 6 of 10 "
        "pairs are ties, which the critical value ignores."
    )


def p_by_enumeration(difference):
    """Return the share of all 2^n signs for which the smaller rank sum is at most this one."""
    ranks = stats.rankdata(np.abs(difference))
    signs = np.array([*itertools.product((0, 1), repeat=len(ranks))])
    higher = signs @ ranks
    smaller = np.minimum(higher, ranks.sum() - higher)
    statistic = min(ranks[difference > 0].sum(), ranks[difference < 0].sum())
    return np.mean(smaller <= statistic)


@pytest.mark.parametrize("n", [1, 2, 3, 6, 11, 13])
@pytest.mark.parametrize("sizes", ["different", "shared"])
def test_exact_p_equals_enumeration(n, sizes):
    rng = np.random.default_rng(n)
    for _ in range(5):
        size = rng.permutation(n) + 1 if sizes == "different" else rng.integers(1, 4, n)
        difference = rng.choice([-1, 1], n) * size / 10
        p = wilcoxon(differences(difference, np.zeros(n))).p
        assert p == pytest.approx(p_by_enumeration(difference), rel=1e-12)


def test_shared_ranks_need_another_p_than_scipys_exact_one():
    difference = np.array([1, 1, 2, 2, 3, 3, -4.0])
    wrong = stats.wilcoxon(difference, method="exact").pvalue
    every_sign = stats.wilcoxon(difference, method=stats.PermutationMethod(n_resamples=2**7)).pvalue
    p = wilcoxon(differences(difference, np.zeros(7))).p
    assert p == pytest.approx(every_sign)
    assert p == pytest.approx(p_by_enumeration(difference))
    assert p != pytest.approx(wrong)


def p_by_adding_up_ranks(difference):
    """Return the exact p-value by the distribution of rank sums, one rank after the other."""
    ranks = np.rint(2 * stats.rankdata(np.abs(difference))).astype(int)
    probability = np.ones(1)
    for rank in ranks:
        probability = (np.pad(probability, (0, rank)) + np.pad(probability, (rank, 0))) / 2
    smaller = min(ranks[difference > 0].sum(), ranks[difference < 0].sum())
    return min(1.0, 2 * probability[: smaller + 1].sum())


@pytest.mark.parametrize("n", [18, 25, 50])
def test_many_pairs_with_shared_ranks_have_the_exact_p(n):
    rng = np.random.default_rng(n)
    for shift in (0, 0.3, 0.6):
        difference = np.round(rng.normal(shift, 1, n), 1)
        result = wilcoxon(differences(difference, np.zeros(n)))
        expected = p_by_adding_up_ranks(difference[difference != 0])
        assert result.p == pytest.approx(expected, rel=1e-12)
        assert "exact p = " in result.sentence("A against B", "splits")


def test_differences_of_one_size_are_a_sign_test():
    """The normal distribution is far off here: it would call 14 of 19 a difference."""
    result = wilcoxon(np.repeat([0.5, -0.5], [14, 5]))
    assert result.p == pytest.approx(stats.binomtest(5, 19).pvalue)
    assert not result.significant
    near = stats.wilcoxon(np.repeat([0.5, -0.5], [14, 5]), method="asymptotic", correction=True)
    assert near.pvalue < 0.05


def test_p_does_not_depend_on_order_side_or_unit():
    a, b = np.array([[1.1, 2.2, 3.3, 4.4, 5.5, 7.0], [1.4, 2.2, 3.0, 5.4, 6.0, 9.0]])
    p = wilcoxon(differences(a, b)).p
    equivalent = [(b, a), (a[::-1], b[::-1]), (10 * a, 10 * b)]
    assert {wilcoxon(differences(*other)).p for other in equivalent} == {p}
    assert 0 < p < 1


def test_sentence_of_few_pairs():
    sentence = wilcoxon(differences([1, 2], [2, 4])).sentence("A against B", "data sets")
    assert sentence.endswith(
        "over 2 data sets: so few pairs cannot show a difference at the 5% significance level "
        "(statistic 0, exact p = 0.5)."
    )


def test_sentence_of_a_difference():
    sentence = Wilcoxon(10, 0, 0.0, 8, 0.002).sentence("A against B", "splits")
    assert sentence.startswith("Wilcoxon signed-rank test (WSRT) of A against B over 10 splits:")
    assert sentence.endswith(
        "the statistic (0) is at most the critical value (8), so that the test rejects the null "
        "hypothesis at the 5% significance level (exact p = 0.002)."
    )
