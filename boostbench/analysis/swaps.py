"""Comparison of our numbers with the published numbers of other algorithms.

A verdict confirms the level of the errors and the protocol. The share of other algorithms' numbers
that would have been reproduced as well shows how far a verdict identifies the algorithm.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
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


class RowComparison(NamedTuple):
    """Comparisons of one number.

    Attributes
    ----------
    number : object
        Identifier of the published number, or of the cell without one.
    agreement : Agreement
        Comparison with the published number of its algorithm.
    rival_agreements : list of Agreement
        Comparisons with the published numbers of the other algorithms in the row, after the same
        number of boosting rounds.
    """

    number: object
    agreement: Agreement
    rival_agreements: list[Agreement]


def compare_within_rows(table: Table) -> list[RowComparison]:
    """Compare each number of a table with the published numbers of its row, if there are others."""
    comparisons = []
    for row in table.rows:
        judged = [table.cells[row, name] for name in table.results]
        judged = [cell for cell in judged if cell.agreement]
        for cell in unique_by_number(judged):
            rivals = (o for o in judged if o.algo != cell.algo and o.rounds == cell.rounds)
            agreements = [cell.compare_with(other.target) for other in unique_by_number(rivals)]
            if agreements:
                number = cell.published_id or id(cell)
                comparisons.append(RowComparison(number, cell.agreement, agreements))
    return comparisons


def count_swaps(comparisons: Iterable[RowComparison]) -> Swaps:
    """Count the comparisons of tables.

    A published number that several columns, rows or tables have counts once: the first time.
    """
    first: dict[object, RowComparison] = {}
    for comparison in comparisons:
        first.setdefault(comparison.number, comparison)
    same = [comparison.agreement for comparison in first.values()]
    other = [
        agreement for comparison in first.values() for agreement in comparison.rival_agreements
    ]
    return Swaps(*_count(same), *_count(other))


def swaps(tables: Sequence[Table]) -> Swaps:
    """Count the comparisons of numbers with the published numbers in their row, see `Swaps`."""
    return count_swaps(chain.from_iterable(map(compare_within_rows, tables)))


def _count(agreements: Sequence[Agreement]) -> tuple[int, int, int]:
    """Count the agreements that are reproduced, those without a difference, and all."""
    reproduced = sum(agreement.verdict == "reproduced" for agreement in agreements)
    alike = sum(not agreement.differs for agreement in agreements)
    return reproduced, alike, len(agreements)
