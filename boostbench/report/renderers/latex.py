"""Documents as LaTeX, for ``input``: the table itself, and apart from it what is said of it."""

import re
from collections.abc import Iterable, Sequence

from boostbench.report.blocks import Document, Entry, Listing
from boostbench.util.printable import printable

_SPECIAL = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"†": r"\textdagger{}", "‡": r"\textdaggerdbl{}", "±": r"$\pm$", "−": "$-$"},
    **{"<": r"\textless{}", ">": r"\textgreater{}", "≤": r"$\le$", "≥": r"$\ge$", "×": r"$\times$"},
}
_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho "
    "varsigma sigma tau upsilon phi chi psi omega"
)
_SPECIAL |= {chr(0x3B1 + at): rf"$\{name}$" for at, name in enumerate(_GREEK.split())}


def latex(document: Document) -> str:
    """Write the table itself as LaTeX, and nothing besides; the package booktabs is needed."""
    used = rf"% \usepackage{{booktabs}} \input{{{_key(document.name)}}}"
    return f"{used}\n\n{_cells(document)}\n"


def latex_notes(document: Document) -> str:
    """Write as LaTeX what is said of a table; the packages booktabs and longtable are needed."""
    parts = [rf"% \usepackage{{booktabs,longtable}} \input{{{_key(document.name)}-notes}}"]
    if document.headline:
        parts.append(rf"\noindent\textbf{{{escape(document.headline)}}}")
    # Blank lines between the sentences make each a paragraph.
    parts += map(escape, [*document.findings, *document.notes])
    for listing in document.listings:
        parts += [_long(listing), *map(escape, listing.reasons)]
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    r"""Write plain text as LaTeX; ``^word`` is raised, as in the algorithms' titles.

    Examples
    --------
    >>> print(escape("RBoost^proj, 95% of a_b"))
    RBoost\textsuperscript{proj}, 95\% of a\_b
    """
    pieces = re.split(r"\^([A-Za-z]+)", re.sub(r"^-(?=\d)", "−", printable(text)))
    escaped = ["".join(_SPECIAL.get(character, character) for character in p) for p in pieces]
    escaped[1::2] = [rf"\textsuperscript{{{word}}}" for word in escaped[1::2]]
    return "".join(escaped)


def _cells(document: Document) -> str:
    groups = [(escape(group), n) for group, n in document.groups]
    header = []
    if groups:
        header.append(_row(["", *(rf"\multicolumn{{{n}}}{{c}}{{{g}}}" for g, n in groups)]))
        header.append(_rules(groups))
    header.append(_row(["Data set", *(escape(head.title) for head in document.heads)]))
    body = [_row([escape(row.label), *map(_entry, row.entries)]) for row in document.rows]
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape(f'{document.title}. {document.caption}')}}}",
        rf"\label{{tab:{_key(document.name)}}}",
        rf"\begin{{tabular}}{{l{'r' * len(document.heads)}}}",
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


def _entry(entry: Entry) -> str:
    return rf"\textbf{{{escape(entry.printed)}}}" if entry.best else escape(entry.printed)


def _long(listing: Listing) -> str:
    """Write a list that may take several pages."""
    left = listing.left
    caption = " ".join(filter(None, [f"{listing.title}.", listing.summary, listing.explanation]))
    lines = [
        rf"\begin{{longtable}}{{{'l' * left}{'r' * (len(listing.heads) - left)}}}",
        rf"\caption{{{escape(caption)}}} \\",
        *(r"\toprule", _row(map(escape, listing.heads)), r"\midrule", r"\endhead"),
        *(_row(map(escape, line.texts)) for line in listing.lines),
        *(r"\bottomrule", r"\end{longtable}"),
    ]
    return "\n".join(lines)


def _row(texts: Iterable[str]) -> str:
    line = " & ".join(texts)
    # To the end of the line before it, or to a rule, these would be arguments.
    guard = "{}" if line.lstrip().startswith(("[", "*")) else ""
    return rf"{guard}{line} \\"
