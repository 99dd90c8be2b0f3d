import pytest

from boostbench.config.overrides import parse_names_and_results
from boostbench.util.errors import UserError


def test_words():
    names, results = parse_names_and_results("check", ["a", "results=there", "b"])
    assert (names, str(results)) == (["a", "b"], "there")
    with pytest.raises(UserError, match=r"check goes by .* not 'seed=1'"):
        parse_names_and_results("check", ["seed=1"])


def test_results_name_a_folder(home):
    assert parse_names_and_results("check", ["results=~/there"]) == ([], home / "there")
    with pytest.raises(UserError, match=r"^results is ''; it must be text, the name of a folder$"):
        parse_names_and_results("check", ["results="])
