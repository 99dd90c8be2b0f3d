import itertools

import numpy as np
import pytest
from fitting.examples import RECORD, TRIAL, changed

from boostbench.execution.verification import compare


def outcome(**changes):
    return changed(RECORD, **changes)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"seconds__fit": 9.0, "finished": "2027-01-01T00:00:00Z", "commit": "0000000"},
        {"test_error": (1 / 30) * (1 + 1e-12)},
        {"witness": {"end": 1.0}},
    ],
)
def test_what_makes_no_difference(changes):
    assert compare.what_differs(RECORD, outcome(**changes)) == []


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"test_error": 2 / 30}, "test_error is 0.0333"),
        ({"n_iterations": 3}, "n_iterations is 2 on record, 3 today"),
        ({"checkpoints__2": 2 / 30}, "checkpoints is"),
        ({"checkpoints": {"1": 0.1}}, "checkpoints is"),
        ({"n_parameters": 4}, "n_parameters is null on record, 4 today"),
    ],
)
def test_what_does(changes, told):
    [found] = compare.what_differs(RECORD, outcome(**changes))
    assert found.startswith(told)


def test_scores_tell_more_than_labels():
    record = outcome(witness={"1": 0.5, "end": 2.0})
    assert compare.what_differs(record, outcome(witness={"1": 0.5, "end": 2.0 * (1 + 1e-10)})) == []
    assert compare.what_differs(record, outcome(witness={"1": 0.5, "end": 2.0 * (1 + 1e-7)}))
    assert compare.what_differs(record, outcome()) == [
        'witness is {"1": 0.5, "end": 2.0} on record, null today'
    ]


def test_a_trial_is_compared_by_its_validation_error():
    assert compare.what_differs(TRIAL, changed(TRIAL, validation_error=0.2))
    # Of a split it is what its trials have said.
    assert compare.what_differs(changed(RECORD, validation_error=0.1), RECORD) == []


def test_a_failure_is_a_difference():
    assert compare.what_differs(RECORD, {"error": "ValueError: no"}) == [
        "today it fails: ValueError: no"
    ]


def test_errors():
    assert compare.error_of(RECORD) == 1 / 30
    assert compare.error_of(TRIAL) == 0.1
    assert compare.error_of({"validation_errors": [0.1, 0.3]}) == pytest.approx(0.2)
    assert compare.error_of({"mean_average_precision": 0.75}) == 0.25
    assert compare.error_of({"validation_error": None}) is None


def test_systematic_by_all_signs():
    """The share of all signs by which the mean is as far from 0, counted one by one."""
    rng = np.random.default_rng(0)
    for shift in (0.0, 0.5, 1.0, 3.0):
        errors = rng.normal(shift, 1, 8)
        means = [np.mean(signs * errors) for signs in itertools.product([-1, 1], repeat=8)]
        share = np.mean(np.abs(means) >= abs(errors.mean()) - 1e-12)
        expected = errors.mean() if share < compare.LEVEL else None
        assert compare.systematic(errors) == pytest.approx(expected)


def test_few_or_equal_errors_are_no_system():
    assert compare.systematic([]) is None
    assert compare.systematic([None, 1.0]) is None
    assert compare.systematic([1.0] * 7) is None
    assert compare.systematic([1.0] * 8 + [0.0, None]) == 1.0


def test_equivalence():
    rng = np.random.default_rng(0)
    assert "29 pairs" in compare.why_not_equivalent([0.0] * (compare.N_PAIRS - 1))
    assert compare.why_not_equivalent([0.0] * compare.N_PAIRS) == ""
    assert compare.why_not_equivalent(rng.normal(0, 0.1, 200)) == ""
    assert "reaches beyond 0.1" in compare.why_not_equivalent(rng.normal(0.2, 0.1, 200))
    assert compare.why_not_equivalent(rng.normal(0, 1, 40))


def test_scores_of_two_kernels():
    assert compare.are_alike({"1": 0.5}, {"1": 0.5001})
    assert not compare.are_alike({"1": 0.5}, {"1": 0.505})
    assert not compare.are_alike({"1": 0.5}, {"1": 0.5, "2": 1.0})
    assert not compare.are_alike(None, {"1": 0.5})
