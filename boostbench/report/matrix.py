"""The multiple-comparison matrix: pairwise comparisons that do not depend on other columns.

After A. Ismail-Fawaz et al., *An approach to multiple comparison benchmark evaluations that is
stable under manipulation of the comparate set*, arXiv 2305.11921, 2023.
"""

from boostbench.analysis.comparison import Comparison, PairTest, compare_columns
from boostbench.analysis.statistics import LEVEL
from boostbench.analysis.tables import Table
from boostbench.report.blocks import Line, Listing
from boostbench.util.numbers import fixed, p_value


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
    if not table.matrix:
        return None
    return comparison_listing(table, compare_columns(table, list(table.fits), table.rope))


def comparison_listing(table: Table, comparison: Comparison) -> Listing | None:
    """Return the list of pairwise test results of a comparison; None without tests."""
    tests = comparison.tests
    if not tests:
        return None
    has_corrected_t = any(test.resampled is not None for test in tests)
    has_posterior = any(test.posterior is not None for test in tests)
    heads = ["A", "B", "A minus B", "wins, ties, losses", "Holm p"]
    if has_corrected_t:
        heads.append("corrected t, p")
    if has_posterior:
        heads.append("P(A, equal, B)")
    return Listing(
        "Every two algorithms",
        heads,
        [_line(table, test, has_corrected_t, has_posterior) for test in tests],
        _explain(comparison, has_corrected_t, has_posterior),
    )


def _line(table: Table, test: PairTest, has_corrected_t: bool, has_posterior: bool) -> Line:
    """Return the line of a pair, with p-values of at most 5% in bold."""
    texts = [
        table.columns[test.a].label,
        table.columns[test.b].label,
        fixed(test.difference, table.quantity.digits + 1, "+"),
        str(test.score),
    ]
    p_values = [test.holm, test.resampled_holm] if has_corrected_t else [test.holm]
    significant = {
        column
        for column, p in enumerate(p_values, start=len(texts))
        if p is not None and p <= LEVEL
    }
    texts += map(p_value, p_values)
    if has_posterior:
        texts.append(str(test.posterior))
    return Line(texts, frozenset(significant))


def _explain(comparison: Comparison, has_corrected_t: bool, has_posterior: bool) -> str:
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
    if test.resampled is not None:
        sentences.append(
            "The splits share samples, so that the p-value above is too small. Nadeau and Bengio's "
            f"corrected t-test takes that into account: p = {p_value(test.resampled)}."
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
    """Return the largest difference that does not matter in practice, with its unit."""
    return comparison.paired_numbers.quantity.format_difference(f"{comparison.rope:g}")
