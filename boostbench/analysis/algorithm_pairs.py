"""Pairs of algorithms in a row of a table.

A verdict judges the level of one number. Three other questions are about two algorithms:

1. *Effects* are the pairs of algorithms that the paper's own numbers separate: do our numbers order
   and separate them, too?
2. *Swaps* compare each number with the published numbers of the other algorithms. The share that
   would be reproduced beside them as well shows how far a verdict identifies the algorithm.
3. *Claims* are the paper's sentences about pairs of columns, which tests over our splits confirm or
   contradict.

`boostbench.analysis.verdicts` counts effects and swaps; documents show the judged claims.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from math import isnan
from typing import NamedTuple

from boostbench.analysis.cells import Cell, pair_numbers, test_train_ratio, unique_by_number
from boostbench.analysis.result_table import Table
from boostbench.analysis.statistics import LEVEL
from boostbench.analysis.statistics.agreement import Agreement, compare_means
from boostbench.analysis.statistics.resampled import p_above, p_below
from boostbench.papers.notes import Claim

# Decimals for comparisons of our own numbers, which are not rounded to the paper's decimals: the
# variance of the rounding is then negligible.
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
        Pairs of them that have the same sign and differ at 5% in our numbers too, by our
        deviations.
    reversed_significant : int
        Pairs of them that have the opposite sign in our numbers and differ at 5%.
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
        Identifiers of the two published numbers, so that a pair of two tables is recognized.
    has_same_sign : bool
        Whether our numbers have the same order.
    differs : bool
        Whether our numbers differ at 5%.
    """

    pair: frozenset
    has_same_sign: bool
    differs: bool


def find_effects(table: Table) -> list[PairEffect]:
    """Return the pairs of algorithms that the published numbers of a table separate.

    Both sides have the same test, Welch's of two unpaired means: a paper gives no numbers of single
    splits. Pairs are numbers of two algorithms after the same number of rounds, in one row.
    """
    pair_effects = []
    for row in table.rows:
        cells = [table.cells[row, name] for name in table.result_columns]
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
    effect_by_pair = {effect.pair: effect for effect in reversed(list(effects_of_tables))}
    distinct = effect_by_pair.values()
    return Effects(
        separated=len(distinct),
        same_sign=sum(effect.has_same_sign for effect in distinct),
        significant=sum(effect.has_same_sign and effect.differs for effect in distinct),
        reversed_significant=sum(
            not effect.has_same_sign and effect.differs for effect in distinct
        ),
    )


def _published_effect(a: Cell, b: Cell) -> Agreement | None:
    """Compare two published numbers; None if they are not of two algorithms with deviations.

    An `Agreement` compares any two means; the second takes the place of the published one.
    """
    first, second = a.target, b.target
    repeated = all(t.n > 1 and not isnan(t.std) for t in (first, second))
    if a.algo == b.algo or a.rounds != b.rounds or not repeated:
        return None
    return compare_means(
        *(first.mean, first.std, first.n, second.mean, second.std, second.n),
        digits=first.quantity.digits,
        folds=a.fold_ratio,
    )


def _our_effect(a: Cell, b: Cell) -> Agreement:
    """Compare our numbers of two cells."""
    return compare_means(
        *(a.mean, a.std, len(a.numbers), b.mean, b.std, len(b.numbers)),
        digits=_FULL_DIGITS,
        folds=a.fold_ratio,
    )


class Swaps(NamedTuple):
    """Counts of numbers that are reproduced, beside their own published number and beside others.

    Attributes
    ----------
    own : int
        Numbers that are reproduced beside the published number of their algorithm.
    own_alike : int
        Numbers that do not differ from this published number at 5%.
    n_own : int
        All numbers.
    other, other_alike, n_other : int
        The same three counts of pairs: a number, and a published number of another algorithm on the
        same data.
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


class NumberComparison(NamedTuple):
    """Comparisons of one number with its own published number and with its rivals.

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


def compare_rows(table: Table) -> list[NumberComparison]:
    """Compare each number of a table with the published numbers of its row, if there are others."""
    comparisons = []
    for row in table.rows:
        judged = [table.cells[row, name] for name in table.result_columns]
        judged = [cell for cell in judged if cell.agreement]
        for cell in unique_by_number(judged):
            # Rivals are the cells of other algorithms in the row, after the same number of rounds.
            rivals = unique_by_number(
                other for other in judged if other.algo != cell.algo and other.rounds == cell.rounds
            )
            agreements = [cell.compare_with(rival.target) for rival in rivals]
            if agreements:
                number = cell.published_id or id(cell)
                comparisons.append(NumberComparison(number, cell.agreement, agreements))
    return comparisons


def count_swaps(comparisons: Iterable[NumberComparison]) -> Swaps:
    """Count the comparisons that are reproduced, and that show no difference.

    A published number that several columns, rows or tables have counts once: the first time.
    """
    # The list is reversed, so that the first comparison of a number replaces the later ones.
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


