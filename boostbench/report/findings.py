"""What follows from a table: which columns differ, and what agrees with the published numbers."""

from collections.abc import Mapping, Sequence
from statistics import median

from boostbench.report import numbers
from boostbench.report.paired import paired
from boostbench.report.statistics.wilcoxon import wilcoxon
from boostbench.report.tables import Table
from boostbench.report.verdicts import Tally

COMPARISON = ["data", "algorithm", "published", "ours", "difference", "verdict"]
SECONDS = ["data", "algorithm", "published", "ours"]
COMPARISON_EXPLANATION = (
    "Difference: ours minus published, with Welch's 95% interval. Reproduced: within sampling "
    "error, that is, the interval holds 0."
)

#: Cells whose reference job took longer or shorter than the usual one by this factor are named.
_SAME_SPEED = 1.25


def significance(table: Table) -> list[str]:
    """Compare the chosen pairs of columns by the Wilcoxon signed-rank test.

    Parameters
    ----------
    table : Table
        The pairs of numbers are its data sets; or, when it has only one, the splits.

    Returns
    -------
    list of str
        A sentence for each comparison for which there are pairs, and the paper's own result where
        it gives one.
    """
    lines = []
    for comparison in table.compare:
        names = (comparison.a, comparison.b)
        pairs = paired(table, names)
        if len(pairs.errors) > 1:
            labels = (table.columns[name].label for name in names)
            lines.append(wilcoxon(*pairs.errors.T).sentence(*labels, pairs.unit))
            if comparison.published:
                lines[-1] += f" {comparison.published}"
    return lines


def comparison_rows(table: Table) -> list[list[str]]:
    """List every published test error with ours beside it.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    list of list of str
        Under `COMPARISON`: data, algorithm, published, ours, difference with Welch's 95% interval,
        verdict. The last two are ``"-"`` where there is no number of ours.
    """
    rows = []
    for (row, column), cell in table.cells.items():
        if not cell.has_published_error:
            continue
        agreement = cell.agreement
        difference, verdict = "-", "-"
        if agreement:
            half = (agreement.high - agreement.low) / 2
            difference = f"{agreement.difference:+.1f} ± {half:.1f}".removesuffix(" ± nan")
            verdict = agreement.verdict
        texts = [str(cell.published), cell.text, difference, verdict]
        rows.append([table.rows[row], table.columns[column].label, *texts])
    return rows


def reasons(table: Table) -> list[str]:
    """Tell what is known of why numbers are not reproduced: which cells, and the note on them."""
    noted: dict[str, dict[str, list[str]]] = {}
    for (row, column), cell in table.cells.items():
        if cell.agreement and cell.note:
            rows = noted.setdefault(cell.note, {})
            rows.setdefault(table.rows[row], []).append(table.columns[column].label)
    return [f"{_places(rows)}: {note}" for note, rows in noted.items()]


def _places(rows: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{row} ({', '.join(labels)})" for row, labels in rows.items())


def summary(table: Table) -> str:
    """Count the verdicts: ``"3 published numbers: 1 reproduced, 1 worse, 1 not run."``."""
    return f"{Tally.of(table.cells.values())}."


def seconds_rows(table: Table) -> list[list[str]]:
    """List every published CPU time with ours beside it, and their ratios, without a verdict.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    list of list of str
        Under `SECONDS`.
    """
    rows = []
    for row, title in table.rows.items():
        published = {}
        for name, column in table.columns.items():
            cell = table.cells[row, name]
            if column.seconds and cell.published and column.seconds in cell.published.seconds:
                published[name] = column.in_unit(cell.published.seconds[column.seconds])
                ours = numbers.seconds(column.spent(cell))
                rows.append([title, column.label, f"{published[name]:g}", ours])
        for pair in table.speedup:
            slow, fast = pair
            if slow in published and fast in published:
                said = f"{published[slow] / published[fast]:.2g}"
                ours = numbers.seconds(table.ratio(row, pair))
                rows.append([title, f"speed-up of {table.columns[fast].label}", said, ours])
    return rows


def seconds_explanation(table: Table) -> str:
    """Tell what the numbers of `seconds_rows` are."""
    return f"{' '.join(table.times)} The machines differ, so there is no verdict."


def reference_job(table: Table) -> list[str]:
    """Tell how fast the machines were, and which cells' were others than the rest's.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    list of str
        One sentence; none where nothing is recorded.
    """
    spent = {
        f"{label} on {title}": table.cells[row, name].seconds("calibration")
        for row, title in table.rows.items()
        for name, label in table.fits.items()
        if table.cells[row, name].records
    }
    if not spent:
        return []
    usual = median(spent.values())
    told = f"The reference job, which tells how fast a machine is, took {numbers.seconds(usual)} s"
    others = ", ".join(
        f"{where} ({numbers.seconds(seconds)})"
        for where, seconds in spent.items()
        if not usual / _SAME_SPEED < seconds < usual * _SAME_SPEED
    )
    if others:
        told += f", but for these cells, whose times do not compare with the rest: {others}"
    return [f"{told}."]
