import numpy as np
import pytest

from boostbench.data.numeric_text import is_all_plain_ascii, is_number, is_plain_ascii


@pytest.mark.parametrize("text", ["0", "-1.5", "+2e3", " 7 ", "inf", "nan", ".5"])
def test_numbers_are_recognised(text):
    assert is_number(text)
    assert is_plain_ascii(text)


@pytest.mark.parametrize("text", ["1_1", "1_0.5", "\u0661\u0662", "\uff11", "1.\u0665"])
def test_python_literals_are_words(text):
    float(text)
    assert not is_number(text)
    assert not is_plain_ascii(text)
    assert not is_all_plain_ascii(np.array(["1", text, "22"]))


def test_words_are_recognised():
    assert not is_number("cat")
    assert not is_number("")
    assert is_all_plain_ascii(np.array(["cat", "", "1"]))


@pytest.mark.parametrize("texts", [np.array(["12", "345"]), np.array([], dtype=str)])
@pytest.mark.parametrize("order", "<>")
def test_arrays_may_have_any_layout(texts, order):
    texts = texts.astype(texts.dtype.newbyteorder(order))
    assert is_all_plain_ascii(texts)
    assert is_all_plain_ascii(texts[::-2])
