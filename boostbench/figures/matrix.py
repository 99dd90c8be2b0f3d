"""Every two algorithms of a table: mean difference, wins, ties and losses, and a p-value."""

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import fill

from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm
from matplotlib.figure import Figure

from boostbench.analysis.comparison import Comparison, PairTest, compare_columns
from boostbench.analysis.statistics import LEVEL
from boostbench.analysis.tables import Table
from boostbench.figures.definition import FigureDefinition
from boostbench.figures.drawing import Drawing
from boostbench.figures.style import COLOURS, DPI, PAGE_WIDTH, label, style
from boostbench.figures.tables import OfColumns, stale_cells
from boostbench.report.matrix import matrix_of
from boostbench.util.errors import UserError
from boostbench.util.numbers import fixed, p_value

_CELL = (0.95, 0.42)  # inches
_LABEL_WIDTH = 16  # characters, then a label is broken
_LEFT, _TOP = 1.2, 0.55  # inches, for the labels


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
    width = min(_LEFT + _CELL[0] * n + 0.1, 2 * PAGE_WIDTH)
    height = _TOP + _CELL[1] * n + 0.1
    most = max(abs(test.difference) for test in comparison.tests) or 1.0
    colours = LinearSegmentedColormap.from_list("sides", [COLOURS[0], "white", COLOURS[1]])
    norm = TwoSlopeNorm(0, -most, most)
    with style():
        figure = Figure(figsize=(width, height), dpi=DPI)
        place = (_LEFT / width, 0.1 / height, 1 - (_LEFT + 0.1) / width, 1 - (_TOP + 0.1) / height)
        axes = figure.add_axes(place)
        axes.set(xlim=(0, n), ylim=(n, 0))
        for i, a in enumerate(names):
            for j, b in enumerate(names):
                if i == j:
                    continue
                difference, text, significant = _cell(tests, a, b, quantity.digits)
                shade = colours(norm(quantity.sign * difference), alpha=0.75)
                axes.fill([j, j + 1, j + 1, j], [i, i, i + 1, i + 1], color=shade, linewidth=0)
                weight = "bold" if significant else "normal"
                axes.text(j + 0.5, i + 0.5, text, ha="center", va="center", fontweight=weight)
        labels = [label(fill(table.columns[name].label, _LABEL_WIDTH)) for name in names]
        centres = [i + 0.5 for i in range(n)]
        axes.set_xticks(centres, labels)
        axes.set_yticks(centres, labels)
        axes.tick_params(length=0, top=False, labeltop=True, bottom=False, labelbottom=False)
        axes.spines[:].set_visible(False)
    return figure


def _cell(
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
