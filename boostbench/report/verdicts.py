"""How much is reproduced: verdicts counted, per paper, table and algorithm."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import isfinite

from boostbench.report.cells import Cell
from boostbench.report.published import sources
from boostbench.report.tables import Table

#: Every verdict that a cell can have, in the order in which they are told: what was compared, what
#: could not be, what lacks a number of ours, what lacks one of the paper's.
VERDICTS = (
    *("reproduced", "better", "worse"),
    *("undecided", "not judged"),
    *("failed", "not reached", "not run", "not available"),
    "not published",
)
COMPARED = VERDICTS[:3]

#: One colour for each verdict, in every figure, on the page and at the terminal: Okabe and Ito's
#: for what says something of the algorithm, greys for the rest.
COLOURS = {
    "reproduced": "#009e73",
    "better": "#56b4e9",
    "worse": "#e69f00",
    "failed": "#d55e00",
    "undecided": "#8f8f8f",
    "not judged": "#a3a3a3",
    "not reached": "#b5b5b5",
    "not run": "#c7c7c7",
    "not available": "#d9d9d9",
}

#: What each verdict says.
MEANING = {
    "reproduced": "the difference is within sampling error: its 95% interval holds 0",
    "better": "ours is better than the published number, by more than sampling error",
    "worse": "ours is worse than the published number, by more than sampling error",
    "undecided": "too few splits to tell, and no published standard deviation",
    "not judged": "it was not run as the paper's table asks",
    "failed": "every split that was tried raised an error",
    "not reached": "fewer boosting rounds were asked for",
    "not run": "no split is on record",
    "not available": "the data are not at hand",
    "not published": "the paper gives no number",
}


@dataclass(frozen=True)
class Tally:
    """What became of published numbers.

    Attributes
    ----------
    numbers : dict of str to int
        Published numbers by verdict, all of `VERDICTS` in their order, zeros included; under
        ``"not published"`` cells.
    repeated : int, default=0
        How many cells are left out: their published number is that of a cell before them.
    widths : list of (float, float)
        Of each 95% interval, half of its width: in percentage points, NaN where the numbers are no
        percentages; and as a share of the published number.
    """

    numbers: dict[str, int]
    repeated: int = 0
    widths: list[tuple[float, float]] = field(default_factory=list)

    @classmethod
    def of(cls, cells: Iterable[Cell]) -> "Tally":
        """Count the published numbers of some cells, each once; see `distinct`."""
        cells = list(cells)
        counted = distinct(cells)
        found = Counter(cell.verdict for cell in counted)
        widths = [
            (half if cell.quantity.symbol == "%" else float("nan"), half / cell.target.mean)
            for cell in counted
            if cell.agreement and isfinite(half := cell.agreement.half) and cell.target.mean > 0
        ]
        numbers = {verdict: found[verdict] for verdict in VERDICTS}
        return cls(numbers, len(cells) - len(counted), widths)

    def __getitem__(self, verdict: str) -> int:
        return self.numbers[verdict]

    @property
    def published(self) -> int:
        """How many published numbers there are."""
        return sum(self.numbers.values()) - self["not published"]

    @property
    def compared(self) -> int:
        """How many of them have one of ours beside them, and a verdict."""
        return sum(self[verdict] for verdict in COMPARED)

    @property
    def shown(self) -> dict[str, int]:
        """What became of the published numbers, zeros left out."""
        return {v: n for v, n in self.numbers.items() if n and v != "not published"}

    def __str__(self) -> str:
        parts = ", ".join(f"{number} {verdict}" for verdict, number in self.shown.items())
        return f"{self.published} published numbers" + (f": {parts}" if parts else "")


def distinct(cells: Iterable[Cell]) -> list[Cell]:
    """Leave out cells beside a published number that a cell before them has too.

    A paper prints some numbers twice, and two rows or columns of ours may stand beside one number
    where it is not clear which of them the paper has. The first of them is the one that counts.

    Parameters
    ----------
    cells : iterable of Cell
        In the order of the tables, their rows and columns.

    Returns
    -------
    list of Cell
        In the same order; all cells without a published number are kept.
    """
    seen: set[tuple[str, str]] = set()
    kept = []
    for cell in cells:
        number = (cell.target.source, cell.quantity.name) if cell.target else ("", "")
        if number not in seen:
            kept.append(cell)
        if number[0]:
            seen.add(number)
    return kept


@dataclass(frozen=True)
class Counts:
    """Verdicts of some tables.

    Attributes
    ----------
    total : Tally
        Of all tables of papers. A table of no paper (`Table.paper` is empty: the demo, one of the
        user's own) repeats numbers of a paper's table, so that it is counted in `tables` alone.
    papers, tables, algorithms : dict of str to Tally
        By name, in the order of the tables.
    """

    total: Tally
    papers: dict[str, Tally]
    tables: dict[str, Tally]
    algorithms: dict[str, Tally]


def not_shown(tables: Iterable[Table]) -> int:
    """Count the numbers of published tables beside which some of their tables have no cell.

    Such are those of data sets that are not at hand.

    Parameters
    ----------
    tables : iterable of Table
        Those of no paper do not count.

    Returns
    -------
    int
        Of the published tables of which at least one number is shown.
    """
    cells = [cell for table in tables if table.paper for cell in table.cells.values()]
    shown = {cell.target.source for cell in cells if cell.target}
    named = {cell.target.table for cell in cells if cell.target}
    return len(set().union(*map(sources, named)) - shown)


def counts(tables: Iterable[Table]) -> Counts:
    """Count verdicts.

    Parameters
    ----------
    tables : iterable of Table
        In each of the tallies a published number counts once, see `distinct`. So the sum of the
        tables may be larger than the tally of their paper.

    Returns
    -------
    Counts
    """
    tables = list(tables)
    of_papers = [table for table in tables if table.paper]
    papers: dict[str, list[Cell]] = {}
    algorithms: dict[str, list[Cell]] = {}
    for table in of_papers:
        papers.setdefault(table.paper, []).extend(table.cells.values())
        for cell in table.cells.values():
            algorithms.setdefault(cell.algo, []).append(cell)
    return Counts(
        total=Tally.of(cell for table in of_papers for cell in table.cells.values()),
        papers={name: Tally.of(cells) for name, cells in papers.items()},
        tables={table.name: Tally.of(table.cells.values()) for table in tables},
        algorithms={name: Tally.of(cells) for name, cells in algorithms.items()},
    )
