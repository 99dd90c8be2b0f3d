"""Tables as Markdown."""

import re

from tabulate import tabulate

from boostbench.experiment.quantities import QUANTITIES
from boostbench.report import numbers
from boostbench.report.claims import claims
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
from boostbench.report.matrix import matrix
from boostbench.report.tables import Table

# What is markup wherever it stands; an underscore is none inside a word.
_MARKUP = re.compile(r"[|*`~]|\\(?=[!-/:-@\[-`{-~])|(?<![^\W_])_|_(?![^\W_])|(?<=\])\(|&(?=#?\w+;)")
# What begins a heading, a list or a quotation.
_START = re.compile(r"^(\d*)([#>+.)-])(?=\s|#)")


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
    parts += map(escape, [table.caption, *significance(table), *claims(table), *table.notes])
    every_two = matrix(table)
    if every_two:
        parts += ["## Every two algorithms", _pipe(every_two.rows, every_two.heads, left=2)]
        parts.append(escape(every_two.explanation))
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
    r"""Write plain text as Markdown: on one line, and nothing in it is markup.

    Examples
    --------
    >>> print(escape("a|b <i> *c* rboost_proj _d_"))
    a\|b &lt;i> \*c\* rboost_proj \_d\_
    """
    text = _MARKUP.sub(r"\\\g<0>", " ".join(text.split()))
    return _START.sub(r"\1\\\2", text.replace("<", "&lt;"))


def _errors(table: Table) -> str:
    rows = [[table.label(row), *(e.text for e in table.entries(row))] for row in table.rows]
    best = [[False, *(e.best for e in table.entries(row))] for row in table.rows]
    heads = [f"{group}, {title}" if group else title for group, title in table.heads]
    return _pipe(rows, ["data", *heads], bold=best)


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
    return " / ".join(numbers.seconds(cell.average(part)) for part in parts) + cell.mark


def _pipe(
    rows: list[list[str]], header: list[str], left: int = 1, bold: list[list[bool]] | None = None
) -> str:
    align = ["left"] * left + ["right"] * (len(header) - left)
    rows = [[escape(text) for text in row] for row in rows]
    if bold:
        pairs = [zip(row, marks, strict=True) for row, marks in zip(rows, bold, strict=True)]
        rows = [[f"**{text}**" if mark else text for text, mark in pair] for pair in pairs]
    header = [escape(text) for text in header]
    return tabulate(rows, header, tablefmt="pipe", disable_numparse=True, colalign=align)
