"""``boostbench figure``: a paper's figure, drawn from records."""

from collections.abc import Sequence

from rich.console import Console

from boostbench.errors import UserError, writing
from boostbench.figures.drawing import need_matplotlib
from boostbench.report.renderers.printing import print_line


def make_figure(name: str, overrides: Sequence[str]) -> int:
    """Draw a figure as PNG, SVG and PDF under ``results/figures``, with a page about it.

    Decision boundaries, coefficient paths and counts of features that are not on record are
    computed first. Curves and CPU times are drawn of what the records of a table hold.

    Parameters
    ----------
    name : str
        Name of the figure, or path of a YAML file that defines one.
    overrides : sequence of str
        Hydra overrides for all of it.

    Returns
    -------
    int
        0, or 1 when something to be drawn failed.

    Raises
    ------
    UserError
        For what the user can put right; nothing was written then.
    """
    if any(override.startswith("shard=") for override in overrides):
        raise UserError("shard= is for run and table; a figure needs all that it shows")
    need_matplotlib()
    from boostbench.figures.definition import read_figure
    from boostbench.figures.page import page
    from boostbench.figures.style import save

    definition = read_figure(name)
    drawing = definition.draw(list(overrides))
    path = drawing.results / "figures" / definition.name
    written = save(drawing.figure, path, definition.title, definition.caption)
    text = page(
        definition.name,
        definition.title,
        definition.caption,
        drawing.notes,
        drawing.facts,
        drawing.header,
    )
    written.append(path.with_name(f"{path.name}.md"))  # names may have dots
    with writing(written[-1]):
        written[-1].write_text(text, encoding="utf-8")
    console = Console()
    for line in (definition.title, definition.caption, *drawing.notes):
        print_line(console, line)
    print(f"\nwritten: {', '.join(map(str, written))}")
    return int(drawing.failed > 0)
