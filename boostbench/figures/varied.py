"""A table's numbers against what its rows vary, such as the dimension of an embedding."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Literal

from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator, StrMethodFormatter

from boostbench.figures.definition import FigureDefinition
from boostbench.figures.drawing import Drawing, name_axis, sentence, winners
from boostbench.figures.style import (
    label,
    make_panels,
    mark,
    marked_line,
    plain_ticks,
    put_message,
    style,
)
from boostbench.figures.tables import LinesPanel, find_lines
from boostbench.fitting.quantities import TEST_ERROR, Quantity, get_quantity
from boostbench.util.numbers import mean_std

_HEIGHT = 2.6  # inches

#: By what is varied, the mean and the standard deviation of the splits.
Line = Mapping[float, tuple[float, float]]


def draw_varied(
    panels: Mapping[str, Mapping[str, Line]],
    titles: Sequence[str],
    varied: str,
    heights: Mapping[str, str],
    scale: str = "linear",
    message: str = "",
) -> Figure:
    """Draw a line for each algorithm in each panel; bars are standard deviations.

    Parameters
    ----------
    panels : mapping
        By the title of a panel and by algorithm, numbers by what is varied.
    titles : sequence of str
        The algorithms, each of which has one look in all panels; empty for one that needs no name.
    varied : str
        What stands along the horizontal axis.
    heights : mapping
        By the title of a panel, what stands along its vertical axis.
    scale : {"linear", "log"}, default="linear"
        Of the horizontal axis.
    message : str, default=""
        What it shows, above the panels.

    Returns
    -------
    matplotlib.figure.Figure
    """
    with style():
        figure, grid, _ = make_panels(len(panels), len(panels), _HEIGHT, pad=0.03)
        named = ""
        for axes, (title, lines) in zip(grid, panels.items(), strict=True):
            axes.set_title(label(title), pad=3)
            axes.set_xscale(scale)
            for name, line in lines.items():
                means, deviations = zip(*line.values(), strict=True)
                look = marked_line(titles.index(name))
                axes.errorbar(line.keys(), means, deviations, elinewidth=0.5, **look)
            axes.set_ylim(bottom=0)
            axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
            if scale == "linear":
                values = sorted({value for line in lines.values() for value in line})
                # Values next to each other would be written over each other.
                plain_ticks(axes.xaxis, _apart(values))
            axes.xaxis.set_minor_locator(NullLocator())
            axes.grid(axis="y")
            if heights[title] != named:
                named = heights[title]
                axes.set_ylabel(named)
        figure.supxlabel(label(varied), fontsize="medium")
        put_message(figure, message, mark([title for title in titles if title]), columns=4)
    return figure


def message(panels: Mapping[str, Mapping[str, Line]]) -> str:
    """Say who errs least at the most points, as printed.

    Parameters
    ----------
    panels : mapping
        As of `draw_varied`; all of test errors.

    Returns
    -------
    str
        Empty where nowhere two algorithms stand beside each other.
    """
    names, most, points = winners(
        {name: line[value][0] for name, line in lines.items() if value in line}
        for lines in panels.values()
        for value in {value for line in lines.values() for value in line}
    )
    return f"Least test error at {most} of {points} points: {' and '.join(names)}" if names else ""


@dataclass(frozen=True)
class QuantityPanel(LinesPanel):
    """A picture of any quantity.

    Attributes
    ----------
    quantity : str, default="test_error"
        What is drawn, one of `boostbench.fitting.quantities`.
    """

    quantity: str = "test_error"


@dataclass(frozen=True, kw_only=True)
class Varied(FigureDefinition):
    """A table's numbers against what its rows vary.

    Attributes
    ----------
    varied : str
        What that is, in words.
    panels : list of QuantityPanel
        Pictures, side by side; those of one title, of several tables, are one picture.
    scale : {"linear", "log"}, default="linear"
        Of the horizontal axis.
    """

    varied: str
    panels: list[QuantityPanel]
    scale: Literal["linear", "log"] = "linear"

    def draw(self, overrides: list[str]) -> Drawing:
        """Draw it: see `FigureDefinition.draw`."""
        quantities = {panel.title: get_quantity(panel.quantity) for panel in self.panels}
        recorded, titles, notes, results = find_lines(self.panels, quantities, overrides)
        panels, facts = {}, []
        for title, own in recorded.items():
            quantity = quantities[title]
            lines = panels[title] = {
                name: {value: _spread(records, quantity) for value, records in line.items()}
                for name, line in own.items()
            }
            for value in sorted({value for line in lines.values() for value in line}):
                spreads = (lines.get(name, {}).get(value) for name in titles)
                texts = (
                    "-" if spread is None else mean_std(*spread, quantity.digits)
                    for spread in spreads
                )
                facts.append([f"{title}: {value:g}", *texts])
        heights = {title: name_axis(quantity) for title, quantity in quantities.items()}
        spreads = message({t: own for t, own in panels.items() if quantities[t] is TEST_ERROR})
        return Drawing(
            draw_varied(panels, titles, self.varied, heights, self.scale, spreads),
            results,
            [*sentence(spreads), *notes],
            facts,
            [self.varied, *titles],
        )


def _spread(records: list[dict], quantity: Quantity) -> tuple[float, float]:
    numbers = [quantity.of(record) for record in records]
    return fmean(numbers), stdev(numbers) if len(numbers) > 1 else float("nan")


def _apart(values: Sequence[float]) -> list[float]:
    """Leave out values that are too near to the one before, for the width of a panel.

    Examples
    --------
    >>> _apart([2, 3, 5, 8, 27])
    [2, 5, 8, 27]
    """
    kept: list[float] = []
    for value in values:
        if not kept or value - kept[-1] > (values[-1] - values[0]) / 16:
            kept.append(value)
    return kept
