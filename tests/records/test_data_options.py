import pytest
from fitting.examples import RECORD, modify_record

from boostbench.records.data_options import add_options, has_options, merge_options, title_data_sets
from boostbench.spec.data import key_options

ONE, OTHER = {"header": True}, {"rows": [0, 9]}


def test_expected_numbers_are_no_data_options():
    assert key_options(ONE | {"expect": {"classes": 3}, "missing": "drop"}) == ONE
    assert has_options(modify_record(RECORD, config__data__cut=ONE | {"expect": None}), ONE)


def test_record_without_a_cut_has_no_options():
    assert has_options(RECORD, {})
    assert not has_options(RECORD, ONE)


def test_add_options_keeps_earlier_options():
    record = add_options(add_options(RECORD, ONE), OTHER)
    assert all(has_options(record, options) for options in ({}, ONE, OTHER))
    assert "also" not in RECORD


@pytest.mark.parametrize("changes", [{}, {"also": [ONE]}])
def test_merge_options_returns_a_record_with_all_options_unchanged(changes):
    record = add_options(RECORD, ONE)
    assert merge_options(record, RECORD | changes) is record


def test_trials_have_no_data_options():
    trial = RECORD | {"fold": 0}
    assert merge_options(trial, modify_record(trial, config__data__cut=ONE)) is trial


def facts(checksum, name="data", **cut):
    return {"name": name, "checksum": checksum, "cut": cut}


@pytest.mark.parametrize(
    ("data", "titles"),
    [
        ([facts("0"), facts("1", "wine")], ["data", "wine"]),
        (
            [facts("0", path="a/x.csv", labels="y"), facts("1", path="b/x.csv", labels="y")],
            ["data (a/x.csv)", "data (b/x.csv)"],
        ),
        # The data set without a cut keeps its name.
        (
            [facts("0"), facts("1", classes=[1, 2], expect={"n": 9})],
            ["data", "data (classes=[1, 2])"],
        ),
        # Two versions of a file differ in the checksum only.
        (
            [facts("01234567abcdef01", path="x.csv"), facts("12345678abcdef01", path="x.csv")],
            ["data (checksum 01234567)", "data (checksum 12345678)"],
        ),
        (
            [facts("0"), facts("1"), facts("2", path="x.csv", missing="drop")],
            ["data (checksum 0)", "data (checksum 1)", 'data (x.csv, missing="drop")'],
        ),
        # Equal checksums are one data set, for all paths.
        ([facts("0", path="a/x.csv"), facts("0", path="b/x.csv")], ["data"]),
    ],
)
def test_titles_of_namesakes_differ(data, titles):
    assert list(title_data_sets(data).values()) == titles


def test_data_set_without_a_cut_has_its_name_as_title():
    assert title_data_sets([{"name": "iris", "checksum": "0"}]) == {("iris", "0"): "iris"}
