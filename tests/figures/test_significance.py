from itertools import combinations

import numpy as np
import pytest
from scipy import stats

pytest.importorskip("matplotlib")

from matplotlib.backends.backend_agg import FigureCanvasAgg

from boostbench.analysis.comparison import compare_columns
from boostbench.analysis.result_table import Column
from boostbench.analysis.statistics.friedman import friedman
from boostbench.figures.significance import (
    draw_critical_difference,
    draw_matrix,
    similar_groups,
)
from boostbench.figures.style import COLOURS, break_words, label, style

NAMES = [
    "Exponential loss, nu = 1e-9",
    "RBoost^proj (weighted linear discriminants)",
    "AdaBoost.MH",
    "AdaBoost.ECC",
    "SAMME, 3 leaves",
    "An algorithm whose name is so long that nobody would print it",
    "MCBoost-log",
    "A",
]


@pytest.fixture
def draw(make_cell, make_table):
    """Draw the first algorithms on random errors; return the figure and the errors."""

    def draw(n_algorithms, n_data=10, apart=1.0, columns=None):
        rng = np.random.default_rng(n_algorithms)
        errors = rng.random((n_data, n_algorithms)) * 10 + apart * np.arange(n_algorithms)
        errors = errors.round(1)
        cells = {
            (f"d{row}", f"c{i}"): make_cell([error])
            for row, line in enumerate(errors)
            for i, error in enumerate(line)
        }
        shown = {f"c{i}": Column(NAMES[i], NAMES[i]) for i in range(n_algorithms)}
        table = make_table(cells, shown)
        return draw_critical_difference(table, compare_columns(table, columns)), errors

    return draw


def texts(figure):
    return [text.get_text() for text in figure.axes[0].texts]


@pytest.mark.parametrize("n_algorithms", [3, 4, 7, 8])
@pytest.mark.parametrize("apart", [0.0, 2.0])
def test_labels_do_not_overlap(draw, n_algorithms, apart):
    figure, _ = draw(n_algorithms, apart=apart)
    renderer = FigureCanvasAgg(figure).get_renderer()
    with style():
        boxes = [text.get_window_extent(renderer) for text in figure.axes[0].texts]
    assert len(boxes) == 2 * n_algorithms + 4  # labels, ticks, two captions, two tests
    page = figure.bbox
    for index, box in enumerate(boxes):
        assert page.x0 <= box.x0 < box.x1 <= page.x1
        assert page.y0 <= box.y0 < box.y1 <= page.y1
        assert not any(box.overlaps(other) for other in boxes[index + 1 :])


def test_algorithms_stand_at_their_ranks(draw):
    figure, errors = draw(5)
    test = friedman(errors)
    axes = figure.axes[0]
    ticks = {t.get_text(): t.get_position()[0] for t in axes.texts if len(t.get_text()) == 1}
    assert list(ticks) == ["1", "2", "3", "4", "5"]
    starts = [line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 3]
    scale = ticks["2"] - ticks["1"]
    expected = sorted(ticks["1"] + (rank - 1) * scale for rank in test.ranks)
    assert starts == pytest.approx(expected)
    shown = " ".join(texts(figure))
    for name, rank in zip(NAMES, test.ranks, strict=False):
        words = label(name).split()
        assert f"{words[-1]}  {rank:.2f}" in shown
    assert f"critical difference {test.critical_difference:.2f}" in shown


def test_bars_join_algorithms_without_a_difference(draw):
    figure, errors = draw(8, apart=1.5, n_data=12)
    test = friedman(errors)
    ranks = sorted(test.ranks)
    bars = [line for line in figure.axes[0].lines if line.get_linewidth() == 3]
    assert {bar.get_color() for bar in bars} == set(COLOURS[:2])
    expected = similar_groups(np.abs(np.subtract.outer(ranks, ranks)) >= test.critical_difference)
    assert len([bar for bar in bars if bar.get_color() == COLOURS[0]]) == len(expected) > 1
    # Each at a height of its own.
    assert len({bar.get_ydata()[0] for bar in bars}) == len(bars)


