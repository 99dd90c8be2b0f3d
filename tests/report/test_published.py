import numpy as np
import pytest

from boostbench.report.published import find, find_in_paper, read, statement, tables


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


def test_seconds():
    found = find("randomboost-table3", "heart", "rboost_rank_tc", {"loss": "logistic"})
    assert (found.mean, found.seconds) == (22.7, {"coefficients": 1.9})
    assert find("randomboost-table5", "wine", "rboost_proj", {}).seconds == {}


@pytest.mark.parametrize(
    ("algo", "seconds"), [("adaboost_ecc", 1.1e-4), ("adaboost_mo", 7.9e-3), ("mcboost", 6e-5)]
)
def test_seconds_without_an_error(algo, seconds):
    found = find("mcboost-table6", "pendigits", algo, {"loss": "logistic"})
    assert found.seconds["predict_per_instance"] == pytest.approx(seconds)
    assert np.isnan(found.mean)


def test_numbers_are_the_same_however_they_are_written():
    for nu, error in ((0, 6.4), (1e-9, 6.4), (0.1, 36.8)):
        asked = {"loss": "exponential", "nu": nu}
        assert find("mcboost-table1", "pendigits", "mcboost", asked).mean == error


def test_what_a_line_leaves_open_may_be_anything():
    params = {"loss": "logistic"}
    assert find("mcboost-table5", "wine", "multiboost", params).mean == 3.3
    assert find("mcboost-table5", "letter", "adaboost_mo", params) is None  # no number
    assert find("mcboost-table5", "wine", "mcboost", {"loss": "hinge"}) is None


def test_statement():
    proj, rank = {"rboost_proj", "rboost_proj:wlda"}, {"rboost_rank", "rboost_rank:wlda"}
    said = statement("randomboost-table6", rank, proj)
    assert said == (
        "The paper, over 6 data sets: statistic 10.5, critical value 0; WSRT fails to reject the "
        "null hypothesis."
    )
    assert statement("randomboost-table5", proj, rank) != said
    assert statement("randomboost-table6", {"rboost_proj"}, rank) is None
    assert statement("randomboost-table4", proj, rank) is None
