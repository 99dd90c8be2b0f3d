"""One cell of a table: what the records say of one algorithm on one data set."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from boostbench.experiment.runner import Outcome
from boostbench.report.published import Published, mean_std
from boostbench.report.significance import Agreement, agreement

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
    """

    data: str
    algo: str
    title: str
    records: list[dict]
    failures: list[dict]
    stale: int
    published: Published | None

    @classmethod
    def of(cls, outcome: Outcome, title: str, published: Published | None) -> "Cell":
        """Make the cell of one experiment's outcome; parameters as the attributes."""
        experiment = outcome.experiment
        return cls(
            data=experiment.dataset.name,
            algo=experiment.algorithm.name,
            title=title,
            records=outcome.records,
            failures=outcome.failures,
            stale=outcome.stale,
            published=published,
        )

    @property
    def errors(self) -> dict[int, float]:
        """Test error of each finished split, in percent."""
        return {record["split"]: 100 * record["test_error"] for record in self.records}

    @property
    def mean(self) -> float:
        """Mean test error over the finished splits, in percent; NaN without any."""
        return fmean(self.errors.values()) if self.records else float("nan")

    @property
    def std(self) -> float:
        """Sample standard deviation of the test error, in percent; NaN for fewer than 2 splits."""
        return stdev(self.errors.values()) if len(self.records) > 1 else float("nan")

    @property
    def text(self) -> str:
        """``"2.9 (2.4)"``, marked when stale; ``"failed"`` or ``"not run"`` without any split."""
        if not self.records:
            return "failed" if self.failures else "not run"
        return mean_std(self.mean, self.std) + (STALE if self.stale else "")

    @property
    def splits(self) -> str:
        """``"10"``, or ``"8 of 10"`` when some failed."""
        done, failed = len(self.records), len(self.failures)
        return f"{done} of {done + failed}" if failed else f"{done}"

    @property
    def n_iterations(self) -> float | None:
        """Mean number of boosting rounds, None where the estimator does not tell."""
        return _mean([record["n_iterations"] for record in self.records])

    def seconds(self, part: str) -> float | None:
        """Mean CPU seconds per split.

        Parameters
        ----------
        part : {"fit", "weak_learner", "coefficients", "calibration"}
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
    def agreement(self) -> Agreement | None:
        """Comparison with the published number; None where one of the two is missing."""
        if self.published is None or not self.records:
            return None
        published = self.published
        return agreement(
            self.mean,
            self.std,
            len(self.records),
            published.mean,
            published.std,
            published.n,
        )

    @property
    def verdict(self) -> str:
        """``reproduced``, ``better``, ``worse``, ``not published`` or ``not run``."""
        if self.published is None:
            return "not published"
        return self.agreement.verdict if self.agreement else "not run"


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
