"""Tests between columns of a table: sentences on named pairs, and the matrix of all pairs.

The matrix is the multiple-comparison matrix, whose pairwise results do not depend on other columns,
after A. Ismail-Fawaz et al., *An approach to multiple comparison benchmark evaluations that is
stable under manipulation of the comparate set*, arXiv 2305.11921, 2023.
"""

from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from boostbench.analysis.comparison import Comparison, PairTest, compare_columns, pair_columns
from boostbench.analysis.result_table import ColumnPair, Table
from boostbench.analysis.statistics import LEVEL
from boostbench.analysis.statistics.friedman import holm
from boostbench.analysis.statistics.wilcoxon import Wilcoxon, wilcoxon
from boostbench.report.blocks import Line, Listing
from boostbench.util.numbers import fixed, format_p_value


class PairResult(NamedTuple):
    """Result of a test of two columns.

    Attributes
    ----------
    pair : ColumnPair
        Names of the columns, and the paper's own result as a sentence.
    unit : str
        Unit of the paired numbers: ``"data sets"`` or ``"paired splits"``.
    test : Wilcoxon
        Wilcoxon's signed-rank test.
    holm_p : float
        P-value with Holm's correction for the number of tests, see `PairResults`.
    """

    pair: ColumnPair
    unit: str
    test: Wilcoxon
    holm_p: float


class PairResults(NamedTuple):
    """Tests of the pairs of columns that a table's definition compares.

    Attributes
    ----------
    results : list of PairResult
        Results of the pairs with two common numbers or more.
    n_tests : int
        Number of tests that Holm's correction is for: these pairs, or all pairs of the table.
    notes : list of str
        Notes on rows that repeat the data of another row.
    """

    results: list[PairResult]
    n_tests: int
    notes: list[str]


def _compare_pairs(table: Table) -> PairResults:
    """Compare the pairs of columns that the definition names, by Wilcoxon's signed-rank test.

    If a matrix of all pairs stands below the table, its tests are used, so that both show the same
    p-values.
    """
    # 1) If the table has a matrix, select the pairs from its tests.
    all_pairs = compare_columns(table, list(table.last_round_labels)) if table.has_matrix else None
    if all_pairs and all_pairs.tests:
        test_of_pair = {frozenset((test.a, test.b)): test for test in all_pairs.tests}
        results = []
        for pair in table.compared_pairs:
            test = test_of_pair[frozenset((pair.a, pair.b))]
            unit = all_pairs.paired_numbers.unit
            results.append(PairResult(pair, unit, test.wilcoxon, test.holm_p))
        return PairResults(results, len(test_of_pair), [])
    # 2) Without a matrix, test the pairs alone.
    numbers_of_pairs = {
        pair: pair_columns(table, [pair.a, pair.b]) for pair in table.compared_pairs
    }
    wilcoxon_of_pair = {
        pair: wilcoxon(paired_numbers.differences(0, 1))
        for pair, paired_numbers in numbers_of_pairs.items()
        if paired_numbers.n_pairs > 1
    }
    corrected = holm([test.p for test in wilcoxon_of_pair.values()])
    results = [
        PairResult(pair, numbers_of_pairs[pair].unit, test, p)
        for (pair, test), p in zip(wilcoxon_of_pair.items(), corrected, strict=True)
    ]
    # The table itself shows missing numbers, so the notes omit rows that are left out for them.
    notes = [
        replace(paired_numbers, left_out=[]).note
        for paired_numbers in numbers_of_pairs.values()
        if paired_numbers.repeated
    ]
    return PairResults(results, len(wilcoxon_of_pair), list(dict.fromkeys(notes)))


def summarize_tests(table: Table) -> str:
    """Return the tests of the compared pairs of columns as one paragraph, empty without tests.

    A single test is reported as the papers do, by its statistic and critical value; several tests
    by their p-values with Holm's correction. The paper's own results follow ours.
    """
    pair_results = _compare_pairs(table)
    if not pair_results.results:
        return " ".join(pair_results.notes)
    labels = {name: column.label for name, column in table.columns.items()}
    if pair_results.n_tests == 1:
        [result] = pair_results.results
        pair = result.pair
        title = f"{labels[pair.a]} against {labels[pair.b]}"
        sentences = [result.test.sentence(title, result.unit)]
        statements = [pair.published]
    else:
        # The number of pairs is stated once if all tests have the same.
        sizes = {f"{result.test.n} {result.unit}" for result in pair_results.results}
        common_size = f" over {min(sizes)}" if len(sizes) == 1 else ""
        # Consecutive pairs with the same first column name it once.
        texts = []
        for first, results in groupby(pair_results.results, lambda result: result.pair.a):
            opponents = [
                f"against {labels[result.pair.b]} {format_p_value(result.holm_p)}"
                + ("" if common_size else f" ({result.test.n} {result.unit})")
                for result in results
            ]
            texts.append(f"{labels[first]} {', '.join(opponents)}")
        sentences = [
            f"Wilcoxon's signed-rank test{common_size}, p-values with Holm's correction for "
            f"{pair_results.n_tests} tests: {'; '.join(texts)}."
        ]
        statements = [
            f"{labels[result.pair.a]} against {labels[result.pair.b]} without a correction: "
            f"statistic {result.test.statistic:g}, critical value "
            f"{'none' if result.test.critical is None else result.test.critical}. "
            f"{result.pair.published}"
            for result in pair_results.results
            if result.pair.published
        ]
    return " ".join(filter(None, [*sentences, *statements, *pair_results.notes]))


