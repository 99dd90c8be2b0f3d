"""``boostbench figure``: a paper's figure, drawn from records."""

from collections.abc import Sequence

from boostbench.cli.figures.boundaries import boundaries
from boostbench.cli.figures.drawing import need_matplotlib
from boostbench.cli.figures.features import features
from boostbench.cli.figures.judged import ranks, scatter
from boostbench.cli.figures.paths import paths
from boostbench.cli.figures.recorded import curves, times
from boostbench.definitions.figure import FigureDefinition
from boostbench.errors import writing

_KINDS = {
    "boundaries": boundaries,
    "curves": curves,
    "times": times,
    "paths": paths,
    "features": features,
    "scatter": scatter,
    "ranks": ranks,
}


def make_figure(name: str, overrides: Sequence[str]) -> int:
    """Draw a figure, and write it under ``results/figures`` as PNG and SVG with a page about it.

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
    need_matplotlib()
    from boostbench.report.figures.page import page
    from boostbench.report.figures.style import save

    definition = FigureDefinition.read(name)
    drawing = _KINDS[definition.kind](definition, list(overrides))
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
    written.append(path.with_suffix(".md"))
    with writing(written[-1]):
        written[-1].write_text(text, encoding="utf-8")
    print(definition.title, definition.caption, *drawing.notes, sep="\n")
    print(f"\nwritten: {', '.join(map(str, written))}")
    return int(drawing.failed > 0)
