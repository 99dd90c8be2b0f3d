"""The page that says what a figure shows."""

from urllib.parse import quote

from boostbench.figures.definition import FigureDefinition
from boostbench.figures.drawing import Drawing
from boostbench.report.renderers.markdown import escape, pipe


def page(definition: FigureDefinition, drawing: Drawing) -> str:
    """Write the Markdown page of a figure.

    Parameters
    ----------
    definition : FigureDefinition
        Its name is that of the picture beside the page.
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
        parts.append(pipe(drawing.facts, drawing.header, left=len(drawing.header)))
    return "\n\n".join(parts) + "\n"
