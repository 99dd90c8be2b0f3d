"""Columns of text that do not hold categories: dates, numbers and identifiers.

The same rule judges files on the command line and data frames in Python.
"""

import re
from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

import numpy as np

#: 2024-03-09, 09.03.2024 or 3/9/24, with or without a time.
_DATE = re.compile(
    r"(\d{4}([-/.])\d{1,2}\2\d{1,2}|\d{1,2}([-/.])\d{1,2}\3(\d{4}|\d{2}))"
    r"([T ]\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?"
)
#: A date that begins with the day: a point follows the day, or the day is larger than 12.
_DAY_FIRST = re.compile(r"\d{1,2}\.|(1[3-9]|2\d|3[01])[-/]\d{1,2}[-/]")
#: A time zone behind a time: ``12:30Z``, ``12:30+02:00``.
_TIME_ZONE = re.compile(r":\d.*(Z|[+-]\d{2}:?\d{2})$")


def is_all_dates(words: Collection[str]) -> bool:
    """Return whether all texts are dates, with or without times.

    Examples
    --------
    >>> is_all_dates(["2024-03-09", "10.3.2024 12:30"]), is_all_dates(["2024-03-09", "soon"])
    (True, False)
    """
    return bool(words) and all(map(_DATE.fullmatch, words))


def days_conversion_code(name: str, words: Collection[str] = ()) -> str:
    """Return pandas code that converts a column of dates to days since 2000.

    Parameters
    ----------
    name : str
        Name of the column in a data frame ``frame``.
    words : collection of str, default=()
        Values of a column of text, which `is_all_dates` accepts. They decide which arguments
        `pandas.to_datetime` needs.

    Examples
    --------
    >>> days_conversion_code("start")
    "frame['start'] = (pandas.to_datetime(frame['start']) - pandas.Timestamp('2000-01-01')).dt.days"
    """
    # Arguments of pandas.to_datetime, and a call that makes times of several zones comparable.
    frame, arguments, drop_time_zone = f"frame[{name!r}]", "", ""
    if any(map(_DAY_FIRST.match, words)):
        arguments += ", dayfirst=True"
    # Dates of one notation are equal if all digits are replaced by 0.
    if len({re.sub(r"\d", "0", word) for word in words}) > 1:
        arguments += ", format='mixed'"
    if any(map(_TIME_ZONE.search, words)):
        arguments, drop_time_zone = f"{arguments}, utc=True", ".dt.tz_localize(None)"
    dates = f"pandas.to_datetime({frame}{arguments}){drop_time_zone}"
    return f"{frame} = ({dates} - pandas.Timestamp('2000-01-01')).dt.days"


#: Number of distinct values above which a column of text may identify rows, as names and customer
#: numbers do.
_MAX_DISTINCT = 20
#: Share of the rows that the number of distinct values must exceed as well.
_MAX_SHARE = 0.5

#: Maximum number of categories of a feature, as in scikit-learn's HistGradientBoostingClassifier.
MAX_CATEGORIES = 255
#: A number with a decimal comma, or with commas between thousands.
_NUMBER_WITH_COMMA = re.compile(r"[-+]?(?=[.\d]*,)(?=,*\d)[\d.,]+([eE][-+]?\d+)?", re.ASCII)


class ValueKinds(NamedTuple):
    """Masks of shape (n_values,), of which exactly one is True for each value.

    Attributes
    ----------
    is_number : ndarray of bool
        The value is a number with a decimal point or without one.
    has_comma : ndarray of bool
        The value is a number with a decimal comma or with commas between thousands.
    is_other_text : ndarray of bool
        The value is not a number.
    """

    is_number: np.ndarray
    has_comma: np.ndarray
    is_other_text: np.ndarray


class TextProblem(NamedTuple):
    """Reason why a column of text does not hold categories.

    Attributes
    ----------
    kind : {"dates", "commas", "mostly_numbers", "numbers", "identifiers"}
        The first of the following descriptions that is true:

        - ``"dates"``: all values are dates;
        - ``"commas"``: more rows hold numbers with commas than values that are not numbers;
        - ``"numbers"``: all values are numbers without commas;
        - ``"mostly_numbers"``: more rows hold numbers without commas than other values;
        - ``"identifiers"``: the number of distinct values exceeds both 20 and half of the rows.
    example : str
        First value with a comma for ``"commas"``; first value that is not a number without commas
        for ``"mostly_numbers"``; otherwise the first value.
    """

    kind: Literal["dates", "commas", "mostly_numbers", "numbers", "identifiers"]
    example: str


def text_problem(values: Sequence[str], counts: np.ndarray, n_rows: int) -> TextProblem | None:
    """Return the reason why a column of text does not hold categories, or None.

    Parameters
    ----------
    values : sequence of str
        Distinct values of the column.
    counts : ndarray of shape (n_values,), dtype=int
        Number of rows with each value.
    n_rows : int
        Number of rows, including rows with a missing value.

    Examples
    --------
    >>> text_problem(["12,685", "9,100"], np.array([1, 1]), n_rows=2)
    TextProblem(kind='commas', example='12,685')
    >>> text_problem(["12", "unknown"], np.array([3, 1]), n_rows=4)
    TextProblem(kind='mostly_numbers', example='unknown')
    >>> text_problem(["red", "blue"], np.array([3, 1]), n_rows=4)
    """
    if not len(values):
        return None
    if is_all_dates(values):
        return TextProblem("dates", values[0])
    kinds = classify_values(values)
    n_numbers, n_commas, n_other_texts = (int(counts[kind].sum()) for kind in kinds)
    if n_commas > n_other_texts:
        return TextProblem("commas", values[int(kinds.has_comma.argmax())])
    if kinds.is_number.all():
        return TextProblem("numbers", values[0])
    if n_numbers > n_commas + n_other_texts:
        return TextProblem("mostly_numbers", values[int((~kinds.is_number).argmax())])
    if is_identifier_column(len(values), n_rows):
        return TextProblem("identifiers", values[0])
    return None


def is_identifier_column(n_values: int, n_rows: int) -> bool:
    """Return whether a column with `n_values` distinct values identifies rows.

    Examples
    --------
    >>> is_identifier_column(5000, n_rows=5000), is_identifier_column(20, n_rows=20)
    (True, False)
    """
    return n_values > max(_MAX_DISTINCT, _MAX_SHARE * n_rows)


def classify_values(values: Sequence[str]) -> ValueKinds:
    """Return which values are numbers, numbers with commas, and other texts.

    Examples
    --------
    >>> classify_values(["1.5", "1,5", "cat"]).has_comma.tolist()
    [False, True, False]
    """
    import pandas as pd  # slow to import

    column = pd.Series(values, dtype="string")
    is_number = pd.to_numeric(column, errors="coerce").notna().to_numpy(dtype=bool)
    has_comma = np.array(
        [_NUMBER_WITH_COMMA.fullmatch(value) is not None for value in values], bool
    )
    return ValueKinds(is_number, has_comma, ~is_number & ~has_comma)
