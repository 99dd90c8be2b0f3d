"""Published numbers, read from CSV files: in the papers' folders, or a file of the user."""

import csv
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache
from math import inf, isinf, nan, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from boostbench.fitting.quantities import QUANTITIES, Quantity
from boostbench.papers.metadata import (
    Case,
    Condition,
    PublishedTable,
    is_value,
    library,
    published_table,
)
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

# Number of characters of a cell that a message shows.
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
        Line of the CSV file that holds the number: texts by column.
    source : str, default=""
        Table and line of the first occurrence of the number, which numbers share that a paper
        prints twice: ``"mcboost-table1:7"``.
    pool_share : float, default=0
        If the repeats are splits of samples that were drawn once (a pool): variance between such
        pools divided by the variance within one. 0: each repeat draws its samples.
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


class LineSetting(NamedTuple):
    """Setting of an experiment, as a cell of a file of published numbers.

    Attributes
    ----------
    key : str
        Name of the column, which is a parameter, a setting of the protocol, or the seed.
    text : str
        Cell as it is written, not empty.
    """

    key: str
    text: str


class PublishedLine(NamedTuple):
    """Line of a file of published numbers.

    Attributes
    ----------
    number : int
        Number of the line in the file, from 1.
    data, algo : str
        Name of the data set, and names of the algorithms, separated by spaces.
    settings : tuple of LineSetting
        Settings that distinguish experiments of one algorithm, in the order of the columns. Empty
        cells are left out.
    published : tuple of Published
        Published numbers, one of each quantity.
    """

    number: int
    data: str
    algo: str
    settings: tuple[LineSetting, ...]
    published: tuple[Published, ...]

    @property
    def label(self) -> str:
        """The algorithm with its settings."""
        settings = ", ".join(f"{key}={value}" for key, value in self.settings)
        return f"{self.algo}, {settings}" if settings else self.algo


class TextLine(NamedTuple):
    """Line of a CSV file.

    Attributes
    ----------
    number : int
        Number of the line in the file, from 1.
    texts : dict of str to str
        Cells as they are written, by column.
    """

    number: int
    texts: dict[str, str]

    def fits(self, where: Iterable[Condition]) -> bool:
        """Return True if the line meets all conditions."""
        return all(condition.is_met(self.texts[condition.column]) for condition in where)


def lines_of(table: str) -> list[dict[str, str]]:
    """Return the lines of a published table: texts of the CSV file by column."""
    return [line.texts for line in read_paper_file(published_table(table).path)]


def find_published(table: str, data: str, algo: str, params: Mapping) -> tuple[Published, ...]:
    """Return the published numbers of an algorithm on a data set.

    Parameters
    ----------
    table : str
        Name of the CSV file without its ending.
    data, algo : str
        Names, as in our configs.
    params : mapping
        Parameters of the algorithm by name. If the table has a column of such a name (``loss``,
        ``n_iterations``), a line fits whose cell in this column has the value or is empty.

    Returns
    -------
    tuple of Published
        Numbers of the first line that fits, one of each quantity; empty without such a line.

    Raises
    ------
    UserError
        If there is no such table.
    """
    for line in _paper_lines(published_table(table)):
        is_of_algorithm = line.data == data and algo in line.algo.split() and line.published
        # Most lines are of other data or algorithms, and settings take long to compare.
        if is_of_algorithm and all(is_value(text, params.get(key)) for key, text in line.settings):
            return line.published
    return ()


def find_quantity(published: Iterable[Published], name: str) -> Published | None:
    """Return the published number of a quantity; None if it is not among the numbers."""
    return next((number for number in published if number.quantity.name == name), None)


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

    tables = library().tables
    chosen = [
        paper_table
        for paper_table in tables
        if name in (None, paper_table.name, paper_table.definition)
    ]
    if not chosen:
        names = {
            name for paper_table in tables for name in (paper_table.name, paper_table.definition)
        }
        raise unknown_name_error("published table", name, names, is_listed=False)
    rows = [
        {
            "table": paper_table.definition,
            "paper": paper_table.paper,
            "number": paper_table.number,
            "data": line.data,
            "algo": line.algo,
            **dict(sorted(line.settings)),
            "quantity": published.quantity.name,
            "unit": published.quantity.unit,
            "mean": published.mean,
            "std": published.std,
            "n": published.n,
        }
        for paper_table in chosen
        for line in _paper_lines(paper_table)
        for published in line.published
    ]
    return pd.DataFrame(rows)


