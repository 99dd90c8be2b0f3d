"""Progress of a run on stderr: bars on a terminal; dated lines in a file or a pipe."""

import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from boostbench.execution.queue import Finished, Waiting
from boostbench.execution.runner import Interrupted, Planned
from boostbench.util.terminal import make_console

#: Seconds between two lines if stderr is no terminal, so that the log of a day stays readable.
LINE_INTERVAL = 60

#: Number of finished fits from which on a remaining time is shown. Fits in progress count as not
#: begun, so that an estimate from the first fits of several workers is several times too long.
MIN_FITS = 5


@dataclass
class _Phase:
    """Phase of a run: its name, its number of fits, and the numbers of finished and failed fits."""

    name: str
    total: int
    done: int = 0
    failed: int = 0


class ProgressDisplay(AbstractContextManager):
    """Listener of `boostbench.execution.runner.Run.carry_out` that shows its events.

    Parameters
    ----------
    console : rich.console.Console, default=None
        Console that shows the progress. None: stderr.
    clock : callable, default=time.monotonic
        Function without parameters that returns seconds.

    Attributes
    ----------
    console, clock
        The parameters.
    tuning, splits : _Phase
        Counts of the cross-validation trials and of the splits.
    bars : rich.progress.Progress or None
        Bars of the phases; None: the console is no terminal.
    """

    def __init__(self, console: Console | None = None, clock: Callable[[], float] = time.monotonic):
        self.console = console or make_console(file=sys.stderr)
        self.clock = clock
        self.tuning, self.splits = _Phase("tuning", 0), _Phase("splits", 0)
        self.bars: Progress | None = None
        if self.console.is_terminal:
            self.bars = Progress(
                TextColumn("{task.description}"),
                BarColumn(bar_width=None),
                MofNCompleteColumn(),
                TextColumn("[red]{task.fields[failed]}"),
                TimeElapsedColumn(),
                TextColumn("[progress.remaining]{task.fields[eta]}"),
                console=self.console,
                expand=True,
            )
        self._start = self._last_line = 0.0
        # Expected CPU seconds of finished and of remaining fits. A fit without a forecast counts as
        # an average fit.
        self._seconds_done = self._seconds_left = self._average = 0.0
        self._errors: set[str] = set()

    def __enter__(self) -> "ProgressDisplay":
        if self.bars:
            self.bars.start()
        return self

    def __exit__(self, exception, *_) -> None:
        if self.bars:
            self.bars.stop()
        elif self.phases and exception is None:
            n_done = sum(phase.done for phase in self.phases)
            end = f"end: {_format_duration(self.elapsed)} for {counted(n_done, 'fit')}"
            self._print(end + self._failures())

    def __call__(self, event: Planned | Finished | Waiting | Interrupted) -> None:
        """Show an event."""
        match event:
            case Planned():
                self._show_plan(event)
            case Finished():
                self._count(event)
                self._show_failure(event)
                self._show_state(event)
            case Waiting():
                self._print(
                    f"{counted(event.n_remaining, 'fit')} left to another run, which is at it"
                )
            case Interrupted():
                recorded = f"{event.done} of {event.planned} fits are recorded"
                resume = "the same command goes on from there"
                then = "rerun=all begins anew" if event.reruns_all else resume
                self._print(f"stopped: {recorded}; {then}", "yellow")

    @property
    def phases(self) -> list[_Phase]:
        """Phases with fits."""
        return [phase for phase in (self.tuning, self.splits) if phase.total]

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return self.clock() - self._start

    @property
    def eta(self) -> str:
        """Expected time until the end, as text.

        The elapsed time is extrapolated in proportion to the expected CPU seconds of the fits.
        """
        n_done = sum(phase.done for phase in self.phases)
        n_fits = sum(phase.total for phase in self.phases)
        if not self._seconds_done or n_done < min(MIN_FITS, n_fits / 4):
            return "ETA -:--:--"
        return f"ETA {_format_duration(self.elapsed * self._seconds_left / self._seconds_done)}"

    def _show_plan(self, event: Planned) -> None:
        """Start the clock and the counts of both phases, and print the plan."""
        self._start = self._last_line = self.clock()
        self.tuning = _Phase("tuning", event.n_trials)
        self.splits = _Phase("splits", event.n_splits)
        # Each fit counts as one second if there is no forecast.
        self._seconds_left, self._average = float(event.n_trials + event.n_splits), 1.0
        if event.forecast and event.forecast.seconds:
            n_expected = event.n_trials + event.n_splits - event.forecast.n_unknown
            self._average = event.forecast.seconds / n_expected
            self._seconds_left *= self._average
        text = _format_plan(event)
        self._print(text if self.bars else f"start: {text}")
        for phase in self.phases if self.bars else ():
            self.bars.add_task(phase.name, total=phase.total, failed="", eta="")

    def _count(self, event: Finished) -> None:
        """Count a finished fit, and move its expected seconds from the remaining to the done."""
        phase = self.tuning if event.is_tuning else self.splits
        phase.done += 1
        phase.failed += event.error is not None
        seconds = event.expected or self._average
        self._seconds_left = max(0.0, self._seconds_left - seconds)
        # A fit of another run took no time of this one.
        self._seconds_done += 0.0 if event.is_by_other_run else seconds

    def _show_failure(self, event: Finished) -> None:
        """Print the error of a failed fit."""
        # Many cross-validation trials fail by the same error, which is printed once.
        if event.error and not (event.is_tuning and event.error in self._errors):
            self._print(f"failed: {event.label}: {event.error} ({event.where})", "red")
            self._errors.add(event.error)

    def _show_state(self, event: Finished) -> None:
        """Update the bars; without bars, print a line if the last one is `LINE_INTERVAL` old."""
        if self.bars:
            for task, phase in zip(self.bars.task_ids, self.phases, strict=True):
                failed = f"{phase.failed} failed" if phase.failed else ""
                self.bars.update(task, completed=phase.done, failed=failed)
            self.bars.update(task, eta=self.eta)  # only the last bar shows it
        elif self.clock() - self._last_line >= LINE_INTERVAL:
            self._last_line = self.clock()
            counts = [f"{phase.name} {phase.done} of {phase.total}" for phase in self.phases]
            state = ", ".join(counts) + self._failures()
            self._print(f"{state}; {_format_duration(self.elapsed)} so far, {self.eta}")

    def _failures(self) -> str:
        """Return the end of a line about the number of failed fits; empty without failures."""
        n_failed = sum(phase.failed for phase in self.phases)
        return f", {n_failed} failed" if n_failed else ""

    def _print(self, text: str, style: str = "") -> None:
        """Print a line, with the date if there are no bars; `style` is a style of rich."""
        date = "" if self.bars else f"{datetime.now():%Y-%m-%d %H:%M:%S} "
        self.console.print(Text(date + text, style), soft_wrap=True)


