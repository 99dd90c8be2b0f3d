"""Records of a run: which it reuses, which files it appends to, and the time that they forecast.

Machines without a common file system divide a run into shards, which write to folders of their own.
The time of missing fits is estimated from the recorded seconds of similar fits.
"""

import re
from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from boostbench.execution.plan import Experiment, Task
from boostbench.fitting.splits import Split
from boostbench.fitting.trial import calibration
from boostbench.records.index import RecordIndex, Records
from boostbench.records.installed import installed_folder
from boostbench.records.schema import Config, Record
from boostbench.util.errors import UserError


class Shard(NamedTuple):
    """Part of a run, for one machine.

    The shard of a split follows from its key alone, so that all machines agree on it.

    Attributes
    ----------
    number : int
        Number of the shard, from 1.
    n_shards : int
        Number of all shards.
    """

    number: int
    n_shards: int

    @classmethod
    def parse(cls, text: str | None) -> "Shard | None":
        """Return the shard of a setting such as ``"3/20"``; None: the run has no shards.

        Raises
        ------
        UserError
            If the text has another form.

        Examples
        --------
        >>> Shard.parse("3/20")
        Shard(number=3, n_shards=20)
        """
        if text is None:
            return None
        match = re.fullmatch(r"([1-9]\d{0,5})/([1-9]\d{0,5})", str(text))
        if not match or int(match[1]) > int(match[2]):
            raise UserError(f"shard is {text!r}; write shard=3/20 for the third of twenty parts")
        return cls(int(match[1]), int(match[2]))

    def takes(self, key: str) -> bool:
        """Return True if the split with this key, of hex digits, belongs to the shard."""
        return int(key, 16) % self.n_shards == self.number - 1

    def folder(self, results: Path) -> Path:
        """Return the folder of the records of this shard."""
        return Path(results) / "shards" / f"{self.number}-of-{self.n_shards}"

    def __str__(self) -> str:
        return f"{self.number}/{self.n_shards}"


class RunRecords:
    """Records of the experiments of a run; each file is read at its first use.

    Parameters
    ----------
    records : Records
        Records of the results folder.
    rerun : {"never", "missing", "stale", "all"}
        Splits that run again, see `boostbench.execution.runner.Run.plan`; their
        records are not reused.
    shard : Shard, default=None
        Part of the splits that runs. Its records are written to a folder of its own. None: all
        splits.

    Attributes
    ----------
    rerun, shard
        The parameters.
    folder : Path
        Folder that the run writes to: the results folder, or the folder of the shard in it.
    findings : RefitFindings
        Findings of `boostbench verify`.
    """

    def __init__(self, records: Records, rerun: str, shard: Shard | None = None):
        self.rerun, self.shard = rerun, shard
        self.folder = shard.folder(records.results) if shard else records.results
        self.findings = records.findings
        self._records = records
        # Record files that differ from the files of the results folder; see `file_for`. A shard
        # reads the records of two files, and a run with rerun="all" ignores the existing records.
        self._run_files: dict[Path, RecordIndex] = {}

    def file_for(self, work: Experiment | Task, tuning: bool = False) -> RecordIndex:
        """Return the record file that the run reads and extends.

        Parameters
        ----------
        work : Experiment or Task
            Experiment, or a task of it.
        tuning : bool, default=False
            True: the file of an experiment's cross-validation trials; False: the file of its
            splits. It is ignored for a task, which is either a trial or a split.
        """
        experiment, tuning = _experiment_and_tuning(work, tuning)
        path, ignores_existing = experiment.path(self.folder, tuning), self.rerun == "all"
        # 1) A plain run reads and extends the file of the results folder.
        if not (self.shard or ignores_existing):
            return self._records.index(path)
        # 2) A shard writes to its own file, and reuses the records in it and in the results folder.
        #    With rerun="all", the existing records of neither file are reused.
        if path not in self._run_files:
            full_file = self._records.index(experiment.path(self._records.results, tuning))
            existing_records = () if ignores_existing else full_file
            self._run_files[path] = RecordIndex(path, existing_records, ignores_existing)
        return self._run_files[path]

    def past_records(self, experiment: Experiment, tuning: bool = False) -> list[Record]:
        """Return records of the same algorithm and data, by which the time of a fit is estimated.

        Records that are not reused (``rerun="all"``) count, too. If the results folder has none,
        the records of the installed results are returned.
        """
        for records in (self._records, Records(installed_folder())):
            past = list(records.index(experiment.path(records.results, tuning)))
            if past:
                return past
        return []

    def pop_warnings(self) -> list[str]:
        """Return the warnings about damaged lines that were not reported yet."""
        run_warnings = [warning for file in self._run_files.values() for warning in file.warnings]
        return self._records.pop_warnings() + run_warnings

    def is_fresh(self, experiment: Experiment, record: Record) -> bool:
        """Return True if today's edition of the classes made a record, and no refit contradicts it.

        See `boostbench.spec.class_facts` for editions and `boostbench.records.verified` for refits.
        """
        return not self.findings.is_stale(record, experiment.spec.code_version)

    def makes_rerun_unnecessary(self, work: Experiment | Task, record: Record) -> bool:
        """Return True if `record`, even of a failed fit, means that `work` need not run again."""
        experiment, tuning = _experiment_and_tuning(work)
        # rerun="missing" accepts the stale records of splits. Stale cross-validation trials must
        # not compete with fresh ones for the best point of the grid.
        return (self.rerun == "missing" and not tuning) or self.is_fresh(experiment, record)

    def find_finished(self, work: Experiment | Task, key: str) -> Record | None:
        """Return the record of a finished fit that makes `work` unnecessary, if there is one."""
        record = self.file_for(work).get(key)
        if record is None or record.is_failed:
            return None
        return record if self.makes_rerun_unnecessary(work, record) else None

    def list_splits(self, experiment: Experiment) -> list[Split]:
        """Return the splits of an experiment that belong to the run, or to its shard."""
        if self.shard is None:
            return experiment.splits
        return [
            split for split in experiment.splits if self.shard.takes(experiment.shard_key(split))
        ]


