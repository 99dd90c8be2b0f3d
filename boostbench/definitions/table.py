"""What ``conf/table/*.yaml`` says of a table."""

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from boostbench import configs
from boostbench.busy import busy
from boostbench.data.files import FORMATS, name_of, split_name
from boostbench.data.openml_source import suite
from boostbench.definitions import fields, files
from boostbench.definitions.compose import experiment
from boostbench.definitions.overrides import Settings, settings
from boostbench.errors import UserError, hint, unknown
from boostbench.experiment.quantities import QUANTITIES, STAGED, TEST_ERROR, TIMES, Quantity
from boostbench.report.papers import published_table, tables
from boostbench.report.published import Published, find_published, statement
from boostbench.report.tables import Claim

#: Row and column of a cell.
Key = tuple[str, str]


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


@dataclass(frozen=True)
class TableDefinition:
    """A table as ``conf/table/*.yaml`` defines it.

    Attributes
    ----------
    name : str
        Name of the file.
    title : str
        Heading.
    rows : dict of str to RowDefinition
        Data sets by the name of the row.
    columns : dict of str to ColumnDefinition
        Algorithms by the name of the column; in the file the name of a table may stand for its own.
    overrides : Settings
        Hydra overrides that hold for all cells.
    published : str, default=None
        Name of the published table.
    quantity : str, default=None
        Name of what the table shows; by default what the published table gives, or what the
        measure is about.
    published_as : dict of str to str
        Published name of a row that is a second version of the same data.
    classes : bool, default=False
        Whether the number of classes stands behind a data set's title.
    rounds : list of int
        Numbers of boosting rounds, each a column of every algorithm; empty for the last round.
    seconds : {"fit", "weak_learner", "coefficients", "predict_per_instance", \
            "hash_per_instance"}, default=None
        CPU time that is shown beside it.
    speedup : list of list of str
        Pairs of columns of which the CPU time of the first is divided by that of the second.
    compare : list of list of str, default=None
        Pairs of columns for the significance test; by default the first with each other.
    remarks : list of str
        What a reader must know beside the numbers, one sentence each.
    claims : list of Claim
        What the paper says in words, to be judged.
    matrix : bool, default=False
        Whether every two columns are compared, below the table.
    rope : float, default=None
        For that, numbers that differ by no more are equal for practical purposes, in the unit of
        what the table shows; by default 1 of what is in percent.
    """

    name: str
    title: str
    rows: dict[str, RowDefinition]
    columns: dict[str, ColumnDefinition]
    overrides: Settings = field(default_factory=Settings)
    published: str | None = None
    quantity: str | None = None
    published_as: dict[str, str] = field(default_factory=dict)
    classes: bool = False
    rounds: list[int] = field(default_factory=list)
    seconds: Literal[TIMES] | None = None
    speedup: list[list[str]] = field(default_factory=list)
    compare: list[list[str]] | None = None
    remarks: list[str] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    matrix: bool = False
    rope: float | None = None

    @classmethod
    def read(cls, name: str) -> "TableDefinition":
        """Read a table's definition.

        Parameters
        ----------
        name : str
            Name of a file in ``conf/table``, or path of any YAML file.

        Raises
        ------
        UserError
            No such table, or one whose keys are not those of a table.
        """
        path, content = files.read("table", name)
        if "suite" in content:
            content = {**content, "rows": _with_suite(content, f"{path}: suite")}
        for key in ("title", "rows", "columns"):
            if key not in content:
                raise UserError(f"{path} is not a table: it needs title, rows and columns")
        columns = _columns(content["columns"], f"{path}: columns")
        table = fields.fill(
            cls,
            {k: value for k, value in content.items() if k not in ("rows", "suite", "columns")},
            str(path),
            name=path.stem,
            rows={
                row: fields.fill(
                    RowDefinition, {"data": row, "title": _title(row)} | entry, f"{path}: row {row}"
                )
                for row, entry in _entries(content["rows"], f"{path}: rows").items()
            },
            columns={
                column: _column(column, entry, f"{path}: column {column}")
                for column, entry in _entries(columns, f"{path}: columns").items()
            },
        )
        table._check(str(path))
        return table

    def _check(self, where: str) -> None:
        """Refuse what does not fit together."""
        pairs = {"compare": self.compare or [], "speedup": self.speedup}
        for number, claim in enumerate(self.claims, start=1):
            numbered = f"claim {number}"
            if bool(claim.better) == bool(claim.alike):
                raise UserError(f"{where}: {numbered} needs better or alike, and one of them only")
            if bool(claim.alike) != (claim.within is not None):
                raise UserError(
                    f"{where}: {numbered} needs within where it has alike, and only there"
                )
            check_names(claim.rows, self.rows, f"{where}: {numbered} has no row")
            pairs[numbered] = claim.pairs
        for key, of_key in pairs.items():
            for pair in of_key:
                check_names(pair, self.columns, f"{where}: {key} has no column")
                if len(set(pair)) != 2 or len(pair) != 2:
                    raise UserError(f"{where}: {key} has {pair}, which is no pair of columns")
        for column, variant in self.columns.items():
            check_names(variant.without, self.rows, f"{where}: without of {column} has no row")
        for row, data in self.rows.items():
            check_names(data.cells, self.columns, f"{where}: cells of {row} has no column")
        check_names(self.published_as, self.rows, f"{where}: published_as has no row")
        if self.rounds and self.quantity not in (None, *STAGED):
            raise UserError(f"{where}: rounds cannot go with quantity: {self.quantity}")
        if any(number < 1 for number in self.rounds):
            raise UserError(f"{where}: rounds is {self.rounds}; they count from 1")
        for key, known in (("published", tables()), ("quantity", QUANTITIES)):
            name = getattr(self, key)
            if name is not None and name not in known:
                raise UserError(f"{where}: {key} is {name!r}; {hint(name, known)}")
        if self.rope is not None and not (self.matrix and self.rope > 0):
            raise UserError(f"{where}: rope is {self.rope:g}; it goes with matrix: true and is > 0")
        if self.speedup and not self.seconds:
            raise UserError(f"{where}: speedup needs seconds: which CPU time is it of?")
        if self.speedup and self.rounds:
            raise UserError(f"{where}: speedup cannot go with rounds")

    def part(self, rows: Sequence[str], columns: Sequence[str]) -> "TableDefinition":
        """Keep some rows and columns, and what is said of these alone.

        Parameters
        ----------
        rows, columns : sequence of str
            Names or titles of rows or columns, of their data or algorithms; none for all.

        Returns
        -------
        TableDefinition

        Raises
        ------
        UserError
            A name that the table does not have.
        """
        if not rows and not columns:
            return self
        kept_rows = _among(
            self.rows, rows, lambda row: {row.data, row.title}, f"row of {self.name}"
        )
        kept = _among(self.columns, columns, lambda c: {c.algo, c.title}, f"column of {self.name}")

        def within(pairs: Iterable[list[str]]) -> list[list[str]]:
            return [pair for pair in pairs if set(pair) <= kept.keys()]

        claims = [
            replace(
                claim,
                better=within(claim.better),
                alike=within(claim.alike),
                rows=[row for row in claim.rows or self.rows if row in kept_rows],
            )
            for claim in self.claims
        ]
        return replace(
            self,
            rows=kept_rows,
            columns=kept,
            compare=within(self.pairs),
            speedup=within(self.speedup),
            published_as={row: to for row, to in self.published_as.items() if row in kept_rows},
            claims=[claim for claim in claims if claim.rows and claim.pairs],
            remarks=self._remarks_on(kept_rows, kept),
        )

    def _remarks_on(
        self, rows: Mapping[str, RowDefinition], columns: Mapping[str, ColumnDefinition]
    ) -> list[str]:
        """Leave out what is said of other rows or columns alone, and say where it is."""

        def title(name: str, column: ColumnDefinition) -> str:
            is_known = not column.title and column.algo in configs.names("algo")
            return configs.read("algo", column.algo)["title"] if is_known else column.title or name

        remarks = self.remarks
        for every, kept in (
            ({name: row.title for name, row in self.rows.items()}, rows),
            ({name: title(name, column) for name, column in self.columns.items()}, columns),
        ):
            shown = {every[name] for name in kept}
            remarks = [r for r in remarks if (named(r, every.values()) or shown) & shown]
        if len(remarks) < len(self.remarks):
            remarks = [*remarks, "The whole table has more remarks; rerun=never shows it at once."]
        return remarks

    @property
    def pairs(self) -> list[list[str]]:
        """Pairs of columns to be compared."""
        if self.compare is not None:
            return self.compare
        first, *others = self.columns
        return [[first, other] for other in others]

    @property
    def paper(self) -> str:
        """The paper whose table this is; empty for one that only cites a table's numbers."""
        table = published_table(self.published) if self.published else None
        return table.paper if table and table.definition == self.name else ""

    def shown(self, usual: str = TEST_ERROR.name) -> Quantity:
        """Say what the table shows, with the decimals of the published numbers if there are any.

        Parameters
        ----------
        usual : str, default="test_error"
            Name of what is shown where neither the definition nor a published table says it.
        """
        published = published_table(self.published).quantity if self.published else None
        if published and published.is_judged and self.quantity in (None, published.name):
            return published
        return QUANTITIES[self.quantity or usual]

    @property
    def keys(self) -> list[Key]:
        """Row and column of each cell."""
        return [(row, column) for row in self.rows for column in self.columns]

    def runs(self, row: str, column: str) -> bool:
        """Whether a cell is run."""
        return row not in self.columns[column].without

    def compose(
        self, overrides: Sequence[str] = (), keys: Collection[Key] | None = None
    ) -> dict[Key, dict]:
        """Compose the config of each cell.

        Parameters
        ----------
        overrides : sequence of str, default=()
            Hydra overrides of a command line, for every cell.
        keys : collection of (str, str), default=None
            Rows and columns of some of them; None for all.

        Returns
        -------
        dict
            Resolved configs by row and column.
        """
        asked = settings(overrides)
        keys = self.keys if keys is None else keys
        return {key: experiment(self.cell(*key) | asked, asked) for key in keys}

    def cell(self, row: str, column: str) -> dict[str, Any]:
        """Collect the settings of a cell."""
        data, variant = self.rows[row], self.columns[column]
        algo = {"algo": variant.algo} if variant.algo else {"algo._target_": variant._target_}
        own = data.cells.get(column, {})
        chosen = choose_data(data.data) | algo
        return chosen | self.overrides | data.overrides | variant.overrides | own

    def heading(self, column: str, algo: Mapping) -> str:
        """Give what stands above a column, under its group; `algo` is its resolved config."""
        variant = self.columns[column]
        return variant.title or (algo["title"] if variant.algo == column else column)

    def label(self, column: str, algo: Mapping) -> str:
        """Name a column where it stands alone: its group, if it has one, and its heading."""
        group, heading = self.columns[column].group, self.heading(column, algo)
        return f"{group}, {heading}" if group else heading

    def find_published(
        self, row: str, column: str, algo: Mapping, rounds: int | None = None
    ) -> dict[str, Published]:
        """Look up the published numbers of a cell.

        Parameters
        ----------
        row, column : str
            The cell.
        algo : mapping
            Resolved config of its algorithm.
        rounds : int, default=None
            Number of boosting rounds, where the table has several.

        Returns
        -------
        dict of str to Published
            By quantity; empty when the paper gives none.
        """
        if self.published is None:
            return {}
        entry, named = self.rows[row], self.columns[column].published
        asked = {**algo, **entry.published, **named} | ({"n_iterations": rounds} if rounds else {})
        data = self.published_as.get(row) or entry.published.get("data", entry.data)
        return find_published(self.published, data, named.get("algo", algo["name"]), asked)

    def find_statement(self, a: str, b: str, algos: Mapping[str, Mapping]) -> str | None:
        """Look up what the paper says of the significance test between two columns.

        Parameters
        ----------
        a, b : str
            The columns.
        algos : mapping
            Resolved configs of the columns' algorithms.

        Returns
        -------
        str or None
            In words; None when the paper does not say.
        """
        if self.published is None:
            return None
        return statement(self.published, *(self._called(c, algos[c]) for c in (a, b)))

    def _called(self, column: str, algo: Mapping) -> set[str]:
        """Give all that a statement may call a column: ``rboost_proj``, ``rboost_proj:wlda``."""
        asked = {**algo, **self.columns[column].published}
        name = asked.get("algo", algo["name"])
        return {name} | {f"{name}:{value}" for value in asked.values()}


