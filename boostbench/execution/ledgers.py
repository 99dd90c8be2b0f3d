"""Which of the records of a folder count in a run, and where it puts its own."""

from collections.abc import Mapping
from pathlib import Path

from boostbench.execution.plan import Experiment, Task
from boostbench.execution.shards import Shard
from boostbench.fitting.splits import Split
from boostbench.records.archive import Records
from boostbench.records.ledger import Ledger


class Ledgers:
    """The files of records of a run, each read when it is first asked for.

    Parameters
    ----------
    records : Records
        What is on record.
    rerun : {"never", "missing", "stale", "all"}
        Which records do not count, see `boostbench.execution.runner.Run.of`.
    shard : Shard, default=None
        The part of the work that the run does, and records in a folder of its own.
    """

    def __init__(self, records: Records, rerun: str, shard: Shard | None = None):
        self.rerun, self.shard = rerun, shard
        #: The folder of results that is written to.
        self.folder = shard.folder(records.results) if shard else records.results
        self.verified = records.verified
        self._records = records
        self._own: dict[Path, Ledger] = {}

    def of(self, work: Experiment | Task, tuning: bool = False) -> Ledger:
        """Give the file of an experiment's splits or trials, or of a task."""
        if isinstance(work, Task):
            work, tuning = work.experiment, work.tuning
        path, is_blank = work.path(self.folder, tuning), self.rerun == "all"
        if not (self.shard or is_blank):
            return self._records.ledger(path)
        if path not in self._own:
            of_all = self._records.ledger(work.path(self._records.results, tuning))
            beneath = {} if is_blank else of_all.records
            self._own[path] = Ledger(path, beneath, is_blank)
        return self._own[path]

    def new_warnings(self) -> list[str]:
        """Say what is wrong with the files, as far as nobody has heard of it."""
        of_own = [warning for ledger in self._own.values() for warning in ledger.warnings]
        return self._records.new_warnings() + of_own

    def is_fresh(self, experiment: Experiment, record: Mapping) -> bool:
        """Whether a record is of today's edition, and not refuted."""
        return not self.verified.is_stale(record, experiment.spec.code_version)

    def spares(self, work: Experiment | Task, record: Mapping) -> bool:
        """Whether a record, of a failure perhaps, spares doing a split or a task again."""
        is_task = isinstance(work, Task)
        experiment, tuning = (work.experiment, work.tuning) if is_task else (work, False)
        # Stale trials must not compete with fresh ones.
        return (self.rerun == "missing" and not tuning) or self.is_fresh(experiment, record)

    def finished(self, work: Experiment | Task, key: str) -> dict | None:
        """Give the finished record that spares doing a split or a task again, if there is one."""
        record = self.of(work).records.get(key, {"error": "not there"})
        return record if "error" not in record and self.spares(work, record) else None

    def splits(self, experiment: Experiment) -> list[Split]:
        """Give the splits of an experiment that the run is to have: those of its shard, or all."""
        if self.shard is None:
            return experiment.splits
        return [s for s in experiment.splits if self.shard.takes(experiment.shard_key(s))]
