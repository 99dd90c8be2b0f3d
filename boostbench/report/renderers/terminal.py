"""Tables on a terminal of 80 columns."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from math import isnan
from pathlib import Path
from string import ascii_lowercase
from textwrap import wrap

from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from boostbench.analysis.cells import Cell
from boostbench.analysis.verdicts import VERDICTS
from boostbench.data.dataset import Dataset
from boostbench.fitting.quantities import QUANTITIES, SCORES
from boostbench.report.blocks import Document, Listing
from boostbench.report.wording import (
    ELSEWHERE,
    STALE,
    format_chosen,
    format_number,
    format_published,
    format_rounds,
    format_splits,
    format_time,
    freshness_note,
    stale_mark,
)
from boostbench.util import numbers

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


#: CPU times of a summary, and their headings.
_TIMES = {"fit": "fit s", "weak_learner": "weak s", "coefficients": "coef. s"}

#: Group headings are wrapped to this width (characters), names to at least this width.
_NAME_WIDTH = 12

#: Text of cells without data.
_ABSENT = "data not available"

#: Headings of one column are wrapped to at least this width (characters).
_HEAD_WIDTH = 7


def print_summary(console: Console, dataset: Dataset | None, cells: Sequence[Cell]) -> None:
    """Print the results of one or more algorithms on one data set.

    Parameters
    ----------
    console : rich.console.Console
        Output.
    dataset : Dataset or None
        Data set, which is described first; None if it is not available.
    cells : sequence of Cell
        One cell per algorithm.
    """
    if dataset is not None:
        shape = f"{dataset.n_samples} samples, {dataset.n_features} features"
        headline = f"{dataset.name}: {shape}, {dataset.n_classes} classes"
        console.print(headline, style="bold")
        # A long path is not wrapped, so that it can be copied.
        console.print(dataset.source, soft_wrap=True)
    quantity = cells[0].quantity
    losses = [numbers.rounded(quantity.sign * cell.mean, quantity.digits) for cell in cells]
    best = min((loss for loss in losses if not isnan(loss)), default=None)
    columns = {
        "algorithm": [Text(cell.title) for cell in cells],
        f"{quantity.title.split()[-1].lower()} {quantity.symbol}".rstrip(): [
            Text(
                format_number(cell) + stale_mark(cell),
                "bold" if len(cells) > 1 and loss == best else "",
            )
            for cell, loss in zip(cells, losses, strict=True)
        ],
        "published": [Text(format_published(cell) or "-") for cell in cells],
        "splits": [Text(format_splits(cell)) for cell in cells],
        "rounds": [Text(format_rounds(cell)) for cell in cells],
        **{
            heading: [Text(format_time(cell, name)) for cell in cells]
            for name, heading in _TIMES.items()
        },
    }
    # Empty columns are omitted: few classifiers record rounds, few pairs have published numbers.
    columns = {
        header: texts
        for header, texts in columns.items()
        if any(text.plain != "-" for text in texts)
    }
    grid = make_grid(list(columns))
    for texts in zip(*columns.values(), strict=True):
        grid.add_row(*texts)
    console.print(grid)
    for cell in cells:
        recorded = [q for q in map(QUANTITIES.get, SCORES) if cell.average(q) is not None]
        scores = [_score(replace(cell, quantity=quantity)) for quantity in recorded]
        if scores:
            console.print(f"{cell.title}: {', '.join(scores)}")
    for cell in cells:
        if format_chosen(cell):
            console.print(f"{cell.title}: {format_chosen(cell)}, chosen by cross-validation")
    departures = dict.fromkeys(", ".join(cell.departures) for cell in cells if cell.target)
    for departure in filter(None, departures):
        console.print(f"{ELSEWHERE} not the published experiment: {departure}", style="yellow")
    console.print(
        f"{quantity.title}: mean (std) over splits. Times: CPU seconds per split, on one core."
    )


def _score(cell: Cell) -> str:
    """Return a score with its title: ``"Log-loss 0.123 (0.010)"``."""
    return f"{cell.quantity.title} {format_number(cell)} {cell.quantity.symbol}".rstrip()


def print_freshness(console: Console, cells: Sequence[Cell]) -> None:
    """Print the sentences on stale records and on refits."""
    for note in freshness_note(cells, cells):
        console.print(note, style="yellow" if note.startswith(STALE) else "")


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
    heads = [f"{_break(head.group, _NAME_WIDTH)}\n{head.title}".lstrip() for head in document.heads]
    # A note names the data that are not available.
    rows = [
        (row.title, [e._replace(text="-") if e.text == _ABSENT else e for e in row.entries])
        for row in document.rows
    ]
    widths = [
        max(*map(len, head.splitlines()), *(len(line[index].printed) for _, line in rows))
        for index, head in enumerate(heads)
    ]
    space = console.width - max(map(len, ["data", *(title for title, _ in rows)]))
    for number, block in enumerate(_blocks([head.group for head in document.heads], widths, space)):
        if number:
            console.print()
        grid = make_grid(["data", *(heads[index] for index in block)])
        for title, line in rows:
            shown = (line[index] for index in block)
            grid.add_row(title, *(Text(e.printed, "bold" if e.best else "") for e in shown))
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
    for note in document.full_notes:
        console.print(note, style="yellow")


def print_listing(console: Console, listing: Listing) -> None:
    """Print the lines of a list that have one of our numbers, and the sentences below them."""
    lines = [line for line in listing.lines if line.is_known]
    if lines:
        console.print()
        rows, heads, legend, gap = _fit(console.width, listing, [line.texts for line in lines])
        grid = make_grid(heads, n_left=listing.n_names, gap=gap)
        for line, texts in zip(lines, rows, strict=True):
            styles = ["bold" if place in line.strong else "" for place in range(len(texts))]
            if line.verdict:
                styles[-1] = VERDICTS[line.verdict].colour
            grid.add_row(*map(Text, texts, styles))
        console.print(grid)
        for sentence in legend:
            console.print(sentence)
    if listing.summary:
        console.print(listing.summary, style="bold")
    for sentence in [*([listing.explanation] if lines else []), *listing.reasons]:
        console.print(sentence)


def _fit(
    width: int, listing: Listing, rows: list[list[str]]
) -> tuple[list[list[str]], list[str], list[str], int]:
    """Fit a list into a width: by narrow gaps, then letters for words, then wrapped names.

    Returns
    -------
    rows, heads : list
        Printed texts.
    legend : list of str
        Meanings of the letters.
    gap : int
        Spaces between columns.
    """
    columns = zip(listing.heads, zip(*rows, strict=True), strict=True)
    heads = [
        _break(head, max(_HEAD_WIDTH, *map(len, [*head.split(), *texts])))
        for head, texts in columns
    ]
    gap, legend = GAP, []
    if _width(heads, rows, gap) > width:
        gap = 1
        rows = [[text.replace(" ± ", "±") for text in texts] for texts in rows]
    if _width(heads, rows, gap) > width:
        rows, legend = _abbreviate_bases(rows)
    longest = [max(len(row[name]) for row in rows) for name in range(listing.n_names)]
    for name in sorted(range(listing.n_names), key=lambda name: -longest[name]):
        over = _width(heads, rows, gap) - width
        if over > 0:
            narrow = max(longest[name] - over, _NAME_WIDTH)
            rows = [[*r[:name], _break(r[name], narrow), *r[name + 1 :]] for r in rows]
    return rows, heads, legend, gap


def _width(heads: Sequence[str], rows: Sequence[Sequence[str]], gap: int) -> int:
    columns = zip(heads, *rows, strict=True)
    widest = (max(len(line) for text in texts for line in text.splitlines()) for texts in columns)
    return sum(widest) + gap * (len(heads) - 1)


def _abbreviate_bases(rows: Sequence[Sequence[str]]) -> tuple[list[list[str]], list[str]]:
    """Replace the basis of each verdict by a letter, or drop it if all verdicts share it."""
    parts = [row[-1].removesuffix(")").partition(" (") for row in rows]
    bases = list(dict.fromkeys(basis for _, _, basis in parts if basis))
    marks = {basis: f" ({letter})" for basis, letter in zip(bases, ascii_lowercase, strict=False)}
    legend = [f"{mark.strip()} {basis}" for basis, mark in marks.items()]
    if len(bases) == 1 and all(basis for *_, basis in parts):
        marks, legend = {bases[0]: ""}, [f"All verdicts: {bases[0]}."]
    verdicts = [word + marks.get(basis, "") for word, _, basis in parts]
    return [[*row[:-1], verdict] for row, verdict in zip(rows, verdicts, strict=True)], legend


def _break(text: str, width: int) -> str:
    return "\n".join(wrap(text, width))


def _blocks(groups: list[str], widths: list[int], space: int) -> Iterator[list[int]]:
    """Yield the columns of each block: as many groups as fit the space, at least one.

    A group that is wider than the space is divided.
    """
    block: list[int] = []

    def takes(columns: list[int]) -> bool:
        return sum(widths[index] + GAP for index in columns) <= space

    numbered = enumerate(groups)
    # A column without a group forms a group by itself.
    for _, members in groupby(numbered, key=lambda each: each[1] or each[0]):
        group = [index for index, _ in members]
        for unit in [group] if takes(group) else [[index] for index in group]:
            if block and not takes(block + unit):
                yield block
                block = []
            block = block + unit
    yield block
