import pytest

pytest.importorskip("matplotlib")

from boostbench.figures.lines import draw_times, times_headline
from boostbench.figures.panels import Point, tidy


def points(panels):
    return tidy(
        Point(panel, name, x, seconds)
        for panel, lines in panels.items()
        for name, line in lines.items()
        for x, seconds in line.items()
    )


def test_a_line_for_each_algorithm_on_logarithmic_axes():
    panels = {
        "classes": {"A": {4: 0.5, 8: 1.0}, "B": {4: 20.0}},
        "rounds": {"B": {10: 2.0, 100: 30.0}},
    }
    figure = draw_times(points(panels), ["A", "B"])
    classes, rounds = figure.axes
    assert (classes.get_xlabel(), rounds.get_xlabel()) == ("classes", "rounds")
    assert [list(line.get_ydata()) for line in classes.lines] == [[0.5, 1.0], [20.0]]
    assert list(rounds.lines[0].get_xdata()) == [10, 100]
    assert rounds.lines[0].get_color() == classes.lines[1].get_color()
    assert list(rounds.get_xticks()) == [10, 100]
    assert (rounds.get_xscale(), rounds.get_yscale()) == ("log", "log")
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["A", "B"]


def test_the_label_says_what_the_times_are_of():
    panels = {"rounds": {"A": {10: 1.0}}}
    labels = [
        draw_times(points(panels), ["A"], part).axes[0].get_ylabel()
        for part in ("coefficients", "fit")
    ]
    assert labels == ["CPU time of step 4 (s)", "CPU time of training (s)"]


def test_the_message_is_of_the_last_panel_s_largest_shared_value():
    rounds = {"A": {10: 1.0, 100: 2.0, 200: 9.0}, "B": {10: 9.0, 100: 5.0}, "C": {10: 1, 100: 3}}
    panels = {"classes": {"A": {4: 1.0}, "B": {4: 100.0}}, "rounds": rounds}
    assert times_headline(points(panels)) == "With 100 rounds B takes 2.5 times as long as A"
    assert draw_times(points(panels), ["A", "B", "C"]).legends[
        0
    ].get_title().get_text() == times_headline(points(panels))


def test_no_message_where_nothing_is_compared():
    assert times_headline(points({"rounds": {"A": {10: 1.0}}})) == ""
    assert times_headline(points({"rounds": {"A": {10: 1.0}, "B": {20: 1.0}}})) == ""
