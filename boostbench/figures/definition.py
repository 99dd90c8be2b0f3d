"""What ``conf/figure/*.yaml`` says of a figure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from boostbench.definitions.files import read_definition
from boostbench.errors import UserError

_COMMON = {"title", "caption"}
# What each kind of figure needs, and what it may have besides. The kinds are told by the first key
# of theirs that is there, boundaries by having none.
_NEEDED = {
    "curves": ["table"],
    "times": ["panels"],
    "paths": ["classes", "data", "algo"],
    "features": ["features", "columns"],
    "scatter": ["tables"],
    "ranks": ["ranked"],
    "boundaries": ["rows", "columns"],
}
_OPTIONAL = {
    "curves": {"error_axis"},
    "times": set(),
    "paths": {"overrides"},
    "features": {"overrides"},
    "scatter": set(),
    "ranks": {"among"},
    "boundaries": {"points", "overrides"},
}
_AXES = ("log", "linear")


@dataclass(frozen=True)
class FigureColumn:
    """A column of decision boundaries.

    Attributes
    ----------
    algo : str
        Name of the algorithm.
    title : str, default=None
        Heading; by default the title of the algorithm.
    rounds : int, default=None
        Boosting rounds that are shown; by default the last of ``protocol.checkpoints``.
    overrides : list of str
        Hydra overrides that hold for it alone.
    """

    algo: str
    title: str | None = None
    rounds: int | None = None
    overrides: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class TimePanel:
    """A picture of CPU times.

    Attributes
    ----------
    title : str
        What the rows vary, in words.
    table : str
        The table whose records are drawn.
    rows : dict of str to int
        Rows of it, and where each stands on the horizontal axis.
    """

    title: str
    table: str
    rows: dict[str, int]


@dataclass(frozen=True)
class FigureDefinition:
    """A figure as ``conf/figure/*.yaml`` defines it.

    Attributes
    ----------
    name : str
        Name of the file.
    title, caption : str
        What stands above and under it.
    kind : {"boundaries", "curves", "times", "paths", "features", "scatter", "ranks"}
        What it shows, as its keys tell.
    table : str, default=None
        Of curves: the table whose records are drawn.
    error_axis : {"log", "linear"}, default="log"
        Of curves: the axis of the test error.
    panels : list of TimePanel
        Of times.
    data, algo : str, default=None
        Of paths: the data set, and the algorithm that finds the stumps.
    classes : dict of int to str
        Of paths: headings by the labels of the classes that are taken.
    rows : list of str
        Of boundaries: the data sets.
    features : list of str
        Of features: the data sets of which it shows the features that are selected.
    tables : list of str
        Of scatter: the tables whose numbers are drawn.
    ranked : str, default=None
        Of ranks: the table over whose data sets algorithms are ranked.
    among : list of str
        Of ranks: its columns; by default all.
    columns : list of FigureColumn
        Of boundaries and features: the algorithms.
    points : str, default=None
        Heading of a first column with the data alone; None for no such column.
    overrides : list of str
        Hydra overrides that hold for all.
    """

    name: str
    title: str
    caption: str
    kind: str
    table: str | None = None
    error_axis: str = "log"
    panels: list[TimePanel] = field(default_factory=list)
    data: str | None = None
    algo: str | None = None
    classes: dict[int, str] = field(default_factory=dict)
    rows: list[str] = field(default_factory=list)
    features: list[str] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    ranked: str | None = None
    among: list[str] = field(default_factory=list)
    columns: list[FigureColumn] = field(default_factory=list)
    points: str | None = None
    overrides: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, name: str) -> "FigureDefinition":
        """Read a figure's definition.

        Parameters
        ----------
        name : str
            Name of a file in ``conf/figure``, or path of any YAML file.

        Raises
        ------
        UserError
            No such figure, or one whose keys are not those of a figure.
        """
        path, content = read_definition("figure", name)
        if not isinstance(content, dict):
            raise UserError(f"{path} is not a figure: it needs title, caption, rows and columns")
        kind = next((k for k, keys in _NEEDED.items() if keys[0] in content), "boundaries")
        needed = _COMMON | set(_NEEDED[kind])
        _check_keys(content, needed | _OPTIONAL[kind], needed, f"{path}: the figure")
        for key, part in (("columns", FigureColumn), ("panels", TimePanel)):
            known = set(part.__annotations__)
            required = {"algo"} if part is FigureColumn else known
            for entry in content.get(key, []):
                _check_keys(entry, known, required, f"{path}: {key[:-1]}")
            content[key] = [part(**entry) for entry in content.get(key, [])]
        if content.get("error_axis", "log") not in _AXES:
            raise UserError(f"{path}: error_axis is {' or '.join(_AXES)}")
        return cls(name=path.stem, kind=kind, **content)


def _check_keys(content: Mapping, known: set[str], needed: set[str], what: str) -> None:
    for key in sorted(needed - content.keys()):
        raise UserError(f"{what} has no {key}; it needs {', '.join(sorted(needed))}")
    for key in content.keys() - known:
        raise UserError(f"{what} may have no {key!r}; there are {', '.join(sorted(known))}")
