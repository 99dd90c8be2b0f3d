from pathlib import Path

import pytest

from boostbench.config.table_definitions import TableDefinition
from boostbench.config.table_request import TableRequest
from boostbench.records.index import Records
from boostbench.report.assemble import read_tables
from boostbench.report.document import make_document
from boostbench.report.renderers.markdown import markdown
from boostbench.report.wording import format_number
from boostbench.util import configs
from boostbench.util.errors import UserError

RESULTS = Path(__file__).parents[2] / "results"


def test_table_from_records_needs_no_data(call, folder, define_table, monkeypatch):
    name = define_table(
        rows=["iris", {"wine": ["protocol.samples_per_class=30"]}],
        columns=[{"stump": {"algo": "adaboost_mh", "overrides": ["algo.n_iterations=5"]}}],
        overrides=["protocol.n_splits=3", "protocol.checkpoints=[2,5]"],
        rounds=[2, 5],
        classes=True,
        published="randomboost-table5",
    )
    assert call("table", name, "parallel=serial").code == 0
    written = (folder / "results" / "tables" / "mine.md").read_text()
    monkeypatch.setenv("BOOSTBENCH_DATA", str(folder))
    records = Records(Path("results"))
    [table] = read_tables([name], records)
    assert markdown(make_document(table)) == written
    assert records.pop_warnings() == []


def test_all_tables_are_read_without_records(tmp_path):
    tables = read_tables(None, Records(tmp_path))
    assert [table.name for table in tables] == configs.list_options("table")
    papers = {table.name: table.paper for table in tables if table.paper}
    assert papers["randomboost5"] == "randomboost"
    assert papers["mcboost1"] == "mcboost"
    assert not papers.keys() & {"demo", "randomboost5_proj"}  # these only cite Table V
    texts = {format_number(cell) for table in tables for cell in table.cells.values()}
    assert texts == {"not run", "data not available"}
    unknown = {cell.data for t in tables for cell in t.cells.values() if not cell.available}
    assert unknown == {"pascal07", "labelme", "sun", "mit-indoor67"}


def test_data_without_a_known_copy_are_not_available(define_table, folder, monkeypatch):
    """The status does not depend on the machine, since committed files contain it."""
    name = define_table(rows=["sun", "svmguide4", "iris"], columns=["samme"])
    for value in (str(folder), str(folder / "nowhere")):
        monkeypatch.setenv("BOOSTBENCH_DATA", value)
        [table] = read_tables([name], Records(folder))
        texts = [format_number(cell) for cell in table.cells.values()]
        assert texts == ["data not available", "not run", "not run"]


def test_unknown_table_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"did you mean.* randomboost5"):
        read_tables(["randombost5"], Records(tmp_path))


def test_cell_has_its_command(tmp_path):
    """Numbers after several rounds are of one fit, so that they have one command."""
    [table] = read_tables(["randomboost4"], Records(tmp_path))
    commands = {cell.command for (row, _), cell in table.cells.items() if row == "sonar"}
    start, end = "boostbench table randomboost4 --row sonar --column", "rerun=all results=again"
    columns = {name.partition("@")[0] for name in table.result_columns}
    assert commands == {f"{start} {column} {end}" for column in columns}


def test_command_repeats_the_overrides_of_a_table(define_table):
    name = define_table(rows=["wine"], columns=["adaboost_mh"])
    definition = TableDefinition.read(name)
    request = TableRequest.compose(definition, ["protocol.n_splits=2", "results=here", "seed=3"])
    assert request.command(request.cells[0]) == (
        f"boostbench table {name} protocol.n_splits=2 seed=3 --row wine --column adaboost_mh "
        "rerun=all results=again"
    )
