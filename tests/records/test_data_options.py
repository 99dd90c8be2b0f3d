import pytest
from fitting.examples import RECORD, TRIAL, modify_record, recorded

from boostbench.records.index import title_data_sets
from boostbench.records.merging import merge_options
from boostbench.records.schema import Data
from boostbench.spec.data import selecting_options

ONE, OTHER = {"header": True}, {"rows": [0, 9]}


def test_expected_numbers_are_no_data_options():
    assert selecting_options(ONE | {"expect": {"classes": 3}, "missing": "drop"}) == ONE
    record = recorded(modify_record(RECORD, config__data__cut=ONE | {"expect": None}))
    assert record.has_options(ONE)


def test_record_without_a_cut_has_no_options():
    record = recorded(RECORD)
    assert record.has_options({})
    assert not record.has_options(ONE)


def test_add_options_keeps_earlier_options():
    record = recorded(RECORD).add_options(ONE).add_options(OTHER)
    assert all(record.has_options(options) for options in ({}, ONE, OTHER))


@pytest.mark.parametrize("changes", [{}, {"also": [ONE]}])
def test_merge_options_returns_a_record_with_all_options_unchanged(changes):
    record = recorded(RECORD).add_options(ONE)
    assert merge_options(record, recorded(RECORD | changes)) is record


def test_trials_have_no_data_options():
    trial = recorded(TRIAL, "tuning")
    other = recorded(modify_record(TRIAL, config__data__cut=ONE), "tuning")
    assert merge_options(trial, other) is trial


def facts(checksum, name="data", **cut):
    return Data(name, checksum, n_samples=9, n_features=2, n_classes=3, data_options=cut)


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
    assert list(dict.fromkeys(title_data_sets(data))) == titles


def test_data_set_without_a_cut_has_its_name_as_title():
    assert title_data_sets([facts("0", "iris")]) == ["iris"]
