"""Significance tests of the columns of a table, pairwise and together.

``boostbench compare``, the matrix below a table and the critical-difference diagrams show them.
Numbers are paired over data sets or, in a table with one data set, over its splits.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy import special

from boostbench.analysis.cells import Cell, pair_numbers, test_train_ratio
from boostbench.analysis.result_table import Table
from boostbench.analysis.statistics import finite_array
from boostbench.analysis.statistics.bayesian import Posterior, correlated_t, signed_rank
from boostbench.analysis.statistics.friedman import Friedman, average_ranks, friedman, holm
from boostbench.analysis.statistics.resampled import corrected_t
from boostbench.analysis.statistics.wilcoxon import Wilcoxon, wilcoxon
from boostbench.fitting.quantities import Quantity
from boostbench.util.numbers import differences, rounded


@dataclass(frozen=True)
class PairedNumbers:
    """Numbers of several columns on the data sets or splits that all of them have.

    Attributes
    ----------
    numbers : ndarray of shape (n_pairs, n_columns), float64
        Means over the splits, or the numbers of the splits if the table has one data set.
    quantity : Quantity
        Quantity of the numbers.
    unit : {"data sets", "paired splits"}
        Meaning of the rows of `numbers`.
    left_out : list of str
        Titles of the data sets on which some of the columns have no number.
    test_train_ratio : float or None
        Number of test samples divided by the number of training samples, for paired splits; None
        for data sets, and where splits are no random divisions. See `test_train_ratio`.
    repeated : list of str
        Titles of rows with the data and the settings of a row before them, which count once.
    """

    numbers: np.ndarray
    quantity: Quantity
    unit: str
    left_out: list[str]
    test_train_ratio: float | None = None
    repeated: list[str] = field(default_factory=list)

    @property
    def n_pairs(self) -> int:
        """Number of data sets or splits."""
        return len(self.numbers)

    @property
    def losses(self) -> np.ndarray:
        """Printed numbers, negated if more is better, so that the lower one is the better."""
        return rounded(self.quantity.sign * self.numbers, self.quantity.digits)

    def differences(self, a: int, b: int) -> np.ndarray:
        """Return the printed losses of column `a` minus `b`'s, of shape (n_pairs,)."""
        return differences(*self.losses.T[[a, b]], self.quantity.digits)

    def exact_differences(self, a: int, b: int) -> np.ndarray:
        """Return the numbers of column `a` minus the numbers of `b`, of shape (n_pairs,)."""
        return self.numbers[:, a] - self.numbers[:, b]

    @property
    def note(self) -> str | None:
        """Sentence on the rows that are left out; None without any."""
        sentences = []
        if self.left_out:
            n, are = len(self.left_out), "sets are" if len(self.left_out) > 1 else "set is"
            sentences.append(
                f"{n} data {are} left out, where a number is missing: {', '.join(self.left_out)}."
            )
        if self.repeated:
            rows = ", ".join(self.repeated)
            sentences.append(f"The data and settings of a row before, which count once: {rows}.")
        return " ".join(sentences) or None


class Score(NamedTuple):
    """Numbers of data sets on which the first of two algorithms wins, ties and loses."""

    wins: int
    ties: int
    losses: int

    def __str__(self) -> str:
        return f"{self.wins}/{self.ties}/{self.losses}"


class PairTest(NamedTuple):
    """Result of the tests of two columns.

    Attributes
    ----------
    a, b : str
        Names of the columns.
    difference : float
        Mean of `a` minus mean of `b`, in the unit of the quantity.
    score : Score
        Wins, ties and losses of `a`.
    wilcoxon : Wilcoxon
        The signed-rank test; its effect_size_on_row size is negative where `a` is better.
    holm_p : float
        P-value of the signed-rank test with Holm's correction for the number of pairs of columns.
    nemenyi_p : float or None
        P-value by Nemenyi's test; None for two columns.
    posterior : Posterior or None
        Probabilities that `a` is better, that both are equal for practical purposes, and that `b`
        is better; None without a region of equivalence.
    resampled_p : float or None
        P-value of the corrected resampled t-test for paired splits; None for data sets, and where
        splits are no random divisions.
    resampled_holm_p : float or None
        `resampled_p` with Holm's correction for the number of pairs of columns.
    """

    a: str
    b: str
    difference: float
    score: Score
    wilcoxon: Wilcoxon
    holm_p: float
    nemenyi_p: float | None
    posterior: Posterior | None = None
    resampled_p: float | None = None
    resampled_holm_p: float | None = None


