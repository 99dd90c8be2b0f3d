"""What a verdict can tell: our numbers beside the published numbers of other algorithms.

A verdict confirms what is alike: the level of the errors and the protocol. How often another
algorithm's number would have been confirmed as well says how much it tells of the algorithm itself.
"""

from collections.abc import Sequence
from typing import NamedTuple

from boostbench.report.cells import distinct
from boostbench.report.statistics.agreement import Agreement
from boostbench.report.tables import Table


class Swaps(NamedTuple):
    """How often our numbers agree with published ones, of the same algorithm and of others.

    To agree is to be *reproduced* or *undecided*.

    Attributes
    ----------
    own, n_own : int
        Of so many numbers so many agree with the published number of their own algorithm.
    other, n_other : int
        The same numbers beside each published number of another algorithm, on the same data.
    """

    own: int = 0
    n_own: int = 0
    other: int = 0
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
            for cell in distinct(cells):
                others = (o for o in cells if o.algo != cell.algo and o.rounds == cell.rounds)
                beside = [cell.beside(other.target) for other in distinct(others)]
                number = cell.number or id(cell)
                if beside and number not in counted:
                    counted.add(number)
                    own.append(_agrees(cell.agreement))
                    other += map(_agrees, beside)
    return Swaps(sum(own), len(own), sum(other), len(other))


def _agrees(agreement: Agreement) -> bool:
    return agreement.verdict in ("reproduced", "undecided")
