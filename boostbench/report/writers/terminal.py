"""Tables for people at a terminal, 80 columns wide."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from math import isnan
from string import ascii_lowercase
from textwrap import wrap

from rich.console import Console
from rich.text import Text

from boostbench.data.dataset import Dataset
from boostbench.experiment.quantities import QUANTITIES, SCORES
from boostbench.report import numbers
from boostbench.report.cells import ELSEWHERE, STALE, Cell
from boostbench.report.claims import claims
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
from boostbench.report.matrix import Matrix, matrix
from boostbench.report.statistics.one_sided import LEVEL
from boostbench.report.tables import Entry, Table, stale_note, verified_note
from boostbench.report.verdicts import COLOURS
from boostbench.report.writers.printing import GAP, make_grid, print_line

#: CPU times of a summary, and their headings.
_TIMES = {"fit": "fit s", "weak_learner": "weak s", "coefficients": "coef. s"}


#: Headings over several columns are broken to this width, and names to no less.
_GROUP_WIDTH = 12

#: Names of algorithms are broken to this width where much stands beside them.
_NAME_WIDTH = 13


def print_summary(console: Console, dataset: Dataset | None, cells: Sequence[Cell]) -> None:
    """Print what one or more algorithms do on one data set.

    Parameters
    ----------
    console : rich.console.Console
        Where to.
    dataset : Dataset or None
        The data set, which is described first; None where it is not at hand.
    cells : sequence of Cell
        One per algorithm.
    """
    if dataset is not None:
        shape = f"{dataset.n_samples} samples, {dataset.n_features} features"
        headline = f"{dataset.name}: {shape}, {dataset.n_classes} classes"
        print_line(console, headline, style="bold")
        # Unbroken, so that a long path can be copied.
        console.print(dataset.source, markup=False, highlight=False, soft_wrap=True)
    quantity = cells[0].quantity
    losses = [numbers.rounded(quantity.sign * cell.mean, quantity.digits) for cell in cells]
    best = min((loss for loss in losses if not isnan(loss)), default=None)
    columns = {
        "algorithm": [Text(cell.title) for cell in cells],
        f"{quantity.title.split()[-1].lower()} {quantity.symbol}".rstrip(): [
            Text(cell.text, "bold" if len(cells) > 1 and loss == best else "")
            for cell, loss in zip(cells, losses, strict=True)
        ],
        "published": [Text(cell.reference or "-") for cell in cells],
        "splits": [Text(cell.splits) for cell in cells],
        "rounds": [Text(_rounds(cell)) for cell in cells],
        **{
            heading: [Text(numbers.seconds(cell.average(QUANTITIES[name]))) for cell in cells]
            for name, heading in _TIMES.items()
        },
    }
    # What no row has needs no column: few classifiers tell of rounds, few pairs are published.
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
        scores = [_score(cell, name) for name in SCORES if _has(cell, name)]
        if scores:
            print_line(console, f"{cell.title}: {', '.join(scores)}")
    for cell in cells:
        if cell.chosen:
            print_line(console, f"{cell.title}: {cell.chosen}, chosen by cross-validation")
    others = dict.fromkeys(", ".join(cell.departures) for cell in cells if cell.target)
    for what in filter(None, others):
        print_line(console, f"{ELSEWHERE} not the published experiment: {what}", "yellow")
    print_line(
        console,
        f"{quantity.title}: mean (std) over splits. Times: CPU seconds per split, on one core.",
    )


def _has(cell: Cell, name: str) -> bool:
    return cell.average(QUANTITIES[name]) is not None


def _score(cell: Cell, name: str) -> str:
    """``"Log-loss 0.123 (0.010)"``."""
    shown = replace(cell, quantity=QUANTITIES[name])
    title, unit = shown.quantity.title, f" {shown.quantity.symbol}".rstrip()
    return f"{title} {shown.text.removesuffix(STALE)}{unit}"


def print_freshness(console: Console, cells: Sequence[Cell]) -> None:
    """Say what today's code does not give, and what it was seen to give."""
    stale = [stale_note()] if any(cell.stale for cell in cells) else []
    for note in [*stale, *verified_note(cells)]:
        print_line(console, note, style="yellow" if note in stale else "")


def print_headline(console: Console, table: Table) -> None:
    """Print a table's title, and what is not as the table is defined."""
    print_line(console, table.title, style="bold")
    if table.headline:
        print_line(console, table.headline, style="bold yellow")


def print_table(console: Console, table: Table) -> None:
    """Print a table of several data sets in the paper's layout.

    A table that is too wide is printed in several blocks, groups of columns kept together.

    Parameters
    ----------
    console : rich.console.Console
        Where to.
    table : Table
        The table.
    """
    heads = [f"{_break(group, _GROUP_WIDTH)}\n{title}".lstrip() for group, title in table.heads]
    entries = {row: [_shorten(entry) for entry in table.entries(row)] for row in table.rows}
    widths = [
        max(*map(len, head.splitlines()), *(len(line[index].text) for line in entries.values()))
        for index, head in enumerate(heads)
    ]
    space = console.width - max(map(len, ["data", *table.rows.values()]))
    for number, block in enumerate(_blocks([group for group, _ in table.heads], widths, space)):
        if number:
            console.print()
        grid = make_grid(["data", *(heads[index] for index in block)])
        for row, line in entries.items():
            shown = (line[index] for index in block)
            grid.add_row(table.rows[row], *(Text(e.text, "bold" if e.best else "") for e in shown))
        console.print(grid)
    print_line(console, table.caption)