def _count_reproduced(agreements: Sequence[Agreement]) -> int:
    return sum(agreement.verdict == "reproduced" for agreement in agreements)


def _count_alike(agreements: Sequence[Agreement]) -> int:
    return sum(not agreement.differs for agreement in agreements)


# Up to this many missing comparisons are named; more are counted, to keep the sentence short.
_MAX_NAMED = 5

#: Explains the sentences of `judge_claims`.
CLAIMS_EXPLANATION = (
    f"Claims are judged by one-sided paired t-tests over the splits of each row, at {LEVEL:.0%}: a "
    "claim holds where every comparison confirms it, and does not hold where one contradicts it "
    "after Bonferroni's correction. For new samples, the tests have Nadeau and Bengio's "
    "correction, as the splits share samples; on these splits they have none. Where all splits "
    "test the same part, the correction does not exist."
)


class ClaimTest(NamedTuple):
    """Tests of a claim for two columns in a row.

    Attributes
    ----------
    place : str
        Row and columns.
    support_p, contradiction_p : float
        P-values of the one-sided tests for the claim and for its opposite. NaN where fewer than two
        splits have both numbers.
    test_train_ratio : float or None
        Number of test samples per training sample, for the correction; None where the splits are
        no random divisions, so that there is no correction.
    """

    place: str
    support_p: float
    contradiction_p: float
    test_train_ratio: float | None

    @property
    def is_confirmed(self) -> bool:
        """True if the splits confirm the claim; comparisons with NaN are False."""
        return self.support_p <= LEVEL


class ClaimVerdict(NamedTuple):
    """Verdict on a claim under one reading.

    Attributes
    ----------
    verdict : str
        ``"holds"``, ``"does not hold"`` or ``"is undecided"``.
    n_confirmed : int
        Number of comparisons that confirm the claim.
    contradicting, undecided : list of ClaimTest
        Comparisons that contradict it after Bonferroni's correction, and comparisons that do
        neither.
    """

    verdict: str
    n_confirmed: int
    contradicting: list[ClaimTest]
    undecided: list[ClaimTest]


def _combine_tests(tests: Sequence[ClaimTest]) -> ClaimVerdict:
    """Return the verdict on a claim by the tests of its comparisons."""
    contradicting = [test for test in tests if test.contradiction_p * len(tests) <= LEVEL]
    undecided = [test for test in tests if not test.is_confirmed and test not in contradicting]
    if contradicting:
        verdict = "does not hold"
    else:
        verdict = "is undecided" if undecided else "holds"
    return ClaimVerdict(verdict, sum(test.is_confirmed for test in tests), contradicting, undecided)


def judge_claims(table: Table) -> list[str]:
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
        if all(isnan(test.support_p) for test in tests):
            sentences.append(f"“{claim.says}” is undecided: nothing of it is on record.")
            continue
        # 2) Other claims have a verdict for new samples, and one on these splits.
        needs_explanation = True
        new_samples = _combine_tests(tests)
        these_splits = _combine_tests(
            list(_compare_columns_of_claim(table, claim, corrected=False))
        )
        recorded = [test for test in new_samples.undecided if not isnan(test.support_p)]
        sentences.append(
            f"“{claim.says}” {_verdict_text(new_samples, these_splits, tests)}"
            f"{_list_places('Against it', new_samples.contradicting)}"
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
    if all(test.test_train_ratio is None for test in tests):
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
            first, second = pair_numbers(cells).T
            differences = cells[0].quantity.sign * (first - claim.times * second)
            split_ratio = test_train_ratio(cells)
            ratio = (split_ratio or 0.0) if corrected else 0.0  # 0: the test has no correction
            # Differences below 0 support "better"; differences within the limits support "alike",
            # which two one-sided tests have to show.
            if claim.within is None:
                support_p = p_below(differences, 0.0, ratio)
                contradiction_p = p_above(differences, 0.0, ratio)
            else:
                low, high = -claim.within, claim.within
                support_p = max(p_above(differences, low, ratio), p_below(differences, high, ratio))
                # The difference may lie beyond either limit. The factor 2 is Bonferroni's for the
                # two tests.
                contradiction_p = 2 * min(
                    p_below(differences, low, ratio), p_above(differences, high, ratio)
                )
            labels = f"{table.columns[a].label} against {table.columns[b].label}"
            place = f"{table.rows[row]} ({labels})"
            yield ClaimTest(place, support_p, contradiction_p, split_ratio)


def _list_missing(compared: Sequence[ClaimTest]) -> str:
    """Return the comparisons that are not on record, or their number if there are many."""
    absent = [test for test in compared if isnan(test.support_p)]
    if len(absent) > _MAX_NAMED:
        return f" Not on record: {len(absent)} comparisons."
    return _list_places("Not on record", absent)


def _list_places(heading: str, compared: Sequence[ClaimTest]) -> str:
    """Return a sentence that names the comparisons after a heading; empty without any."""
    places = "; ".join(test.place for test in compared)
    return f" {heading}: {places}." if compared else ""
