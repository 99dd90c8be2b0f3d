"""Columns of text that cannot be used as features unless a setting or a correction is applied.

`find_problem` returns the fault of a column, and a setting of ``data`` that helps, if there is one.
`UnreadableColumns` is the error with all problems of a file.
"""

import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from boostbench.data.text import Notation, is_number
from boostbench.spec.data import Decimal
from boostbench.util import configs
from boostbench.util.errors import UserError
from boostbench.util.text_columns import (
    TextProblem,
    classify_values,
    days_conversion_code,
    is_all_dates,
    is_identifier_column,
    text_problem,
)

#: Notations that a number with commas may have, in the order in which they are proposed.
_COMMA_NOTATIONS = (Notation("point", "comma"), Notation("comma"), Notation("comma", "point"))
#: Notations with spaces or apostrophes between thousands, whose numbers look like words.
_SPACED_NOTATIONS = tuple(
    Notation(decimal, thousands)
    for thousands in ("space", "apostrophe")
    for decimal in ("point", "comma")
)
#: Keys of ``data`` that name a notation: a single value for all columns of the file.
_NOTATION_KEYS = ("decimal", "thousands")
#: Largest number of words that a message proposes as missing values: more are rather categories.
_MAX_MISSING_WORDS = 5
#: Largest number of columns that a message describes: more do not fit on a screen.
_MAX_DESCRIBED = 12


class ColumnProblem(NamedTuple):
    """Reason why a column cannot be used as a feature.

    Attributes
    ----------
    fault : str
        Fault of the column, with the file and line of an example.
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
    def notation_settings(self) -> tuple[tuple[str, str], ...]:
        """Settings that name a notation of numbers."""
        return tuple(setting for setting in self.settings if setting[0] in _NOTATION_KEYS)


class UnreadableColumns(UserError):
    """Error for a file with columns that cannot be used as features.

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
        self.where, self.problems = where, problems
        self.decimal, self.command = decimal, command
        lines = [str(problem) for problem in problems[:_MAX_DESCRIBED]]
        if len(problems) > 1:
            lines = [line.removeprefix(where).lstrip(":, ") for line in lines]
            lines.insert(0, f"{where}: {len(problems)} columns cannot be used as features")
            if len(problems) > _MAX_DESCRIBED:
                lines.append(f"... and {len(problems) - _MAX_DESCRIBED} more columns")
        if command:
            lines += ["these settings read the file:", command]
        super().__init__(*lines)

    def __reduce__(self):
        return UnreadableColumns, (self.where, self.problems, self.decimal, self.command)

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
        notations = {problem.notation_settings for problem in self.problems} - {()}
        if len(notations) > 1:
            return self  # The columns need different notations.
        values = {key: value for key, value in settings if value not in (None, (), [])}
        if notations and self.decimal == "comma":
            # A setting of thousands alone would end the recognition of decimal commas.
            values["decimal"] = "comma"
        for key, value in (setting for problem in self.problems for setting in problem.settings):
            if key in _NOTATION_KEYS:
                values[key] = value
            elif value not in values.setdefault(key, []):
                values[key] = [*values[key], value]
        words = [format_setting(key, value) for key, value in values.items()]
        command = " ".join(["boostbench data", shlex.quote(source), *words])
        return UnreadableColumns(self.where, self.problems, self.decimal, command)