class Comparison(NamedTuple):
    """Results of the tests of two or more columns.

    Attributes
    ----------
    paired_numbers : PairedNumbers
        The numbers that are compared.
    ranks : dict of str to float
        Average rank of each column, 1 is the best; empty without numbers.
    tests : list of PairTest
        Tests of each two columns, in the order of the table; empty with fewer than two pairs of
        numbers.
    friedman : Friedman or None
        The test of all columns together; None for two columns, or fewer than two numbers.
    rope : float or None
        Region of practical equivalence: numbers that differ by no more are equal for practical
        purposes, in the unit of the quantity. None: there is no such region.
    """

    paired_numbers: PairedNumbers
    ranks: dict[str, float]
    tests: list[PairTest]
    friedman: Friedman | None
    rope: float | None = None


def pair_columns(table: Table, columns: Sequence[str]) -> PairedNumbers:
    """Collect the numbers of a table that tests can compare.

    Parameters
    ----------
    table : Table
        Table; its `uncounted` rows, second versions of the same data, take no part.
    columns : sequence of str
        Names of the columns.

    Returns
    -------
    PairedNumbers
    """
    # 1) Find the rows with a number of each column.
    rows = {
        row: [table.cells[row, column] for column in columns]
        for row in table.rows
        if row not in table.uncounted
    }
    left_out = [row for row, cells in rows.items() if not all(cell.numbers for cell in cells)]
    # 2) Keep the first of several rows with the same experiments.
    row_of_experiments = {}
    for row, cells in rows.items():
        if row not in left_out:
            row_of_experiments.setdefault(tuple(map(_experiment_key, cells)), row)
    distinct = list(row_of_experiments.values())
    repeated = [row for row in rows if row not in left_out and row not in distinct]
    # 3) Pair the numbers. A table with one row has a pair for each split, another one for each row.
    cells_of_rows = [rows[row] for row in distinct]
    if len(table.rows) == 1:
        cells = cells_of_rows[0] if cells_of_rows else []
        pairs = pair_numbers(cells) if cells else []
        unit, ratio = "paired splits", test_train_ratio(cells)
    else:
        pairs = [[cell.mean for cell in cells] for cells in cells_of_rows]
        unit, ratio = "data sets", None
    return PairedNumbers(
        numbers=np.array(pairs, dtype=float).reshape(-1, len(columns)),
        quantity=table.columns[columns[0]].quantity,
        unit=unit,
        left_out=[table.rows[row] for row in left_out],
        test_train_ratio=ratio,
        repeated=[table.rows[row] for row in repeated],
    )


def _experiment_key(cell: Cell) -> str:
    """Return the settings and the data of an experiment as text, without the seed.

    Rows with equal texts are one experiment under two names.
    """
    config = cell.config
    settings = {**config.content, "data": config.data.checksum, "seed": None}
    return json.dumps(settings, sort_keys=True)


def compare_columns(
    table: Table, columns: Sequence[str] | None = None, rope: float | None = None
) -> Comparison:
    """Compare columns of a table.

    Parameters
    ----------
    table : Table
        Table. Numbers are paired over its data sets; in a table with one data set, over its splits.
    columns : sequence of str, default=None
        Names of the columns; by default all.
    rope : float, default=None
        Region of practical equivalence: numbers that differ by no more are equal for practical
        purposes; by default one point of a percentage.

    Returns
    -------
    Comparison
    """
    # 1) Pair the numbers of the columns.
    names = list(columns or table.result_columns)
    paired_numbers = pair_columns(table, names)
    if paired_numbers.n_pairs < 2:
        return Comparison(paired_numbers, {}, [], None)
    if rope is None and paired_numbers.quantity.unit == "percent":
        rope = 1.0
    # 2) Test all columns together, by their ranks.
    losses = paired_numbers.losses
    ranks = dict(zip(names, average_ranks(losses).tolist(), strict=True))
    friedman_test = friedman(losses, paired_numbers.quantity.digits) if len(names) > 2 else None
    # 3) Test each two columns. Holm's corrections are for all pairs.
    column_pairs = list(combinations(range(len(names)), 2))
    printed_differences = [paired_numbers.differences(a, b) for a, b in column_pairs]
    tested = [wilcoxon(differences) for differences in printed_differences]
    resampled_p, resampled_holm_p = _resampled_p_values(paired_numbers, column_pairs)
    tests = [
        PairTest(
            a=names[a],
            b=names[b],
            difference=float(np.mean(paired_numbers.exact_differences(a, b))),
            score=score(differences),
            wilcoxon=test,
            holm_p=float(p_holm),
            nemenyi_p=float(friedman_test.nemenyi[a, b]) if friedman_test else None,
            posterior=_posterior(paired_numbers, a, b, differences, rope),
            resampled_p=p_resampled,
            resampled_holm_p=p_resampled_holm,
        )
        for (a, b), differences, test, p_holm, p_resampled, p_resampled_holm in zip(
            column_pairs,
            printed_differences,
            tested,
            holm([test.p for test in tested]),
            resampled_p,
            resampled_holm_p,
            strict=True,
        )
    ]
    return Comparison(paired_numbers, ranks, tests, friedman_test, rope)


