import numpy as np
import pytest

pytest.importorskip("matplotlib")

from fitting.examples import measured
from matplotlib.colors import to_rgb

from boostbench.data.dataset import Dataset
from boostbench.figures.boundaries import MapPanel, PointClouds, draw_boundaries, draw_points
from boostbench.figures.style import COLOURS
from boostbench.fitting.measures.boundary import RESOLUTION, encode
from boostbench.util.errors import UserError


@pytest.fixture
def record():
    """Class 0 on the left, class 2 on the right."""
    halves = np.repeat([[0, 2]], RESOLUTION, axis=0).repeat(RESOLUTION // 2, axis=1)
    return measured(
        "boundary",
        points={"x": [1.0, 2.0, 8.0], "y": [0.0, 1.0, 4.0], "label": [0, 0, 2]},
        extent=[0.0, 10.0, -1.0, 5.0],
        maps={"7": encode(halves)},
        train_errors={"7": 0.0},
        n_iterations=7,
    )


def test_regions_have_the_tint_of_their_class(record):
    figure = draw_boundaries([MapPanel("data", "x", record, 7)])
    (image,) = figure.axes[0].images
    picture = image.get_array()
    assert image.get_extent() == record.extent
    for column, number in ((0, 0), (-1, 2)):
        tint, colour = picture[0, column], np.array(to_rgb(COLOURS[number]))
        assert (tint >= colour).all()
        # The hue is equal if the distances to white are proportional.
        np.testing.assert_allclose(np.cross(1 - tint, 1 - colour), 0, atol=1e-12)
    line = picture[:, RESOLUTION // 2 - 1]
    assert (line == line[0]).all()
    assert line[0].max() < 0.5


def test_points_have_the_colour_of_their_class(record):
    axes = draw_boundaries([MapPanel("data", "x", record, 7)]).axes[0]
    drawn = {
        tuple(points.get_facecolor()[0][:3]): points.get_offsets().tolist()
        for points in axes.collections
    }
    assert drawn == {to_rgb(COLOURS[0]): [[1.0, 0.0], [2.0, 1.0]], to_rgb(COLOURS[2]): [[8.0, 4.0]]}


def test_maps_are_laid_out_by_row_and_column(record):
    panels = [
        MapPanel(row, *panel)
        for row in ("one", "two")
        for panel in (("data", record, None), ("RBoost^rank", record, 7), ("none", None, 7))
    ]
    axes = draw_boundaries(panels).axes
    assert [len(panel.images) for panel in axes] == [0, 1, 0] * 2
    titles = [panel.get_title() for panel in axes]
    assert titles == ["data", r"RBoost$^{\mathrm{rank}}$", "none", "", "", ""]
    assert [panel.get_ylabel() for panel in axes] == ["one", "", "", "two", "", ""]
    assert [text.get_text() for text in axes[2].texts] == ["no record"]


@pytest.mark.parametrize("n_rows", [1, 2])
def test_titles_are_not_cut(record, assert_titles_fit, n_rows):
    panels = [MapPanel(f"data {row}", "x^2 y", record, 7) for row in range(n_rows)] * 4
    assert_titles_fit(draw_boundaries(sorted(panels, key=lambda panel: panel.row)))


def toy(n_samples=4, name="toy"):
    X = np.column_stack([np.arange(n_samples), -np.arange(n_samples)]).astype(float)
    return Dataset(name, X, np.arange(n_samples) % 2, "made here")


def test_points_have_a_panel_for_each_data_set(assert_titles_fit):
    figure = draw_points([toy(name="one"), toy(6, name="two")])
    assert_titles_fit(figure)
    first, second = figure.axes
    assert (first.get_title(), second.get_title()) == ("one", "two")
    even, odd = first.collections
    assert even.get_offsets().tolist() == [[0, 0], [2, -2]]
    assert odd.get_offsets().tolist() == [[1, -1], [3, -3]]
    assert tuple(even.get_facecolor()[0]) != tuple(odd.get_facecolor()[0])


def test_many_points_are_small():
    few, many = (draw_points([toy(n)]).axes[0].collections[0].get_sizes() for n in (9, 90_000))
    assert many[0] < few[0]


def test_point_clouds_describe_their_data(tmp_path):
    figure = PointClouds(name="f", title="t", caption="c", rows=["annulus"])
    drawing = figure.draw([f"results={tmp_path}"])
    assert drawing.table_rows == [["annulus", "6561", "24.0"]]
    assert drawing.results == tmp_path


def test_boundaries_require_two_features():
    figure = PointClouds(name="f", title="t", caption="c", rows=["iris"])
    with pytest.raises(UserError, match="needs 2 dense features, and 'iris' has 4"):
        figure.draw([])


def test_unavailable_data_sets_are_noted(monkeypatch, tmp_path):
    monkeypatch.setenv("BOOSTBENCH_DATA", str(tmp_path))
    rows = ["linear", "fawcett-disjunctive"]
    drawing = PointClouds(name="f", title="t", caption="c", rows=rows).draw([])
    assert [table_row[0] for table_row in drawing.table_rows] == ["linear"]
    assert drawing.notes == ["Not at hand: fawcett-disjunctive."]
    with pytest.raises(UserError, match="none of the data sets of figure f is at hand"):
        PointClouds(name="f", title="t", caption="c", rows=rows[1:]).draw([])
