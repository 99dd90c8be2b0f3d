"""What ``conf/figure/*.yaml`` says of a figure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from boostbench.cli.definition_file import read_definition
from boostbench.errors import UserError

_BOUNDARIES = {"title", "caption", "rows", "columns", "points", "overrides"}
_CURVES = {"title", "caption", "table"}


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
class FigureDefinition:
    """A figure as ``conf/figure/*.yaml`` defines it: error curves if it has a `table`.

    Attributes
    ----------
    name : str
        Name of the file.
    title, caption : str
        What stands above and under it.
    table : str, default=None
        The table whose records are drawn as curves of test error.
    rows : list of str
        Data sets whose decision boundaries are drawn.
    columns : list of FigureColumn
        Algorithms that have them.
    points : str, default=None
        Heading of a first column with the data alone; None for no such column.
    overrides : list of str
        Hydra overrides that hold for all.
    """

    name: str
    title: str
    caption: str
    table: str | None = None
    rows: list[str] = field(default_factory=list)
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
        possible = _CURVES if "table" in content else _BOUNDARIES
        _check_keys(content, possible, possible - {"points", "overrides"}, f"{path}: the figure")
        columns = content.pop("columns", [])
        for column in columns:
            known = set(FigureColumn.__annotations__)
            _check_keys(column, known, {"algo"}, f"{path}: a column")
        return cls(path.stem, columns=[FigureColumn(**column) for column in columns], **content)


def _check_keys(content: Mapping, known: set[str], needed: set[str], what: str) -> None:
    for key in sorted(needed - content.keys()):
        raise UserError(f"{what} has no {key}; it needs {', '.join(sorted(needed))}")
    for key in content.keys() - known:
        raise UserError(f"{what} may have no {key!r}; there are {', '.join(sorted(known))}")
