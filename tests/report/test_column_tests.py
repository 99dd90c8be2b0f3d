import re
from dataclasses import replace

import numpy as np
import pytest

from boostbench.analysis.comparison import compare_columns
from boostbench.analysis.result_table import Column, ColumnPair, Table
from boostbench.analysis.statistics.bayesian import correlated_t, signed_rank
from boostbench.analysis.statistics.friedman import holm
from boostbench.analysis.statistics.resampled import corrected_t
from boostbench.fitting.quantities import QUANTITIES, TEST_ERROR
from boostbench.report.column_tests import matrix_listing, pair_sentences, summarize_tests
from boostbench.report.document import make_document
from boostbench.report.renderers.latex import latex_notes
from boostbench.report.renderers.markdown import markdown

#: Errors in percent of three algorithms on six data sets.
ERRORS = {
    "a": [10.0, 12.0, 20.0, 5.0, 8.0, 9.0],
    "b": [10.1, 12.2, 20.3, 5.4, 8.5, 9.6],
    "c": [15.0, 13.0, 21.0, 5.0, 18.0, 12.0],
}


@pytest.fixture
def table_of_data_sets(make_cell, make_table):
    def make(quantity=TEST_ERROR, **fields):
        cells = {
            (f"d{row}", name): make_cell([error - 1, error + 1], quantity=quantity)
            for row in range(6)
            for name, error in ((name, ERRORS[name][row]) for name in ERRORS)
        }
        columns = {name: Column(name.upper(), name.upper(), quantity=quantity) for name in ERRORS}
        return make_table(cells, columns, **fields)

    return make


@pytest.fixture
def table_of_splits(make_cell, make_table):
    def make(sampling="stratified"):
        cells = {("wine", name): make_cell(ERRORS[name], sampling=sampling) for name in "ab"}
        return make_table(cells, has_matrix=True)

    return make


def test_matrix_is_optional(table_of_data_sets):
    table = table_of_data_sets()
    assert matrix_listing(table) is None
    assert "Every two" not in markdown(make_document(table))


def test_matrix_compares_every_pair_over_data_sets(table_of_data_sets):
    result = matrix_listing(table_of_data_sets(has_matrix=True))
    assert result.heads == [
        *("A", "B", "A minus B", "wins, ties, losses", "Holm p", "P(A, equal, B)")
    ]
    # p of 6 differences of one sign is 2 / 2^6, of 5 it is 2 / 2^5; two and one are left.
    ab, ac, _ = result.rows
    assert ab[:5] == ["A", "B", "-0.35", "6/0/0", "0.094"]
    assert ac[:5] == ["A", "C", "-3.33", "5/1/0", "0.125"]
    posterior = signed_rank([-0.1, -0.2, -0.3, -0.4, -0.5, -0.6], 1.0)
    assert ab[5] == str(posterior)
    assert posterior.equal > 0.99
    assert "by more than 1 percentage point, that both are within it" in result.explanation
    assert "Holm's correction for 3 pairs" in result.explanation


def test_rope_sets_the_region_of_equivalence(table_of_data_sets):
    result = matrix_listing(table_of_data_sets(has_matrix=True, rope=0.05))
    assert result.rows[0][5].startswith("1.00/0.00")
    assert "more than 0.05 percentage points" in result.explanation


def test_matrix_uses_the_last_round(table_of_rounds):
    # The number after the last round is missing for one of the two data sets.
    assert matrix_listing(replace(table_of_rounds, has_matrix=True)) is None


def test_matrix_of_one_data_set_compares_splits(table_of_splits):
    table = table_of_splits()
    result = matrix_listing(table)
    differences = [a - b for a, b in zip(ERRORS["a"], ERRORS["b"], strict=True)]
    p = corrected_t(differences, 25 / 75)
    assert result.heads[5:] == ["corrected t, p", "P(A, equal, B)"]
    assert result.rows[0][5] == f"{p:.3f}"
    assert result.rows[0][6] == str(correlated_t(differences, 1.0, 25 / 75))
    assert "share samples" in result.explanation
    sentences = " ".join(pair_sentences(table, compare_columns(table)))
    assert f"takes that into account: p = {p:.3f}" in sentences
    assert "Mean difference: -0.35 percentage points." in sentences
    assert "Bayesian correlated t-test: A is better by more than 1 percentage point" in sentences


def test_corrected_t_tests_of_several_pairs_have_holms_correction(make_cell, make_table):
    cells = {("wine", name): make_cell(ERRORS[name]) for name in "abc"}
    table = make_table(cells, has_matrix=True)
    p = [test.resampled_p for test in compare_columns(table).tests]
    assert [row[5] for row in matrix_listing(table).rows] == [f"{p:.3f}" for p in holm(p)]


def test_summary_above_the_matrix_has_its_p_values(table_of_data_sets):
    table = table_of_data_sets(has_matrix=True, compare=(("a", "b"), ("c", "a")))
    summary = summarize_tests(table)
    assert "with Holm's correction for 3 tests: " in summary
    p_values = re.findall(r" against . (\S+)[;.]", summary)
    assert p_values == [row[4] for row in matrix_listing(table).rows[:2]]


