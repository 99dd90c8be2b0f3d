from pathlib import Path

import pytest

from boostbench.data.sources.local_files import cache_folder
from boostbench.util.errors import UserError
from boostbench.util.files import is_regular_file, parse_names_and_results, slug, user_path


def test_tilde_is_expanded():
    assert user_path("~/toy.csv") == Path.home() / "toy.csv"
    assert user_path("toy.csv") == Path("toy.csv")


def test_unknown_user_name_is_not_expanded(monkeypatch):
    monkeypatch.setenv("BOOSTBENCH_CACHE", "~nobody-here/cache")
    assert cache_folder() == user_path("~nobody-here/cache") == Path("~nobody-here/cache")


def test_unreadable_path_is_not_taken_for_a_missing_file(tmp_path):
    file = tmp_path / "records.jsonl"
    assert not is_regular_file(file)
    file.write_text("{}")
    assert is_regular_file(file)
    assert not is_regular_file(tmp_path)
    assert not is_regular_file(file / "below")
    with pytest.raises(OSError, match="File name too long"):
        is_regular_file(tmp_path / ("x" * 300))


def test_slug_keeps_letters_of_all_scripts():
    for name in ("größe", "कि", "ที่", "数据", "v1.0+a-b_c"):
        assert slug(name, "+-.") == name
    assert slug("a / b", "", "") == "ab"


def test_names_and_results_are_separated():
    names, results = parse_names_and_results("check", ["a", "results=there", "b"])
    assert (names, str(results)) == (["a", "b"], "there")
    with pytest.raises(UserError, match=r"check goes by .* not 'seed=1'"):
        parse_names_and_results("check", ["seed=1"])


def test_results_name_a_folder(home):
    assert parse_names_and_results("check", ["results=~/there"]) == ([], home / "there")
    with pytest.raises(UserError, match=r"^results is ''; it must be text, the name of a folder$"):
        parse_names_and_results("check", ["results="])
