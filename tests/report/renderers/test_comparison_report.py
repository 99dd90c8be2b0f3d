"""Test comparisons in the terminal and as JSON."""

import io
import json
import re

import numpy as np
import pytest

from boostbench.analysis.comparison import compare_columns
from boostbench.analysis.result_table import Column
from boostbench.report.renderers.comparison_report import comparison_as_json, print_comparison
from boostbench.util.terminal import make_console

NAMES = ["RBoost^proj (weighted linear discriminants)", "AdaBoost.MH", "SAMME, 3 leaves", "MO"]


@pytest.fixture
def show(make_cell, make_table):
    """Print a comparison of algorithms that each err 2% more than the one before."""

    def show(n_algorithms, n_data, lacking=(), colour=False, width=80):
        columns = {c: Column(name, name) for c, name in zip("abcd", NAMES, strict=True)}
        columns = dict(list(columns.items())[:n_algorithms])
        cells = {
            (f"data{row}", c): make_cell(
                [] if (row, c) in lacking else [5 + row + 2 * i, 6 + row + 2 * i]
            )
            for row in range(n_data)
            for i, c in enumerate(columns)
        }
        table = make_table(cells, columns, [("a", "b")])
        console = make_console(file=io.StringIO(), width=width, force_terminal=colour)
        print_comparison(console, table, compare_columns(table))
        return console.file.getvalue()

    return show


def plain(out):
    return re.sub(r"\x1b\[[0-9;]*m", "", out)


@pytest.mark.parametrize(("n_algorithms", "n_data"), [(2, 8), (3, 8), (4, 8), (4, 1), (3, 1)])
def test_comparison_fits_80_columns(show, n_algorithms, n_data):
    out = show(n_algorithms, n_data)
    assert max(len(line) for line in out.splitlines()) <= 80
    assert "\x1b" not in out
    # Colour changes nothing but colours.
    coloured = show(n_algorithms, n_data, colour=True)
    assert "\x1b[1m" in coloured
    assert plain(coloured) == out


def test_two_algorithms_are_compared(show):
    out = show(2, 8, lacking=[(3, "b")])
    words = " ".join(out.split())
    assert "wins 7, ties 0, loses 0." in words
    assert "over 7 data sets: the statistic (0)" in words
    assert "rank-biserial correlation -1.00, from -1" in words
    assert "Mean difference: -2.00 percentage points." in words
    assert "is better by more than 1 percentage point with probability 1.00" in words
    assert re.search(r"data0 +5.5 \(0.7\) +7.5 \(0.7\) +-2.0 +-1.60", out)
    assert re.search(r"data3 +8.5 \(0.7\) +not run +- +- +-", out)
    assert "1 data set is left out, where a number is missing: data3." in words


def test_tie_is_named(make_cell, make_table):
    cells = {(row, c): make_cell([4, 6]) for row in ("x", "y") for c in "ab"}
    table = make_table(cells)
    console = make_console(file=io.StringIO(), width=80)
    print_comparison(console, table, compare_columns(table))
    assert re.search(r"x +5.0 \(1.4\) +5.0 \(1.4\) +0.0 +0.00 +1.000 +tie", console.file.getvalue())


def test_many_algorithms_are_ranked(show):
    out = show(4, 8)
    ranks = re.findall(r"^\S.*  (\d\.\d\d)$", out, re.MULTILINE)
    assert ranks == ["1.00", "2.00", "3.00", "4.00"]
    words = " ".join(out.split())
    assert "Friedman test of 4 algorithms over 8 data sets: chi-squared(3) = 24.00" in words
    # Exact p of 8 differences of one sign is 2 / 2^8, corrected for six pairs.
    assert re.search(r"AdaBoost.MH +MO +-4.00 +8/0/0 +0.047 +1.00/0.00/0.00", out)
    assert re.search(r"AdaBoost.MH +MO +-2.00 +0.010 +-1.00", out)


@pytest.mark.parametrize("n_algorithms", [2, 3])
def test_too_few_data_sets(show, n_algorithms):
    everything = [(row, c) for row in range(3) for c in "abc"]
    out = " ".join(show(n_algorithms, 3, lacking=everything).split())
    assert "No data set with a number of each algorithm: too few for a test." in out
    out = " ".join(show(n_algorithms, 3, lacking=everything[3:]).split())
    assert "1 data set with a number of each algorithm: too few for a test." in out
    assert "2 data sets are left out" in out


def test_single_data_set_is_compared_over_splits(make_cell, make_table):
    rng = np.random.default_rng(0)
    table = make_table({("wine", c): make_cell(rng.random(10) * 20) for c in "abc"})
    console = make_console(file=io.StringIO(), width=80)
    print_comparison(console, table, compare_columns(table))
    assert "Friedman test of 3 algorithms over 10 paired splits" in console.file.getvalue()


@pytest.mark.parametrize("names", ["ab", "abc"])
def test_labels_are_shown_without_markup(make_cell, make_table, names):
    columns = {name: Column(f"[/b]{name}", name) for name in names}
    rows = [f"data{number}" for number in range(6)]
    cells = {(row, name): make_cell([5, 6]) for row in rows for name in names}
    table = make_table(cells, columns)
    table.rows[rows[0]] = "[/red] w"
    console = make_console(file=io.StringIO(), width=80)
    print_comparison(console, table, compare_columns(table))
    out = console.file.getvalue()
    assert "[/red] w" in out
    assert "[/b]a" in out


@pytest.mark.parametrize("names", ["ab", "abc"])
def test_all_digits(make_cell, make_table, names):
    cells = {
        (row, c): make_cell([10 / 3 + i * j, 5 + i * j])
        for i, row in enumerate(["wine", "iris", "glass"])
        for j, c in enumerate(names)
    }
    cells["glass", "b"] = make_cell([])
    table = make_table(cells)
    comparison = compare_columns(table)
    content = json.loads(comparison_as_json(table, ["t"] * len(table.rows), comparison))
    assert content["algorithms"] == {name: name.upper() for name in names}
    wine, _, glass = content["data"]
    assert (wine["data"], wine["table"]) == ("wine", "t")
    assert wine["numbers"]["a"]["mean"] == pytest.approx((10 / 3 + 5) / 2, rel=1e-12)
    assert wine["numbers"]["a"]["n_splits"] == 2
    assert glass["numbers"]["b"] is None
    assert (content["n"], content["unit"], content["left_out"]) == (2, "data sets", ["glass"])
    first = content["pairs"][0]
    assert (first["a"], first["b"], first["wins"], first["ties"], first["losses"]) == (
        *("a", "b"),
        *(1, 1, 0),
    )
    assert (first["statistic"], first["critical"], first["p"]) == (0, None, 1)
    assert ("hedges_g" in wine) == (names == "ab")
    assert (content["friedman"] is None) == (names == "ab")


def test_json_has_no_infinity(make_cell, make_table):
    # All data sets rank the three alike, so that F is infinite.
    cells = {(row, c): make_cell([i]) for row in "xyz" for i, c in enumerate("abc")}
    table = make_table(cells)
    text = comparison_as_json(table, ["t"] * len(table.rows), compare_columns(table))
    content = json.loads(text, parse_constant=pytest.fail)
    assert content["friedman"]["f"] is None
    assert content["friedman"]["p_f"] == pytest.approx(1 / 36)
    assert content["friedman"]["p_by"] == "enumeration"
