import io
import re
from dataclasses import replace

import numpy as np
import pytest

from boostbench.analysis.result_table import Column
from boostbench.data.dataset import Dataset
from boostbench.report.blocks import Line, Listing
from boostbench.report.document import make_document, make_summary
from boostbench.report.renderers.console import (
    print_headline,
    print_judgement,
    print_listing,
    print_summary,
    print_table,
)
from boostbench.util.terminal import make_console


@pytest.fixture(params=[True, False], ids=["colour", "plain"])
def console(request):
    return make_console(file=io.StringIO(), width=80, force_terminal=request.param)


def text(console):
    return console.file.getvalue()


def is_bold(words, out):
    return re.search(rf"\x1b\[1m *{re.escape(words)}", out) is not None


def test_summary_marks_the_best_error(console, make_cell):
    dataset = Dataset("wine", np.zeros((178, 13)), np.arange(178) % 3, "/a/long/path" * 9)
    best = make_cell([1, 2, 3], algo="rboost_proj", published=(3.0, 3.0), chosen=[{"nu": 0.1}] * 3)
    other = make_cell([4, 5, 6], algo="a_classifier_with_a_long_name", failures=2, stale=1)
    print_summary(console, make_summary(dataset, [best, other]))
    out = text(console)
    assert "178 samples, 13 features, 3 classes" in out
    assert "/a/long/path" * 9 in out
    assert "RBOOST_PROJ: nu=0.1, chosen by cross-validation" in out
    assert "3 of 5" in out
    assert "coef. s" not in out  # no record has them
    # The best number is bold at terminals.
    assert is_bold("2.0 (1.0)", out) == console.is_terminal
    assert not is_bold("5.0 (1.0)", out)


def test_table_fits_80_columns(make_cell, table):
    console = make_console(file=io.StringIO(), width=80, force_terminal=False)
    print_table(console, make_document(table))
    print_judgement(console, make_document(table))
    lines = text(console).splitlines()
    assert max(len(line) for line in lines) <= 80
    assert any(re.match("wine +A .* 3.4 +undecided", line) for line in lines)
    assert not any(re.match("glass +B +20.0", line) for line in lines)
    assert "3 published numbers: 1 worse, 1 undecided, 1 failed." in lines
    assert "Data not available: dna." in lines


def test_wide_table_is_printed_in_blocks(make_cell, make_table):
    columns = {
        f"{name}{i}": Column(f"{name} {i}", f"n = {i}", f"Group {name}")
        for name in "abc"
        for i in range(3)
    }
    cells = {("wine", name): make_cell([10, 12, 14]) for name in columns}
    console = make_console(file=io.StringIO(), width=80, force_terminal=False)
    print_table(console, make_document(make_table(cells, columns, compare=[])))
    lines = text(console).splitlines()
    assert max(len(line) for line in lines) <= 80
    titles = [line.split() for line in lines if line.startswith("data")]
    # Two groups fit; no group is torn apart.
    assert [line.count("n") for line in titles] == [6, 3]
    assert sum(line.count("12.0 (2.0)") for line in lines) == 9


@pytest.mark.parametrize("length", [7, 8, 9, 10, 11, 12])
def test_blocks_are_as_wide_as_they_may_be(make_cell, make_table, length):
    # Headings and numbers are not broken at any width.
    columns = {name: Column(name, name * length) for name in "abcdefgh"}
    cells = {("wine", name): make_cell([10, 12, 14]) for name in columns}
    console = make_console(file=io.StringIO(), width=80, force_terminal=False)
    print_table(console, make_document(make_table(cells, columns, compare=[])))
    out = text(console)
    assert all(f"{name * length}" in out for name in columns)
    assert out.count("12.0 (2.0)") == 8


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("AdaBoost", r"australian  AdaBoost  .*\(11.9\)  32.0 \(12.0\)  \+2.0 ± "),
        ("AdaBoost, T=50", r"australian AdaBoost, T=50 .*\(11.9\) 32.0 \(12.0\) +\+2.0±"),
        ("RBoost^rank, T=1000", r" RBoost\^rank, *\naustralian T=1000 .*\+2.0±"),
    ],
)
def test_comparison_is_set_tight_before_names_are_broken(make_cell, make_table, label, expected):
    cells = {("australian", "a"): make_cell([20, 32, 44], published=(30.0, 11.9))}
    table = make_table(cells, {"a": Column(label, "Test 1000", "RBoost^rank")}, compare=[])
    console = make_console(file=io.StringIO(), width=80, force_terminal=False)
    print_judgement(console, make_document(table))
    assert max(map(len, text(console).splitlines())) <= 80
    assert re.search(expected, text(console))