def _format_plan(event: Planned) -> str:
    """Return the number of fits, and their expected time as far as records allow a forecast."""
    first = f", after {counted(event.n_trials, 'cross-validation trial')}" if event.n_trials else ""
    recorded = f"; on record: {event.n_recorded}" if event.n_recorded else ""
    text = f"{counted(event.n_splits, 'split')} to run{first}{recorded}"
    if event.forecast and event.forecast.seconds:
        seconds = _format_cpu_time(event.forecast.seconds)
        text += f"; about {seconds}, estimated from recorded fits"
        if event.forecast.n_unknown:
            text += f" (no estimate for {event.forecast.n_unknown} of them)"
    return text


def _format_cpu_time(seconds: float) -> str:
    """Return an estimated CPU time in words.

    Examples
    --------
    >>> _format_cpu_time(0.2), _format_cpu_time(3.2), _format_cpu_time(100)
    ('1 CPU second', '3 CPU seconds', '1.7 CPU minutes')
    >>> _format_cpu_time(10_000)
    '2.8 CPU hours'
    """
    for size, unit in ((3600, "hours"), (60, "minutes")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.2g} CPU {unit}"
    return counted(max(1, round(seconds)), "CPU second")


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "fit"), counted(2, "fit")
    ('1 fit', '2 fits')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _format_duration(seconds: float) -> str:
    """Return a duration as hours, minutes and seconds.

    Examples
    --------
    >>> _format_duration(3725.4)
    '1:02:05'
    """
    return str(timedelta(seconds=round(seconds)))
