"""Definitions of figures in ``conf/figure/*.yaml``, and the kinds of figures."""

import pkgutil
from dataclasses import dataclass
from importlib import import_module
from typing import ClassVar
from urllib.parse import quote

from boostbench import figures
from boostbench.figures.drawing import Drawing
from boostbench.report.renderers.markdown import escape, pipe
from boostbench.util import configs
from boostbench.util.errors import UserError, did_you_mean
from boostbench.util.validation import check_value, struct_from_mapping


@dataclass(frozen=True, kw_only=True)
class FigureDefinition:
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


def kinds() -> dict[str, type[FigureDefinition]]:
    """Return the kinds of figures by their names; needs matplotlib."""
    for module in pkgutil.iter_modules(figures.__path__):
        import_module(f"{figures.__name__}.{module.name}")
    return dict(sorted((kind.kind, kind) for kind in FigureDefinition.__subclasses__()))


def read_figure(name: str) -> FigureDefinition:
    """Read a figure's definition.

    Parameters
    ----------
    name : str
        Name of a file in ``conf/figure``, or path of any YAML file.

    Returns
    -------
    FigureDefinition
        Of the kind that the file names.

    Raises
    ------
    UserError
        No such figure or kind, or keys or values that its kind does not have.
    """
    path, content = configs.read_definition("figure", name)
    types = kinds()
    if "kind" not in content:
        raise UserError(f"{path} is no figure: it needs its kind; {did_you_mean('', types)}")
    kind = check_value(str, content.pop("kind"), str(path), "kind")
    if kind not in types:
        raise UserError(f"{path}: kind is {kind!r}; {did_you_mean(kind, types)}")
    return struct_from_mapping(
        types[kind], content, str(path), name=configs.definition_name("figure", path)
    )


def write_page(definition: FigureDefinition, drawing: Drawing) -> str:
    """Write the Markdown page of a figure.

    Parameters
    ----------
    definition : FigureDefinition
        The picture beside the page has its name.
    drawing : Drawing
        Its notes and facts follow the caption.

    Returns
    -------
    str
        Text of the file, with a newline at its end.
    """
    title = escape(definition.title)
    parts = [f"# {title}", f"![{title}]({quote(definition.name)}.svg)"]
    parts += map(escape, [definition.caption, *drawing.notes])
    if drawing.facts:
        parts.append(pipe(drawing.facts, drawing.header, n_left=len(drawing.header)))
    return "\n\n".join(parts) + "\n"
