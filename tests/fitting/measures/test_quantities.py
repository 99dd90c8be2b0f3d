import msgspec
import pytest

from boostbench.fitting import quantities
from boostbench.fitting.measures.base import Measure
from boostbench.fitting.quantities import QUANTITIES, Quantity
from boostbench.spec import measures
from boostbench.util.errors import UserError


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
