import numpy as np
import pytest

from boostbench.analysis.comparison import compare_columns, effect_size_on_row
from boostbench.analysis.statistics.friedman import friedman, holm
from boostbench.analysis.statistics.wilcoxon import wilcoxon
from boostbench.util.numbers import differences

ERRORS = np.random.default_rng(0).integers(10, 400, (9, 4)) / 10


@pytest.fixture
def comparison(make_cell, make_table):
    cells = {
        (f"d{row}", name): make_cell([error - 1, error, error + 1])
        for row, line in enumerate(ERRORS)
        for name, error in zip("abcd", line, strict=True)
    }
    return compare_columns(make_table(cells))


def test_comparison_includes_the_friedman_test(comparison):
    expected = friedman(ERRORS)
    assert comparison.friedman.chi2 == pytest.approx(expected.chi2)
    assert list(comparison.ranks.values()) == pytest.approx(list(expected.ranks))
    assert list(comparison.ranks) == ["a", "b", "c", "d"]


def test_every_pair_is_tested(comparison):
    assert [(test.a, test.b) for test in comparison.tests] == [
        *[("a", "b"), ("a", "c"), ("a", "d")],
        *[("b", "c"), ("b", "d")],
        ("c", "d"),
    ]
    tests = [
        wilcoxon(differences(ERRORS[:, "abcd".index(d.a)], ERRORS[:, "abcd".index(d.b)]))
        for d in comparison.tests
    ]
    assert [test.wilcoxon for test in comparison.tests] == tests
    assert [test.holm_p for test in comparison.tests] == pytest.approx(
        list(holm([test.p for test in tests]))
    )
    assert all(sum(test.score) == 9 for test in comparison.tests)
    assert comparison.tests[1].nemenyi_p == pytest.approx(friedman(ERRORS).nemenyi[0, 2])


def test_single_pair_needs_no_correction(make_cell, make_table):
    cells = {(row, c): make_cell([i]) for i, row in enumerate("xyz", 1) for c in "ab"}
    (test,) = compare_columns(make_table(cells)).tests
    assert (test.holm_p, test.nemenyi_p) == (test.wilcoxon.p, None)
    assert test.score == (0, 3, 0)
    assert test.wilcoxon.effect == 0


def test_single_data_set_has_no_tests(table):
    comparison = compare_columns(table)
    assert (comparison.ranks, comparison.tests, comparison.friedman) == ({}, [], None)
    assert len(comparison.paired_numbers.numbers) == 1


def test_effect_is_computed_over_splits(make_cell, make_table):
    cells = {("wine", "a"): make_cell([1, 2, 3]), ("wine", "b"): make_cell([3, 4, 5])}
    # Cohen's d is -2; the correction for 4 degrees of freedom is 0.7979.
    assert effect_size_on_row(make_table(cells), "wine", "a", "b") == pytest.approx(
        -2 * 0.7979, abs=1e-4
    )
