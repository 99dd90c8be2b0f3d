import io
import re

import pytest
from rich.console import Console

from boostbench.experiment.progress import Progress
from boostbench.experiment.runner import Finished, Interrupted, Planned, run

ERROR = "ValueError: cannot do this one"


@pytest.fixture
def show():
    """Show events on a console, and give what can be read there, line by line."""

    def show(events, terminal):
        file = io.StringIO()
        console = Console(file=file, force_terminal=terminal, width=80, color_system=None)
        with Progress(console) as progress:
            for event in events:
                progress(event)
            progress.bars.refresh()
        text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", file.getvalue())
        return [line.rstrip() for line in re.split(r"[\r\n]+", text) if line.strip()]

    return show


def done(tuning=False, label="fake on toy, split 0", error=None):
    return Finished(tuning, label, error, error and "fakes:12")


def test_bars_count_both_phases_within_80_columns(show):
    events = [Planned(6, 10, 0), *[done(tuning=True)] * 6, *[done()] * 3, done(error=ERROR)]
    shown = show(events, terminal=True)
    tuning, splits = shown[-2:]
    assert re.fullmatch(r"tuning ━+ 6/6 +0:00:0\d ETA 0:00:00", tuning)
    assert re.fullmatch(r"splits [━╸╺ ]+ 4/10 1 failed 0:00:0\d ETA [-\d:]+", splits)
    assert max(len(line) for line in shown) <= 80
    assert f"failed: fake on toy, split 0: {ERROR} (fakes:12)" in shown


def test_one_bar_where_nothing_is_tuned(show):
    assert not any("tuning" in line for line in show([Planned(0, 2, 1), done()], terminal=True))


def test_quiet_but_for_failures_without_a_terminal(show):
    label = "a long name of an algorithm on a long name of a data set, split 7"
    events = [Planned(1, 2, 0), done(tuning=True), done(), done(label=label, error=ERROR)]
    assert show(events, terminal=False) == [f"failed: {label}: {ERROR} (fakes:12)"]


def test_trials_that_fail_alike_are_told_once(show):
    events = [Planned(9, 2, 0), *[done(True, error=ERROR)] * 3, *[done(error=ERROR)] * 2]
    assert len(show(events, terminal=False)) == 3


def test_an_interrupted_run_says_what_is_kept(show):
    [line] = show([Planned(1, 2, 0), Interrupted(1, 3)], terminal=False)
    assert line == "stopped: 1 of 3 fits are recorded; the same command goes on from there"


def test_markup_in_an_error_is_shown_as_it_is(show):
    events = [Planned(0, 1, 0), done(error="KeyError: [red]x[/]")]
    assert "KeyError: [red]x[/]" in show(events, terminal=False)[0]


def test_it_listens_to_a_run(make_experiment, tmp_path):
    file = io.StringIO()
    with Progress(Console(file=file)) as progress:
        experiment = make_experiment("fake_classifiers.Failing", fail_width=2)
        run([experiment], results=tmp_path, on_event=progress)
    assert file.getvalue().count("failed: fake on toy, split") == 4
