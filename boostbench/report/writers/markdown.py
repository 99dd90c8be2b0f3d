"""Tables as Markdown."""

from tabulate import tabulate

from boostbench.experiment.quantities import QUANTITIES
from boostbench.report import numbers
from boostbench.report.findings import (
    COMPARISON,
    COMPARISON_EXPLANATION,
    SECONDS,
    comparison_rows,
    reasons,
    reference_job,
    seconds_explanation,
    seconds_rows,
    significance,
    summary,
)
from boostbench.report.tables import Table


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
    parts = [f"# {escape(table.title)}"]
    if table.headline:
        parts.append(f"**{escape(table.headline)}**")
    parts.append(_errors(table))
    parts += map(escape, [table.caption, *significance(table), *table.notes])
    comparison = comparison_rows(table)
    if comparison:
        parts += ["## Beside the published numbers", _pipe(comparison, COMPARISON, left=2)]
        parts += map(escape, [summary(table), COMPARISON_EXPLANATION, *reasons(table)])
    parts.append("## CPU seconds")
    published = seconds_rows(table)
    if published:
        parts += [_pipe(published, SECONDS, left=2), escape(seconds_explanation(table))]
    parts += [_seconds(table)]
    parts.append("Means per split, on one core: whole fit / weak learners / coefficients.")
    parts += map(escape, reference_job(table))
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    r"""Write plain text as Markdown: on one line, without columns of its own and without HTML.

    Examples
    --------
    >>> print(escape("a|b <i>"))
    a\|b &lt;i>
    """
    return " ".join(text.split()).replace("|", r"\|").replace("<", "&lt;")


def _errors(table: Table) -> str:
    rows = [
        [table.label(row), *(f"**{e.text}**" if e.best else e.text for e in table.entries(row))]
        for row in table.rows
    ]
    heads = [f"{group}, {title}" if group else title for group, title in table.heads]
    return _pipe(rows, ["data", *heads])


def _seconds(table: Table) -> str:
    rows = [
        [table.rows[row], *(_spent(table, row, name) for name in table.fits)] for row in table.rows
    ]
    return _pipe(rows, ["data", *table.fits.values()])


def _spent(table: Table, row: str, name: str) -> str:
    """``"3.20 / 1.10 / 1.90"``: CPU seconds of the fit, its weak learners, its coefficients."""
    cell = table.cells[row, name]
    if not cell.records:
        return "-"
    parts = [QUANTITIES[name] for name in ("fit", "weak_learner", "coefficients")]
    spent = " / ".join(numbers.seconds(cell.average(part)) for part in parts)
    return spent + table.time_mark(row, name)


def _pipe(rows: list[list[str]], header: list[str], left: int = 1) -> str:
    align = ["left"] * left + ["right"] * (len(header) - left)
    rows = [[escape(text) for text in row] for row in rows]
    header = [escape(text) for text in header]
    return tabulate(rows, header, tablefmt="pipe", disable_numparse=True, colalign=align)
