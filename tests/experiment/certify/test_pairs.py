import numpy as np
import pytest
from scipy import stats

from boostbench.experiment.certify.pairs import Pair, mean_difference
from boostbench.experiment.certify.samples import Sample
from boostbench.experiment.refit import encode

CONFIG = {"algo": {"_target_": "a.B"}, "data": {"name": "wine"}, "grid": {}, "protocol": {}}
CONFIG |= {"seed": 0}
RECORD = {"key": "k", "config_hash": "c", "split": 3, "config": CONFIG}


def found(labels=(0, 1, 1), seconds=1.0, **outcome):
    whole = {"test_error": 0.25, "n_iterations": 5, "n_parameters": 10, "seconds": {"fit": seconds}}
    return {
        "code": "x",
        "seconds": seconds,
        "outcome": whole | outcome,
        "outputs": {"end": encode(np.array(labels))},
    }


def make(before, after, **others):
    return Pair(Sample("records/wine/b.jsonl", RECORD | others, "after", "b17bc98"), before, after)


def test_times_and_what_only_a_later_record_holds_are_no_difference():
    pair = make(found(), found(seconds=9.0, digests={"end": "0123456789"}))
    assert pair.differences == []
    assert pair.error == 0.0
    assert pair.seconds == 10.0


@pytest.mark.parametrize(
    ("after", "difference"),
    [
        (found(test_error=0.5), "test_error: 0.25 then, 0.5 today"),
        (found(n_iterations=6), "n_iterations: 5 then, 6 today"),
        (found(test_error=float("nan")), "test_error: 0.25 then, NaN today"),
        (found(labels=(0, 1, 0)), "1 of 3 outputs at end"),
        (found(labels=(0, 1)), "outputs of shape (3,) then, (2,) today, at end"),
        (found(labels=(0.0, 1.0, 1.0)), "outputs are int64 then, float64 at end"),
        ({**found(), "outputs": {}}, "no output today at end"),
        ({**found(), "outcome": {"test_error": 0.25}}, "n_iterations: 5 then, null today"),
        ({"error": "ValueError: no"}, "today: ValueError: no"),
    ],
)
def test_differences(after, difference):
    assert difference in make(found(), after).differences


def test_a_record_may_hold_less_of_the_past_than_of_today_and_not_more():
    assert make(found(labels=(0,)), found(labels=(0,), added=1)).differences == []
    assert make(found(added=1), found()).differences == ["added: 1 then, null today"]


def test_a_fit_that_fails_is_no_identity():
    pair = make({"error": "ValueError: no"}, {"error": "ValueError: no"})
    assert pair.has_failed
    assert pair.differences


def test_error_in_points():
    assert make(found(), found(test_error=0.5)).error == 25.0
    fold = {"fold": 0, "point": {}}
    one = make(
        {"outcome": {"validation_error": 0.5}}, {"outcome": {"validation_error": 0.25}}, **fold
    )
    assert one.error == -25.0
    many = ({"outcome": {"validation_errors": errors}} for errors in ([0.5, 0.5], [0.5, 0.25]))
    assert make(*many, **fold).error == -12.5
    assert make(found(), found(), config={**CONFIG, "path": {}}).error is None


def test_mean_difference_against_scipy():
    errors = np.random.default_rng(0).integers(-3, 4, 30) / 8
    pairs = [make(found(test_error=0.5), found(test_error=0.5 + e / 100)) for e in errors]
    mean, low, high = mean_difference(pairs)
    assert mean == pytest.approx(errors.mean())
    expected = stats.ttest_1samp(errors, 0.0).confidence_interval(0.99)
    assert (low, high) == pytest.approx(tuple(expected))