def find_problem(
    name: str,
    words: Sequence[str],
    counts: np.ndarray,
    n_rows: int,
    locate: Callable[[str | None], str],
    *,
    notation: Notation | None = None,
    is_label: bool = False,
    drop_key: str = "drop",
    is_declared: bool = False,
) -> ColumnProblem | None:
    """Return the reason why a column of text cannot be used; None: it holds categories or numbers.

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
    locate : callable
        Function that returns the file and line of a word for messages, such as ``"x.csv, line 3"``,
        and the file alone for None.
    notation : Notation, default=None
        Notation that the user gave. None: numbers have a decimal point.
    is_label : bool, default=False
        Whether the column holds the classes, which may be as many and as different as they like.
    drop_key : str, default="drop"
        Key of ``data`` that leaves columns out.
    is_declared : bool, default=False
        Whether the file declares the words as categories; they may then look like numbers.
    """
    text_fault = _classify_column(words, counts, n_rows, notation=notation, is_declared=is_declared)
    if text_fault is None or text_fault.kind == "numbers":
        return None
    cell = f"{locate(text_fault.example)}: {text_fault.example!r} in column {name!r}"
    leave_out_advice = f"leave it out by {format_setting(drop_key, [name])}"
    # 1) Numbers with commas, and words among numbers, are faults of labels, too.
    if text_fault.kind in ("commas", "mostly_numbers"):
        make_problem = _comma_problem if text_fault.kind == "commas" else _word_problem
        return make_problem(
            words,
            text_fault.example,
            cell=cell,
            name=name,
            notation=notation,
            is_label=is_label,
            leave_out_advice=leave_out_advice,
        )
    # 2) Classes may have any other words, all of them different.
    if is_label:
        return None
    if text_fault.kind == "dates":
        return date_problem(locate(None), name, words, drop_key)
    # 3) Words that are nearly all different are names, or numbers in another notation.
    if notation is None and not is_declared:
        for spaced in _SPACED_NOTATIONS:
            if _is_all_numbers(words, spaced):
                advice = _describe_readings([spaced], text_fault.example)
                fault = f"{cell} is no number as it is"
                return ColumnProblem(fault, advice, _notation_settings(spaced))
    fault = (
        f"{locate(None)}: the text of column {name!r} is different in more than half of {n_rows} "
        "rows, as of names or dates, and means no category"
    )
    return ColumnProblem(fault, leave_out_advice, ((drop_key, name),))


def date_problem(
    where: str, name: str, words: Sequence[str] = (), drop_key: str = "drop"
) -> ColumnProblem:
    """Return the problem of a column of dates.

    Parameters
    ----------
    where : str
        File, perhaps with a line.
    name : str
        Name of the column.
    words : sequence of str, default=()
        Values of the column, see `boostbench.util.text_columns.days_conversion_code`.
    drop_key : str, default="drop"
        Key of ``data`` that leaves columns out.
    """
    code = days_conversion_code(name, words)
    return ColumnProblem(
        f"{where}: column {name!r} holds dates, which are no categories",
        f"leave it out by {format_setting(drop_key, [name])}, or make days of it: {code}",
        ((drop_key, name),),
    )


def _classify_column(
    words: Sequence[str],
    counts: np.ndarray,
    n_rows: int,
    *,
    notation: Notation | None,
    is_declared: bool,
) -> TextProblem | None:
    """Return the kind of a column's words, and an example; None: the words are categories.

    See `find_problem` for the parameters. Words that the file declares as categories can be faulty
    as dates and ids only, and a user's notation replaces the rules for commas.
    """
    if is_declared:
        if is_all_dates(words):
            return TextProblem("dates", words[0])
        is_identifier = is_identifier_column(len(words), n_rows)
        if is_identifier and not all(map(is_number, words)):
            return TextProblem("identifiers", words[0])
        return None
    if notation is None:
        return text_problem(words, counts, n_rows)
    is_wrong = np.array([notation.normalize(word) is None for word in words], dtype=bool)
    if not is_wrong.any():
        return TextProblem("numbers", words[0]) if len(words) else None
    # "1.5" is a number to other programs, but not with decimal commas.
    wrong_words = np.array(words)[is_wrong].tolist()
    other_numbers = [word for word in wrong_words if is_number(word)]
    if other_numbers or counts[~is_wrong].sum() > counts[is_wrong].sum():
        return TextProblem("mostly_numbers", (other_numbers or wrong_words)[0])
    return text_problem(words, counts, n_rows)


