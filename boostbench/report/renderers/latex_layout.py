"""Layout of a table on a printed page: font size, headings, orientation and division.

`boostbench.report.renderers.latex` chooses a layout here and writes it as LaTeX. A *style* is a
font size with ways to save width; a *layout* is a table in a style, with measured columns.

Widths are in em of the table's own font, so that one layout fits documents of 10, 11 and 12 pt.
They are estimated from the letter widths of Computer Modern, the widest of the usual fonts.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import groupby, pairwise, repeat
from math import ceil
from operator import add, attrgetter
from typing import NamedTuple

#: Widths of the page in em of each font size: the smallest among ``article`` with 10, 11 and 12 pt.
PAGE_WIDTHS = {"small": 35.5, "footnotesize": 38.7}
#: Width of a column of ``article`` in two columns with 12 pt, in em of ``\small``.
COLUMN_WIDTH = 20.5
#: Lines of each font size on a page: the smallest numbers among ``article`` with 10, 11 and 12 pt.
_PAGE_LINES = {"small": 40, "footnotesize": 45}
_CAPTION_WIDTH = 31.0  # em of a caption's font
_CAPTION_LINE_HEIGHT = 1.25  # height of a caption's line, in lines of the table
_RULE_LINES = 1.5  # height of the three rules of a table, in lines
_GAP_LINES = 1.0  # height of the space between parts of a table, and around a caption, in lines

_BOLD_FACTOR = 1.15  # width of bold letters relative to upright ones
_RAISED_FACTOR = 0.75  # width of superscripts relative to upright letters
_DEVIATION_FACTOR = 0.95  # relative width of a deviation below its mean, in the next smaller font
#: Widths of characters, in em.
_WIDTHS = {
    character: width
    for width, characters in {
        0.28: "!',.:;[]`il|",
        0.31: "fj",
        0.34: " -",
        0.39: "()trsI",
        0.45: "cez",
        0.5: "$*/0123456789?ago",
        0.53: "kqvxyJ",
        0.56: "Sbdhnpu†‡",
        0.65: "ZLF_",
        0.7: "EPBCTw",
        0.76: "AHNUVXYDR",
        0.79: "&+=<>@KOQG±−≤≥×",
        0.84: "#%m",
        0.93: "M…",
        1.03: "W",
    }.items()
    for character in characters
}
_OTHER_WIDTH = 0.65  # em, the width of a letter that is not listed, such as a Greek one
_MAX_CAPITALS = 4  # longer words in capitals are abbreviated
_MAX_SUFFIX = 5  # letters after a point or hyphen that an abbreviation keeps
_MAX_EXCESS = 0.5  # em, by which a heading may be wider than its column and is not abbreviated
_MEAN_WITH_DEVIATION = re.compile(r"([-−+]?[\d.]+) (\([\d.]+\))")
#: Texts of the usual lengths, for the choice of a layout before caption and note are known.
_USUAL_CAPTION, _USUAL_NOTE = 70 * "word ", 30 * "word "
#: Words that an abbreviation leaves out.
_SMALL_WORDS = {"a", "an", "and", "at", "by", "from", "in", "its", "of", "the", "to", "with"}


class Cell(NamedTuple):
    """Entry of a table.

    Attributes
    ----------
    mean : str
        Mean of a text such as ``"2.9 (2.4)"``; the whole of any other text.
    deviation : str, default=""
        Deviation in parentheses, ``"(2.4)"``; empty for any other text.
    marks : str, default=""
        Marks behind the text.
    is_best : bool, default=False
        Whether the mean is printed in bold.
    """

    mean: str
    deviation: str = ""
    marks: str = ""
    is_best: bool = False

    @classmethod
    def from_string(cls, text: str, marks: str = "", is_best: bool = False) -> "Cell":
        """Return the cell of a text, which is divided if it is a mean with a deviation."""
        match = _MEAN_WITH_DEVIATION.fullmatch(text)
        mean, deviation = match.groups() if match else (text, "")
        return cls(mean, deviation, marks, is_best)


class Abbreviation(NamedTuple):
    """Abbreviation of a heading, and the heading."""

    short: str
    title: str


class Heading(NamedTuple):
    """Heading over several columns (empty for none), and heading of the column."""

    group: str
    title: str


class Row(NamedTuple):
    """Row of a table: its labels, such as the name of a data set, and its cells.

    A row may be printed as several lines of text.
    """

    labels: list[str]
    cells: list[Cell]


@dataclass(frozen=True)
class Grid:
    """Table without a layout.

    Attributes
    ----------
    label_heads : list of str
        Headings of the columns of labels.
    cell_heads : list of Heading
        Headings of the columns of cells.
    rows : list of Row
        Rows with a label for each label heading and a cell for each cell heading.
    footer : Row, default=None
        Row below a rule, such as average ranks; None: no such row.
    """

    label_heads: list[str]
    cell_heads: list[Heading]
    rows: list[Row]
    footer: Row | None = None

    @property
    def rows_with_footer(self) -> list[Row]:
        """Rows, with the footer as the last one."""
        return [*self.rows, *([self.footer] if self.footer else [])]

    def transposed(self) -> "Grid":
        """Return the grid with its columns, which are algorithms, as rows.

        The rows of this grid become columns, and a footer becomes the last column, ``"Rank"``.
        """
        rows = [
            Row(labels, [row.cells[index] for row in self.rows_with_footer])
            for index, labels in enumerate(self._column_labels())
        ]
        titles = [", ".join(row.labels) for row in self.rows]
        if self.footer:
            titles.append("Rank")
        has_groups = any(head.group for head in self.cell_heads)
        label_heads = ["", ""] if has_groups else ["Algorithm"]
        return Grid(label_heads, [Heading("", title) for title in titles], rows)

    def _column_labels(self) -> list[list[str]]:
        """Return the headings of each column of cells as labels of a row.

        With group headings, a row has two labels, and the first row of a group names the group.
        """
        if not any(head.group for head in self.cell_heads):
            return [[head.title] for head in self.cell_heads]
        labels, last_group = [], None
        for group, title in self.cell_heads:
            labels.append(["" if group == last_group else group, title])
            last_group = group
        return labels

    def select_columns(self, start: int, stop: int) -> "Grid":
        """Return the grid with the columns of cells from `start` to `stop`, which is excluded."""
        rows = [Row(row.labels, row.cells[start:stop]) for row in self.rows_with_footer]
        rows, footer = (rows[:-1], rows[-1]) if self.footer else (rows, None)
        return Grid(self.label_heads, self.cell_heads[start:stop], rows, footer)


@dataclass(frozen=True)
class Style:
    """Density of a table.

    Attributes
    ----------
    size : {"small", "footnotesize"}, default="small"
        Font size.
    gap : float, default=0.5
        Half of the space between columns, in em.
    abbreviates : bool, default=False
        Whether headings that are wider than their columns are abbreviated.
    max_text_width : float, default=None
        Width at which names and other words are broken into lines, in em; None: not broken.
    stacks_deviations : bool, default=False
        Whether deviations stand below the means.
    """

    size: str = "small"
    gap: float = 0.5
    abbreviates: bool = False
    max_text_width: float | None = None
    stacks_deviations: bool = False


#: Styles of a list, in the order in which they are tried.
LIST_STYLES = (
    Style(),
    Style(gap=0.3),
    Style(gap=0.3, max_text_width=9),
    Style("footnotesize", 0.3, max_text_width=9),
    Style("footnotesize", 0.2, max_text_width=7),
)
#: Styles of a table of results, in the order in which they are tried.
TABLE_STYLES = (
    Style(),
    Style(gap=0.3),
    Style(gap=0.3, abbreviates=True),
    Style(gap=0.3, abbreviates=True, max_text_width=9),
    Style("footnotesize", 0.2, abbreviates=True, max_text_width=9),
    Style(gap=0.3, abbreviates=True, max_text_width=9, stacks_deviations=True),
    Style("footnotesize", 0.2, abbreviates=True, max_text_width=9, stacks_deviations=True),
)


@dataclass(frozen=True)
class Layout:
    """Table, or a part of its columns and rows, with a layout.

    Attributes
    ----------
    grid : Grid
        Texts.
    style : Style
        Font size and ways to save width.
    wrap_widths : list of (float or None)
        Width to which the texts of each column are broken, in em: columns of labels, then columns
        of cells. None: not broken.
    heads : list of list of str
        Lines of text of each heading of a column of cells.
    groups : list of (list of str, int)
        Lines of text of each heading over several columns, and its number of columns; empty without
        such headings.
    legend : list of Abbreviation
        Abbreviated headings.
    width : float
        Width in em.
    """

    grid: Grid
    style: Style
    wrap_widths: list[float | None]
    heads: list[list[str]]
    groups: list[tuple[list[str], int]]
    legend: list[Abbreviation]
    width: float

    @property
    def head_height(self) -> float:
        """Height of headings and rules, in lines of text."""
        groups = max((len(lines) for lines, _ in self.groups), default=0)
        return _RULE_LINES + _GAP_LINES + max(map(len, self.heads)) + groups

    @cached_property
    def row_heights(self) -> list[int]:
        """Height of each row, the footer included, in lines of text."""
        rows = self.grid.rows_with_footer
        heights = [1] * len(rows)
        n_labels = len(self.grid.label_heads)
        for index, wrap_width in enumerate(self.wrap_widths):
            if wrap_width is None:
                continue
            texts = (
                [row.labels[index] for row in rows]
                if index < n_labels
                else _cell_texts([row.cells[index - n_labels] for row in rows])
            )
            n_lines = [len(_break_lines(text, wrap_width)) for text in texts]
            heights = list(map(max, heights, n_lines))
        if self.style.stacks_deviations:
            # The deviations stand below all lines of a broken label.
            has_deviation = [any(map(attrgetter("deviation"), row.cells)) for row in rows]
            heights = list(map(add, heights, has_deviation))
        return heights


def choose_layouts(grid: Grid, styles: Sequence[Style] = TABLE_STYLES) -> list[Layout]:
    """Return the first layout that fits the page; else several, which divide the columns.

    Parameters
    ----------
    grid : Grid
    styles : sequence of Style, default=TABLE_STYLES
        Styles in the order in which they are tried.

    Returns
    -------
    list of Layout
        Parts of the table, one below the other, in one style.
    """
    # 1) Return the first layout that fits the width and the height of a page.
    narrow_layouts = []
    for style in styles:
        layout = _make_layout(grid, style)
        if layout.width > PAGE_WIDTHS[style.size]:
            continue
        if layout.head_height + sum(layout.row_heights) <= _free_lines(layout):
            return [layout]
        narrow_layouts.append(layout)
    # 2) `paginate` divides the rows of a table that is too high.
    if narrow_layouts:
        return narrow_layouts[:1]
    # 3) Divide the columns of a table that is too wide into as few parts as possible.
    n_columns = len(grid.cell_heads)
    for n_parts in range(2, n_columns + 1):
        bounds = [round(part * n_columns / n_parts) for part in range(n_parts + 1)]
        # Names are broken only if the parts are too wide otherwise.
        for max_text_width in (None, 9):
            style = Style("footnotesize", 0.3, max_text_width=max_text_width)
            parts = [_make_layout(grid.select_columns(*pair), style) for pair in pairwise(bounds)]
            if all(part.width <= PAGE_WIDTHS[style.size] for part in parts):
                return parts
    # A single column is too wide, too: each column is a part, in the densest style.
    return [
        _make_layout(grid.select_columns(index, index + 1), styles[-1])
        for index in range(n_columns)
    ]


@cache
def text_width(text: str, bold: bool = False) -> float:
    """Estimate the width of a text, in em; letters after ``^`` are raised.

    Examples
    --------
    >>> text_width("22.8 (2.4)")
    4.18
    """
    pieces = re.split(r"\^([A-Za-z]+)", text)
    width = sum(map(_WIDTHS.get, "".join(pieces[::2]), repeat(_OTHER_WIDTH)))
    width += _RAISED_FACTOR * sum(map(_WIDTHS.get, "".join(pieces[1::2]), repeat(_OTHER_WIDTH)))
    return round(width * (_BOLD_FACTOR if bold else 1), 3)


def abbreviate(title: str) -> str:
    """Abbreviate a heading by the rules of its pieces: words, capitals, numbers and signs.

    - Capitals are kept; more than four are cut to two.
    - Numbers and signs are kept, but no comma or parenthesis.
    - A lower-case word of at most five letters is kept behind a point or hyphen.
    - Any other word is cut to its first letter; small words such as "of" are left out.

    Examples
    --------
    >>> [abbreviate(title) for title in ("AdaBoost.ECC", "MCBoost-exp", "SAMME, 3 leaves")]
    ['AB.ECC', 'MCB-exp', 'SA3l']
    """
    # Capitals without the one that begins a word, a word, a number, or a sign.
    pieces = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d[\d.]*(?:e-?\d+)?|[^\w\s,()]", title)
    short_pieces = []
    for piece in pieces:
        if piece in _SMALL_WORDS:
            continue
        if piece.isupper() and len(piece) > _MAX_CAPITALS:
            short_pieces.append(piece[:2])
            continue
        has_mark_before = bool(short_pieces) and short_pieces[-1].endswith(("-", "."))
        is_suffix = piece.islower() and has_mark_before and len(piece) <= _MAX_SUFFIX
        keeps_all = piece.isupper() or not piece.isalpha() or is_suffix
        short_pieces.append(piece if keeps_all else piece[0])
    return "".join(short_pieces)


def _make_layout(grid: Grid, style: Style) -> Layout:
    """Return the layout of a table in a style, whether or not it fits the page."""
    # 1) Measure the columns of labels.
    rows = grid.rows_with_footer
    wrap_widths, label_widths = [], []
    for index, head in enumerate(grid.label_heads):
        texts = [head, *[row.labels[index] for row in rows]]
        wrap_widths.append(_wrap_width(texts, style.max_text_width))
        label_widths.append(wrap_widths[-1] or max(map(text_width, texts)))
    # 2) Measure the columns of cells, and break or abbreviate their headings.
    legend: list[Abbreviation] = []
    widths, heads = [], []
    for index, head in enumerate(grid.cell_heads):
        cells = [row.cells[index] for row in rows]
        wrap_widths.append(_cell_wrap_width(cells, style.max_text_width))
        width = wrap_widths[-1] or _cell_width(cells, style.stacks_deviations)
        heads.append(_fit_heading(head.title, width, style.abbreviates, legend))
        widths.append(max(width, *map(text_width, heads[-1])))
    # 3) Make the group headings. If one is wider than its columns, widen the last of them.
    groups, start = [], 0
    for title, members in groupby(grid.cell_heads, attrgetter("group")):
        stop = start + len(list(members))
        width = sum(widths[start:stop]) + 2 * style.gap * (stop - start - 1)
        groups.append((_fit_heading(title, width, style.abbreviates, legend), stop - start))
        widths[stop - 1] += max(0.0, max(map(text_width, groups[-1][0])) - width)
        start = stop
    n_columns = len(label_widths) + len(widths)
    width = sum(label_widths) + sum(widths) + 2 * style.gap * n_columns
    has_groups = any(map(attrgetter("group"), grid.cell_heads))
    return Layout(grid, style, wrap_widths, heads, groups if has_groups else [], legend, width)


def _wrap_width(texts: Sequence[str], max_text_width: float | None) -> float | None:
    """Return the width to which texts are broken, in em; None if they are not broken.

    It is `max_text_width`, or the width of the longest word if that is wider. Texts are not broken
    if `max_text_width` is None, or if all of them fit.
    """
    if max_text_width is None:
        return None
    wrap_width = max(max_text_width, *map(text_width, " ".join(texts).split()))
    return wrap_width if max(map(text_width, texts)) > wrap_width else None


def _cell_wrap_width(cells: Sequence[Cell], max_text_width: float | None) -> float | None:
    """Return `_wrap_width` of a column that has words; numbers alone are not broken."""
    texts = _cell_texts(cells)
    has_words = any(map(str.isalpha, " ".join(texts).split()))
    return _wrap_width(texts, max_text_width) if has_words else None


def _cell_texts(cells: Sequence[Cell]) -> list[str]:
    """Return means and deviations without marks: ``"2.9 (2.4)"``."""
    return [f"{cell.mean} {cell.deviation}".rstrip() for cell in cells]


def _cell_width(cells: Sequence[Cell], stacks_deviations: bool) -> float:
    """Return the width of the widest cell, in em, with deviations behind or below the means."""
    widths = [text_width(cell.mean, cell.is_best) + text_width(cell.marks) for cell in cells]
    if stacks_deviations:
        return max(widths + [_DEVIATION_FACTOR * text_width(cell.deviation) for cell in cells])
    # A deviation and the space before it have the width of their text.
    deviations = [text_width(f" {cell.deviation}".rstrip()) for cell in cells]
    return max(map(add, widths, deviations))


def _fit_heading(
    title: str, width: float, abbreviates: bool, legend: list[Abbreviation]
) -> list[str]:
    """Break a heading into lines for a column, or abbreviate it and note this in `legend`.

    Parameters
    ----------
    title : str
        Heading.
    width : float
        Width of the column, in em.
    abbreviates : bool
        Whether a heading that is too wide is abbreviated.
    legend : list of Abbreviation
        Abbreviations of the table so far; a new one is added.

    Returns
    -------
    list of str
        Lines of text.
    """
    # 1) Keep a heading that fits, and one whose abbreviation would not be narrower.
    lines = _break_lines(title, width)
    widest = max(map(text_width, lines))
    is_short = len(title) <= _MAX_CAPITALS
    if not abbreviates or is_short or widest <= width + _MAX_EXCESS:
        return lines
    # A title in a script without capitals has no pieces, and is kept.
    abbreviation = abbreviate(title) or title
    if max(map(text_width, _break_lines(abbreviation, width))) >= widest:
        return lines
    # 2) Number the abbreviation if another heading has it: "AB.M", "AB.M2".
    titles = {entry.short: entry.title for entry in legend}
    short, number = abbreviation, 2
    while titles.get(short, title) != title:
        short, number = f"{abbreviation}{number}", number + 1
    if short not in titles:
        legend.append(Abbreviation(short, title))
    return _break_lines(short, width)


def _break_lines(text: str, width: float) -> list[str]:
    """Break a text into lines that are as wide as its longest word or `width`.

    A line may end at a space, before the point of ``AdaBoost.ECC`` or its abbreviation ``AB.ECC``,
    and after the hyphen of ``MCBoost-exp``.
    """
    # The group keeps the separators, a space or nothing, at the odd indices. A B before a point
    # ends the abbreviation AB of AdaBoost.
    pieces = re.split(r"( |(?<=[a-zB])(?=\.[A-Za-z])|(?<=[A-Za-z]-)(?=[a-z]))", text)
    words, spaces = pieces[::2], ["", *pieces[1::2]]
    max_width = max(width, *map(text_width, words))
    lines = [""]
    for space, word in zip(spaces, words, strict=True):
        longer = lines[-1] + space + word
        # The tolerance is for the rounding of sums: the longest word itself fits.
        if lines[-1] and text_width(longer) > max_width + 1e-9:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def paginate(layouts: Sequence[Layout], caption: str, note: str) -> list[list[Layout]]:
    """Divide the parts of a table among pages, by the lines of text that a page has.

    Parameters
    ----------
    layouts : sequence of Layout
        Parts of one style.
    caption, note : str
        Texts above and below the table, as plain text.

    Returns
    -------
    list of list of Layout
        For each page, the parts that stand below each other.
    """
    page_height = _free_lines(layouts[0], caption, note)
    pages: list[list[Layout]] = [[]]
    n_free_lines = page_height  # lines of text that are left on the last page
    for layout in layouts:
        # 1) Begin a new page if the part does not fit below the parts before it.
        head_height = layout.head_height
        if pages[-1] and head_height + sum(layout.row_heights) > n_free_lines:
            pages.append([])
            n_free_lines = page_height
        # 2) Fill pages with the rows of the part; each page repeats the headings.
        rows: list[Row] = []
        n_free_lines -= head_height
        for row, height in zip(layout.grid.rows_with_footer, layout.row_heights, strict=True):
            if rows and height > n_free_lines:
                pages[-1].append(_select_rows(layout, rows))
                pages.append([])
                rows, n_free_lines = [], page_height - head_height
            rows.append(row)
            n_free_lines -= height
        pages[-1].append(_select_rows(layout, rows))
    return pages


def _select_rows(layout: Layout, rows: list[Row]) -> Layout:
    """Return the layout with some of its rows, perhaps with the footer as the last of them."""
    footer = layout.grid.footer if rows[-1] is layout.grid.footer else None
    grid = replace(layout.grid, rows=rows[:-1] if footer else rows, footer=footer)
    return replace(layout, grid=grid)


def _free_lines(layout: Layout, caption: str = _USUAL_CAPTION, note: str = _USUAL_NOTE) -> float:
    """Return the number of lines of text that a caption and a note leave on a page."""
    n_lines = _PAGE_LINES[layout.style.size] - _GAP_LINES
    n_lines -= _CAPTION_LINE_HEIGHT * ceil(text_width(caption) / _CAPTION_WIDTH)
    return n_lines - ceil(text_width(note) / PAGE_WIDTHS["footnotesize"])


def legend_text(legend: Sequence[Abbreviation]) -> str:
    """Return abbreviations as a sentence; empty without abbreviations."""
    return f"{'; '.join([f'{short}: {title}' for short, title in legend])}." if legend else ""
