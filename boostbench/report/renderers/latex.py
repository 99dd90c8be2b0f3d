"""Documents as LaTeX for ``input``: a table that fits the page, and a separate file of notes."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain
from typing import Literal

from boostbench.report.blocks import Document, Entry, Listing
from boostbench.report.renderers.latex_layout import (
    COLUMN_WIDTH,
    LIST_STYLES,
    Cell,
    Grid,
    Heading,
    Layout,
    Row,
    choose_layouts,
    legend_text,
    paginate,
    text_width,
)
from boostbench.report.wording import PARTIAL, STALE
from boostbench.util.terminal import printable

Orientation = Literal["auto", "normal", "transposed"]

#: LaTeX of characters that are commands in LaTeX, or that its usual fonts lack.
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
_SPECIAL |= {chr(0x3B1 + index): rf"$\{name}$" for index, name in enumerate(_GREEK.split())}
_TRANSLATION = str.maketrans(_SPECIAL)
#: A word behind ``^`` after the translation of its characters.
_RAISED_WORD = re.compile(r"\\textasciicircum\{\}([A-Za-z]+)")

#: Explanations of the marks behind numbers, for the note below a table.
_MARKS = {
    STALE: "of an older edition of the algorithm, or not confirmed by a refit",
    PARTIAL: "over a part of the splits",
}
#: Text of a cell without a number; the note below the table has the reasons.
_NO_NUMBER = "--"


def latex(document: Document, orientation: Orientation = "auto") -> str:
    r"""Return a table as LaTeX that fits the page of a document in one or two columns.

    The text size is ``\small`` or ``\footnotesize``. Where the table is too wide, headings are
    abbreviated with a key, deviations stand below the means, or the columns are divided. The
    package booktabs is needed.

    Parameters
    ----------
    document : Document
    orientation : {"auto", "normal", "transposed"}, default="auto"
        Whether data sets are the rows (normal) or the columns (transposed); "auto" transposes a
        table with more columns than rows.

    Returns
    -------
    str
        A float with caption, label, table and at most one paragraph of notes.
    """
    grid = _document_grid(document)
    if orientation == "transposed" or (
        orientation == "auto" and len(grid.cell_heads) > len(grid.rows)
    ):
        grid = grid.transposed()
    layouts = choose_layouts(grid)
    caption = f"{document.title}. {document.caption}"
    note = " ".join(_table_notes(document, layouts))
    usage = rf"% \usepackage{{booktabs}} \input{{{_valid_label(document.name)}}}"
    label = rf"\label{{tab:{_valid_label(document.name)}}}"
    return "\n\n".join([usage, *_floats(layouts, caption, label, note)]) + "\n"


def latex_notes(document: Document) -> str:
    """Return the notes on a table as LaTeX: one paragraph, and lists as tables that fit the page.

    The package booktabs is needed.
    """
    parts = [rf"% \usepackage{{booktabs}} \input{{{_valid_label(document.name)}-notes}}"]
    headline = [rf"\textbf{{{escape(document.headline)}}}"] if document.headline else []
    paragraph = " ".join([*headline, *map(escape, [*document.findings, *document.notes])])
    parts += [_paragraph(paragraph)] if paragraph else []
    for listing in document.listings:
        layouts = choose_layouts(_listing_grid(listing), LIST_STYLES)
        texts = [f"{listing.title}.", listing.summary, listing.explanation]
        parts += _floats(layouts, " ".join(filter(None, texts)))
        if listing.reasons and not listing.is_appendix:
            parts.append(_paragraph(escape(" ".join(listing.reasons))))
    return "\n\n".join(parts) + "\n"


@cache
def escape(text: str) -> str:
    r"""Return plain text as LaTeX; ``^word``, as in titles of algorithms, is a superscript.

    Examples
    --------
    >>> print(escape("RBoost^proj, 95% of a_b"))
    RBoost\textsuperscript{proj}, 95\% of a\_b
    """
    text = re.sub(r"^-(?=\d)", "−", text if text.isprintable() else printable(text))
    return _RAISED_WORD.sub(r"\\textsuperscript{\1}", text.translate(_TRANSLATION))


def _document_grid(document: Document) -> Grid:
    """Return the cells of a document; a footer has the average ranks."""
    classes = [re.fullmatch(r"(.*) \((\d+) classes\)", row.label) for row in document.rows]
    has_classes = any(classes)
    labels = [
        f"{m[1]} ({m[2]})" if m else row.label
        for m, row in zip(classes, document.rows, strict=True)
    ]
    rows = [
        Row([label], list(map(_cell, row.entries)))
        for label, row in zip(labels, document.rows, strict=True)
    ]
    ranks = document.ranks
    footer = Row(["Average rank"], list(map(_cell, ranks.entries))) if ranks else None
    heads = [Heading(head.group, head.title) for head in document.heads]
    return Grid(["Data set (classes)" if has_classes else "Data set"], heads, rows, footer)


def _cell(entry: Entry) -> Cell:
    """Return the cell of an entry; an empty entry of a footer stays empty."""
    has_number = entry.value is not None or not entry.text
    return Cell.from_string(entry.text if has_number else _NO_NUMBER, entry.marks, entry.best)


def _listing_grid(listing: Listing) -> Grid:
    """Return the grid of a list, whose first columns hold names."""
    n_names = listing.n_names
    heads = [Heading("", head) for head in listing.heads[n_names:]]
    rows = [
        Row(line.texts[:n_names], list(map(Cell.from_string, line.texts[n_names:])))
        for line in listing.lines
    ]
    return Grid(listing.heads[:n_names], heads, rows)


def _table_notes(document: Document, layouts: Sequence[Layout]) -> list[str]:
    """Return the sentences below a table: changes, abbreviations, reasons, marks and ranks."""
    entries = [entry for row in document.rows for entry in row.entries]
    legend = list(dict.fromkeys(chain.from_iterable([layout.legend for layout in layouts])))
    notes = [document.headline or "", legend_text(legend)]
    reasons = dict.fromkeys([entry.text for entry in entries if entry.value is None])
    named = [reason for reason in reasons if reason != "-"]
    if named:
        notes.append(f"{_NO_NUMBER} {' or '.join(named)}.")
    marks = "".join([entry.text + entry.marks for entry in entries])
    notes += [f"{mark} {meaning}." for mark, meaning in _MARKS.items() if mark in marks]
    notes.append(document.ranks.explanation if document.ranks else "")
    return list(filter(None, notes))


def _floats(layouts: Sequence[Layout], caption: str, label: str = "", note: str = "") -> list[str]:
    """Return the parts of a table as floats, one for each page.

    A narrow table takes one column of a page of two columns (``table``, else ``table*``).
    """
    is_narrow = len(layouts) == 1 and layouts[0].width <= COLUMN_WIDTH
    environment = "table" if is_narrow else "table*"
    pages = paginate(layouts, caption, note)
    bodies = ["\n\n\\medskip\n".join(map(_tabular, page)) for page in pages]
    floats = []
    for number, body in enumerate(bodies):
        is_last = number == len(bodies) - 1
        lines = [rf"\begin{{{environment}}}", r"\centering"]
        lines += (
            [rf"\caption{{{escape(caption)}}}", label]
            if number == 0
            else [r"\textit{(continued)}\par"]
        )
        lines.append(body)
        if note and is_last:
            # A box as wide as the float: the note is set like the caption.
            lines += [r"\par\smallskip", rf"\parbox{{\linewidth}}{{\footnotesize {escape(note)}}}"]
        floats.append("\n".join([*filter(None, lines), rf"\end{{{environment}}}"]))
    return floats


def _paragraph(text: str) -> str:
    """Write a paragraph whose lines may have wide spaces, as names cannot be hyphenated."""
    return rf"{{\sloppy\noindent {text}\par\medskip}}"


def _tabular(layout: Layout) -> str:
    """Write a layout as a ``tabular`` environment with the rules of booktabs."""
    grid, style = layout.grid, layout.style
    n_labels = len(grid.label_heads)
    is_wrapped = [width is not None for width in layout.wrap_widths[n_labels:]]
    alignments = "l" * n_labels + "".join("l" if wrapped else "r" for wrapped in is_wrapped)
    header = []
    if layout.groups:
        cells = [rf"\multicolumn{{{n}}}{{c}}{{{_multiline(lines)}}}" for lines, n in layout.groups]
        header += [_table_row([*[""] * n_labels, *cells]), _group_rules(layout.groups, n_labels)]
    header.append(
        _table_row(
            [*map(escape, grid.label_heads), *(_multiline(lines, "r") for lines in layout.heads)]
        )
    )
    body = [line for row in grid.rows for line in _row_lines(layout, row)]
    footer = [r"\midrule", *_row_lines(layout, grid.footer)] if grid.footer else []
    lines = [
        rf"{{\{style.size}\setlength{{\tabcolsep}}{{{style.gap:g}em}}%",
        rf"\begin{{tabular}}{{{alignments}}}",
        *(r"\toprule", *header, r"\midrule", *body, *footer, r"\bottomrule"),
        r"\end{tabular}}",
    ]
    return "\n".join(lines)


def _row_lines(layout: Layout, row: Row) -> list[str]:
    """Write a row of a table: one line of LaTeX, or a line of means and a line of deviations."""
    n_labels = len(row.labels)
    labels = list(map(_wrapped_text, row.labels, layout.wrap_widths))
    cells = [
        _wrapped_text(cell.mean, wrap_width, cell.is_best)
        for cell, wrap_width in zip(row.cells, layout.wrap_widths[n_labels:], strict=True)
    ]
    if layout.style.stacks_deviations:
        deviations = [
            rf"{{\scriptsize {escape(cell.deviation)}}}" if cell.deviation else ""
            for cell in row.cells
        ]
    else:
        cells = [
            f"{text} {escape(cell.deviation)}" if cell.deviation else text
            for text, cell in zip(cells, row.cells, strict=True)
        ]
        deviations = []
    cells = [
        text + escape(cell.marks) if cell.marks else text
        for text, cell in zip(cells, row.cells, strict=True)
    ]
    lines = [_table_row([*labels, *cells])]
    if any(deviations):
        lines.append(_table_row([*[""] * n_labels, *deviations]))
    return lines


def _wrapped_text(text: str, wrap_width: float | None, is_best: bool = False) -> str:
    """Write a text, broken into lines if it is wider than `wrap_width` em, and perhaps in bold."""
    escaped = escape(text)
    if wrap_width and text_width(text) > wrap_width:
        escaped = rf"\parbox[t]{{{wrap_width + 0.1:.1f}em}}{{\raggedright {escaped}\strut}}"
    return rf"\textbf{{{escaped}}}" if is_best else escaped


def _multiline(lines: Sequence[str], alignment: str = "c") -> str:
    """Write a heading of one or several lines."""
    if len(lines) == 1:
        return escape(lines[0])
    text = r" \\ ".join(map(escape, lines))
    return rf"\shortstack[{alignment}]{{{text}}}"


def _group_rules(groups: Sequence[tuple[list[str], int]], n_labels: int) -> str:
    """Underline each group that has a name."""
    rules, start = [], n_labels + 1
    for lines, n in groups:
        if any(lines):
            rules.append(rf"\cmidrule(lr){{{start}-{start + n - 1}}}")
        start += n
    return " ".join(rules)


def _valid_label(name: str) -> str:
    """Return the name of a table as a valid LaTeX label."""
    return re.sub(r"[\\{}#%~^$&\s]", "-", name)


def _table_row(texts: Iterable[str]) -> str:
    """Write texts, which are LaTeX already, as a row of a ``tabular`` environment."""
    line = " & ".join(texts)
    # LaTeX takes these characters for arguments of the line or rule before.
    guard = "{}" if line.lstrip().startswith(("[", "*")) else ""
    return rf"{guard}{line} \\"