def _posterior(
    paired_numbers: PairedNumbers, a: int, b: int, differences: np.ndarray, rope: float | None
) -> Posterior | None:
    """Return the probabilities that column `a` is better than `b`, equivalent, or worse.

    Parameters
    ----------
    paired_numbers : PairedNumbers
    a, b : int
        Positions of the columns.
    differences : ndarray of shape (n_pairs,)
        Printed losses of `a` minus the printed losses of `b`.
    rope : float or None
        Half of the width of the region of practical equivalence, in the unit of the numbers.

    Returns
    -------
    Posterior or None
        None without a region, and for splits that are no random divisions.
    """
    if rope is None:
        return None
    if paired_numbers.unit == "data sets":
        return signed_rank(differences, rope)
    if paired_numbers.test_train_ratio is None:
        return None
    return correlated_t(
        paired_numbers.quantity.sign * paired_numbers.exact_differences(a, b),
        rope,
        paired_numbers.test_train_ratio,
    )


def _resampled_p_values(
    paired_numbers: PairedNumbers, column_pairs: Sequence[tuple[int, int]]
) -> tuple[Sequence[float | None], Sequence[float | None]]:
    """Return the p-values of the corrected resampled t-test, without and with Holm's correction."""
    ratio = paired_numbers.test_train_ratio
    if ratio is None:
        return [None] * len(column_pairs), [None] * len(column_pairs)
    p = [corrected_t(paired_numbers.exact_differences(a, b), ratio) for a, b in column_pairs]
    return p, holm(p).tolist()


def effect_size_on_row(table: Table, row: str, a: str, b: str) -> float:
    """Return Hedges' g of two columns over the splits of a row; negative where `a` is lower."""
    cells = [table.cells[row, name] for name in (a, b)]
    first, second = ((cell.mean, cell.std, len(cell.numbers)) for cell in cells)
    return hedges_g(*first, *second)


def corrected_t_on_row(table: Table, row: str, a: str, b: str) -> float | None:
    """Test two columns on one data set, over the splits that both have: see `corrected_t`.

    Returns
    -------
    float or None
        P-value; None where splits are no random divisions, or fewer than two are shared.
    """
    cells = [table.cells[row, name] for name in (a, b)]
    first, second = pair_numbers(cells).T
    ratio = test_train_ratio(cells)
    return None if ratio is None or len(first) < 2 else corrected_t(first - second, ratio)


def score(differences: Sequence[float]) -> Score:
    """Count wins, ties and losses by `boostbench.util.numbers.differences`; less is a win.

    Examples
    --------
    >>> str(score(np.array([-0.5, 0.0, 1.0])))
    '1/1/1'
    """
    signs = np.sign(finite_array(differences))
    return Score(*(int(np.sum(signs == sign)) for sign in (-1, 0, 1)))


def hedges_g(mean_a: float, std_a: float, n_a: int, mean_b: float, std_b: float, n_b: int) -> float:
    """Hedges' g: a difference of two means in standard deviations, without the bias of few samples.

    Parameters
    ----------
    mean_a, std_a, n_a : float, float, int
        Mean, sample standard deviation and number of repeats of the first.
    mean_b, std_b, n_b : float, float, int
        Of the second.

    Returns
    -------
    float
        Negative where the first mean is the lower. NaN where a standard deviation is unknown or
        both are 0.

    Examples
    --------
    >>> round(hedges_g(10.0, 2.0, 10, 12.0, 2.0, 10), 4)  # Cohen's d is -1
    -0.9576
    """
    freedom = n_a + n_b - 2
    if freedom < 1:
        return float("nan")
    pooled = sqrt(((n_a - 1) * std_a**2 + (n_b - 1) * std_b**2) / freedom)
    if not pooled > 0:
        return float("nan")
    # The exact factor; 1 - 3 / (4 * freedom - 1) is near it.
    correction = np.exp(special.gammaln(freedom / 2) - special.gammaln((freedom - 1) / 2))
    return float((mean_a - mean_b) / pooled * correction / sqrt(freedom / 2))
