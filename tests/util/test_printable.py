import json

import pytest

from boostbench.util.printable import printable, shortened

HOSTILE = [
    "\x00",
    "\x07",
    "\x1b[31m",
    "\r",
    "\x7f",
    "\x9b2J",
    "\u2028",
    "\u202e",
    "\u2066",
    "\udcff",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_control_characters_are_escaped_as_json_reads_them(text):
    shown = printable(f"a{text}b")
    assert shown.isprintable()
    assert shown.isascii()
    assert json.loads(f'"{shown}"') == f"a{text}b"


@pytest.mark.parametrize("text", ["größe", "कि", "👩‍🔬", "a\tb\nc", "RBoost^proj", ""])
def test_other_text_is_unchanged(text):
    assert printable(text) == text


def test_long_text_keeps_its_ends():
    text = f"file.csv:2: {'x' * 100_000} is no number"
    assert shortened(text).startswith("file.csv:2: xxx")
    assert shortened(text).endswith("xxx is no number")
    assert len(shortened(text)) < 2100
    assert shortened("short") == "short"
