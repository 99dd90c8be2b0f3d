"""Published numbers, read from CSV files: in the papers' folders, or a file of the user."""

import csv
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache
from math import inf, isinf, nan, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from boostbench.fitting.quantities import QUANTITIES, Quantity
from boostbench.papers.metadata import PublishedTable, published_table, tables
from boostbench.util.configs import paper_folders
from boostbench.util.errors import UserError, did_you_mean, os_error_reason, unknown_name_error
from boostbench.util.numbers import mean_std

if TYPE_CHECKING:
    import pandas as pd

#: Largest number of decimals of a published number. More are rounding errors of a program.
MAX_DECIMALS = 9

#: Largest number of repeats of an experiment. More are a mistake in the file.
MAX_REPEATS = 10**9

#: A number as papers print it. Python takes ``1_0``, ``nan`` and digits of other scripts as well.
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")

# Characters of a cell in a message.
_MAX_SHOWN = 40

# Column of a user's file with the number of repeats.
_REPEATS = "n"


@dataclass(frozen=True)
class Published:
    """A published number.

    Attributes
    ----------
    table : str
        Name of the table, e.g. ``"randomboost-table5"``, or path of the user's file.
    quantity : Quantity
        Quantity, with the decimals that the paper prints.
    mean, std : float
        In the quantity's unit; `std` is NaN where the paper gives none.
    n : int
        Number of repeats behind them.
    line : dict of str to str
        The line of the CSV file that holds it.
    source : str, default=""
        First occurrence of the number: equal for numbers that a paper prints twice.
    pool_share : float, default=0
        Where the repeats are splits of samples that were drawn once: the variance between such
        pools as a share of that within one.
    """

    table: str
    quantity: Quantity
    mean: float
    std: float
    n: int
    line: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    pool_share: float = 0

    def __str__(self) -> str:
        if self.quantity.of_machine:
            return f"{self.mean:g}"
        return mean_std(self.mean, self.std, self.quantity.digits)


class PublishedLine(NamedTuple):
    """Line of a file of published numbers.

    Attributes
    ----------
    number : int
        Number of the line in the file, from 1.
    data, algo : str
        Name of the data set, and names of the algorithms, separated by spaces.
    settings : dict of str to str
        Settings that distinguish experiments of one algorithm: parameters, settings of the
        protocol, or the seed. Empty cells are left out.
    numbers : dict of str to Published
        Published numbers by the names of their quantities.
    """

    number: int
    data: str
    algo: str
    settings: dict[str, str]
    numbers: dict[str, Published]

    @property
    def label(self) -> str:
        """The algorithm with its settings."""
        settings = ", ".join(f"{key}={value}" for key, value in self.settings.items())
        return f"{self.algo}, {settings}" if settings else self.algo


class _TextLine(NamedTuple):
    """Line of a file: its number, and the text in each column."""

    number: int
    texts: dict[str, str]

    def fits(self, **settings: Any) -> bool:
        """Return True if the line has the values, or one of each list of values."""
        return all(
            any(
                is_value(self.texts[key], allowed)
                for allowed in (value if isinstance(value, list) else [value])
            )
            for key, value in settings.items()
        )


def lines_of(table: str) -> list[dict[str, str]]:
    """Return the lines of a published table, with all values as they are written."""
    return [line.texts for line in _read_paper_file(published_table(table).path)]


def read_statements(paper: str) -> list[dict[str, str]]:
    """Return the lines of a paper's ``wilcoxon.csv``: the signed-rank tests that it reports."""
    path = paper_folders()[paper] / "wilcoxon.csv"
    return [line.texts for line in _read_paper_file(path)] if path.exists() else []


def find_published(table: str, data: str, algo: str, params: Mapping) -> dict[str, Published]:
    """Return the published numbers of an algorithm on a data set.

    Parameters
    ----------
    table : str
        Name of the CSV file without its ending.
    data, algo : str
        Names, as in our configs.
    params : mapping
        Parameters of the algorithm. Where the table has a column of such a name (``loss``,
        ``n_iterations``), the line with this value is meant, or with none.

    Returns
    -------
    dict of str to Published
        By the names of their quantities; empty when the table does not hold it.

    Raises
    ------
    UserError
        If there is no such table.
    """
    for line in _paper_lines(published_table(table)):
        if (
            line.data == data
            and algo in line.algo.split()
            and line.numbers
            and all(is_value(text, params.get(key)) for key, text in line.settings.items())
        ):
            return line.numbers
    return {}


