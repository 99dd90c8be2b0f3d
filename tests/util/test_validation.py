from typing import Any, Literal

import msgspec
import pytest

from boostbench.config.overrides import Settings
from boostbench.util.errors import UserError
from boostbench.util.validation import struct_from_yaml


class Inner(msgspec.Struct):
    word: str


class Outer(msgspec.Struct):
    name: str
    count: int
    inner: list[Inner]
    words: list[str] = []
    pairs: list[list[str]] | None = None
    by_number: dict[int, str] = {}
    side: Literal["left", "right"] | None = None
    anything: Any = None
    on: bool = False
    overrides: Settings = msgspec.field(default_factory=Settings)


NEEDED = {"count": 3, "inner": [{"word": "a"}]}


def fill(**content):
    return struct_from_yaml(Outer, NEEDED | content, "f.yaml", name="f")


def test_valid_values_are_accepted():
    filled = fill(
        words=["a", "b"],
        pairs=[["a", "b"]],
        by_number={1: "x"},
        side="left",
        anything={1: 2},
        on=True,
    )
    assert filled == Outer(
        "f", 3, [Inner("a")], ["a", "b"], [["a", "b"]], {1: "x"}, "left", {1: 2}, True
    )


def test_overrides_are_read_once():
    overrides = fill(overrides=["algo.nu=1e-3", "+data.classes=[1,2]"]).overrides
    assert overrides == {"algo.nu": 1e-3, "+data.classes": [1, 2]}
    assert fill(overrides="seed=1").overrides == {"seed": 1}


def test_single_text_becomes_a_list():
    assert fill(words="a").words == ["a"]
    assert fill(pairs=["ab"]).pairs == [["ab"]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"count": "3"}, "f.yaml: count is '3'; it must be a whole number"),
        ({"count": True}, "f.yaml: count is True; it must be a whole number"),
        ({"count": 3.0}, "f.yaml: count is 3.0; it must be a whole number"),
        ({"on": 1}, "f.yaml: on is 1; it must be true or false"),
        ({"inner": []}, "f.yaml: inner is empty; it must have entries"),
        ({"inner": [3]}, "f.yaml: an entry of inner is 3; it must be KEY: VALUE"),
        ({"inner": [{}]}, "f.yaml: an entry of inner lacks word; it needs word"),
        ({"inner": [{"wort": 1}]}, "f.yaml: an entry of inner has no key 'wort'; did"),
        ({"words": 3}, "f.yaml: words is 3; it must be a list of texts"),
        ({"pairs": 3}, "f.yaml: pairs is 3; it must be a list of lists of texts"),
        ({"by_number": {"a": "x"}}, "f.yaml: by_number is 'a'; it must be a whole number"),
        ({"by_number": {1: 2}}, "f.yaml: by_number.1 is 2; it must be text"),
        ({"side": "lift"}, "f.yaml: side is 'lift'; did you mean left?"),
        ({"side": ["left"]}, "f.yaml: side is ['left']; "),
        ({"name": "x"}, "f.yaml has no key 'name'; "),
        ({3: "x"}, "f.yaml has no key 3; "),
        ({"overrides": 3}, "f.yaml: overrides is 3; it must be a list of texts"),
        ({"overrides": "seed"}, "f.yaml: cannot read 'seed' as an override: KEY=VALUE"),
        ({"overrides": "seed=1,2"}, "f.yaml: seed is given several values; "),
        ({"overrides": "++results=x"}, "f.yaml: '++results' is for the command line; "),
    ],
)
def test_errors_name_file_and_key(content, message):
    with pytest.raises(UserError) as mistake:
        struct_from_yaml(Outer, NEEDED | content, "f.yaml", name="f")
    assert str(mistake.value).startswith(message)


def test_long_values_are_cut():
    with pytest.raises(UserError) as mistake:
        fill(words={"a": "x" * 1000})
    assert len(str(mistake.value)) < 100


def test_missing_keys_and_other_types_are_refused():
    with pytest.raises(UserError, match=r"f\.yaml lacks count; it needs count, inner"):
        struct_from_yaml(Outer, {}, "f.yaml", name="f")
    with pytest.raises(UserError, match=r"f\.yaml is 3; it must be KEY: VALUE"):
        struct_from_yaml(Outer, 3, "f.yaml", name="f")
    assert (
        struct_from_yaml(Outer, NEEDED | {"inner": []}, "f", allow_empty=True, name="f").inner == []
    )
