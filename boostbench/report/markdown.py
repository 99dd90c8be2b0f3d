"""Tables as Markdown."""

from tabulate import tabulate

from boostbench.report.cells import Cell
from boostbench.report.tables import Table, significance


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
    parts = [f"# {table.title}", _errors(table)]
    parts.append(f"{table.caption} Best in bold.")
    parts += significance(table)
    parts += table.notes
    comparison = comparison_rows(table)
    if comparison:
        header = ["data", "algorithm", "published", "ours", "difference", "verdict"]
        parts += ["## Beside the published numbers", _pipe(comparison, header, left=2)]
        parts.append("Difference: ours minus published, with Welch's 95% interval.")
    parts += ["## CPU seconds", _pipe(*_seconds(table))]
    parts.append("Means per split, on one core: whole fit / weak learners / coefficients.")
    return "\n\n".join(parts) + "\n"


def comparison_rows(table: Table) -> list[list[str]]:
    """List every cell that has a published number beside it.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    list of list of str
        Data, algorithm, published, ours, difference with Welch's 95% interval, verdict.
    """
    rows = []
    for cell in table.cells.values():
        agreement = cell.agreement
        if agreement:
            half = (agreement.high - agreement.low) / 2
            difference = f"{agreement.difference:+.1f} ± {half:.1f}".removesuffix(" ± nan")
            texts = [str(cell.published), cell.text, difference, agreement.verdict]
            rows.append([cell.data, cell.title, *texts])
    return rows


def _errors(table: Table) -> str:
    rows = []
    for row in table.rows:
        best = table.best(row)
        texts = {column: table.text(row, column) for column in table.columns}
        rows.append([row, *(f"**{t}**" if c in best else t for c, t in texts.items())])
    return _pipe(rows, ["data", *table.columns.values()])


def _seconds(table: Table) -> tuple[list[list[str]], list[str]]:
    rows = [
        [row, *(seconds_text(table.cells.get((row, column))) for column in table.columns)]
        for row in table.rows
    ]
    return rows, ["data", *table.columns.values()]


def seconds_text(cell: Cell | None) -> str:
    """``"3.20 / 1.10 / 1.90"``: CPU seconds of the fit, its weak learners, its coefficients."""
    if cell is None or not cell.records:
        return "-"
    return " / ".join(number(cell.seconds(p)) for p in ("fit", "weak_learner", "coefficients"))


def number(value: float | None) -> str:
    """Print seconds with three significant digits, ``"-"`` for None.

    Examples
    --------
    >>> number(0.01234), number(12.345), number(1234.5), number(None)
    ('0.0123', '12.3', '1234', '-')
    """
    if value is None:
        return "-"
    return f"{value:.0f}" if value >= 1000 else f"{value:#.3g}".rstrip(".")


def _pipe(rows: list[list[str]], header: list[str], left: int = 1) -> str:
    align = ["left"] * left + ["right"] * (len(header) - left)
    return tabulate(rows, header, tablefmt="pipe", disable_numparse=True, colalign=align)