def published_frame(name: str | None = None) -> "pd.DataFrame":
    """Return published numbers as a data frame.

    Parameters
    ----------
    name : str, default=None
        Name of a table, as in ``conf/table`` or as a paper calls it. None: all tables.

    Returns
    -------
    pandas.DataFrame
        A row for each number, see `boostbench.published`.

    Raises
    ------
    UserError
        If the name is unknown.
    """
    import pandas as pd  # slow to import

    chosen = [about for about in tables().values() if name in (None, about.name, about.definition)]
    if not chosen:
        names = {name for about in tables().values() for name in (about.name, about.definition)}
        raise unknown_name_error("published table", name, names, is_listed=False)
    rows = [
        {
            "table": about.definition,
            "paper": about.paper,
            "number": about.number,
            "data": line.data,
            "algo": line.algo,
            **{key: line.settings[key] for key in sorted(line.settings)},
            "quantity": quantity,
            "unit": published.quantity.unit,
            "mean": published.mean,
            "std": published.std,
            "n": published.n,
        }
        for about in chosen
        for line in _paper_lines(about)
        for quantity, published in line.numbers.items()
    ]
    return pd.DataFrame(rows)


def sources(table: str) -> set[str]:
    """Return the sources of all main numbers of a published table, see `Published.source`."""
    about = published_table(table)
    return {
        line.numbers[about.quantity.name].source
        for line in _paper_lines(about)
        if about.quantity.name in line.numbers
    }


def statement(table: str, a: Collection[str], b: Collection[str]) -> str | None:
    """Return a paper's statement on a Wilcoxon signed-rank test between two columns.

    Parameters
    ----------
    table : str
        Name of the CSV file without its ending.
    a, b : collection of str
        Names of each of the two: ``rboost_proj``, ``rboost_proj:wlda``.

    Returns
    -------
    str or None
        In words; None when the paper does not say.
    """
    about = published_table(table)
    for line in read_statements(about.paper):
        is_pair = (line["a"] in a and line["b"] in b) or (line["a"] in b and line["b"] in a)
        if about.number == line["table"] and is_pair:
            verdict = "rejects" if line["significant"] == "yes" else "fails to reject"
            return (
                f"The paper, over {line['n_data']} data sets: statistic {line['statistic']}, "
                f"critical value {line['critical_value_5pct']}; WSRT {verdict} the null hypothesis."
            )
    return None


def read_published_file(
    path: Path, repeats: int | None = None, digits: int | None = None
) -> tuple[Quantity, list[PublishedLine]]:
    """Read the published numbers of a user's file.

    Parameters
    ----------
    path : Path
        CSV file with a heading: ``data``, ``algo``; a quantity, such as ``test_error_mean``, or
        ``test_error`` without a deviation, and ``test_error_std``; perhaps ``n``, how often the
        experiment was repeated; all other columns are settings. Lines that begin with # are
        comments.
    repeats : int, default=None
        Number of repetitions if there is no column ``n``.
    digits : int, default=None
        Decimals that the paper prints. None: the decimals of the longest number, and at least
        as many as our numbers have. Programs write 1.000 as 1, so that a paper may print more
        decimals than its file has.

    Returns
    -------
    quantity : Quantity
        Quantity of the numbers, with their decimals.
    lines : list of PublishedLine

    Raises
    ------
    UserError
        If something is wrong with the file; the message names the line.
    """
    numbered = _read_csv(path)
    if not numbered:
        raise UserError(f"{path} is empty; it needs a heading such as data,algo,test_error_mean")
    (first_number, names), *rows = numbered
    quantity = _quantity_of(f"{path}:{first_number}", names, repeats)
    if not rows:
        raise UserError(f"{path} has a heading and no line below it")
    text_lines = [_TextLine(number, dict(zip(names, row, strict=True))) for number, row in rows]
    if digits is None:
        columns = [name for name in names if name.removesuffix("_mean") == quantity.column]
        columns += [name for name in names if name == f"{quantity.column}_std"]
        digits = max(
            quantity.digits,
            *(
                _decimals(f"{path}:{line.number}", name, line.texts[name])
                for line in text_lines
                for name in columns
            ),
        )
    quantity = replace(quantity, digits=digits)
    about = PublishedTable(
        *(str(path), "", "", quantity, 1.0, repeats or 0, path, ""), words=[_REPEATS]
    )
    lines = {}
    for text_line in text_lines:
        where = f"{path}:{text_line.number}"
        for name in ("data", "algo"):
            if not text_line.texts[name]:
                raise UserError(f"{where}: {name} is empty")
        line = _parse_line(about, text_line)
        if quantity.name not in line.numbers:
            raise UserError(f"{where}: {quantity.column} is empty")
        earlier = lines.setdefault((line.data, line.label), line)
        if earlier is not line:
            raise UserError(
                f"{where}: {line.label} on {line.data} stands in line {earlier.number} too"
            )
    return quantity, list(lines.values())


