from dataclasses import replace

from boostbench.report.verdicts import VERDICTS, counts


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
