import time

import pytest

from boostbench.algorithms.base import master as module
from boostbench.algorithms.base.master import Clock


@pytest.fixture
def spend(monkeypatch):
    """Advance the wall clock by some seconds, and the CPU clock by a fraction of them."""
    spent = {"wall": 100.0, "cpu": 7.0, "readings": 0}

    def spend(wall, cpu):
        spent["wall"] += wall
        spent["cpu"] += cpu

    def process_time():
        spent["readings"] += 1
        return spent["cpu"]

    monkeypatch.setattr(time, "perf_counter", lambda: spent["wall"])
    monkeypatch.setattr(time, "process_time", process_time)
    spend.so_far = spent
    return spend


@pytest.fixture
def clock():
    return Clock()


def test_inner_phase_pauses_the_outer_phase(spend, clock):
    with clock.phase("coefficients"):
        assert clock.seconds == {"coefficients": 0.0}
        spend(1.0, 0.5)
        with clock.phase("search"):
            spend(2.0, 1.0)
        spend(4.0, 2.0)
    spend(8.0, 8.0)
    with clock.phase("search"):
        spend(16.0, 16.0)
    assert clock.seconds == pytest.approx({"coefficients": 2.5, "search": 17.0})


def test_exception_ends_its_phases(spend, clock):
    def fail():
        spend(1.0, 1.0)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), clock.phase("coefficients"), clock.phase("search"):
        fail()
    spend(8.0, 8.0)
    with clock.phase("search"):
        spend(2.0, 2.0)
    assert clock.seconds == pytest.approx({"coefficients": 0.0, "search": 3.0})


def test_phase_without_a_name_is_not_counted(spend, clock):
    with clock.phase("search"):
        spend(1.0, 0.5)
        with clock.phase(None):
            spend(2.0, 2.0)
        spend(1.0, 0.5)
    assert set(clock.seconds) == {"search"}
    # Half of the window by wall time, and the time after the window.
    assert clock.seconds["search"] == pytest.approx(2.5 / 3 + 0.5)


@pytest.mark.parametrize("rounds", [10, 1000])
def test_short_phases_share_the_cpu_seconds_of_a_window(spend, clock, rounds):
    with clock.phase("search"):
        for _ in range(rounds):
            spend(3e-4, 1e-4)
            with clock.phase("coefficients"):
                spend(1e-4, 1e-4)
    total = rounds * 2e-4
    assert clock.seconds == pytest.approx({"search": 0.75 * total, "coefficients": 0.25 * total})
    # The CPU clock is read at the start, after each window and at the end.
    windows = rounds * 4e-4 / module._WINDOW
    assert spend.so_far["readings"] <= windows + 2
