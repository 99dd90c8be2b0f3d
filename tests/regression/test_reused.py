"""Check settings that definitions take from another column's recorded cross-validation."""

from pathlib import Path

import pytest

from boostbench.config.compose import compose_config
from boostbench.config.tables import TableDefinition
from boostbench.records.archive import Records
from boostbench.report.assemble import read_tables

RESULTS = Path(__file__).parents[2] / "results"
CGENS2 = TableDefinition.read("cgens2")


@pytest.fixture(scope="module")
def machines():
    """Return the recorded splits of the support vector machine by data set."""
    [table] = read_tables(["cgens2"], Records(RESULTS))
    return {row: table.cells[row, "rbf_svc"].rows.records for row in table.rows}


@pytest.mark.parametrize("row", CGENS2.rows)
def test_cosines_use_the_bandwidth_of_the_support_vector_machine(row, machines):
    """The bandwidth is chosen on the first split, like C (CGENS, section 3)."""
    ours = compose_config(CGENS2.cell_settings(row, "fourier"))
    assert ours["algo"]["grid"]["n_iterations"] == [500]
    assert ours["protocol"]["tune"] == "first_split"
    [first] = [record.chosen for record in machines[row] if record.split == 0]
    assert ours["algo"]["gamma"] == first["gamma"]
    assert "gamma" not in ours["algo"]["grid"]
