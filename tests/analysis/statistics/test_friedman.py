from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

import boostbench.analysis.statistics.friedman as friedman_module
from boostbench.analysis.statistics.friedman import average_ranks, friedman, holm

#: Table 6 of Demšar 2006: AUC of C4.5 (plain, with m, with cf, with both) on 14 data sets. In the
#: line before the last, he ranks two of 0.975 by a digit that he does not print.
AUC = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9752, 0.9751],
        [0.957, 0.978, 0.946, 0.970],
    ]
)


@pytest.fixture(scope="module")
def demsar():
    return friedman(-AUC, digits=4)  # the highest is the best


def test_ranks_equal_demsars_example(demsar):
    np.testing.assert_allclose(demsar.ranks, [3.143, 2.000, 2.893, 1.964], atol=5e-4)
    assert demsar.ranks.sum() == pytest.approx(4 * 5 / 2)


def test_statistics_of_demsars_example(demsar):
    # Demsar prints 9.28, and 3.69 for F(3, 39), since he ignores ties; the correction for ties
    # divides the first by 1 - (sum of t^3 - t) / (N k (k^2 - 1)). Ties are one of 4 and three of 2.
    uncorrected = 12 * 14 / (4 * 5) * (np.sum(demsar.ranks**2) - 4 * 5**2 / 4)
    assert uncorrected == pytest.approx(9.28, abs=5e-3)
    ties = (4**3 - 4) + 3 * (2**3 - 2)
    assert 13 * uncorrected / (14 * 3 - uncorrected) == pytest.approx(3.69, abs=5e-3)
    assert demsar.chi2 == pytest.approx(uncorrected / (1 - ties / (14 * 4 * 15)))
    assert demsar.f == pytest.approx(13 * demsar.chi2 / (14 * 3 - demsar.chi2))
    assert demsar.p == pytest.approx(stats.chi2.sf(demsar.chi2, 3))
    assert demsar.f_p == pytest.approx(stats.f.sf(demsar.f, 3, 39))
    assert demsar.significant


def test_critical_difference_of_demsars_example(demsar):
    # His Table 5a gives 2.569 for 4 algorithms at 5%.
    assert demsar.critical_difference == pytest.approx(2.569 * np.sqrt(20 / 84), abs=5e-4)
    assert demsar.critical_difference == pytest.approx(1.25, abs=5e-3)


@pytest.mark.parametrize(
    ("k", "q"), [(3, 2.343), (5, 2.728), (6, 2.850), (7, 2.949), (8, 3.031), (10, 3.164)]
)
def test_critical_values_of_demsars_table(k, q):
    result = friedman(np.random.default_rng(k).random((20, k)), digits=6)
    assert result.critical_difference / np.sqrt(k * (k + 1) / 120) == pytest.approx(q, abs=1.1e-3)


def test_nemenyi_agrees_with_the_critical_difference(demsar):
    distances = np.abs(np.subtract.outer(demsar.ranks, demsar.ranks))
    assert ((demsar.nemenyi <= 0.05) == (distances >= demsar.critical_difference)).all()
    np.testing.assert_allclose(demsar.nemenyi, demsar.nemenyi.T)
    np.testing.assert_allclose(np.diag(demsar.nemenyi), 1)


def test_nemenyi_and_holm_agree_with_scikit_posthocs(demsar):
    posthocs = pytest.importorskip("scikit_posthocs")
    expected = posthocs.posthoc_nemenyi_friedman(-AUC).to_numpy()
    np.testing.assert_allclose(demsar.nemenyi, expected)
    numbers = np.random.default_rng(1).random((5, 12))
    pairs = np.triu_indices(5, 1)
    raw, corrected = (
        posthocs.posthoc_wilcoxon(list(numbers), method="exact", p_adjust=how).to_numpy()[pairs]
        for how in (None, "holm")
    )
    np.testing.assert_allclose(holm(raw), corrected)


def p_by_enumeration(numbers):
    """Return the share of all orders within the rows with sums of ranks at least as far apart."""
    ranks = stats.rankdata(numbers, axis=1)
    orders = [[[*order] for order in permutations(row)] for row in ranks]
    sums = np.array([np.sum(lines, axis=0) for lines in product(*orders)])
    spread = ((sums - sums.mean()) ** 2).sum(1)
    return np.mean(spread >= ((ranks.sum(0) - sums.mean()) ** 2).sum() - 1e-9)


@pytest.mark.parametrize(("n", "k"), [(2, 3), (3, 3), (4, 3), (5, 3), (2, 4), (3, 4)])
def test_few_data_sets_use_all_orders(n, k):
    rng = np.random.default_rng(n)
    for _ in range(3):
        numbers = rng.integers(1, 6, (n, k))  # with ties
        result = friedman(numbers)
        assert result.by == "enumeration"
        assert result.p == result.f_p == pytest.approx(p_by_enumeration(numbers))
        assert result.significant == (result.p <= 0.05)


