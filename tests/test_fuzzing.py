"""Test generated input, a short version of ``scripts/fuzz.py``."""

import logging
import warnings

import fuzzing
import hostile
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

ALL = fuzzing.ALL | hostile.ALL
#: Number of inputs of each kind; inputs of whole commands are slow.
N_PIECES = {
    "long data files": 10,
    "command lines": 5,
    "values of configs": 15,
    "tables": 30,
    "figures": 30,
    **dict.fromkeys(hostile.ALL, 15),
    "hostile records": 6,  # a third of them writes the page of all results
}


@pytest.mark.parametrize("kind", ALL)
def test_random_input_is_accepted_or_refused_in_one_line(kind, tmp_path):
    outcomes = set()

    @settings(
        max_examples=N_PIECES.get(kind, 60),
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.integers(0, 2**60))
    def take(number):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        outcomes.add(ALL[kind](folder, number))

    logging.disable()
    try:
        with fuzzing.quarantine(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            take()
    finally:
        logging.disable(logging.NOTSET)
    assert outcomes <= {"read", "taken", "refused", "left out"}
    assert outcomes & {"refused", "left out"}
