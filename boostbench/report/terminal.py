"""Tables for people at a terminal, 80 columns wide."""

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from boostbench.data.dataset import Dataset
from boostbench.report.cells import Cell
from boostbench.report.markdown import comparison_rows, number
from boostbench.report.tables import Table, significance, stale_note

_COLOURS = {"reproduced": "green", "better": "cyan", "worse": "red"}


def print_summary(console: Console, dataset: Dataset, cells: Sequence[Cell]) -> None:
    """Print what one or more algorithms do on one data set.

    Parameters
    ----------
    console : rich.console.Console
        Where to.
    dataset : Dataset
        The data set.
    cells : sequence of Cell
        One per algorithm.
    """
    shape = (
        f"{dataset.n_samples} samples, {dataset.n_features} features, {dataset.n_classes} classes"
    )
    _line(console, f"{dataset.name}: {shape}", style="bold")
    # Unbroken, so that a long path can be copied.
    console.print(dataset.source, markup=False, highlight=False, soft_wrap=True)
    lowest = min((cell.mean for cell in cells if cell.records), default=None)
    columns = {
        "algorithm": [Text(cell.title) for cell in cells],
        "error %": [
            Text(cell.text, "bold" if len(cells) > 1 and cell.mean == lowest else "")
            for cell in cells
        ],
        "published": [Text(str(cell.published or "-")) for cell in cells],
        "splits": [Text(cell.splits) for cell in cells],
        "rounds": [Text(_rounds(cell)) for cell in cells],
        "fit s": [Text(number(cell.seconds("fit"))) for cell in cells],
        "weak s": [Text(number(cell.seconds("weak_learner"))) for cell in cells],
        "coef. s": [Text(number(cell.seconds("coefficients"))) for cell in cells],
    }
    # What no row has needs no column: few classifiers tell of rounds, few pairs are published.
    columns = {
        header: texts
        for header, texts in columns.items()
        if any(text.plain != "-" for text in texts)
    }
    grid = _grid(list(columns))
    for texts in zip(*columns.values(), strict=True):
        grid.add_row(*texts)
    console.print(grid)
    for cell in cells:
        if cell.chosen:
            _line(console, f"{cell.title}: {cell.chosen}, chosen by cross-validation")
    _line(console, "Error: mean (std) over splits. Times: CPU seconds per split, on one core.")


def print_stale_note(console: Console, cells: Sequence[Cell]) -> None:
    """Explain the mark of stale numbers, where there are any."""
    if any(cell.stale for cell in cells):
        _line(console, stale_note(), style="yellow")


def print_table(console: Console, table: Table) -> None:
    """Print a table of several data sets in the paper's layout.

    Parameters
    ----------
    console : rich.console.Console
        Where to.
    table : Table
        The table.
    """
    grid = _grid(["data", *table.columns.values()])
    for row in table.rows:
        best = table.best(row)
        grid.add_row(
            row,
            *(Text(table.text(row, c), style="bold" if c in best else "") for c in table.columns),
        )
    console.print(grid)
    _line(console, table.caption)


def print_judgement(console: Console, table: Table) -> None:
    """Print what follows from a table: significance, published against ours, and its notes."""
    console.print()
    for sentence in significance(table):
        _line(console, sentence)
    rows = comparison_rows(table)
    if rows:
        console.print()
        grid = _grid(["data", "algorithm", "published", "ours", "difference", "verdict"], left=2)
        for *texts, verdict in rows:
            grid.add_row(*texts, Text(verdict, style=_COLOURS[verdict]))
        console.print(grid)
        _line(console, "Difference: ours minus published, with Welch's 95% interval.")
    for note in table.notes:
        _line(console, note, style="yellow")


def _rounds(cell: Cell) -> str:
    return "-" if cell.n_iterations is None else f"{cell.n_iterations:.0f}"


def _grid(header: Sequence[str], left: int = 1) -> Grid:
    grid = Grid(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for index, title in enumerate(header):
        grid.add_column(title, justify="left" if index < left else "right", overflow="fold")
    return grid


def _line(console: Console, text: str, style: str = "") -> None:
    # Numbers and brackets in plain sentences are no markup, and need no colours of their own.
    console.print(text, style=style, markup=False, highlight=False)
