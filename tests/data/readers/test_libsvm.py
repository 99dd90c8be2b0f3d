import io
import unicodedata

import numpy as np
import pytest

from boostbench.data.readers.libsvm import _read as read_libsvm
from boostbench.util.errors import UserError


def read(text):
    X, y = read_libsvm(io.BytesIO(text.encode()), "toy.svm")
    return X.toarray().tolist(), y.tolist()


def test_indices_from_one():
    assert read("+1 1:0.5 3:2\n-1 2:1e-1\n") == ([[0.5, 0, 2], [0, 0.1, 0]], [1, -1])


def test_indices_from_zero():
    assert read("1 0:5 1:6\n2 1:7\n") == ([[5, 6], [0, 7]], [1, 2])


def test_comments_query_ids_blank_lines_and_empty_rows():
    text = "# made by hand\n1 qid:3 1:5 # the first\n\n2\n3.0 1:1\n"
    assert read(text) == ([[5], [0], [1]], [1, 2, 3])


def test_query_ids_are_named(caplog):
    read("1 1:5 # not qid:3\n2 1:4\n")
    assert caplog.messages == []
    read("1 1:5\n2 qid:3 1:4\n")
    assert caplog.messages == ["toy.svm: qid: is ignored, as classification has no queries"]


@pytest.mark.parametrize(
    "text", ["python 1:2\n\n2 1:3\n3 1:4\n", "1 1:2\n# a\npython 1:3\n3 1:4\n"]
)
def test_word_among_numeric_labels_is_refused(text):
    line = 1 if text.startswith("python") else 3
    with pytest.raises(
        UserError, match=rf"^toy\.svm, line {line}: the label 'python' is a word am"
    ):
        read(text)
    assert read(text.replace("3 1:4", "java 1:4"))[1] in (
        ["python", "2", "java"],
        ["1", "python", "java"],
    )


def test_composed_and_decomposed_labels_are_equal():
    text = unicodedata.normalize("NFC", "ö 1:2\no 1:3\n")
    assert read(text + unicodedata.normalize("NFD", "ö 1:4\n"))[1] == ["ö", "o", "ö"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_comments_end_with_their_line(end):
    """A comment must not hide the lines up to the next line feed."""
    lines = ["1 1:2 # a", "2 1:3 # b", "1 1:4", "2 1:5 # c", "1 1:6"]
    assert read(end.join([*lines, ""])) == ([[2], [3], [4], [5], [6]], [1, 2, 1, 2, 1])
    assert len(read("\n".join(lines) + "\r" + "\n".join(lines))[1]) == 10


@pytest.mark.parametrize("first", ["1", "0"])
def test_words_as_labels(first):
    text = f"cat {first}:1 # tom\ndog qid:1 {first}:3\n"
    assert read(text) == ([[1], [3]], ["cat", "dog"])


def test_underscores_make_words_of_labels():
    """Python parses 1_1 as the number 11."""
    assert read("11 1:1\n1_1 1:2\n") == ([[1], [2]], ["11", "1_1"])
    assert read("11 1:1 # 1_1\n1 1:2\n# 2_1") == ([[1], [2]], [11, 1])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("2 1:x", "expected index:value, found '1:x'"),
        ("2 one:1", "found 'one:1'"),
        ("2 1:1_5", "found '1:1_5'"),
        ("2 1_0:1", "found '1_0:1'"),
        ("2 1:1 7", "found '7'"),
        ("2 -1:1", "found '-1:1'"),
        ("2 2:1 1:1", "index 1 comes after 2"),
        ("2 1:1 1:1", "index 1 comes after 1"),
        ("1:1 2:1", "the label is missing, the line begins with '1:1'"),
        ("1,2 1:1", "several labels, '1,2'"),
        ("2 99999999999:1", "index 99999999999 is larger than 2147483647"),
    ],
)
def test_error_has_the_number_of_a_bad_line(line, message):
    with pytest.raises(UserError) as error:
        read(f"1 1:1\n\n{line}\n2 1:4\n")
    assert str(error.value).startswith("toy.svm, line 3: ")
    assert message in str(error.value)


def test_no_samples():
    with pytest.raises(UserError, match=r"toy\.svm holds no samples"):
        read("# nothing\n\n")


def test_nan_is_read_for_the_validation_to_find():
    X, _ = read("1 1:nan\n2 1:1\n")
    assert np.isnan(X[0][0])


def test_large_whole_numbers_are_exact_labels():
    labels = [2**53, 2**53 + 1, 2**53 + 2]
    assert read("".join(f"{label} 1:2\n" for label in labels)) == ([[2]] * 3, labels)


def test_labels_are_utf_8():
    """Replacement characters would make two classes equal."""
    text = "Möller 1:1\nMüller 1:2\n"
    assert read("\ufeff" + text)[1] == ["Möller", "Müller"]
    assert read("\ufeff1 1:1\n2 1:2\n")[1] == [1, 2]
    with pytest.raises(UserError, match=r"^toy\.svm, line 1 is not UTF-8: .*; save it as UTF-8$"):
        read_libsvm(io.BytesIO(text.encode("cp1252")), "toy.svm")
    with pytest.raises(UserError, match=r"^toy\.svm is UTF-16 text; save it as UTF-8$"):
        read_libsvm(io.BytesIO("1 1:1\n".encode("utf-16")), "toy.svm")
