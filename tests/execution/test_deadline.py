import signal
import threading

import pytest
from fitting.toy import run

from boostbench.execution import deadline
from boostbench.fitting.trial import DIED

#: Seconds. A split that does not hang takes a hundredth of it, so that a busy machine may be slow.
LIMIT = 6


def seed_of(experiment, number):
    return experiment.splits[number].seed


@pytest.fixture
def hanging(make_experiment):
    """Make an experiment whose split 1 takes for ever."""

    def make(target, **settings):
        seed = seed_of(make_experiment(), 1)
        settings = {"fail_on": seed, "time_limit": LIMIT} | settings
        return make_experiment(f"fake_classifiers.{target}", **settings)

    return make


@pytest.mark.parametrize(
    ("target", "n_jobs"), [("Hanging", 1), ("Hanging", 2), ("Uninterruptible", 2)]
)
def test_hanging_fit_costs_its_own_split_only(hanging, tmp_path, target, n_jobs):
    [outcome] = run([hanging(target)], results=tmp_path, n_jobs=n_jobs).results
    assert [record.split for record in outcome.records] == [0, 2, 3]
    [failure] = outcome.failures
    assert (failure.split, failure.error) == (1, f"OutOfTime: it takes more than {LIMIT} s")
    assert failure.where == "protocol.time_limit"


def test_worker_that_dies_before_the_limit_is_not_late(hanging, tmp_path):
    """Check that the start of a worker, which takes longer than the limit, does not count."""
    [outcome] = run([hanging("Crashing", time_limit=1)], results=tmp_path, n_jobs=2).results
    [failure] = [each for each in outcome.failures if each.split == 1]
    assert failure.error == DIED.error


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="the system has no such signal")
@pytest.mark.parametrize("seconds", [0.01, 600])
def test_alarm_of_the_caller_is_kept(make_experiment, seconds):
    experiment = make_experiment("fake_classifiers.Hanging", time_limit=0.2)
    trial = experiment.trial(experiment.splits[0], {})
    X, y = experiment.dataset.X, experiment.dataset.class_indices
    alarms = []
    before = signal.signal(signal.SIGALRM, lambda *_: alarms.append(True))
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, 1000)
        deadline.run_with_time_limit(trial, X, y, expendable=False)
        remaining, interval = signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert interval == 1000
    if seconds == 600:
        assert alarms == []
        assert 0 < remaining <= 600
    else:
        assert alarms == [True]


def test_time_limit_works_in_a_thread_without_signals(hanging):
    experiment = hanging("Hanging", time_limit=1)
    trial = experiment.trial(experiment.splits[1], {})
    X, y = experiment.dataset.X, experiment.dataset.y
    outcomes = []
    thread = threading.Thread(
        target=lambda: outcomes.append(deadline.run_with_time_limit(trial, X, y, expendable=False))
    )
    thread.start()
    thread.join()
    assert outcomes[0].error == "OutOfTime: it takes more than 1 s"


def test_time_limit_works_without_sigalrm(hanging, monkeypatch):
    monkeypatch.delattr(signal, "SIGALRM")
    experiment = hanging("Hanging", time_limit=1)
    trial = experiment.trial(experiment.splits[1], {})
    data = experiment.dataset
    outcome = deadline.run_with_time_limit(trial, data.X, data.class_indices, expendable=False)
    assert outcome.error == "OutOfTime: it takes more than 1 s"


def test_unreached_limit_changes_no_key(make_experiment, tmp_path):
    plain, limited = make_experiment(), make_experiment(time_limit=60)
    assert [plain.key(s) for s in plain.splits] == [limited.key(s) for s in limited.splits]
    run([plain], results=tmp_path)
    assert run([limited], results=tmp_path).ran == 0


def test_limit_is_in_the_split_key_of_tuned_experiments(make_experiment):
    grid = {"width": [1, 2, 3]}
    plain, limited = make_experiment(grid=grid), make_experiment(grid=grid, time_limit=60)
    assert plain.key(plain.splits[0]) != limited.key(limited.splits[0])
    assert plain.config.keys.trial == limited.config.keys.trial
    assert "time_limit" not in plain.config.protocol


def test_error_before_the_limit_is_recorded(make_experiment):
    experiment = make_experiment("fake_classifiers.Unprintable", time_limit=60)
    trial = experiment.trial(experiment.splits[0], {})
    outcome = deadline.run_with_time_limit(
        trial, experiment.dataset.X, experiment.dataset.y, expendable=0
    )
    assert outcome.error.startswith("ValueError")
    assert experiment.spec.protocol.time_limit == 60
