"""Selection of the records that a run reuses, and of the files that it appends to."""

from pathlib import Path

from boostbench.execution.plan import Experiment, Task
from boostbench.execution.shards import Shard
from boostbench.fitting.splits import Split
from boostbench.records.archive import RecordIndex, Records
from boostbench.records.installed import installed_folder
from boostbench.records.schema import Record


class RunRecords:
    """Records of the experiments of a run; each file is read at its first use.

    Parameters
    ----------
    records : Records
        Records of the results folder.
    rerun : {"never", "missing", "stale", "all"}
        Records that are not reused, see `boostbench.execution.runner.Run.from_experiments`.
    shard : Shard, default=None
        Part of the work. Its results are written to a folder of its own.

    Attributes
    ----------
    folder : Path
        Results folder that the run writes to.
    verified : Verified
        Findings of `boostbench verify`.
    """

    def __init__(self, records: Records, rerun: str, shard: Shard | None = None):
        self.rerun, self.shard = rerun, shard
        self.folder = shard.folder(records.results) if shard else records.results
        self.verified = records.verified
        self._records = records
        self._run_files: dict[Path, RecordIndex] = {}

    def file_for(self, work: Experiment | Task, tuning: bool = False) -> RecordIndex:
        """Return the record file of an experiment's splits or tuning trials, or of a task."""
        if isinstance(work, Task):
            work, tuning = work.experiment, work.tuning
        path, ignores_existing = work.path(self.folder, tuning), self.rerun == "all"
        if not (self.shard or ignores_existing):
            return self._records.index(path)
        if path not in self._run_files:
            full_file = self._records.index(work.path(self._records.results, tuning))
            existing_records = {} if ignores_existing else full_file.records
            self._run_files[path] = RecordIndex(path, existing_records, ignores_existing)
        return self._run_files[path]

    def past_records(self, experiment: Experiment, tuning: bool = False) -> list[Record]:
        """Return records of the same algorithm and data, by which the time of a fit is estimated.

        They count with ``rerun="all"``, too. A folder without any takes the installed results.
        """
        for records in (self._records, Records(installed_folder())):
            past = records.index(experiment.path(records.results, tuning)).records
            if past:
                return list(past.values())
        return []

    def pop_warnings(self) -> list[str]:
        """Return the warnings about damaged lines that were not reported yet."""
        of_run = [warning for file in self._run_files.values() for warning in file.warnings]
        return self._records.pop_warnings() + of_run

    def is_fresh(self, experiment: Experiment, record: Record) -> bool:
        """Return True if a record has today's edition, and no refit contradicts it."""
        return not self.verified.is_stale(record, experiment.spec.code_version)

    def makes_rerun_unnecessary(self, work: Experiment | Task, record: Record) -> bool:
        """Return True if `record`, even of a failed fit, means that `work` need not run again."""
        is_task = isinstance(work, Task)
        experiment, tuning = (work.experiment, work.tuning) if is_task else (work, False)
        # Stale trials must not compete with fresh ones.
        return (self.rerun == "missing" and not tuning) or self.is_fresh(experiment, record)

    def find_finished(self, work: Experiment | Task, key: str) -> Record | None:
        """Return the record of a finished fit that makes `work` unnecessary, if there is one."""
        record = self.file_for(work).records.get(key)
        if record is None or record.is_failed:
            return None
        return record if self.makes_rerun_unnecessary(work, record) else None

    def list_splits(self, experiment: Experiment) -> list[Split]:
        """Return the splits of an experiment that belong to the run, or to its shard."""
        if self.shard is None:
            return experiment.splits
        return [s for s in experiment.splits if self.shard.takes(experiment.shard_key(s))]
