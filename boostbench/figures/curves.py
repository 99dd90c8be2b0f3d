"""Test error against boosting rounds, from the records of splits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from boostbench.figures.definition import FigureDefinition
from boostbench.figures.drawing import Drawing, sentence, winners
from boostbench.figures.style import (
    label,
    make_panels,
    mark,
    marked_line,
    plain_ticks,
    put_message,
    style,
)
from boostbench.figures.tables import caveats, find_cells
from boostbench.fitting.quantities import TEST_ERROR
from boostbench.util.errors import UserError

_COLUMNS = 4
_PANEL_HEIGHT = 1.6  # inches
_ROOM = 7  # lines of the legend that a panel has room for
# Ticks in a decade, where the axis is longer than about one, and where it is shorter.
_FEW, _MANY = (1, 2, 3, 5), (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8)


def draw_curves(
    panels: Mapping[str, Mapping[str, Sequence[Mapping]]],
    error_axis: str = "log",
    message: str = "",
) -> Figure:
    """Draw the mean test error at the checkpoints, on a logarithmic axis of rounds.

    Parameters
    ----------
    panels : mapping
        By the title of a panel (a data set) and the title of a curve (an algorithm), the records of
        its splits; curves without records are not drawn.
    error_axis : {"log", "linear"}, default="log"
    message : str, default=""
        What the picture shows, above it.

    Returns
    -------
    matplotlib.figure.Figure
    """
    titles = list(dict.fromkeys(title for curves in panels.values() for title in curves))
    with style():
        # Few panels leave one cell for the legend.
        n_columns = min(_COLUMNS, len(panels) + 1)
        figure, grid, free = make_panels(len(panels), n_columns, _PANEL_HEIGHT, pad=0.03)
        for axes, (title, curves) in zip(grid, panels.items(), strict=True):
            axes.set_title(label(title), pad=3)
            _draw(axes, curves, titles, error_axis)
        figure.supxlabel("boosting rounds", fontsize="medium")
        figure.supylabel("test error (%)", fontsize="medium")
        _legend(figure, message, free, titles)
    return figure


def mean_errors(records: Sequence[Mapping]) -> tuple[list[int], list[float]]:
    """Average the test error of splits at the checkpoints that all of them have.

    Parameters
    ----------
    records : sequence of mapping
        Records of splits, at least one.

    Returns
    -------
    rounds : list of int
        Ascending.
    errors : list of float
        In percent.
    """
    shared = set.intersection(*(set(record["checkpoints"]) for record in records))
    rounds = sorted(map(int, shared))
    return rounds, [TEST_ERROR.mean(records, number) for number in rounds]


def message(panels: Mapping[str, Mapping[str, Sequence[Mapping]]]) -> str:
    """Say who errs least in the end, as printed: at the last checkpoint that all curves share.

    Parameters
    ----------
    panels : mapping
        As of `draw_curves`.

    Returns
    -------
    str
        Who does on the most data sets; empty for fewer than two curves.
    """
    curves = {
        title: {n: mean_errors(r) for n, r in own.items() if r} for title, own in panels.items()
    }
    shared = [set(rounds) for own in curves.values() for rounds, _ in own.values()]
    last = max(set.intersection(*shared), default=None) if shared else None
    if last is None:
        return ""
    names, most, _ = winners(
        {name: error[rounds.index(last)] for name, (rounds, error) in own.items()}
        for own in curves.values()
    )
    errs = "err" if len(names) > 1 else "errs"
    sets = f"{most} of {len(curves)} data sets" if len(curves) > 1 else next(iter(curves))
    return f"After {last} rounds {' and '.join(names)} {errs} least on {sets}" if names else ""


def _draw(
    axes: Axes, curves: Mapping[str, Sequence[Mapping]], titles: list[str], error_axis: str
) -> None:
    for title, records in curves.items():
        if records:
            axes.plot(*mean_errors(records), **marked_line(titles.index(title)))
    axes.set(xscale="log", yscale=error_axis)
    if error_axis == "log":
        low, high = axes.get_ylim()
        axes.yaxis.set_major_locator(LogLocator(subs=_FEW if high > 8 * low else _MANY))
    else:
        axes.set_ylim(bottom=0)
    plain_ticks(axes.xaxis, [1, 10, 100, 1000])
    plain_ticks(axes.yaxis)
    axes.grid(axis="y")


def _legend(figure: Figure, message: str, free: Sequence[Axes], titles: list[str]) -> None:
    """Name the lines in the first free cell or, where there is none, above the panels."""
    lines = mark(titles)
    put_message(figure, message, [] if free else lines)
    if free:
        spacing = 0.7 if len(titles) <= _ROOM else 0.4
        free[0].legend(
            handles=lines,
            loc="center left",
            frameon=False,
            labelspacing=spacing,
            borderaxespad=0,
        )


@dataclass(frozen=True, kw_only=True)
class Curves(FigureDefinition):
    """Test error against boosting rounds.

    Attributes
    ----------
    table : str
        The table whose records are drawn.
    columns : list of str
        Its columns; by default all.
    error_axis : {"log", "linear"}, default="log"
        The axis of the test error.
    """

    table: str
    columns: list[str] = field(default_factory=list)
    error_axis: Literal["log", "linear"] = "log"

    def draw(self, overrides: list[str]) -> Drawing:
        """Draw it: see `FigureDefinition.draw`."""
        cells, results = find_cells(self.table, overrides, columns=self.columns)
        recorded = [cell for own in cells.values() for cell in own if cell.records]
        staged = {
            c.title for c in recorded if any(record.get("checkpoints") for record in c.records)
        }
        without = list(dict.fromkeys(c.title for c in recorded if c.title not in staged))
        panels = {
            own[0].data: {cell.title: cell.records for cell in own if cell.title not in without}
            for own in cells.values()
            if any(cell.records for cell in own)
        }
        if not any(panels.values()):
            raise UserError(f"nothing of table {self.table} has a test error after some rounds")
        notes = caveats(cells)
        if without:
            notes.append(f"No curve, as it has no boosting rounds: {', '.join(without)}.")
        text = message(panels)
        drawn = draw_curves(panels, self.error_axis, text)
        return Drawing(drawn, results, [*sentence(text), *notes])