def test_approximate_p_values_are_named(make_cell, make_table):
    """The p-value comes from the normal distribution if more than 500 pairs differ."""
    zeros = np.zeros(501)
    all_differ, one_tie = zeros + 1, np.append(zeros[:-1] + 2, 0)
    for errors, expected in (
        ([zeros[:20], all_differ[:20]], "p-value of the exact Wilcoxon signed-rank test with Holm"),
        ([zeros, all_differ], "p-value of the approximate Wilcoxon signed-rank test with Holm"),
        (
            [zeros, all_differ, one_tie],
            "p-value of the Wilcoxon signed-rank test, approximate for 2 of 3, with Holm",
        ),
    ):
        cells = {
            ("wine", name): make_cell(values) for name, values in zip("abc", errors, strict=False)
        }
        table = make_table(cells, has_matrix=True)
        n_exact = sum(test.wilcoxon.exact for test in compare_columns(table).tests)
        assert n_exact == ("exact" in expected) + ("for 2 of 3" in expected)
        assert expected in matrix_listing(table).explanation


def test_official_splits_have_no_corrected_t_test(table_of_splits):
    result = matrix_listing(table_of_splits("official"))
    assert result.heads[-1] == "Holm p"
    assert "Nadeau" not in result.explanation


def test_quantity_without_percent_needs_a_rope(table_of_data_sets):
    table = table_of_data_sets(quantity=QUANTITIES["n_iterations"], has_matrix=True)
    assert matrix_listing(table).heads[-1] == "Holm p"
    result = matrix_listing(replace(table, rope=10.0))
    assert [line[5] for line in result.rows] == ["0.00/1.00/0.00"] * 3  # 100 rounds each
    assert "more than 10 rounds" in result.explanation


def test_higher_accuracies_win(table_of_data_sets):
    """The differences of accuracies change their sign, and the winner stays."""
    table = table_of_data_sets(quantity=QUANTITIES["accuracy"], has_matrix=True)
    by_error = matrix_listing(table_of_data_sets(has_matrix=True))
    for row, error_row in zip(matrix_listing(table).rows, by_error.rows, strict=True):
        assert row[2] == error_row[2].translate(str.maketrans("-+", "+-"))
        assert row[3:] == error_row[3:]


def test_matrix_is_in_markdown_and_latex(table_of_data_sets):
    table = table_of_data_sets(has_matrix=True)
    assert "## Every two algorithms" in markdown(make_document(table))
    assert "| A   | B   |       -0.35 |" in markdown(make_document(table))
    assert r"A & B & $-$0.35 & 6/0/0 & 0.094" in latex_notes(make_document(table))


def test_single_data_set_is_tested_over_splits(make_cell, make_table):
    # The splits that only one of them finished take no part.
    cells = {("wine", "a"): make_cell([1, 2, 3, 4]), ("wine", "b"): make_cell([2, 4, 6])}
    line = summarize_tests(make_table(cells))
    assert line.startswith("Wilcoxon signed-rank test (WSRT) of A against B over 3 paired splits")


def test_complete_data_sets_are_tested(table, make_cell):
    assert not summarize_tests(table)  # a single pair is not tested
    table.cells["glass", "b"] = make_cell([40.0])
    line = summarize_tests(table)
    assert "over 2 data sets" in line


def test_uncounted_data_sets_are_not_tested(make_cell, make_table):
    rows = ["wine", "vowel", "vowel528"]
    cells = {(row, column): make_cell([1, 2]) for row in rows for column in "ab"}
    assert "over 2 data sets" in summarize_tests(make_table(cells, uncounted={"vowel528"}))


def test_chosen_pairs_are_compared(make_cell, make_table):
    cells = {("wine", column): make_cell([1, 2]) for column in "abc"}
    assert not summarize_tests(make_table(cells, compare=[]))
    line = summarize_tests(make_table(cells, compare=[("c", "b")]))
    assert "of C against B" in line


def test_p_values_of_several_pairs_are_corrected(make_cell, make_table):
    errors = {"a": range(1, 8), "b": range(2, 9), "c": [1, 2, 3, 4, 5, 6, 9]}
    cells = {("wine", name): make_cell([*values]) for name, values in errors.items()}
    summary = summarize_tests(make_table(cells, compare=[("a", "b"), ("a", "c")]))
    # Seven differences of one sign have p = 2 / 2^7; twice that is 1 / 32. The other pair has one
    # difference, and six ties.
    assert summary == (
        "Wilcoxon's signed-rank test over 7 paired splits, p-values with Holm's correction for 2 "
        "tests: A against B 0.031, against C 1.000."
    )
    single = summarize_tests(make_table(cells, compare=[("a", "b")]))
    assert "Holm" not in single
    assert single.endswith("(exact p = 0.0156).")


def test_statement_of_the_paper_follows_the_uncorrected_test(make_cell, make_table):
    cells = {("wine", name): make_cell([*range(n, n + 7)]) for n, name in enumerate("abc")}
    statement = "The paper, over 11 data sets: so and so."
    pairs = [ColumnPair("a", "b", statement), ColumnPair("a", "c")]
    table = replace(make_table(cells), compared_pairs=pairs)
    assert summarize_tests(table).endswith(
        f"A against B without a correction: statistic 0, critical value 2. {statement}"
    )


def test_last_round_is_compared(table_of_rounds, make_cell):
    table_of_rounds.cells["glass", "b@100"] = make_cell([10, 12], rounds=100)
    line = summarize_tests(table_of_rounds)
    assert "of A, T=100 against B, T=100 over 2 data sets" in line


def test_statement_of_the_paper_follows_our_test(table):
    cells = {key: cell for key, cell in table.cells.items() if key[0] == "wine"}
    pair = [ColumnPair("a", "b", "The paper, over 11 data sets: so and so.")]
    table = Table("name", "Title", {"wine": "wine"}, table.columns, cells, pair)
    line = summarize_tests(table)
    assert line.endswith(". The paper, over 11 data sets: so and so.")
