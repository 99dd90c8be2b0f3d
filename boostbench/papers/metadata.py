"""Papers and their published tables, from the ``paper.yaml`` of their folders.

A folder ``conf/paper/NAME`` has all that belongs to a paper: ``paper.yaml``, published numbers
(``table5.csv``), definitions of tables and figures (``table5.yaml``, ``figure2.yaml``), and perhaps
``notes.yaml`` on numbers that differ and ``wilcoxon.csv`` on the tests that the paper reports.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from math import log10
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from boostbench.fitting.quantities import Quantity, get_quantity
from boostbench.util import configs
from boostbench.util.errors import UserError, unknown_name_error

#: Number of a quantity's units in a unit of a table, by both units: (table's, quantity's).
_CONVERSIONS = {("fraction", "percent"): 100.0}


class Condition(NamedTuple):
    """Condition on the lines of a published table: a column has one of some values.

    Attributes
    ----------
    column : str
        Name of the column.
    values : tuple
        Allowed values, of the types of YAML.
    """

    column: str
    values: tuple[Any, ...]

    def is_met(self, text: str) -> bool:
        """Return True if the text of the column is one of the values, or empty."""
        return any(is_value(text, value) for value in self.values)


class Case(NamedTuple):
    """Number that holds for some lines of a table.

    Attributes
    ----------
    where : tuple of Condition
        Conditions on the lines.
    number : float
        Number of repeats, or variance between pools as a share of the variance within one.
    """

    where: tuple[Condition, ...]
    number: float


class Duplicate(NamedTuple):
    """Lines of a published table whose numbers another table has, too.

    A paper prints some numbers twice; each counts once, in the other table.

    Attributes
    ----------
    table : str
        Name of the other table.
    where : tuple of Condition
        Conditions on these lines.
    other_where : tuple of Condition
        Conditions on the columns of the other table whose values differ there; all other columns
        that both tables have are equal.
    """

    table: str
    where: tuple[Condition, ...]
    other_where: tuple[Condition, ...]


@dataclass(frozen=True, eq=False)
class PublishedTable:
    """A table of a paper, with its published numbers.

    Attributes
    ----------
    name : str
        Name of the paper and of the CSV file without its ending, such as ``"mcboost-table5"``.
    paper : str
        Name of the paper.
    number : str
        Number of the table in the paper.
    quantity : Quantity
        Quantity of the table, with the decimals of the published numbers.
    factor : float
        Number of the quantity's units in a unit of the table: 100 for percent and a fraction.
    n_repeats : int
        Number of repetitions of each experiment.
    path : Path
        CSV file of the published numbers.
    definition : str
        Name of the definition that is this table; empty if there is none.
    n_repeats_where : sequence of Case
        Lines with another number of repeats.
    duplicates : sequence of Duplicate
        Lines whose number another table has, too.
    pools : sequence of Case
        Lines whose repeats are splits of samples that were drawn once, a pool. The number is the
        variance between such pools divided by the variance within one.
    algo : str, default="algo"
        Column of the names of algorithms.
    descriptive_columns : sequence of str
        Names of columns that describe a line: no settings and no numbers, such as a remark.
    """

    name: str
    paper: str
    number: str
    quantity: Quantity
    factor: float
    n_repeats: int
    path: Path
    definition: str
    n_repeats_where: Sequence[Case] = ()
    duplicates: Sequence[Duplicate] = ()
    pools: Sequence[Case] = ()
    algo: str = "algo"
    descriptive_columns: Sequence[str] = ()


@dataclass(frozen=True)
class Paper:
    """A paper.

    Attributes
    ----------
    name, title : str
        Name of its folder, and short title.
    authors, work, venue, year : str
        Authors, full title, and place and year of publication.
    tables : tuple of PublishedTable
        Its published tables.
    """

    name: str
    title: str
    authors: str
    work: str
    venue: str
    year: str
    tables: tuple[PublishedTable, ...]

    @property
    def citation(self) -> str:
        """Citation as a sentence."""
        return f"{self.authors}: {self.work}. {self.venue}, {self.year}."


@dataclass(frozen=True)
class Library:
    """All papers.

    Attributes
    ----------
    papers : tuple of Paper
        Papers in the order in which they are shown.
    """

    papers: tuple[Paper, ...]

    @cached_property
    def tables(self) -> tuple[PublishedTable, ...]:
        """Published tables of all papers."""
        return tuple(table for paper in self.papers for table in paper.tables)

    def find_paper(self, name: str) -> Paper | None:
        """Return the paper of a name; None if there is none."""
        return next((paper for paper in self.papers if paper.name == name), None)

    def find_table(self, name: str) -> PublishedTable | None:
        """Return the published table of a name, such as ``"mcboost-table5"``; None without one."""
        return next((table for table in self.tables if table.name == name), None)


def library() -> Library:
    """Return the papers of all folders, see `boostbench.util.configs.paper_folders`.

    Raises
    ------
    UserError
        If a ``paper.yaml`` cannot be read, lacks a key or has an unknown one.
    """
    return _read_library(configs.paper_folders())


@cache
def _read_library(folders: tuple[configs.NamedPath, ...]) -> Library:
    """Read the papers of folders; the argument is hashable, as the result is cached."""
    ordered = sorted(
        (_read_paper(name, folder) for name, folder in folders), key=lambda pair: pair[0]
    )
    return Library(tuple(paper for _, paper in ordered))


def _read_paper(name: str, folder: Path) -> tuple[float, Paper]:
    """Return the position of a paper in overviews, infinite by default, and the paper."""
    path = folder / "paper.yaml"
    try:
        content = configs.parse_yaml(path.read_text(encoding="utf-8"))
        order = content.pop("order", float("inf"))
        tables = tuple(
            _make_table(name, folder, stem, **settings)
            for stem, settings in content.pop("tables").items()
        )
        return order, Paper(name=name, year=str(content.pop("year")), tables=tables, **content)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise UserError(f"cannot read {path}: {' '.join(str(error).split())}") from None
    except (AttributeError, KeyError, TypeError) as error:
        raise UserError(
            f"{path} does not describe a paper ({' '.join(str(error).split())}): it needs title, "
            "authors, work, venue, year and tables, and each table quantity, digits and repeats"
        ) from None


def _make_table(
    paper: str,
    folder: Path,
    stem: str,
    *,
    quantity: str,
    digits: int,
    repeats: int,
    unit: str | None = None,
    number: str | int | None = None,
    definition: str | None = None,
    repeats_where: Iterable[Any] = (),
    repeats_of: Iterable[Any] = (),
    pools: Iterable[Any] = (),
    algo: str = "algo",
    words: Sequence[str] = (),
) -> PublishedTable:
    """Return a published table.

    Parameters
    ----------
    paper : str
        Name of the paper.
    folder : Path
        Its folder.
    stem : str
        Name of the CSV file without its ending.
    quantity : str
        Name of the quantity.
    digits : int
        Decimals of the printed numbers, in the table's unit.
    repeats : int
        Number of repetitions of each experiment.
    unit : str, default=None
        Unit of the printed numbers. None: the unit of the quantity.
    number : str or int, default=None
        Number of the table in the paper. None: the text behind ``table`` in the name of the file.
    definition : str, default=None
        Name of our definition. None: the paper and the number, if the folder defines the table.
    repeats_where, repeats_of, pools : iterable of dict
        Entries of ``paper.yaml`` for single lines: lines with another number of repeats, lines
        whose numbers another table has too, and lines whose splits share a pool of samples.
    algo : str, default="algo"
        Column of the names of algorithms.
    words : sequence of str, default=()
        Names of columns that are no settings and no numbers.
    """
    our_quantity = get_quantity(quantity)
    factor = 1.0 if unit in (None, our_quantity.unit) else _CONVERSIONS[unit, our_quantity.unit]
    suffix = stem.removeprefix("table")
    if definition is None:
        definition = f"{paper}{suffix}" if (folder / f"{stem}.yaml").exists() else ""
    return PublishedTable(
        name=f"{paper}-{stem}",
        paper=paper,
        number=str(suffix if number is None else number),
        # 0.983 is 98.3%: two decimals less.
        quantity=replace(our_quantity, digits=digits - round(log10(factor))),
        factor=factor,
        n_repeats=repeats,
        path=folder / f"{stem}.csv",
        definition=definition,
        n_repeats_where=[
            Case(read_conditions(entry, "repeats"), entry["repeats"]) for entry in repeats_where
        ],
        duplicates=[
            Duplicate(
                entry["table"],
                read_conditions(entry["where"]),
                read_conditions(entry.get("there", {})),
            )
            for entry in repeats_of
        ],
        pools=[Case(read_conditions(entry, "share"), entry["share"]) for entry in pools],
        algo=algo,
        descriptive_columns=words,
    )


def read_conditions(entry: Mapping[str, Any], *excluded: str) -> tuple[Condition, ...]:
    """Return the conditions of an entry of a YAML file.

    Parameters
    ----------
    entry : mapping
        Values by column; a list holds alternatives.
    *excluded : str
        Keys of the entry that are no columns.
    """
    return tuple(
        Condition(column, tuple(value) if isinstance(value, list) else (value,))
        for column, value in entry.items()
        if column not in excluded
    )


def is_value(text: str, value: Any) -> bool:
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


def paper_title(name: str) -> str:
    """Return the title of a paper, or the name of an unknown paper."""
    paper = library().find_paper(name)
    return paper.title if paper else name


def paper_citation(name: str) -> str:
    """Return the citation of a paper as a sentence, or nothing for an unknown paper."""
    paper = library().find_paper(name)
    return paper.citation if paper else ""


def published_table(name: str) -> PublishedTable:
    """Return a published table.

    Parameters
    ----------
    name : str
        Name of the paper and of the CSV file without its ending: ``"randomboost-table5"``.

    Raises
    ------
    UserError
        If there is no such table.
    """
    table = library().find_table(name)
    if table is None:
        names = [table.name for table in library().tables]
        raise unknown_name_error("published table", name, names, is_listed=False)
    return table