def print_judgement(console: Console, table: Table) -> None:
    """Print what follows from a table: significance, claims, published against ours, notes."""
    console.print()
    for sentence in [*significance(table), *claims(table)]:
        print_line(console, sentence)
    every_two = matrix(table)
    if every_two:
        console.print()
        print_matrix(console, every_two)
    print_verdicts(console, table)
    for reason in reasons(table):
        print_line(console, reason)
    rows = [row for row in seconds_rows(table) if row[-1] != "-"]
    if rows:
        console.print()
        grid = make_grid(SECONDS, left=2)
        for texts in rows:
            grid.add_row(*texts)
        console.print(grid)
        print_line(console, seconds_explanation(table))
    for note in table.notes:
        print_line(console, note, style="yellow")


def print_matrix(console: Console, every_two: Matrix) -> None:
    """Print a comparison of every two columns."""
    columns = zip(every_two.heads, zip(*every_two.rows, strict=True), strict=True)
    heads = [_break(head, max(9, *map(len, texts))) for head, texts in columns]
    grid = make_grid(heads, left=2)
    p_values = {index for index, head in enumerate(every_two.heads) if head.endswith("p")}
    for texts in every_two.rows:
        names = [_break(text, _NAME_WIDTH) for text in texts[:2]]
        found = [
            Text(text, "bold" if index in p_values and _is_small(text) else "")
            for index, text in enumerate(texts[2:], start=2)
        ]
        grid.add_row(*names, *found)
    console.print(grid)
    print_line(console, every_two.explanation)


def _is_small(p: str) -> bool:
    return p.startswith("<") or (p != "-" and float(p) <= LEVEL)


def print_verdicts(console: Console, table: Table) -> None:
    """Print published against ours where there are both, and count the verdicts."""
    rows = comparison_rows(table)
    known = [row for row in rows if row[-1] != "-"]  # the others are counted
    if known:
        console.print()
        heads = [head.replace(" ", "\n") for head in COMPARISON]
        gap = GAP
        if _width(heads, known, gap) > console.width:
            gap = 1
            known = [[text.replace(" ± ", "±") for text in texts] for texts in known]
        bases = []
        if _width(heads, known, gap) > console.width:
            known, bases = _with_letters(known)
        over = _width(heads, known, gap) - console.width
        if over > 0:
            width = max(max(len(row[1]) for row in known) - over, _GROUP_WIDTH)
            known = [[data, _break(name, width), *texts] for data, name, *texts in known]
        grid = make_grid(heads, left=2, gap=gap)
        for *texts, verdict in known:
            colour = COLOURS.get(verdict.partition(" (")[0], "")
            grid.add_row(*texts, Text(verdict, style=colour))
        console.print(grid)
        for letter, basis in zip(ascii_lowercase, bases, strict=False):
            print_line(console, f"({letter}) {basis}")
    if rows:
        print_line(console, summary(table), style="bold")
    if known:
        print_line(console, COMPARISON_EXPLANATION)


def _width(heads: Sequence[str], rows: Sequence[Sequence[str]], gap: int) -> int:
    columns = zip(heads, *rows, strict=True)
    widest = (max(len(line) for text in texts for line in text.splitlines()) for texts in columns)
    return sum(widest) + gap * (len(heads) - 1)


def _with_letters(rows: Sequence[Sequence[str]]) -> tuple[list[list[str]], list[str]]:
    """Put a letter in place of what a verdict rests on, and give these bases."""
    parts = [row[-1].removesuffix(")").partition(" (") for row in rows]
    bases = list(dict.fromkeys(basis for _, _, basis in parts if basis))
    letters = dict(zip(bases, ascii_lowercase, strict=False))
    verdicts = [f"{word} ({letters[basis]})" if basis else word for word, _, basis in parts]
    return [[*row[:-1], verdict] for row, verdict in zip(rows, verdicts, strict=True)], bases


def _break(text: str, width: int) -> str:
    return "\n".join(wrap(text, width))


def _shorten(entry: Entry) -> Entry:
    """Spare wide columns: a note names the data that are not available."""
    return Entry("-", False) if entry.text == "data not available" else entry


def _blocks(groups: list[str], widths: list[int], space: int) -> Iterator[list[int]]:
    """Yield the columns of each block: as many groups as there is space for, at least one."""
    block: list[int] = []
    numbered = enumerate(groups)
    # A column without a group is one of its own.
    for _, members in groupby(numbered, key=lambda each: each[1] or each[0]):
        unit = [index for index, _ in members]
        if block and sum(widths[index] + GAP for index in block + unit) > space:
            yield block
            block = []
        block = block + unit
    yield block


def _rounds(cell: Cell) -> str:
    return "-" if cell.n_iterations is None else f"{cell.n_iterations:.0f}"
