import json
import sys

import pytest

from boostbench.util.errors import UserError, print_error, unknown_name_error
from boostbench.util.files import writing_to
from boostbench.util.terminal import printable, shortened


def test_names_without_near_matches():
    assert "no name is near it" in str(
        unknown_name_error("algorithm", "xyz", ["adaboost", "samme"])
    )
    assert str(unknown_name_error("profile", "xyz", ["full", "quick"], is_listed=False)) == (
        "unknown profile 'xyz'; there are: full, quick"
    )


def test_folders_are_made(tmp_path):
    path = tmp_path / "a" / "b" / "file"
    with writing_to(path, "choose another"):
        path.write_text("text")
    assert path.read_text() == "text"


def test_file_in_place_of_a_folder_is_an_error(tmp_path):
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "below"
    message = pytest.raises(UserError, match=r"^cannot write .*below: .+; choose another$")
    with message, writing_to(path, "choose another"):
        raise AssertionError("not reached")


def test_full_disk_is_an_error(tmp_path):
    message = pytest.raises(UserError, match="No space left on device; make room")
    with message, writing_to(tmp_path / "file", "make room"):
        raise OSError(28, "No space left on device")


def test_library_error_without_a_number_is_shown(tmp_path):
    message = pytest.raises(UserError, match=r"file: the folder is not there; choose another$")
    with message, writing_to(tmp_path / "file", "choose another"):
        raise OSError("the folder is not there")


def test_other_errors_are_raised(tmp_path):
    with pytest.raises(ZeroDivisionError), writing_to(tmp_path / "file", "choose another"):
        1 / 0  # noqa: B018


def test_error_is_one_line(capsys):
    print_error("no row 'a\nb'")
    assert capsys.readouterr().err == "boostbench: no row 'a b'\n"


def test_error_is_wrapped_at_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "40")
    path = "/a/" + 50 * "b"
    print_error(f"there is no file {path}; check the path and all that")
    lines = capsys.readouterr().err.splitlines()
    assert f"{path};" in lines
    assert max(len(line) for line in lines if path not in line) <= 40


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
