from dataclasses import replace

import pytest

from boostbench.analysis.comparison import compare_columns
from boostbench.analysis.result_table import Column
from boostbench.fitting.quantities import QUANTITIES
from boostbench.report import wording
from boostbench.report.document import make_heads, make_row
from tests.analysis.conftest import make_timed_columns


def groups_and_titles(table):
    return [(head.group, head.title) for head in make_heads(table)]


def printed_entries(table, row):
    """Return the printed entries of a row, and True for the best ones."""
    return [(entry.printed, entry.best) for entry in make_row(table, row).entries]


def test_row_prints_means_and_marks_the_best(table):
    assert groups_and_titles(table) == [("", "A"), ("", "B")]
    assert printed_entries(table, "wine") == [("2.0 (1.0)", True), ("4.1 (0.2)†", False)]
    assert printed_entries(table, "glass") == [("25.0 (7.1)‡", True), ("failed", False)]
    assert printed_entries(table, "dna") == [("data not available", False)] * 2


def test_equal_printed_numbers_are_both_best(make_cell, make_table):
    table = make_table({("wine", "a"): make_cell([2.01]), ("wine", "b"): make_cell([2.04])})
    assert table.best_columns("wine") == {"a", "b"}


def test_best_is_compared_at_equal_rounds(table_of_rounds):
    assert groups_and_titles(table_of_rounds) == [
        ("A", "Test 50"),
        ("A", "Test 100"),
        ("B", "Test 50"),
        ("B", "Test 100"),
    ]
    assert table_of_rounds.best_columns("wine") == {"a@50", "a@100"}
    assert table_of_rounds.best_columns("glass") == {"b@50", "a@100"}
    assert printed_entries(table_of_rounds, "glass")[3] == ("not reached", False)
    assert "Best in bold, among those after the same number of rounds." in wording.caption(
        table_of_rounds
    )
    assert any("fewer boosting rounds" in note for note in wording.table_notes(table_of_rounds))


def test_cpu_time_has_its_own_columns(timed_table):
    assert groups_and_titles(timed_table) == [
        ("A", "Test error"),
        ("A", "CPU time"),
        ("B", "Test error"),
        ("B", "CPU time"),
    ]
    assert printed_entries(timed_table, "wine") == [
        ("2.0 (1.4)", True),
        ("2.00", False),
        ("4.5 (0.7)", False),
        ("0.100", True),
    ]
    assert "CPU time: seconds per split to find the coefficients." in wording.caption(timed_table)


def test_speedup_columns_stand_last(timed_table):
    times = "a:coefficients", "b:coefficients"
    table = replace(timed_table, speedup_pairs=[times, times[::-1]])
    assert groups_and_titles(table)[4:] == [("Speed-up", "B"), ("Speed-up", "A")]
    assert printed_entries(table, "wine")[4:] == [("20.0", False), ("0.0500", False)]
    assert "Speed-up: CPU time of A by that of the algorithm." in wording.caption(table)


def test_speedup_of_a_missing_time_is_empty(make_cell, make_table):
    cells = {("wine", "a"): make_cell([1], coefficients=2.0), ("wine", "b"): make_cell([])}
    table = make_table(
        cells, make_timed_columns("ab"), speedup_pairs=[("a:coefficients", "b:coefficients")]
    )
    assert printed_entries(table, "wine")[-1] == ("-", False)


def test_row_label_includes_the_number_of_classes(table, make_table, make_cell):
    assert make_row(table, "wine").label == "wine"
    classes = make_table({("wine", "a"): make_cell([1])}, compare=[], classes={"wine": 3})
    assert make_row(classes, "wine").label == "wine (3 classes)"


@pytest.mark.parametrize(
    ("counts", "expected"), [((3, 3), "over 3 splits"), ((2, 5), "over 2 to 5 splits")]
)
def test_caption_counts_splits(make_cell, make_table, counts, expected):
    a, b = (make_cell(range(count)) for count in counts)
    assert expected in wording.caption(make_table({("wine", "a"): a, ("wine", "b"): b}))


