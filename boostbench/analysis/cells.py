"""Cells of tables: numbers of an algorithm on a data set, and their judgement.

`boostbench.report.assemble` makes the cells of a table from records. A number is *judged* by its
comparison with a published number, see `boostbench.analysis.statistics.agreement`.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import nan
from statistics import fmean
from typing import Self

import numpy as np

from boostbench.analysis.frame import ResultFrame
from boostbench.analysis.statistics.agreement import Agreement, compare_means, nearer_end
from boostbench.analysis.statistics.resampled import INDEPENDENT, FoldRatio, fold_ratio
from boostbench.fitting.quantities import ROUNDS, TEST_ERROR, Quantity
from boostbench.fitting.stages import ROUND_PARAMETERS
from boostbench.papers.notes import find_note
from boostbench.papers.published import Published, find_quantity
from boostbench.records.fit_results import SplitRecord
from boostbench.records.index import ExperimentResults
from boostbench.records.schema import Config
from boostbench.records.verified import Finding

#: Note on a number that is better for no known reason.
BETTER = (
    "Better: the published level is reached. The number is not reproduced, and no reason is known."
)
#: Beginning of the note on a number that is better because the experiment differs.
BETTER_ELSEWHERE = "Better, but not reproduced: the experiment differs."

# Verdicts that need no note on a difference, unless our number differs measurably.
_VERDICTS_WITHOUT_NOTE = ("reproduced", "undecided", "not judged")


@dataclass(frozen=True, eq=False)
class CellResult:
    """Numbers of one algorithm on one data set.

    Attributes
    ----------
    data, algo : str
        Names of the data set and of the algorithm.
    title : str
        Title of the algorithm in tables.
    finished_splits : ResultFrame
        Finished splits.
    failed_splits : ResultFrame
        Failed splits.
    stale : int, default=0
        Number of finished splits that are stale: recorded by an older edition of the algorithm, or
        refuted by a refit.
    quantity : Quantity, default=TEST_ERROR
        Quantity that the cell shows.
    missing : int, default=0
        Number of splits that have not run.
    rounds : int, default=None
        Number of boosting rounds after which the quantity is read. None: after the last.
    available : bool, default=True
        Whether the data are available.
    finding : Finding, default=None
        Result of refits of the records.
    """

    data: str
    algo: str
    title: str
    finished_splits: ResultFrame
    failed_splits: ResultFrame
    stale: int = 0
    quantity: Quantity = TEST_ERROR
    missing: int = 0
    rounds: int | None = None
    available: bool = True
    finding: Finding | None = None

    @classmethod
    def from_results(
        cls, recorded: ExperimentResults, data: str, algo: str, title: str, **settings
    ) -> Self:
        """Return the cell of one experiment.

        Parameters
        ----------
        recorded : ExperimentResults
            Records of the experiment.
        data, algo, title : str
        **settings
            Other attributes of the cell.
        """
        return cls(
            *(data, algo, title),
            finished_splits=ResultFrame(recorded.records),
            failed_splits=ResultFrame(recorded.failures),
            stale=recorded.stale,
            missing=recorded.missing,
            finding=recorded.finding,
            **settings,
        )

    @cached_property
    def n_finished(self) -> int:
        """Number of finished splits."""
        return len(self.finished_splits)

    @cached_property
    def n_failed(self) -> int:
        """Number of failed splits."""
        return len(self.failed_splits)

    @property
    def n_splits(self) -> int:
        """Number of all splits: finished, failed and missing."""
        return self.n_finished + self.n_failed + self.missing

    @property
    def is_partial(self) -> bool:
        """True if some of the splits, but not all, failed or have not run."""
        return 0 < self.n_finished < self.n_splits

    @property
    def config(self) -> Config:
        """Config of the experiment: the config of its first record."""
        return (self.finished_splits if self.n_finished else self.failed_splits).records[0].config

    @cached_property
    def numbers(self) -> list[float]:
        """Numbers of the finished splits that have one, in the unit of the quantity."""
        recorded = self.finished_splits.numbers(self.quantity, self.rounds)
        return [number for number in recorded if number is not None]

    @cached_property
    def splits(self) -> list[int]:
        """Splits of `numbers`, counted from 0, in the same order."""
        recorded = self.finished_splits.numbers(self.quantity, self.rounds)
        return [
            split
            for split, number in zip(self.finished_splits["split"], recorded, strict=True)
            if number is not None
        ]

    @cached_property
    def mean(self) -> float:
        """Mean over the finished splits; NaN without any."""
        return fmean(self.numbers) if self.numbers else nan

    @cached_property
    def std(self) -> float:
        """Sample standard deviation over the splits; NaN for fewer than 2."""
        return float(np.std(self.numbers, ddof=1)) if len(self.numbers) > 1 else nan

    @property
    def n_iterations(self) -> float | None:
        """Mean number of boosting rounds; None if the records do not have it."""
        return self.finished_splits.average(ROUNDS)

    @cached_property
    def chosen(self) -> Counter[str]:
        """Tuned values, such as ``"nu=0.01"``, with the number of splits that chose them."""
        points = [sorted(point.items()) for point in self.finished_splits["chosen"] if point]
        return Counter(
            [", ".join([f"{name}={value}" for name, value in point]) for point in points]
        )

    @property
    def status(self) -> str:
        """Reason why there is no number; empty if there is one."""
        if not self.available:
            return "data not available"
        if not self.n_finished:
            return "failed" if self.n_failed else "not run"
        if not self.numbers:
            return "not reached" if self._ended_early else "not recorded"
        return ""

    @property
    def _ended_early(self) -> bool:
        """True if the fits have numbers after each round and ended before `rounds`."""
        if self.rounds is None:
            return False
        # Fits with errors at checkpoints have rounds, but not as many as asked for.
        if any(self.finished_splits["checkpoints"]):
            return True
        # Fits without checkpoints are staged if a parameter limits their rounds.
        params = [
            {**record.config.algo, **record.chosen} for record in self.finished_splits.records
        ]
        limits = [next((p[key] for key in ROUND_PARAMETERS if key in p), None) for p in params]
        return all(isinstance(limit, int) and limit < self.rounds for limit in limits)

    @cached_property
    def fold_ratio(self) -> FoldRatio:
        """Ratio for the variance of the mean if the splits are folds; see `fold_ratio`."""
        protocol = self.config.protocol
        # Each repetition draws its own samples if `samples_per_class` is set.
        if protocol["sampling"] != "kfold" or protocol.get("samples_per_class"):
            return INDEPENDENT
        return fold_ratio(self.splits, self.numbers, protocol["n_splits"])


@dataclass(frozen=True, eq=False)
class Cell(CellResult):
    """Numbers of one algorithm on one data set, and their comparison with published numbers.

    Attributes
    ----------
    published : tuple of Published, default=()
        Published numbers of the same experiment, one of each quantity.
    departures : tuple of str, default=()
        Settings that differ from the paper's table. If there are any, the cell is not judged.
    rule : {"tost", "power"}, default="tost"
        Rule of the verdict, see `Agreement.verdict`.
    command : str, default=""
        Command that repeats the experiment; empty if there is none.
    """

    published: tuple[Published, ...] = ()
    departures: tuple[str, ...] = ()
    rule: str = "tost"
    command: str = ""

    @cached_property
    def target(self) -> Published | None:
        """Published number that the cell is compared with; None if there is none."""
        if not self.quantity.is_judged:
            return None
        return find_quantity(self.published, self.quantity.name)

    @cached_property
    def published_id(self) -> tuple[str, str] | None:
        """Identifier of the published number, which several cells may share; None without one."""
        target = self.target
        return (target.source, self.quantity.name) if target and target.source else None

    def compare_with(self, target: Published) -> Agreement | None:
        """Compare with a published number of this or another cell.

        Parameters
        ----------
        target : Published

        Returns
        -------
        Agreement or None
            None if there is no number, the settings differ, or the splits are too few.
        """
        if not self.numbers or self.departures:
            return None
        n_tested = self.finished_splits["n_test"][0] if self.quantity.of_samples else None
        compared = compare_means(
            mean=self.mean,
            std=self.std,
            n=len(self.numbers),
            published_mean=target.mean,
            published_std=target.std,
            published_n=target.n,
            digits=target.quantity.digits,
            sign=self.quantity.sign,
            reference=nearer_end(target.mean, self.quantity.perfect, self.quantity.worst),
            pool_share=target.pool_share,
            n_tested=n_tested,
            rule=self.rule,
            folds=self.fold_ratio,
        )
        # A partial result is too uncertain to judge without a published standard deviation.
        return None if compared.basis in ("counts", "rounding") and self.is_partial else compared

    @cached_property
    def agreement(self) -> Agreement | None:
        """Comparison with the published number, see `compare_with`; None if there is none."""
        return None if self.target is None else self.compare_with(self.target)

    @cached_property
    def verdict(self) -> str:
        """Verdict on the number, see `Agreement`; or the reason why nothing is compared."""
        if self.target is None:
            return "not published"
        if not self.numbers:
            return self.status
        if self.departures:
            return "not judged"
        return self.agreement.verdict if self.agreement else "undecided"

    @property
    def note(self) -> str | None:
        """Known reason why the number differs; None if it does not, or no reason is known."""
        differs = self.agreement is not None and self.agreement.differs
        if self.target is None or (self.verdict in _VERDICTS_WITHOUT_NOTE and not differs):
            return None
        note = find_note(self.target, self.data)
        if self.verdict == "better":
            return f"{BETTER_ELSEWHERE} {note}" if note else BETTER
        return note

    @cached_property
    def unpooled(self) -> "Cell":
        """Cell that is judged as if the paper's splits did not share one pool of samples."""
        alone = [replace(number, pool_share=0) for number in self.published]
        return replace(self, published=tuple(alone))


