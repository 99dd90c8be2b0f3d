"""Comparisons of algorithms: Demšar's diagram of ranks, and the matrix of all pairs."""

from collections.abc import Callable, Sequence
from itertools import permutations
from math import ceil
from operator import itemgetter
from textwrap import fill
from typing import ClassVar, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from boostbench.analysis.comparison import Comparison, PairTest, compare_columns
from boostbench.analysis.result_table import Table
from boostbench.analysis.statistics import LEVEL
from boostbench.analysis.statistics.friedman import Friedman
from boostbench.figures.definition import Drawing
from boostbench.figures.sources import TableFigure, stale_cells
from boostbench.figures.style import COLOURS, DPI, PAGE_WIDTH, break_words, label, style
from boostbench.report.column_tests import comparison_listing
from boostbench.util.errors import UserError
from boostbench.util.numbers import fixed, format_p_value

_RANKS_DPI = 300  # dots per inch, as for line art in print; the matrix is larger and has `DPI`
_FONT_SIZE = 7.5  # points
_LABEL_WIDTH = 30  # characters, then a label is broken

_MARGIN = 0.06  # inches, around the diagram
_GAP = 0.08  # inches between a label and its line
_TOP = 0.62  # inches above the axis, for ticks and the critical difference
_BAR = 0.09  # inches between bars
_LINE = 0.14  # inches, the height of a line of text


class TestBars(NamedTuple):
    """Bars of a test in the diagram of ranks.

    Attributes
    ----------
    test : str
        Name of the test.
    groups : list of (int, int)
        First and last position, by average rank, of each group that the test does not separate.
    """

    test: str
    groups: list[tuple[int, int]]


def draw_critical_difference(table: Table, comparison: Comparison) -> Figure:
    """Draw the average ranks of columns; bars join columns that a test does not separate.

    Upper bars are by Nemenyi's test of average ranks, lower ones by Wilcoxon's test of each pair
    with Holm's correction, which does not depend on the other algorithms. The diagram is from J.
    Demšar, *Statistical comparisons of classifiers over multiple data sets*, JMLR 7, 2006.

    Parameters
    ----------
    table : Table
    comparison : Comparison
        Comparison of three columns of the table or more, with numbers of two data sets or more.

    Returns
    -------
    matplotlib.figure.Figure
    """
    # 1) Decide which algorithms differ, in the order of their ranks: matrices of shape (n, n).
    test = comparison.friedman
    names = sorted(comparison.ranks, key=comparison.ranks.get)
    ranks = np.array([comparison.ranks[name] for name in names])
    significant = [{pair.a, pair.b} for pair in comparison.tests if pair.holm_p <= LEVEL]
    nemenyi = np.abs(ranks[:, None] - ranks) >= test.critical_difference
    wilcoxon = np.array([[{a, b} in significant for b in names] for a in names])
    bars = [
        TestBars("Nemenyi's test", similar_groups(nemenyi)),
        TestBars("Wilcoxon's test (Holm)", similar_groups(wilcoxon)),
    ]
    # 2) Draw the ranks with their labels.
    labels = [break_words(table.columns[name].label, _LABEL_WIDTH) for name in names]
    texts = [label(f"{name}  {rank:.2f}") for name, rank in zip(labels, ranks, strict=True)]
    return _draw_diagram(texts, ranks, test, bars)


def similar_groups(differ: np.ndarray) -> list[tuple[int, int]]:
    """Find the largest groups of neighbours of which no two differ.

    Parameters
    ----------
    differ : ndarray of shape (n, n), bool
        Whether two algorithms differ, in the order of their average ranks.

    Returns
    -------
    list of (int, int)
        Positions of the first and the last algorithm of each group of two or more.

    Examples
    --------
    >>> ranks = np.array([1.0, 1.5, 2.2, 4.0])
    >>> similar_groups(np.abs(ranks[:, None] - ranks) >= 1.0)
    [(0, 1), (1, 2)]
    """
    bars: list[tuple[int, int]] = []
    # A group begins at each position; it counts unless the group before it contains it.
    for first in range(len(differ)):
        sizes = range(first + 1, len(differ) + 1)
        last = max(end for end in sizes if not differ[first:end, first:end].any()) - 1
        if last > first and (not bars or last > bars[-1][1]):
            bars.append((first, last))
    return bars


