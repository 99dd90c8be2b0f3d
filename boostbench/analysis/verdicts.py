"""Verdicts on published numbers, and their counts per paper, table and algorithm.

A published number may stand beside several cells; it counts once, see `unique_by_number`.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan
from typing import NamedTuple

import numpy as np
from scipy import stats

from boostbench.analysis.algorithm_pairs import (
    Effects,
    Swaps,
    compare_rows,
    count_effects,
    count_swaps,
    find_effects,
)
from boostbench.analysis.cells import Cell, unique_by_number
from boostbench.analysis.result_table import Table
from boostbench.analysis.statistics import LEVEL, finite_array
from boostbench.analysis.statistics.agreement import MARGIN, MARGINS, Agreement
from boostbench.papers.published import sources

# Samples of a bootstrap; the ends of the interval are then stable to a few tenths of a percent.
_N_SAMPLES = 10_000


class Verdict(NamedTuple):
    """Presentation of a verdict.

    Attributes
    ----------
    colour : str
        Colour in every figure, on the page and at the terminal: one of Okabe and Ito's for verdicts
        on the algorithm, a grey for the others.
    sign : str
        Sign on the page, so that colour is not the only difference.
    meaning : str
        Explanation in words.
    """

    colour: str
    sign: str
    meaning: str


#: All verdicts of a cell in the order of display: compared numbers, numbers that cannot be
#: compared, cells without a number of ours, cells without a published number.
VERDICTS = {
    "reproduced": Verdict(
        "#009e73",
        "✓",
        f"ours lies within {MARGIN:.0%} of the published error, by two one-sided tests at "
        f"{LEVEL:.0%}; “0.3 higher” marks a number that differs nevertheless, by more than "
        "sampling error",
    ),
    "better": Verdict(
        "#56b4e9",
        "▼",
        "ours is better than the published number by more than sampling error, and not shown to "
        f"lie within {MARGIN:.0%}: that is not reproduced either, and a note says what is known of "
        "it",
    ),
    "worse": Verdict(
        "#e69f00",
        "▲",
        "ours is worse than the published number by more than sampling error, and not shown to lie "
        f"within {MARGIN:.0%}",
    ),
    "undecided": Verdict(
        "#8f8f8f",
        "?",
        "too few splits to tell: the difference is within sampling error, and not shown to be less "
        f"than {MARGIN:.0%} of the published error",
    ),
    "not judged": Verdict("#a3a3a3", "§", "it was not run as the paper's table asks"),
    "failed": Verdict("#d55e00", "✕", "every split that was tried raised an error"),
    "not reached": Verdict("#b5b5b5", "…", "fewer boosting rounds were asked for"),
    "not recorded": Verdict("#bebebe", "∅", "the fits that are on record do not tell this number"),
    "not run": Verdict("#c7c7c7", "○", "no split is on record"),
    "data not available": Verdict("#d9d9d9", "–", "the data are not at hand"),
    "not published": Verdict("", "", "the paper gives no number"),
}
COMPARED = tuple(VERDICTS)[:4]

#: Explain `Tally.count_text`.
WITHOUT_POOL = "Behind a slash: without the variance of one pool, whose size is known only roughly."
CORRECTED = (
    "In brackets: the count after Benjamini and Hochberg's correction for the number of tests, at "
    f"a false discovery rate of {LEVEL:.0%}."
)


@dataclass(frozen=True)
class Tally:
    """Counts of the verdicts on published numbers.

    Attributes
    ----------
    numbers : Counter of str
        Published numbers by verdict, all of `VERDICTS` in their order, zeros included; under
        ``"not published"`` cells.
    repeated : int, default=0
        How many cells are left out: their published number belongs to a cell before them.
    corrected : Counter of str
        Numbers that are ``"reproduced"``, ``"better"`` and ``"worse"`` after Benjamini and
        Hochberg's correction (1995) for the tests of all numbers that are counted here.
    judged : list of Cell
        Counted cells with an `agreement`: our number is compared with the published one.
    without_pool : Tally or None
        The same numbers without the variance of one pool in any interval; None where it is in none.
    """

    numbers: Counter[str]
    repeated: int = 0
    corrected: Counter[str] = field(default_factory=Counter)
    judged: list[Cell] = field(default_factory=list)
    without_pool: "Tally | None" = None

    def __getitem__(self, verdict: str) -> int:
        return self.numbers[verdict]

    @property
    def published(self) -> int:
        """Number of published numbers."""
        return sum(self.numbers.values()) - self["not published"]

    @property
    def compared(self) -> int:
        """Number of published numbers with a number of ours and a verdict."""
        return sum(self[verdict] for verdict in COMPARED)

    @property
    def shown(self) -> Counter[str]:
        """Counts of the verdicts on published numbers, without zeros."""
        return Counter({v: n for v, n in self.numbers.items() if n and v != "not published"})

    @property
    def verdicts(self) -> list[str]:
        """Verdicts that occur, with or without the variance of one pool, in the usual order."""
        shown = self.shown | (self.without_pool.shown if self.without_pool else {})
        return [verdict for verdict in VERDICTS if verdict in shown]

    @property
    def is_corrected(self) -> bool:
        """True if the correction changes a count."""
        return any(count < self[verdict] for verdict, count in self.corrected.items())

    @property
    def decidable(self) -> Counter:
        """Counts of the verdicts on numbers of which a difference of `MARGIN` would be detected."""
        return Counter(cell.verdict for cell in self.judged if cell.agreement.is_sharp)

    @property
    def within(self) -> Counter[float]:
        """Counts of numbers that are shown to lie within each of `MARGINS`, by margin."""
        margins = Counter(m for cell in self.judged for m in cell.agreement.equivalent_margins)
        return Counter({margin: margins[margin] for margin in MARGINS})

    @cached_property
    def interval(self) -> tuple[float, float]:
        """95% interval of the share of the compared numbers that are reproduced.

        It is a bootstrap interval over data sets, as numbers of one data set depend on each other;
        NaN without a compared number.
        """
        compared = Counter(cell.data for cell in self.judged)
        reproduced = Counter(c.data for c in self.judged if c.verdict == "reproduced")
        return share_interval([reproduced[data] for data in compared], list(compared.values()))

    def count_text(self, verdict: str) -> str:
        """Return a count as text: ``"5 (4) / 6"`` if `corrected` is 4 and `without_pool` is 6.

        Both are omitted where they equal the count.
        """
        corrected = self.corrected.get(verdict, self[verdict])
        text = f"{self[verdict]} ({corrected})" if corrected < self[verdict] else f"{self[verdict]}"
        if self.without_pool and self.without_pool[verdict] != self[verdict]:
            text += f" / {self.without_pool[verdict]}"
        return text

    def __str__(self) -> str:
        parts = ", ".join(f"{self.count_text(verdict)} {verdict}" for verdict in self.verdicts)
        numbers = "number" if self.published == 1 else "numbers"
        return f"{self.published} published {numbers}" + (f": {parts}" if parts else "")


def count_verdicts(cells: Iterable[Cell]) -> Tally:
    """Count the verdicts on the published numbers of cells, each once; see `unique_by_number`."""
    cells = list(cells)
    counted = unique_by_number(cells)
    counts = Counter(cell.verdict for cell in counted)
    numbers = Counter({verdict: counts[verdict] for verdict in VERDICTS})
    judged = [cell for cell in counted if cell.agreement]
    without_pool = None
    if any(cell.agreement.basis == "pool" for cell in judged):
        without_pool = count_verdicts(cell.unpooled for cell in counted)
    repeated = len(cells) - len(counted)
    return Tally(numbers, repeated, _count_corrected(judged), judged, without_pool)


def _count_corrected(cells: Iterable[Cell]) -> Counter[str]:
    """Count verdicts after Benjamini and Hochberg's correction.

    Verdicts by rounding alone have no p-value and are counted as they are.
    """
    agreements = [cell.agreement for cell in cells]
    counted = Counter(agreement.verdict for agreement in agreements)
    counted -= _count_withdrawn(agreements, "p", ("better", "worse"))
    # The rule of power calls a number reproduced without a test.
    tested = [agreement for agreement in agreements if agreement.rule == "tost"]
    counted -= _count_withdrawn(tested, "p_within", ("reproduced",))
    return Counter({verdict: counted[verdict] for verdict in ("reproduced", "better", "worse")})


def _count_withdrawn(
    agreements: Iterable[Agreement], p_value: str, verdicts: Collection[str]
) -> Counter[str]:
    """Count the verdicts that do not hold after the correction of their p-values.

    Parameters
    ----------
    agreements : iterable of Agreement
        Agreements whose tests are corrected together; NaN is no test.
    p_value : {"p", "p_within"}
        Attribute of an agreement with the p-value of the test.
    verdicts : collection of str
        Verdicts that rest on this test.
    """
    tested = [agreement for agreement in agreements if not isnan(getattr(agreement, p_value))]
    p_values = [getattr(agreement, p_value) for agreement in tested]
    adjusted = stats.false_discovery_control(p_values) if tested else []
    return Counter(
        agreement.verdict
        for agreement, p in zip(tested, adjusted, strict=True)
        if p > LEVEL and agreement.verdict in verdicts
    )


class GroupCounts(NamedTuple):
    """Counts of a paper, a table or an algorithm.

    Attributes
    ----------
    name : str
        Name of the paper, the table or the algorithm.
    tally : Tally
        Verdicts.
    swaps : Swaps or None
        Comparisons with the published numbers of other algorithms; None for an algorithm, and for
        a table without a paper.
    effects : Effects or None
        Pairs of algorithms that the published numbers separate; None as for `swaps`.
    """

    name: str
    tally: Tally
    swaps: Swaps | None = None
    effects: Effects | None = None


@dataclass(frozen=True)
class Counts:
    """Counts of several tables.

    A table without a paper, such as the demo or a user's own table, repeats numbers of a paper's
    table. It is counted in `tables` alone.

    Attributes
    ----------
    total : Tally
        Verdicts of all tables of papers.
    swaps : Swaps
        Swaps of all tables of papers.
    effects : Effects
        Effects of all tables of papers.
    papers, tables : list of GroupCounts
        Counts of each paper and of each table, in the order of the tables.
    algorithms : list of GroupCounts
        Verdicts of each algorithm in all tables of papers.
    """

    total: Tally
    swaps: Swaps
    effects: Effects
    papers: list[GroupCounts]
    tables: list[GroupCounts]
    algorithms: list[GroupCounts]

    def table(self, name: str) -> GroupCounts:
        """Return the counts of the last table of this name."""
        return next(counts for counts in reversed(self.tables) if counts.name == name)


def count_numbers_without_cell(tables: Iterable[Table]) -> int:
    """Count the published numbers that no cell shows, in tables of which some number is shown.

    Examples are numbers of data sets that are not available.

    Parameters
    ----------
    tables : iterable of Table
        Tables without a paper do not count.

    Returns
    -------
    int
        Count over the published tables of which at least one number is shown.
    """
    cells = [cell for table in tables if table.paper for cell in table.cells.values()]
    shown = {cell.target.source for cell in cells if cell.target}
    named = {cell.target.table for cell in cells if cell.target}
    return len(set().union(*map(sources, named)) - shown)


def count_tables(tables: Iterable[Table]) -> Counts:
    """Count verdicts.

    Parameters
    ----------
    tables : iterable of Table
        A published number counts once in each tally and in the swaps, see `unique_by_number`. So
        the sum of the tables may be larger than the tally of their paper.

    Returns
    -------
    Counts
    """
    tables = list(tables)
    tables_of_papers = [table for table in tables if table.paper]
    # A table counts three times, for itself, its paper and the total, and comparing its rows takes
    # most of the time.
    comparisons = {id(table): compare_rows(table) for table in tables_of_papers}
    effects = {id(table): find_effects(table) for table in tables_of_papers}

    def count_group(name: str, group: Sequence[Table]) -> GroupCounts:
        cells = [cell for table in group for cell in table.cells.values()]
        return GroupCounts(
            name,
            count_verdicts(cells),
            count_swaps(each for table in group for each in comparisons[id(table)]),
            count_effects(each for table in group for each in effects[id(table)]),
        )

    groups, cells_by_algorithm = defaultdict(list), defaultdict(list)
    for table in tables_of_papers:
        groups[table.paper].append(table)
        for cell in table.cells.values():
            cells_by_algorithm[cell.algo].append(cell)
    total = count_group("all", tables_of_papers)
    return Counts(
        total=total.tally,
        swaps=total.swaps,
        effects=total.effects,
        papers=[count_group(paper, group) for paper, group in groups.items()],
        tables=[
            count_group(table.name, [table])
            if table.paper
            else GroupCounts(table.name, count_verdicts(table.cells.values()))
            for table in tables
        ],
        algorithms=[
            GroupCounts(name, count_verdicts(cells)) for name, cells in cells_by_algorithm.items()
        ],
    )


def share_interval(successes: Sequence[int], sizes: Sequence[int]) -> tuple[float, float]:
    """Estimate the 95% interval of a share over groups of dependent observations.

    Parameters
    ----------
    successes, sizes : sequence of int of the same length
        Successes and observations of each group.

    Returns
    -------
    tuple of float
        Percentiles of the share of all successes over samples of whole groups, drawn with
        replacement (B. Efron and R. Tibshirani, *An Introduction to the Bootstrap*, 1993, chapter
        13). The samples have a fixed seed. NaN for fewer than two groups.

    Examples
    --------
    >>> low, high = share_interval([8, 2, 5, 9], [10, 10, 10, 10])
    >>> print(f"{low:.2f} {high:.2f}")
    0.35 0.85
    """
    if len(sizes) < 2:
        return float("nan"), float("nan")
    result = stats.bootstrap(
        (finite_array(successes), finite_array(sizes)),
        lambda hits, totals, axis: hits.sum(axis) / totals.sum(axis),
        paired=True,
        vectorized=True,
        n_resamples=_N_SAMPLES,
        confidence_level=1 - LEVEL,
        method="percentile",
        rng=np.random.default_rng(0),
    )
    low, high = result.confidence_interval
    return float(low), float(high)
