"""Text columns of a CSV file: words, and numbers with commas or points between thousands."""

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from boostbench.data.csv_header import DECIMAL_COMMA
from boostbench.data.data_table import TEXT_ADVICE
from boostbench.util.errors import UserError, truncated_list
from boostbench.util.text_columns import classify_values, text_problem

logger = logging.getLogger(__name__)

#: Python's None: a missing value among numbers; a category among words, as in "None, Mild".
_NONE = "None"
#: A number with a decimal point.
_DECIMAL_POINT = re.compile(r"[-+]?\d*\.\d*([eE][-+]?\d+)?", re.ASCII)
#: A number whose comma may be decimal or between thousands: 1,234.
_AMBIGUOUS_COMMA = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}", re.ASCII)
#: A number whose points may be between thousands: 1.234 or 1.234.567, but not 0.125.
_GROUPED_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(\.\d{3})+", re.ASCII)


@dataclass
class TextColumn:
    """Distinct words of a column, and the number of rows with each word."""

    words: list[str]
    counts: np.ndarray

    @classmethod
    def from_codes(cls, codes: dict[str, int], column: np.ndarray) -> "TextColumn":
        """Return the words of a column of codes, which is NaN for missing values."""
        present = column[~np.isnan(column)].astype(np.int32)
        return cls(list(codes), np.bincount(present, minlength=len(codes)))

    def drop_none(self, column: np.ndarray) -> None:
        """Convert the word None to a missing value if all other words are numbers."""
        if _NONE not in self.words:
            return
        is_other_text = classify_values(self.words).is_other_text
        if is_other_text.sum() > 1 or is_other_text.all():
            return
        code = self.words.index(_NONE)
        del self.words[code]
        self.counts = np.delete(self.counts, code)
        column[column == code] = np.nan
        column[column > code] -= 1

    def check(self, column: np.ndarray, name: str, line: Callable[[int], str]) -> None:
        """Check that there are no words among numbers and no numbers with ambiguous commas.

        Parameters
        ----------
        column : ndarray of shape (n_samples,)
            Codes of the words.
        name : str
            Name of the column.
        line : callable
            Function from the number of a sample to its position in messages.

        Raises
        ------
        UserError
            If there is such a cell; the message has the first one.
        """
        problem = text_problem(self.words, self.counts, len(column))
        if problem is None or problem.kind not in TEXT_ADVICE:
            return
        cell, (fault, advice) = problem.example, TEXT_ADVICE[problem.kind]
        if problem.kind == "mostly_numbers":
            advice = f"correct it, or add 'data.na_values=[{cell}]' if it means a missing value"
        sample = int((column == self.words.index(cell)).argmax())
        raise UserError(f"{line(sample)}: {cell!r} in column {name!r} {fault}; {advice}")

    def sorted(self) -> tuple[np.ndarray, list[str]]:
        """Return each word's position in sorted order, then NaN, and the sorted words."""
        words, codes = np.unique(np.array(self.words, dtype=object), return_inverse=True)
        return np.append(codes.astype(float), np.nan), words.tolist()


def word_mask(words: Sequence[str]) -> np.ndarray:
    """Return a mask of the words that are not numbers in any notation.

    Examples
    --------
    >>> word_mask(["cat", "1.5", "1,5", "1.234.567"]).tolist()
    [True, False, False, False]
    """
    return classify_values(words).is_other_text & ~_full_matches(words, _GROUPED_THOUSANDS)


