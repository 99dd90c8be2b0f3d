"""Judgement of the claims of a paper by the recorded splits."""

from collections.abc import Iterator, Sequence
from math import isnan
from typing import NamedTuple

from boostbench.analysis.cells import Cell
from boostbench.analysis.comparison import tested_ratio
from boostbench.analysis.statistics import LEVEL
from boostbench.analysis.statistics.resampled import p_above, p_below
from boostbench.analysis.tables import Table
from boostbench.papers.notes import Claim

# Up to this many missing comparisons are named; more are counted.
_MAX_NAMED = 5

#: Explains the sentences of `claims`.
CLAIMS_EXPLANATION = (
    f"Claims are judged by one-sided paired t-tests over the splits of each row, at {LEVEL:.0%}: a "
    "claim holds where every comparison confirms it, and does not hold where one contradicts it "
    "after Bonferroni's correction. For new samples, the tests have Nadeau and Bengio's "
    "correction, as the splits share samples; on these splits they have none. Where all splits "
    "test the same part, the correction does not exist."
)


class ClaimTest(NamedTuple):
    """Comparison of two columns in a row.

    Attributes
    ----------
    place : str
        Row and columns.
    supports, contradicts : float
        p-values of the one-sided tests: the smaller, the more the splits confirm or contradict the
        claim. NaN where fewer than two splits have both numbers.
    ratio : float or None
        Ratio for the correction, see `tested_ratio`; None where it does not exist.
    """

    place: str
    supports: float
    contradicts: float
    ratio: float | None

    @property
    def confirmed(self) -> bool:
        """True if the splits confirm the claim; comparisons with NaN are False."""
        return self.supports <= LEVEL


class ClaimVerdict(NamedTuple):
    """Verdict on a claim under one reading.

    Attributes
    ----------
    verdict : str
        ``"holds"``, ``"does not hold"`` or ``"is undecided"``.
    n_confirmed : int
        Number of comparisons that confirm the claim.
    against, undecided : list of ClaimTest
        Comparisons that contradict it after Bonferroni's correction, and comparisons that do
        neither.
    """

    verdict: str
    n_confirmed: int
    against: list[ClaimTest]
    undecided: list[ClaimTest]

    @classmethod
    def from_tests(cls, tests: Sequence[ClaimTest]) -> "ClaimVerdict":
        """Combine the comparisons of a claim."""
        against = [test for test in tests if test.contradicts * len(tests) <= LEVEL]
        undecided = [test for test in tests if not test.confirmed and test not in against]
        verdict = "is undecided" if undecided else "holds"
        if against:
            verdict = "does not hold"
        return cls(verdict, sum(test.confirmed for test in tests), against, undecided)


def claims(table: Table) -> list[str]:
    """Judge the claims of the paper.

    Parameters
    ----------
    table : Table

    Returns
    -------
    list of str
        A sentence for each claim, with its verdict for new samples and on these splits; and an
        explanation if a claim is judged.
    """
    sentences, needs_explanation = [], False
    for claim in table.claims:
        # 1) Claims about cells with other settings, and claims without records, have no verdict.
        if _has_departures(table, claim):
            sentences.append(f"“{claim.says}” is not judged, as settings differ.")
            needs_explanation = True
            continue
        tests = list(_compare_columns_of_claim(table, claim, corrected=True))
        if all(isnan(test.supports) for test in tests):
            sentences.append(f"“{claim.says}” is undecided: nothing of it is on record.")
            continue
        # 2) Other claims have a verdict for new samples, and one on these splits.
        needs_explanation = True
        new_samples = ClaimVerdict.from_tests(tests)
        these_splits = ClaimVerdict.from_tests(
            list(_compare_columns_of_claim(table, claim, corrected=False))
        )
        recorded = [test for test in new_samples.undecided if not isnan(test.supports)]
        sentences.append(
            f"“{claim.says}” {_verdict_text(new_samples, these_splits, tests)}"
            f"{_list_places('Against it', new_samples.against)}"
            f"{_list_places('Undecided', recorded)}"
            f"{_list_missing(new_samples.undecided)}"
        )
    return [*sentences, CLAIMS_EXPLANATION] if needs_explanation else sentences


def _has_departures(table: Table, claim: Claim) -> bool:
    """Return True if a cell of the claim has other settings than the paper's table."""
    columns = {column for pair in claim.pairs for column in pair}
    return any(table.cells[row, column].departures for row in claim.rows for column in columns)


def _verdict_text(
    new_samples: ClaimVerdict, these_splits: ClaimVerdict, tests: Sequence[ClaimTest]
) -> str:
    """Return the verdicts for new samples and on these splits.

    Parameters
    ----------
    new_samples, these_splits : ClaimVerdict
        Verdict by tests with, and without, the correction for splits that share samples.
    tests : sequence of ClaimTest
        Tests for new samples.
    """
    n_tests = len(tests)
    text = f"{new_samples.verdict}: {new_samples.n_confirmed} of {n_tests} comparisons confirm it"
    if all(test.ratio is None for test in tests):
        return f"{text}, on these splits."
    # The first two fields are the verdict and the number of confirming comparisons.
    if new_samples[:2] == these_splits[:2]:
        return f"{text}, for new samples and on these splits."
    return (
        f"{text} for new samples. On these splits it {these_splits.verdict}, by "
        f"{these_splits.n_confirmed} of {n_tests}."
    )


def _compare_columns_of_claim(table: Table, claim: Claim, corrected: bool) -> Iterator[ClaimTest]:
    """Yield the comparisons of a claim.

    Parameters
    ----------
    table : Table
    claim : Claim
    corrected : bool
        Whether the tests have the correction for splits that share samples, and so are about new
        samples; else they are about these splits.
    """
    for row in claim.rows:
        for a, b in claim.pairs:
            cells = table.cells[row, a], table.cells[row, b]
            differences = _differences(*cells, claim.times)
            # The ratio 0 leaves a test without the correction.
            split_ratio = tested_ratio(cells)
            ratio = split_ratio if corrected and split_ratio else 0.0
            # Differences below 0 support "better"; differences within the limits support "alike".
            if claim.within is None:
                supports = p_below(differences, 0.0, ratio)
                contradicts = p_above(differences, 0.0, ratio)
            else:
                low, high = -claim.within, claim.within
                supports = max(p_above(differences, low, ratio), p_below(differences, high, ratio))
                # The difference may lie on either side, so two tests are made.
                contradicts = 2 * min(
                    p_below(differences, low, ratio), p_above(differences, high, ratio)
                )
            labels = f"{table.columns[a].label} against {table.columns[b].label}"
            place = f"{table.rows[row]} ({labels})"
            yield ClaimTest(place, supports, contradicts, split_ratio)


def _differences(a: Cell, b: Cell, times: float) -> list[float]:
    """Return the differences over the common splits, so that less is better for `a`."""
    shared = [split for split in a.values if split in b.values]
    return [a.quantity.sign * (a.values[split] - times * b.values[split]) for split in shared]


def _list_missing(compared: Sequence[ClaimTest]) -> str:
    """Return the comparisons that are not on record, or their number if there are many."""
    absent = [test for test in compared if isnan(test.supports)]
    if len(absent) > _MAX_NAMED:
        return f" Not on record: {len(absent)} comparisons."
    return _list_places("Not on record", absent)


def _list_places(heading: str, compared: Sequence[ClaimTest]) -> str:
    """Return a sentence that names the comparisons after a heading; empty without any."""
    places = "; ".join(test.place for test in compared)
    return f" {heading}: {places}." if compared else ""
