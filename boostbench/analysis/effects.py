"""Replication of effects, the differences between algorithms that a paper's table shows.

A verdict judges the level of one number. A paper is read for its comparisons, so this module counts
the pairs of algorithms that the paper's own numbers separate, and whether ours order and separate
them, too.
"""

from collections.abc import Iterable, Sequence
from itertools import chain, combinations
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


class PairEffect(NamedTuple):
    """Pair of algorithms that the published numbers separate.

    Attributes
    ----------
    pair : frozenset
        Identifiers of the two published numbers.
    has_same_sign : bool
        Whether our numbers have the same order.
    differs : bool
        Whether our numbers differ at 5%.
    """

    pair: frozenset
    has_same_sign: bool
    differs: bool


def find_effects(table: Table) -> list[PairEffect]:
    """Return the pairs of algorithms that the published numbers of a table separate."""
    pair_effects = []
    for row in table.rows:
        cells = [table.cells[row, name] for name in table.results]
        cells = unique_by_number(cell for cell in cells if cell.agreement)
        for a, b in combinations(cells, 2):
            theirs = _published_effect(a, b)
            if theirs is not None and theirs.differs:
                pair = frozenset(cell.published_id or id(cell) for cell in (a, b))
                ours = _our_effect(a, b)
                has_same_sign = ours.difference * theirs.difference > 0
                pair_effects.append(PairEffect(pair, has_same_sign, ours.differs))
    return pair_effects


def count_effects(effects_of_tables: Iterable[PairEffect]) -> Effects:
    """Count the effects that a paper's tables show, and those that our numbers replicate.

    A pair of published numbers counts once, even if several tables show it.
    """
    first: dict[frozenset, PairEffect] = {}
    for effect in effects_of_tables:
        first.setdefault(effect.pair, effect)
    both = [(effect.has_same_sign, effect.differs) for effect in first.values()]
    n_same_sign = sum(has_same_sign for has_same_sign, _ in both)
    return Effects(len(both), n_same_sign, both.count((True, True)), both.count((False, True)))


def effects(tables: Sequence[Table]) -> Effects:
    """Count the effects that tables show, and those that our numbers replicate.

    Both sides have the same test, Welch's of two unpaired means: a paper gives no numbers of single
    splits. Pairs are numbers of two algorithms after the same number of rounds, in one row.

    Parameters
    ----------
    tables : sequence of Table

    Returns
    -------
    Effects
    """
    return count_effects(chain.from_iterable(map(find_effects, tables)))


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
