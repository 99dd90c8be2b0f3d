from dataclasses import replace

import pytest

pytest.importorskip("matplotlib")

from boostbench.analysis.verdicts import COMPARED, VERDICTS
from boostbench.figures.scatter import draw_scatter
from boostbench.fitting.quantities import QUANTITIES
from boostbench.util.errors import UserError


@pytest.fixture
def papers(make_cell, make_table):
    """Return tables of two papers and of a user."""
    cells = {
        ("wine", "a"): make_cell([29, 30, 31], published=(31.0, 3.0)),
        ("glass", "a"): make_cell([1, 2, 3], published=(3.0, 3.0)),
        ("wine", "b"): make_cell([4, 4, 4.3], published=(1.0, 0.2)),
        ("iris", "a"): make_cell([0, 0, 0], published=(0.0, 0.0)),
        ("iris", "b"): make_cell([1, 1, 1.1], published=(9.0, 0.5)),
        ("dna", "a"): make_cell([], published=(9.0, 0.5)),
        ("dna", "b"): make_cell([5, 6]),
    }
    first = replace(make_table(cells), paper="randomboost")
    second = make_table({("glass", "a"): make_cell([20.0], published=(22.0, 1.0))})
    return [first, replace(second, paper="mcboost"), replace(first, paper="")]


def points(axes, verdict):
    """Return the markers of a verdict, from its entry in the legend."""
    (container,) = [c for c in axes.containers if c.get_label().startswith(verdict)]
    return container.lines[0]


def test_each_paper_has_a_panel(papers, assert_titles_fit):
    figure = draw_scatter(papers)
    assert_titles_fit(figure)
    first, second = figure.axes
    assert first.get_title() == "RandomBoost"
    assert second.get_title() == "MCBoost"
    x, y = points(first, "reproduced").get_data()
    assert [*zip(x, y, strict=True)] == [(31, pytest.approx(30)), (0, 0)]
    assert points(first, "worse").get_ydata() == pytest.approx([4.1])
    assert points(first, "better").get_xdata() == pytest.approx([9.0])
    counts = [text.get_text() for text in first.get_legend().get_texts()]
    assert counts == ["reproduced (2)", "better (1)", "worse (1)", "undecided (1)"]


def test_verdicts_have_their_colours_and_differ_in_shape(papers):
    axes = draw_scatter(papers).axes[0]
    lines = {verdict: points(axes, verdict) for verdict in COMPARED}
    assert [line.get_marker() for line in lines.values()] == ["o", "v", "^", "s"]
    for verdict, line in lines.items():
        assert line.get_color() == VERDICTS[verdict].colour


def test_accuracies_have_their_own_panel(papers, make_cell, make_table, assert_titles_fit):
    accuracy = QUANTITIES["accuracy"]
    published = {"wine": (80.0, 1.0), "iris": (97.9, 1.0), "glass": (99.9, 0.1)}
    cells = {
        (row, "a"): make_cell([1, 2, 3], published=number, quantity=accuracy)
        for row, number in published.items()
    }
    third = replace(make_table(cells), paper="rpboost")
    figure = draw_scatter([*papers, third])
    assert_titles_fit(figure)
    assert [axes.get_title() for axes in figure.axes] == [
        "RandomBoost, test error (%)",
        "MCBoost, test error (%)",
        "RpBoost, accuracy (%)",
    ]
    axes = figure.axes[2]
    assert points(axes, "better").get_marker() == "^"
    assert points(axes, "better").get_data() == ([80.0], [98.0])
    assert points(axes, "worse").get_marker() == "v"
    assert axes.get_xscale() == "linear"
    low, high = axes.get_xlim()
    assert 70 < low < 80 < 99.9 < high


def test_published_number_is_drawn_once(make_cell, make_table):
    cells = {
        ("wine", name): make_cell([error, error], published=(3.0, 1.0), source="t:0")
        for name, error in (("a", 2), ("b", 4))
    }
    (axes,) = draw_scatter([make_table(cells, paper="mcboost")]).axes
    counts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert counts == ["reproduced (0)", "better (1)", "worse (0)", "undecided (0)"]
    assert points(axes, "better").get_ydata() == pytest.approx([2.0])


def test_bars_are_95_percent_intervals(papers):
    axes = draw_scatter(papers).axes[0]
    (container,) = [c for c in axes.containers if c.get_label().startswith("reproduced")]
    _, _, (published, ours) = container.lines
    # Ours is 30.0 (1.0) over 3 splits, the paper's 31.0 (3.0) over 10: t is 4.303 and 2.262.
    (_, low), (_, high) = ours.get_segments()[0]
    assert (high - low) / 2 == pytest.approx(4.3027 / 3**0.5, rel=1e-4)
    (low, _), (high, _) = published.get_segments()[0]
    assert (high - low) / 2 == pytest.approx(2.2622 * 3 / 10**0.5, rel=1e-4)


def test_extreme_points_are_inside_the_panel(papers):
    for axes in draw_scatter(papers).axes:
        assert axes.get_xlim() == axes.get_ylim()
        low, high = axes.get_xlim()
        assert low < 0 < 22 < high


def test_scatter_requires_numbers(papers, make_cell, make_table):
    # A single split and a published number without a deviation give no estimate.
    first = make_cell([2.0], published=(3.0, float("nan")), missing=9)
    for tables in (papers[2:], [make_table({("wine", "a"): first}, paper="randomboost")]):
        with pytest.raises(UserError, match="can be set beside a published number"):
            draw_scatter(tables)
