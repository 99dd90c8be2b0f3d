"""Class labels: numbers where they are whole numbers, text otherwise."""

import numpy as np

from boostbench.data.numeric_text import all_plain
from boostbench.data.readers.text_lines import composed
from boostbench.errors import UserError

#: From here on, a float64 is no longer different from its neighbours.
INEXACT = 2.0**53
#: Bytes of a character in NumPy's arrays, and bytes that labels may always take.
CHARACTER, ROOM = 4, 80_000_000


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
        check_lengths(_each(np.array([*map(len, values)], dtype=np.int32), codes), where)
    values = np.asarray(values)
    kind = values.dtype.kind
    if kind not in "biufSU":
        raise UserError(f"{where}: labels of type {values.dtype} are neither numbers nor text")
    if kind == "S":
        values = _decoded(values, where)
    if kind in "bSU":
        values = np.char.strip(values.astype(str))
        if not "".join(values.tolist()).isascii():
            values = np.array(composed(values.tolist()))
    missing = values == "" if values.dtype.kind == "U" else np.isnan(values)
    if missing.any():
        missing = _each(missing, codes)
        raise UserError(
            f"{where}: {int(missing.sum())} labels are missing, the first in row "
            f"{int(missing.argmax()) + 1} (counted from 1); every row needs its class"
        )
    if kind == "f":
        labels = _whole(values.astype(float, copy=False), where, codes)
    else:
        labels = _exact(values, where, codes)
    return _each(labels, codes)


def _decoded(values: np.ndarray, where: str) -> np.ndarray:
    try:
        return np.char.decode(values, "utf-8")
    except UnicodeDecodeError as error:
        row = int((values == error.object).argmax())
        raise UserError(
            f"{where}: the label {error.object!r} in row {row + 1} (counted from 1) is not UTF-8; "
            "save labels as text, not as bytes"
        ) from None


def _each(values: np.ndarray, codes: np.ndarray | None) -> np.ndarray:
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
    if CHARACTER * longest * len(lengths) > max(ROOM, 10 * int(lengths.sum())):
        raise UserError(
            f"{where}: the label in row {int(lengths.argmax()) + 1} (counted from 1) has {longest} "
            f"characters, and every one of {len(lengths)} would take as much memory; shorten it"
        )


def _exact(values: np.ndarray, where: str, codes: np.ndarray | None) -> np.ndarray:
    """Make int64 of whole numbers and of text that says such; other text stays as it is.

    Nothing that is written as a whole number passes through float64, where large ones merge.
    ``1_1`` is a word, and not the class 11.
    """
    if values.dtype.kind == "U" and not all_plain(values):
        return values
    try:
        whole = values.astype(np.int64)
        if values.dtype.kind != "u" or (whole >= 0).all():
            return whole
    except OverflowError:
        pass
    except ValueError:
        try:
            return _whole(values.astype(float), where, codes)
        except ValueError:
            return values
    raise UserError(f"{where}: labels beyond 2**63 are not supported; use shorter ones, or words")


def _whole(numbers: np.ndarray, where: str, codes: np.ndarray | None) -> np.ndarray:
    """Make int64 of floats that are whole numbers, and different from their neighbours."""
    with np.errstate(invalid="ignore"):
        whole = numbers.astype(np.int64)
    # There is never an array of floats besides these two.
    large = np.isfinite(numbers) & ((numbers >= INEXACT) | (numbers <= -INEXACT))
    wrong = large | (whole != numbers)
    if not wrong.any():
        return whole
    first = int(_each(wrong, codes).argmax())
    number, is_large = _each(numbers, codes)[first], _each(large, codes)[first]
    label = f"{where}: the label {number} in row {first + 1} (counted from 1)"
    if is_large:
        raise UserError(f"{label} is too large to differ from its neighbours as a float64")
    raise UserError(
        f"{label} is not a whole number, as in a regression set; write whole numbers or words for "
        "classes, or name their column in a CSV or ARFF file by data.labels"
    )
