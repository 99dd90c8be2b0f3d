"""Reader of LIBSVM files: ``label index:value index:value ...``, one sample per line."""

import contextlib
import io
import logging
import re
from array import array
from collections import Counter
from typing import BinaryIO

import numpy as np

from boostbench.data.data_table import DataTable
from boostbench.data.readers.base import Reader, ReadOptions
from boostbench.data.text import MIN_INEXACT, is_plain_ascii, parse_labels, read_lines
from boostbench.util.errors import UserError
from boostbench.util.text_columns import text_problem

logger = logging.getLogger(__name__)

#: Largest index of a feature, as in LIBSVM.
MAX_INDEX = 2**31 - 1
#: An underscore outside of comments. scikit-learn ignores it and reads the label 1_1 as 11.
_UNDERSCORE = re.compile(rb"(^|[\r\n])[^#\r\n]*_")
#: A line ending that scikit-learn does not support: a comment would hide the following lines.
_LONE_RETURN = re.compile(rb"\r(?!\n)")
#: The number of a query, outside of comments.
_QUERY = re.compile(rb"(^|[\r\n])[^#\r\n]*\sqid:")
#: Size in bytes from which a file is checked for rows without features before it is parsed (1 MB).
_LARGE_FILE = 2**20
#: Lowest mean number of features per row of such a file.
MIN_FEATURES_PER_ROW = 0.5


class Libsvm(Reader):
    """Sparse samples of LIBSVM and SVMlight."""

    title = "LIBSVM"
    content = "label index:value index:value ..., one sample a line"
    suffixes = (".svm", ".libsvm", ".svmlight", ".scale")
    rank = 1  # position in the search for a data set's file

    def read(self, stream: BinaryIO, where: str, options: ReadOptions) -> DataTable:
        """Load a LIBSVM (SVMlight) file.

        Comments after ``#`` are ignored; ``qid:`` is ignored with a warning. Indices count from
        one, or from zero if the index zero occurs.

        Parameters and result are described in `Reader.read`.

        Raises
        ------
        UserError
            If a line does not parse; the message has the number of the first such line.
        """
        X, y = _read(stream, where)
        return DataTable.from_arrays(X, y, where)


def _read(stream: BinaryIO, where: str):
    """Return features as a `scipy.sparse.csr_matrix`, and labels of shape (n_samples,)."""
    from sklearn.datasets import load_svmlight_file  # slow to import

    # 1) Let scikit-learn parse the file, if it reads this text exactly.
    text = stream.read()
    if len(text) > _LARGE_FILE:
        _check_features(text, where)
    # The first test is fast: most files have no underscore at all.
    has_underscore = b"_" in text and _UNDERSCORE.search(text) is not None
    is_read_exactly = False
    if not has_underscore and not _LONE_RETURN.search(text):
        # Any error can occur: indices may overflow, and lines may hold anything.
        with contextlib.suppress(Exception):
            X, y = load_svmlight_file(io.BytesIO(text))
            is_read_exactly = -MIN_INEXACT < y.min(initial=0) and y.max(initial=0) < MIN_INEXACT
    # 2) Parse other files line by line: scikit-learn supports neither text labels, nor large whole
    #    numbers, nor line numbers in its errors.
    if b"qid:" in text and _QUERY.search(text):
        logger.warning("%s: qid: is ignored, as classification has no queries", where)
    if not is_read_exactly:
        X, y = _parse_lines(text, where)
    del text
    if not X.shape[0]:
        raise UserError(f"{where} holds no samples")
    return X, parse_labels(y, where)


def _check_features(text: bytes, where: str) -> None:
    """Check that most rows have features; rows of labels alone need many times the file's size."""
    n_rows, n_features = text.count(b"\n"), text.count(b":")
    if not n_features:
        raise UserError(f"{where} has no features: no row has index:value")
    if n_features < MIN_FEATURES_PER_ROW * n_rows:
        raise UserError(
            f"{where} has {n_rows} rows and only {n_features} features in all of them; take out "
            "the rows that have no index:value"
        )


def _parse_lines(text: bytes, where: str):
    """Return features and labels, parsed line by line: slow, with exact errors and text labels.

    Returns
    -------
    X : scipy.sparse.csr_matrix of shape (n_samples, n_features), float64
    labels : list of str
    """
    from scipy.sparse import csr_matrix

    # 1) Parse the lines into the parts of a CSR matrix, as arrays: a list would keep an object for
    #    each number.
    labels, values, indices, indptr = [], array("d"), array("q"), array("q", [0])
    line_numbers = array("q")
    lines = read_lines(io.BytesIO(text), where, _strip_comment)
    for number, line in enumerate(lines, 1):
        words = _strip_comment(line).split()
        if not words:
            continue
        try:
            labels.append(_check_label(words[0]))
            previous = -1
            for word in words[1:]:
                if word.startswith("qid:"):
                    continue
                index, value = _parse_pair(word)
                if index <= previous:
                    raise ValueError(f"index {index} comes after {previous}, indices must increase")
                previous = index
                indices.append(index)
                values.append(value)
        except ValueError as error:
            raise UserError(f"{where}, line {number}: {error}") from None
        indptr.append(len(values))
        line_numbers.append(number)
    # 2) Report a word among numbers as labels, while the numbers of the lines are known.
    counts = Counter(labels)
    # `parse_labels` reports fractions and large numbers; other text may be labels.
    problem = text_problem([*counts], np.array([*counts.values()]), len(labels))
    if problem and problem.kind == "mostly_numbers":
        number = line_numbers[labels.index(problem.example)]
        raise UserError(
            f"{where}, line {number}: the label {problem.example!r} is a word among numbers; "
            "correct it"
        )
    # 3) Make the matrix. Indices count from 0 only if 0 occurs.
    columns = np.array(indices, dtype=np.int64)
    if len(columns) and columns.min() > 0:
        columns -= 1
    shape = (len(labels), int(columns.max(initial=-1)) + 1)
    return csr_matrix((np.array(values), columns, indptr), shape=shape), labels


def _strip_comment(line: str) -> str:
    """Return a line without its comment."""
    return line.partition("#")[0]


def _check_label(word: str) -> str:
    """Return the first word of a line; raise ValueError if it is no single label."""
    if ":" in word:
        raise ValueError(f"the label is missing, the line begins with {word!r}")
    if "," in word and re.fullmatch(r"[-+.\d,]+", word):
        raise ValueError(f"several labels, {word!r}; multi-label data are not supported")
    return word


def _parse_pair(word: str) -> tuple[int, float]:
    """Return index and value of ``index:value``; raise ValueError for any other word."""
    index, colon, value = word.partition(":")
    try:
        if not colon or not is_plain_ascii(word) or int(index) < 0:
            raise ValueError
        pair = int(index), float(value)
    except ValueError:
        raise ValueError(f"expected index:value, found {word!r}") from None
    if pair[0] > MAX_INDEX:
        raise ValueError(f"index {index} is larger than {MAX_INDEX}")
    return pair
