import time

import pytest

from boostbench.algorithms.training.clock import Clock


@pytest.fixture
def now(monkeypatch):
    """Set the CPU time that the clock sees."""
    readings = iter([0.0, 1.0, 3.0, 7.0, 15.0, 31.0])
    monkeypatch.setattr(time, "process_time", lambda: next(readings))


@pytest.mark.usefixtures("now")
def test_a_phase_inside_pauses_the_one_around_it():
    clock = Clock()
    with clock.phase("coefficients"):  # 0 to 1
        assert clock.seconds == {"coefficients": 0.0}
        with clock.phase("search"):  # 1 to 3
            pass
        # 3 to 7
    with clock.phase("search"):  # 15 to 31
        pass
    assert clock.seconds == {"coefficients": 1.0 + 4.0, "search": 2.0 + 16.0}


@pytest.mark.usefixtures("now")
def test_a_phase_without_a_name_is_a_pause():
    clock = Clock()
    with clock.phase("search"), clock.phase(None):
        pass
    assert clock.seconds == {"search": 1.0 + 4.0}


@pytest.mark.usefixtures("now")
def test_an_error_ends_its_phases():
    clock = Clock()
    with pytest.raises(ZeroDivisionError), clock.phase("coefficients"), clock.phase("search"):
        raise ZeroDivisionError
    with clock.phase("search"):
        pass
    assert clock.seconds == {"coefficients": 1.0 + 4.0, "search": 2.0 + 16.0}
