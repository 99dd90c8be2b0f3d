"""CPU time against what a table varies, from means over the records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, LogLocator, NullLocator, StrMethodFormatter

from boostbench.experiment.quantities import QUANTITIES, ROUNDS
from boostbench.figures.definition import FigureDefinition
from boostbench.figures.drawing import Drawing, sentence
from boostbench.figures.style import headline, make_panels, mark, marked_line, style
from boostbench.figures.tables import find_cells, lacking, stale_cells
from boostbench.records.archive import Recorded
from boostbench.report import numbers

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
            axes.set(xscale="log", yscale="log", xlabel=varied)
            values = sorted({value for seconds in lines.values() for value in seconds})
            axes.xaxis.set_major_locator(FixedLocator(values))
            axes.yaxis.set_major_locator(LogLocator())
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_major_formatter(StrMethodFormatter("{x:g}"))
                axis.set_minor_locator(NullLocator())
            axes.grid(axis="y")
            axes.set_axisbelow(True)
        grid[0].set_ylabel(_LABELS[part])
        headline(figure, message(panels), mark(titles))
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
    times = lines[most][last] / lines[least][last]
    return f"With {last} {varied} {most} takes {times:.2g} times as long as {least}"


@dataclass(frozen=True)
class Panel:
    """A picture of CPU times.

    Attributes
    ----------
    title : str
        What the rows vary, in words.
    table : str
        The table whose records are drawn.
    rows : dict of str to int
        Rows of it, and where each stands on the horizontal axis.
    """

    title: str
    table: str
    rows: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class Times(FigureDefinition):
    """The CPU time of training, or of its coefficients, against what the rows of a table vary.

    Attributes
    ----------
    panels : list of Panel
        Pictures, side by side.
    seconds : {"coefficients", "fit"}, default="coefficients"
        Which time.
    """

    panels: list[Panel]
    seconds: Literal["coefficients", "fit"] = "coefficients"

    def draw(self, overrides: list[str]) -> Drawing:
        """Draw it: see `FigureDefinition.draw`."""
        panels, facts, notes, labels = {}, [], [], {}
        for panel in self.panels:
            table, cells, results = find_cells(panel.table, list(panel.rows), overrides)
            lines = panels.setdefault(panel.title, {})
            for row, value in panel.rows.items():
                for algorithm, there in cells[row].items():
                    labels[algorithm] = None
                    if there.records:
                        lines.setdefault(algorithm, {})[value] = _seconds(there, self.seconds)
                spent = (_spent(there, self.seconds) for there in cells[row].values())
                facts.append([f"{panel.title}: {value}", *spent])
            notes += lacking(table, cells) + stale_cells(table, cells)
        return Drawing(
            draw_times(panels, list(labels), self.seconds),
            results,
            [*sentence(message(panels)), *dict.fromkeys(notes)],
            facts,
            ["CPU seconds", *labels],
        )


def _seconds(there: Recorded, part: str) -> float:
    return QUANTITIES[part].mean(there.records)


def _spent(there: Recorded, part: str) -> str:
    if not there.records:
        return "-"
    rounds = ROUNDS.mean(there.records)
    return f"{numbers.seconds(_seconds(there, part))} ({rounds:.0f} rounds)"
