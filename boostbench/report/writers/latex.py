"""Tables as LaTeX, for ``input``: the table itself, and apart from it what follows from it."""

import re
from collections.abc import Sequence
from itertools import groupby

from boostbench.report.claims import claims
from boostbench.report.findings import (
    COMPARISON,
    COMPARISON_EXPLANATION,
    SECONDS,
    comparison_rows,
    seconds_explanation,
    seconds_rows,
    significance,
    summary,
)
from boostbench.report.matrix import matrix
from boostbench.report.tables import Table

_SPECIAL = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"†": r"\textdagger{}", "‡": r"\textdaggerdbl{}", "±": r"$\pm$", "−": "$-$"},
    **{"<": r"\textless{}", ">": r"\textgreater{}"},
}


def latex(table: Table) -> str:
    """Write a table as LaTeX, and nothing besides; the package booktabs is needed.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    str
        Text of the file, with a newline at its end.
    """
    return rf"% \usepackage{{booktabs}} \input{{{_key(table.name)}}}" + f"\n\n{_errors(table)}\n"


def latex_notes(table: Table) -> str:
    """Write as LaTeX what follows from a table: significance, claims, notes, published and ours.

    The package longtable is needed.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    str
        Text of the file, with a newline at its end.
    """
    parts = [rf"% \usepackage{{booktabs,longtable}} \input{{{_key(table.name)}-notes}}"]
    if table.headline:
        parts.append(rf"\noindent\textbf{{{escape(table.headline)}}}")
    # Blank lines between the sentences make each a paragraph.
    said = [*significance(table), *claims(table), *table.notes]
    parts += [escape(sentence) for sentence in said]
    every_two = matrix(table)
    if every_two:
        parts.append(_long(every_two.heads, every_two.rows, every_two.explanation))
    comparison = comparison_rows(table)
    if comparison:
        caption = f"Published and ours. {summary(table)} {COMPARISON_EXPLANATION}"
        parts.append(_long(COMPARISON, comparison, caption))
    published = seconds_rows(table)
    if published:
        parts.append(_long(SECONDS, published, seconds_explanation(table)))
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    r"""Write plain text as LaTeX; ``^word`` is raised, as in the algorithms' titles.

    Examples
    --------
    >>> print(escape("RBoost^proj, 95% of a_b"))
    RBoost\textsuperscript{proj}, 95\% of a\_b
    """
    pieces = re.split(r"\^([A-Za-z]+)", re.sub(r"^-(?=\d)", "−", text))
    escaped = ["".join(_SPECIAL.get(character, character) for character in p) for p in pieces]
    escaped[1::2] = [rf"\textsuperscript{{{word}}}" for word in escaped[1::2]]
    return "".join(escaped)


def _errors(table: Table) -> str:
    groups = [
        (escape(group), len(list(members)))
        for group, members in groupby(table.heads, key=lambda head: head[0])
    ]
    header = []
    if any(group for group, _ in groups):
        header.append(_row(["", *(rf"\multicolumn{{{n}}}{{c}}{{{g}}}" for g, n in groups)]))
        header.append(_rules(groups))
    header.append(_row(["Data set", *(escape(title) for _, title in table.heads)]))
    body = [
        _row([escape(table.label(row)), *(_entry(*entry) for entry in table.entries(row))])
        for row in table.rows
    ]
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape(f'{table.title}. {table.caption}')}}}",
        rf"\label{{tab:{_key(table.name)}}}",
        rf"\begin{{tabular}}{{l{'r' * len(table.heads)}}}",
        *(r"\toprule", *header, r"\midrule", *body, r"\bottomrule"),
        *(r"\end{tabular}", r"\end{table}"),
    ]
    return "\n".join(lines)


def _key(name: str) -> str:
    """Make the name of a table one that LaTeX takes for a label."""
    return re.sub(r"[\\{}#%~^$&\s]", "-", name)


def _rules(groups: Sequence[tuple[str, int]]) -> str:
    """Underline each group that has a name."""
    rules, start = [], 2
    for group, n in groups:
        if group:
            rules.append(rf"\cmidrule(lr){{{start}-{start + n - 1}}}")
        start += n
    return " ".join(rules)


def _entry(text: str, best: bool) -> str:
    return rf"\textbf{{{escape(text)}}}" if best else escape(text)


def _long(header: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> str:
    """Write a list that may take several pages."""
    lines = [
        rf"\begin{{longtable}}{{ll{'r' * (len(header) - 2)}}}",
        rf"\caption{{{escape(caption)}}} \\",
        *(r"\toprule", _row([escape(text) for text in header]), r"\midrule", r"\endhead"),
        *(_row([escape(text) for text in row]) for row in rows),
        *(r"\bottomrule", r"\end{longtable}"),
    ]
    return "\n".join(lines)


def _row(texts: Sequence[str]) -> str:
    return " & ".join(texts) + r" \\"
