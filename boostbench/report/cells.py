"""One cell of a table: what the records say of one algorithm on one data set."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from statistics import fmean, stdev

from boostbench.experiment.archive import Recorded
from boostbench.report.notes import find_note
from boostbench.report.numbers import mean_std
from boostbench.report.published import Published
from boostbench.report.statistics.agreement import Agreement, agreement

#: Stands behind a number that other code than today's made, in whole or in part.
STALE = "†"


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
        How many of `records` other code than today's made.
    published : Published or None
        The paper's number.
    missing : int, default=0
        How many splits have not run.
    rounds : int, default=None
        The test error is that after so many boosting rounds; None: after the last.
    available : bool, default=True
        Whether the data can be had.
    """

    data: str
    algo: str
    title: str
    records: list[dict]
    failures: list[dict]
    stale: int
    published: Published | None
    missing: int = 0
    rounds: int | None = None
    available: bool = True

    @classmethod
    def of(
        cls,
        recorded: Recorded,
        data: str,
        algo: str,
        title: str,
        published: Published | None,
        rounds: int | None = None,
    ) -> "Cell":
        """Make the cell of what is recorded of one experiment; parameters as the attributes."""
        return cls(
            data=data,
            algo=algo,
            title=title,
            records=recorded.records,
            failures=recorded.failures,
            stale=recorded.stale,
            published=published,
            missing=recorded.missing,
            rounds=rounds,
        )

    @property
    def errors(self) -> dict[int, float]:
        """Test error of each finished split, in percent."""
        if self.rounds is None:
            return {record["split"]: 100 * record["test_error"] for record in self.records}
        rounds = str(self.rounds)
        return {
            record["split"]: 100 * record["checkpoints"][rounds]
            for record in self.records
            if rounds in record["checkpoints"]
        }

    @property
    def mean(self) -> float:
        """Mean test error over the finished splits, in percent; NaN without any."""
        return fmean(self.errors.values()) if self.errors else float("nan")

    @property
    def std(self) -> float:
        """Sample standard deviation of the test error, in percent; NaN for fewer than 2 splits."""
        return stdev(self.errors.values()) if len(self.errors) > 1 else float("nan")

    @property
    def text(self) -> str:
        """``"2.9 (2.4)"``, marked when stale; without a number, why there is none."""
        if not self.available:
            return "not available"
        if not self.records:
            return "failed" if self.failures else "not run"
        if not self.errors:
            return "not reached"  # it was asked for fewer rounds
        return mean_std(self.mean, self.std) + (STALE if self.stale else "")

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
        return _mean([record["n_iterations"] for record in self.records])

    def seconds(self, part: str) -> float | None:
        """Mean CPU seconds over the splits.

        Parameters
        ----------
        part : {"fit", "weak_learner", "coefficients", "predict_per_instance", "calibration"}
            Which timing of the record.

        Returns
        -------
        float or None
            None where the estimator does not tell.
        """
        return _mean([record["seconds"][part] for record in self.records])

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
    def has_published_error(self) -> bool:
        """Whether the paper gives the test error, and not just a CPU time."""
        return self.published is not None and not isnan(self.published.mean)

    @property
    def agreement(self) -> Agreement | None:
        """Comparison with the published number; None where one of the two is missing."""
        if not self.has_published_error or not self.errors:
            return None
        published = self.published
        return agreement(
            self.mean,
            self.std,
            len(self.errors),
            published.mean,
            published.std,
            published.n,
        )

    @property
    def verdict(self) -> str:
        """``reproduced``, ``better`` or ``worse``; without two numbers, which one is missing."""
        if not self.has_published_error:
            return "not published"
        return self.agreement.verdict if self.agreement else self.text

    @property
    def note(self) -> str | None:
        """What is known of the reason why the number is not reproduced; None where it is."""
        if not self.has_published_error or self.verdict == "reproduced":
            return None
        return find_note(self.published.table, {**self.published.line, "data": self.data})


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
