"""Show on stderr how far a run has come."""

import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime, timedelta

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from boostbench.execution.queue import Finished, Waiting
from boostbench.execution.runner import Interrupted, Planned
from boostbench.util.console import make_console

#: Seconds from one line to the next, where no terminal shows bars.
_PAUSE = 60


class Listener(AbstractContextManager):
    """A listener for a run: what bars and lines have in common.

    To be used as a context manager, and given to `Run.carry_out`.

    Parameters
    ----------
    console : rich.console.Console
        Where to show it.
    clock : callable, default=time.monotonic
        Gives seconds.
    """

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic):
        self.console = console
        self.clock = clock
        self.start = 0.0
        self.planned: Planned | None = None
        self.work: _Work | None = None
        self.done: dict[bool, int] = {True: 0, False: 0}
        self.failures: dict[bool, int] = {True: 0, False: 0}
        self.told: set[str] = set()

    def __exit__(self, *exception) -> None:
        pass

    @property
    def kinds(self) -> list[tuple[bool, str, int]]:
        """Trials and splits, as far as there are any: which, what they are called, how many."""
        planned = (True, "tuning", self.planned.tuning), (False, "splits", self.planned.splits)
        return [kind for kind in planned if kind[-1]]

    def __call__(self, event: Planned | Finished | Waiting | Interrupted) -> None:
        """Show an event."""
        match event:
            case Planned():
                self.planned, self.work, self.start = event, _Work.of(event), self.clock()
                self.plan(event)
            case Finished():
                self.done[event.tuning] += 1
                self.work.finish(event)
                self.failures[event.tuning] += event.error is not None
                # Many cross-validation trials fail for one reason; once is enough to know.
                if event.error and not (event.tuning and event.error in self.told):
                    where = f"{event.label}: {event.error} ({event.where})"
                    self.line(f"failed: {where}", "red")
                    self.told.add(event.error)
                self.advance(event)
            case Waiting():
                self.line(f"{counted(event.left, 'fit')} left to another run, which is at it")
            case Interrupted():
                recorded = f"{event.done} of {event.planned} fits are recorded"
                on = "the same command goes on from there"
                then = "rerun=all begins anew" if event.anew else on
                self.line(f"stopped: {recorded}; {then}", "yellow")

    @property
    def spent(self) -> float:
        """Seconds since the start."""
        return self.clock() - self.start

    @property
    def left(self) -> float | None:
        """Seconds until the end, by what is done; None where nothing is."""
        return self.spent * self.work.left / self.work.done if self.work.done else None

    def plan(self, event: Planned) -> None:
        """Show what is planned."""
        raise NotImplementedError

    def advance(self, event: Finished) -> None:
        """Show that a fit is done."""
        raise NotImplementedError

    def line(self, text: str, style: str = "") -> None:
        """Print a line."""
        self.console.print(Text(text, style), soft_wrap=True)


class _Work:
    """How much is done, in CPU seconds as expected; fits that nothing is known of are average.

    Attributes
    ----------
    left, done : float
        What another run has done is neither.
    """

    def __init__(self, left: float, average: float):
        self.left, self.done, self._average = left, 0.0, average

    @classmethod
    def of(cls, planned: Planned) -> "_Work":
        """Take what is planned."""
        number, known = planned.tuning + planned.splits, planned.forecast
        if known is None or not known.seconds:
            return cls(number, 1.0)
        average = known.seconds / (number - known.unknown)
        return cls(known.seconds + known.unknown * average, average)

    def finish(self, event: Finished) -> None:
        """Count a fit as done."""
        seconds = event.expected or self._average
        self.done += 0.0 if event.elsewhere else seconds
        self.left = max(0.0, self.left - seconds)


class _Left(ProgressColumn):
    """The time until the end of all, beside the last bar."""

    max_refresh = 0.5

    def __init__(self, listener: Listener):
        super().__init__()
        self.listener = listener

    def render(self, task: Task) -> Text:
        """Write it."""
        if not task.fields["is_last"]:
            return Text()
        return Text(f"ETA {_duration(self.listener.left)}", "progress.remaining")


