import io
import re

import pytest
from fitting.toy import run
from rich.console import Console

from boostbench.execution.progress import ProgressDisplay
from boostbench.execution.queue import Finished
from boostbench.execution.run_records import Forecast
from boostbench.execution.runner import Interrupted, Planned

ERROR = "ValueError: cannot do this one"


@pytest.fixture
def show():
    """Return a function that shows events on a console and returns the lines of its output."""

    def show(events, terminal):
        file = io.StringIO()
        console = Console(file=file, force_terminal=terminal, width=80, color_system=None)
        with ProgressDisplay(console) as listener:
            for event in events:
                listener(event)
            if terminal:
                listener.bars.refresh()
        text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", file.getvalue())
        return [line.rstrip() for line in re.split(r"[\r\n]+", text) if line.strip()]

    return show


def done(tuning=False, label="fake on toy, split 0", error=None):
    return Finished(tuning, label, error, error and "fakes:12")


def test_bars_count_both_phases_within_80_columns(show):
    events = [Planned(6, 10, 0), *[done(tuning=True)] * 6, *[done()] * 3, done(error=ERROR)]
    lines = show(events, terminal=True)
    tuning, splits = lines[-2:]
    assert re.fullmatch(r"tuning ━+ 6/6 +[\d:]+", tuning)
    assert re.fullmatch(r"splits [━╸╺ ]+ 4/10 1 failed [\d:]+ ETA [\d:]+", splits)
    assert max(len(line) for line in lines) <= 80
    assert f"failed: fake on toy, split 0: {ERROR} (fakes:12)" in lines


def test_run_without_tuning_has_one_bar(show):
    assert not any("tuning" in line for line in show([Planned(0, 2, 1), done()], terminal=True))


def undated(lines):
    """Check that all lines have a date and remove it."""
    assert all(re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d ", line) for line in lines)
    return [line[20:] for line in lines]


def test_lines_without_a_terminal_are_dated(show):
    label = "a long name of an algorithm on a long name of a data set, split 7"
    events = [Planned(1, 2, 3), done(tuning=True), done(), done(label=label, error=ERROR)]
    *lines, end = undated(show(events, terminal=False))
    assert lines == [
        "start: 2 splits to run, after 1 cross-validation trial; on record: 3",
        f"failed: {label}: {ERROR} (fakes:12)",
    ]
    assert re.fullmatch(r"end: [\d:]+ for 3 fits, 1 failed", end)


def test_no_output_without_events(show):
    assert show([], terminal=False) == []


def test_one_line_per_minute_has_the_remaining_time():
    now = 0.0
    file = io.StringIO()
    with ProgressDisplay(Console(file=file, width=80), clock=lambda: now) as lines:
        lines(Planned(4, 2, 0))
        for _ in range(4):
            now += 25.0
            lines(done(tuning=True))
        now += 80.0
        lines(done(error=ERROR))
        now += 5.0
        lines(done())
    assert undated(file.getvalue().splitlines()) == [
        "start: 2 splits to run, after 4 cross-validation trials",
        "tuning 3 of 4, splits 0 of 2; 0:01:15 so far, ETA 0:01:15",
        f"failed: fake on toy, split 0: {ERROR} (fakes:12)",
        "tuning 4 of 4, splits 1 of 2, 1 failed; 0:03:00 so far, ETA 0:00:36",
        "end: 0:03:05 for 6 fits, 1 failed",
    ]


@pytest.mark.parametrize(
    ("forecast", "remaining"),
    [
        # 30 of 300 forecast seconds are done; without a forecast, one of four equal fits.
        (Forecast(300.0, 0), "0:09:00"),
        (Forecast(0.0, 4), "0:03:00"),
        (None, "0:03:00"),
        # A fit without a forecast counts as the average of the other fits, 100.
        (Forecast(300.0, 1), "0:12:20"),
    ],
)
def test_remaining_time_is_weighted_by_forecast_seconds(forecast, remaining):
    now = 0.0
    file = io.StringIO()
    with ProgressDisplay(Console(file=file, width=80), clock=lambda: now) as lines:
        lines(Planned(0, 4, 0, forecast))
        now = 60.0
        lines(Finished(False, "a fit", None, None, 30.0 if forecast and forecast.seconds else None))
    assert undated(file.getvalue().splitlines())[1].endswith(f"0:01:00 so far, ETA {remaining}")


def test_fits_of_another_run_take_no_time():
    now = 0.0
    file = io.StringIO()
    with ProgressDisplay(Console(file=file, width=80), clock=lambda: now) as lines:
        lines(Planned(0, 4, 0, Forecast(400.0, 0)))
        now = 60.0
        lines(Finished(False, "a fit", None, None, 100.0, is_by_other_run=True))
        now = 120.0
        lines(Finished(False, "a fit", None, None, 100.0))
    first, second = undated(file.getvalue().splitlines())[1:3]
    assert first == "splits 1 of 4; 0:01:00 so far, ETA -:--:--"
    assert second == "splits 2 of 4; 0:02:00 so far, ETA 0:04:00"


def test_equal_failures_of_trials_are_shown_once(show):
    events = [Planned(9, 2, 0), *[done(True, error=ERROR)] * 3, *[done(error=ERROR)] * 2]
    assert sum("failed:" in line for line in show(events, terminal=False)) == 3


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize(
    ("reruns_all", "next_step"),
    [(False, "the same command goes on from there"), (True, "rerun=all begins anew")],
)
def test_interrupted_run_shows_the_recorded_fits(show, terminal, reruns_all, next_step):
    lines = show([Planned(1, 2, 0), Interrupted(1, 3, reruns_all)], terminal)
    assert any(line.endswith(f"stopped: 1 of 3 fits are recorded; {next_step}") for line in lines)


def test_stopped_run_shows_no_end():
    file = io.StringIO()
    lines = ProgressDisplay(Console(file=file))
    lines(Planned(0, 3, 0))
    lines.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert "end" not in file.getvalue()


def test_markup_in_an_error_is_shown_unchanged(show):
    events = [Planned(0, 1, 0), done(error="KeyError: [red]x[/]")]
    assert any("KeyError: [red]x[/]" in line for line in show(events, terminal=False))


def test_display_shows_the_events_of_a_run(make_experiment, tmp_path):
    file = io.StringIO()
    with ProgressDisplay(Console(file=file)) as listener:
        experiment = make_experiment("fake_classifiers.Failing", fail_width=2)
        run([experiment], results=tmp_path, on_event=listener)
    assert file.getvalue().count("failed: fake on toy, split") == 4
