"""What a paper says of algorithms in words, judged by the splits on record."""

from collections.abc import Iterator, Sequence
from math import isnan
from typing import NamedTuple

from boostbench.report.cells import Cell
from boostbench.report.statistics import LEVEL
from boostbench.report.statistics.one_sided import p_above, p_below
from boostbench.report.tables import Claim, Table

# So many comparisons that are not on record are named.
_MOST_NAMED = 5

#: Explains the sentences of `claims`.
CLAIMS_EXPLANATION = (
    f"Claims are judged by one-sided paired t-tests over the splits of each row, at {LEVEL:.0%}: a "
    "claim holds where every comparison confirms it, and does not hold where one contradicts it "
    "after Bonferroni's correction. The splits share samples, so that p-values are too small."
)


class ClaimTest(NamedTuple):
    """Two columns in a row, and what they say of a claim.

    Attributes
    ----------
    place : str
        Names row and columns.
    supports, contradicts : float
        p-values of the one-sided tests: the smaller, the more the splits confirm or contradict the
        claim. NaN where fewer than two splits have both numbers.
    """

    place: str
    supports: float
    contradicts: float

    @property
    def confirmed(self) -> bool:
        """Whether the splits confirm the claim; comparisons with NaN are False."""
        return self.supports <= LEVEL


def claims(table: Table) -> list[str]:
    """Judge what the paper claims.

    Parameters
    ----------
    table : Table

    Returns
    -------
    list of str
        A sentence for each claim, and how they are judged if any is.
    """
    sentences, judged = [], False
    for claim in table.claims:
        compared = list(_comparisons(table, claim))
        against = [c for c in compared if c.contradicts * len(compared) <= LEVEL]
        open_ = [c for c in compared if not c.confirmed and c not in against]
        columns = {column for pair in claim.pairs for column in pair}
        if any(table.cells[row, column].departures for row in claim.rows for column in columns):
            verdict, against, open_ = "is not judged, as settings differ", [], []
        elif against:
            verdict = "does not hold"
        else:
            verdict = "is undecided" if open_ else "holds"
        if open_ and all(isnan(c.supports) for c in compared):
            sentences.append(f"“{claim.says}” is undecided: nothing of it is on record.")
            continue
        judged = True
        confirmed = sum(c.confirmed for c in compared)
        sentences.append(
            f"“{claim.says}” {verdict}: {confirmed} of {len(compared)} comparisons confirm it."
            f"{_places('Against it', against)}"
            f"{_places('Undecided', [c for c in open_ if not isnan(c.supports)])}"
            f"{_lacking(open_)}"
        )
    return [*sentences, CLAIMS_EXPLANATION] if judged else sentences


def _comparisons(table: Table, claim: Claim) -> Iterator[ClaimTest]:
    for row in claim.rows:
        for a, b in claim.pairs:
            differences = _differences(table.cells[row, a], table.cells[row, b], claim.times)
            if claim.within is None:
                supports, contradicts = p_below(differences, 0.0), p_above(differences, 0.0)
            else:
                low, high = -claim.within, claim.within
                supports = max(p_above(differences, low), p_below(differences, high))
                # It may lie on either side: two tests.
                contradicts = 2 * min(p_below(differences, low), p_above(differences, high))
            labels = f"{table.columns[a].label} against {table.columns[b].label}"
            place = f"{table.rows[row]} ({labels})"
            yield ClaimTest(place, supports, contradicts)


def _differences(a: Cell, b: Cell, times: float) -> list[float]:
    """Subtract the numbers of the splits that both have, so that less is better for `a`."""
    shared = [split for split in a.values if split in b.values]
    return [a.quantity.sign * (a.values[split] - times * b.values[split]) for split in shared]


def _lacking(compared: Sequence[ClaimTest]) -> str:
    """Say which comparisons are not on record; of many, how many."""
    absent = [c for c in compared if isnan(c.supports)]
    if len(absent) > _MOST_NAMED:
        return f" Not on record: {len(absent)} comparisons."
    return _places("Not on record", absent)


def _places(what: str, compared: Sequence[ClaimTest]) -> str:
    return f" {what}: {'; '.join(c.place for c in compared)}." if compared else ""
