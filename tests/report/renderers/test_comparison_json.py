import json

import pytest

from boostbench.analysis.comparison import compare_columns
from boostbench.report.renderers.comparison import comparison_as_json


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
    content = json.loads(comparison_as_json(table, dict.fromkeys(table.rows, "t"), comparison))
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
    text = comparison_as_json(table, dict.fromkeys(table.rows, "t"), compare_columns(table))
    content = json.loads(text, parse_constant=pytest.fail)
    assert content["friedman"]["f"] is None
    assert content["friedman"]["p_f"] == pytest.approx(1 / 36)
    assert content["friedman"]["p_by"] == "enumeration"
