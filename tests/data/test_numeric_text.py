import numpy as np
import pytest

from boostbench.data.numeric_text import all_plain, is_number, is_plain


@pytest.mark.parametrize("text", ["0", "-1.5", "+2e3", " 7 ", "inf", "nan", ".5"])
def test_numbers(text):
    assert is_number(text)
    assert is_plain(text)


@pytest.mark.parametrize("text", ["1_1", "1_0.5", "\u0661\u0662", "\uff11", "1.\u0665"])
def test_what_only_python_takes_for_a_number(text):
    float(text)
    assert not is_number(text)
    assert not is_plain(text)
    assert not all_plain(np.array(["1", text, "22"]))


def test_words():
    assert not is_number("cat")
    assert not is_number("")
    assert all_plain(np.array(["cat", "", "1"]))


@pytest.mark.parametrize("texts", [np.array(["12", "345"]), np.array([], dtype=str)])
@pytest.mark.parametrize("order", "<>")
def test_arrays_of_any_layout(texts, order):
    texts = texts.astype(texts.dtype.newbyteorder(order))
    assert all_plain(texts)
    assert all_plain(texts[::-2])