def sources(table: str) -> set[str]:
    """Return the sources of all main numbers of a published table, see `Published.source`."""
    paper_table = published_table(table)
    return {
        number.source
        for line in _paper_lines(paper_table)
        for number in line.published
        if number.quantity.name == paper_table.quantity.name
    }


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
    # 1) Read the heading and the lines.
    (heading_number, names), *rows = numbered
    quantity = _find_quantity_of_heading(f"{path}:{heading_number}", names, repeats)
    if not rows:
        raise UserError(f"{path} has a heading and no line below it")
    text_lines = [TextLine(number, dict(zip(names, row, strict=True))) for number, row in rows]
    # 2) Count the decimals that the paper prints.
    if digits is None:
        columns = [name for name in names if name.removesuffix("_mean") == quantity.column]
        columns += [name for name in names if name == f"{quantity.column}_std"]
        digits = max(
            quantity.digits,
            *(
                _count_decimals(f"{path}:{line.number}", name, line.texts[name])
                for line in text_lines
                for name in columns
            ),
        )
    quantity = replace(quantity, digits=digits)
    # A user's file is like the table of a paper without a name.
    paper_table = PublishedTable(
        name=str(path),
        paper="",
        number="",
        quantity=quantity,
        factor=1.0,
        n_repeats=repeats or 0,
        path=path,
        definition="",
        descriptive_columns=[_REPEATS],
    )
    # 3) Parse the lines. A data set and an algorithm with its settings stand in one line only.
    parser = _LineParser.parse_heading(paper_table, names)
    lines = {}
    for text_line in text_lines:
        where = f"{path}:{text_line.number}"
        for name in ("data", "algo"):
            if not text_line.texts[name]:
                raise UserError(f"{where}: {name} is empty")
        line = parser.parse(text_line)
        if find_quantity(line.published, quantity.name) is None:
            raise UserError(f"{where}: {quantity.column} is empty")
        earlier = lines.setdefault((line.data, line.label), line)
        if earlier is not line:
            raise UserError(
                f"{where}: {line.label} on {line.data} stands in line {earlier.number} too"
            )
    return quantity, list(lines.values())


def unit_warnings(path: Path, quantity: Quantity, lines: Iterable[PublishedLine]) -> list[str]:
    """Return warnings about numbers of a user's file that seem to have another unit."""
    largest = max(find_quantity(line.published, quantity.name).mean for line in lines)
    if quantity.unit != "percent" or largest > 1:
        return []
    return [
        f"{path}: no {quantity.title.lower()} is above 1; numbers are taken as percent, a quarter "
        "is 25"
    ]


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
def read_paper_file(path: Path) -> list[TextLine]:
    """Return the lines of a file of a paper."""
    (_, names), *rows = _read_csv(path) or [(0, [])]
    if rows and "data" not in names and "a" not in names:
        raise UserError(f"{path} has no column 'data', which names the data sets")
    return [TextLine(number, dict(zip(names, row, strict=True))) for number, row in rows]


@cache
def _paper_lines(paper_table: PublishedTable) -> list[PublishedLine]:
    """Return the parsed lines of a table of a paper."""
    lines = read_paper_file(paper_table.path)
    parser = _LineParser.parse_heading(paper_table, lines[0].texts if lines else ())
    return [parser.parse(line) for line in lines]


class _NumberColumn(NamedTuple):
    """Column of a published table that has the means of a quantity.

    Attributes
    ----------
    quantity : Quantity
        Quantity, with the decimals that the paper prints.
    mean, std : str
        Names of the columns of means and of standard deviations; the latter may be missing.
    factor : float
        Number of the quantity's units in a unit of the column: 100 for percent and a fraction.
    low, high : float
        Bounds of the means, in the unit of the quantity.
    """

    quantity: Quantity
    mean: str
    std: str
    factor: float
    low: float
    high: float


class _LineParser(NamedTuple):
    """Parser of the lines of one published table, which all have the same columns.

    Attributes
    ----------
    paper_table : PublishedTable
    number_columns : list of _NumberColumn
        Columns of means.
    setting_names : set of str
        Columns of settings.
    """

    paper_table: PublishedTable
    number_columns: list[_NumberColumn]
    setting_names: set[str]

    @classmethod
    def parse_heading(cls, paper_table: PublishedTable, names: Collection[str]) -> "_LineParser":
        """Return the parser of a table with the columns `names`."""
        number_columns = []
        for quantity in QUANTITIES.values():
            column = quantity.column
            mean = next((name for name in (column, f"{column}_mean") if name in names), None)
            if mean is None:
                continue
            factor = quantity.per_column_unit
            # The table's own quantity has the table's unit and decimals.
            if quantity.name == paper_table.quantity.name:
                quantity, factor = paper_table.quantity, factor * paper_table.factor
            number_columns.append(
                _NumberColumn(quantity, mean, f"{column}_std", factor, *quantity.bounds)
            )
        return cls(paper_table, number_columns, _setting_columns(paper_table, names))

    def parse(self, line: TextLine) -> PublishedLine:
        """Return the settings and the numbers of a line."""
        texts = line.texts
        settings = tuple(
            LineSetting(key, text)
            for key, text in texts.items()
            if key in self.setting_names and text
        )
        published = tuple(
            self._published_number(column, line)
            for column in self.number_columns
            if texts[column.mean]
        )
        data, algo = texts["data"], texts[self.paper_table.algo]
        return PublishedLine(line.number, data, algo, settings, published)

    def _published_number(self, column: _NumberColumn, line: TextLine) -> Published:
        """Return the published number of a column in a line."""
        paper_table, low, high = self.paper_table, column.low, column.high
        where, std = f"{paper_table.path}:{line.number}", nan
        mean = _parse_cell(where, column.mean, line.texts[column.mean], column.factor)
        if not low <= mean <= high:
            span = f"from {low:g} to {high:g}" if high < inf else f"at least {low:g}"
            raise UserError(
                f"{where}: {column.mean} is {mean:g}; {column.quantity.title} is {span}"
            )
        if line.texts.get(column.std):
            std = _parse_cell(where, column.std, line.texts[column.std], column.factor)
            if std < 0:
                raise UserError(f"{where}: {column.std} is {std:g}; a deviation is not negative")
            # Two numbers at the ends of the range have the largest deviation.
            largest = (high - low) / sqrt(2)
            if std > largest:
                raise UserError(
                    f"{where}: {column.std} is {std:g}; none is more than {largest:.3g}"
                )
        return Published(
            table=paper_table.name,
            quantity=column.quantity,
            mean=mean,
            std=std,
            n=_find_repeats(paper_table, where, line),
            line=line.texts,
            source=_first_occurrence(paper_table, line),
            pool_share=_number_of_case(line, paper_table.pools, 0.0),
        )


