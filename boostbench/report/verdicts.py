"""How much is reproduced: verdicts counted, per paper, table and algorithm."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from boostbench.report.cells import Cell
from boostbench.report.tables import Table

#: Every verdict that a cell can have, in the order in which they are told: what was compared, what
#: lacks a number of ours, what lacks one of the paper's.
VERDICTS = (
    *("reproduced", "better", "worse"),
    *("failed", "not reached", "not run", "not available"),
    "not published",
)
COMPARED = VERDICTS[:3]

#: What each verdict says of a test error.
MEANING = {
    "reproduced": "the difference is within sampling error: Welch's 95% interval holds 0",
    "better": "our test error is lower than the published one",
    "worse": "our test error is higher than the published one",
    "failed": "every split that was tried raised an error",
    "not reached": "fewer boosting rounds were asked for",
    "not run": "no split is on record",
    "not available": "the data cannot be had",
    "not published": "the paper gives no test error",
}


@dataclass(frozen=True)
class Tally:
    """How many cells have each verdict.

    Attributes
    ----------
    numbers : dict of str to int
        Cells by verdict, all of `VERDICTS` in their order, zeros included.
    """

    numbers: dict[str, int]

    @classmethod
    def of(cls, cells: Iterable[Cell]) -> "Tally":
        """Count the verdicts of some cells."""
        found = Counter(cell.verdict for cell in cells)
        return cls({verdict: found[verdict] for verdict in VERDICTS})

    def __getitem__(self, verdict: str) -> int:
        return self.numbers[verdict]

    @property
    def published(self) -> int:
        """Number of cells of which the paper gives the test error."""
        return sum(self.numbers.values()) - self["not published"]

    @property
    def compared(self) -> int:
        """Number of published test errors beside which there is one of ours."""
        return sum(self[verdict] for verdict in COMPARED)

    @property
    def shown(self) -> dict[str, int]:
        """What became of the published numbers, zeros left out."""
        return {v: n for v, n in self.numbers.items() if n and v != "not published"}

    def __str__(self) -> str:
        parts = ", ".join(f"{number} {verdict}" for verdict, number in self.shown.items())
        return f"{self.published} published numbers" + (f": {parts}" if parts else "")


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


def counts(tables: Iterable[Table]) -> Counts:
    """Count verdicts.

    Parameters
    ----------
    tables : iterable of Table
        Every cell counts, also where two tables, or two rows of one, show the same experiment:
        the paper's numbers are others.

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
