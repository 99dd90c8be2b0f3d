"""Pieces of work are done by workers, beside other runs that are at the same."""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from boostbench.execution.ledgers import Ledgers
from boostbench.execution.locks import Locks
from boostbench.execution.plan import Experiment, Task
from boostbench.execution.workers import Workers
from boostbench.records.schema import BadLine
from boostbench.spec.keys import digest

#: Seconds between looks at what other runs have done.
_PAUSE = 0.3


class Finished(NamedTuple):
    """Event: a cross-validation trial or a split is done and recorded.

    `label` says which in words, `error` and `where` are those of a failure, else None. `expected`
    are the CPU seconds that it was expected to take, None where nothing was known. `elsewhere` are
    those of another run, which took no time of this one.
    """

    tuning: bool
    label: str
    error: str | None
    where: str | None
    expected: float | None = None
    elsewhere: bool = False


class Waiting(NamedTuple):
    """Event: so many trials and splits are left, which other runs are doing."""

    left: int


class Queue:
    """Does tasks and records them, but for those that other runs do.

    Parameters
    ----------
    ledgers : Ledgers
        Where it records them.
    workers : Workers
    on_event : callable
        Called with each `Finished` and `Waiting`.
    expected : mapping of (Experiment, bool) to float
        CPU seconds that a split, or a cross-validation trial, is expected to take.

    Attributes
    ----------
    done : int
        How many tasks are done, by other runs as well.
    ran : set of (Experiment, str)
        Splits that were done here, by their keys.
    """

    def __init__(
        self,
        ledgers: Ledgers,
        workers: Workers,
        on_event: Callable,
        expected: Mapping[tuple[Experiment, bool], float],
    ):
        self.ledgers, self.workers, self.on_event = ledgers, workers, on_event
        self.expected = expected
        self.done = 0
        self.ran: set[tuple[Experiment, str]] = set()
        # Who wants all anew wants no one else's.
        self._locks = None if ledgers.rerun == "all" else Locks(ledgers.folder / "records")

    def close(self) -> None:
        """Give up its locks."""
        if self._locks:
            self._locks.close()

    def carry_out(self, tasks: list[Task]) -> None:
        """Do tasks, or wait until other runs have done them."""
        has_waited = False
        while tasks:
            before, left, theirs = self.done, [], []
            # Closing stops the workers at once, whatever happened here.
            with contextlib.closing(self.workers(self._ours(tasks, left, theirs))) as finished:
                for task, outcome in finished:
                    self.file(task, outcome)
                    self._take_over(theirs)
            self._take_over(theirs)
            tasks = left
            if left and not has_waited:
                self.on_event(Waiting(len(left)))
                has_waited = True
            if left and self.done == before:
                time.sleep(_PAUSE)

    def file(self, task: Task, outcome: dict) -> None:
        """Put an outcome on record, and tell."""
        ledger = self.ledgers.of(task)
        try:
            key = ledger.add(task.record(outcome))
        except BadLine as error:
            outcome = {"error": f"what was measured cannot be recorded: {error}", "where": "?"}
            key = ledger.add(task.record(outcome))
        if not task.tuning:
            self.ran.add((task.experiment, key))
        self._finish(task, outcome)

    def _ours(self, tasks: list[Task], left: list, theirs: list) -> Iterator[Task]:
        """Yield what no other run does; `left` is what one is at, `theirs` what one has done."""
        for task in tasks:
            if self._locks is None:
                yield task
                continue
            record = self._recorded(task)
            if not record and not self._locks.take(self._lock_of(task)):
                left.append(task)
                continue
            # Once more: whoever had the lock may have ended between the two.
            record = record or self._recorded(task)
            if record:
                theirs.append((task, record))
            else:
                yield task

    def _lock_of(self, task: Task) -> str:
        """Name what is locked: a piece of work, as this code does it for this file.

        Who does it for another, or by other code, leaves no record that spares this run, which
        would only do it later.
        """
        path, version = self.ledgers.of(task).path, task.experiment.spec.code_version
        return digest([path.parent.name, path.name, task.key, *version])

    def _recorded(self, task: Task) -> dict | None:
        """Give the record of another run, if it spares this one."""
        record = self.ledgers.of(task).theirs(task.key)
        return record if record and self.ledgers.spares(task, record) else None

    def _take_over(self, theirs: list[tuple[Task, dict]]) -> None:
        """Let what other runs have recorded count, and tell."""
        while theirs:
            task, record = theirs.pop(0)
            self.ledgers.of(task).take_over(task.key)
            self._finish(task, record, elsewhere=True)

    def _finish(self, task: Task, outcome: Mapping, elsewhere: bool = False) -> None:
        """Count a task whose outcome is on disk, where whoever has its lock next will find it."""
        if self._locks:
            self._locks.give_up(self._lock_of(task))
        self.done += 1
        failure = outcome.get("error"), outcome.get("where")
        expected = self.expected.get((task.experiment, task.tuning))
        self.on_event(Finished(task.tuning, task.label, *failure, expected, elsewhere))
