"""Which code made the numbers of a table, and what is said of it."""

from dataclasses import replace

import pytest

from boostbench.report.codes import certified_notes, made_by, time_notes
from boostbench.report.findings import seconds_rows
from boostbench.report.writers.markdown import markdown

NOT_COMPARABLE = "not to be compared with the others."


def test_code_of_a_cell(make_cell):
    assert made_by(make_cell([1, 2])) == "today's code"
    assert made_by(make_cell([1, 2], certified={"identical": 1})) == "the code of commit b17bc98"
    two = make_cell([1, 2], stale=1)
    two.records[1]["commit"] = "aa00000"
    assert made_by(two) == "the code of commit aa00000 and b17bc98"


def test_today_needs_no_word(make_cell):
    assert time_notes([make_cell([1, 2]), make_cell([3]), make_cell([])]) == []


@pytest.mark.parametrize("more", [{"stale": 2}, {"certified": {"identical": 2}}])
def test_times_of_other_code_than_today(make_cell, more):
    old, new = make_cell([1, 2], **more), make_cell([1, 2])
    assert time_notes([old, old]) == [
        "CPU times are of the code of commit b17bc98, not of today's."
    ]
    assert time_notes([old, new]) == [f"¶ CPU time of the code of commit b17bc98: {NOT_COMPARABLE}"]


def test_times_of_several_codes(make_cell):
    olds = [make_cell([1], stale=1, commit=commit) for commit in ("aa00000", "bb00000", "bb00000")]
    assert time_notes(olds) == [
        "CPU times are of the code of commit bb00000, not of today's.",
        f"¶ CPU time of the code of commit aa00000: {NOT_COMPARABLE}",
    ]


def test_certificates(make_cell):
    none, one = make_cell([1]), make_cell([1], certified={"identical": 1})
    some = make_cell([1, 2, 3], certified={"identical": 2, "equivalent": 1})
    assert certified_notes([none]) == []
    assert certified_notes([none, one]) == ["1 split rests on a certificate: identical."]
    assert certified_notes([one, some]) == [
        "4 splits rest on a certificate: 3 identical, 1 equivalent."
    ]


def test_columns_of_times_are_marked(timed_table):
    whole = markdown(timed_table)
    assert "¶" not in whole
    key = ("wine", "b")
    old = replace(timed_table.cells[key], certified={"identical": 2})
    table = replace(
        timed_table,
        cells=timed_table.cells | {key: old},
        speedup=[("a:coefficients", "b:coefficients")],
    )
    texts = [entry.text for entry in table.entries("wine")]
    assert [text.endswith("¶") for text in texts] == [False, False, False, True, True]
    assert "2 splits rest on a certificate: identical." in table.notes
    assert table.notes[-1].startswith("¶ CPU time of the code of commit b17bc98")
    assert [row[-1][-1] == "¶" for row in seconds_rows(table)] == [False, True, True]
    # The rest of the table says what it said.
    assert [text.rstrip("¶") for text in texts[:4]] == [e.text for e in timed_table.entries("wine")]


def test_a_fit_is_counted_once_whatever_its_rounds(table_of_rounds):
    cells = {
        key: replace(cell, certified={"identical": 2})
        for key, cell in table_of_rounds.cells.items()
    }
    table = replace(table_of_rounds, cells=cells)
    assert "8 splits rest on a certificate: identical." in table.notes
