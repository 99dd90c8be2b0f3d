"""Comparisons of algorithms on a terminal of 80 columns and as JSON."""

import json
from collections.abc import Sequence
from itertools import zip_longest
from math import isfinite, isnan
from textwrap import wrap
from typing import Any

from rich.console import Console
from rich.text import Text

from boostbench.analysis.comparison import Comparison, corrected_t_on_row, effect_size_on_row
from boostbench.analysis.result_table import Table
from boostbench.analysis.statistics import LEVEL
from boostbench.report.column_tests import comparison_listing, pair_sentences, summarize_tests
from boostbench.report.document import make_document, make_row
from boostbench.report.renderers.console import make_grid, print_listing, print_table
from boostbench.report.wording import caption, table_notes
from boostbench.util.numbers import differences, fixed, format_p_value, rounded

#: Names of algorithms are wrapped to this width (characters) beside many columns.
_NAME_WIDTH = 13

_PAIR_TEST_HEADS = ["A", "B", "ranks\napart", "Nemenyi\np", "effect\nsize"]


def print_comparison(console: Console, table: Table, comparison: Comparison) -> None:
    """Print the numbers of two or more algorithms with the results of tests.

    Parameters
    ----------
    console : rich.console.Console
        Output.
    table : Table
        Table with the numbers.
    comparison : Comparison
        Test results on `table`.
    """
    console.print(table.title, style="bold")
    if len(table.columns) == 2:
        _print_numbers_of_two(console, table)
    else:
        print_table(console, make_document(table))
    console.print()
    if not comparison.tests:
        paired_numbers = comparison.paired_numbers
        n = f"{paired_numbers.n_pairs or 'No'} {paired_numbers.unit.removesuffix('s')}"
        console.print(f"{n} with a number of each algorithm: too few for a test.", style="bold")
    elif comparison.friedman:  # three algorithms or more
        _print_tests_of_many(console, table, comparison)
    else:
        _print_test_of_two(console, table, comparison)
    for note in [comparison.paired_numbers.note, *table_notes(table)]:
        if note:
            console.print(note, style="yellow")


def _print_numbers_of_two(console: Console, table: Table) -> None:
    """Print a line per data set: both numbers, their difference, and the better algorithm."""
    a, b = table.columns
    digits = table.quantity.digits
    heads = [_wrap_name(table.columns[name].label) for name in (a, b)]
    grid = make_grid(["data", *heads, "differ-\nence", "Hedges'\ng", "p", "better"])
    for row, title in table.rows.items():
        difference, g, winner = "-", "-", "-"
        p = corrected_t_on_row(table, row, a, b)
        cell_a, cell_b = (table.cells[row, name] for name in (a, b))
        if cell_a.numbers and cell_b.numbers:
            (value,) = differences([cell_a.mean], [cell_b.mean], digits)
            difference = fixed(value, digits, "+" if value else "")
            g = _signed(effect_size_on_row(table, row, a, b))
            first_wins = table.quantity.sign * value < 0
            winner = _wrap_name(table.columns[a if first_wins else b].label) if value else "tie"
        entries = make_row(table, row).entries
        texts = [Text(entry.printed, "bold" if entry.best else "") for entry in entries]
        grid.add_row(title, *texts, difference, g, _bold_if_significant(p), winner)
    console.print(grid)
    labels = [column.label for column in table.columns.values()]
    console.print(
        f"{caption(table)} Difference: {labels[0]} minus {labels[1]}. Hedges' g: that, in standard "
        "deviations over the splits. P: of Nadeau and Bengio's corrected t-test over the splits of "
        "the data set."
    )


def _print_test_of_two(console: Console, table: Table, comparison: Comparison) -> None:
    """Print the tests of two algorithms as sentences."""
    (test,) = comparison.tests
    a, b = (table.columns[name].label for name in (test.a, test.b))
    wins, ties, losses = test.score
    console.print(f"{a} wins {wins}, ties {ties}, loses {losses}.", style="bold")
    console.print(summarize_tests(table))
    console.print(
        f"Effect size: rank-biserial correlation {_signed(test.wilcoxon.effect)}, "
        f"from -1 ({a} is always better) to 1 ({b} is)."
    )
    for sentence in pair_sentences(table, comparison):
        console.print(sentence)


