import pytest

pytest.importorskip("matplotlib")

from boostbench.figures.lines import curve_points, curves_headline, draw_curves

FIRST = [{"checkpoints": {"1": 0.5, "10": 0.25}}, {"checkpoints": {"1": 0.25, "10": 0.0}}]
SECOND = [{"checkpoints": {"1": 0.75, "10": 0.5, "100": 0.25}}]


def mean_errors(records):
    frame = curve_points({"iris": {"A": records}})
    return frame.x.tolist(), frame.y.tolist()


def test_means_over_splits_in_percent():
    assert mean_errors(FIRST) == ([1, 10], [37.5, 12.5])


def test_only_checkpoints_that_all_splits_have():
    assert mean_errors(FIRST + SECOND) == ([1, 10], [50.0, 25.0])


def test_a_panel_for_each_data_set_and_one_look_for_each_algorithm():
    panels = {"iris": {"A": FIRST, "B": SECOND}, "wine": {"A": [], "B": FIRST}}
    iris, wine, legend = draw_curves(panels).axes
    assert (iris.get_title(), wine.get_title()) == ("iris", "wine")
    assert [list(line.get_ydata()) for line in iris.lines] == [[37.5, 12.5], [75.0, 50.0, 25.0]]
    assert len(wine.lines) == 1
    assert wine.lines[0].get_color() == iris.lines[1].get_color() != iris.lines[0].get_color()
    assert [text.get_text() for text in legend.get_legend().get_texts()] == ["A", "B"]
    assert (iris.get_xscale(), iris.get_yscale()) == ("log", "log")


def test_full_rows_have_the_legend_above_them():
    figure = draw_curves({name: {"A": FIRST} for name in "abcd"})
    assert len(figure.axes) == 4
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["A"]
    assert not any(axes.get_legend() for axes in figure.axes)


def test_errors_on_a_linear_axis_begin_at_0():
    axes = draw_curves({"iris": {"A": FIRST}}, "linear").axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "linear")
    assert axes.get_ylim()[0] == 0


def test_more_algorithms_than_colours_can_be_told_apart():
    names = list("abcdefghij")
    axes = draw_curves({"iris": dict.fromkeys(names, FIRST)}).axes[0]
    looks = {(line.get_color(), line.get_linestyle(), line.get_marker()) for line in axes.lines}
    assert len(looks) == len(names)


def test_the_message_is_who_errs_least_in_the_end():
    first, second = FIRST, [{"checkpoints": {"1": 0.1, "10": 0.3}}]
    assert (
        curves_headline({"iris": {"A": first, "B": second}})
        == "After 10 rounds A errs least on iris"
    )
    panels = {"iris": {"A": first, "B": second}, "wine": {"A": second, "B": first, "C": second}}
    assert curves_headline(panels) == "After 10 rounds A and B err least on 1 of 2 data sets"
    # Equal as printed, at the last checkpoint that all have.
    panels = {"iris": {"A": FIRST, "B": [{"checkpoints": {"10": 0.12499, "100": 0.0}}]}}
    assert curves_headline(panels) == "After 10 rounds A and B err least on iris"
    assert curves_headline({"iris": {"A": FIRST, "B": []}}) == ""
    assert curves_headline({}) == ""
    assert draw_curves(panels, headline="A is best")._suptitle.get_text() == "A is best"
