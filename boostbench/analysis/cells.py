"""One cell of a table: what the records say of one algorithm on one data set."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from statistics import fmean, stdev

from boostbench.analysis.statistics.agreement import Agreement, agreement
from boostbench.analysis.statistics.folds import INDEPENDENT, FoldRatio, fold_ratio
from boostbench.fitting.quantities import QUANTITIES, ROUNDS, TEST_ERROR, Quantity
from boostbench.fitting.stages import ROUND_PARAMETERS
from boostbench.papers.notes import find_note
from boostbench.papers.published import Published
from boostbench.records.archive import Recorded
from boostbench.records.verified import Finding
from boostbench.util.numbers import fixed, mean_std, seconds

#: Stands behind a number that today's code does not give, in whole or in part.
STALE = "†"

#: Stands behind a number that not all splits are behind.
PARTIAL = "‡"

#: Stands behind a published number of another experiment than ours.
ELSEWHERE = "§"

#: Of a number that is better for no known reason.
BETTER = (
    "Better: the published level is reached. The number is not reproduced, and no reason is known."
)
#: Of one that is better as it is another experiment: before the reason.
BETTER_ELSEWHERE = "Better, but not reproduced: the experiment differs."

#: Verdicts that need no reason, unless the number differs.
_WITHOUT_NOTE = ("reproduced", "undecided", "not judged")


@dataclass(frozen=True)
class Cell:
    """One algorithm on one data set.

    Attributes
    ----------
    data, algo : str
        Names.
    title : str
        The algorithm's name in tables.
    records : list of dict
        Finished splits.
    failures : list of dict
        Failed splits.
    stale : int
        How many of `records` are of another edition than today's, or refuted.
    published : dict of str to Published
        What the paper says of the same experiment, by quantity.
    quantity : Quantity, default=TEST_ERROR
        What the cell shows.
    missing : int, default=0
        How many splits have not run.
    rounds : int, default=None
        The number is that after so many boosting rounds; None: after the last.
    available : bool, default=True
        Whether the data are at hand.
    departures : tuple of str, default=()
        What is not as the paper's table asks for. Then there is no verdict.
    finding : Finding, default=None
        What is known of the records by fitting some of them again.
    rule : {"tost", "power"}, default="tost"
        Rule of the verdict, see `Agreement.verdict`.
    command : str, default=""
        Command that makes the number again; empty for a cell that no command makes.
    """

    data: str
    algo: str
    title: str
    records: list[dict]
    failures: list[dict]
    stale: int
    published: Mapping[str, Published] = field(default_factory=dict)
    quantity: Quantity = TEST_ERROR
    missing: int = 0
    rounds: int | None = None
    available: bool = True
    departures: tuple[str, ...] = ()
    finding: Finding | None = None
    rule: str = "tost"
    command: str = ""

    @classmethod
    def of(cls, recorded: Recorded, data: str, algo: str, title: str, **more) -> "Cell":
        """Make the cell of what is recorded of one experiment; parameters as the attributes."""
        facts = {field.name: getattr(recorded, field.name) for field in fields(Recorded)}
        return cls(data, algo, title, **facts, **more)

    @cached_property
    def values(self) -> dict[int, float]:
        """The number of each finished split that has it, in the unit of the quantity."""
        numbers = {r["split"]: self.quantity.of(r, self.rounds) for r in self.records}
        return {split: number for split, number in numbers.items() if number is not None}

    @property
    def mean(self) -> float:
        """Mean over the finished splits; NaN without any."""
        return fmean(self.values.values()) if self.values else float("nan")

    @cached_property
    def std(self) -> float:
        """Sample standard deviation over the splits; NaN for fewer than 2."""
        return stdev(self.values.values()) if len(self.values) > 1 else float("nan")

    @property
    def fold_ratio(self) -> FoldRatio:
        """Ratio for the variance of the mean if the splits are folds; see `fold_ratio`."""
        protocol = self.records[0]["config"]["protocol"]
        # With samples_per_class, each repetition draws samples of its own.
        if protocol["sampling"] != "kfold" or protocol.get("samples_per_class"):
            return INDEPENDENT
        return fold_ratio(self.values, protocol["n_splits"])

    @property
    def text(self) -> str:
        """``"2.9 (2.4)"``; without a number, why there is none."""
        if not self.available:
            return "data not available"
        if not self.records:
            return "failed" if self.failures else "not run"
        if not self.values:
            return "not reached" if self._asks_for_fewer_rounds else "not recorded"
        if self.quantity.of_machine:
            return seconds(self.mean)
        return mean_std(self.mean, self.std, self.quantity.digits)

    @property
    def _asks_for_fewer_rounds(self) -> bool:
        """True if the fits are staged, and their maximum number of rounds is below `rounds`."""
        if self.rounds is None:
            return False
        if any(record.get("checkpoints") for record in self.records):
            return True
        params = [{**record["config"]["algo"], **record["chosen"]} for record in self.records]
        limits = [next((p[key] for key in ROUND_PARAMETERS if key in p), None) for p in params]
        return all(isinstance(limit, int) and limit < self.rounds for limit in limits)

    @property
    def mark(self) -> str:
        """What stands behind its number: `STALE` or nothing."""
        return STALE * bool(self.stale and self.values)

    @property
    def marks(self) -> str:
        """What stands behind its `text` in tables."""
        return self.mark + PARTIAL * self.is_partial

    @property
    def splits(self) -> str:
        """``"10"``, or ``"8 of 10"`` when some failed or have not run."""
        done, lacking = len(self.records), len(self.failures) + self.missing
        return f"{done} of {done + lacking}" if lacking else f"{done}"

    @property
    def is_partial(self) -> bool:
        """Whether some of the splits, not all, failed or have not run."""
        return bool(self.records and (self.failures or self.missing))

    @property
    def n_iterations(self) -> float | None:
        """Mean number of boosting rounds, None where the estimator does not tell."""
        return self.average(ROUNDS)

    @property
    def rounds_done(self) -> str:
        """``"1000"``, or ``"-"``."""
        return "-" if self.n_iterations is None else f"{self.n_iterations:.0f}"

    def average(self, quantity: Quantity) -> float | None:
        """Average a quantity over the finished splits; None where the records do not tell."""
        return quantity.mean(self.records)

    def seconds(self, part: str) -> str:
        """Print the mean of a CPU time, by the name of its quantity; ``"-"`` without one."""
        return seconds(self.average(QUANTITIES[part]))

    @property
    def chosen(self) -> str:
        """Tuned values, the most frequent first: ``"nu=0.001 (6 of 10), nu=0.01 (4 of 10)"``."""
        settings = Counter(
            ", ".join(f"{key}={value}" for key, value in sorted(record["chosen"].items()))
            for record in self.records
        )
        settings.pop("", None)
        if len(settings) < 2:
            return "".join(settings)
        n = len(self.records)
        return ", ".join(f"{setting} ({count} of {n})" for setting, count in settings.most_common())

    @property
    def target(self) -> Published | None:
        """The published number that this cell can be judged by; None where the paper has none."""
        return self.published.get(self.quantity.name) if self.quantity.is_judged else None

    @property
    def number(self) -> tuple[str, str] | None:
        """Where the paper has this number; None where it has none. Several cells may share it."""
        target = self.target
        return (target.source, self.quantity.name) if target and target.source else None

    @cached_property
    def agreement(self) -> Agreement | None:
        """Comparison with the published number.

        None where one of the two is missing, where they are not of the same experiment, or where
        there are too few splits to tell.
        """
        return None if self.target is None else self.beside(self.target)

    def beside(self, target: Published) -> Agreement | None:
        """Compare with a published number, be it this cell's or another's; as `agreement`."""
        if not self.values or self.departures:
            return None
        compared = agreement(
            self.mean,
            self.std,
            len(self.values),
            target.mean,
            target.std,
            target.n,
            target.quantity.digits,
            self.quantity.sign,
            self.quantity.perfect,
            target.pool_share,
            self.records[0].get("n_test") if self.quantity.of_samples else None,
            self.rule,
            self.fold_ratio,
        )
        # One split of several is no estimate, where the paper gives no deviation either.
        return None if compared.basis in ("counts", "rounding") and self.is_partial else compared

    @cached_property
    def without_pool(self) -> "Cell":
        """The same cell, judged as if the paper's splits were no splits of one pool."""
        alone = {name: replace(number, pool_share=0) for name, number in self.published.items()}
        return replace(self, published=alone)

    @property
    def reference(self) -> str:
        """The published number in words, marked where it is not of the same experiment."""
        return f"{self.target}{ELSEWHERE if self.departures else ''}" if self.target else ""

    @cached_property
    def verdict(self) -> str:
        """Verdict on the number (`Agreement`); where nothing is compared, the reason."""
        if self.target is None:
            return "not published"
        if not self.values:
            return self.text
        if self.departures:
            return "not judged"
        return self.agreement.verdict if self.agreement else "undecided"

    @property
    def marked_verdict(self) -> str:
        """Verdict, with the difference of a number that is reproduced and yet differs.

        Such a verdict is ``"reproduced, 0.3 higher"``.
        """
        if self.verdict != "reproduced" or not self.agreement.differs:
            return self.verdict
        difference = self.agreement.difference
        size = fixed(abs(difference), self.quantity.digits)
        return f"reproduced, {size} {'higher' if difference > 0 else 'lower'}"

    @property
    def note(self) -> str | None:
        """Known reason why the number differs; None where it does not, or for an unknown reason."""
        differs = self.agreement is not None and self.agreement.differs
        if self.target is None or (self.verdict in _WITHOUT_NOTE and not differs):
            return None
        note = find_note(self.target.table, {**self.target.line, "data": self.data})
        if self.verdict == "better":
            return f"{BETTER_ELSEWHERE} {note}" if note else BETTER
        return note


def distinct(cells: Iterable[Cell]) -> list[Cell]:
    """Leave out cells beside a published number that a cell before them has too.

    A paper prints some numbers twice, and two rows or columns of ours may stand beside one number
    where it is not clear which of them the paper has. The first of them that was run counts, or the
    first where none was.

    Parameters
    ----------
    cells : iterable of Cell
        In the order of the tables, their rows and columns.

    Returns
    -------
    list of Cell
        In the same order; all cells without a published number are kept.
    """
    cells = list(cells)
    counting: dict[tuple[str, str] | None, int] = {}
    for at, cell in enumerate(cells):
        before = counting.setdefault(cell.number, at)
        if cell.values and not cells[before].values:
            counting[cell.number] = at
    return [c for at, c in enumerate(cells) if c.number is None or counting[c.number] == at]
