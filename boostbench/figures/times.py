"""CPU time against what a table varies, from means over the records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from boostbench.figures.definition import FigureDefinition
from boostbench.figures.drawing import Drawing, sentence
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
from boostbench.fitting.quantities import QUANTITIES, ROUNDS, Quantity
from boostbench.util import numbers

_HEIGHT = 2.3  # inches
_LABELS = {"coefficients": "CPU time of step 4 (s)", "fit": "CPU time of training (s)"}


def draw_times(
    panels: Mapping[str, Mapping[str, Mapping[int, float]]],
    titles: Sequence[str],
    part: str = "coefficients",
) -> Figure:
    """Draw a line for each algorithm in each panel, on logarithmic axes.

    Parameters
    ----------
    panels : mapping
        By what is varied and by algorithm, CPU seconds by value.
    titles : sequence of str
        The algorithms, each of which has one look in all panels.
    part : {"coefficients", "fit"}, default="coefficients"
        What the times are of.

    Returns
    -------
    matplotlib.figure.Figure
    """
    with style():
        figure, grid, _ = make_panels(len(panels), len(panels), _HEIGHT, pad=0.03, sharey=True)
        for axes, (varied, lines) in zip(grid, panels.items(), strict=True):
            for title, seconds in lines.items():
                axes.plot(seconds.keys(), seconds.values(), **marked_line(titles.index(title)))
            axes.set(xscale="log", yscale="log", xlabel=label(varied))
            values = sorted({value for seconds in lines.values() for value in seconds})
            axes.yaxis.set_major_locator(LogLocator())
            plain_ticks(axes.xaxis, values)
            plain_ticks(axes.yaxis)
            axes.grid(axis="y")
        grid[0].set_ylabel(_LABELS[part])
        put_message(figure, message(panels), mark(titles))
    return figure


def message(panels: Mapping[str, Mapping[str, Mapping[int, float]]]) -> str:
    """Say who takes longest in the end of the last panel, and how many times the least.

    Parameters
    ----------
    panels : mapping
        As of `draw_times`.

    Returns
    -------
    str
        Empty for fewer than two lines.
    """
    varied, lines = list(panels.items())[-1]
    shared = set.intersection(*map(set, lines.values())) if len(lines) > 1 else set()
    if not shared:
        return ""
    last = max(shared)
    least, *_, most = sorted(lines, key=lambda title: lines[title][last])
    times = numbers.ratio(lines[most][last] / lines[least][last])
    return f"With {last} {varied} {most} takes {times} times as long as {least}"


@dataclass(frozen=True)
class CountPanel(LinesPanel):
    """A picture of what varies a whole number."""

    rows: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class Times(FigureDefinition):
    """The CPU time of training, or of its coefficients, against what the rows of a table vary.

    Attributes
    ----------
    panels : list of CountPanel
        Pictures, side by side.
    seconds : {"coefficients", "fit"}, default="coefficients"
        Which time.
    """

    panels: list[CountPanel]
    seconds: Literal["coefficients", "fit"] = "coefficients"

    def draw(self, overrides: list[str]) -> Drawing:
        """Draw it: see `FigureDefinition.draw`."""
        part = QUANTITIES[self.seconds]
        parts = {panel.title: part for panel in self.panels}
        lines, titles, notes, results = find_lines(self.panels, parts, overrides)
        panels = {
            panel: {
                name: {value: part.mean(records) for value, records in line.items()}
                for name, line in own.items()
            }
            for panel, own in lines.items()
        }
        facts = [
            [
                f"{panel.title}: {value}",
                *(_spent(lines[panel.title].get(name, {}).get(value), part) for name in titles),
            ]
            for panel in self.panels
            for value in panel.rows.values()
        ]
        return Drawing(
            draw_times(panels, titles, self.seconds),
            results,
            [*sentence(message(panels)), *notes],
            facts,
            ["CPU seconds", *titles],
        )


def _spent(records: list[dict] | None, part: Quantity) -> str:
    if records is None:
        return "-"
    rounds = ROUNDS.mean(records)
    done = "" if rounds is None else f" ({rounds:.0f} rounds)"
    return f"{numbers.seconds(part.mean(records))}{done}"