def test_groups_equal_enumeration():
    rng = np.random.default_rng(0)
    for _ in range(50):
        ranks = np.sort(rng.integers(2, 17, 7) / 2)
        difference = rng.uniform(0.3, 4)
        alike = [
            (first, last)
            for first in range(7)
            for last in range(first + 1, 7)
            if ranks[last] - ranks[first] < difference
        ]
        largest = [
            (a, b)
            for a, b in alike
            if not any((c <= a and b <= d) for c, d in alike if (a, b) != (c, d))
        ]
        assert similar_groups(np.abs(np.subtract.outer(ranks, ranks)) >= difference) == largest


def test_bars_by_holm_agree_with_the_comparison(draw):
    figure, errors = draw(5, apart=2.0, n_data=9)
    order = np.argsort(friedman(errors).ranks, kind="stable")
    pairs = list(combinations(range(5), 2))
    p = holm_by_definition([stats.wilcoxon(*errors[:, order[[a, b]]].T).pvalue for a, b in pairs])
    differ = {pair for pair, corrected in zip(pairs, p, strict=True) if corrected <= 0.05}
    runs = [
        (a, b)
        for a, b in pairs
        if not any(pair in differ for pair in combinations(range(a, b + 1), 2))
    ]
    largest = [
        run
        for run in runs
        if not any(a <= run[0] and run[1] <= b for a, b in runs if (a, b) != run)
    ]
    bars = [line for line in figure.axes[0].lines if line.get_linewidth() == 3]
    assert 0 < len(differ) < len(pairs)
    assert len([bar for bar in bars if bar.get_color() == COLOURS[1]]) == len(largest)


def holm_by_definition(p):
    """Holm's correction, written down as its definition."""
    n, order = len(p), np.argsort(p)
    stepped = [(n - place) * p[index] for place, index in enumerate(order)]
    return [max(stepped[: list(order).index(index) + 1]) for index in range(n)]


def test_long_critical_difference_is_named(draw):
    figure, _ = draw(3, n_data=2)
    assert "critical difference 2.34 (not drawn)" in texts(figure)


def test_chosen_columns_are_drawn(draw):
    figure, errors = draw(5, columns=["c4", "c0", "c2"])
    ranks = friedman(errors[:, [0, 2, 4]]).ranks
    assert sorted(t[-4:] for t in texts(figure) if "  " in t) == sorted(f"{r:.2f}" for r in ranks)


#: Of three algorithms on six data sets; b is best, then a.
ERRORS = {
    "a": [10.1, 12.2, 20.3, 5.4, 8.5, 9.6],
    "b": [10.0, 12.0, 20.0, 5.0, 8.0, 9.0],
    "c": [15.0, 13.0, 21.0, 5.0, 18.0, 12.0],
}


def test_matrix_has_a_cell_for_each_pair(make_cell, make_table):
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
    key = " ".join(figure.texts[0].get_text().split())
    assert "Mean difference, row minus column, in percentage points; wins/ties/losses" in key
    # Blue where the row is better, orange where it is worse.
    colours = {tuple(patch.get_xy().min(axis=0)): patch.get_facecolor() for patch in axes.patches}
    red, _, blue, _ = colours[2, 0]
    assert blue > red
    red, _, blue, _ = colours[0, 2]
    assert red > blue


def test_cells_are_pale_where_p_is_near_1(make_cell, make_table):
    errors = {"a": [10, 12, 20, 15, 8, 19], "b": [11, 10, 17, 19, 13, 13]}
    cells = {
        (f"d{row}", name): make_cell([numbers[row]])
        for name, numbers in errors.items()
        for row in range(6)
    }
    table = make_table(cells)
    comparison = compare_columns(table)
    assert comparison.tests[0].holm_p > 0.9
    (axes,) = draw_matrix(table, comparison).axes
    assert all(patch.get_facecolor()[3] < 0.1 for patch in axes.patches)


def test_labels_break_between_words():
    assert break_words("AdaBoost.ECC, 1000 rounds", 12).splitlines() == [
        "AdaBoost.ECC,",
        "1000 rounds",
    ]
    assert break_words("MCBoost-exponential", 8) == "MCBoost-exponential"
