import numpy as np
import pytest

pytest.importorskip("matplotlib")

from boostbench.data.dataset import Dataset
from boostbench.figures.boundaries import PointClouds, draw_points
from boostbench.util.errors import UserError


def toy(n_samples=4):
    X = np.column_stack([np.arange(n_samples), -np.arange(n_samples)]).astype(float)
    return Dataset("toy", X, np.arange(n_samples) % 2, "made here")


def test_a_panel_for_each_data_set_and_a_colour_for_each_class(whole_titles):
    figure = draw_points({"one": toy(), "two": toy(6)})
    whole_titles(figure)
    first, second = figure.axes
    assert (first.get_title(), second.get_title()) == ("one", "two")
    even, odd = first.collections
    assert even.get_offsets().tolist() == [[0, 0], [2, -2]]
    assert odd.get_offsets().tolist() == [[1, -1], [3, -3]]
    assert tuple(even.get_facecolor()[0]) != tuple(odd.get_facecolor()[0])


def test_many_points_are_small():
    few, many = (draw_points({"x": toy(n)}).axes[0].collections[0].get_sizes() for n in (9, 90_000))
    assert many[0] < few[0]


def test_it_loads_the_data_and_says_what_they_are(tmp_path):
    figure = PointClouds(name="f", title="t", caption="c", rows=["annulus"])
    drawing = figure.draw([f"results={tmp_path}"])
    assert drawing.facts == [["annulus", "6561", "24.0"]]
    assert drawing.results == tmp_path


def test_other_numbers_of_features_are_refused():
    figure = PointClouds(name="f", title="t", caption="c", rows=["iris"])
    with pytest.raises(UserError, match="needs 2 dense features, and 'iris' has 4"):
        figure.draw([])


def test_what_is_not_at_hand_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("BOOSTBENCH_DATA", str(tmp_path))
    rows = ["linear", "fawcett-disjunctive"]
    drawing = PointClouds(name="f", title="t", caption="c", rows=rows).draw([])
    assert [facts[0] for facts in drawing.facts] == ["linear"]
    assert drawing.notes == ["Not at hand: fawcett-disjunctive."]
    with pytest.raises(UserError, match="none of the data sets of figure f is at hand"):
        PointClouds(name="f", title="t", caption="c", rows=rows[1:]).draw([])
