"""A share of what ``scripts/fuzz.py`` does at length."""

import logging
import warnings

import fuzzing
import pytest
from hypothesis import HealthCheck, Phase, given, settings

#: How many pieces of each kind; those that go through all of boostbench are slow.
N_PIECES = {"command lines": 5, "values of configs": 15, "tables": 30, "figures": 30}


@pytest.mark.parametrize("kind", fuzzing.ALL)
def test_whatever_comes_is_taken_or_refused_in_one_line(kind, tmp_path):
    strategy, function = fuzzing.ALL[kind]
    found = set()

    @settings(
        max_examples=N_PIECES.get(kind, 60),
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def take(case):
        own = tmp_path / str(len(list(tmp_path.iterdir())))
        own.mkdir()
        found.add(function(own, case))

    logging.disable()
    try:
        with fuzzing.quarantine(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            take()
    finally:
        logging.disable(logging.NOTSET)
    assert found <= {"read", "taken", "refused", "left out"}
    assert found & {"refused", "left out"}
