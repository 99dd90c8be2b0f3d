import numpy as np
import pytest

from boostbench.data.csv_cells import HeaderGuess, guess_header
from boostbench.data.text import is_all_plain_ascii, is_number, is_plain_ascii

MISSING = ["", "?", "NA"]
NUMBERS = ["5,2,a", "3,2,b", "3,1,a", "?,4,b"]
WORDS = ["x,u,a", "y,u,b", "y,v,a", "y,w,b"]


def guess(first, below, labels=None):
    rows = (row.split(",") for row in [first, *below])
    return guess_header(rows, labels, MISSING)


@pytest.mark.parametrize(
    ("first", "below", "is_header"),
    [
        ("u,v,kind", NUMBERS, True),
        ("u,v,a", NUMBERS, True),
        ("1_1,1_2,kind", NUMBERS, True),
        ("9,8,a", NUMBERS, False),
        ("9,8,7", ["1,2,3", "1,3,3"], False),
        # A missing value is no word above a number, and none below.
        ("?,8,a", NUMBERS, False),
        (",8,a", NUMBERS, False),
        ("NA,8,7", ["1,2,3", "1,3,3"], False),
        (",u,v", ["0,1,2", "1,1,1"], True),
        ("u,v", ["?,a", "NA,b", ",c", "3,d"], True),
        # Neither is a truth value.
        ("True,8,a", ["False,1,a"], False),
        ("u,v", ["True,v", "False,v"], True),
        # The column of classes.
        ("x,u,Class", WORDS, True),
        ("9,8,7", NUMBERS[:1], False),
    ],
)
def test_clear_headers_are_recognised(first, below, is_header):
    assert guess(first, below) == HeaderGuess(is_header, True)


@pytest.mark.parametrize(
    ("first", "below", "is_header"),
    [
        # Words only: one that is in its column again is no name.
        ("one,two,three", WORDS, True),
        ("x,two,three", WORDS, False),
        ("two,x,three", WORDS, True),
        ("one,?,b", WORDS, False),
        # Numbers, and a word above the labels.
        ("0,1,kind", NUMBERS, True),
        ("400.5,401.5,kind", NUMBERS, True),
        (",0,1,kind", ["7,5,2,a", "8,5,2,a"], True),
        ("0,1,kind", ["1,2,a", "3,4,b"], False),
        ("0,1,kind", ["1,2,1", "3,4,1"], True),
        ("unknown,2,3", ["1,2,3", "1,3,3"], True),
        ("unknown,2,2", ["1,2,3", "1,3,3"], False),
        # Numbers that count the columns.
        ("0,1,2", ["5,6,1", "5,6,1"], True),
        (",0,1", ["0,5,2", "1,6,2"], True),
        ("0,1,2", ["5,6,7", "5,6,8"], False),
    ],
)
def test_ambiguous_headers_are_guessed(first, below, is_header):
    assert guess(first, below) == HeaderGuess(is_header, False)


def test_repeated_number_is_no_name():
    assert guess("3,3,kind", NUMBERS) == HeaderGuess(False, True)
    assert guess("1,2,3", ["5,6,7", "5,6,7"]) == HeaderGuess(False, True)


def test_name_of_the_label_column_makes_a_header():
    assert guess("2015,2016,a", NUMBERS, "2016") == HeaderGuess(True, True)
    assert guess("x,u,a", WORDS, "u") == HeaderGuess(True, True)
    # A label "1" or "0" is the number of a column if there is no header.
    assert guess("x,1,7", ["y,2,7", "x,2,3"], "1") == HeaderGuess(False, True)
    assert guess("kind,1,7", ["b,5,7", "b,6,7"], "0") == HeaderGuess(True, False)
    assert guess("b,1,7", ["b,5,7", "b,6,7"], "0") == HeaderGuess(False, True)


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
