"""Show on stderr how far a run has come."""

import sys

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bars
from rich.text import Text

from boostbench.experiment.runner import Finished, Interrupted, Planned


class Progress:
    """A listener for `run`: bars on a terminal, elsewhere one line for each failure.

    To be used as a context manager, and given to `run` as its `on_event`.

    Parameters
    ----------
    console : rich.console.Console, optional
        Where to show it; default: stderr.
    """

    def __init__(self, console: Console | None = None):
        self.console = console or Console(file=sys.stderr)
        self.bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TextColumn("[red]{task.fields[failed]}"),
            TimeElapsedColumn(),
            TextColumn("ETA"),
            TimeRemainingColumn(),
            console=self.console,
            disable=not self.console.is_terminal,
            expand=True,
        )
        self.tasks: dict[bool, TaskID] = {}
        self.failures: dict[bool, int] = {True: 0, False: 0}
        self.told: set[str] = set()

    def __enter__(self) -> "Progress":
        self.bars.start()
        return self

    def __exit__(self, *exception) -> None:
        self.bars.stop()

    def __call__(self, event: Planned | Finished | Interrupted) -> None:
        """Show an event."""
        match event:
            case Planned():
                self._plan(event)
            case Finished():
                self._advance(event)
            case Interrupted():
                self._line(
                    f"stopped: {event.done} of {event.planned} fits are recorded; "
                    f"the same command goes on from there",
                    "yellow",
                )

    def _plan(self, event: Planned) -> None:
        for tuning, name, total in (
            (True, "tuning", event.tuning),
            (False, "splits", event.splits),
        ):
            if total:
                self.tasks[tuning] = self.bars.add_task(name, total=total, failed="")

    def _advance(self, event: Finished) -> None:
        if event.error:
            self.failures[event.tuning] += 1
            # Many cross-validation trials fail for one reason; once is enough to know.
            if not (event.tuning and event.error in self.told):
                self._line(f"failed: {event.label}: {event.error} ({event.where})", "red")
            self.told.add(event.error)
        n_failed = self.failures[event.tuning]
        failed = f"{n_failed} failed" if n_failed else ""
        self.bars.update(self.tasks[event.tuning], advance=1, failed=failed)

    def _line(self, text: str, style: str) -> None:
        self.console.print(Text(text, style), soft_wrap=True)