def named(text: str, names: Iterable[str]) -> set[str]:
    """Find names in a text; one that is a part of another is none.

    Examples
    --------
    >>> sorted(named("AdaBoost.MO on vowel528, and on wine.", ["AdaBoost", "vowel", "wine"]))
    ['wine']
    """
    longest = sorted(map(re.escape, names), key=len, reverse=True)
    return set(re.findall(rf"(?<![\w.-])(?:{'|'.join(longest)})(?![\w^-]|\.\w)", text))


def _among(
    known: Mapping[str, Any], names: Sequence[str], others: Callable[[Any], set], what: str
) -> dict[str, Any]:
    """Choose entries by their names, or all that have another name in common."""
    kept = set(known if not names else ())
    for name in names:
        of_name = {name} & known.keys() or {
            other for other in known if name in others(known[other])
        }
        if not of_name:
            raise unknown(what, name, known, listed=False)
        kept |= of_name
    return {name: entry for name, entry in known.items() if name in kept}


def _columns(columns: Any, where: str) -> Any:
    """Read ``columns: mcboost2``, those of another table, or the list of them."""
    if not isinstance(columns, str):
        return columns
    path, content = files.read("table", columns)
    if not isinstance(content.get("columns"), list):
        raise UserError(f"{where}: {path} has no columns of its own; name a table that lists them")
    return content["columns"]


