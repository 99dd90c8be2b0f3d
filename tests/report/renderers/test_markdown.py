from boostbench.report.document import make_document
from boostbench.report.renderers.markdown import markdown


def rows(text):
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("|")
    ]


def test_table_has_a_heading_and_aligned_columns(table):
    text = markdown(make_document(table))
    assert text.startswith("# Title\n\n|")
    header, rule, *body = rows(text)[:5]
    assert header == ["data", "A", "B"]
    assert [cell.strip("-") for cell in rule] == [":", ":", ":"]
    assert body == [
        ["wine", "**2.0 (1.0)**", "4.1 (0.2)†"],
        ["glass", "**25.0 (7.1)‡**", "failed"],
        ["dna", "data not available", "data not available"],
    ]


def test_changes_stand_above_the_table(table, make_table):
    text = markdown(make_document(make_table(table.cells, changes=["protocol=quick"])))
    assert text.startswith("# Title\n\n**Not as the table is defined: protocol=quick.**\n\n|")


def test_groups_are_named_in_each_column(table_of_rounds):
    header = rows(markdown(make_document(table_of_rounds)))[0]
    assert header == ["data", "A, Test 50", "A, Test 100", "B, Test 50", "B, Test 100"]


def test_digits_are_kept(make_cell, table):
    # A table writer that reads numbers would print 2.50 as 2.5, and 3.0 as 3.
    table.cells["wine", "a"] = make_cell([3.0], "wine", "a")
    assert "**3.0**" in markdown(make_document(table))


def test_comparison_with_published_numbers(table):
    comparison = rows(markdown(make_document(table)).split("## Beside the published numbers")[1])
    assert comparison[2][:4] == ["wine", "A", "3.0 (3.0)", "2.0 (1.0)"]
    assert comparison[4][3:] == ["failed", "-", "-", "-"]


def test_seconds_are_listed(table):
    seconds = rows(markdown(make_document(table)).split("## CPU seconds")[1])
    assert seconds[2:] == [
        ["wine", "4.00 / 2.00 / -", "4.00 / 2.00 / -†"],
        ["glass", "3.50 / 2.00 / -", "-"],
        ["dna", "-", "-"],
    ]


def test_seconds_of_a_fit_are_listed_once(table_of_rounds):
    seconds = markdown(make_document(table_of_rounds)).split("## CPU seconds")[1]
    assert rows(seconds)[0] == ["data", "A", "B"]


def test_reference_job_stands_last(table):
    assert markdown(make_document(table)).endswith(
        "The reference job, which tells how fast a machine is, took 0.100 s.\n"
    )


def test_published_seconds(timed_table):
    seconds = rows(markdown(make_document(timed_table)).split("## CPU seconds")[1])
    assert seconds[2] == ["wine", "A", "13.7", "2.00"]
    assert seconds[6] == ["wine", "3.50 / 2.00 / 2.00", "3.50 / 2.00 / 0.100"]
