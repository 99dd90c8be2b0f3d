"""Pairs of algorithms in a row of a table.

A verdict judges the level of one number. A paper is read for its comparisons. *Effects* are the
pairs that the paper's own numbers separate: do our numbers order and separate them, too? *Swaps*
compare each number with the published numbers of the other algorithms: the share that would have
been reproduced as well shows how far a verdict identifies the algorithm.
"""

from collections.abc import Iterable, Sequence
from itertools import chain, combinations
from math import isnan
from typing import NamedTuple

from boostbench.analysis.cells import Cell, unique_by_number
from boostbench.analysis.statistics.agreement import Agreement, agreement
from boostbench.analysis.tables import Table

# Decimals of our own numbers; a mean over splits has no more that matter.
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
        same_sign, significant = self.same_sign / self.separated, self.significant / self.separated
        return f"{self.separated}: {same_sign:.0%} / {significant:.0%}"


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
    # The list is reversed, so that the first effect of a pair replaces the later ones.
    effect_of_pair = {effect.pair: effect for effect in reversed(list(effects_of_tables))}
    distinct = effect_of_pair.values()
    return Effects(
        separated=len(distinct),
        same_sign=sum(effect.has_same_sign for effect in distinct),
        significant=sum(effect.has_same_sign and effect.differs for effect in distinct),
        reversed_significant=sum(
            not effect.has_same_sign and effect.differs for effect in distinct
        ),
    )


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
            rivals = unique_by_number(
                other for other in judged if other.algo != cell.algo and other.rounds == cell.rounds
            )
            agreements = [cell.compare_with(rival.target) for rival in rivals]
            if agreements:
                number = cell.published_id or id(cell)
                comparisons.append(RowComparison(number, cell.agreement, agreements))
    return comparisons


def count_swaps(comparisons: Iterable[RowComparison]) -> Swaps:
    """Count the comparisons of tables.

    A published number that several columns, rows or tables have counts once: the first time.
    """
    by_number = {comparison.number: comparison for comparison in reversed(list(comparisons))}
    own_agreements = [comparison.agreement for comparison in by_number.values()]
    rival_agreements = [
        agreement for comparison in by_number.values() for agreement in comparison.rival_agreements
    ]
    return Swaps(
        own=_count_reproduced(own_agreements),
        own_alike=_count_alike(own_agreements),
        n_own=len(own_agreements),
        other=_count_reproduced(rival_agreements),
        other_alike=_count_alike(rival_agreements),
        n_other=len(rival_agreements),
    )


def swaps(tables: Sequence[Table]) -> Swaps:
    """Count the comparisons of numbers with the published numbers in their row, see `Swaps`."""
    return count_swaps(chain.from_iterable(map(compare_within_rows, tables)))


def _count_reproduced(agreements: Sequence[Agreement]) -> int:
    return sum(agreement.verdict == "reproduced" for agreement in agreements)


def _count_alike(agreements: Sequence[Agreement]) -> int:
    return sum(not agreement.differs for agreement in agreements)