def unit_warnings(path: Path, quantity: Quantity, lines: Iterable[PublishedLine]) -> list[str]:
    """Return warnings about numbers of a user's file that seem to have another unit."""
    largest = max(line.numbers[quantity.name].mean for line in lines)
    if quantity.unit != "percent" or largest > 1:
        return []
    return [
        f"{path}: no {quantity.title.lower()} is above 1; numbers are taken as percent, a quarter "
        "is 25"
    ]


def is_value(text: str, value) -> bool:
    """Return True if a setting is empty, or the same text or number as the value.

    Examples
    --------
    >>> is_value("1e-3", 0.001), is_value("False", False), is_value("false", False)
    (True, True, True)
    """
    try:
        return not text or float(text) == float(value)
    except (TypeError, ValueError):
        return text in (str(value), json.dumps(value))  # as configs write true and null


def _read_csv(path: Path) -> list[tuple[int, list[str]]]:
    """Return the lines of a CSV file with their numbers, without comments and empty lines.

    Raises
    ------
    UserError
        If the file cannot be read, or a line has another number of cells than the heading.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UserError(f"cannot read {path}: {os_error_reason(error)}") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise UserError(f"{path}:{line}: not UTF-8; save the file as UTF-8") from None
    numbered: list[tuple[int, list[str]]] = []
    reader = csv.reader(text.splitlines(), strict=True)
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if not any(cells) or cells[0].startswith("#"):
                continue
            where = f"{path}:{reader.line_num}"
            separator = re.search("[;\t|]", cells[0]) if len(cells) == 1 else None
            if separator and not numbered:
                raise UserError(
                    f"{where}: the heading has {separator[0]!r} between its "
                    "names; separate cells by commas, and write decimal points (1.5, not 1,5)"
                )
            width = len(numbered[0][1]) if numbered else len(cells)
            if len(cells) != width:
                raise UserError(f"{where}: {len(cells)} cells, where the heading has {width}")
            numbered.append((reader.line_num, cells))
    except csv.Error as error:
        raise UserError(f"{path}:{reader.line_num}: {error}") from None
    return numbered


@cache
def _read_paper_file(path: Path) -> list[_TextLine]:
    """Return the lines of a file of a paper."""
    (_, names), *rows = _read_csv(path) or [(0, [])]
    if rows and "data" not in names and "a" not in names:
        raise UserError(f"{path} has no column 'data', which names the data sets")
    return [_TextLine(number, dict(zip(names, row, strict=True))) for number, row in rows]


@cache
def _paper_lines(about: PublishedTable) -> list[PublishedLine]:
    return [_parse_line(about, line) for line in _read_paper_file(about.path)]


def _parse_line(about: PublishedTable, line: _TextLine) -> PublishedLine:
    """Return the settings and the numbers of a line."""
    names = _settings(about, line.texts)
    settings = {key: text for key, text in line.texts.items() if key in names and text}
    numbers = {published.quantity.name: published for published in _numbers(about, line)}
    return PublishedLine(line.number, line.texts["data"], line.texts[about.algo], settings, numbers)


def _numbers(about: PublishedTable, line: _TextLine) -> Iterator[Published]:
    """Yield the published numbers of a line."""
    where, texts = f"{about.path}:{line.number}", line.texts
    for quantity in QUANTITIES.values():
        is_main = quantity.name == about.quantity.name
        column = quantity.column
        name = next((name for name in (column, f"{column}_mean") if name in texts), None)
        if not name or not texts[name]:
            continue
        factor = quantity.per_column_unit * (about.factor if is_main else 1)
        mean = _number(where, name, texts[name], factor)
        low, high = quantity.bounds
        if not low <= mean <= high:
            span = f"from {low:g} to {high:g}" if high < inf else f"at least {low:g}"
            raise UserError(f"{where}: {name} is {mean:g}; {quantity.title} is {span}")
        name, std = f"{column}_std", nan
        if texts.get(name):
            std = _number(where, name, texts[name], factor)
            if std < 0:
                raise UserError(f"{where}: {name} is {std:g}; a deviation is not negative")
            # Standard deviation of two numbers at the ends of the range.
            largest = (high - low) / sqrt(2)
            if std > largest:
                raise UserError(f"{where}: {name} is {std:g}; none is more than {largest:.3g}")
        yield Published(
            table=about.name,
            quantity=about.quantity if is_main else quantity,
            mean=mean,
            std=std,
            n=_repeats(about, where, line),
            line=texts,
            source=_source(about, line),
            pool_share=_setting(line, about.pools, "share", 0.0),
        )


def _number(where: str, name: str, text: str, factor: float) -> float:
    value = float(text) if _NUMBER.fullmatch(text) else inf
    if isinf(value):
        raise UserError(f"{where}: {name} is {_shown(text)}, which is no number")
    # Remove the rounding error of 100 * 0.983.
    return value if factor == 1 else round(factor * value, 9)


def _repeats(about: PublishedTable, where: str, line: _TextLine) -> int:
    """Return the number of repeats in the line's own column, or the table's number."""
    if _REPEATS not in about.words:
        return _setting(line, about.repeats_where, "repeats", about.repeats)
    text = line.texts.get(_REPEATS, str(about.repeats))
    # Python does not convert strings of many digits.
    n = int(text) if text.isdecimal() and len(text) <= len(str(MAX_REPEATS)) else 0
    if not 1 <= n <= MAX_REPEATS:
        must = f"it must be a whole number from 1 to {MAX_REPEATS}"
        raise UserError(f"{where}: {_REPEATS} is {_shown(text)}; {must}")
    return n


def _quantity_of(where: str, names: Sequence[str], repeats: int | None) -> Quantity:
    """Return the quantity of a user's file, by its heading."""
    for name in ("data", "algo"):
        if name not in names:
            raise UserError(f"{where}: there is no column {name!r}; {did_you_mean(name, names)}")
    for name, count in Counter(names).items():
        if count > 1:
            raise UserError(f"{where}: column {name!r} is there twice")
    judged = [q for q in QUANTITIES.values() if q.column and q.is_judged]
    quantity_of = {f"{q.column}{ending}": q for q in judged for ending in ("", "_mean")}
    given = [name for name in names if name in quantity_of]
    if len(given) != 1:
        columns = f"both {given[0]} and {given[1]}" if given else "no column of numbers"
        choices = ", ".join(sorted(f"{quantity.column}_mean" for quantity in judged))
        raise UserError(f"{where}: there is {columns}; one of {choices} is needed")
    if _REPEATS not in names and repeats is None:
        raise UserError(
            f"{where}: how often was each experiment repeated? add a column 'n' or --repeats 9"
        )
    return quantity_of[given[0]]