def _comma_problem(
    words: Sequence[str],
    example: str,
    *,
    cell: str,
    name: str,
    notation: Notation | None,
    is_label: bool,
    leave_out_advice: str,
) -> ColumnProblem:
    """Return the problem of a column of numbers with commas.

    Parameters
    ----------
    words : sequence of str
        Distinct words that occur.
    example : str
        First number with a comma.
    cell : str
        File, line, word and column of the example, with which the message begins.
    leave_out_advice : str
        Advice how to leave the column out.
    name, notation, is_label
        See `find_problem`.
    """
    fault = f"{cell} has a comma"
    is_other_text = classify_values(words).is_other_text
    numbers = [word for word, is_text in zip(words, is_other_text, strict=True) if not is_text]
    texts = [word for word, is_text in zip(words, is_other_text, strict=True) if is_text]
    # A notation of the user has been tried already.
    fitting = [] if notation else [n for n in _COMMA_NOTATIONS if _is_all_numbers(numbers, n)]
    if not fitting:
        advice = f"write a decimal point, and nothing between thousands, or {leave_out_advice}"
        return ColumnProblem(fault, advice, () if is_label else (("drop", name),))
    settings = (*_notation_settings(fitting[0]), *(("na_values", word) for word in texts))
    return ColumnProblem(fault, _describe_readings(fitting, example), settings)


def _word_problem(
    words: Sequence[str],
    example: str,
    *,
    cell: str,
    name: str,
    notation: Notation | None,
    is_label: bool,
    leave_out_advice: str,
) -> ColumnProblem:
    """Return the problem of a column of numbers with a few words.

    See `_comma_problem` for the parameters; `example` is the first word.
    """
    fault = f"{cell} is a word among numbers"
    if is_label:
        return ColumnProblem(fault, "correct it")
    notation = notation or Notation()
    texts = [word for word in words if notation.normalize(word) is None]
    # A word with digits is rather a misspelled number than a mark of missing values.
    if len(texts) > _MAX_MISSING_WORDS or any(re.search(r"\d", word) for word in texts):
        if is_number(example):
            fault = f"{cell} is no number with {format_setting('decimal', notation.decimal)}"
        return ColumnProblem(fault, f"correct it, or {leave_out_advice}", (("drop", name),))
    advice = f"correct it, or add {format_setting('na_values', texts)} if it means a missing value"
    return ColumnProblem(fault, advice, tuple(("na_values", word) for word in texts))


def _is_all_numbers(words: Iterable[str], notation: Notation) -> bool:
    """Return whether all words are numbers of a notation."""
    return all(notation.normalize(word) is not None for word in words)


def _notation_settings(notation: Notation) -> tuple[tuple[str, str], ...]:
    """Return the settings of ``data`` that name a notation."""
    decimal = [("decimal", notation.decimal)] if notation.decimal != "point" else []
    thousands = [("thousands", notation.thousands)] if notation.thousands else []
    return (*decimal, *thousands)


def _describe_readings(notations: Sequence[Notation], example: str) -> str:
    """Return the reading of a number by each notation, for the user's choice.

    Examples
    --------
    >>> _describe_readings(_COMMA_NOTATIONS[:2], "12,685")
    'data.thousands=comma reads 12685, data.decimal=comma reads 12.685'
    """
    readings = {}
    for notation in notations:
        settings = _notation_settings(notation)
        text = " ".join(format_setting(key, value) for key, value in settings)
        readings.setdefault(notation.normalize(example), text)
    return ", ".join(f"{text} reads {number}" for number, text in readings.items())


def format_setting(key: str, value: object) -> str:
    """Return a setting of ``data`` as a word of a command line, with the quotes that it needs.

    Examples
    --------
    >>> print(format_setting("drop", ["id", "first name"]))
    'data.drop=[id,"first name"]'
    """
    return shlex.quote(f"data.{key}={configs.hydra_text(value)}")