def test_headline_names_changes(console, table, make_table):
    print_headline(console, make_document(make_table(table.cells, changes=["protocol=quick"])))
    assert "Not as the table is defined: protocol=quick" in text(console)


def test_published_seconds(console, timed_table):
    print_judgement(console, make_document(timed_table))
    assert re.search(r"wine +A +13.7 +2.00", text(console))


def test_table_prints_missing_cells_and_bold_best(console, table):
    print_table(console, make_document(table))
    out = text(console)
    assert re.search("dna.* - .* -", out)
    assert is_bold("2.0 (1.0)", out) == console.is_terminal


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (["better (no deviation)"] * 2, ["better\n", "All verdicts: no deviation."]),
        (["worse (no deviation)", "better"], ["worse (a)\n", "better\n", "(a) no deviation"]),
        (["worse (x)", "better (y)"], ["worse (a)\n", "better (b)\n", "(a) x", "(b) y"]),
    ],
)
def test_letters_name_the_basis_of_verdicts(verdicts, expected):
    console = make_console(file=io.StringIO(), width=40, force_terminal=False)
    lines = [Line(["a long name of data", "an algorithm", verdict]) for verdict in verdicts]
    print_listing(console, Listing("", ["data", "algorithm", "verdict"], lines, ""))
    out = re.sub(" +\n", "\n", text(console))
    for words in expected:
        assert words in out


def test_last_cell_of_a_line_may_be_bold(console):
    """The last p-value of a matrix may be bold; a verdict has its own style."""
    last = frozenset({2})
    lines = [Line(["A", "B", "0.012"], last), Line(["A", "C", "worse"], last, verdict="worse")]
    print_listing(console, Listing("", ["A", "B", "p"], lines, ""))
    assert is_bold("0.012", text(console)) == console.is_terminal
    assert not is_bold("worse", text(console))


def test_wide_group_is_divided(make_cell, make_table):
    columns = {name: Column(f"column {name}", "a title of its own", "Group") for name in "abcde"}
    cells = {("wine", name): make_cell([10, 12, 14]) for name in columns}
    console = make_console(file=io.StringIO(), width=80, force_terminal=False)
    print_table(console, make_document(make_table(cells, columns, compare=[])))
    lines = text(console).splitlines()
    assert max(map(len, lines)) <= 80
    assert [line.count("12.0 (2.0)") for line in lines if line.startswith("wine")] == [3, 2]


def test_longest_names_are_broken_first(make_cell, make_table):
    long = "a name of a data set that is long"
    cells = {(long, "a"): make_cell([20, 32, 44], published=(30.0, 11.9))}
    table = make_table(cells, {"a": Column("RpBoost.super", "RpBoost.super")}, compare=[])
    console = make_console(file=io.StringIO(), width=80, force_terminal=False)
    print_judgement(console, make_document(table))
    assert "RpBoost.super" in text(console)


def test_titles_are_shown_without_markup(table):
    """Nor are names of pictures, as in any sentence."""
    odd = ["[/red] w", "[bold]x :wine_glass:"]
    rows, columns = dict(zip(table.rows, odd, strict=False)), {}
    for name, column in table.columns.items():
        columns[name] = replace(column, title=f"[/b]{name}", label=f"[/b]{name}", group=odd[1])
    odd_table = replace(table, rows=table.rows | rows, columns=columns, title=odd[0])
    console = make_console(file=io.StringIO(), width=80)
    document = make_document(odd_table)
    for show in (print_headline, print_table, print_judgement):
        show(console, document)
    out = text(console)
    for word in (*odd, *(f"[/b]{name}" for name in columns)):
        assert word in out
