from boostbench.report.markdown import markdown, number


def rows(text):
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("|")
    ]


def test_layout(table):
    text = markdown(table)
    assert text.startswith("# Title\n\n|")
    header, rule, *body = rows(text)[:5]
    assert header == ["data", "A", "B"]
    assert [cell.strip("-") for cell in rule] == [":", ":", ":"]
    assert body == [
        ["wine", "**2.0 (1.0)**", "4.1 (0.2)†"],
        ["glass", "**25.0 (7.1)**", "failed"],
        ["dna", "not available", "not available"],
    ]


def test_digits_are_kept(make_cell, table):
    # A table writer that reads numbers would print 2.50 as 2.5, and 3.0 as 3.
    table.cells["wine", "a"] = make_cell([3.0], "wine", "a")
    assert "**3.0**" in markdown(table)


def test_comparison_with_published_numbers(table):
    comparison = rows(markdown(table).split("## Beside the published numbers")[1])
    assert comparison[2][:4] == ["wine", "A", "3.0 (3.0)", "2.0 (1.0)"]
    assert comparison[2][4].startswith("-1.0 ± ")
    assert comparison[2][5] == "reproduced"
    assert comparison[3][5] == "worse"
    assert comparison[4][0] == "data"  # the failed cell has nothing to compare


def test_seconds(table):
    seconds = rows(markdown(table).split("## CPU seconds")[1])
    assert seconds[2:] == [
        ["wine", "4.00 / 2.00 / -", "4.00 / 2.00 / -"],
        ["glass", "3.50 / 2.00 / -", "-"],
        ["dna", "-", "-"],
    ]


def test_number():
    assert [number(v) for v in (0.5, 100.0, 2644.0, 0.0)] == ["0.500", "100", "2644", "0.00"]