def _with_suite(content: Mapping, where: str) -> Any:
    """Give the rows of a file, and behind them the tasks of its suite."""
    number, rows = fields.check(int, content["suite"], where, "suite"), content.get("rows", [])
    try:
        with busy(f"asking OpenML for suite {number}"):
            tasks = suite(number)
    except ConnectionError as error:
        raise UserError(f"{where} is not at hand: {error}") from None
    own = [{f"{configs.TASK}{task}": {"title": name}} for task, name in tasks.items()]
    return rows + own if isinstance(rows, list) else rows


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


@cache
def all_definitions() -> Mapping[str, TableDefinition]:
    """Read the definitions of all tables of ``conf``, by name, once in a process."""
    return MappingProxyType({name: TableDefinition.read(name) for name in configs.names("table")})


def choose_data(data: str) -> dict[str, Any]:
    """Choose data by the name of a set, a task or the path of a file.

    Raises
    ------
    UserError
        There is no such file.
    """
    if data.startswith(configs.TASK):
        return settings([f"data.openml_task={data.removeprefix(configs.TASK)}"])
    if _is_file(data):
        return {"data.path": data}
    path = Path(data)
    if path.name != data or split_name(path)[1] in FORMATS:
        raise UserError(f"there is no file {data}; check the path")
    return {"data": data}


def _is_file(data: str) -> bool:
    """Whether data are a file, and no data set that is called as one."""
    return os.path.isfile(data) and data not in configs.names("data")


def _title(row: str) -> str:
    """Give the heading of a row: its name or, of a file, what the data set in it is called."""
    return name_of(Path(row)) if _is_file(row) else row


def _column(name: str, content: dict, where: str) -> ColumnDefinition:
    if "_target_" in content and "algo" in content:
        raise UserError(f"{where} has algo and _target_; take one of them")
    return fields.fill(
        ColumnDefinition, content if "_target_" in content else {"algo": name} | content, where
    )


def check_names(names: Iterable[str], known: Collection[str], what: str) -> None:
    """Refuse a name that is not known, with the near matches; `what` says of what it is none."""
    for name in names:
        if name not in known:
            raise UserError(f"{what} {name!r}; {hint(name, known)}")
