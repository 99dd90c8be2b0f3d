"""Definitions of figures in ``conf/figure/*.yaml``, the kinds of figures, and their pages.

``boostbench figure NAME`` reads a definition, draws it, and writes the picture and its page.
"""

import importlib.util
import pkgutil
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote

import msgspec

from boostbench import figures
from boostbench.fitting.quantities import Quantity
from boostbench.report.renderers.markdown import escape, pipe_table
from boostbench.util import configs
from boostbench.util.errors import UserError, did_you_mean, truncated_list
from boostbench.util.validation import check_value, struct_from_yaml


class Drawing(msgspec.Struct, frozen=True):
    """Drawn figure, and the contents of its page.

    Attributes
    ----------
    figure : matplotlib.figure.Figure
    results : Path
        Folder of the results, whose subfolder ``figures`` receives the files.
    notes : list of str
        Remarks that follow the caption.
    table_rows : list of list of str, default=[]
        Rows of the table of drawn numbers on the page; empty: no table.
    header : list of str, default=[]
        Headings of the columns of `table_rows`.
    failed : int, default=0
        Number of experiments that could not be computed.
    """

    figure: Any
    results: Path
    notes: list[str]
    table_rows: list[list[str]] = []
    header: list[str] = []
    failed: int = 0


def require_matplotlib() -> None:
    """Raise an error without matplotlib.

    Raises
    ------
    UserError
        If matplotlib is not installed.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise UserError("figures need matplotlib; install it by 'pip install matplotlib'")


def axis_label(quantity: Quantity) -> str:
    """Return the label of an axis: ``"test error (%)"``."""
    return f"{quantity.phrase} ({quantity.symbol})" if quantity.symbol else quantity.phrase


def headline_note(message: str) -> list[str]:
    """Return the headline of a figure as a note; empty without a headline."""
    return [f"{message}."] if message else []


def stale_note(stale: Iterable[str]) -> list[str]:
    """Return a note that names the first stale results; an empty list without any.

    Parameters
    ----------
    stale : iterable of str
        Algorithm and data set of each result whose records are of an older edition or refuted.
    """
    names = truncated_list(list(dict.fromkeys(stale)), max_names=3)
    return [f"Not what today's code gives (rerun=stale runs it again): {names}."] if names else []


class FigureDefinition(msgspec.Struct, frozen=True, kw_only=True):
    """Definition of a figure: the base of all kinds.

    A kind is a subclass in a module of this package; its fields are the keys that its files may
    have. The files name it by the attribute `kind`: ``kind: curves``.

    Attributes
    ----------
    name : str
        Name of the file.
    title, caption : str
        Texts above and below the figure.
    """

    kind: ClassVar[str]

    name: str
    title: str
    caption: str

    def draw(self, overrides: list[str]) -> Drawing:
        """Draw the figure; missing records are computed first if they can be.

        Parameters
        ----------
        overrides : list of str
            Hydra overrides for the whole figure.

        Returns
        -------
        Drawing

        Raises
        ------
        UserError
            An error that the user can correct; nothing was written.
        """
        raise NotImplementedError


def figure_kinds() -> list[type[FigureDefinition]]:
    """Return the kinds of figures in the order of their names; needs matplotlib."""
    for module in pkgutil.iter_modules(figures.__path__):
        import_module(f"{figures.__name__}.{module.name}")
    classes = [FigureDefinition]
    for cls in classes:
        classes += cls.__subclasses__()
    # A class between the base and several kinds has no kind of its own.
    kinds = [cls for cls in classes if "kind" in vars(cls)]
    return sorted(kinds, key=lambda cls: cls.kind)


def read_figure(name: str) -> FigureDefinition:
    """Read a figure's definition.

    Parameters
    ----------
    name : str
        Name of a file in ``conf/figure``, or path of any YAML file.

    Returns
    -------
    FigureDefinition
        Definition of the kind that the file names.

    Raises
    ------
    UserError
        No such figure or kind, or keys or values that its kind does not have.
    """
    path, content = configs.read_definition("figure", name)
    types = {cls.kind: cls for cls in figure_kinds()}
    if "kind" not in content:
        raise UserError(f"{path} is no figure: it needs its kind; {did_you_mean('', types)}")
    kind = check_value(str, content.pop("kind"), str(path), "kind")
    if kind not in types:
        raise UserError(f"{path}: kind is {kind!r}; {did_you_mean(kind, types)}")
    return struct_from_yaml(
        types[kind], content, str(path), name=configs.definition_name("figure", path)
    )


def page_text(definition: FigureDefinition, drawing: Drawing) -> str:
    """Return the Markdown page of a figure, which ``boostbench figure`` writes to a file.

    Parameters
    ----------
    definition : FigureDefinition
        The picture beside the page has its name.
    drawing : Drawing
        Its notes and its table follow the caption.

    Returns
    -------
    str
        Text of the file, with a newline at its end.
    """
    title = escape(definition.title)
    parts = [f"# {title}", f"![{title}]({quote(definition.name)}.svg)"]
    parts += map(escape, [definition.caption, *drawing.notes])
    if drawing.table_rows:
        parts.append(pipe_table(drawing.table_rows, drawing.header, n_left=len(drawing.header)))
    return "\n\n".join(parts) + "\n"
