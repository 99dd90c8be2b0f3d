import math

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from boostbench.figures.sweep import Setting, draw_sweep
from boostbench.fitting.quantities import QUANTITIES, TEST_ERROR


def points(errors, *keys):
    return [Setting(dict(zip(keys, place, strict=True)), e, 1.0) for place, e in errors.items()]


def texts(axes):
    """Return the texts of a map by column and row, and whether they are bold."""
    return {
        tuple(map(int, text.get_position())): (text.get_text(), text.get_fontweight() == "bold")
        for text in axes.texts
    }


def test_single_numeric_key_is_drawn_as_lines():
    errors = {("10", "wine"): 4.0, ("2", "wine"): 9.0, ("10", "iris"): 3.0, ("2", "iris"): math.nan}
    figure = draw_sweep(points(errors, "algo.n_iterations", "data"), TEST_ERROR)
    (axes,) = figure.axes
    wine, iris = (container.lines[0] for container in axes.containers)
    assert (list(wine.get_xdata()), list(wine.get_ydata())) == ([2, 10], [9, 4])
    assert (list(iris.get_xdata()), list(iris.get_ydata())) == ([10], [3])
    assert axes.get_xscale() == "linear"
    assert axes.get_ylabel() == "test error (%)"


def test_data_paths_are_drawn_as_lines():
    errors = {("a/x.csv", "2"): 9.0, ("a/x.csv", "10"): 4.0, ("b/x.csv", "2"): 3.0}
    (axes,) = draw_sweep(points(errors, "data.path", "algo.n_iterations"), TEST_ERROR).axes
    lines = [container.lines[0] for container in axes.containers]
    assert [list(line.get_ydata()) for line in lines] == [[9, 4], [3]]


def test_long_range_is_logarithmic():
    errors = {("1e-9",): 4.0, ("1e-3",): 9.0}
    figure = draw_sweep(points(errors, "algo.nu"), TEST_ERROR)
    (axes,) = figure.axes
    assert axes.get_xscale() == "log"
    assert figure.legends == []  # one line, of data that no key names


def test_text_keys_are_shaded_by_data_set():
    errors = {("a", "wine"): 4.0, ("b", "wine"): 9.0, ("a", "iris"): 30.0, ("b", "iris"): 20.0}
    (axes,) = draw_sweep(points(errors, "algo", "data"), TEST_ERROR).axes
    assert [text.get_text() for text in axes.get_xticklabels()] == ["a", "b"]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["wine", "iris"]
    assert texts(axes) == {
        **{(0, 0): ("4.0 (1.0)", True), (1, 0): ("9.0 (1.0)", False)},
        **{(0, 1): ("30.0 (1.0)", False), (1, 1): ("20.0 (1.0)", True)},
    }
    np.testing.assert_array_equal(axes.images[0].get_array(), [[0, 1], [1, 0]])


def test_two_numeric_keys_are_drawn_as_maps():
    etas, nus = ("0.5", "0.1", "1"), ("1e-9", "1e-3")
    errors = {
        (data, eta, nu): 10 * i + j + (1 if data == "iris" else 0)
        for data in ("wine", "iris")
        for i, eta in enumerate(etas)
        for j, nu in enumerate(nus)
    }
    del errors["iris", "1", "1e-3"]
    figure = draw_sweep(points(errors, "data", "algo.eta", "algo.nu"), TEST_ERROR)
    assert [axes.get_title() for axes in figure.axes] == ["wine", "iris"]
    wine, iris = figure.axes
    # The key with more values lies along; numbers ascend.
    assert [text.get_text() for text in wine.get_xticklabels()] == ["0.1", "0.5", "1"]
    assert [text.get_text() for text in wine.get_yticklabels()] == ["1e-9", "1e-3"]
    assert texts(wine)[1, 0] == ("0.0 (1.0)", True)
    assert (len(texts(wine)), len(texts(iris))) == (6, 5)


def test_highest_accuracy_is_bold():
    quantity = QUANTITIES["accuracy"]
    (axes,) = draw_sweep(points({("a",): 90.0, ("b",): 80.0}, "algo"), quantity).axes
    assert texts(axes) == {(0, 0): ("90.0 (1.0)", True), (1, 0): ("80.0 (1.0)", False)}


def test_deviations_are_omitted_in_narrow_cells():
    many = {(letter,): float(i) for i, letter in enumerate("abcdefghijklmnop")}
    figure = draw_sweep(points(many, "algo"), TEST_ERROR)
    assert texts(figure.axes[0])[1, 0] == ("1.0", False)
    assert figure.get_suptitle() == "test error (%), the best in bold"
