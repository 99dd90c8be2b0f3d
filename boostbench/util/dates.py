"""Recognition of dates in text, and code that turns them into numbers."""

import re
from collections.abc import Collection

#: 2024-03-09, 09.03.2024 or 3/9/24, with or without a time.
_DATE = re.compile(
    r"(\d{4}([-/.])\d{1,2}\2\d{1,2}|\d{1,2}([-/.])\d{1,2}\3(\d{4}|\d{2}))"
    r"([T ]\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?"
)
# Dates that begin with the day: it is followed by a point, or larger than 12.
_DAY_FIRST = re.compile(r"\d{1,2}\.|(1[3-9]|2\d|3[01])[-/]\d{1,2}[-/]")
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
    frame, arguments, drop_time_zone = f"frame[{name!r}]", "", ""
    if any(map(_DAY_FIRST.match, words)):
        arguments += ", dayfirst=True"
    if len({re.sub(r"\d", "0", word) for word in words}) > 1:
        arguments += ", format='mixed'"
    if any(map(_TIME_ZONE.search, words)):
        arguments, drop_time_zone = f"{arguments}, utc=True", ".dt.tz_localize(None)"
    dates = f"pandas.to_datetime({frame}{arguments}){drop_time_zone}"
    return f"{frame} = ({dates} - pandas.Timestamp('2000-01-01')).dt.days"
