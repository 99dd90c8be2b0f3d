"""What is on record of a run's experiments, and what it and others add to that."""

from collections.abc import Mapping
from pathlib import Path

from boostbench.errors import UserError
from boostbench.experiment.splits import Split
from boostbench.records.store import RecordFile, read_records
from boostbench.records.verified import Verified
from boostbench.running.plan import Experiment, Task
from boostbench.running.shards import Shard


class Ledger:
    """A file of records: what was there when a run began, and what has come since.

    What has come since takes no memory: it is read again when it is asked for.

    Parameters
    ----------
    path : Path
        The file of all records.
    own : Path
        The file that the run writes: the same, or that of its shard.
    is_blank : bool, default=False
        Whether what is there does not count.
    """

    def __init__(self, path: Path, own: Path, is_blank: bool = False):
        self.own = own
        self._file = RecordFile(own)
        records, self.warnings = ([], []) if path == own or is_blank else read_records(path)
        records += self._file.new()
        self._known = {} if is_blank else {record["key"]: record for record in records}
        self.warnings += [] if is_blank else self._file.warnings
        # Keys of what was added, and what others have added and this run has not taken over.
        self._added: set[str] = set()
        self._theirs: dict[str, dict] = {}

    @property
    def records(self) -> dict[str, dict]:
        """All that counts, by key.

        Raises
        ------
        UserError
            If the file has lost what was added to it.
        """
        if self._added:
            self._known |= {
                r["key"]: r for r in read_records(self.own)[0] if r["key"] in self._added
            }
            if not self._known.keys() >= self._added:
                raise UserError(
                    f"{self.own} has lost records that were just written to it; the same "
                    "command makes them again"
                )
            self._added = set()
        return self._known

    def add(self, record: Mapping) -> str:
        """Put a record down, and give its key."""
        [written] = self._file.add([record])
        self._leave(written["key"])
        return written["key"]

    def theirs(self, key: str) -> dict | None:
        """Give what another run has recorded since this one began."""
        self._theirs |= {record["key"]: record for record in self._file.new()}
        return self._theirs.get(key)

    def take_over(self, key: str) -> None:
        """Let what another run has recorded count."""
        self._theirs.pop(key, None)
        self._leave(key)

    def _leave(self, key: str) -> None:
        """Leave a record on disk until it is asked for."""
        self._known.pop(key, None)
        self._added.add(key)


class Ledgers:
    """The files of records in a folder of results, each read when it is first asked for.

    Parameters
    ----------
    results : Path
        The folder.
    rerun : {"missing", "stale", "all"}
        Which records do not count, see `boostbench.running.runner.run`.
    shard : Shard, default=None
        The part of the work that the run does, and records in a folder of its own.
    """

    def __init__(self, results: Path, rerun: str, shard: Shard | None = None):
        self.results, self.rerun, self.shard = results, rerun, shard
        self.verified = Verified.read(results)
        self._ledgers: dict[Path, Ledger] = {}

    @property
    def warnings(self) -> list[str]:
        """What is wrong with the files."""
        of_files = [warning for ledger in self._ledgers.values() for warning in ledger.warnings]
        return [*self.verified.warnings, *of_files]

    @property
    def folder(self) -> Path:
        """The folder of results that is written to."""
        return self.shard.folder(self.results) if self.shard else self.results

    def of(self, work: Experiment | Task, tuning: bool = False) -> Ledger:
        """Give the file of an experiment's splits or trials, or of a task."""
        if isinstance(work, Task):
            work, tuning = work.experiment, work.tuning
        path = work.path(self.results, tuning)
        if path not in self._ledgers:
            own = work.path(self.folder, tuning)
            self._ledgers[path] = Ledger(path, own, self.rerun == "all")
        return self._ledgers[path]

    def is_fresh(self, experiment: Experiment, record: Mapping) -> bool:
        """Whether a record is of today's edition, and not refuted."""
        return not self.verified.is_stale(record, experiment.maker)

    def spares(self, task: Task, record: Mapping | None) -> bool:
        """Whether a record, of a failure perhaps, spares carrying out a task."""
        if record is None:
            return False
        # Stale trials must not compete with fresh ones.
        is_enough = self.rerun == "missing" and not task.tuning
        return is_enough or self.is_fresh(task.experiment, record)

    def finished(self, experiment: Experiment, split: Split) -> dict | None:
        """Give the record that spares running a split, if there is one."""
        record = self.of(experiment).records.get(experiment.key(split))
        if record is None or "error" in record:
            return None
        return record if self.rerun == "missing" or self.is_fresh(experiment, record) else None

    def splits(self, experiment: Experiment) -> list[Split]:
        """Give the splits of an experiment that the run is to have: those of its shard, or all."""
        if self.shard is None:
            return experiment.splits
        return [s for s in experiment.splits if self.shard.takes(experiment.shard_key(s))]
