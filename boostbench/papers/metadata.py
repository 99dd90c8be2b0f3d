"""Papers and their published tables, from the ``paper.yaml`` of their folders.

A folder ``conf/paper/NAME`` has all that belongs to a paper: ``paper.yaml``, published numbers
(``table5.csv``), definitions of tables and figures (``table5.yaml``, ``figure2.yaml``), and perhaps
``notes.yaml`` on numbers that differ and ``wilcoxon.csv`` on the tests that the paper reports.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from math import log10
from pathlib import Path

import yaml

from boostbench.fitting.quantities import Quantity, get_quantity
from boostbench.util import configs
from boostbench.util.errors import UserError, unknown_name_error

#: How many of a quantity's unit are one of the unit in which a table gives it.
_CONVERSIONS = {("fraction", "percent"): 100.0}


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
        How many of the quantity's unit are one of the table's.
    repeats : int
        How often the paper repeats each experiment.
    path : Path
        CSV file of the published numbers.
    definition : str
        Name of the definition that is this table.
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
    path: Path
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
        Its published tables by name.
    """

    name: str
    title: str
    authors: str
    work: str
    venue: str
    year: str
    tables: Mapping[str, PublishedTable]


def papers() -> Mapping[str, Paper]:
    """Return all papers by their names, in the order in which they are shown."""
    return _read_papers(tuple(configs.paper_folders().items()))


@cache
def _read_papers(folders: tuple[tuple[str, Path], ...]) -> Mapping[str, Paper]:
    read = [_read_paper(name, folder) for name, folder in folders]
    return {paper.name: paper for _, paper in sorted(read, key=lambda pair: pair[0])}


def _read_paper(name: str, folder: Path) -> tuple[float, Paper]:
    """Return the position of a paper in overviews, infinite by default, and the paper.

    Raises
    ------
    UserError
        If ``paper.yaml`` cannot be read, lacks a key or has an unknown one.
    """
    path = folder / "paper.yaml"
    try:
        content = configs.parse_yaml(path.read_text(encoding="utf-8"))
        order = content.pop("order", float("inf"))
        return order, _paper(name, folder, content)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise UserError(f"cannot read {path}: {' '.join(str(error).split())}") from None
    except (AttributeError, KeyError, TypeError) as error:
        raise UserError(
            f"{path} does not describe a paper ({' '.join(str(error).split())}): it needs title, "
            "authors, work, venue, year and tables, and each table quantity, digits and repeats"
        ) from None


def tables() -> Mapping[str, PublishedTable]:
    """Return all published tables by name."""
    return _collect_tables(tuple(configs.paper_folders().items()))


@cache
def _collect_tables(folders: tuple[tuple[str, Path], ...]) -> Mapping[str, PublishedTable]:
    read = _read_papers(folders)
    return {name: table for paper in read.values() for name, table in paper.tables.items()}


def title(paper: str) -> str:
    """Return the title of a paper, or the name of an unknown paper."""
    return papers()[paper].title if paper in papers() else paper


def citation(paper: str) -> str:
    """Return the citation of a paper as a sentence, or nothing for an unknown paper."""
    cited = papers().get(paper)
    return f"{cited.authors}: {cited.work}. {cited.venue}, {cited.year}." if cited else ""


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
    by_name = tables()
    if name not in by_name:
        raise unknown_name_error("published table", name, by_name, is_listed=False)
    return by_name[name]


def _paper(name: str, folder: Path, content: dict) -> Paper:
    tables = {
        f"{name}-{stem}": _table(name, folder, stem, dict(settings))
        for stem, settings in content.pop("tables").items()
    }
    return Paper(name=name, year=str(content.pop("year")), tables=tables, **content)


def _table(paper: str, folder: Path, stem: str, settings: dict) -> PublishedTable:
    """Return a published table; its number and its definition follow from the name by default."""
    quantity, digits = get_quantity(settings.pop("quantity")), settings.pop("digits")
    unit = settings.pop("unit", quantity.unit)
    factor = _CONVERSIONS[unit, quantity.unit] if unit != quantity.unit else 1.0
    suffix = stem.removeprefix("table")
    has_definition = (folder / f"{stem}.yaml").exists()
    return PublishedTable(
        name=f"{paper}-{stem}",
        paper=paper,
        number=str(settings.pop("number", suffix)),
        # 0.983 is 98.3%: two decimals less.
        quantity=replace(quantity, digits=digits - round(log10(factor))),
        factor=factor,
        path=folder / f"{stem}.csv",
        definition=settings.pop("definition", f"{paper}{suffix}" if has_definition else ""),
        **settings,
    )
