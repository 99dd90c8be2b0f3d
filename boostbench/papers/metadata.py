"""The papers and what their transcribed tables hold, from ``transcribed/papers.yaml``."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from math import log10

import yaml

from boostbench.fitting.quantities import Quantity, get_quantity
from boostbench.util.errors import unknown_name_error

#: How many of a quantity's unit are one of the unit in which a table gives it.
_CONVERSIONS = {("fraction", "percent"): 100.0}


@dataclass(frozen=True)
class PublishedTable:
    """A table of a paper, as it was transcribed.

    Attributes
    ----------
    name : str
        Of the CSV file, without its ending.
    paper : str
        Name of the paper.
    number : str
        What the paper calls it by.
    quantity : Quantity
        What it is about, with the decimals of the published numbers.
    factor : float
        How many of the quantity's unit are one of the table's.
    repeats : int
        How often the paper repeats each experiment.
    definition : str
        Name of the definition in ``conf/table`` that is this table.
    repeats_where : list of dict
        Lines with another number of repeats: values by column, and ``repeats``.
    repeats_of : list of dict
        Lines whose number another ``table`` has too: values by column of these lines (``where``)
        and, as far as they differ, of the other table's (``there``).
    pools : list of dict
        Lines whose repeats are splits of samples that were drawn once: values by column, and
        ``share``, the variance between such pools as a share of that within one.
    algo : str, default="algo"
        Column of the names of algorithms.
    words : list of str
        Columns that only describe.
    """

    name: str
    paper: str
    number: str
    quantity: Quantity
    factor: float
    repeats: int
    definition: str
    repeats_where: list[dict] = field(default_factory=list)
    repeats_of: list[dict] = field(default_factory=list)
    pools: list[dict] = field(default_factory=list)
    algo: str = "algo"
    words: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Paper:
    """A paper.

    Attributes
    ----------
    name, title : str
        Short names, for files and for people.
    authors, work, venue, year : str
        Who wrote it, its title, and where and when it was published.
    tables : dict of str to PublishedTable
        Its transcribed tables by name.
    """

    name: str
    title: str
    authors: str
    work: str
    venue: str
    year: str
    tables: Mapping[str, PublishedTable]


@cache
def papers() -> Mapping[str, Paper]:
    """Read all papers, in the order in which they are shown."""
    content = yaml.safe_load(read_text("papers.yaml"))
    return {name: _paper(name, about) for name, about in content.items()}


def read_text(name: str) -> str:
    """Read a file of what the papers say."""
    return (files(__package__) / "transcribed" / name).read_text(encoding="utf-8")


@cache
def tables() -> Mapping[str, PublishedTable]:
    """Give all transcribed tables by name."""
    return {name: table for paper in papers().values() for name, table in paper.tables.items()}


def title(paper: str) -> str:
    """Give a paper's title; of a paper that is not known, its name."""
    return papers()[paper].title if paper in papers() else paper


def citation(paper: str) -> str:
    """Cite a paper in a sentence; nothing for one that is not known."""
    known = papers().get(paper)
    return f"{known.authors}: {known.work}. {known.venue}, {known.year}." if known else ""


def published_table(name: str) -> PublishedTable:
    """Look up a transcribed table.

    Parameters
    ----------
    name : str
        Of the CSV file, without its ending: ``"randomboost-table5"``.

    Raises
    ------
    UserError
        If there is no such table.
    """
    if name not in tables():
        raise unknown_name_error("published table", name, tables(), is_listed=False)
    return tables()[name]


def _paper(name: str, content: dict) -> Paper:
    tables = content.pop("tables")
    return Paper(
        name=name,
        year=str(content.pop("year")),
        tables={table: _table(table, name, about) for table, about in tables.items()},
        **content,
    )


def _table(name: str, paper: str, about: dict) -> PublishedTable:
    quantity, digits = get_quantity(about.pop("quantity")), about.pop("digits")
    unit = about.pop("unit", quantity.unit)
    factor = _CONVERSIONS[unit, quantity.unit] if unit != quantity.unit else 1.0
    return PublishedTable(
        name=name,
        paper=paper,
        number=str(about.pop("number")),
        # 0.983 is 98.3%: two decimals less.
        quantity=replace(quantity, digits=digits - round(log10(factor))),
        factor=factor,
        **about,
    )
