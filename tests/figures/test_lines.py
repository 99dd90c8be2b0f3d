import math

import numpy as np
import pytest
from scipy import stats

pytest.importorskip("matplotlib")

from fitting.examples import CONFIG, measured

from boostbench.figures.curves import best_column, curve_points, curves_headline, draw_curves
from boostbench.figures.lines import draw_times, draw_varied_lines, times_headline
from boostbench.figures.panels import Point, tidy
from boostbench.figures.sources import SplitRecords
from boostbench.fitting.quantities import QUANTITIES

FIRST = [
    measured("mine", checkpoints={"1": 0.5, "10": 0.25}),
    measured("mine", checkpoints={"1": 0.25, "10": 0.0}),
]
SECOND = [measured("mine", checkpoints={"1": 0.75, "10": 0.5, "100": 0.25})]
SECONDS = QUANTITIES["fit"]


def tidy_points(panels):
    return tidy(
        Point(panel, name, x, *np.atleast_1d(numbers))
        for panel, lines in panels.items()
        for name, line in lines.items()
        for x, numbers in line.items()
    )


def curves(panels):
    """Return curves by the titles of their panels and algorithms."""
    return [
        SplitRecords(panel, title, records)
        for panel, lines in panels.items()
        for title, records in lines.items()
    ]


def points_of_a_panel(panel, lines):
    return [
        SplitRecords(panel, title, records, value)
        for title, line in lines.items()
        for value, records in line.items()
    ]


def splits(errors=(), seconds=(), sampling="stratified"):
    """Return records of splits that test a third of the samples that they train on."""
    return [
        measured(
            "mine",
            split=split,
            checkpoints={"10": error / 100},
            seconds={"fit": second},
            n_train=75,
            n_test=25,
            config=CONFIG | {"protocol": {"sampling": sampling}},
        )
        for split, (error, second) in enumerate(
            zip(errors or [0] * len(seconds), seconds or [0] * len(errors), strict=True)
        )
    ]


class TestCurves:
    def test_points_are_means_and_standard_errors_in_percent(self):
        frame = curve_points(curves({"iris": {"A": FIRST}}))
        assert frame.x.tolist() == [1, 10]
        assert frame.y.tolist() == [37.5, 12.5]
        assert frame.error.tolist() == pytest.approx([stats.sem([50, 25]), stats.sem([25, 0])])

    def test_points_are_at_checkpoints_of_all_splits(self):
        frame = curve_points(curves({"iris": {"A": FIRST + SECOND}}))
        assert frame.y.tolist() == [50.0, 25.0]

    def test_algorithm_looks_the_same_in_all_panels(self):
        panels = {"iris": {"A": FIRST, "B": SECOND}, "wine": {"A": [], "B": FIRST}}
        iris, wine, legend = draw_curves(curves(panels)).axes
        assert (iris.get_title(), wine.get_title()) == ("iris", "wine")
        assert [line.get_ydata().tolist() for line in iris.lines] == [
            [37.5, 12.5],
            [75.0, 50.0, 25.0],
        ]
        assert len(wine.lines) == 1
        assert wine.lines[0].get_color() == iris.lines[1].get_color() != iris.lines[0].get_color()
        assert [text.get_text() for text in legend.get_legend().get_texts()] == ["A", "B"]
        assert (iris.get_xscale(), iris.get_yscale()) == ("log", "log")

    def test_bands_are_standard_errors_and_need_two_splits(self):
        axes = draw_curves(curves({"iris": {"A": FIRST, "B": SECOND}}), "linear").axes[0]
        (band,) = axes.collections
        x, y = band.get_paths()[0].vertices.T
        assert y[x == 1].max() == pytest.approx(37.5 + 12.5)
        assert y[x == 1].min() == pytest.approx(37.5 - 12.5)
        assert y[x == 10].min() == pytest.approx(1.25)  # not 0, which has no logarithm

    def test_full_rows_have_the_legend_above_them(self):
        figure = draw_curves(curves({name: {"A": FIRST} for name in "abcd"}))
        assert len(figure.axes) == 4
        (legend,) = figure.legends
        assert [text.get_text() for text in legend.get_texts()] == ["A"]
        assert not any(axes.get_legend() for axes in figure.axes)

    def test_linear_error_axis_begins_at_0(self):
        axes = draw_curves(curves({"iris": {"A": FIRST}}), "linear").axes[0]
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "linear")
        assert axes.get_ylim()[0] == 0

    def test_looks_differ_for_more_algorithms_than_colours(self):
        names = list("abcdefghij")
        axes = draw_curves(curves({"iris": dict.fromkeys(names, FIRST)})).axes[0]
        looks = {(line.get_color(), line.get_linestyle(), line.get_marker()) for line in axes.lines}
        assert len(looks) == len(names)

    def test_headline_stands_above_the_panels(self):
        figure = draw_curves(curves({"iris": {"A": FIRST}}), headline="A is best")
        assert figure._suptitle.get_text() == "A is best"


