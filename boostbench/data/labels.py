"""Class labels: numbers where they are whole numbers, text otherwise."""

import numpy as np

from boostbench.data.numeric_text import are_plain_ascii
from boostbench.data.readers.text_lines import compose_letters
from boostbench.errors import UserError

#: From here on, a float64 is no longer different from its neighbours.
MIN_INEXACT = 2.0**53
#: Bytes of a character in NumPy's arrays, and bytes that labels may always take.
BYTES_PER_CHARACTER, MIN_MEMORY = 4, 80_000_000


def as_labels(values, where: str, codes: np.ndarray | None = None) -> np.ndarray:
    """Turn what a file says into labels.

    Parameters
    ----------
    values : array-like of shape (n_samples,)
        Numbers or text.
    where : str
        What to call the source in messages, e.g. the file name.
    codes : ndarray of shape (n_rows,), int, default=None
        For each row the position of its label in `values`, all of which occur; by default there is
        a value for each row.

    Returns
    -------
    ndarray of shape (n_rows,)
        int64 where every label is a whole number (``"+1"``, ``2.0``), else str.

    Raises
    ------
    UserError
        Labels missing, bytes that are not UTF-8, numbers with fractions, or numbers so large that
        different ones may have become the same.

    Examples
    --------
    >>> as_labels(["+1", "-1.0"], "toy.csv").tolist()
    [1, -1]
    >>> as_labels(["cat", "dog"], "toy.csv").tolist()
    ['cat', 'dog']
    >>> as_labels(["9007199254740992", "9007199254740993"], "toy.csv").tolist()
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
        labels = _to_int64(values, where, codes)
    return _value_per_row(labels, codes)


def _decode(values: np.ndarray, where: str) -> np.ndarray:
    try:
        return np.char.decode(values, "utf-8")
    except UnicodeDecodeError as error:
        row = int((values == error.object).argmax())
        raise UserError(
            f"{where}: the label {error.object!r} in row {row + 1} (counted from 1) is not UTF-8; "
            "save labels as text, not as bytes"
        ) from None


def _value_per_row(values: np.ndarray, codes: np.ndarray | None) -> np.ndarray:
    return values if codes is None else values[codes]


def check_lengths(lengths: np.ndarray, where: str) -> None:
    """Refuse labels of which one is so long that an array of all would fill the memory.

    Parameters
    ----------
    lengths : ndarray of shape (n_samples,), int64
        Numbers of characters.
    where : str
        As of `as_labels`.

    Raises
    ------
    UserError
        It names the longest.
    """
    longest = int(lengths.max(initial=0))
    if BYTES_PER_CHARACTER * longest * len(lengths) > max(MIN_MEMORY, 10 * int(lengths.sum())):
        raise UserError(
            f"{where}: the label in row {int(lengths.argmax()) + 1} (counted from 1) has {longest} "
            f"characters, and every one of {len(lengths)} would take as much memory; shorten it"
        )


def _to_int64(values: np.ndarray, where: str, codes: np.ndarray | None) -> np.ndarray:
    """Make int64 of whole numbers and of text that says such; other text stays as it is.

    Nothing that is written as a whole number passes through float64, where large ones merge.
    ``1_1`` is a word, and not the class 11.
    """
    if values.dtype.kind == "U" and not are_plain_ascii(values):
        return values
    try:
        integers = values.astype(np.int64)
        if values.dtype.kind != "u" or (integers >= 0).all():
            return integers
    except OverflowError:
        pass
    except ValueError:
        try:
            return _floats_to_int64(values.astype(float), where, codes)
        except ValueError:
            return values
    raise UserError(f"{where}: labels beyond 2**63 are not supported; use shorter ones, or words")


def _floats_to_int64(numbers: np.ndarray, where: str, codes: np.ndarray | None) -> np.ndarray:
    """Make int64 of floats that are whole numbers, and different from their neighbours."""
    with np.errstate(invalid="ignore"):
        integers = numbers.astype(np.int64)
    # There is never an array of floats besides these two.
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
