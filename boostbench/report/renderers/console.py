"""Tables on a terminal of 80 columns."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from string import ascii_lowercase
from textwrap import wrap
from typing import NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from boostbench.analysis.verdicts import VERDICTS
from boostbench.report.blocks import Document, Listing, Summary

#: Spaces between columns.
GAP = 2


def make_grid(header: Sequence[str], n_left: int = 1, gap: int = GAP) -> Grid:
    """Return an empty grid with headings above a rule.

    Parameters
    ----------
    header : sequence of str
        Headings of one or several lines.
    n_left : int, default=1
        Number of left-aligned columns; the others are right-aligned.
    gap : int, default=2
        Spaces between columns.

    Returns
    -------
    rich.table.Table
        Grid without rows.
    """
    # The box draws one space between columns itself.
    padding = (0, gap - 1, 0, 0)
    grid = Grid(box=box.SIMPLE_HEAD, padding=padding, pad_edge=False, show_edge=False)
    for index, title in enumerate(header):
        justify = "left" if index < n_left else "right"
        grid.add_column(title, justify=justify, overflow="fold", vertical="bottom")
    return grid


def short_names(paths: Iterable[Path]) -> str:
    """Return short names of files: consecutive files with one stem are joined by suffix.

    Examples
    --------
    >>> short_names(map(Path, ["a/b.1.png", "a/b.1.svg", "a/c.png", "a/c.svg"]))
    'a/b.1.png, .svg; a/c.png, .svg'
    """
    by_stem = groupby(paths, key=lambda path: path.with_suffix(""))
    groups = ((next(files), files) for _, files in by_stem)
    return "; ".join(
        ", ".join([str(first), *(path.suffix for path in files)]) for first, files in groups
    )


#: Group headings are wrapped to this width (characters), names to at least this width.
_NAME_WIDTH = 12

#: Text of cells without data.
_UNAVAILABLE = "data not available"

#: Headings of one column are wrapped to at least this width (characters).
_HEAD_WIDTH = 7


def print_summary(console: Console, summary: Summary) -> None:
    """Print the results of one or more algorithms on one data set."""
    if summary.data:
        shape, source = summary.data
        console.print(shape, style="bold")
        # A long path is not wrapped, so that it can be copied.
        console.print(source, soft_wrap=True)
    grid = make_grid(summary.heads)
    for row in summary.rows:
        grid.add_row(*(Text(entry.printed, "bold" if entry.best else "") for entry in row))
    console.print(grid)
    for sentence in summary.sentences:
        console.print(sentence)
    print_warnings(console, summary.warnings)
    console.print(summary.explanation)


def print_warnings(console: Console, notes: Iterable[str]) -> None:
    """Print notes that readers must not miss."""
    for note in notes:
        console.print(note, style="yellow")


def print_headline(console: Console, document: Document) -> None:
    """Print the title of a table, and the settings that differ from its definition."""
    console.print(document.title, style="bold")
    if document.headline:
        console.print(document.headline, style="bold yellow")


def print_table(console: Console, document: Document) -> None:
    """Print a table of several data sets in the paper's layout.

    A table that is too wide is printed in several blocks, which keep groups of columns together.

    Parameters
    ----------
    console : rich.console.Console
        Output.
    document : Document
        Document of the table.
    """
    # 1) Write the entries. A note names the data that are not available.
    heads = [f"{_wrap(head.group, _NAME_WIDTH)}\n{head.title}".lstrip() for head in document.heads]
    titles = [row.title for row in document.rows]
    lines = [
        [
            Text(entry.printed if entry.text != _UNAVAILABLE else "-", "bold" if entry.best else "")
            for entry in row.entries
        ]
        for row in document.rows
    ]
    # 2) Divide the columns into blocks that fit the terminal.
    widths = [
        max(*map(len, head.splitlines()), *map(len, column))
        for head, column in zip(heads, zip(*lines, strict=True), strict=True)
    ]
    space = console.width - max(map(len, ["data", *titles]))
    for number, block in enumerate(
        _column_blocks([head.group for head in document.heads], widths, space)
    ):
        if number:
            console.print()
        grid = make_grid(["data", *[heads[index] for index in block]])
        for title, line in zip(titles, lines, strict=True):
            grid.add_row(title, *[line[index] for index in block])
        console.print(grid)
    console.print(document.caption)


def print_judgement(console: Console, document: Document) -> None:
    """Print the findings on a table, its lists, and last the notes."""
    console.print()
    for sentence in document.findings:
        console.print(sentence)
    for listing in document.listings:
        if not listing.is_appendix:
            print_listing(console, listing)
    print_warnings(console, document.full_notes)


def print_listing(console: Console, listing: Listing) -> None:
    """Print the lines of a list that have one of our numbers, and the sentences below them."""
    lines = [line for line in listing.lines if line.has_our_number]
    if lines:
        console.print()
        fitted = _fit_listing(console.width, listing, [line.texts for line in lines])
        grid = make_grid(fitted.heads, n_left=listing.n_names, gap=fitted.gap)
        for line, texts in zip(lines, fitted.rows, strict=True):
            styles = ["bold" if column in line.bold else "" for column in range(len(texts))]
            if line.verdict:
                styles[-1] = VERDICTS[line.verdict].colour
            grid.add_row(*map(Text, texts, styles))
        console.print(grid)
        for sentence in fitted.legend:
            console.print(sentence)
    if listing.summary:
        console.print(listing.summary, style="bold")
    for sentence in [*([listing.explanation] if lines else []), *listing.reasons]:
        console.print(sentence)


class _FittedListing(NamedTuple):
    """List that fits the terminal.

    Attributes
    ----------
    rows : list of list of str
        Printed texts.
    heads : list of str
        Printed headings.
    legend : list of str
        Meanings of letters that stand for words.
    gap : int
        Spaces between columns.
    """

    rows: list[list[str]]
    heads: list[str]
    legend: list[str]
    gap: int


def _fit_listing(width: int, listing: Listing, rows: list[list[str]]) -> _FittedListing:
    """Fit rows of a list into a width: by narrow gaps, then letters for words, then wrapped names.

    Parameters
    ----------
    width : int
        Width of the terminal, in characters.
    listing : Listing
        List, for its headings and the number of columns of names.
    rows : list of list of str
        Texts of the lines that are printed.
    """
    columns = zip(listing.heads, zip(*rows, strict=True), strict=True)
    heads = [
        _wrap(head, max(_HEAD_WIDTH, *map(len, [*head.split(), *texts]))) for head, texts in columns
    ]
    # 1) Narrow the gaps.
    gap, legend = GAP, []
    if _total_width(heads, rows, gap) > width:
        gap = 1
        rows = [[text.replace(" ± ", "±") for text in texts] for texts in rows]
    # 2) Write letters for words.
    if _total_width(heads, rows, gap) > width:
        rows, legend = _abbreviate_bases(rows)
    # 3) Wrap the columns of names, the longest first.
    longest = [max(len(row[column]) for row in rows) for column in range(listing.n_names)]
    for column in sorted(range(listing.n_names), key=lambda column: -longest[column]):
        excess = _total_width(heads, rows, gap) - width
        if excess > 0:
            narrow = max(longest[column] - excess, _NAME_WIDTH)
            rows = [[*row[:column], _wrap(row[column], narrow), *row[column + 1 :]] for row in rows]
    return _FittedListing(rows, heads, legend, gap)


def _total_width(heads: Sequence[str], rows: Sequence[Sequence[str]], gap: int) -> int:
    """Return the width of a list in characters; texts may have several lines."""
    columns = zip(heads, *rows, strict=True)
    widths = [max(map(len, "\n".join(texts).splitlines())) for texts in columns]
    return sum(widths) + gap * (len(heads) - 1)


def _abbreviate_bases(rows: Sequence[Sequence[str]]) -> tuple[list[list[str]], list[str]]:
    """Replace the basis behind each verdict by a letter, or drop it if all verdicts share it.

    The last text of a row is a verdict, perhaps with the basis of its interval in brackets:
    ``"better (one pool)"`` becomes ``"better (a)"``.

    Returns
    -------
    rows : list of list of str
    legend : list of str
        Meanings of the letters.
    """
    parts = [row[-1].removesuffix(")").partition(" (") for row in rows]
    bases = list(dict.fromkeys(basis for _, _, basis in parts if basis))
    # The letters suffice, as `SHORT_BASES` has fewer than 26 bases.
    marks = {basis: f" ({letter})" for basis, letter in zip(bases, ascii_lowercase, strict=False)}
    legend = [f"{mark.strip()} {basis}" for basis, mark in marks.items()]
    if len(bases) == 1 and all(basis for *_, basis in parts):
        marks, legend = {bases[0]: ""}, [f"All verdicts: {bases[0]}."]
    verdicts = [word + marks.get(basis, "") for word, _, basis in parts]
    return [[*row[:-1], verdict] for row, verdict in zip(rows, verdicts, strict=True)], legend


def _wrap(text: str, width: int) -> str:
    """Wrap a text into lines of at most `width` characters."""
    return "\n".join(wrap(text, width))


def _column_blocks(groups: list[str], widths: list[int], space: int) -> Iterator[list[int]]:
    """Yield the columns of each block: as many groups as fit the space, at least one.

    Parameters
    ----------
    groups : list of str
        Group heading of each column; empty for a column by itself.
    widths : list of int
        Width of each column, in characters.
    space : int
        Width of the terminal beside the names of data, in characters. A group that is wider is
        divided.

    Yields
    ------
    list of int
        Indices of columns.
    """
    block: list[int] = []

    def fits(columns: list[int]) -> bool:
        return sum(widths[index] + GAP for index in columns) <= space

    # A column without a group forms a group by itself.
    group_keys = [group or index for index, group in enumerate(groups)]
    for _, members in groupby(range(len(groups)), key=group_keys.__getitem__):
        group = list(members)
        for columns in [group] if fits(group) else [[index] for index in group]:
            if block and not fits(block + columns):
                yield block
                block = []
            block = block + columns
    yield block
