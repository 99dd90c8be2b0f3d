import pickle

import msgspec
import pytest
from fitting.examples import CONFIG, RECORD

from boostbench.fitting.measures.prediction import PredictionResults, PredictionSeconds
from boostbench.records.codec import encode, make_record
from boostbench.records.fit_results import SplitResults
from boostbench.records.schema import BadLine, Config, Provenance
from boostbench.spec import measures

PROVENANCE = Provenance({"commit": "b17bc98", "environment": RECORD["environment"]})
_NAMES = ("split", "rows", "n_train", "n_test", "chosen", "validation_error", "started", "finished")
FACTS = {name: RECORD[name] for name in _NAMES}
RESULTS = PredictionResults(
    test_error=2 / 30,
    train_error=0.0,
    checkpoints=[0.1, 2 / 30],
    digests=["0a", "0b", "0b"],
    witness=[0.5, 1.0, 1.5],
    n_iterations=2,
    n_parameters=None,
    seconds=PredictionSeconds(fit=0.5, calibration=0.08, predict_per_instance=1e-6),
    auc=0.75,
)


def record(results):
    return make_record("", Config(CONFIG), PROVENANCE, results, **FACTS)


def test_mapping_of_results_gives_the_record_of_the_struct():
    """Check the measure of a user that extends the results of a measure of boostbench."""
    entries = msgspec.to_builtins(RESULTS)
    by_round = entries | {"digests": {"1": "0a", "2": "0b", "end": "0b"}}
    by_round |= {"checkpoints": {"1": 0.1, "2": 2 / 30}}
    expected = encode(record(RESULTS)).line
    assert b'"n_wrong":[3,2]' in expected
    for mapping in (entries, by_round):
        assert encode(record(SplitResults.from_dict(mapping))).line == expected
    extended = record(SplitResults.from_dict(entries | {"depths": [1, 2]}))
    assert extended.get("depths") == [1, 2]


def test_inexact_errors_at_checkpoints_are_recorded_by_round():
    """Check errors of a user's loss, which are no numbers of rows divided by their number."""
    inexact = record(msgspec.structs.replace(RESULTS, test_error=0.123, checkpoints=[0.1, 0.123]))
    assert (inexact.test_error, inexact.checkpoints) == (0.123, {"1": 0.1, "2": 0.123})


@pytest.mark.parametrize("name", ["test_error", "train_error", "checkpoints", "n_iterations"])
def test_record_needs_results_without_a_default(name):
    with pytest.raises(BadLine, match=name):
        record(msgspec.structs.replace(RESULTS, **{name: msgspec.UNSET}))


def test_more_errors_than_checkpoints_are_refused():
    with pytest.raises(BadLine, match="n_wrong: the config has fewer checkpoints"):
        record(msgspec.structs.replace(RESULTS, checkpoints=[0.0] * 4))


@pytest.mark.parametrize("name", measures.names())
def test_types_of_records_can_be_pickled(name):
    form = measures.find(name).form
    assert pickle.loads(pickle.dumps(form)) is form
