from dataclasses import replace
from math import isnan

from boostbench.experiment.quantities import QUANTITIES
from boostbench.report.findings import summary
from boostbench.report.verdicts import VERDICTS, Tally, counts, distinct


def test_every_cell_is_counted_once(table):
    tally = counts([replace(table, paper="randomboost")]).total
    assert list(tally.numbers) == list(VERDICTS)
    assert sum(tally.numbers.values()) == len(table.cells)
    assert tally.shown == {"reproduced": 1, "worse": 1, "failed": 1}
    assert tally["not published"] == 3
    assert (tally.published, tally.compared) == (3, 2)
    assert str(tally) == "3 published numbers: 1 reproduced, 1 worse, 1 failed"


def test_counts_are_told_by_paper_table_and_algorithm(table, table_of_rounds):
    told = counts(
        [
            replace(table, name="one", paper="randomboost"),
            replace(table, name="two", paper="mcboost"),
            replace(table_of_rounds, name="three", paper="randomboost"),
        ]
    )
    assert list(told.papers) == ["randomboost", "mcboost"]
    assert told.papers["mcboost"].published == 3
    assert told.papers["randomboost"].published == 3 + 8
    assert {name: tally.published for name, tally in told.tables.items()} == {
        "one": 3,
        "two": 3,
        "three": 8,
    }
    assert sum(tally.published for tally in told.algorithms.values()) == told.total.published == 14
    assert told.algorithms["a"]["worse"] + told.algorithms["b"]["worse"] == told.total["worse"]


def test_a_table_of_no_paper_counts_for_itself_only(table):
    told = counts([table])
    assert told.tables[table.name].published == 3
    assert told.total.published == 0
    assert told.papers == told.algorithms == {}
    assert str(told.total) == "0 published numbers"


def test_a_published_number_counts_once(make_cell, make_table):
    """Two columns of one number, as SAMME's, and one that another table of the paper has too."""
    first = {
        ("wine", "a"): make_cell([9, 9.1], published=(3.0, 0.1), source="t1:0"),
        ("wine", "b"): make_cell([3, 3.1], published=(3.0, 0.1), source="t1:0"),
        ("iris", "a"): make_cell([], published=(4.0, 0.1), source="t1:1"),
        ("iris", "b"): make_cell([4, 4.1], published=(4.0, 0.1), source="t1:1"),
    }
    second = {
        ("wine", "a"): make_cell([3, 3.1], published=(3.0, 0.1), source="t1:0"),
        ("wine", "b"): make_cell([5, 5.1], published=(5.0, 0.1), source="t2:0"),
    }
    one, two = (make_table(cells, paper="mcboost") for cells in (first, second))
    told = counts([replace(one, name="one"), replace(two, name="two")])
    # The first cell counts, whether it is there or not.
    assert told.tables["one"].shown == {"worse": 1, "not run": 1}
    assert told.tables["two"].shown == {"reproduced": 2}
    assert told.total.shown == told.papers["mcboost"].shown
    assert told.total.shown == {"reproduced": 1, "worse": 1, "not run": 1}
    assert (told.tables["one"].repeated, told.total.repeated) == (2, 3)
    assert summary(one) == (
        "2 published numbers: 1 worse, 1 not run. "
        "2 more cells are beside a number that counts already."
    )


def test_a_number_of_another_quantity_is_another_number(make_cell):
    cells = [
        make_cell([1, 2], published=(3.0, 1.0), source="t:0", quantity=QUANTITIES[name])
        for name in ("test_error", "accuracy", "test_error")
    ]
    assert distinct(cells) == cells[:2]


def test_cells_without_a_published_number_are_all_kept(make_cell):
    cells = [make_cell([1]), make_cell([1])]
    assert Tally.of(cells)["not published"] == 2


def test_widths_are_those_of_the_intervals(make_cell):
    cells = [make_cell([1, 2, 3], published=(4.0, 1.0)), make_cell([0, 0], published=(0.0, 0.0))]
    precision = QUANTITIES["mean_average_precision"]
    cells.append(make_cell([1], quantity=precision, published=(0.5, 0.1)))
    for record in cells[-1].records:
        record["mean_average_precision"] = 0.4
    (half, share), (points, other) = Tally.of(cells).widths
    assert half == cells[0].agreement.half > 0
    assert share == half / 4
    assert (isnan(points), other) == (True, cells[2].agreement.half / 0.5)
