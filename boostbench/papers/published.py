"""Published numbers, read from the CSV files of the papers' folders."""

import csv
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from boostbench.fitting.quantities import QUANTITIES, Quantity
from boostbench.papers.metadata import PublishedTable, published_table, tables
from boostbench.util.configs import paper_folders
from boostbench.util.errors import UserError, unknown_name_error
from boostbench.util.numbers import mean_std

if TYPE_CHECKING:
    import pandas as pd

_NAN = float("nan")


@dataclass(frozen=True)
class Published:
    """A published number.

    Attributes
    ----------
    table : str
        Name of the CSV file without its ending, e.g. ``"randomboost-table5"``.
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


def lines_of(table: str) -> list[dict[str, str]]:
    """Return the lines of a published table, with all values as they are written."""
    return _read_lines(published_table(table).path)


def read_statements(paper: str) -> list[dict[str, str]]:
    """Return the lines of a paper's ``wilcoxon.csv``: the signed-rank tests that it reports."""
    path = paper_folders()[paper] / "wilcoxon.csv"
    return _read_lines(path) if path.exists() else []


@cache
def _read_lines(path: Path) -> list[dict[str, str]]:
    try:
        lines = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    except (OSError, ValueError) as error:
        raise UserError(f"cannot read {path}: {error}") from None
    if lines and "data" not in lines[0] and "a" not in lines[0]:
        raise UserError(f"{path} has no column 'data', which names the data sets")
    return lines


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
    about = published_table(table)
    for index, line in enumerate(lines_of(table)):
        named = line["data"] == data and algo in line[about.algo].split()
        if named and all(is_value(line[key], params.get(key)) for key in _settings(about, line)):
            numbers = _numbers(about, index, line)
            if numbers:
                return numbers
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

    definitions = {key: about.definition for key, about in tables().items()}
    chosen = [key for key, definition in definitions.items() if name in (None, key, definition)]
    if not chosen:
        names = {*definitions, *definitions.values()}
        raise unknown_name_error("published table", name, names, is_listed=False)
    return pd.DataFrame([row for key in chosen for row in _frame_rows(tables()[key])])


def _frame_rows(about: PublishedTable) -> Iterator[dict[str, object]]:
    """Yield a row for each number of a published table."""
    for index, line in enumerate(lines_of(about.name)):
        settings = {key: line[key] for key in sorted(_settings(about, line)) if line[key]}
        for name, published in _numbers(about, index, line).items():
            yield {
                "table": about.definition,
                "paper": about.paper,
                "number": about.number,
                "data": line["data"],
                "algo": line[about.algo],
                **settings,
                "quantity": name,
                "unit": published.quantity.unit,
                "mean": published.mean,
                "std": published.std,
                "n": published.n,
            }


def sources(table: str) -> set[str]:
    """Return the sources of all main numbers of a published table, see `Published.source`."""
    about = published_table(table)
    by_line = (_numbers(about, index, line) for index, line in enumerate(lines_of(table)))
    return {
        numbers[about.quantity.name].source for numbers in by_line if about.quantity.name in numbers
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
        pairs = (line["a"] in a and line["b"] in b) or (line["a"] in b and line["b"] in a)
        if about.number == line["table"] and pairs:
            verdict = "rejects" if line["significant"] == "yes" else "fails to reject"
            return (
                f"The paper, over {line['n_data']} data sets: statistic {line['statistic']}, "
                f"critical value {line['critical_value_5pct']}; WSRT {verdict} the null hypothesis."
            )
    return None


def _numbers(about: PublishedTable, index: int, line: Mapping[str, str]) -> dict[str, Published]:
    """Return the numbers in a line of a table, by quantity."""
    numbers = {}
    for quantity in QUANTITIES.values():
        own = quantity.name == about.quantity.name
        mean = _cell(line, quantity, "", "_mean")
        if mean:
            factor = quantity.per_column_unit * (about.factor if own else 1)
            std = _cell(line, quantity, "_std")
            numbers[quantity.name] = Published(
                table=about.name,
                quantity=about.quantity if own else quantity,
                mean=_scaled(mean, factor),
                std=_scaled(std, factor) if std else _NAN,
                n=_setting(line, about.repeats_where, "repeats", about.repeats),
                line=line,
                source=_source(about, index, line),
                pool_share=_setting(line, about.pools, "share", 0.0),
            )
    return numbers


def _cell(line: Mapping[str, str], quantity: Quantity, *endings: str) -> str:
    """Return the entry of a line in the first existing column of a quantity, or ``""``."""
    if quantity.column is None:
        return ""
    return next(
        (line[quantity.column + end] for end in endings if quantity.column + end in line), ""
    )


def _scaled(text: str, factor: float) -> float:
    # Remove the rounding error of 100 * 0.983.
    return float(text) if factor == 1 else round(factor * float(text), 9)


def _settings(about: PublishedTable, line: Mapping[str, str]) -> set[str]:
    """Return the columns that are parameters of the algorithm."""
    others = {"data", about.algo, *about.words}
    for quantity in QUANTITIES.values():
        if quantity.column:
            others |= {quantity.column, f"{quantity.column}_mean", f"{quantity.column}_std"}
    return line.keys() - others


def _setting(line: Mapping[str, str], cases: Iterable[Mapping], name: str, default: float) -> float:
    """Return the setting of the first case that fits a line, or else the default."""
    for case in cases:
        if _fits(line, {key: value for key, value in case.items() if key != name}):
            return case[name]
    return default


def _source(about: PublishedTable, index: int, line: Mapping[str, str]) -> str:
    """Return the line of a table in which a number occurs first."""
    for case in about.repeats_of:
        if _fits(line, case["where"]):
            other = published_table(case["table"])
            place = {key: value for key, value in line.items() if key in _named(other)}
            place |= case.get("there", {})
            matches = [
                i for i, candidate in enumerate(lines_of(other.name)) if _fits(candidate, place)
            ]
            if len(matches) != 1:
                raise ValueError(f"{about.name}: {len(matches)} lines of {other.name} are {place}")
            return f"{other.name}:{matches[0]}"
    return f"{about.name}:{index}"


def _named(about: PublishedTable) -> set[str]:
    """Return the columns that identify a line of a table."""
    line = lines_of(about.name)[0]
    return {"data", about.algo, *_settings(about, line)}


def _fits(line: Mapping[str, str], values: Mapping) -> bool:
    """Return True if a line has the values, or one of each list of values."""
    wanted = {k: value if isinstance(value, list) else [value] for k, value in values.items()}
    return all(
        any(is_value(line[key], allowed) for allowed in several) for key, several in wanted.items()
    )


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
