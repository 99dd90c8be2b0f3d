"""What tests say of the columns of a table: any two of them, and all together."""

from dataclasses import dataclass
from itertools import combinations

from boostbench.report.paired import Paired, paired
from boostbench.report.statistics.effects import Score, hedges_g, rank_biserial, score
from boostbench.report.statistics.friedman import Friedman, average_ranks, friedman, holm
from boostbench.report.statistics.wilcoxon import Wilcoxon, wilcoxon
from boostbench.report.tables import Table


@dataclass(frozen=True)
class PairTest:
    """Two columns against each other.

    Attributes
    ----------
    a, b : str
        Names of the columns.
    score : Score
        Wins, ties and losses of `a`.
    wilcoxon : Wilcoxon
        The signed-rank test.
    rank_biserial : float
        Its effect size; negative where `a` is better.
    holm : float
        P-value of the signed-rank test, corrected for the number of pairs of columns.
    nemenyi : float or None
        P-value by Nemenyi's test; None for two columns.
    """

    a: str
    b: str
    score: Score
    wilcoxon: Wilcoxon
    rank_biserial: float
    holm: float
    nemenyi: float | None


@dataclass(frozen=True)
class Comparison:
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
    """

    pairs: Paired
    ranks: dict[str, float]
    tests: list[PairTest]
    friedman: Friedman | None


def compare_columns(table: Table) -> Comparison:
    """Compare all columns of a table.

    Parameters
    ----------
    table : Table
        The pairs of numbers are its data sets; or, when it has only one, the splits.

    Returns
    -------
    Comparison
    """
    names = list(table.results)
    pairs = paired(table, names)
    if len(pairs.numbers) < 2:
        return Comparison(pairs, {}, [], None)
    losses, digits = pairs.losses, pairs.quantity.digits
    together = friedman(losses, digits) if len(names) > 2 else None
    chosen = list(combinations(range(len(names)), 2))
    signed_rank = [wilcoxon(losses[:, a], losses[:, b], digits) for a, b in chosen]
    tests = [
        PairTest(
            a=names[a],
            b=names[b],
            score=score(losses[:, a], losses[:, b], digits),
            wilcoxon=test,
            rank_biserial=rank_biserial(losses[:, a], losses[:, b], digits),
            holm=float(corrected),
            nemenyi=float(together.nemenyi[a, b]) if together else None,
        )
        for (a, b), test, corrected in zip(
            chosen, signed_rank, holm([test.p for test in signed_rank]), strict=True
        )
    ]
    ranks = dict(zip(names, average_ranks(losses).tolist(), strict=True))
    return Comparison(pairs, ranks, tests, together)


def effect(table: Table, row: str, a: str, b: str) -> float:
    """Hedges' g of two columns on one data set, over the splits; negative where `a` is lower."""
    first, second = table.cells[row, a], table.cells[row, b]
    return hedges_g(
        first.mean,
        first.std,
        len(first.values),
        second.mean,
        second.std,
        len(second.values),
    )
