import pytest

from boostbench.records.data_sets import title_data_sets


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
        # The whole data set keeps its name.
        (
            [facts("0"), facts("1", classes=[1, 2], expect={"n": 9})],
            ["data", "data (classes=[1, 2])"],
        ),
        # A file that was changed.
        (
            [facts("01234567abcdef01", path="x.csv"), facts("12345678abcdef01", path="x.csv")],
            ["data (checksum 01234567)", "data (checksum 12345678)"],
        ),
        (
            [facts("0"), facts("1"), facts("2", path="x.csv", missing="drop")],
            ["data (checksum 0)", "data (checksum 1)", 'data (x.csv, missing="drop")'],
        ),
        # One data set that was read from two places.
        ([facts("0", path="a/x.csv"), facts("0", path="b/x.csv")], ["data"]),
    ],
)
def test_titles_tell_data_sets_of_one_name_apart(data, titles):
    assert list(title_data_sets(data).values()) == titles


def test_a_data_set_without_a_cut_is_called_by_its_name():
    assert title_data_sets([{"name": "iris", "checksum": "0"}]) == {("iris", "0"): "iris"}
