"""The multiple-comparison matrix: pairwise comparisons that do not depend on other columns.

After A. Ismail-Fawaz et al., *An approach to multiple comparison benchmark evaluations that is
stable under manipulation of the comparate set*, arXiv 2305.11921, 2023.
"""

from boostbench.analysis.comparison import Comparison, PairTest, compare_columns
from boostbench.analysis.statistics import LEVEL
from boostbench.analysis.tables import Table
from boostbench.report.blocks import Line, Listing
from boostbench.util.numbers import fixed, p_value


def matrix(table: Table) -> Listing | None:
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
    return matrix_of(table, compare_columns(table, list(table.fits), table.rope))


def matrix_of(table: Table, comparison: Comparison) -> Listing | None:
    """Return the list of pairwise test results; None without tests."""
    tests = comparison.tests
    if not tests:
        return None
    splits = any(test.resampled is not None for test in tests)
    probable = any(test.posterior is not None for test in tests)
    heads = ["A", "B", "A minus B", "wins, ties, losses", "Holm p"]
    heads += ["corrected t, p"] * splits + ["P(A, equal, B)"] * probable
    lines = [_line(table, test, splits, probable) for test in tests]
    return Listing("Every two algorithms", heads, lines, _explain(comparison, splits, probable))


def _line(table: Table, test: PairTest, splits: bool, probable: bool) -> Line:
    texts = [table.columns[name].label for name in (test.a, test.b)]
    texts += [fixed(test.difference, table.quantity.digits + 1, "+"), str(test.score)]
    p_values = [test.holm, *[test.resampled_holm] * splits]
    small = (place for place, p in enumerate(p_values, len(texts)) if p is not None and p <= LEVEL)
    texts += [*map(p_value, p_values), *[str(test.posterior)] * probable]
    return Line(texts, frozenset(small))


def _explain(comparison: Comparison, splits: bool, probable: bool) -> str:
    pairs, n = comparison.pairs, len(comparison.tests)
    sentences = [
        f"Over {len(pairs.numbers)} {pairs.unit}: mean difference; how often A wins, ties and "
        f"loses, as printed; p-value of the {_signed_rank(comparison)} with Holm's correction for "
        f"{n} {'pairs' if n > 1 else 'pair'}."
    ]
    if splits:
        sentences.append(
            "The splits share samples, so that this p-value is too small. Nadeau and Bengio's "
            "corrected t-test, with Holm's correction, takes that into account."
        )
    if probable:
        sentences.append(
            f"P: the probabilities that A is better by more than {_amount(comparison)}, that both "
            f"are within it, and that B is better, by the Bayesian {_bayesian(comparison)}."
        )
    return " ".join(sentences)


def _signed_rank(comparison: Comparison) -> str:
    """Name the test, and the distribution of its p-values."""
    n, approximate = len(comparison.tests), sum(not t.wilcoxon.exact for t in comparison.tests)
    if 0 < approximate < n:
        return f"Wilcoxon signed-rank test, approximate for {approximate} of {n},"
    return f"{'approximate' if approximate else 'exact'} Wilcoxon signed-rank test"


def pair_sentences(table: Table, comparison: Comparison) -> list[str]:
    """Return one line of the matrix as sentences, without the signed-rank test."""
    (test,) = comparison.tests
    a, b = (table.columns[name].label for name in (test.a, test.b))
    quantity = comparison.pairs.quantity
    difference = fixed(test.difference, quantity.digits + 1, "+")
    sentences = [f"Mean difference: {quantity.with_unit_of_differences(difference)}."]
    if test.resampled is not None:
        sentences.append(
            "The splits share samples, so that the p-value above is too small. Nadeau and Bengio's "
            f"corrected t-test takes that into account: p = {p_value(test.resampled)}."
        )
    if test.posterior is not None:
        lower, equal, higher = test.posterior
        sentences.append(
            f"Bayesian {_bayesian(comparison)}: {a} is better by more than {_amount(comparison)} "
            f"with probability {lower:.2f}, both are within it with {equal:.2f}, and {b} is better "
            f"with {higher:.2f}."
        )
    return sentences


def _bayesian(comparison: Comparison) -> str:
    over_data = comparison.pairs.unit == "data sets"
    return "signed-rank test" if over_data else "correlated t-test"


def _amount(comparison: Comparison) -> str:
    """Return the difference that does not matter, with its unit."""
    return comparison.pairs.quantity.with_unit_of_differences(f"{comparison.rope:g}")
