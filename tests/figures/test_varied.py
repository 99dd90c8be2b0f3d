import math

import pytest

pytest.importorskip("matplotlib")

from boostbench.figures.lines import draw_varied, varied_headline
from boostbench.figures.panels import Point, tidy


def points(panels):
    return tidy(
        Point(panel, name, x, *numbers)
        for panel, lines in panels.items()
        for name, line in lines.items()
        for x, numbers in line.items()
    )


def test_a_line_for_each_algorithm(whole_titles):
    panels = {
        "signs": {"A": {2: (40.0, 3.0), 8: (12.0, 1.0)}, "B": {2: (20.0, 2.0)}},
        "letters": {"B": {2: (50.0, math.nan), 3: (40.0, math.nan), 27: (20.0, 1.0)}},
    }
    figure = draw_varied(
        points(panels), ["A", "B"], "number of dimensions", dict.fromkeys(panels, "test error (%)")
    )
    signs, letters = figure.axes
    assert [axes.get_title() for axes in figure.axes] == ["signs", "letters"]
    a, b = (container.lines[0] for container in signs.containers)
    assert (list(a.get_xdata()), list(a.get_ydata())) == ([2, 8], [40.0, 12.0])
    assert list(b.get_ydata()) == [20.0]
    assert letters.containers[0].lines[0].get_color() == b.get_color() != a.get_color()
    # From 3 to 2 there is no room for two numbers.
    assert list(letters.get_xticks()) == [2, 27]
    assert signs.get_ylim()[0] == 0
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["A", "B"]
    whole_titles(figure)
    assert (signs.get_ylabel(), letters.get_ylabel()) == ("test error (%)", "")


def test_panels_of_several_quantities_on_a_logarithmic_axis(whole_titles):
    panels = {
        "error": {"A": {1e-3: (20.0, 1.0), 0.1: (10.0, 1.0)}},
        "coefficients": {"A": {1e-3: (900.0, 20.0), 0.1: (1.0, 0.0)}},
    }
    heights = {"error": "test error (%)", "coefficients": "coefficients that are not 0"}
    figure = draw_varied(points(panels), ["A"], "nu", heights, scale="log")
    assert [axes.get_ylabel() for axes in figure.axes] == list(heights.values())
    assert {axes.get_xscale() for axes in figure.axes} == {"log"}
    whole_titles(figure)


class TestMessage:
    def test_who_errs_least_at_the_most_points(self):
        panels = {
            "one": {"A": {2: (40.0, 3.0), 8: (12.0, 1.0)}, "B": {2: (20.0, 2.0), 8: (12.04, 1.0)}},
            # Where one stands alone, it beats nobody.
            "two": {"A": {2: (50.0, math.nan), 9: (1.0, 1.0)}, "B": {2: (49.0, 2.0)}},
        }
        assert varied_headline(points(panels)) == "Least test error at 3 of 3 points: B"

    def test_a_tie(self):
        panels = {"one": {"A": {1: (2.0, 0.0), 2: (3.0, 0.0)}, "B": {1: (3.0, 0.0), 2: (2.0, 0.0)}}}
        assert varied_headline(points(panels)) == "Least test error at 1 of 2 points: A and B"

    @pytest.mark.parametrize("panels", [{}, {"one": {"A": {1: (2.0, 0.0)}}}])
    def test_nothing_to_say(self, panels):
        assert varied_headline(points(panels)) == ""

    def test_it_stands_above_the_legend(self, whole_titles):
        panels = {"one": {"A": {1: (2.0, 0.0)}, "B": {1: (3.0, 0.0)}}}
        told = varied_headline(points(panels))
        figure = draw_varied(
            points(panels), ["A", "B"], "n", {"one": "test error (%)"}, headline=told
        )
        assert figure.legends[0].get_title().get_text() == told
        whole_titles(figure)
