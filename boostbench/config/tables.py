"""What ``conf/table/*.yaml`` says of a table."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from types import MappingProxyType
from typing import Any, Literal

from boostbench.config import definition_files as files
from boostbench.config import fields
from boostbench.config.compose import applicable, check_applicable, choose_data, experiment
from boostbench.config.fields import check_names
from boostbench.config.overrides import Settings, settings
from boostbench.config.rows_and_columns import (
    ColumnDefinition,
    RowDefinition,
    read_columns,
    read_data,
    read_rows,
)
from boostbench.fitting.quantities import STAGED, TEST_ERROR, TIMES, Quantity, get_quantity
from boostbench.papers.claims import Claim
from boostbench.papers.metadata import published_table, tables
from boostbench.papers.published import Published, find_published, statement
from boostbench.papers.remarks import filter_remarks
from boostbench.spec import measures
from boostbench.util import configs
from boostbench.util.errors import UserError, did_you_mean, unknown_name_error

#: Row and column of a cell.
Key = tuple[str, str]

_NOTHING: Mapping[str, Any] = MappingProxyType({})


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
    path : str, default=""
        Path of the file, for messages.
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
    path: str = ""

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
            content = {"rows": [], **content}
        for key in ("title", "rows", "columns"):
            if key not in content:
                raise UserError(f"{path} is not a table: it needs title, rows and columns")
        others = {k: v for k, v in content.items() if k not in ("rows", "suite", "columns")}
        table = fields.fill(
            cls,
            others,
            str(path),
            name=path.stem,
            path=str(path),
            rows=read_rows(content, str(path)),
            columns=read_columns(content, str(path)),
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
        if self.published is not None and self.published not in tables():
            near = did_you_mean(self.published, tables())
            raise UserError(f"{where}: published is {self.published!r}; {near}")
        if self.quantity is not None:
            self._check_quantity(where)
        if self.rope is not None and not (self.matrix and self.rope > 0):
            raise UserError(f"{where}: rope is {self.rope:g}; it goes with matrix: true and is > 0")
        if self.speedup and not self.seconds:
            raise UserError(f"{where}: speedup needs seconds: which CPU time is it of?")
        if self.speedup and self.rounds:
            raise UserError(f"{where}: speedup cannot go with rounds")
        self._check_overrides(where)

    def _check_quantity(self, where: str) -> None:
        """Refuse an unknown quantity; a measure of the overrides may define it."""
        parts = (self, *self.rows.values(), *self.columns.values())
        try:
            for name in {
                part.overrides["measure"] for part in parts if "measure" in part.overrides
            }:
                measures.find(name)
            get_quantity(self.quantity)
        except UserError as error:
            raise UserError(f"{where}: {error}") from None

    def _check_overrides(self, where: str) -> None:
        """Refuse an override of the table or of a row that sets a parameter of no column."""
        check_applicable(self.overrides, [self._chosen(*key) for key in self.keys], where)
        for row, data in self.rows.items():
            cells = [self._chosen(row, column) for column in self.columns]
            check_applicable(data.overrides, cells, f"{where}: row {row}")

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
        titles = [
            {name: row.title for name, row in self.rows.items()},
            {name: column.heading(name, _algorithm(name)) for name, column in self.columns.items()},
        ]
        return replace(
            self,
            rows=kept_rows,
            columns=kept,
            compare=within(self.pairs),
            speedup=within(self.speedup),
            published_as={row: to for row, to in self.published_as.items() if row in kept_rows},
            claims=[claim for claim in claims if claim.rows and claim.pairs],
            remarks=filter_remarks(self.remarks, titles, [kept_rows, kept]),
        )

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
        return get_quantity(self.quantity or usual)

    @property
    def keys(self) -> list[Key]:
        """Row and column of each cell."""
        return list(product(self.rows, self.columns))

    def keys_run(self, rows: Collection[str] = (), columns: Collection[str] = ()) -> list[Key]:
        """Row and column of each cell that is run, of some rows and columns or of all.

        Raises
        ------
        UserError
            None of them is run.
        """
        rows, columns = rows or self.rows, columns or self.columns
        keys = [key for key in product(rows, columns) if self.runs(*key)]
        if not keys:
            raise UserError(
                f"table {self.name} does not run {', '.join(columns)} on {', '.join(rows)}; choose "
                "other rows or columns"
            )
        return keys

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
        check_applicable(asked, [self._chosen(*key) | asked for key in self.keys])
        keys = self.keys if keys is None else keys
        return {key: self._compose(*key, asked) for key in keys}

    def _compose(self, row: str, column: str, asked: Settings) -> dict:
        try:
            return experiment(self.cell(row, column, asked), asked)
        except UserError:
            with self.naming(row, column):
                experiment(self.cell(row, column))
            raise  # it is a mistake of the command line

    @contextmanager
    def naming(self, row: str, column: str) -> Iterator[None]:
        """Name the file and the cell in an error that is raised within."""
        try:
            yield
        except UserError as error:
            where = f"{self.path or self.name}: row {row}, column {column}"
            raise UserError(f"{where}: {error}") from None

    def cell(self, row: str, column: str, asked: Mapping[str, Any] = _NOTHING) -> dict[str, Any]:
        """Collect the settings of a cell.

        Overrides of the whole table and of its row apply where the algorithm has the parameter.

        Parameters
        ----------
        row, column : str
            The cell.
        asked : mapping, default={}
            Overrides of a command line, for every cell.
        """
        data, variant = self.rows[row], self.columns[column]
        chosen = self._chosen(row, column) | asked
        for_all, for_row, asked = (
            applicable(shared, chosen) for shared in (self.overrides, data.overrides, asked)
        )
        own = variant.overrides | data.cells.get(column, {})
        return choose_data(data.data) | variant.choice | for_all | for_row | own | asked

    def _chosen(self, row: str, column: str) -> dict[str, Any]:
        """Collect the settings of a cell but for its data, applicable or not."""
        data, variant = self.rows[row], self.columns[column]
        own = variant.overrides | data.cells.get(column, {})
        return variant.choice | self.overrides | data.overrides | own

    def heading(self, column: str, algo: Mapping) -> str:
        """Give what stands above a column, under its group; `algo` is its resolved config."""
        return self.columns[column].heading(column, algo)

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
            raise unknown_name_error(what, name, known, is_listed=False)
        kept |= of_name
    return {name: entry for name, entry in known.items() if name in kept}


@cache
def shipped_definition(name: str) -> TableDefinition:
    """Read the definition of a table of ``conf``, once in a process."""
    return TableDefinition.read(name)


def all_definitions() -> dict[str, TableDefinition]:
    """Return the definitions of all tables of ``conf``, by name."""
    return {name: shipped_definition(name) for name in configs.list_options("table")}


@cache
def shipped_data(name: str) -> frozenset[str]:
    """Return the data sets of a table of ``conf`` without reading the rest of its definition."""
    path, content = files.read("table", name)
    return frozenset(read_data(content, str(path)))


def _algorithm(name: str) -> Mapping:
    """Return the config of the algorithm that gives a column its title, if there is one."""
    is_algorithm = name in configs.list_options("algo")
    return configs.read_option("algo", name) if is_algorithm else {"title": name}
