"""Class labels: integers if all labels are whole numbers, else text.

Readers of all formats and the generators make their labels by `parse_labels`.
"""

import numpy as np

from boostbench.data.text import compose_letters, is_all_plain_ascii
from boostbench.util.errors import UserError

#: Smallest whole number that float64 cannot distinguish from its neighbours.
MIN_INEXACT = 2.0**53
#: Bytes of a character in NumPy's arrays of text, all elements of which have the longest length.
_BYTES_PER_CHARACTER = 4
#: Bytes that an array of labels may take in any case.
_SMALL_MEMORY = 80_000_000
#: Characters per character of the file that a larger array of labels may have.
_MAX_PADDING = 10


def parse_labels(values, where: str, codes: np.ndarray | None = None) -> np.ndarray:
    """Return the labels of the values in a file.

    Parameters
    ----------
    values : array-like of shape (n_samples,)
        Numbers or text.
    where : str
        Name of the source in messages, e.g. the file name.
    codes : ndarray of shape (n_rows,), int, default=None
        Position of each row's label in `values`, each of which occurs. None: `values` has one
        value per row.

    Returns
    -------
    ndarray of shape (n_rows,)
        int64 if every label is a whole number (``"+1"``, ``2.0``), else str.

    Raises
    ------
    UserError
        If a label is missing, is not UTF-8, has a fraction, or is too large for float64 to
        represent exactly.

    Examples
    --------
    >>> parse_labels(["+1", "-1.0"], "toy.csv").tolist()
    [1, -1]
    >>> parse_labels(["cat", "dog"], "toy.csv").tolist()
    ['cat', 'dog']
    >>> parse_labels(["9007199254740992", "9007199254740993"], "toy.csv").tolist()
    [9007199254740992, 9007199254740993]
    """
    if isinstance(values, list) and all(isinstance(value, str) for value in values):
        check_lengths(_value_per_row(np.array([*map(len, values)], dtype=np.int32), codes), where)
    values = np.asarray(values)
    kind = values.dtype.kind
    if kind not in "biufSU":
        raise UserError(f"{where}: labels of type {values.dtype} are neither numbers nor text")
    if kind == "S":
        values = _decode(values, where)
    if kind in "bSU":
        values = np.char.strip(values.astype(str))
        if not "".join(values.tolist()).isascii():
            values = np.array(compose_letters(values.tolist()))
    is_missing = values == "" if values.dtype.kind == "U" else np.isnan(values)
    if is_missing.any():
        is_missing = _value_per_row(is_missing, codes)
        raise UserError(
            f"{where}: {int(is_missing.sum())} labels are missing, the first in row "
            f"{int(is_missing.argmax()) + 1} (counted from 1); every row needs its class"
        )
    if kind == "f":
        labels = _floats_to_int64(values.astype(float, copy=False), where, codes)
    else:
        labels = _convert_to_int64(values, where, codes)
    return _value_per_row(labels, codes)


def _decode(values: np.ndarray, where: str) -> np.ndarray:
    """Return an array of bytes as text; raise a UserError for bytes that are not UTF-8."""
    try:
        return np.char.decode(values, "utf-8")
    except UnicodeDecodeError as error:
        row = int((values == error.object).argmax())
        raise UserError(
            f"{where}: the label {error.object!r} in row {row + 1} (counted from 1) is not UTF-8; "
            "save labels as text, not as bytes"
        ) from None


def _value_per_row(values: np.ndarray, codes: np.ndarray | None) -> np.ndarray:
    """Return the value of each row; see `parse_labels` for `codes`."""
    return values if codes is None else values[codes]


def check_lengths(lengths: np.ndarray, where: str) -> None:
    """Check that no label is so long that an array of all labels would fill the memory.

    Parameters
    ----------
    lengths : ndarray of shape (n_samples,), int64
        Number of characters of each label.
    where : str
        Name of the source in messages.

    Raises
    ------
    UserError
        If a label is too long; the message has its row.
    """
    longest = int(lengths.max(initial=0))
    if _BYTES_PER_CHARACTER * longest * len(lengths) > max(
        _SMALL_MEMORY, _MAX_PADDING * int(lengths.sum())
    ):
        raise UserError(
            f"{where}: the label in row {int(lengths.argmax()) + 1} (counted from 1) has {longest} "
            f"characters, and every one of {len(lengths)} would take as much memory; shorten it"
        )


def _convert_to_int64(values: np.ndarray, where: str, codes: np.ndarray | None) -> np.ndarray:
    """Return integers or text as int64 if they are whole numbers; else the text.

    Text such as ``"2.0"`` is converted through float64. Other whole numbers are not, as large ones
    would become equal. ``1_1`` is text, not the class 11.

    Raises
    ------
    UserError
        If a whole number does not fit into int64, or a number has a fraction.
    """
    if values.dtype.kind == "U" and not is_all_plain_ascii(values):
        return values
    try:
        integers = values.astype(np.int64)
        # Unsigned numbers from 2**63 on become negative.
        if values.dtype.kind != "u" or (integers >= 0).all():
            return integers
    except OverflowError:  # a number in text is too large
        pass
    except ValueError:  # a word, or a number with a point
        try:
            return _floats_to_int64(values.astype(float), where, codes)
        except ValueError:
            return values
    raise UserError(f"{where}: labels beyond 2**63 are not supported; use shorter ones, or words")


def _floats_to_int64(numbers: np.ndarray, where: str, codes: np.ndarray | None) -> np.ndarray:
    """Return floats as int64; raise an error for fractions and for inexact large numbers."""
    with np.errstate(invalid="ignore"):
        integers = numbers.astype(np.int64)
    # Two comparisons instead of np.abs, which would allocate another array of floats.
    is_large = np.isfinite(numbers) & ((numbers >= MIN_INEXACT) | (numbers <= -MIN_INEXACT))
    is_wrong = is_large | (integers != numbers)
    if not is_wrong.any():
        return integers
    row = int(_value_per_row(is_wrong, codes).argmax())
    number, is_large = _value_per_row(numbers, codes)[row], _value_per_row(is_large, codes)[row]
    label = f"{where}: the label {number} in row {row + 1} (counted from 1)"
    if is_large:
        raise UserError(f"{label} is too large to differ from its neighbours as a float64")
    raise UserError(
        f"{label} is not a whole number, as in a regression set; write whole numbers or words for "
        "classes, or name their column in a CSV or ARFF file by data.labels"
    )
