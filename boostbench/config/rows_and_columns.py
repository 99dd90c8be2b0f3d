"""Rows and columns of a table, as ``conf/table/*.yaml`` lists them."""

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from boostbench.config import definition_files as files
from boostbench.config import fields
from boostbench.config.compose import title_of
from boostbench.config.overrides import Settings
from boostbench.data.sources.openml_client import read_suite
from boostbench.util import configs
from boostbench.util.errors import UserError
from boostbench.util.spinner import spinner


@dataclass(frozen=True)
class RowDefinition:
    """A data set.

    Attributes
    ----------
    data : str
        Its name, or the path of a file.
    title : str
        Heading.
    overrides : Settings
        Hydra overrides that hold for it alone.
    published : dict of str to str
        Where the published table calls it otherwise: values by the table's column.
    cells : dict of str to Settings
        Hydra overrides of single columns that hold for it alone.
    """

    data: str
    title: str
    overrides: Settings = field(default_factory=Settings)
    published: dict[str, Any] = field(default_factory=dict)
    cells: dict[str, Settings] = field(default_factory=dict)


@dataclass(frozen=True)
class ColumnDefinition:
    """A column: an algorithm, or one with overrides of its own.

    Attributes
    ----------
    algo : str, default=None
        Name of the algorithm; None for a class that has no config.
    _target_ : str, default=None
        Dotted name of that class.
    title : str, default=None
        Heading; by default the name of the column or, where that is the algorithm's, its title.
    group : str, default=None
        Heading over several columns.
    overrides : Settings
        Hydra overrides that hold for it alone.
    published : dict of str to str
        Where the published table calls it otherwise than its config: values by the table's column.
    without : list of str
        Rows on which it is not run.
    """

    algo: str | None = None
    _target_: str | None = None
    title: str | None = None
    group: str | None = None
    overrides: Settings = field(default_factory=Settings)
    published: dict[str, Any] = field(default_factory=dict)
    without: list[str] = field(default_factory=list)

    @property
    def choice(self) -> dict[str, str]:
        """The setting that chooses the algorithm or the class."""
        return {"algo": self.algo} if self.algo else {"algo._target_": self._target_}

    def heading(self, name: str, algo: Mapping) -> str:
        """Give what stands above it, under its group, by its name and the algorithm's config."""
        return self.title or (algo["title"] if self.algo == name else name)


_Entry = TypeVar("_Entry", RowDefinition, ColumnDefinition)


def read_rows(content: Mapping, where: str) -> dict[str, RowDefinition]:
    """Read the rows of a table's file; behind them are the tasks of its suite, if it has one.

    Rows of one title, such as files of one name in several folders, have their names behind it.
    """
    entries = content.get("rows", [])
    if "suite" in content:
        tasks = _of_suite(content["suite"], f"{where}: suite")
        entries = entries + tasks if isinstance(entries, list) else entries
    rows = {
        row: fields.fill(
            RowDefinition, {"data": row, "title": title_of(row)} | entry, f"{where}: row {row}"
        )
        for row, entry in _entries(entries, f"{where}: rows").items()
    }
    return _told_apart(rows, {name: row.title for name, row in rows.items()})


def read_data(content: Mapping, where: str) -> set[str]:
    """Return the data sets, or paths of files, of the rows that a table's file lists."""
    entries = _entries(content["rows"], f"{where}: rows")
    return {entry.get("data", row) for row, entry in entries.items()}


def read_columns(content: Mapping, where: str) -> dict[str, ColumnDefinition]:
    """Read the columns of a table's file, which may be those of another: ``columns: mcboost2``.

    Columns of one title in one group have their names behind it.
    """
    entries = content["columns"]
    if isinstance(entries, str):
        path, other = files.read("table", entries)
        entries = other.get("columns")
        if not isinstance(entries, list):
            raise UserError(
                f"{where}: columns: {path} has no columns of its own; name a table that lists them"
            )
    columns = {
        column: _column(column, entry, f"{where}: column {column}")
        for column, entry in _entries(entries, f"{where}: columns").items()
    }
    headings = {name: (column.group, column.title) for name, column in columns.items()}
    return _told_apart(columns, {name: each for name, each in headings.items() if each[1]})


def _told_apart(entries: dict[str, _Entry], headings: Mapping[str, Hashable]) -> dict[str, _Entry]:
    """Put the names of rows or columns behind their titles, where two have one heading."""
    called = Counter(headings.values())
    return entries | {
        name: replace(entries[name], title=f"{entries[name].title} ({name})")
        for name, heading in headings.items()
        if called[heading] > 1
    }


def _of_suite(suite_id: Any, where: str) -> list[dict]:
    """Give the tasks of a suite as rows."""
    number = fields.check(int, suite_id, where, "suite")
    try:
        with spinner(f"asking OpenML for suite {number}"):
            tasks = read_suite(number)
    except ConnectionError as error:
        raise UserError(f"{where} is not at hand: {error}") from None
    return [{f"{configs.TASK_PREFIX}{task}": {"title": name}} for task, name in tasks.items()]


def _entries(entries: Any, where: str) -> dict[str, dict]:
    """Read ``[wine, {usps: [protocol.samples_per_class=100]}, {mine: {title: Mine}}]``."""
    if not isinstance(entries, list) or not entries:
        shown = files.shorten(entries)
        raise UserError(f"{where} is {shown}; it must be a list of names, see docs/tables.md")
    named: dict[str, dict] = {}
    for entry in entries:
        pairs = entry.items() if isinstance(entry, dict) else [(entry, {})]
        for name, content in pairs:
            if not isinstance(name, str):
                shown = files.shorten(name)
                raise UserError(f"{where} has {shown}, which is no text; put names in quotes")
            if name in named:
                raise UserError(f"{where} has {name} twice; give one another name, see docs")
            if isinstance(content, str | list):
                content = {"overrides": content}
            if content is not None and not isinstance(content, dict):
                raise UserError(
                    f"{where}: {name} is {files.shorten(content)}; it must be overrides or keys"
                )
            named[name] = content or {}
    return named


def _column(name: str, content: dict, where: str) -> ColumnDefinition:
    if "_target_" in content and "algo" in content:
        raise UserError(f"{where} has algo and _target_; take one of them")
    return fields.fill(
        ColumnDefinition, content if "_target_" in content else {"algo": name} | content, where
    )
