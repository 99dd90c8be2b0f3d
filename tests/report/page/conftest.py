from dataclasses import replace

import pytest
from fitting.examples import flat, recorded

from boostbench.analysis.result_table import Column, ColumnPair, Table
from boostbench.spec.keys import digest

ENVIRONMENT = {
    "boostbench": "0.1.0",
    "numpy": "2.4.6",
    "python": "3.11.7",
    "cpu": "A processor",
    "n_cores": 2,
    "system": "Linux x86_64",
}

#: A name that is HTML, a quotation and an attribute at once.
ODD = """<script>alert("1")</script> & 'x' onclick="y"^z"""


def complete(table: Table, **changes) -> Table:
    """Add the fields of recorded splits to the records of a table."""
    for number, cell in enumerate(table.cells.values()):
        rows = digest([changes["name"], number])
        for frame in (cell.finished_splits, cell.failed_splits):
            for place, record in enumerate(frame.records):
                finished = f"2026-11-{10 + record.split}T11:33:22Z"
                entries = {"rows": rows, "environment": ENVIRONMENT, "finished": finished}
                frame.records[place] = recorded(flat(record) | entries)
    return replace(table, **changes)


@pytest.fixture
def tables(table, table_of_rounds, timed_table, odd_table, empty_table):
    """Tables of two papers and of a user, with and without groups, times and records."""
    paper = "randomboost"
    return [
        complete(table, name="one", title="RandomBoost, Table I: verdicts", paper=paper),
        complete(odd_table, name="odd/name", title=ODD),
        complete(table_of_rounds, name="rounds", title="MCBoost, Table I: rounds", paper="mcboost"),
        complete(timed_table, name="timed", title="RandomBoost, Table II: times", paper=paper),
        complete(empty_table, name="empty", title="RandomBoost, Table III: nothing", paper=paper),
    ]


@pytest.fixture
def odd_table(make_cell):
    """Return a table in which all names have special characters."""
    cell = make_cell(
        [1, 2, 3], ODD, ODD, published=(2.0, 1.0), failures=1, failure=f"ValueError: {ODD}"
    )
    return Table(
        ODD,
        ODD,
        {ODD: ODD},
        {ODD: Column(ODD, ODD, ODD)},
        {(ODD, ODD): cell},
        [ColumnPair(ODD, ODD, ODD)],
        changes=[ODD],
        remarks=[ODD],
    )


@pytest.fixture
def empty_table(make_cell, make_table):
    return make_table({("wine", "a"): make_cell([], published=(3.0, 1.0))}, compare=())