def _parse_cell(where: str, name: str, text: str, factor: float) -> float:
    """Return the number of a cell in the unit of its quantity.

    Parameters
    ----------
    where, name : str
        File and line, and column, for messages.
    text : str
        Cell.
    factor : float
        Number of the quantity's units in a unit of the column: 100 for percent and a fraction.
    """
    value = float(text) if _NUMBER.fullmatch(text) else inf
    if isinf(value):
        raise UserError(f"{where}: {name} is {_quote(text)}, which is no number")
    # Remove the rounding error of 100 * 0.983.
    return value if factor == 1 else round(factor * value, 9)


def _find_repeats(paper_table: PublishedTable, where: str, line: TextLine) -> int:
    """Return the number of repeats in the line's own column, or the table's number."""
    # `paper.yaml` states the repeats of a paper's table; a user's file may have a column of them,
    # see `read_published_file`.
    is_users_file = _REPEATS in paper_table.descriptive_columns
    if not is_users_file:
        return _number_of_case(line, paper_table.n_repeats_where, paper_table.n_repeats)
    text = line.texts.get(_REPEATS, str(paper_table.n_repeats))
    # Python does not convert strings of many digits.
    n = int(text) if text.isdecimal() and len(text) <= len(str(MAX_REPEATS)) else 0
    if not 1 <= n <= MAX_REPEATS:
        must = f"it must be a whole number from 1 to {MAX_REPEATS}"
        raise UserError(f"{where}: {_REPEATS} is {_quote(text)}; {must}")
    return n


def _find_quantity_of_heading(where: str, names: Sequence[str], repeats: int | None) -> Quantity:
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


def _count_decimals(where: str, name: str, text: str) -> int:
    """Count the decimals of a number; a text that is no number has none."""
    decimals = max(0, -Decimal(text).as_tuple().exponent) if _NUMBER.fullmatch(text) else 0
    if decimals > MAX_DECIMALS:
        raise UserError(
            f"{where}: {name} has {decimals} decimals, more than {MAX_DECIMALS}; --decimals says "
            "how many the paper prints"
        )
    return decimals


def _quote(text: str) -> str:
    """Return the text of a cell in quotes, cut after `_MAX_SHOWN` characters."""
    return repr(text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}...")


def _setting_columns(paper_table: PublishedTable, names: Iterable[str]) -> set[str]:
    """Return the columns of settings: neither names, nor descriptions, nor numbers."""
    columns = [quantity.column for quantity in QUANTITIES.values() if quantity.column]
    endings = ("", "_mean", "_std")
    numbers = {f"{column}{ending}" for column in columns for ending in endings}
    return set(names) - {"data", paper_table.algo, *paper_table.descriptive_columns} - numbers


def _number_of_case(line: TextLine, cases: Iterable[Case], default: float) -> float:
    """Return the number of the first case that fits a line, or else the default."""
    return next((case.number for case in cases if line.fits(case.where)), default)


def _first_occurrence(paper_table: PublishedTable, line: TextLine) -> str:
    """Return the table and the line in which a number occurs first, see `Published.source`."""
    # 1) Find the duplicate that has this line; without one, this is the first occurrence.
    duplicate = next((each for each in paper_table.duplicates if line.fits(each.where)), None)
    if duplicate is None:
        return f"{paper_table.name}:{line.number}"
    # 2) Find the settings that both tables have in common.
    other = published_table(duplicate.table)
    candidates = read_paper_file(other.path)
    names = {"data", other.algo, *_setting_columns(other, candidates[0].texts)}
    differing = {condition.column for condition in duplicate.other_where}
    common_settings = [
        Condition(column, (text,))
        for column, text in line.texts.items()
        if column in names - differing
    ]
    # 3) Find the one line of the other table with these settings.
    conditions = [*common_settings, *duplicate.other_where]
    matches = [candidate for candidate in candidates if candidate.fits(conditions)]
    if len(matches) != 1:
        place = ", ".join(f"{column} {values}" for column, values in common_settings)
        raise ValueError(f"{paper_table.name}: {len(matches)} lines of {other.name} have {place}")
    return f"{other.name}:{matches[0].number}"
