import pytest

from boostbench.config.words import split_words
from boostbench.util.errors import UserError


def test_words():
    names, results = split_words("check", ["a", "results=there", "b"])
    assert (names, str(results)) == (["a", "b"], "there")
    with pytest.raises(UserError, match=r"check goes by .* not 'seed=1'"):
        split_words("check", ["seed=1"])


def test_results_name_a_folder(home):
    assert split_words("check", ["results=~/there"]) == ([], home / "there")
    with pytest.raises(UserError, match=r"^results is ''; it must be text, the name of a folder$"):
        split_words("check", ["results="])