def _draw_diagram(
    texts: list[str], ranks: np.ndarray, test: Friedman, bars: Sequence[TestBars]
) -> Figure:
    """Draw the diagram of average ranks.

    Parameters
    ----------
    texts : list of str
        Labels of the algorithms, by ascending average rank.
    ranks : ndarray of shape (n_algorithms,)
        Average ranks, ascending.
    test : Friedman
        Test with the critical difference of average ranks.
    bars : sequence of TestBars
        Groups of each test.
    """
    # 1) Divide the labels among the two sides, and compute the size of the figure.
    n_left = ceil(len(texts) / 2)
    # Labels begin below the bars, which have one level for each group.
    bars_height = _BAR * (sum(len(test_bars.groups) for test_bars in bars) + 1)
    label_pitch = _LINE * (1 + max(text.count("\n") for text in texts)) + 0.04
    height = _TOP + bars_height + label_pitch * n_left + _MARGIN
    width = [max(map(_text_width, side), default=0) for side in (texts[:n_left], texts[n_left:])]
    x_left, x_right = _MARGIN + width[0] + _GAP, PAGE_WIDTH - _MARGIN - width[1] - _GAP
    axis_inset = 0.15  # inches, by which the axis ends before the lines of the labels do

    def x(rank: float) -> float:
        """Return the horizontal position of an average rank, in inches."""
        share = (rank - 1) / (len(texts) - 1)
        return x_left + axis_inset + share * (x_right - x_left - 2 * axis_inset)

    with style():
        figure = Figure(figsize=(PAGE_WIDTH, height), dpi=_RANKS_DPI)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, PAGE_WIDTH), ylim=(height - _TOP, -_TOP))  # inches, 0 is the axis
        axes.set_axis_off()
        _draw_axis(axes, x, len(texts))
        _draw_difference(axes, x, test.critical_difference, len(texts))
        # 2) Draw a line from each rank to its label: lower ranks on the left, higher on the right.
        for index, (text, rank) in enumerate(zip(texts, ranks, strict=True)):
            is_left = index < n_left
            row = index if is_left else len(texts) - 1 - index
            y = bars_height + label_pitch * (row + 0.5)
            end = x_left if is_left else x_right
            axes.plot([x(rank), x(rank), end], [0, y, y], color="#444444", linewidth=0.7)
            axes.text(
                end + (-_GAP / 2 if is_left else _GAP / 2),
                y,
                text,
                ha="right" if is_left else "left",
                va="center_baseline",
            )
        # 3) Draw the bars below each other, in the colour of their test.
        level = 0
        for colour, test_bars in zip(COLOURS, bars, strict=False):
            for first, last in test_bars.groups:
                level += 1
                ends = [x(ranks[first]) - 0.03, x(ranks[last]) + 0.03]
                axes.plot(ends, [level * _BAR] * 2, color=colour, linewidth=3, zorder=3)
        _draw_legend(axes, x(len(texts)), [test_bars.test for test_bars in bars])
    return figure


def _draw_legend(axes: Axes, right: float, tests: Sequence[str]) -> None:
    """Name the tests above the axis, in the colours of their bars."""
    names = [
        (f"not separated by {test}", colour) for test, colour in zip(tests, COLOURS, strict=False)
    ]
    for text, colour in reversed(names):
        axes.text(right, -_TOP + 0.06, text, ha="right", va="center", color=colour)
        right -= _text_width(text) + 2 * _GAP