def test_caption_of_an_empty_table(make_cell, make_table):
    assert "over the splits" in wording.caption(make_table({("wine", "a"): make_cell([])}))


def test_notes_explain_missing_and_partial_numbers(table):
    notes = "\n".join(wording.table_notes(table))
    assert "Data not available: dna." in notes
    assert "‡ over a part of the splits: A on glass (2 of 3)." in notes
    assert "rerun=stale" in notes


def test_missing_splits_are_noted(make_cell, make_table):
    table = make_table({("wine", "a"): make_cell([1, 2], missing=8)})
    assert printed_entries(table, "wine")[0][0] == "1.5 (0.7)‡"
    assert wording.table_notes(table) == ["‡ over a part of the splits: A on wine (2 of 10)."]


def test_many_partial_means_are_counted(make_cell, make_table):
    cells = {(str(row), "a"): make_cell([1, 2], missing=8) for row in range(7)}
    cells["last", "a"] = make_cell([1, 2], missing=1)
    (note,) = wording.table_notes(make_table(cells))
    assert note == "‡ over a part of the splits: 2 of 10 (in 7 cells), 2 of 3 (in 1 cell)."


def test_uncounted_data_sets_are_noted(make_cell, make_table):
    cells = {(row, column): make_cell([1]) for row in ("vowel", "vowel528") for column in "ab"}
    (note,) = wording.table_notes(make_table(cells, uncounted={"vowel528"}))
    assert note.endswith("not counted in the tests: vowel528.")
    assert wording.table_notes(make_table(cells, uncounted={"vowel528"}, compare=[])) == []


def test_changes_are_noted(table, make_table):
    assert wording.changes_note(table) is None
    changed = make_table(table.cells, changes=["protocol=quick", "algo.nu=1"])
    assert (
        wording.changes_note(changed) == "Not as the table is defined: protocol=quick, algo.nu=1."
    )


def test_remarks_stand_before_generated_notes(table_of_rounds):
    table = replace(table_of_rounds, remarks=["The data are our own."])
    assert wording.table_notes(table) == [
        "The data are our own.",
        *wording.table_notes(table_of_rounds),
    ]


@pytest.fixture
def accuracies(make_cell, make_table):
    """Errors of 1% and 2% as accuracies, so that the first is the better one."""
    accuracy = replace(QUANTITIES["accuracy"], digits=2)
    cells = {
        (row, name): make_cell([error, error + 1], row, quantity=accuracy)
        for row in ("wine", "iris")
        for name, error in (("a", 1), ("b", 2))
    }
    columns = {name: Column(name.upper(), name.upper(), quantity=accuracy) for name in "ab"}
    return make_table(cells, columns)


def test_highest_accuracy_is_best(accuracies):
    assert printed_entries(accuracies, "wine") == [("98.50 (0.71)", True), ("97.50 (0.71)", False)]
    assert wording.caption(accuracies).startswith(
        "Accuracy in percent: mean (standard deviation) over 2"
    )


def test_comparison_ranks_higher_accuracies_first(accuracies):
    comparison = compare_columns(accuracies)
    (test,) = comparison.tests
    assert test.score == (2, 0, 0)
    assert test.wilcoxon.effect == -1
    assert comparison.ranks == {"a": 1, "b": 2}


def test_quantity_without_direction_has_no_best(make_cell, make_table):
    rounds = QUANTITIES["n_iterations"]
    cells = {("wine", name): make_cell([1], quantity=rounds) for name in "ab"}
    columns = {name: Column(name, name, quantity=rounds) for name in "ab"}
    assert printed_entries(make_table(cells, columns), "wine") == [("100", False)] * 2


def test_published_number_of_another_protocol_is_noted(make_cell, make_table):
    cell = make_cell([1, 2], published=(3.0, 1.0), departures=("protocol.n_splits=2",))
    (note,) = wording.table_notes(make_table({("wine", "a"): cell}, compare=()))
    assert note.startswith("§ published of another protocol")