class TestCurvesHeadline:
    def test_headline_names_the_best_over_data_sets(self):
        panels = {
            f"d{n}": {"A": splits([10 + n]), "B": splits([12 + n]), "C": splits([15 + n])}
            for n in range(8)
        }
        assert curves_headline(curves(panels)) == (
            "After 10 rounds A errs least on 8 data sets (Wilcoxon's test, Holm)"
        )

    def test_no_headline_without_significance(self):
        panels = {f"d{n}": {"A": splits([10]), "B": splits([10 + (-1) ** n])} for n in range(8)}
        assert curves_headline(curves(panels)) == ""
        few = {f"d{n}": {"A": splits([10]), "B": splits([12])} for n in range(5)}
        assert curves_headline(curves(few)) == ""  # five pairs cannot show a difference

    def test_headline_names_the_best_on_one_data_set(self):
        panels = {"iris": {"A": splits([10, 11, 12, 11]), "B": splits([20, 22, 21, 21])}}
        assert curves_headline(curves(panels)) == (
            "After 10 rounds A errs least on iris (corrected t-test, Holm)"
        )

    def test_no_headline_for_official_splits(self):
        first, second = (splits(e, sampling="official") for e in ([10, 11, 12], [20, 22, 21]))
        assert curves_headline(curves({"iris": {"A": first, "B": second}})) == ""

    def test_no_headline_for_one_algorithm(self):
        assert curves_headline(curves({"iris": {"A": splits([1, 2]), "B": []}})) == ""
        assert curves_headline(curves({})) == ""

    def test_best_column_equals_its_definition(self):
        rng = np.random.default_rng(0)
        n_found = 0
        for shift in np.linspace(0, 3, 30):
            losses = rng.normal([0, shift, shift], size=(10, 3))
            p = {
                (a, b): stats.wilcoxon(losses[:, a], losses[:, b]).pvalue
                for a, b in [(0, 1), (0, 2), (1, 2)]
            }
            # Holm's correction, written down as its definition.
            steps = sorted(p, key=p.get)
            corrected = {
                pair: max(
                    (3 - k) * p[other] for k, other in enumerate(steps[: steps.index(pair) + 1])
                )
                for pair in steps
            }
            ranks = stats.rankdata(losses, axis=1).mean(axis=0)
            best = int(ranks.argmin())
            is_shown = all(corrected[pair] <= 0.05 for pair in p if best in pair)
            assert best_column(losses) == (best if is_shown else None)
            n_found += is_shown
        assert 0 < n_found < 30