def _decimals(where: str, name: str, text: str) -> int:
    """Count the decimals of a number; a text that is no number has none."""
    decimals = max(0, -Decimal(text).as_tuple().exponent) if _NUMBER.fullmatch(text) else 0
    if decimals > MAX_DECIMALS:
        raise UserError(
            f"{where}: {name} has {decimals} decimals, more than {MAX_DECIMALS}; --decimals says "
            "how many the paper prints"
        )
    return decimals


def _shown(text: str) -> str:
    return repr(text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}...")


def _settings(about: PublishedTable, names: Iterable[str]) -> set[str]:
    """Return the columns that are parameters of the algorithm."""
    columns = [quantity.column for quantity in QUANTITIES.values() if quantity.column]
    endings = ("", "_mean", "_std")
    numbers = {f"{column}{ending}" for column in columns for ending in endings}
    return set(names) - {"data", about.algo, *about.words} - numbers


def _setting(line: _TextLine, cases: Iterable[dict], name: str, default: float) -> float:
    """Return the setting of the first case that fits a line, or else the default."""
    for case in cases:
        if line.fits(**{key: value for key, value in case.items() if key != name}):
            return case[name]
    return default


def _source(about: PublishedTable, line: _TextLine) -> str:
    """Return the line of a table in which a number occurs first."""
    for case in about.repeats_of:
        if line.fits(**case["where"]):
            other = published_table(case["table"])
            candidates = _read_paper_file(other.path)
            names = {"data", other.algo, *_settings(other, candidates[0].texts)}
            place = {key: text for key, text in line.texts.items() if key in names}
            place |= case.get("there", {})
            matches = [first.number for first in candidates if first.fits(**place)]
            if len(matches) != 1:
                raise ValueError(f"{about.name}: {len(matches)} lines of {other.name} are {place}")
            return f"{other.name}:{matches[0]}"
    return f"{about.name}:{line.number}"
