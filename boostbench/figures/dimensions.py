"""A table's numbers against what its rows vary, such as the dimension of an embedding."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

from boostbench.errors import UserError
from boostbench.experiment.archive import Recorded
from boostbench.experiment.quantities import TEST_ERROR
from boostbench.figures.definition import FigureDefinition
from boostbench.figures.drawing import Drawing
from boostbench.figures.style import PAGE_WIDTH, label, marked_line, style
from boostbench.figures.tables import find_cells, lacking, stale_cells
from boostbench.figures.times import Panel
from boostbench.report.numbers import mean_std

_HEIGHT = 2.6  # inches
_DPI = 170

#: By what is varied, the mean and the standard deviation of the splits, in percent.
Line = Mapping[int, tuple[float, float]]


def draw_dimensions(
    panels: Mapping[str, Mapping[str, Line]], titles: Sequence[str], varied: str
) -> Figure:
    """Draw a line for each algorithm in each panel; bars are standard deviations.

    Parameters
    ----------
    panels : mapping
        By the title of a panel and by algorithm, test errors by what is varied.
    titles : sequence of str
        The algorithms, each of which has one look in all panels.
    varied : str
        What stands along the horizontal axis.

    Returns
    -------
    matplotlib.figure.Figure
    """
    with style():
        figure = Figure(figsize=(PAGE_WIDTH, _HEIGHT), dpi=_DPI, layout="constrained")
        figure.get_layout_engine().set(w_pad=0.03, h_pad=0.03, wspace=0.02)
        grid = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, (title, lines) in zip(grid, panels.items(), strict=True):
            axes.set_title(title, pad=3)
            for name, line in lines.items():
                means, deviations = zip(*line.values(), strict=True)
                look = marked_line(titles.index(name))
                axes.errorbar(line.keys(), means, deviations, elinewidth=0.5, **look)
            values = sorted({value for line in lines.values() for value in line})
            axes.set_ylim(bottom=0)
            # Values next to each other would be written over each other.
            axes.xaxis.set_major_locator(FixedLocator(_apart(values)))
            axes.xaxis.set_minor_locator(NullLocator())
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_major_formatter(StrMethodFormatter("{x:g}"))
            axes.grid(axis="y")
            axes.set_axisbelow(True)
        grid[0].set_ylabel("test error (%)")
        figure.supxlabel(varied, fontsize="medium")
        figure.legend(
            [grid[0].plot([], [], **marked_line(index))[0] for index in range(len(titles))],
            [label(title) for title in titles],
            loc="outside upper center",
            frameon=False,
            ncols=4,
        )
    return figure


@dataclass(frozen=True, kw_only=True)
class Dimensions(FigureDefinition):
    """Test errors against what the rows of tables vary.

    Attributes
    ----------
    varied : str
        What that is, in words.
    panels : list of Panel
        Pictures, side by side; those of one title, of several tables, are one picture.
    """

    varied: str
    panels: list[Panel]

    def draw(self, overrides: list[str]) -> Drawing:
        """Draw it: see `FigureDefinition.draw`."""
        panels, facts, notes, titles = {}, [], [], {}
        for panel in self.panels:
            table, cells, results = find_cells(panel.table, list(panel.rows), overrides)
            lines = panels.setdefault(panel.title, {})
            for row, value in panel.rows.items():
                titles |= dict.fromkeys(cells[row])
                for algorithm, there in cells[row].items():
                    if there.records:
                        lines.setdefault(algorithm, {})[value] = _spread(there)
            notes += lacking(table, cells) + stale_cells(table, cells)
        for title, lines in panels.items():
            if not lines:
                raise UserError(f"figure {self.name}: nothing is recorded of {title}")
            for value in sorted({value for line in lines.values() for value in line}):
                told = (lines.get(name, {}).get(value) for name in titles)
                said = ("-" if one is None else mean_std(*one, TEST_ERROR.digits) for one in told)
                facts.append([f"{title}: {value}", *said])
        return Drawing(
            draw_dimensions(panels, list(titles), self.varied),
            results,
            list(dict.fromkeys(notes)),
            facts,
            [self.varied, *titles],
        )


def _spread(there: Recorded) -> tuple[float, float]:
    errors = [TEST_ERROR.of(record) for record in there.records]
    return fmean(errors), stdev(errors) if len(errors) > 1 else float("nan")


def _apart(values: Sequence[int]) -> list[int]:
    """Leave out values that are too near to the one before, for the width of a panel.

    Examples
    --------
    >>> _apart([2, 3, 5, 8, 27])
    [2, 5, 8, 27]
    """
    kept: list[int] = []
    for value in values:
        if not kept or value - kept[-1] > (values[-1] - values[0]) / 16:
            kept.append(value)
    return kept