def resolve_decimal_commas(
    texts: dict[int, TextColumn],
    values: np.ndarray,
    cells: Callable[[], Iterator],
    names: Sequence[str],
    where: str,
) -> None:
    """Replace decimal commas by points if the commas cannot have another meaning.

    This is the case if each number with commas has a single one, no number of these columns has a
    decimal point, and the commas of at least one column cannot separate thousands. Points in other
    columns then separate thousands, and are removed. A warning lists the columns.

    Parameters
    ----------
    texts : dict of int to TextColumn
        Text columns by position; their words are changed in place.
    values : ndarray of shape (n_samples, n_columns)
        Values of all columns; columns of numbers are changed in place.
    cells : callable
        Function that yields the text of columns of numbers that may have points: mappings from
        columns to their cells, in chunks of rows.
    names : sequence of str
        Names of the columns.
    where : str
        Name of the file in messages.

    Raises
    ------
    UserError
        If points may separate thousands in one column, but not in another one.
    """
    comma_columns = _find_decimal_comma_columns(texts)
    if not comma_columns:
        return
    thousands_columns = _find_thousands_columns(texts, cells(), names, where)
    message = f"decimal commas, read as points: {truncated_list([names[j] for j in comma_columns])}"
    if thousands_columns:
        listed = truncated_list([names[j] for j in sorted(thousands_columns)])
        message += f"; points between thousands, left out: {listed}"
    logger.warning("%s: %s", where, message)
    for j in comma_columns:
        texts[j].words = [
            word.replace(".", "").replace(",", ".") if DECIMAL_COMMA.fullmatch(word) else word
            for word in texts[j].words
        ]
    for j in texts.keys() & thousands_columns:
        texts[j].words = [word.replace(".", "") for word in texts[j].words]
    number_columns = thousands_columns - texts.keys()
    if number_columns:
        _strip_thousands(values, cells(), number_columns)


def _find_decimal_comma_columns(texts: dict[int, TextColumn]) -> list[int]:
    """Return the columns with decimal commas; none if all commas may separate thousands."""
    columns, is_clear = [], False
    for j, text in texts.items():
        _, has_comma, is_other_text = classify_values(text.words)
        n_commas, n_words = text.counts[has_comma].sum(), text.counts[is_other_text].sum()
        is_decimal = _full_matches(text.words, DECIMAL_COMMA)
        has_point = _full_matches(text.words, _DECIMAL_POINT)
        if n_commas > n_words and is_decimal[has_comma].all() and not has_point.any():
            columns.append(j)
            is_clear |= not _full_matches(text.words, _AMBIGUOUS_COMMA)[has_comma].all()
    return columns if is_clear else []


def _find_thousands_columns(
    texts: dict[int, TextColumn], cells: Iterator[dict], names: Sequence[str], where: str
) -> set[int]:
    """Return the columns whose points separate thousands."""
    text_words = ((j, text.words) for j, text in texts.items() if _has_only_numbers(text.words))
    number_words = (
        (j, column.dropna().str.strip().unique()) for chunk in cells for j, column in chunk.items()
    )
    may_be_grouped: dict[int, bool] = {}
    for j, words in chain(text_words, number_words):
        with_points = [word for word in words if "." in word]
        if with_points:
            may_be_grouped[j] = may_be_grouped.get(j, True) and bool(
                _full_matches(with_points, _GROUPED_THOUSANDS).all()
            )
    thousands_columns = {j for j in may_be_grouped if may_be_grouped[j]}
    decimal_columns = may_be_grouped.keys() - thousands_columns
    if thousands_columns and decimal_columns:
        decimal, ambiguous = names[min(decimal_columns)], names[min(thousands_columns)]
        raise UserError(
            f"{where}: column {decimal!r} has decimal points, and another one has decimal commas, "
            f"so that the points of column {ambiguous!r} may stand between thousands or not; "
            "write decimal points everywhere, and nothing between thousands"
        )
    return thousands_columns


def _has_only_numbers(words: Sequence[str]) -> bool:
    return bool((classify_values(words).is_number | _full_matches(words, _GROUPED_THOUSANDS)).all())


def _strip_thousands(values: np.ndarray, cells: Iterator[dict], columns: Iterable[int]) -> None:
    """Parse columns of numbers again, without the points between thousands."""
    start = 0
    for part in cells:
        for j in columns:
            numbers = part[j].str.replace(".", "", regex=False).astype(float)
            values[start : start + len(numbers), j] = numbers
        start += len(numbers)


def _full_matches(words: Sequence[str], pattern: re.Pattern) -> np.ndarray:
    return np.array([pattern.fullmatch(word) is not None for word in words], dtype=bool)
