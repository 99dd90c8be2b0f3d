from dataclasses import replace

from fitting.examples import RECORD, modify_record, recorded, with_records

from boostbench.analysis.frame import ResultFrame
from boostbench.analysis.result_table import Column
from boostbench.fitting.quantities import QUANTITIES
from boostbench.papers.published import Published
from boostbench.report.document import make_row
from boostbench.report.findings import (
    cpu_listing,
    published_listing,
    reference_job_sentences,
    verdict_summary,
)

NAN = float("nan")


def test_published_listing_shows_verdicts(table):
    rows = published_listing(table).rows
    assert [row[:4] for row in rows] == [
        ["wine", "A", "3.0 (3.0)", "2.0 (1.0)"],
        ["wine", "B", "1.0 (0.2)", "4.1 (0.2)†"],
        ["glass", "B", "20.0 (1.0)", "failed"],
    ]
    assert rows[0][4].startswith("-1.0 ± ")
    assert [row[5:] for row in rows] == [["3.4", "undecided"], ["0.5", "worse"], ["-", "-"]]
    assert verdict_summary(table) == "3 published numbers: 1 worse, 1 undecided, 1 failed."
    # Names and verdicts are whole words to a search.
    search_texts = [line.search_text for line in published_listing(table).lines]
    assert search_texts[1] == "wine wine wine b b worse"


def test_published_listing_has_a_line_for_each_round(table_of_rounds):
    rows = published_listing(table_of_rounds).rows
    assert [row[1] for row in rows if row[0] == "wine"] == [
        "A, T=50",
        "A, T=100",
        "B, T=50",
        "B, T=100",
    ]


def list_seconds(table):
    return cpu_listing(table, [make_row(table, row) for row in table.rows])


def test_published_seconds_are_listed(table, timed_table):
    assert list_seconds(timed_table).rows == [
        ["wine", "A", "13.7", "2.00"],
        ["wine", "B", "0.03", "0.100"],
    ]
    assert list_seconds(table).rows == []


def test_published_speedup_is_listed(timed_table):
    speedup = [("a:coefficients", "b:coefficients")]
    rows = list_seconds(replace(timed_table, speedup_pairs=speedup)).rows
    assert rows[2:] == [["wine", "speed-up of B", "457", "20.0"]]


def test_published_time_without_an_error_is_listed(make_cell, make_table):
    time = QUANTITIES["predict_per_instance"]
    published = (Published("t", time, 60.0, float("nan"), 50),)
    cell = replace(make_cell([1, 2]), published=published)
    columns = {"a": Column("A", "A"), "a:time": Column("A", "A", quantity=time, timed_column="a")}
    table = make_table({("wine", "a"): cell}, columns, compare=())
    assert published_listing(table).rows == []
    assert verdict_summary(table).startswith("0 published numbers")
    assert list_seconds(table).rows == [["wine", "A", "60", "2.00"]]
    assert "CPU time: microseconds to predict an instance" in list_seconds(table).explanation
    assert cell.verdict == "not published"


def test_reference_job_lists_slower_machines(table):
    assert reference_job_sentences(table) == [
        "The reference job, which tells how fast a machine is, took 0.100 s."
    ]
    table.cells["wine", "b"] = with_records(table.cells["wine", "b"], seconds__calibration=0.05)
    [note] = reference_job_sentences(table)
    assert note.endswith(
        "took 0.100 s, except in these cells, whose times do not compare with the rest: "
        "B on wine (0.0500)."
    )


def test_reference_job_lists_a_fit_once(table_of_rounds):
    for key, cell in table_of_rounds.cells.items():
        if cell.algo == "b":
            table_of_rounds.cells[key] = with_records(cell, seconds__calibration=0.5)
    [note] = reference_job_sentences(table_of_rounds)
    assert note.count("B on wine") == 1


def test_no_reference_job_without_records(make_cell, make_table):
    assert reference_job_sentences(make_table({("wine", "a"): make_cell([])}, compare=())) == []


def test_no_reference_job_without_times(make_cell, make_table):
    cell = replace(
        make_cell([0.1, 0.2]),
        finished_splits=ResultFrame([recorded(modify_record(RECORD, seconds=...), "mine")]),
    )
    assert reference_job_sentences(make_table({("wine", "a"): cell}, compare=())) == []


def test_verdict_names_a_basis_other_than_welchs_interval(make_cell, make_table):
    accuracy = QUANTITIES["accuracy"]
    cells = {
        ("wine", "a"): make_cell([1, 2, 3], published=(98.0, NAN), quantity=accuracy),
        ("iris", "a"): make_cell([2], published=(98.0, NAN), quantity=accuracy),
        ("glass", "a"): make_cell([2], published=(90.0, 1.0), quantity=accuracy),
    }
    rows = published_listing(make_table(cells, {"a": Column("A", "A", quantity=accuracy)})).rows
    assert [row[2:] for row in rows] == [
        ["98.0", "98.0 (1.0)", "+0.0 ± 2.8", "3.7", "undecided (published deviation unknown)"],
        ["98.0", "98.0", "+0.0 ± 5.8", "15.8", "undecided (by the size of the test part)"],
        ["90.0 (1.0)", "98.0", "+8.0 ± 2.4", "3.3", "better (our deviation unknown)"],
    ]


def test_number_of_another_protocol_has_no_verdict(make_cell, make_table):
    cell = make_cell([1, 2], published=(30.0, 1.0), departures=("protocol.n_splits=2",))
    table = make_table({("wine", "a"): cell})
    row = ["wine", "A", "30.0 (1.0)§", "1.5 (0.7)", "-", "-", "not judged"]
    assert published_listing(table).rows == [row]
    assert verdict_summary(table) == "1 published number: 1 not judged."
