"""Columns of text that are no features as they are: the reason, and settings that help."""

import re
import shlex
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from boostbench.data.text import Notation, is_number
from boostbench.spec.data import Decimal
from boostbench.util.errors import UserError
from boostbench.util.text_columns import (
    TextProblem,
    classify_values,
    days_conversion_code,
    is_all_dates,
    is_identifier_column,
    text_problem,
)

#: Notations of numbers with commas, and with marks that make a number look like a word.
_COMMA_NOTATIONS = (Notation("point", "comma"), Notation("comma"), Notation("comma", "point"))
_SPACED_NOTATIONS = tuple(
    Notation(decimal, thousands)
    for thousands in ("space", "apostrophe")
    for decimal in ("point", "comma")
)
#: Keys of ``data`` that name a notation.
_MARK_KEYS = ("decimal", "thousands")
#: Largest number of words that a message proposes as missing values: more are rather categories.
_MAX_MISSING_WORDS = 5
#: Largest number of columns that a message describes.
_MAX_DESCRIBED = 12
#: Text that Hydra takes as it is; other text needs quotes.
_BARE_TEXT = re.compile(r"(?!(?:true|false|null|nan|inf)$)[a-z_][\w.-]*", re.IGNORECASE | re.ASCII)


class ColumnProblem(NamedTuple):
    """Reason why a column is no feature as it is.

    Attributes
    ----------
    fault : str
        Fault of the column, with the place of an example.
    advice : str
        Correction, or setting that reads the column.
    settings : tuple of (str, str)
        Keys of ``data`` and values, with which the file is read. Empty: only a correction helps.
    """

    fault: str
    advice: str
    settings: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return f"{self.fault}; {self.advice}"

    @property
    def marks(self) -> tuple[tuple[str, str], ...]:
        """Settings that name a notation of numbers."""
        return tuple(setting for setting in self.settings if setting[0] in _MARK_KEYS)


class UnreadableColumns(UserError):
    """Error for a file with columns that are no features as they are.

    Parameters
    ----------
    where : str
        Name of the file.
    problems : sequence of ColumnProblem
        All problems of the file.
    decimal : {"point", "comma"}, default="point"
        Mark before the fraction of the numbers in other columns.
    command : str, default=""
        Command line that reads the file, if settings help.
    """

    def __init__(
        self,
        where: str,
        problems: Sequence[ColumnProblem],
        decimal: Decimal = "point",
        command: str = "",
    ):
        self.where, self.problems, self.decimal = where, problems, decimal
        lines = [str(problem) for problem in problems[:_MAX_DESCRIBED]]
        if len(problems) > 1:
            lines = [line.removeprefix(where).lstrip(":, ") for line in lines]
            lines.insert(0, f"{where}: {len(problems)} columns are no features as they are")
            if len(problems) > _MAX_DESCRIBED:
                lines.append(f"... and {len(problems) - _MAX_DESCRIBED} more columns")
        if command:
            lines += ["these settings read the file:", command]
        super().__init__(*lines)

    def __reduce__(self):
        return UnreadableColumns, (self.where, self.problems, self.decimal)

    def add_command(self, source: str, settings: Sequence[tuple[str, object]]) -> UserError:
        """Return the error with a command line that reads the file, if there are such settings.

        Parameters
        ----------
        source : str
            File or name of the data set.
        settings : sequence of (str, object)
            Settings of ``data`` that the user gave; a list is extended.
        """
        if not all(problem.settings for problem in self.problems):
            return self
        marks = {problem.marks for problem in self.problems if problem.marks}
        if len(marks) > 1:
            return self  # The columns need different notations.
        values = {key: value for key, value in settings if value not in (None, (), [])}
        if marks and self.decimal == "comma":
            values["decimal"] = "comma"
        for key, value in (setting for problem in self.problems for setting in problem.settings):
            listed = list(values.get(key, ()))
            values[key] = value if key in _MARK_KEYS else [*listed, *{value}.difference(listed)]
        words = [override(key, value) for key, value in values.items()]
        command = " ".join(["boostbench data", shlex.quote(source), *words])
        return UnreadableColumns(self.where, self.problems, self.decimal, command)


def find_problem(
    name: str,
    words: Sequence[str],
    counts: np.ndarray,
    n_rows: int,
    place,
    notation: Notation | None = None,
    is_label: bool = False,
    drop_key: str = "drop",
    is_declared: bool = False,
) -> ColumnProblem | None:
    """Return the reason why a column of text is no feature, or None.

    Parameters
    ----------
    name : str
        Name of the column.
    words : sequence of str
        Distinct words that occur.
    counts : ndarray of shape (n_words,), dtype=int
        Number of rows with each word.
    n_rows : int
        Number of rows, including rows without a word.
    place : callable
        Function that returns the place of a word for messages, such as ``"x.csv, line 3"``; the
        place of None is the file.
    notation : Notation, default=None
        Notation that the user gave. None: numbers have a decimal point.
    is_label : bool, default=False
        Whether the column holds the classes, which may be as many and as different as they like.
    drop_key : str, default="drop"
        Key of ``data`` that leaves columns out.
    is_declared : bool, default=False
        Whether the file declares the words as categories; they may then look like numbers.
    """
    problem = _text_problem(words, counts, n_rows, notation, is_declared)
    column = f"column {name!r}"
    left_out = f"leave it out by {override(drop_key, [name])}"
    match problem:
        case None | ("numbers", _):
            return None
        case ("commas" | "mostly_numbers", _):
            return _number_problem(problem, name, words, place, notation, is_label, left_out)
        case _ if is_label:
            return None
        case ("dates", _):
            return date_problem(place(None), name, words, drop_key)
        case ("spaced", example):
            [fitting] = [n for n in _SPACED_NOTATIONS if _is_all_numbers(words, n)][:1]
            fault = f"{place(example)}: {example!r} in {column} is no number as it is"
            return ColumnProblem(fault, _describe([fitting], example), _notation_settings(fitting))
        case _:
            fault = (
                f"{place(None)}: the text of {column} is different in more than half of "
                f"{n_rows} rows, as of names or dates, and means no category"
            )
            advice = left_out
    return ColumnProblem(fault, advice, ((drop_key, name),))