def _draw_axis(axes: Axes, x: Callable[[float], float], n_algorithms: int) -> None:
    """Draw the axis of ranks with a tick at every half; whole ranks have numbers.

    The function `x` gives the horizontal position of a rank, in inches.
    """
    axes.plot([x(1), x(n_algorithms)], [0, 0], color="black", linewidth=0.8)
    for rank in np.arange(1, n_algorithms + 0.5, 0.5):
        is_whole = rank == int(rank)
        axes.plot([x(rank)] * 2, [0, -0.06 if is_whole else -0.03], color="black", linewidth=0.6)
        if is_whole:
            axes.text(x(rank), -0.09, f"{rank:.0f}", ha="center", va="bottom")


def _draw_difference(
    axes: Axes, x: Callable[[float], float], difference: float, n_algorithms: int
) -> None:
    """Draw the critical difference to scale; where it is longer than the axis, only print it."""
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


def _text_width(text: str) -> float:
    """Return the width of a label in inches; mathematics stands between dollars."""
    font = FontProperties(family="DejaVu Sans", size=_FONT_SIZE)
    lines = text.splitlines()
    return max(
        text_to_path.get_text_width_height_descent(line, font, "$" in line)[0] / 72
        for line in lines
    )


_HEADER = ["algorithm", "average rank"]


class Ranks(TableFigure, frozen=True, kw_only=True):
    """Figure of the average ranks of algorithms, and of the groups that tests do not separate."""

    kind: ClassVar[str] = "ranks"

    def draw(self, overrides: list[str]) -> Drawing:
        """Draw the figure: see `FigureDefinition.draw`."""
        table, columns, results = self.read(overrides)
        comparison = compare_columns(table, columns)
        test, paired_numbers = comparison.friedman, comparison.paired_numbers
        if test is None:
            raise UserError(
                f"figure {self.name} needs three algorithms or more, and two data sets or more "
                "with a number of each"
            )
        by_rank = sorted(comparison.ranks.items(), key=itemgetter(1))
        table_rows = [[table.columns[name].label, f"{rank:.2f}"] for name, rank in by_rank]
        notes = [test.sentence(paired_numbers.unit), *filter(None, [paired_numbers.note])]
        notes += stale_cells(table.cells.values())
        return Drawing(
            draw_critical_difference(table, comparison), results, notes, table_rows, _HEADER
        )


_MATRIX_CELL_WIDTH = 0.95  # inches, at least
_MATRIX_CELL_HEIGHT = 0.42  # inches, two lines of text
_MATRIX_MARGIN = 0.1  # inches, at the sides and between the cells and the key
_MATRIX_LABEL_WIDTH = 16  # letters, then a label is broken
_MATRIX_SHADE = 0.75  # opacity of the largest difference where p is 0
_LETTER = 0.058  # inches, mean width of a letter