class TestVaried:
    def test_each_algorithm_has_a_line(self, assert_titles_fit):
        panels = {
            "signs": {"A": {2: (40.0, 3.0), 8: (12.0, 1.0)}, "B": {2: (20.0, 2.0)}},
            "letters": {"B": {2: (50.0, math.nan), 3: (40.0, math.nan), 27: (20.0, 1.0)}},
        }
        y_labels = ["test error (%)"] * 2
        figure = draw_varied_lines(
            tidy_points(panels), ["A", "B"], list(panels), "number of dimensions", y_labels
        )
        signs, letters = figure.axes
        assert [axes.get_title() for axes in figure.axes] == ["signs", "letters"]
        a, b = (container.lines[0] for container in signs.containers)
        assert (list(a.get_xdata()), list(a.get_ydata())) == ([2, 8], [40.0, 12.0])
        assert list(b.get_ydata()) == [20.0]
        assert letters.containers[0].lines[0].get_color() == b.get_color() != a.get_color()
        # The ticks 2 and 3 would overlap.
        assert list(letters.get_xticks()) == [2, 27]
        assert signs.get_ylim()[0] == 0
        (legend,) = figure.legends
        assert [text.get_text() for text in legend.get_texts()] == ["A", "B"]
        assert_titles_fit(figure)
        assert (signs.get_ylabel(), letters.get_ylabel()) == ("test error (%)", "")

    def test_quantities_share_a_logarithmic_axis(self, assert_titles_fit):
        panels = {
            "error": {"A": {1e-3: (20.0, 1.0), 0.1: (10.0, 1.0)}},
            "coefficients": {"A": {1e-3: (900.0, 20.0), 0.1: (1.0, 0.0)}},
        }
        y_labels = ["test error (%)", "coefficients that are not 0"]
        figure = draw_varied_lines(
            tidy_points(panels), ["A"], list(panels), "nu", y_labels, scale="log"
        )
        assert [axes.get_ylabel() for axes in figure.axes] == y_labels
        assert {axes.get_xscale() for axes in figure.axes} == {"log"}
        assert_titles_fit(figure)


class TestTimes:
    def test_times_have_logarithmic_axes(self):
        panels = {
            "classes": {"A": {4: 0.5, 8: 1.0}, "B": {4: 20.0}},
            "rounds": {"B": {10: 2.0, 100: 30.0}},
        }
        figure = draw_times(tidy_points(panels), ["A", "B"], headline="B is slow")
        classes, rounds = figure.axes
        assert (classes.get_xlabel(), rounds.get_xlabel()) == ("classes", "rounds")
        assert [list(line.get_ydata()) for line in classes.lines] == [[0.5, 1.0], [20.0]]
        assert list(rounds.lines[0].get_xdata()) == [10, 100]
        assert rounds.lines[0].get_color() == classes.lines[1].get_color()
        assert list(rounds.get_xticks()) == [10, 100]
        assert (rounds.get_xscale(), rounds.get_yscale()) == ("log", "log")
        (legend,) = figure.legends
        assert [text.get_text() for text in legend.get_texts()] == ["A", "B"]
        assert legend.get_title().get_text() == "B is slow"

    def test_label_names_the_part_of_the_training(self):
        frame = tidy_points({"rounds": {"A": {10: 1.0}}})
        parts = ("coefficients", "fit")
        labels = [draw_times(frame, ["A"], part).axes[0].get_ylabel() for part in parts]
        assert labels == ["CPU time of step 4 (s)", "CPU time of training (s)"]

    def test_headline_compares_the_slowest_with_the_fastest(self):
        fast, slow = splits(seconds=[1.9, 2.0, 2.1]), splits(seconds=[4.9, 5.0, 5.1])
        middle = splits(seconds=[3.0, 3.1, 3.2])
        lines = {"A": {10: slow, 100: fast, 200: slow}, "B": {100: slow}, "C": {100: middle}}
        assert times_headline(points_of_a_panel("rounds", lines), SECONDS) == (
            "With 100 rounds B takes 2.5 times as long as A"
        )

    def test_no_headline_without_significance(self):
        first, second = splits(seconds=[1.0, 9.0, 2.0]), splits(seconds=[4.0, 1.0, 8.0])
        assert (
            times_headline(
                points_of_a_panel("rounds", {"A": {1: first}, "B": {1: second}}), SECONDS
            )
            == ""
        )

    def test_no_headline_without_a_shared_number(self):
        first, second = splits(seconds=[1.0, 1.1]), splits(seconds=[9.0, 9.1])
        assert times_headline(points_of_a_panel("rounds", {"A": {10: first}}), SECONDS) == ""
        assert (
            times_headline(
                points_of_a_panel("rounds", {"A": {10: first}, "B": {20: second}}), SECONDS
            )
            == ""
        )
