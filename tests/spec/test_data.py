import pytest

from boostbench.spec.data import DataSpec
from boostbench.util import configs
from boostbench.util.errors import UserError

FULL = {
    "name": "toy",
    "path": "toy.csv",
    "labels": 3,
    "missing": "drop",
    "header": False,
    "file": None,
    "rows": [0, 3],
    "classes": ["a", 1],
    "pools": [3, 2, 9],
    "redraw": 9,
    "train_rows": 2,
    "openml": {"id": 7, "keep": ["a*"], "drop": None, "expect": {"features": 4}},
    "sklearn": "load_wine",
    "generate": {"function": "make_moons", "n_samples": 5},
    "seed": 0,
    "expect": {"samples": 3, "classes": None},
}


def test_complete_and_minimal_configs_are_valid():
    DataSpec.from_config(FULL)
    DataSpec.from_config({**dict.fromkeys(FULL), "name": "toy"})


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("name", [123, "", ["a"]]),
        ("path", [5]),
        ("labels", [["a"], 1.5, True]),
        ("missing", ["most", "zero", True]),
        ("header", ["yes", 1, 0]),
        ("file", [5]),
        ("rows", ["abc", 3, [1], [1, 2, 3], [2, 2], [-1, 2], [0.0, 2], [False, True]]),
        ("classes", [1.5, "a", [1.5], [[1]], True, -1]),
        ("pools", [3, [3, 2], [3, 2, 0], "abc"]),
        ("redraw", [0, -5, 1.5, "a", True]),
        ("train_rows", [0, -5, 1.5, "a", True]),
        ("openml", [7, "7", {}, {"target": "a"}]),
        ("sklearn", [5]),
        ("generate", ["make_moons", {"n_samples": 5}, {"function": 3}]),
        ("seed", [-1, "a", 0.5]),
        ("expect", ["abc", [3], {"samples": "x"}, {"rows": 3}, {"samples": -1}]),
    ],
)
def test_values_of_wrong_types_are_refused(key, values):
    for value in values:
        with pytest.raises(UserError, match=rf"^data\.{key} is .*; it must be .*\w"):
            DataSpec.from_config(FULL | {key: value})


@pytest.mark.parametrize(
    ("key", "value"), [("id", "abc"), ("keep", "a*"), ("target", 3), ("expect", 3)]
)
def test_invalid_openml_values_are_refused(key, value):
    with pytest.raises(UserError, match=rf"^data\.openml\.{key} is .*; it must be"):
        DataSpec.from_config(FULL | {"openml": {"id": 7, key: value}})


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("kind", None, "there are: gist"),
        ("kind", "hgo", "did you mean hog"),
        ("shape", None, "it must be"),
        ("shape", [0, 3], "it must be"),
    ],
)
def test_invalid_descriptor_values_are_refused(key, value, message):
    descriptor = {"kind": "hog", "shape": [8, 8], key: value}
    with pytest.raises(UserError, match=rf"^data\.descriptor\.{key} is .*; {message}"):
        DataSpec.from_config(FULL | {"descriptor": descriptor})


@pytest.mark.parametrize(
    ("values", "where"),
    [
        ({"na_values": ["a", float("nan")]}, r"an entry of data\.na_values is nan"),
        ({"generate": {"function": "a", "noise": float("-inf")}}, r"data\.generate\.noise is -inf"),
    ],
)
def test_infinite_and_nan_values_are_refused(values, where):
    with pytest.raises(UserError, match=f"^{where}, which no record .* quotes around a word$"):
        DataSpec.from_config(FULL | values)
    DataSpec.from_config(FULL | {"na_values": ["nan", -999, 0.5]})


@pytest.mark.parametrize(
    ("key", "value", "example"),
    [
        ("labels", 1e3, '"..."'),
        ("labels", 1.5, '"..."'),
        ("labels", True, '"..."'),
        ("name", 5, '"..."'),
        ("na_values", [None, "unknown"], '["..."]'),
        ("na_values", [True], '["..."]'),
    ],
)
def test_error_suggests_quotes_for_text(key, value, example):
    with pytest.raises(UserError, match="; it must be ") as error:
        DataSpec.from_config(FULL | {key: value})
    assert str(error.value).endswith(f"; if it is meant as text, quote it: 'data.{key}={example}'")


@pytest.mark.parametrize(
    ("key", "value"), [("rows", 3), ("seed", -1), ("labels", [1]), ("name", "")]
)
def test_error_suggests_no_quotes_for_other_values(key, value):
    with pytest.raises(UserError, match="; it must be ") as error:
        DataSpec.from_config(FULL | {key: value})
    assert "quote" not in str(error.value)


def test_unknown_keys_are_refused():
    with pytest.raises(UserError, match=r"unknown key of data 'trian_rows'; did you mean train_r"):
        DataSpec.from_config({"name": "toy", "trian_rows": 3})
    with pytest.raises(UserError, match=r"unknown key of data\.openml 'version'"):
        DataSpec.from_config({"name": "toy", "openml": {"id": 3, "version": 1}})


def test_differences_from_shipped_leave_out_equal_keys(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    named = configs.read_option("data", "vowel")
    assert DataSpec.from_config(named).differences_from_shipped == {}
    assert DataSpec.from_config(named | {"classes": 3}).differences_from_shipped == {"classes": 3}
    mine = {"name": "vowel", "path": "vowel.csv"}
    gone = {key: None for key, value in named.items() if value and key not in mine}
    assert "expect" in gone
    assert DataSpec.from_config(mine).differences_from_shipped == {"path": "vowel.csv"} | gone
    assert DataSpec.from_config(mine | {"name": "mine"}).differences_from_shipped == {
        "path": "vowel.csv"
    }


def test_name_is_required():
    with pytest.raises(UserError, match=r"data\.name is missing"):
        DataSpec.from_config({"path": "toy.csv"})
