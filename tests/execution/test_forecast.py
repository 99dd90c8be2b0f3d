import pytest
from fitting.examples import CONFIG, FAILURE, TRIAL, measured, modify_record, recorded

from boostbench.execution import run_records as module
from boostbench.execution.progress import ProgressDisplay
from boostbench.execution.run_records import FitGroup, Forecast, forecast
from boostbench.execution.runner import Planned
from boostbench.records.schema import Config


def config(rounds):
    return Config(CONFIG | {"algo": {"_target_": "a.B", "n_iterations": rounds}})


def records(rounds, *seconds, calibration=0.05):
    times = [{"fit": fit, "calibration": calibration} for fit in seconds]
    return [measured("mine", config=config(rounds).content, seconds=seconds) for seconds in times]


@pytest.fixture(autouse=True)
def slow(monkeypatch):
    """Make this machine half as fast as the machine of the records."""
    monkeypatch.setattr(module, "calibration", lambda: 0.1)


def test_recorded_seconds_are_scaled_to_this_machine():
    same = records(100, 1.0, 3.0)
    # Ten fits of 2 seconds, twice as slow here.
    assert forecast([FitGroup("a", 10, config(100), [same])]) == Forecast(40.0, 0, (("a", 4.0),))
    # Seconds are proportional to rounds; fits with other rounds count if no equal fit is recorded.
    assert forecast([FitGroup("a", 10, config(50), [same])]) == Forecast(20.0, 0, (("a", 2.0),))
    work = [FitGroup("a", 10, config(50), [same + records(50, 9.0)])]
    assert forecast(work) == Forecast(180.0, 0, (("a", 18.0),))


@pytest.mark.parametrize(
    ("asked", "done"), [("auto", "auto"), ("auto", 9), (9, "auto"), (9, 0), (-1, 9)]
)
def test_rounds_without_a_number_do_not_scale_seconds(asked, done):
    work = [FitGroup("a", 1, config(asked), [records(done, 1.0)])]
    assert forecast(work) == Forecast(2.0, 0, (("a", 2.0),))


def test_seconds_of_a_path_are_scaled_to_this_machine():
    path = {"points": [{"nu": 1}], "validation_errors": [0.5], "seconds": [1.0, 2.0]}
    path |= {"config": config(100).content}
    path = [recorded(modify_record(TRIAL, point=..., validation_error=...) | path, "tuning")]
    assert forecast([FitGroup("a", 2, config(100), [path])]) == Forecast(6.0, 0, (("a", 3.0),))


def test_fits_without_an_estimate_are_counted():
    failed = [recorded(FAILURE | {"config": config(100).content})]
    work = [
        FitGroup("a", 10, config(100), [failed, []]),
        FitGroup("b", 1, config(100), [[], records(100, 1.0)]),
    ]
    assert forecast(work) == Forecast(2.0, 10, (("b", 2.0),))
    assert forecast([]) == Forecast(0.0, 0)


@pytest.mark.parametrize(
    ("forecast", "message"),
    [
        (None, "9 splits to run"),
        (Forecast(0.0, 9), "9 splits to run"),
        (Forecast(400.0, 0), "to run; about 6.7 CPU minutes, estimated from recorded fits"),
        (
            Forecast(2.0, 1),
            "about 2 CPU seconds, estimated from recorded fits (no estimate for 1 of them)",
        ),
    ],
)
def test_progress_shows_the_forecast(capsys, forecast, message):
    from rich.console import Console

    ProgressDisplay(Console())(Planned(0, 9, 0, forecast))
    assert " ".join(capsys.readouterr().out.split()).endswith(message)
