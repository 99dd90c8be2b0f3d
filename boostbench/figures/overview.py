"""How much is reproduced, as stacked bars."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from boostbench.analysis.verdicts import VERDICTS
from boostbench.figures.style import label, make_panels, style
from boostbench.report.overview import CountedLine

#: The looks of the parts of a bar; what was not run is hatched.
_LOOKS = {verdict: {"facecolor": about.colour} for verdict, about in VERDICTS.items()} | {
    "not run": {"facecolor": "#ffffff", "edgecolor": VERDICTS["not run"].colour, "hatch": "//////"}
}
_BAR_HEIGHT = 0.17  # inches


def draw_overview(lines: Sequence[CountedLine], verdicts: Sequence[str]) -> Figure:
    """Draw a bar for each paper and table, as long as it has published numbers.

    Parameters
    ----------
    lines : sequence of CountedLine
        From top to bottom; those without a published number are left out.
    verdicts : sequence of str
        Those that are in the legend, in the order of the parts of a bar.

    Returns
    -------
    matplotlib.figure.Figure
    """
    lines = [line for line in lines if line.tally.published]
    lengths = [line.tally.published for line in lines if not line.is_paper]
    with style():
        figure, [axes], _ = make_panels(1, 1, _BAR_HEIGHT * (len(lines) + 3))
        for position, line in enumerate(lines):
            if not line.is_paper:
                _draw(axes, position, line)
        axes.set(xlabel="published numbers", xlim=(0, max(lengths, default=1)))
        axes.set_ylim(len(lines) - 0.4, -0.6)
        axes.set_yticks(range(len(lines)), [label(line.title) for line in lines])
        for text, line in zip(axes.get_yticklabels(), lines, strict=True):
            text.set_fontweight("bold" if line.is_paper else "normal")
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.grid(axis="x")
        handles = [Patch(label=verdict, **_LOOKS[verdict]) for verdict in verdicts]
        figure.legend(handles=handles, loc="outside upper left", ncols=len(handles), frameon=False)
    return figure


def _draw(axes: Axes, position: int, line: CountedLine) -> None:
    start = 0
    for verdict, number in line.tally.shown.items():
        axes.barh(position, number, 0.68, left=start, linewidth=0.4, **_LOOKS[verdict])
        start += number