def matrix_listing(table: Table) -> Listing | None:
    """Compare all pairs of columns of a table whose definition asks for it.

    Parameters
    ----------
    table : Table

    Returns
    -------
    Listing or None
        None without ``matrix`` in the definition, or with fewer than two common numbers.
    """
    if not table.has_matrix:
        return None
    return comparison_listing(
        table, compare_columns(table, list(table.last_round_labels), table.rope)
    )


def comparison_listing(table: Table, comparison: Comparison) -> Listing | None:
    """Return the list of a comparison, one line for each pair of columns; None without tests."""
    tests = comparison.tests
    if not tests:
        return None
    has_corrected_t = any(test.resampled_p is not None for test in tests)
    has_posterior = any(test.posterior is not None for test in tests)
    heads = ["A", "B", "A minus B", "wins, ties, losses", "Holm p"]
    if has_corrected_t:
        heads.append("corrected t, p")
    if has_posterior:
        heads.append("P(A, equal, B)")
    return Listing(
        "Every two algorithms",
        heads,
        [_pair_line(table, test, has_corrected_t, has_posterior) for test in tests],
        _explain_columns(comparison, has_corrected_t, has_posterior),
    )


def _pair_line(table: Table, test: PairTest, has_corrected_t: bool, has_posterior: bool) -> Line:
    """Return the line of a pair, with p-values of at most 5% in bold."""
    texts = [
        table.columns[test.a].label,
        table.columns[test.b].label,
        fixed(test.difference, table.quantity.digits + 1, "+"),
        str(test.score),
    ]
    p_values = [test.holm_p, test.resampled_holm_p] if has_corrected_t else [test.holm_p]
    significant = {
        column
        for column, p in enumerate(p_values, start=len(texts))
        if p is not None and p <= LEVEL
    }
    texts += map(format_p_value, p_values)
    if has_posterior:
        texts.append(str(test.posterior))
    return Line(texts, frozenset(significant))


def _explain_columns(comparison: Comparison, has_corrected_t: bool, has_posterior: bool) -> str:
    """Return the explanation of the columns of `comparison_listing`."""
    paired_numbers, n_tests = comparison.paired_numbers, len(comparison.tests)
    sentences = [
        f"Over {paired_numbers.n_pairs} {paired_numbers.unit}: mean difference; how often A wins, "
        f"ties and loses, as printed; p-value of the {_test_name(comparison)} with Holm's "
        f"correction for {n_tests} {'pairs' if n_tests > 1 else 'pair'}."
    ]
    if has_corrected_t:
        sentences.append(
            "The splits share samples, so that this p-value is too small. Nadeau and Bengio's "
            "corrected t-test, with Holm's correction, takes that into account."
        )
    if has_posterior:
        sentences.append(
            f"P: the probabilities that A is better by more than {_rope_text(comparison)}, that "
            "both are within it, and that B is better, by the Bayesian "
            f"{_bayes_name(comparison)}."
        )
    return " ".join(sentences)


def _test_name(comparison: Comparison) -> str:
    """Return the name of the signed-rank test, and whether its p-values are exact."""
    n_tests = len(comparison.tests)
    n_approximate = sum(not test.wilcoxon.exact for test in comparison.tests)
    if 0 < n_approximate < n_tests:
        return f"Wilcoxon signed-rank test, approximate for {n_approximate} of {n_tests},"
    return f"{'approximate' if n_approximate else 'exact'} Wilcoxon signed-rank test"


def pair_sentences(table: Table, comparison: Comparison) -> list[str]:
    """Return the results for two algorithms as sentences, which follow the signed-rank test.

    Parameters
    ----------
    table : Table
    comparison : Comparison
        Comparison of exactly two columns of `table`.
    """
    (test,) = comparison.tests
    a, b = (table.columns[name].label for name in (test.a, test.b))
    quantity = comparison.paired_numbers.quantity
    difference = fixed(test.difference, quantity.digits + 1, "+")
    sentences = [f"Mean difference: {quantity.format_difference(difference)}."]
    if test.resampled_p is not None:
        sentences.append(
            "The splits share samples, so that the p-value above is too small. Nadeau and Bengio's "
            f"corrected t-test takes that into account: p = {format_p_value(test.resampled_p)}."
        )
    if test.posterior is not None:
        p_a_better, p_equal, p_b_better = test.posterior
        sentences.append(
            f"Bayesian {_bayes_name(comparison)}: {a} is better by more than "
            f"{_rope_text(comparison)} with probability {p_a_better:.2f}, both are within it with "
            f"{p_equal:.2f}, and {b} is better with {p_b_better:.2f}."
        )
    return sentences


def _bayes_name(comparison: Comparison) -> str:
    """Return the name of the Bayesian test: splits of one data set are correlated."""
    over_data = comparison.paired_numbers.unit == "data sets"
    return "signed-rank test" if over_data else "correlated t-test"


def _rope_text(comparison: Comparison) -> str:
    """Return the half-width of the region of practical equivalence, with its unit."""
    return comparison.paired_numbers.quantity.format_difference(f"{comparison.rope:g}")
