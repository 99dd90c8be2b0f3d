"""Significance tests of the columns of a table, pairwise and together."""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from boostbench.analysis.paired import Paired, paired, tested_ratio
from boostbench.analysis.statistics.bayesian import Posterior, correlated_t, signed_rank
from boostbench.analysis.statistics.effects import Score, hedges_g, score
from boostbench.analysis.statistics.friedman import Friedman, average_ranks, friedman, holm
from boostbench.analysis.statistics.resampled import corrected_t
from boostbench.analysis.statistics.wilcoxon import Wilcoxon, wilcoxon
from boostbench.analysis.tables import Table


class PairTest(NamedTuple):
    """Two columns against each other.

    Attributes
    ----------
    a, b : str
        Names of the columns.
    difference : float
        Mean of `a` minus mean of `b`, in the unit of the quantity.
    score : Score
        Wins, ties and losses of `a`.
    wilcoxon : Wilcoxon
        The signed-rank test; its effect size is negative where `a` is better.
    holm : float
        P-value of the signed-rank test, corrected for the number of pairs of columns.
    nemenyi : float or None
        P-value by Nemenyi's test; None for two columns.
    posterior : Posterior or None
        Probabilities that `a` is better, that both are equal for practical purposes, and that `b`
        is better; None without a region of equivalence.
    resampled : float or None
        Of paired splits, the p-value of the corrected resampled t-test; None of data sets, and
        where splits are no random divisions.
    resampled_holm : float or None
        The same p-value, corrected for the number of pairs of columns.
    """

    a: str
    b: str
    difference: float
    score: Score
    wilcoxon: Wilcoxon
    holm: float
    nemenyi: float | None
    posterior: Posterior | None = None
    resampled: float | None = None
    resampled_holm: float | None = None


class Comparison(NamedTuple):
    """Two or more columns against each other.

    Attributes
    ----------
    pairs : Paired
        The numbers that are compared.
    ranks : dict of str to float
        Average rank of each column, 1 is the best; empty without numbers.
    tests : list of PairTest
        Each two columns, in the order of the table; empty where there are fewer than two numbers.
    friedman : Friedman or None
        The test of all together; None for two columns, or fewer than two numbers.
    rope : float or None
        Numbers that differ by no more are equal for practical purposes, in the unit of the
        quantity; None where nothing says so.
    """

    pairs: Paired
    ranks: dict[str, float]
    tests: list[PairTest]
    friedman: Friedman | None
    rope: float | None = None


def compare_columns(
    table: Table, columns: Sequence[str] | None = None, rope: float | None = None
) -> Comparison:
    """Compare columns of a table.

    Parameters
    ----------
    table : Table
        The pairs of numbers are its data sets; or, when it has only one, the splits.
    columns : sequence of str, default=None
        Their names; by default all.
    rope : float, default=None
        Numbers that differ by no more are equal for practical purposes; by default one point of
        a percentage.

    Returns
    -------
    Comparison
    """
    names = list(columns or table.results)
    pairs = paired(table, names)
    if len(pairs.numbers) < 2:
        return Comparison(pairs, {}, [], None)
    if rope is None and pairs.quantity.unit == "percent":
        rope = 1.0
    losses = pairs.losses
    ranks = dict(zip(names, average_ranks(losses).tolist(), strict=True))
    together = friedman(losses, pairs.quantity.digits) if len(names) > 2 else None
    places = list(combinations(range(len(names)), 2))
    apart = [pairs.differences(a, b) for a, b in places]
    tested = [wilcoxon(differences) for differences in apart]
    resampled, corrected = _resampled(pairs, places)
    tests = [
        PairTest(
            a=names[a],
            b=names[b],
            difference=float(np.mean(pairs.apart(a, b))),
            score=score(differences),
            wilcoxon=test,
            holm=float(p_holm),
            nemenyi=float(together.nemenyi[a, b]) if together else None,
            posterior=_posterior(pairs, a, b, differences, rope),
            resampled=p_resampled,
            resampled_holm=p_resampled_holm,
        )
        for (a, b), differences, test, p_holm, p_resampled, p_resampled_holm in zip(
            places, apart, tested, holm([t.p for t in tested]), resampled, corrected, strict=True
        )
    ]
    return Comparison(pairs, ranks, tests, together, rope)


def _posterior(
    pairs: Paired, a: int, b: int, differences: np.ndarray, rope: float | None
) -> Posterior | None:
    if rope is None:
        return None
    if pairs.unit == "data sets":
        return signed_rank(differences, rope)
    if pairs.ratio is None:
        return None
    return correlated_t(pairs.quantity.sign * pairs.apart(a, b), rope, pairs.ratio)


def _resampled(
    pairs: Paired, places: Sequence[tuple[int, int]]
) -> tuple[Sequence[float | None], Sequence[float | None]]:
    """Return the p-values of the corrected resampled t-test, without and with Holm's correction."""
    if pairs.ratio is None:
        return [None] * len(places), [None] * len(places)
    p = [corrected_t(pairs.apart(a, b), pairs.ratio) for a, b in places]
    return p, holm(p).tolist()


def effect(table: Table, row: str, a: str, b: str) -> float:
    """Hedges' g of two columns on one data set, over the splits; negative where `a` is lower."""
    cells = [table.cells[row, name] for name in (a, b)]
    first, second = ((cell.mean, cell.std, len(cell.values)) for cell in cells)
    return hedges_g(*first, *second)


def split_test(table: Table, row: str, a: str, b: str) -> float | None:
    """Test two columns on one data set, over the splits that both have: see `corrected_t`.

    Returns
    -------
    float or None
        P-value; None where splits are no random divisions, or fewer than two are shared.
    """
    cells = [table.cells[row, name] for name in (a, b)]
    first, second = (cell.values for cell in cells)
    shared = sorted(first.keys() & second.keys())
    ratio = tested_ratio(cells)
    if ratio is None or len(shared) < 2:
        return None
    return corrected_t([first[split] - second[split] for split in shared], ratio)
