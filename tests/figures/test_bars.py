from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from boostbench.figures.bars import BarChart, BarsPanel, _groups, draw_bars
from boostbench.fitting.quantities import QUANTITIES
from boostbench.util.errors import UserError


@pytest.fixture
def cells(make_cell):
    def cell(errors, published=None):
        return make_cell(errors, published=published, quantity=QUANTITIES["accuracy"])

    first = {"A": cell([10, 20], (83.0, float("nan"))), "B": cell([5, 5])}
    return {"one": {"wine": first, "iris (old)": {"A": cell([28, 30])}}}


def heights(axes):
    return sorted((patch.get_x(), patch.get_height()) for patch in axes.patches)


def test_a_bar_for_each_mean_in_groups(cells, whole_titles):
    figure = draw_bars(cells)
    whole_titles(figure)
    [axes] = figure.axes
    places, numbers = zip(*heights(axes), strict=True)
    assert numbers == pytest.approx((85, 95, 71))
    assert places[1] - places[0] < 0.5 < places[2] - places[1]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["wine", "iris\n(old)"]
    assert axes.get_ylim()[0] == 70


def test_bars_of_one_title_have_one_colour_and_the_legend_names_them(cells):
    figure = draw_bars(cells | {"two": {"wine": {"B": cells["one"]["wine"]["B"]}}})
    first, second = figure.axes
    ours = {patch.get_height(): patch.get_facecolor() for patch in first.patches}
    assert second.patches[0].get_facecolor() == ours[95]
    assert len(set(ours.values())) == 2
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["A", "B", "published"]


def test_published_numbers_are_lines_across_their_bars(cells):
    [axes] = draw_bars(cells).axes
    lines = [c for c in axes.collections if np.allclose(c.get_color(), [[0, 0, 0, 1]])]
    [[(left, low), (right, high)]] = [line.get_segments()[0] for line in lines]
    assert low == high == 83
    first = min(axes.patches, key=lambda patch: patch.get_x())
    assert left == pytest.approx(first.get_x())
    assert right == pytest.approx(first.get_x() + first.get_width())


def test_without_records_there_is_no_bar(cells, make_cell):
    cells["one"]["wine"]["B"] = make_cell([], quantity=QUANTITIES["accuracy"])
    assert len(draw_bars(cells).axes[0].patches) == 2


def test_a_column_that_the_table_has_not(table):
    with pytest.raises(UserError, match="has no column 'nobody'"):
        _groups(BarsPanel("x", "any", ["nobody"]), table)


def test_the_columns_of_a_panel(table):
    name = next(iter(table.results))
    found = _groups(BarsPanel("x", "any", [name]), replace(table))
    assert list(found) == list(table.rows.values())
    assert {title for bars in found.values() for title in bars} == {table.columns[name].title}


def test_columns_of_one_heading_have_a_bar_each(table_of_rounds):
    panel = BarsPanel("x", "any", ["a@100", "b@100"])
    found = _groups(panel, table_of_rounds)
    assert {title for bars in found.values() for title in bars} == {"A, T=100", "B, T=100"}


def test_panels_of_one_title_are_refused():
    panels = [BarsPanel("x", name, ["samme"]) for name in ("mcboost1", "mcboost2")]
    with pytest.raises(UserError, match="figure mine has panels of one title"):
        BarChart(name="mine", title="", caption="", panels=panels).draw([])
