import msgspec
import pytest

from boostbench.fitting import quantities
from boostbench.fitting.measures.base import Measure
from boostbench.fitting.quantities import (
    QUANTITIES,
    SHOWN_TIMES,
    TEST_ERROR,
    Quantity,
    get_quantity,
)
from boostbench.spec import measures
from boostbench.util.errors import UserError
from fitting.examples import measured

ENTRIES = {
    "test_error": 0.25,
    "train_error": 0.25,
    "checkpoints": {"50": 0.5},
    "n_iterations": 60,
    "n_parameters": None,
    "seconds": {
        "fit": 3.0,
        "weak_learner": None,
        "coefficients": 1.0,
        "predict_per_instance": 2e-6,
        "calibration": 0.1,
    },
}
RECORD = measured("", **ENTRIES)


def test_quantities_are_read_from_a_record():
    assert {name: one.number(RECORD) for name, one in QUANTITIES.items()} == {
        "test_error": 25.0,
        "accuracy": 75.0,
        "mean_average_precision": None,  # not recorded
        "log_loss": None,
        "brier": None,
        "auc": None,
        "balanced_accuracy": None,
        "n_nonzero": None,
        "n_iterations": 60,
        "n_parameters": None,  # not known
        "fit": 3.0,
        "weak_learner": None,
        "coefficients": 1.0,
        "predict_per_instance": 2.0,
        "hash_per_instance": None,
        "calibration": 0.1,
    }
    assert (
        QUANTITIES["mean_average_precision"].number(measured("a", mean_average_precision=0.2))
        == 0.2
    )


def test_quantities_may_be_read_at_a_checkpoint():
    assert TEST_ERROR.number(RECORD, 50) == QUANTITIES["accuracy"].number(RECORD, 50) == 50
    assert TEST_ERROR.number(RECORD, 100) is None


def test_means_leave_out_missing_values():
    records = [RECORD, measured("", **ENTRIES | {"test_error": 0.75}), measured("a", seconds={})]
    assert TEST_ERROR.mean(records) == 50
    assert QUANTITIES["weak_learner"].mean(records) is None


def test_quantities_with_verdicts_are_marked():
    assert [name for name, one in QUANTITIES.items() if one.is_judged] == [
        *("test_error", "accuracy", "mean_average_precision"),
        *("log_loss", "brier", "auc", "balanced_accuracy", "n_parameters"),
    ]
    assert all(QUANTITIES[name].of_machine for name in SHOWN_TIMES)
    assert {name: one.sign for name, one in QUANTITIES.items() if one.sign < 0} == {
        "accuracy": -1,
        "mean_average_precision": -1,
        "auc": -1,
        "balanced_accuracy": -1,
    }


def test_unknown_quantities_are_named():
    assert get_quantity("accuracy").unit == "percent"
    with pytest.raises(UserError, match="unknown quantity 'acuracy'; did you mean accuracy"):
        get_quantity("acuracy")


def test_each_quantity_is_recorded_by_a_measure():
    recorded = [measures.find(name).quantities for name in measures.names()]
    assert set(QUANTITIES) == set().union(*recorded)


@pytest.mark.parametrize("name", measures.names())
def test_measure_lists_its_required_quantities(name):
    measure = measures.find(name)
    assert set(measure.quantities) <= set(QUANTITIES)
    fields = msgspec.structs.fields(measure.form)
    required = {field.name for field in fields if field.required} | set(measure.form.required)
    assert required & set(QUANTITIES) <= set(measure.quantities)
    assert measure.has_checkpoints == ("checkpoints" in measure.form.required)


def test_measure_adds_quantities(monkeypatch):
    monkeypatch.setattr(quantities, "QUANTITIES", dict(QUANTITIES))
    depth = Quantity("depth", "Depth", "levels", ("depth",), better=None)

    class Depth(Measure):
        quantities = (depth, "fit")

    assert quantities.get_quantity("depth") is depth
    assert [Depth().has_quantity(name) for name in ("depth", "fit", "auc")] == [True, True, False]
    with pytest.raises(UserError, match="another quantity 'depth'"):

        class Deep(Measure):
            quantities = (Quantity("depth", "Depth", "nodes", ("depth",)),)
