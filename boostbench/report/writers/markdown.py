"""Tables as Markdown."""

from collections.abc import Mapping
from statistics import median

from tabulate import tabulate

from boostbench.report import numbers
from boostbench.report.cells import Cell
from boostbench.report.findings import (
    COMPARISON,
    COMPARISON_EXPLANATION,
    SECONDS,
    comparison_rows,
    reasons,
    seconds_explanation,
    seconds_rows,
    significance,
    summary,
)
from boostbench.report.tables import Table

#: Cells whose reference job took longer or shorter than the usual one by this factor are named.
_SAME_SPEED = 1.25


def markdown(table: Table) -> str:
    """Write a table as Markdown: errors, significance, published against ours, CPU seconds.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    str
        Text of the file, with a newline at its end.
    """
    parts = [f"# {table.title}"]
    if table.headline:
        parts.append(f"**{table.headline}**")
    parts += [_errors(table), table.caption, *significance(table), *table.notes]
    comparison = comparison_rows(table)
    if comparison:
        parts += ["## Beside the published numbers", _pipe(comparison, COMPARISON, left=2)]
        parts += [summary(table), COMPARISON_EXPLANATION, *reasons(table)]
    parts.append("## CPU seconds")
    published = seconds_rows(table)
    if published:
        parts += [_pipe(published, SECONDS, left=2), seconds_explanation(table)]
    shown = _timed(table)
    parts += [_seconds(table, shown)]
    parts.append("Means per split, on one core: whole fit / weak learners / coefficients.")
    parts += _reference_job(table, shown)
    return "\n\n".join(parts) + "\n"


def _errors(table: Table) -> str:
    rows = [
        [table.label(row), *(f"**{e.text}**" if e.best else e.text for e in table.entries(row))]
        for row in table.rows
    ]
    heads = [f"{group}, {title}" if group else title for group, title in table.heads]
    return _pipe(rows, ["data", *heads])


def _timed(table: Table) -> dict[str, str]:
    """Name the columns with times of their own: one algorithm at several rounds is one fit."""
    last = list(table.columns.values())[-1].rounds
    return {
        name: column.group if last else column.label
        for name, column in table.columns.items()
        if column.rounds == last
    }


def _seconds(table: Table, shown: Mapping[str, str]) -> str:
    rows = [
        [table.rows[row], *(_spent(table.cells[row, name]) for name in shown)] for row in table.rows
    ]
    return _pipe(rows, ["data", *shown.values()])


def _reference_job(table: Table, shown: Mapping[str, str]) -> list[str]:
    """Tell how fast the machines were, and which cells' were others than the rest's."""
    spent = {
        f"{title} on {table.rows[row]}": table.cells[row, name].seconds("calibration")
        for row in table.rows
        for name, title in shown.items()
        if table.cells[row, name].records
    }
    if not spent:
        return []
    usual = median(spent.values())
    told = f"The reference job, which tells how fast a machine is, took {numbers.seconds(usual)} s"
    others = [
        f"{where} ({numbers.seconds(seconds)})"
        for where, seconds in spent.items()
        if not usual / _SAME_SPEED < seconds < usual * _SAME_SPEED
    ]
    if others:
        told += (
            f", but for these cells, whose times do not compare with the rest: {', '.join(others)}"
        )
    return [f"{told}."]


def _spent(cell: Cell) -> str:
    """``"3.20 / 1.10 / 1.90"``: CPU seconds of the fit, its weak learners, its coefficients."""
    if not cell.records:
        return "-"
    parts = ("fit", "weak_learner", "coefficients")
    return " / ".join(numbers.seconds(cell.seconds(part)) for part in parts)


def _pipe(rows: list[list[str]], header: list[str], left: int = 1) -> str:
    align = ["left"] * left + ["right"] * (len(header) - left)
    return tabulate(rows, header, tablefmt="pipe", disable_numparse=True, colalign=align)
