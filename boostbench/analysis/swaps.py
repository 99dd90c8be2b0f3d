"""Comparison of our numbers with the published numbers of other algorithms.

A verdict confirms the level of the errors and the protocol. The share of other algorithms' numbers
that would have been reproduced as well shows how far a verdict identifies the algorithm.
"""

from collections.abc import Sequence
from typing import NamedTuple

from boostbench.analysis.cells import unique_by_number
from boostbench.analysis.statistics.agreement import Agreement
from boostbench.analysis.tables import Table


class Swaps(NamedTuple):
    """Counts of numbers that are reproduced, beside their own published number and beside others.

    Attributes
    ----------
    own, own_alike, n_own : int
        Numbers that are reproduced beside the published number of their algorithm, numbers that do
        not differ from it measurably, and all numbers.
    other, other_alike, n_other : int
        The same for all pairs of a number and a published number of another algorithm on the same
        data.
    """

    own: int = 0
    own_alike: int = 0
    n_own: int = 0
    other: int = 0
    other_alike: int = 0
    n_other: int = 0

    def __str__(self) -> str:
        if not self.n_other:
            return "-"
        return f"{self.own / self.n_own:.0%} / {self.other / self.n_other:.0%}"


def swaps(tables: Sequence[Table]) -> Swaps:
    """Set each number beside the published ones of other algorithms, in its row.

    Numbers after other boosting rounds are no others. A published number that several of our
    columns, rows or tables have counts once: where the first of them has others beside it.
    """
    own, other = [], []
    counted: set[object] = set()
    for table in tables:
        for row in table.rows:
            cells = [table.cells[row, name] for name in table.results]
            cells = [cell for cell in cells if cell.agreement]
            for cell in unique_by_number(cells):
                others = (o for o in cells if o.algo != cell.algo and o.rounds == cell.rounds)
                beside = [cell.compare_with(other.target) for other in unique_by_number(others)]
                number = cell.published_id or id(cell)
                if beside and number not in counted:
                    counted.add(number)
                    own.append(cell.agreement)
                    other += beside
    return Swaps(*_count(own), *_count(other))


def _count(agreements: Sequence[Agreement]) -> tuple[int, int, int]:
    """Count the agreements that are reproduced, those without a difference, and all."""
    reproduced = sum(agreement.verdict == "reproduced" for agreement in agreements)
    alike = sum(not agreement.differs for agreement in agreements)
    return reproduced, alike, len(agreements)