def draw_matrix(table: Table, comparison: Comparison) -> Figure:
    """Draw the multiple-comparison matrix: in each cell, the row's algorithm against the column's.

    Parameters
    ----------
    table : Table
    comparison : Comparison
        Comparison of its columns, with at least one test.

    Returns
    -------
    matplotlib.figure.Figure
        Rows and columns in the order of average ranks. Blue where the row's algorithm is better,
        orange where it is worse, the paler the nearer the p-value is to 1. A key explains the
        numbers.
    """
    names = sorted(comparison.ranks, key=comparison.ranks.get)
    tests = {(test.a, test.b): test for test in comparison.tests}
    quantity = comparison.paired_numbers.quantity
    n = len(names)
    # 1) Compute the sizes: a cell is as wide as the widest label.
    labels = [label(break_words(table.columns[name].label, _MATRIX_LABEL_WIDTH)) for name in names]
    label_width = max(map(_text_width, labels)) + 2 * _GAP
    cell_width = max(_MATRIX_CELL_WIDTH, label_width)
    label_height = _LINE * max(text.count("\n") + 1 for text in labels) + _GAP
    width = min(label_width + cell_width * n + _MATRIX_MARGIN, 2 * PAGE_WIDTH)
    key = fill(_matrix_key(comparison), int(width / _LETTER))
    key_height = _LINE * (key.count("\n") + 1) + _GAP
    height = label_height + _MATRIX_CELL_HEIGHT * n + key_height + _MATRIX_MARGIN
    largest = max(abs(test.difference) for test in comparison.tests) or 1.0
    colours = LinearSegmentedColormap.from_list("sides", [COLOURS[0], "white", COLOURS[1]])
    norm = TwoSlopeNorm(0, -largest, largest)
    with style():
        figure = Figure(figsize=(width, height), dpi=DPI)
        left_edge, bottom_edge = label_width / width, (key_height + _MATRIX_MARGIN) / height
        top_edge = (height - label_height) / height
        axes_width = 1 - left_edge - _MATRIX_MARGIN / width
        axes = figure.add_axes((left_edge, bottom_edge, axes_width, top_edge - bottom_edge))
        axes.set(xlim=(0, n), ylim=(n, 0))
        # 2) Draw the cells.
        for (i, a), (j, b) in permutations(enumerate(names), 2):
            difference, text, p = _matrix_cell(tests.get((a, b)) or tests[b, a], a, quantity.digits)
            shade = colours(norm(quantity.sign * difference), alpha=_MATRIX_SHADE * (1 - p))
            axes.fill([j, j + 1, j + 1, j], [i, i, i + 1, i + 1], color=shade, linewidth=0)
            weight = "bold" if p <= LEVEL else "normal"
            axes.text(j + 0.5, i + 0.5, text, ha="center", va="center", fontweight=weight)
        # 3) Write the labels and the key.
        centres = [i + 0.5 for i in range(n)]
        axes.set_xticks(centres, labels)
        axes.set_yticks(centres, labels)
        axes.tick_params(length=0, top=False, labeltop=True, bottom=False, labelbottom=False)
        axes.spines[:].set_visible(False)
        figure.text(_MATRIX_MARGIN / width, 0.05 / height, key, va="bottom", fontsize=6.5)
    return figure


def _matrix_key(comparison: Comparison) -> str:
    """Explain the three numbers of a cell and its colour."""
    paired_numbers = comparison.paired_numbers
    unit = paired_numbers.quantity.format_difference("").strip()
    return (
        f"Mean difference, row minus column{f', in {unit}' if unit else ''}; wins/ties/losses of "
        f"the row over {paired_numbers.n_pairs} {paired_numbers.unit}; p of Wilcoxon's "
        f"test after Holm's correction, bold at {LEVEL:g} or less. Blue: the row is better; "
        "orange: worse; pale: p near 1."
    )


def _matrix_cell(test: PairTest, row: str, digits: int) -> tuple[float, str, float]:
    """Return the mean difference of an algorithm's row, the text of the cell, and the p-value."""
    # A test has the difference of its algorithms a and b, and the wins of a.
    is_reversed = test.a != row
    difference = -test.difference if is_reversed else test.difference
    wins, ties, losses = reversed(test.score) if is_reversed else test.score
    p = format_p_value(test.holm_p)
    text = f"{fixed(difference, digits + 1, '+')}\n{wins}/{ties}/{losses}   p {p}"
    return difference, text, test.holm_p


class Matrix(TableFigure, frozen=True, kw_only=True):
    """Figure of all pairs of algorithms of a table."""

    kind: ClassVar[str] = "matrix"

    def draw(self, overrides: list[str]) -> Drawing:
        """Draw the figure: see `FigureDefinition.draw`."""
        table, columns, results = self.read(overrides)
        comparison = compare_columns(table, columns, table.rope)
        listing = comparison_listing(table, comparison)
        if listing is None:
            raise UserError(
                f"figure {self.name} needs two data sets or more with a number of each algorithm"
            )
        notes = [listing.explanation, *filter(None, [comparison.paired_numbers.note])]
        notes += stale_cells(table.cells.values())
        figure = draw_matrix(table, comparison)
        return Drawing(figure, results, notes, listing.rows, listing.heads)
