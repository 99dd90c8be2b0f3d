"""What ``conf/table/*.yaml`` says of a table."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from boostbench.definitions.files import read_definition
from boostbench.errors import UserError
from boostbench.report.published import Published, find, statement
from boostbench.report.tables import PARTS

_NEEDED = ("title", "rows", "columns")


@dataclass(frozen=True)
class Row:
    """A data set.

    Attributes
    ----------
    data : str
        Its name.
    title : str
        Heading.
    overrides : list of str
        Hydra overrides that hold for it alone.
    published : dict of str to str
        Where the published table calls it otherwise: values by the table's column.
    """

    data: str
    title: str
    overrides: list[str] = field(default_factory=list)
    published: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Variant:
    """A column: an algorithm, or one with overrides of its own.

    Attributes
    ----------
    algo : str
        Name of the algorithm.
    title : str, default=None
        Heading; by default the name of the column or, where that is the algorithm's, its title.
    group : str, default=None
        Heading over several columns.
    overrides : list of str
        Hydra overrides that hold for it alone.
    published : dict of str to str
        Where the published table calls it otherwise than its config: values by the table's column.
    without : list of str
        Rows on which it is not run.
    """

    algo: str
    title: str | None = None
    group: str | None = None
    overrides: list[str] = field(default_factory=list)
    published: dict = field(default_factory=dict)
    without: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Definition:
    """A table as ``conf/table/*.yaml`` defines it.

    Attributes
    ----------
    name : str
        Name of the file.
    title : str
        Heading.
    rows : dict of str to Row
        Data sets by the name of the row.
    columns : dict of str to Variant
        Algorithms by the name of the column; in the file the name of a table may stand for its own.
    overrides : list of str
        Hydra overrides that hold for all cells.
    published : str, default=None
        Name of the published table.
    published_as : dict of str to str
        Published name of a row that is a second version of the same data.
    classes : bool, default=False
        Whether the number of classes stands behind a data set's title.
    rounds : list of int
        Numbers of boosting rounds, each a column of every algorithm; empty for the last round.
    seconds : {"fit", "weak_learner", "coefficients", "predict_per_instance"}, default=None
        CPU time that is shown beside the test error.
    speedup : list of list of str
        Pairs of columns of which the CPU time of the first is divided by that of the second.
    compare : list of list of str, default=None
        Pairs of columns for the significance test; by default the first with each other.
    remarks : list of str
        What a reader must know beside the numbers, one sentence each.
    """

    name: str
    title: str
    rows: dict[str, Row]
    columns: dict[str, Variant]
    overrides: list[str] = field(default_factory=list)
    published: str | None = None
    published_as: dict[str, str] = field(default_factory=dict)
    classes: bool = False
    rounds: list[int] = field(default_factory=list)
    seconds: str | None = None
    speedup: list[list[str]] = field(default_factory=list)
    compare: list[list[str]] | None = None
    remarks: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, name: str) -> "Definition":
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
        path, content = read_definition("table", name)
        if not isinstance(content, dict) or not content.keys() >= set(_NEEDED):
            raise UserError(f"{path} is not a table: it needs title, rows and columns")
        _check_keys(content, cls.__annotations__.keys() - {"name"}, f"{path}: a table")
        rows = _entries(content.pop("rows"), f"{path}: rows")
        columns = _entries(_columns(content.pop("columns")), f"{path}: columns")
        for row, entry in rows.items():
            _check_keys(entry, Row.__annotations__, f"{path}: row {row}")
        for column, entry in columns.items():
            _check_keys(entry, Variant.__annotations__, f"{path}: column {column}")
        for key in ("compare", "speedup"):
            named = {name for pair in content.get(key) or [] for name in pair}
            _check_names(named, columns, f"{path}: {key} has no column")
        for column, entry in columns.items():
            _check_names(entry.get("without", []), rows, f"{path}: without of {column} has no row")
        _check_names(content.get("published_as", {}), rows, f"{path}: published_as has no row")
        if not all(isinstance(remark, str) for remark in content.get("remarks") or []):
            raise UserError(f"{path}: remarks are sentences, in quotes if they hold a colon")
        if content.get("seconds", "fit") not in PARTS:
            raise UserError(f"{path}: seconds is {', '.join(PARTS)}; take one of them")
        if content.get("speedup") and not content.get("seconds"):
            raise UserError(f"{path}: speedup needs seconds: which CPU time is it of?")
        if content.get("speedup") and content.get("rounds"):
            raise UserError(f"{path}: speedup cannot go with rounds")
        return cls(
            name=path.stem,
            rows={row: Row(**{"data": row, "title": row} | entry) for row, entry in rows.items()},
            columns={
                column: Variant(**{"algo": column} | entry) for column, entry in columns.items()
            },
            **content,
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
        paper, _, number = (self.published or "").partition("-table")
        return paper if self.name == f"{paper}{number}" else ""

    def runs(self, row: str, column: str) -> bool:
        """Whether a cell is run."""
        return row not in self.columns[column].without

    def cell(self, row: str, column: str) -> list[str]:
        """Collect the overrides of a cell."""
        data, variant = self.rows[row], self.columns[column]
        chosen = [f"data={data.data}", f"algo={variant.algo}"]
        return chosen + self.overrides + data.overrides + variant.overrides

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
    ) -> Published | None:
        """Look up the published number of a cell.

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
        Published or None
            None when the paper does not give it.
        """
        if self.published is None:
            return None
        entry, named = self.rows[row], self.columns[column].published
        asked = {**algo, **entry.published, **named} | ({"n_iterations": rounds} if rounds else {})
        data = self.published_as.get(row) or entry.published.get("data", entry.data)
        return find(self.published, data, named.get("algo", algo["name"]), asked)

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


def _columns(told: list | str) -> list:
    """Read ``columns: mcboost2``, those of another table, or the list of them."""
    if not isinstance(told, str):
        return told
    path, content = read_definition("table", told)
    columns = content.get("columns") if isinstance(content, dict) else None
    if not isinstance(columns, list):
        raise UserError(f"{path} has no columns of its own; name a table that lists them")
    return columns


def _entries(entries: list, where: str) -> dict[str, dict]:
    """Read ``[wine, {usps: [protocol.samples_per_class=100]}, {mine: {title: Mine}}]``."""
    named: dict[str, dict] = {}
    for entry in entries:
        for name, content in (entry if isinstance(entry, dict) else {entry: {}}).items():
            if name in named:
                raise UserError(f"{where} has {name} twice; give one another name, see docs")
            if isinstance(content, str | list):
                content = {"overrides": content}
            named[name] = content or {}
    for content in named.values():
        if isinstance(content.get("overrides"), str):
            content["overrides"] = [content["overrides"]]
    return named


def _check_keys(content: Mapping, known: Collection[str], what: str) -> None:
    strange = ", ".join(sorted(content.keys() - set(known)))
    if strange:
        raise UserError(f"{what} has no {strange}; it may have {', '.join(sorted(known))}")


def _check_names(names: Collection[str], known: Collection[str], what: str) -> None:
    for name in names:
        if name not in known:
            raise UserError(f"{what} {name!r} among {', '.join(known)}")
