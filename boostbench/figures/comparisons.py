"""Average ranks of algorithms, and which of them tests separate: Demšar's diagram."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from operator import itemgetter
from textwrap import fill
from typing import ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from boostbench.analysis.comparison import Comparison, PairTest, compare_columns
from boostbench.analysis.statistics import LEVEL
from boostbench.analysis.statistics.friedman import Friedman
from boostbench.analysis.tables import Table
from boostbench.figures.definition import FigureDefinition
from boostbench.figures.drawing import Drawing
from boostbench.figures.style import COLOURS, DPI, PAGE_WIDTH, label, style
from boostbench.figures.tables import OfColumns, stale_cells
from boostbench.report.matrix import matrix_of
from boostbench.util.errors import UserError
from boostbench.util.numbers import fixed, p_value

_DPI = 300
_FONT_SIZE = 7.5  # points
_LABEL_WIDTH = 30  # characters, then a label is broken

# All in inches.
_MARGIN = 0.06
_GAP = 0.08  # between a label and its line
_TOP = 0.62  # above the axis: ticks and the critical difference
_BAR = 0.09  # from one bar to the next
_LINE = 0.14  # of text


def draw_critical_difference(table: Table, comparison: Comparison) -> Figure:
    """Draw the average ranks of columns; bars join those that a test does not separate.

    Upper bars are by Nemenyi's test of average ranks, lower ones by Wilcoxon's test of each two
    with Holm's correction, which does not depend on the other algorithms.

    Parameters
    ----------
    table : Table
    comparison : Comparison
        Of three of its columns or more, with numbers of two data sets or more.

    Returns
    -------
    matplotlib.figure.Figure
    """
    test = comparison.friedman
    names = sorted(comparison.ranks, key=comparison.ranks.get)
    ranks = np.array([comparison.ranks[name] for name in names])
    significant = [{pair.a, pair.b} for pair in comparison.tests if pair.holm <= LEVEL]
    bars = {
        "Nemenyi's test": groups(np.abs(ranks[:, None] - ranks) >= test.critical_difference),
        "Wilcoxon's (Holm)": groups(
            np.array([[{a, b} in significant for b in names] for a in names])
        ),
    }
    labels = [fill(table.columns[name].label, _LABEL_WIDTH) for name in names]
    texts = [label(f"{name}  {rank:.2f}") for name, rank in zip(labels, ranks, strict=True)]
    return _draw(texts, ranks, test, bars)


def groups(differ: np.ndarray) -> list[tuple[int, int]]:
    """Find the largest groups of neighbours of which no two differ.

    Parameters
    ----------
    differ : ndarray of shape (n, n), bool
        Whether two algorithms differ, in the order of their average ranks.

    Returns
    -------
    list of (int, int)
        First and last of each group of two or more.

    Examples
    --------
    >>> ranks = np.array([1.0, 1.5, 2.2, 4.0])
    >>> groups(np.abs(ranks[:, None] - ranks) >= 1.0)
    [(0, 1), (1, 2)]
    """
    bars: list[tuple[int, int]] = []
    for first in range(len(differ)):
        sizes = range(first + 1, len(differ) + 1)
        last = max(end for end in sizes if not differ[first:end, first:end].any()) - 1
        if last > first and (not bars or last > bars[-1][1]):
            bars.append((first, last))
    return bars


def _draw(
    texts: list[str], ranks: np.ndarray, test: Friedman, bars: Mapping[str, list[tuple[int, int]]]
) -> Figure:
    n_left = ceil(len(texts) / 2)
    below = _BAR * (sum(map(len, bars.values())) + 1)  # from the axis to the first label
    pitch = _LINE * (1 + max(text.count("\n") for text in texts)) + 0.04
    height = _TOP + below + pitch * n_left + _MARGIN
    width = [max(map(_width, side), default=0) for side in (texts[:n_left], texts[n_left:])]
    left, right = _MARGIN + width[0] + _GAP, PAGE_WIDTH - _MARGIN - width[1] - _GAP
    inner = 0.15  # the axis ends before the labels' lines do

    def x(rank: float) -> float:
        share = (rank - 1) / (len(texts) - 1)
        return left + inner + share * (right - left - 2 * inner)

    with style():
        figure = Figure(figsize=(PAGE_WIDTH, height), dpi=_DPI)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, PAGE_WIDTH), ylim=(height - _TOP, -_TOP))  # inches, 0 is the axis
        axes.set_axis_off()
        _draw_axis(axes, x, len(texts))
        _draw_difference(axes, x, test.critical_difference, len(texts))
        for index, (text, rank) in enumerate(zip(texts, ranks, strict=True)):
            on_left = index < n_left
            row = index if on_left else len(texts) - 1 - index
            y = below + pitch * (row + 0.5)
            end = left if on_left else right
            axes.plot([x(rank), x(rank), end], [0, y, y], color="#444444", linewidth=0.7)
            axes.text(
                end + (-_GAP / 2 if on_left else _GAP / 2),
                y,
                text,
                ha="right" if on_left else "left",
                va="center_baseline",
            )
        level = 0
        for colour, own in zip(COLOURS, bars.values(), strict=False):
            for first, last in own:
                level += 1
                ends = [x(ranks[first]) - 0.03, x(ranks[last]) + 0.03]
                axes.plot(ends, [level * _BAR] * 2, color=colour, linewidth=3, zorder=3)
        _draw_legend(axes, x(len(texts)), list(bars))
    return figure


def _draw_legend(axes: Axes, right: float, tests: Sequence[str]) -> None:
    """Name the tests above the axis, in the colours of their bars."""
    names = [("not separated by", "black"), *zip(tests, COLOURS, strict=False)]
    for text, colour in reversed(names):
        axes.text(right, -_TOP + 0.06, text, ha="right", va="center", color=colour)
        right -= _width(text) + 2 * _GAP


def _draw_axis(axes: Axes, x, n_algorithms: int) -> None:
    axes.plot([x(1), x(n_algorithms)], [0, 0], color="black", linewidth=0.8)
    for rank in np.arange(1, n_algorithms + 0.5, 0.5):
        whole = rank == int(rank)
        axes.plot([x(rank)] * 2, [0, -0.06 if whole else -0.03], color="black", linewidth=0.6)
        if whole:
            axes.text(x(rank), -0.09, f"{rank:.0f}", ha="center", va="bottom")


def _draw_difference(axes: Axes, x, difference: float, n_algorithms: int) -> None:
    """Draw the critical difference to scale; where it is longer than the axis, only tell it."""
    text = f"critical difference {difference:.2f}"
    y = -_TOP + 0.30
    if difference > n_algorithms - 1:
        text += " (not drawn)"
    else:
        axes.plot([x(1), x(1 + difference)], [y, y], color=COLOURS[0], linewidth=1.5)
        for rank in (1, 1 + difference):
            axes.plot([x(rank)] * 2, [y - 0.03, y + 0.03], color=COLOURS[0], linewidth=0.8)
    axes.text(x(1), y - 0.06, text, va="bottom")
    axes.text(x(n_algorithms), y - 0.06, "average rank, 1 is best", ha="right", va="bottom")


def _width(text: str) -> float:
    """Measure a label, in inches."""
    font = FontProperties(family="DejaVu Sans", size=_FONT_SIZE)
    lines = text.splitlines()
    return max(
        text_to_path.get_text_width_height_descent(line, font, "$" in line)[0] / 72
        for line in lines
    )


_RANKED = ["algorithm", "average rank"]


@dataclass(frozen=True, kw_only=True)
class Ranks(OfColumns, FigureDefinition):
    """Average ranks of algorithms, and which of them tests do not separate."""

    kind: ClassVar[str] = "ranks"

    def draw(self, overrides: list[str]) -> Drawing:
        """Draw it: see `FigureDefinition.draw`."""
        table, columns, results = self.read(overrides)
        comparison = compare_columns(table, columns)
        test, pairs = comparison.friedman, comparison.pairs
        if test is None:
            raise UserError(
                f"figure {self.name} needs three algorithms or more, and two data sets or more "
                "with a number of each"
            )
        by_rank = sorted(comparison.ranks.items(), key=itemgetter(1))
        facts = [[table.columns[name].label, f"{rank:.2f}"] for name, rank in by_rank]
        notes = [test.sentence(pairs.unit), *filter(None, [pairs.note])]
        notes += stale_cells(table.cells.values())
        return Drawing(draw_critical_difference(table, comparison), results, notes, facts, _RANKED)


_MATRIX_CELL = (0.95, 0.42)  # inches
_MATRIX_LABEL_WIDTH = 16  # characters, then a label is broken
_MATRIX_LEFT, _MATRIX_TOP = 1.2, 0.55  # inches, for the labels


def draw_matrix(table: Table, comparison: Comparison) -> Figure:
    """Draw the multiple-comparison matrix: in each cell, the row's algorithm against the column's.

    Parameters
    ----------
    table : Table
    comparison : Comparison
        Of its columns; with at least one test.

    Returns
    -------
    matplotlib.figure.Figure
        Rows and columns in the order of average ranks. Blue where the row's algorithm is better.
    """
    names = sorted(comparison.ranks, key=comparison.ranks.get)
    tests = {(test.a, test.b): test for test in comparison.tests}
    quantity = comparison.pairs.quantity
    n = len(names)
    width = min(_MATRIX_LEFT + _MATRIX_CELL[0] * n + 0.1, 2 * PAGE_WIDTH)
    height = _MATRIX_TOP + _MATRIX_CELL[1] * n + 0.1
    most = max(abs(test.difference) for test in comparison.tests) or 1.0
    colours = LinearSegmentedColormap.from_list("sides", [COLOURS[0], "white", COLOURS[1]])
    norm = TwoSlopeNorm(0, -most, most)
    with style():
        figure = Figure(figsize=(width, height), dpi=DPI)
        place = (
            _MATRIX_LEFT / width,
            0.1 / height,
            1 - (_MATRIX_LEFT + 0.1) / width,
            1 - (_MATRIX_TOP + 0.1) / height,
        )
        axes = figure.add_axes(place)
        axes.set(xlim=(0, n), ylim=(n, 0))
        for i, a in enumerate(names):
            for j, b in enumerate(names):
                if i == j:
                    continue
                difference, text, significant = _matrix_cell(tests, a, b, quantity.digits)
                shade = colours(norm(quantity.sign * difference), alpha=0.75)
                axes.fill([j, j + 1, j + 1, j], [i, i, i + 1, i + 1], color=shade, linewidth=0)
                weight = "bold" if significant else "normal"
                axes.text(j + 0.5, i + 0.5, text, ha="center", va="center", fontweight=weight)
        labels = [label(fill(table.columns[name].label, _MATRIX_LABEL_WIDTH)) for name in names]
        centres = [i + 0.5 for i in range(n)]
        axes.set_xticks(centres, labels)
        axes.set_yticks(centres, labels)
        axes.tick_params(length=0, top=False, labeltop=True, bottom=False, labelbottom=False)
        axes.spines[:].set_visible(False)
    return figure


def _matrix_cell(
    tests: Mapping[tuple[str, str], PairTest], a: str, b: str, digits: int
) -> tuple[float, str, bool]:
    """Give the mean difference of `a` and `b`, what is written, and whether it is significant."""
    test = tests.get((a, b)) or tests[b, a]
    turned = test.a != a
    difference = -test.difference if turned else test.difference
    wins, ties, losses = reversed(test.score) if turned else test.score
    text = f"{fixed(difference, digits + 1, '+')}\n{wins}/{ties}/{losses}   p {p_value(test.holm)}"
    return difference, text, test.holm <= LEVEL


@dataclass(frozen=True, kw_only=True)
class Matrix(OfColumns, FigureDefinition):
    """Every two algorithms of a table."""

    kind: ClassVar[str] = "matrix"

    def draw(self, overrides: list[str]) -> Drawing:
        """Draw it: see `FigureDefinition.draw`."""
        table, columns, results = self.read(overrides)
        comparison = compare_columns(table, columns, table.rope)
        listing = matrix_of(table, comparison)
        if listing is None:
            raise UserError(
                f"figure {self.name} needs two data sets or more with a number of each algorithm"
            )
        notes = [listing.explanation, *filter(None, [comparison.pairs.note])]
        notes += stale_cells(table.cells.values())
        figure = draw_matrix(table, comparison)
        return Drawing(figure, results, notes, listing.rows, listing.heads)