def _print_tests_of_many(console: Console, table: Table, comparison: Comparison) -> None:
    """Print the tests of three algorithms or more: all pairs, average ranks, and their pairs."""
    print_listing(console, comparison_listing(table, comparison))
    console.print()
    labels = {name: column.label for name, column in table.columns.items()}
    grid = make_grid(["algorithm", "average rank"])
    for name, rank in sorted(comparison.ranks.items(), key=lambda each: each[1]):
        grid.add_row(labels[name], f"{rank:.2f}")
    console.print(grid)
    console.print(comparison.friedman.sentence(comparison.paired_numbers.unit))
    console.print()
    grid = make_grid(_PAIR_TEST_HEADS, n_left=2)
    for test in comparison.tests:
        rank_difference = comparison.ranks[test.a] - comparison.ranks[test.b]
        grid.add_row(
            _wrap_name(labels[test.a]),
            _wrap_name(labels[test.b]),
            _signed(rank_difference),
            _bold_if_significant(test.nemenyi_p),
            _signed(test.wilcoxon.effect),
        )
    console.print(grid)
    console.print(
        f"Ranks: 1 is the {table.quantity.better} {table.quantity.title.lower()} as printed; ties "
        "share. Nemenyi's p-values are of average ranks, and so depend on the other algorithms; "
        "bold where they are at most 5%. Effect size: rank-biserial correlation, from -1 (A is "
        "always better) to 1 (B is)."
    )


def _bold_if_significant(p: float | None) -> Text:
    """Return the text of a p-value, in bold at 5% or less; None: unknown."""
    return Text(format_p_value(p), "bold" if p is not None and p <= LEVEL else "")


def _signed(value: float) -> str:
    """Return a signed number with two decimals; one that rounds to zero has no sign."""
    return "-" if isnan(value) else fixed(value, 2, "+" if rounded(value, 2) else "")


def _wrap_name(label: str) -> str:
    """Break the name of an algorithm into lines of `_NAME_WIDTH` characters."""
    return "\n".join(wrap(label, _NAME_WIDTH, break_long_words=False))


def comparison_as_json(table: Table, sources: Sequence[str], comparison: Comparison) -> str:
    """Return the content of `print_comparison` as JSON, in full precision.

    Parameters
    ----------
    table : Table
        Table with the numbers.
    sources : sequence of str
        Name of the table that each row comes from. Empty: rows of runs, which have null.
    comparison : Comparison
        Test results on `table`.

    Returns
    -------
    str
        JSON; null stands for unknown and infinite values.
    """
    # 1) Rows: the numbers and, for two algorithms, the tests over the splits of the data set.
    rows = []
    for row, source in zip_longest(table.rows, sources):
        cells = {name: table.cells[row, name] for name in table.columns}
        numbers = {
            name: {"mean": cell.mean, "std": cell.std, "n_splits": len(cell.numbers)}
            if cell.numbers
            else None
            for name, cell in cells.items()
        }
        rows.append({"data": row, "table": source, "numbers": numbers})
        if len(cells) == 2:
            rows[-1]["hedges_g"] = effect_size_on_row(table, row, *table.columns)
            rows[-1]["p_splits"] = corrected_t_on_row(table, row, *table.columns)
    # 2) Tests of each pair over the rows.
    pairs = [
        {
            "a": test.a,
            "b": test.b,
            "difference": test.difference,
            **test.score._asdict(),
            "statistic": test.wilcoxon.statistic,
            "critical": test.wilcoxon.critical,
            "p": test.wilcoxon.p,
            "p_holm": test.holm_p,
            "p_nemenyi": test.nemenyi_p,
            "rank_biserial": test.wilcoxon.effect,
            "p_resampled": test.resampled_p,
            "p_resampled_holm": test.resampled_holm_p,
            "a_better": test.posterior and test.posterior.lower,
            "equal": test.posterior and test.posterior.equal,
            "b_better": test.posterior and test.posterior.higher,
        }
        for test in comparison.tests
    ]
    # 3) The test of three algorithms or more.
    friedman = None
    if comparison.friedman:
        # "chi2" is Friedman's statistic, and "f" is Iman and Davenport's, both with a p-value.
        # "p_by" is the source of the p-values: a distribution, or orders of the ranks.
        friedman = {
            "chi2": comparison.friedman.chi2,
            "p": comparison.friedman.p,
            "f": comparison.friedman.f,
            "p_f": comparison.friedman.f_p,
            "p_by": comparison.friedman.by,
            "critical_difference": comparison.friedman.critical_difference,
        }
    content = {
        "algorithms": {name: column.label for name, column in table.columns.items()},
        "data": rows,
        "quantity": table.quantity.name,
        "better": table.quantity.better,
        "unit": comparison.paired_numbers.unit,
        "n": comparison.paired_numbers.n_pairs,
        "left_out": comparison.paired_numbers.left_out,
        "rope": comparison.rope,
        "ranks": comparison.ranks,
        "pairs": pairs,
        "friedman": friedman,
        "notes": table_notes(table),
    }
    return json.dumps(_replace_infinite(content), indent=1, ensure_ascii=False)


def _replace_infinite(value: Any) -> Any:
    """Replace NaN and infinity, which JSON lacks, by None."""
    if isinstance(value, dict):
        return {key: _replace_infinite(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_replace_infinite(each) for each in value]
    return None if isinstance(value, float) and not isfinite(value) else value