def date_problem(
    place: str, name: str, words: Sequence[str] = (), drop_key: str = "drop"
) -> ColumnProblem:
    """Return the problem of a column of dates; see `days_conversion_code` for `words`."""
    code = days_conversion_code(name, words)
    return ColumnProblem(
        f"{place}: column {name!r} holds dates, which are no categories",
        f"leave it out by {override(drop_key, [name])}, or make days of it: {code}",
        ((drop_key, name),),
    )


def _text_problem(
    words: Sequence[str],
    counts: np.ndarray,
    n_rows: int,
    notation: Notation | None,
    is_declared: bool,
) -> TextProblem | None:
    """Return the problem of a column of text, by the notation that the user gave."""
    if is_declared:
        if is_all_dates(words):
            return TextProblem("dates", words[0])
        is_identifier = is_identifier_column(len(words), n_rows)
        return (
            TextProblem("identifiers", words[0])
            if is_identifier and not all(map(is_number, words))
            else None
        )
    if notation is None:
        problem = text_problem(words, counts, n_rows)
        is_identifier = problem is not None and problem.kind == "identifiers"
        if is_identifier and any(_is_all_numbers(words, spaced) for spaced in _SPACED_NOTATIONS):
            return TextProblem("spaced", words[0])
        return problem
    is_wrong = np.array([notation.normalize(word) is None for word in words], dtype=bool)
    if not is_wrong.any():
        return TextProblem("numbers", words[0]) if len(words) else None
    # "1.5" is a number to other programs, but not with decimal commas.
    numbers = [word for word in np.array(words)[is_wrong].tolist() if is_number(word)]
    if numbers or counts[~is_wrong].sum() > counts[is_wrong].sum():
        return TextProblem("mostly_numbers", (numbers or [words[int(is_wrong.argmax())]])[0])
    return text_problem(words, counts, n_rows)


def _number_problem(
    problem: TextProblem,
    name: str,
    words: Sequence[str],
    place,
    notation: Notation | None,
    is_label: bool,
    left_out: str,
) -> ColumnProblem:
    """Return the problem of a column of numbers, some with commas or among a few words."""
    example = problem.example
    cell = f"{place(example)}: {example!r} in column {name!r}"
    if problem.kind == "commas":
        kinds = classify_values(words)
        numbers = [w for w, other in zip(words, kinds.is_other_text, strict=True) if not other]
        fitting = [] if notation else [n for n in _COMMA_NOTATIONS if _is_all_numbers(numbers, n)]
        if not fitting:
            advice = f"write a decimal point, and nothing between thousands, or {left_out}"
            settings = () if is_label else (("drop", name),)
            return ColumnProblem(f"{cell} has a comma", advice, settings)
        texts = [w for w, other in zip(words, kinds.is_other_text, strict=True) if other]
        settings = (*_notation_settings(fitting[0]), *(("na_values", word) for word in texts))
        return ColumnProblem(f"{cell} has a comma", _describe(fitting, example), settings)
    if notation is None:
        notation = Notation()
    texts = [word for word in words if notation.normalize(word) is None]
    if is_label:
        return ColumnProblem(f"{cell} is a word among numbers", "correct it")
    if len(texts) > _MAX_MISSING_WORDS or any(re.search(r"\d", word) for word in texts):
        fault = f"{cell} is a word among numbers"
        if is_number(example):
            fault = f"{cell} is no number with {override('decimal', notation.decimal)}"
        return ColumnProblem(fault, f"correct it, or {left_out}", (("drop", name),))
    advice = f"correct it, or add {override('na_values', texts)} if it means a missing value"
    settings = tuple(("na_values", word) for word in texts)
    return ColumnProblem(f"{cell} is a word among numbers", advice, settings)


def _is_all_numbers(words: Iterable[str], notation: Notation) -> bool:
    return all(notation.normalize(word) is not None for word in words)


def _notation_settings(notation: Notation) -> tuple[tuple[str, str], ...]:
    """Return the settings of ``data`` that name a notation."""
    decimal = [("decimal", notation.decimal)] if notation.decimal != "point" else []
    thousands = [("thousands", notation.thousands)] if notation.thousands else []
    return (*decimal, *thousands)


def _describe(notations: Sequence[Notation], example: str) -> str:
    """Return the reading of a number by each notation, for the user's choice."""
    readings = {}
    for notation in notations:
        settings = " ".join(override(key, value) for key, value in _notation_settings(notation))
        readings.setdefault(notation.normalize(example), settings)
    return ", ".join(f"{settings} reads {number}" for number, settings in readings.items())


def override(key: str, value: object) -> str:
    """Return a setting of ``data`` as a word of a command line, with the quotes that it needs."""
    if isinstance(value, list | tuple):
        text = f"[{','.join(map(_quote, value))}]"
    else:
        text = _quote(value)
    return shlex.quote(f"data.{key}={text}")


def _quote(value: object) -> str:
    if not isinstance(value, str):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if _BARE_TEXT.fullmatch(value):
        return value
    escaped = re.sub(r'(\\*)"', r'\1\1\\"', value)
    return '"' + re.sub(r"(\\+)$", r"\1\1", escaped) + '"'
