import math

import pytest

from boostbench.report.published import find, find_in_paper, mean_std, read, tables


def test_find():
    found = find("randomboost-table5", "wine", "rboost_proj", {})
    assert (found.mean, found.std, found.n) == (3.0, 3.0, 10)
    assert str(found) == "3.0 (3.0)"
    assert find("randomboost-table5", "wine", "nonsense", {}) is None


def test_settings_choose_the_line():
    def error(n_iterations):
        return find("randomboost-table4", "australian", "adaboost", {"n_iterations": n_iterations})

    assert (error(50).mean, error(1000).mean, error(7)) == (14.8, 16.6, None)
    assert find("randomboost-table6", "wine", "rboost_rank", {"n_iterations": 1000}) is None


def test_find_in_paper():
    assert find_in_paper("randomboost", "wine", "adaboost_mh", {}).table == "randomboost-table5"
    assert find_in_paper("randomboost", "wine", "nonsense", {}) is None
    assert find_in_paper("quick", "wine", "adaboost_mh", {}) is None


def test_repeats_of_one_table():
    toy = find("randomboost-table2", "synthetic1", "rboost_rank", {"n_projections": 1000})
    assert toy.n == 5


@pytest.mark.parametrize("table", [*tables("randomboost"), *tables("mcboost")])
def test_every_line_with_an_error_can_be_found(table):
    lines = [line for line in read(table) if line.get("test_error_mean")]
    for line in lines:
        found = find(table, line["data"], line["algo"], line)
        if "test_error_std" in line:
            assert found.mean == float(line["test_error_mean"])


def test_mean_std():
    assert mean_std(2.94, 2.36) == "2.9 (2.4)"
    assert mean_std(2.94, math.nan) == "2.9"
