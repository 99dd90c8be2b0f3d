import msgspec
import pytest

from boostbench.fitting.quantities import QUANTITIES
from boostbench.spec import measures


def test_each_quantity_is_recorded_by_some_measure():
    recorded = [measures.find(name).quantities for name in measures.names()]
    assert set(QUANTITIES) == set().union(*recorded)


@pytest.mark.parametrize("name", measures.names())
def test_a_measure_names_the_quantities_that_its_records_must_have(name):
    measure = measures.find(name)
    assert set(measure.quantities) <= set(QUANTITIES)
    fields = msgspec.structs.fields(measure.form)
    required = {field.name for field in fields if field.required} & set(QUANTITIES)
    assert required <= set(measure.quantities)
    assert measure.has_checkpoints == any(f.required for f in fields if f.name == "checkpoints")
