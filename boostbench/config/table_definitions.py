"""Definitions of tables: YAML files of ``conf`` as structs, and the settings of each cell.

A row is a data set, a column an algorithm, and a *cell* one experiment. Its settings follow from
the overrides of the table, the row, the column, the cell and the command line, in this order.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import product
from typing import Any, Literal, NamedTuple

import msgspec

from boostbench.config.choices import (
    AlgorithmChoice,
    check_applicable,
    data_settings,
    data_title,
    select_applicable,
)
from boostbench.config.compose import compose_experiment, load_option
from boostbench.config.overrides import Settings, parse_overrides
from boostbench.fitting.quantities import (
    SHOWN_TIMES,
    STAGED_QUANTITIES,
    TEST_ERROR,
    Quantity,
    get_quantity,
)
from boostbench.papers.metadata import library, published_table
from boostbench.papers.notes import Claim, filter_remarks, find_statement
from boostbench.papers.published import Published, find_published
from boostbench.spec import measures
from boostbench.spec.algorithm import AlgorithmSpec
from boostbench.spec.experiment import ExperimentConfig, TableCell
from boostbench.util import configs
from boostbench.util.errors import UserError, did_you_mean, unknown_name_error
from boostbench.util.terminal import spinner, truncated_repr
from boostbench.util.validation import check_names, check_value, struct_from_yaml

#: Keys of a table's file from which its rows and columns are made.
_ENTRY_KEYS = ("suite", "rows", "published_as", "columns")


class RowDefinition(msgspec.Struct, frozen=True):
    """Row of a table: a data set.

    Attributes
    ----------
    name : str
        Name in the definition, and of ``--row``.
    data : str
        Name of the data set, or path of a file.
    title : str
        Heading.
    published_as : str, default=""
        Published name, if the row is a second version of the data of another row; it does not count
        in tests. Empty: a row of its own.
    overrides : Settings
        Overrides for this row alone.
    published : dict of str to str
        Values that find the row in the CSV file of the published table, by the columns of that
        file. Empty: the published table has the name of the data.
    cells : dict of str to Settings
        Overrides for single columns of this row.
    """

    name: str
    data: str
    title: str
    published_as: str = ""
    overrides: Settings = msgspec.field(default_factory=Settings)
    published: dict[str, Any] = {}
    cells: dict[str, Settings] = {}


class ColumnDefinition(msgspec.Struct, frozen=True):
    """Column of a table: an algorithm, perhaps with overrides.

    Attributes
    ----------
    name : str
        Name in the definition, and of ``--column``.
    algo : str, default=None
        Name of the algorithm. None: a class without a config.
    _target_ : str, default=None
        Dotted name of the class. None: the class of the algorithm.
    title : str, default=None
        Heading. None: the name of the column, or the title of the algorithm of that name.
    group : str, default=None
        Heading above several columns. None: no such heading.
    overrides : Settings
        Overrides for this column alone.
    published : dict of str to str
        Values that find the column in the CSV file of the published table, by the columns of that
        file, where they differ from the parameters of the config.
    without : list of str
        Rows for which the column is not run.
    """

    name: str
    algo: str | None = None
    _target_: str | None = None
    title: str | None = None
    group: str | None = None
    overrides: Settings = msgspec.field(default_factory=Settings)
    published: dict[str, Any] = {}
    without: list[str] = []

    @property
    def choice_settings(self) -> Settings:
        """Setting that chooses the algorithm or the class."""
        return Settings({"algo": self.algo} if self.algo else {"algo._target_": self._target_})

    def heading(self, algorithm_title: str) -> str:
        """Return the heading of the column for the title of its algorithm."""
        return self.title or (algorithm_title if self.algo == self.name else self.name)

    def label(self, algorithm_title: str) -> str:
        """Return the name of a column that stands alone: its group, if any, and its heading."""
        heading = self.heading(algorithm_title)
        return f"{self.group}, {heading}" if self.group else heading


class TableDefinition(msgspec.Struct, frozen=True):
    """Definition of a table.

    Attributes
    ----------
    name : str
        Name of the file.
    title : str
        Heading.
    rows : tuple of RowDefinition
        Data sets. In a file, the key ``published_as`` of the table, published names by the names
        of rows, gives `RowDefinition.published_as`.
    columns : tuple of ColumnDefinition
        Algorithms. In a file, the name of another table stands for the columns of that table.
    overrides : Settings
        Overrides for all cells.
    published : str, default=None
        Name of the published table, such as ``"mcboost5"``. None: nothing is published.
    quantity : str, default=None
        Name of the displayed quantity. None: the quantity of the published table, or of the
        measure.
    classes : bool, default=False
        Whether the number of classes stands behind a data set's title.
    rounds : list of int
        Numbers of boosting rounds, each a column of every algorithm. Empty: the last round.
    seconds : {"fit", "weak_learner", "coefficients", "predict_per_instance", \
            "hash_per_instance"}, default=None
        CPU time that is shown beside the quantity. None: no time.
    speedup : list of list of str
        Pairs of columns. The CPU time of the first column is divided by the time of the second.
    compare : list of list of str, default=None
        Pairs of columns for the significance test. None: the first column with each other column.
    remarks : list of str
        Sentences below the table, such as on differences from the paper.
    claims : list of Claim
        Sentences of the paper that are tested.
    matrix : bool, default=False
        Whether all pairs of columns are compared below the table.
    rope : float, default=None
        Region of practical equivalence of these comparisons, in the unit of the quantity. None: 1
        for percentages, and no region for other units.
    path : str, default=""
        Path of the file, for messages.
    """

    name: str
    title: str
    rows: tuple[RowDefinition, ...]
    columns: tuple[ColumnDefinition, ...]
    overrides: Settings = msgspec.field(default_factory=Settings)
    published: str | None = None
    quantity: str | None = None
    classes: bool = False
    rounds: list[int] = []
    seconds: Literal[SHOWN_TIMES] | None = None
    speedup: list[list[str]] = []
    compare: list[list[str]] | None = None
    remarks: list[str] = []
    claims: list[Claim] = []
    matrix: bool = False
    rope: float | None = None
    path: str = ""

    @classmethod
    def read(cls, name: str) -> "TableDefinition":
        """Read the definition of a table.

        Parameters
        ----------
        name : str
            Name of a file in ``conf/table``, or path of any YAML file.

        Raises
        ------
        UserError
            If there is no such table, or its keys or values are not valid.
        """
        path, content = configs.read_definition("table", name)
        where = str(path)
        # 1) Add the tasks of a suite of OpenML to the rows.
        if "suite" in content:
            content = {"rows": [], **content}
            if isinstance(content["rows"], list):
                content["rows"] = content["rows"] + _suite_rows(content["suite"], where)
        # 2) Name required keys that are missing, and a misspelled key that may be one of them.
        missing = [key for key in ("title", "rows", "columns") if key not in content]
        if missing:
            for key in content:
                advice = did_you_mean(key, missing)
                if key not in cls.__struct_fields__ and advice.startswith("did you mean"):
                    raise UserError(f"{where} has no key {key!r}; {advice}")
            raise UserError(f"{where} is not a table: it needs title, rows and columns")
        # 3) Make the struct.
        definition = struct_from_yaml(
            cls,
            {key: content[key] for key in content if key not in _ENTRY_KEYS},
            where,
            name=configs.definition_name("table", path),
            path=where,
            rows=_read_rows(content["rows"], content.get("published_as", {}), where),
            columns=_read_columns(content["columns"], where),
        )
        definition._check(where)
        return definition

    def _check(self, where: str) -> None:
        """Check that the values fit together; `where` is the file for messages."""
        # 1) Check the names of rows and columns, and the single keys.
        self._check_names(where)
        if self.rounds and self.quantity not in (None, *STAGED_QUANTITIES):
            raise UserError(f"{where}: rounds cannot go with quantity: {self.quantity}")
        if any(number < 1 for number in self.rounds):
            raise UserError(f"{where}: rounds is {self.rounds}; they count from 1")
        if self.published is not None and library().find_table(self.published) is None:
            near = did_you_mean(self.published, [table.name for table in library().tables])
            raise UserError(f"{where}: published is {self.published!r}; {near}")
        if self.quantity is not None:
            self._check_quantity(where)
        if self.rope is not None and not (self.matrix and self.rope > 0):
            raise UserError(f"{where}: rope is {self.rope:g}; it goes with matrix: true and is > 0")
        if self.speedup and not self.seconds:
            raise UserError(f"{where}: speedup needs seconds: which CPU time is it of?")
        if self.speedup and self.rounds:
            raise UserError(f"{where}: speedup cannot go with rounds")
        # 2) An override of the table or of a row must set a parameter of at least one column.
        cells = product(self.rows, self.columns)
        check_applicable(self.overrides, (self._algorithm_choice(*cell) for cell in cells), where)
        for row in self.rows:
            choices = (self._algorithm_choice(row, column) for column in self.columns)
            check_applicable(row.overrides, choices, f"{where}: row {row.name}")

    def _check_names(self, where: str) -> None:
        """Check that all rows and columns exist that claims, pairs and cells name."""
        row_names, column_names = self.row_names, self.column_names
        # Pairs of columns, by the key of the file that lists them. Each claim is a key.
        pairs = {"compare": self.compare or [], "speedup": self.speedup}
        for number, claim in enumerate(self.claims, start=1):
            key = f"claim {number}"
            if bool(claim.better) == bool(claim.alike):
                raise UserError(f"{where}: {key} needs better or alike, and one of them only")
            if bool(claim.alike) != (claim.within is not None):
                raise UserError(f"{where}: {key} needs within where it has alike, and only there")
            check_names(claim.rows, row_names, f"{where}: {key} has no row")
            pairs[key] = claim.pairs
        for key, key_pairs in pairs.items():
            for pair in key_pairs:
                check_names(pair, column_names, f"{where}: {key} has no column")
                if len(set(pair)) != 2 or len(pair) != 2:
                    raise UserError(f"{where}: {key} has {pair}, which is no pair of columns")
        for column in self.columns:
            check_names(column.without, row_names, f"{where}: without of {column.name} has no row")
        for row in self.rows:
            check_names(row.cells, column_names, f"{where}: cells of {row.name} has no column")

    def _check_quantity(self, where: str) -> None:
        """Check that the quantity exists; a measure of the overrides may define it."""
        parts = (self, *self.rows, *self.columns)
        try:
            for part in parts:
                if "measure" in part.overrides:
                    measures.find(part.overrides["measure"])
            get_quantity(self.quantity)
        except UserError as error:
            raise UserError(f"{where}: {error}") from None

    def replace_quantity(self, name: str) -> "TableDefinition":
        """Return the definition with another quantity, and without claims on the defined one.

        Raises
        ------
        UserError
            If the table shows rounds after which the quantity is not recorded.
        """
        if self.rounds and name not in STAGED_QUANTITIES:
            raise UserError(f"{self.name}: rounds cannot go with quantity={name}")
        return msgspec.structs.replace(self, quantity=name, claims=[])

    def subset(self, rows: Sequence[str], columns: Sequence[str]) -> "TableDefinition":
        """Return the definition of some rows and columns, with the claims and remarks on them.

        Parameters
        ----------
        rows, columns : sequence of str
            Names or titles of rows or columns, or names of their data or algorithms. Empty: all.

        Raises
        ------
        UserError
            If the table has no row or column of a name.
        """
        if not rows and not columns:
            return self
        # 1) Select rows and columns.
        row_names = [(row.name, {row.data, row.title}) for row in self.rows]
        selected_rows = _select(rows, row_names, f"row of {self.name}")
        column_names = [(column.name, {column.algo, column.title}) for column in self.columns]
        selected_columns = _select(columns, column_names, f"column of {self.name}")

        def select_pairs(pairs: Iterable[list[str]]) -> list[list[str]]:
            """Return the pairs whose two columns are selected."""
            return [pair for pair in pairs if set(pair) <= selected_columns]

        # 2) Restrict claims and comparisons to them.
        claims = [
            msgspec.structs.replace(
                claim,
                better=select_pairs(claim.better),
                alike=select_pairs(claim.alike),
                rows=[row for row in claim.rows or self.row_names if row in selected_rows],
            )
            for claim in self.claims
        ]
        part = msgspec.structs.replace(
            self,
            rows=tuple(row for row in self.rows if row.name in selected_rows),
            columns=tuple(column for column in self.columns if column.name in selected_columns),
            compare=select_pairs(self.pairs),
            speedup=select_pairs(self.speedup),
            claims=[claim for claim in claims if claim.rows and claim.pairs],
        )
        # 3) Restrict the remarks, which name rows and columns by their titles.
        remarks = filter_remarks(self.remarks, self.titles, part.titles)
        return msgspec.structs.replace(part, remarks=remarks)

    @property
    def titles(self) -> tuple[list[str], list[str]]:
        """Titles of the rows, and headings of the columns."""
        headings = [column.heading(_algorithm_title(column.name)) for column in self.columns]
        return [row.title for row in self.rows], headings

    @property
    def pairs(self) -> list[list[str]]:
        """Pairs of columns to be compared."""
        if self.compare is not None:
            return self.compare
        first, *later_columns = self.column_names
        return [[first, column] for column in later_columns]

    @property
    def paper(self) -> str:
        """Paper whose table this is; empty for a table that only cites published numbers."""
        table = published_table(self.published) if self.published else None
        return table.paper if table and table.definition == self.name else ""

    def displayed_quantity(self, default: str = TEST_ERROR.name) -> Quantity:
        """Return the displayed quantity, with the decimals of the published numbers, if any.

        Parameters
        ----------
        default : str, default="test_error"
            Name of the quantity if neither the definition nor a published table names one.
        """
        published = published_table(self.published).quantity if self.published else None
        if published and published.is_judged and self.quantity in (None, published.name):
            return published
        return get_quantity(self.quantity or default)

    @property
    def row_names(self) -> list[str]:
        """Names of the rows."""
        return [row.name for row in self.rows]

    @property
    def column_names(self) -> list[str]:
        """Names of the columns."""
        return [column.name for column in self.columns]

    def row(self, name: str) -> RowDefinition:
        """Return the row of a name."""
        return next(row for row in self.rows if row.name == name)

    def column(self, name: str) -> ColumnDefinition:
        """Return the column of a name."""
        return next(column for column in self.columns if column.name == name)

    def compose(
        self,
        overrides: Sequence[str] = (),
        rows: Collection[str] = (),
        columns: Collection[str] = (),
    ) -> list[TableCell]:
        """Compose the config of each cell.

        Parameters
        ----------
        overrides : sequence of str, default=()
            Overrides of a command line, for every cell.
        rows, columns : collection of str, default=()
            Names of the rows and the columns of the cells. Empty: all.

        Returns
        -------
        list of TableCell
            Cells row by row, with those that are not run.
        """
        command_overrides = parse_overrides(overrides)
        cells = list(product(self.rows, self.columns))
        check_applicable(
            command_overrides, (self._algorithm_choice(*cell, command_overrides) for cell in cells)
        )
        return [
            TableCell(
                row.name,
                column.name,
                self._compose(row, column, command_overrides),
                is_run=row.name not in column.without,
            )
            for row, column in cells
            if (not rows or row.name in rows) and (not columns or column.name in columns)
        ]

    def _compose(
        self, row: RowDefinition, column: ColumnDefinition, command_overrides: Settings
    ) -> ExperimentConfig:
        """Compose the config of a cell; an error in the definition names the cell."""
        try:
            return compose_experiment(
                self.cell_settings(row, column, command_overrides), command_overrides
            )
        except UserError:
            # Compose again without the overrides of the command line. If this fails, too, the
            # definition is at fault, and the error names the cell; else the first error is raised.
            with self.error_context(row.name, column.name):
                compose_experiment(self.cell_settings(row, column))
            raise

    @contextmanager
    def error_context(self, row: str, column: str) -> Iterator[None]:
        """Name the file and the cell in the errors of a block."""
        try:
            yield
        except UserError as error:
            where = f"{self.path or self.name}: row {row}, column {column}"
            raise UserError(f"{where}: {error}") from None

    def check_is_run(self, rows: Collection[str] = (), columns: Collection[str] = ()) -> None:
        """Raise an error if no cell of some rows and columns is run; empty names all of them."""
        rows, columns = rows or self.row_names, columns or self.column_names
        if all(row in self.column(column).without for row, column in product(rows, columns)):
            raise UserError(
                f"table {self.name} does not run {', '.join(columns)} on {', '.join(rows)}; choose "
                "other rows or columns"
            )

    def cell_settings(
        self,
        row: RowDefinition,
        column: ColumnDefinition,
        command_overrides: Settings | None = None,
    ) -> Settings:
        """Return the settings of a cell.

        Overrides of the whole table and of its row apply where the algorithm has the parameter.

        Parameters
        ----------
        row : RowDefinition
        column : ColumnDefinition
        command_overrides : Settings, default=None
            Overrides of a command line, for every cell. None: there are none.
        """
        command_overrides = command_overrides or Settings()
        choice = self._algorithm_choice(row, column, command_overrides)
        table_settings, row_settings, command_overrides = (
            select_applicable(shared, choice)
            for shared in (self.overrides, row.overrides, command_overrides)
        )
        return Settings(
            {
                **data_settings(row.data),
                **column.choice_settings,
                **table_settings,
                **row_settings,
                **column.overrides,
                **row.cells.get(column.name, {}),
                **command_overrides,
            }
        )

    def _algorithm_choice(
        self,
        row: RowDefinition,
        column: ColumnDefinition,
        command_overrides: Settings | None = None,
    ) -> AlgorithmChoice:
        """Return the algorithm of a cell, on which the applicable overrides depend.

        See `cell_settings` for the parameters.
        """
        return AlgorithmChoice.resolve(
            column.choice_settings,
            self.overrides,
            row.overrides,
            column.overrides,
            row.cells.get(column.name, Settings()),
            command_overrides or Settings(),
        )

    def find_published(
        self, row: str, column: str, algorithm: AlgorithmSpec, rounds: int | None = None
    ) -> tuple[Published, ...]:
        """Return the published numbers of a cell.

        Parameters
        ----------
        row, column : str
            Names of the row and the column.
        algorithm : AlgorithmSpec
            Algorithm of the cell.
        rounds : int, default=None
            Number of boosting rounds. None: the table has one number per cell.

        Returns
        -------
        tuple of Published
            One number of each quantity; empty if the paper has none.
        """
        if self.published is None:
            return ()
        # A line of the published table is found by the data, the algorithm and its parameters. The
        # definition replaces them where the paper names them differently.
        row_definition = self.row(row)
        row_keys, column_keys = row_definition.published, self.column(column).published
        values = {**algorithm.params, **row_keys, **column_keys}
        if rounds:
            values["n_iterations"] = rounds
        data = row_definition.published_as or row_keys.get("data", row_definition.data)
        return find_published(self.published, data, column_keys.get("algo", algorithm.name), values)

    def find_statement(
        self, columns: Sequence[str], algorithms: Sequence[AlgorithmSpec]
    ) -> str | None:
        """Return the paper's statement on the significance test between two columns.

        Parameters
        ----------
        columns : (str, str)
            Names of the columns.
        algorithms : (AlgorithmSpec, AlgorithmSpec)
            Algorithms of the columns.

        Returns
        -------
        str or None
            Statement in words; None if the paper makes none.
        """
        if self.published is None:
            return None
        return find_statement(self.published, *map(self._statement_names, columns, algorithms))

    def _statement_names(self, column: str, algorithm: AlgorithmSpec) -> set[str]:
        """Return the names of a column in statements: ``rboost_proj``, ``rboost_proj:wlda``.

        The value of a parameter behind a colon names a variant of the algorithm.
        """
        values = {**algorithm.params, **self.column(column).published}
        name = values.get("algo", algorithm.name)
        return {name} | {f"{name}:{value}" for value in values.values()}


def _select(
    names: Sequence[str], alternatives: Sequence[tuple[str, set[str | None]]], kind: str
) -> set[str]:
    """Return the rows or columns that the user named; all if there are no names.

    Parameters
    ----------
    names : sequence of str
        Names that the user wrote.
    alternatives : sequence of (str, set of str)
        Name of each row or column, and its other names.
    kind : str
        Kind of the names in the message on an unknown name, such as ``"row of demo"``.

    Raises
    ------
    UserError
        If there is no row or column of a name.
    """
    valid_names = [name for name, _ in alternatives]
    selected = set() if names else set(valid_names)
    for name in names:
        if name in valid_names:
            selected.add(name)
            continue
        # Several rows or columns may have the same other name, and all of them are meant.
        matches = {valid_name for valid_name, other_names in alternatives if name in other_names}
        if not matches:
            raise unknown_name_error(kind, name, valid_names, is_listed=False)
        selected |= matches
    return selected


@cache
def shipped_definition(name: str) -> TableDefinition:
    """Return the definition of a table of ``conf``, which is read once in a process."""
    return TableDefinition.read(name)


def read_definitions() -> list[TableDefinition]:
    """Return the definitions of all tables of ``conf``, in the order of their names."""
    return [shipped_definition(name) for name in configs.list_options("table")]


@cache
def shipped_data(name: str) -> frozenset[str]:
    """Return the data sets of a table of ``conf``; its columns and claims are not checked."""
    path, content = configs.read_definition("table", name)
    entries = _read_entries(content["rows"], f"{path}: rows")
    return frozenset(entry.content.get("data", entry.name) for entry in entries)


class _Entry(NamedTuple):
    """Row or column in a file: its name, and its keys, which are not checked yet."""

    name: str
    content: dict[str, Any]


def _read_rows(entries: Any, published_as: Any, where: str) -> tuple[RowDefinition, ...]:
    """Return the rows of a table's file.

    Rows of one title, such as files of one name in several folders, have their names behind it.

    Parameters
    ----------
    entries : object
        Value of the key ``rows``, with the tasks of a suite.
    published_as : object
        Value of the key ``published_as``: published names by the names of rows.
    where : str
        Path of the file, for messages.
    """
    published_names = check_value(dict[str, str], published_as, where, "published_as")
    rows = [
        struct_from_yaml(
            RowDefinition,
            {"data": name, "title": data_title(name)} | content,
            f"{where}: row {name}",
            name=name,
            published_as=published_names.get(name, ""),
        )
        for name, content in _read_entries(entries, f"{where}: rows")
    ]
    check_names(published_names, [row.name for row in rows], f"{where}: published_as has no row")
    counts = Counter(row.title for row in rows)
    return tuple(
        msgspec.structs.replace(row, title=f"{row.title} ({row.name})")
        if counts[row.title] > 1
        else row
        for row in rows
    )


def _read_columns(entries: Any, where: str) -> tuple[ColumnDefinition, ...]:
    """Return the columns of a table's file, or of another table: ``columns: mcboost2``.

    Columns of one title in one group have their names behind it.

    Parameters
    ----------
    entries : object
        Value of the key ``columns``.
    where : str
        Path of the file, for messages.
    """
    # 1) Take the entries of another table.
    if isinstance(entries, str):
        path, other = configs.read_definition("table", entries)
        entries = other.get("columns")
        if not isinstance(entries, list):
            raise UserError(
                f"{where}: columns: {path} has no columns of its own; name a table that lists them"
            )
    # 2) Make a struct of each entry. Its name is the algorithm, unless it gives another one.
    columns = []
    for name, content in _read_entries(entries, f"{where}: columns"):
        where_column = f"{where}: column {name}"
        if "_target_" in content and "algo" in content:
            raise UserError(f"{where_column} has algo and _target_; take one of them")
        default = {} if "_target_" in content else {"algo": name}
        columns.append(
            struct_from_yaml(ColumnDefinition, default | content, where_column, name=name)
        )
    # 3) Add the names to equal titles.
    counts = Counter((column.group, column.title) for column in columns if column.title)
    return tuple(
        msgspec.structs.replace(column, title=f"{column.title} ({column.name})")
        if counts[column.group, column.title] > 1
        else column
        for column in columns
    )


def _suite_rows(suite_id: Any, where: str) -> list:
    """Return the tasks of an OpenML suite as entries of rows, see `_read_entries`."""
    from boostbench.data.sources.openml_client import read_suite  # slow to import

    where = f"{where}: suite"
    number = check_value(int, suite_id, where, "suite")
    try:
        with spinner(f"asking OpenML for suite {number}"):
            tasks = read_suite(number)
    except ConnectionError as error:
        raise UserError(f"{where} is not at hand: {error}") from None
    return [{f"{configs.TASK_PREFIX}{task}": {"title": name}} for task, name in tasks]


def _read_entries(entries: Any, where: str) -> list[_Entry]:
    """Return the rows or columns in the value of ``rows`` or ``columns``.

    The value is a list such as ``[wine, {usps: [protocol.samples_per_class=100]}, {mine: {title:
    Mine}}]``: names, and mappings of names to overrides or to keys.
    """
    if not isinstance(entries, list) or not entries:
        shown = truncated_repr(entries)
        raise UserError(f"{where} is {shown}; it must be a list of names, see docs/tables.md")
    result, names = [], set()
    for entry in entries:
        pairs = entry.items() if isinstance(entry, dict) else [(entry, {})]
        for name, content in pairs:
            if not isinstance(name, str):
                shown = truncated_repr(name)
                raise UserError(f"{where} has {shown}, which is no text; put names in quotes")
            if name in names:
                raise UserError(f"{where} has {name} twice; give one another name, see docs")
            if isinstance(content, str | list):
                content = {"overrides": content}
            if content is not None and not isinstance(content, dict):
                shown = truncated_repr(content)
                raise UserError(f"{where}: {name} is {shown}; it must be overrides or keys")
            names.add(name)
            result.append(_Entry(name, content or {}))
    return result


def _algorithm_title(name: str) -> str:
    """Return the title of an algorithm; for another name, the name."""
    return load_option("algo", name)["title"] if name in configs.list_options("algo") else name