def test_exact_p_values_of_siegels_table():
    """Siegel gives 0.038 for 6.75 and 0.0024 for 10.75 (3 algorithms, 8 data sets)."""
    for lines, chi2, p in (((4, 3, 1, 0), 6.75, 0.038), ((5, 2, 0, 1), 10.75, 0.0024)):
        orders = [[1, 2, 3], [1, 3, 2], [3, 2, 1], [2, 1, 3]]
        result = friedman([order for order, n in zip(orders, lines, strict=True) for _ in range(n)])
        assert result.chi2 == pytest.approx(chi2)
        assert result.p == pytest.approx(p, rel=0.02)


def test_drawn_orders_are_near_all_of_them(monkeypatch):
    numbers = np.random.default_rng(1).random((8, 5))
    exact = friedman(numbers, digits=6)
    assert exact.by == "enumeration"  # 120^8 orders
    monkeypatch.setattr(friedman_module, "_MAX_ENUMERATED", 1)
    drawn = friedman(numbers, digits=6)
    assert drawn.by == "drawing"
    assert drawn.p == pytest.approx(exact.p, abs=4 * np.sqrt(exact.p * (1 - exact.p) / 50_000))
    assert drawn.p == friedman(numbers, digits=6).p
    assert "49999 random orders" in drawn.sentence("data sets")


@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_level_is_kept_for_few_data_sets(n):
    """The test rejects at most 5% of random ranks, while F rejects 20% for 3 data sets."""
    rng = np.random.default_rng(0)
    drawn = rng.permuted(np.tile(np.arange(3.0), (400 * n, 1)), axis=1).reshape(400, n, 3)
    # Sorted sums of ranks determine the result, so that most draws repeat an earlier one.
    sums = np.sort(drawn.sum(axis=1), axis=1)
    _, first, inverse = np.unique(sums, axis=0, return_index=True, return_inverse=True)
    different = [friedman(numbers) for numbers in drawn[first]]
    tests = [different[i] for i in inverse.ravel()]
    assert np.mean([test.significant for test in tests]) <= 0.06
    if n == 3:
        assert np.mean(stats.f.sf([test.f for test in tests], 2, 4) <= 0.05) > 0.15


def test_order_of_data_and_algorithms_does_not_matter():
    numbers = np.random.default_rng(0).random((9, 5)) * 10
    result = friedman(numbers)
    mixed = friedman(numbers[::-1][:, [4, 2, 0, 1, 3]])
    assert (result.chi2, result.f) == pytest.approx((mixed.chi2, mixed.f))
    np.testing.assert_allclose(result.ranks[[4, 2, 0, 1, 3]], mixed.ranks)


def test_equal_printed_numbers_share_ranks():
    np.testing.assert_allclose(friedman([[1.01, 1.04, 2], [3, 2, 1]]).ranks, [2.25, 1.75, 2])


def test_equal_numbers_have_p_1():
    result = friedman(np.ones((4, 3)))
    assert (result.chi2, result.p, result.f, result.f_p) == (0, 1, 0, 1)
    np.testing.assert_allclose(result.ranks, 2)
    np.testing.assert_allclose(result.nemenyi, 1)


def test_equal_rankings_have_the_smallest_p():
    result = friedman([[1, 2, 3]] * 9)
    assert result.chi2 == pytest.approx(18)
    # The other 8 data sets have the order of the first one with probability 6^-8.
    assert (result.f, result.f_p) == (np.inf, pytest.approx(6**-8))
    assert "F(2, 16) = inf, p = 5.95e-07, which rejects" in result.sentence("data sets")


def test_two_data_sets_cannot_be_significant():
    """The order of the second data set equals the first one with probability 1/6."""
    result = friedman([[1, 2, 3]] * 2)
    assert result.p == result.f_p == pytest.approx(1 / 6)
    assert result.sentence("data sets").startswith(
        "Friedman test of 3 algorithms over 2 data sets: chi-squared(2) = 4.00; Iman and "
        "Davenport's F(2, 2) = inf; both have p = 0.167, from all orders of the ranks, as fewer "
        "than 9 data sets are too few for an approximation, which fails to reject"
    )


def test_sentence_names_both_statistics(demsar):
    assert demsar.sentence("data sets").startswith(
        "Friedman test of 4 algorithms over 14 data sets: chi-squared(3) = "
    )
    assert "F(3, 39) = " in demsar.sentence("data sets")
    assert demsar.sentence("x").endswith("differ at that level when they are 1.25 apart.")


def test_average_ranks_share_ties():
    np.testing.assert_allclose(
        average_ranks(np.array([[5, 5, 5, 1]])), [[3, 3, 3, 1][i] for i in range(4)]
    )


def test_holm_by_its_definition():
    """A test is rejected at a level if each smaller p is, and p is at most level / (those left)."""
    p = np.array([0.011, 0.3, 0.02, 0.012, 0.02])
    corrected = holm(p)
    for level in (0.01, 0.04, 0.05, 0.055, 0.06, 0.1, 0.3, 0.5):
        rejected = np.zeros(5, bool)
        for rank, index in enumerate(np.argsort(p, kind="stable")):
            if p[index] > level / (5 - rank):
                break
            rejected[index] = True
        assert ((corrected <= level) == rejected).all()
    assert (holm([0.9, 0.8]) == 1).all()
    assert holm([0.2]) == 0.2