def empty_cell(data: str, algo: str, title: str) -> Cell:
    """Return the cell of an experiment without records."""
    return Cell(data, algo, title, finished_splits=ResultFrame(), failed_splits=ResultFrame())


def unique_by_number(cells: Iterable[Cell]) -> list[Cell]:
    """Return the cells without repetitions of a published number.

    A paper prints some numbers twice, and two rows or columns of ours may correspond to one number
    if the paper does not say which of them it has. The first of them with a number of ours counts,
    or the first if none has one.

    Parameters
    ----------
    cells : iterable of Cell
        Cells in the order of the tables, their rows and columns.

    Returns
    -------
    list of Cell
        Cells in the same order, including all without a published number.
    """
    cells = list(cells)
    # Position of the cell that counts, by the identifier of its published number. It is the first
    # cell, until a later one has a number of ours and the chosen one has none.
    chosen = {}
    for position, cell in enumerate(cells):
        first = chosen.setdefault(cell.published_id, position)
        if cell.numbers and not cells[first].numbers:
            chosen[cell.published_id] = position
    return [
        cell
        for position, cell in enumerate(cells)
        if cell.published_id is None or chosen[cell.published_id] == position
    ]


def pair_numbers(cells: Sequence[CellResult]) -> np.ndarray:
    """Return the numbers on the splits that all of one or more cells have.

    Parameters
    ----------
    cells : sequence of CellResult
        Results on one data set, under one protocol.

    Returns
    -------
    ndarray of shape (n_common_splits, n_cells)
        Numbers in the order of the splits.
    """
    numbers_by_split = [dict(zip(cell.splits, cell.numbers, strict=True)) for cell in cells]
    common = sorted(set.intersection(*map(set, numbers_by_split)))
    pairs = [[numbers[split] for numbers in numbers_by_split] for split in common]
    return np.array(pairs, dtype=float).reshape(len(common), len(cells))


def test_train_ratio(cells: Iterable[Cell]) -> float | None:
    """Return the number of test samples divided by the number of training samples.

    Parameters
    ----------
    cells : iterable of Cell

    Returns
    -------
    float or None
        Mean over the splits; None if they are not random divisions of one set of samples, such as
        official parts, and without splits.
    """
    return test_train_ratio_of_records(
        [record for cell in cells for record in cell.finished_splits.records]
    )


def test_train_ratio_of_records(records: Sequence[SplitRecord]) -> float | None:
    """Return the mean ratio of test samples to training samples of records of splits.

    None as in `test_train_ratio`: without records, and for splits that are not random divisions.
    """
    protocols = [record.config.protocol for record in records]
    are_random = (
        protocol["sampling"] != "official" and protocol.get("test", "part") in ("part", "rest")
        for protocol in protocols
    )
    if not records or not all(are_random):
        return None
    return fmean(record.n_test / record.n_train for record in records)