def _experiment_and_tuning(
    work: Experiment | Task, tuning: bool = False
) -> tuple[Experiment, bool]:
    """Return the experiment of `work`, and True if its records are cross-validation trials.

    The latter is `tuning` for an experiment; a task is either a trial or a split.
    """
    return (work.experiment, work.is_tuning) if isinstance(work, Task) else (work, tuning)


class Forecast(NamedTuple):
    """Expected time of a run.

    Attributes
    ----------
    seconds : float
        CPU seconds on this machine of the fits with an estimate.
    n_unknown : int
        Number of fits without an estimate.
    estimates : sequence of FitEstimate, default=()
        Expected time of one fit of each group with an estimate.
    """

    seconds: float
    n_unknown: int
    estimates: Sequence["FitEstimate"] = ()

    def find_seconds(self, group_key: Hashable) -> float | None:
        """Return the expected CPU seconds of a fit of a group; None: no estimate."""
        estimates = (estimate for estimate in self.estimates if estimate.group_key == group_key)
        return next((estimate.seconds for estimate in estimates), None)


class FitEstimate(NamedTuple):
    """Expected time of a fit.

    Attributes
    ----------
    group_key : hashable
        Key of the group, see `FitGroup`.
    seconds : float
        CPU seconds of one fit of the group, on this machine.
    """

    group_key: Hashable
    seconds: float


class FitGroup(NamedTuple):
    """Missing fits that are expected to take the same time.

    Attributes
    ----------
    key : hashable
        Key of the group: an experiment, and True for its cross-validation trials.
    n_fits : int
        Number of fits.
    config : Config
        Config of the fits.
    record_sources : sequence of sequence of Record
        Records of the same algorithm on the same data, preferred ones first: records of splits and
        of cross-validation trials. The first source with times is used.
    """

    key: Hashable
    n_fits: int
    config: Config
    record_sources: Sequence[Sequence[Record]]


def forecast(groups: Iterable[FitGroup]) -> Forecast:
    """Return the expected time of fits.

    Times are scaled to this machine by the reference job, and in proportion to the numbers of
    boosting rounds.
    """
    seconds, n_unknown, estimates = 0.0, 0, []
    for group in groups:
        relative_times = (
            _mean_relative_time(group.config, records) for records in group.record_sources
        )
        relative_time = next((time for time in relative_times if time is not None), None)
        if relative_time is None:
            n_unknown += group.n_fits
        else:
            estimate = FitEstimate(group.key, relative_time * calibration())
            seconds += group.n_fits * estimate.seconds
            estimates.append(estimate)
    return Forecast(seconds, n_unknown, tuple(estimates))


def _mean_relative_time(config: Config, records: Sequence[Record]) -> float | None:
    """Return the mean CPU time of recorded fits as a multiple of the time of the reference job.

    The times are scaled to the boosting rounds of the config.

    Parameters
    ----------
    config : Config
        Config of the fits whose time is estimated.
    records : sequence of Record
        Records of the same config, if there are any, are used alone.

    Returns
    -------
    float or None
        The multiple does not depend on the machine. None: no record has a time.
    """
    same_config = [record for record in records if record.config.content == config.content]
    relative_times = []
    for record in same_config or records:
        if record.is_failed or not record.cpu_seconds():
            continue
        # A record of several points of a grid has no time of the reference job: it is assumed to
        # be made on a machine like this one.
        reference = (
            calibration() if record.has_several_points else record.cpu_seconds("calibration")
        )
        if not reference:
            continue
        relative_time = record.cpu_seconds() / reference
        rounds = config.algo.get("n_iterations")
        recorded_rounds = record.config.algo.get("n_iterations")
        # The parameter of a user's class may be missing, or a word such as "auto".
        if all(isinstance(n, int | float) and n > 0 for n in (rounds, recorded_rounds)):
            relative_time *= rounds / recorded_rounds
        relative_times.append(relative_time)
    return fmean(relative_times) if relative_times else None
