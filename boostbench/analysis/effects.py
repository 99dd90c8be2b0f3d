"""Replication of effects, the differences between algorithms that a paper's table shows.

A verdict judges the level of one number. A paper is read for its comparisons, so this module counts
the pairs of algorithms that the paper's own numbers separate, and whether ours order and separate
them, too.
"""

from collections.abc import Sequence
from itertools import combinations
from math import isnan
from typing import NamedTuple

from boostbench.analysis.cells import Cell, unique_by_number
from boostbench.analysis.statistics.agreement import Agreement, agreement
from boostbench.analysis.tables import Table

# Decimals to which our own numbers are rounded: none are cut off.
_FULL_DIGITS = 9


class Effects(NamedTuple):
    """Counts of the pairs of algorithms that a paper's numbers separate on one data set.

    Attributes
    ----------
    separated : int
        Pairs whose published numbers differ at 5%, by the published deviations.
    same_sign : int
        Pairs of them whose difference has the same sign in our numbers.
    significant : int
        Pairs of them that have the same sign and differ at 5%, by our deviations.
    reversed_significant : int
        Pairs of them that have the opposite sign and differ at 5%.
    """

    separated: int = 0
    same_sign: int = 0
    significant: int = 0
    reversed_significant: int = 0

    def __str__(self) -> str:
        if not self.separated:
            return "-"
        signs, significant = (n / self.separated for n in self[1:3])
        return f"{self.separated}: {signs:.0%} / {significant:.0%}"


def effects(tables: Sequence[Table]) -> Effects:
    """Count the effects that a paper's tables show, and those that our numbers replicate.

    Both sides have the same test, Welch's of two unpaired means: a paper gives no numbers of single
    splits. Pairs are numbers of two algorithms after the same number of rounds, in one row. A pair
    of published numbers counts once, even if several tables show it.

    Parameters
    ----------
    tables : sequence of Table

    Returns
    -------
    Effects
    """
    counted: set[frozenset] = set()
    signs, significant = [], []
    for table in tables:
        for row in table.rows:
            cells = [table.cells[row, name] for name in table.results]
            cells = unique_by_number(cell for cell in cells if cell.agreement)
            for a, b in combinations(cells, 2):
                pair = frozenset(cell.published_id or id(cell) for cell in (a, b))
                theirs = _published_effect(a, b)
                if theirs is None or not theirs.differs or pair in counted:
                    continue
                counted.add(pair)
                ours = _our_effect(a, b)
                signs.append(ours.difference * theirs.difference > 0)
                significant.append(ours.differs)
    both = list(zip(signs, significant, strict=True))
    return Effects(len(both), sum(signs), both.count((True, True)), both.count((False, True)))


def _published_effect(a: Cell, b: Cell) -> Agreement | None:
    """Compare two published numbers; None if they are not of two algorithms with deviations."""
    first, second = a.target, b.target
    repeated = all(t.n > 1 and not isnan(t.std) for t in (first, second))
    if a.algo == b.algo or a.rounds != b.rounds or not repeated:
        return None
    return agreement(
        *(first.mean, first.std, first.n, second.mean, second.std, second.n),
        first.quantity.digits,
        folds=a.fold_ratio,
    )


def _our_effect(a: Cell, b: Cell) -> Agreement:
    """Compare our numbers of two cells."""
    return agreement(
        *(a.mean, a.std, len(a.values), b.mean, b.std, len(b.values)),
        _FULL_DIGITS,
        folds=a.fold_ratio,
    )