class ProgressBars(Listener):
    """A bar for cross-validation trials and one for splits, at a terminal; as `Listener`."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic):
        super().__init__(console, clock)
        self.bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TextColumn("[red]{task.fields[failed]}"),
            TimeElapsedColumn(),
            _Left(self),
            console=console,
            expand=True,
        )
        self.tasks: dict[bool, TaskID] = {}

    def __enter__(self) -> "ProgressBars":
        self.bars.start()
        return self

    def __exit__(self, *exception) -> None:
        self.bars.stop()

    def plan(self, event: Planned) -> None:
        """Tell what is planned, above empty bars."""
        self.line(_planned(event))
        for tuning, name, total in self.kinds:
            fields = {"failed": "", "is_last": tuning == self.kinds[-1][0]}
            self.tasks[tuning] = self.bars.add_task(name, total=total, **fields)

    def advance(self, event: Finished) -> None:
        """Lengthen a bar."""
        failed = _failed(self.failures[event.tuning])
        self.bars.update(self.tasks[event.tuning], advance=1, failed=failed)


class ProgressLines(Listener):
    """Dated lines, where no terminal is: at the start and the end, and each minute at most.

    Parameters are those of `Listener`.
    """

    def __exit__(self, exception, *_) -> None:
        if self.planned and exception is None:
            end = f"{_duration(self.spent)} for {counted(sum(self.done.values()), 'fit')}"
            self.line(f"end: {', '.join(filter(None, [end, self._failed()]))}")

    def plan(self, event: Planned) -> None:
        """Tell what is planned."""
        self.last = self.start
        self.line(f"start: {_planned(event)}")

    def advance(self, event: Finished) -> None:
        """Tell how far it is, if it was not told a moment ago."""
        now = self.clock()
        if now - self.last < _PAUSE:
            return
        self.last = now
        counts = [f"{name} {self.done[tuning]} of {total}" for tuning, name, total in self.kinds]
        state = ", ".join(filter(None, [*counts, self._failed()]))
        self.line(f"{state}; {_duration(self.spent)} so far, ETA {_duration(self.left)}")

    def line(self, text: str, style: str = "") -> None:
        """Print a line that says when."""
        super().line(f"{datetime.now():%Y-%m-%d %H:%M:%S} {text}", style)

    def _failed(self) -> str:
        return _failed(sum(self.failures.values()))


def progress(console: Console | None = None) -> Listener:
    """Make the listener that fits where it is shown.

    Parameters
    ----------
    console : rich.console.Console, optional
        Where to show it; default: stderr.

    Returns
    -------
    Listener
    """
    console = console or make_console(file=sys.stderr)
    return ProgressBars(console) if console.is_terminal else ProgressLines(console)


def _planned(event: Planned) -> str:
    """Say how many fits there are, and how long they will take as far as is known."""
    first = f", after {counted(event.tuning, 'cross-validation trial')}" if event.tuning else ""
    recorded = f"; on record: {event.recorded}" if event.recorded else ""
    text = f"{counted(event.splits, 'split')} to run{first}{recorded}"
    if event.forecast and event.forecast.seconds:
        text += f"; fits take about {_rough(event.forecast.seconds)}, by what is on record"
        if event.forecast.unknown:
            text += f", without {counted(event.forecast.unknown, 'fit')} of which nothing is known"
    return text


def _rough(seconds: float) -> str:
    """Write a CPU time that is only estimated.

    Examples
    --------
    >>> _rough(0.2), _rough(3.2), _rough(100), _rough(10_000)
    ('a CPU second', '3 CPU seconds', '1.7 CPU minutes', '2.8 CPU hours')
    """
    for size, unit in ((3600, "hours"), (60, "minutes")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.2g} CPU {unit}"
    return f"{seconds:.0f} CPU seconds" if seconds >= 1.5 else "a CPU second"


def _failed(number: int) -> str:
    return f"{number} failed" if number else ""


def counted(number: int, what: str) -> str:
    """Write a number of things.

    Examples
    --------
    >>> counted(1, "fit"), counted(2, "fit")
    ('1 fit', '2 fits')
    """
    return f"{number} {what}{'' if number == 1 else 's'}"


def _duration(seconds: float | None) -> str:
    """Write a duration.

    Examples
    --------
    >>> _duration(3725.4), _duration(None)
    ('1:02:05', '-:--:--')
    """
    return "-:--:--" if seconds is None else str(timedelta(seconds=round(seconds)))
