import pytest

from boostbench.definitions.words import split_words
from boostbench.errors import UserError


def test_words():
    names, results = split_words("check", ["a", "results=there", "b"])
    assert (names, str(results)) == (["a", "b"], "there")
    for word in ("seed=1", "results="):
        with pytest.raises(UserError, match=f"check goes by .* not '{word}'"):
            split_words("check", [word])
