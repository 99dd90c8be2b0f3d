import pytest

pytest.importorskip("matplotlib")

from boostbench.analysis.comparison import compare_columns
from boostbench.figures.comparisons import draw_matrix

#: Of three algorithms on six data sets; b is best, then a.
ERRORS = {
    "a": [10.1, 12.2, 20.3, 5.4, 8.5, 9.6],
    "b": [10.0, 12.0, 20.0, 5.0, 8.0, 9.0],
    "c": [15.0, 13.0, 21.0, 5.0, 18.0, 12.0],
}


def test_a_cell_for_each_of_two(make_cell, make_table):
    cells = {
        (f"d{row}", name): make_cell([errors[row]])
        for name, errors in ERRORS.items()
        for row in range(6)
    }
    table = make_table(cells)
    figure = draw_matrix(table, compare_columns(table))
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["B", "A", "C"]
    texts = {text.get_position(): text.get_text() for text in axes.texts}
    assert len(texts) == 6
    # The row's algorithm minus the column's, and the same turned around.
    assert texts[1.5, 0.5] == "-0.35\n6/0/0   p 0.094"
    assert texts[0.5, 1.5] == "+0.35\n0/0/6   p 0.094"
    # Blue where the row is better, orange where it is worse.
    colours = {tuple(patch.get_xy().min(axis=0)): patch.get_facecolor() for patch in axes.patches}
    red, _, blue, _ = colours[2, 0]
    assert blue > red
    red, _, blue, _ = colours[0, 2]
    assert red > blue
