"""Texts that are dates: they are no categories, and days make numbers of them."""

import re
from collections.abc import Collection

#: 2024-03-09, 09.03.2024 or 3/9/24, and perhaps a time.
_DATE = re.compile(
    r"(\d{4}([-/.])\d{1,2}\2\d{1,2}|\d{1,2}([-/.])\d{1,2}\3(\d{4}|\d{2}))"
    r"([T ]\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?"
)


def are_dates(words: Collection[str]) -> bool:
    """Whether all of some texts are dates, perhaps with times.

    Examples
    --------
    >>> are_dates(["2024-03-09", "10.3.2024 12:30"]), are_dates(["2024-03-09", "soon"])
    (True, False)
    """
    return bool(words) and all(map(_DATE.fullmatch, words))


def as_days(name: str) -> str:
    """Write the code that makes days of a column of a data frame.

    Examples
    --------
    >>> as_days("start")
    "frame['start'] = (pandas.to_datetime(frame['start']) - pandas.Timestamp('2000-01-01')).dt.days"
    """
    frame = f"frame[{name!r}]"
    return f"{frame} = (pandas.to_datetime({frame}) - pandas.Timestamp('2000-01-01')).dt.days"
