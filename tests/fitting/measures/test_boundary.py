import numpy as np
import pytest

from boostbench.data.dataset import Dataset
from boostbench.fitting.measures.boundary import RESOLUTION, decode
from boostbench.records.store import read_records
from boostbench.util.errors import UserError
from fitting.toy import run

from ..toy import make_experiment


@pytest.fixture
def plane():
    """Return four separate clouds of points in the corners of a square."""
    rng = np.random.default_rng(0)
    corners = np.repeat([[-9, -9], [9, -9], [-9, 9], [9, 9]], 15, axis=0)
    y = np.array(["sw", "se", "nw", "ne"]).repeat(15)
    return Dataset("plane", corners + rng.normal(size=corners.shape), y, "made here")


def experiment(target="boostbench.algorithms.AdaBoostMH", **settings):
    settings |= {"n_iterations": 30} if target.startswith("boostbench") else {}
    config = {"measure": "boundary", "checkpoints": [1, 30, 99], **settings}
    return make_experiment(target, **config)


def single_record(report):
    (outcome,) = report.results
    assert not outcome.failures
    return outcome.records[0]


def map_corners(record, number):
    cells = decode(record.maps[number])
    return [int(cells[row, column]) for row in (0, -1) for column in (0, -1)]


def test_record_has_points_and_maps_of_predictions(plane, tmp_path):
    record = single_record(run([experiment(data=plane)], results=tmp_path))
    path = tmp_path / "records" / "plane" / "fake.boundary.jsonl"
    assert read_records(path) == ([record], [])
    # Classes are numbered in the order of their names: ne, nw, se, sw.
    assert map_corners(record, "30") == [3, 2, 1, 0]
    assert record.train_errors["30"] == 0
    assert decode(record.maps["30"]).shape == (RESOLUTION, RESOLUTION)
    x_min, x_max, y_min, y_max = record.extent
    x, y = plane.X.T
    assert x_min < x.min() < x.max() < x_max
    assert y_min < y.min() < y.max() < y_max
    np.testing.assert_allclose(record.points.x, x, atol=6e-4)
    np.testing.assert_allclose(record.points.y, y, atol=6e-4)
    assert record.points.label == [3] * 15 + [2] * 15 + [1] * 15 + [0] * 15


def test_maps_of_rounds_differ(plane, tmp_path):
    record = single_record(run([experiment(data=plane)], results=tmp_path))
    assert list(record.maps) == ["1", "30", "99"]
    # A stump has two sides, so that its map has at most two classes.
    assert len(np.unique(decode(record.maps["1"]))) == 2
    assert record.train_errors["1"] >= 0.5
    assert record.maps["99"] == record.maps["30"]


def test_rounds_of_a_classifier_without_stages(plane, tmp_path):
    trees = experiment("sklearn.ensemble.GradientBoostingClassifier", data=plane, n_estimators=30)
    maps = single_record(run([trees], results=tmp_path)).maps
    assert maps["1"] != maps["30"]
    assert maps["30"] == maps["99"]


def test_maps_do_not_depend_on_the_scale_of_features(plane, tmp_path):
    # A tree and its boundary do not depend on the scale of a feature.
    tree = "sklearn.tree.DecisionTreeClassifier"
    scaled, raw = (
        single_record(run([experiment(tree, data=plane, scale=scale)], results=tmp_path / scale))
        for scale in ("minmax", "none")
    )
    assert scaled.extent == raw.extent
    assert np.mean(decode(scaled.maps["1"]) != decode(raw.maps["1"])) < 0.01


def test_projecting_classifier_is_drawn_in_the_space_of_the_data(plane, tmp_path):
    projecting = "boostbench.algorithms.ProjectedAdaBoostMH"
    record = single_record(
        run([experiment(projecting, data=plane, scale="none")], results=tmp_path)
    )
    matrix = np.random.default_rng(0).standard_normal((2, 2))
    points = np.stack([record.points.x, record.points.y], axis=1)
    np.testing.assert_allclose(points, plane.X @ matrix, atol=6e-4)
    # Stumps of that space: a row of cells changes class where the others of its kind do.
    cells = decode(record.maps["1"])
    assert (cells == cells[0]).all() or (cells == cells[:, :1]).all()


def test_finished_maps_are_not_run_again(plane, tmp_path):
    grid = {"n_iterations": [5, 30]}
    first = run([experiment(data=plane, grid=grid)], results=tmp_path)
    files = {path: path.read_bytes() for path in tmp_path.rglob("*.jsonl")}
    assert {path.name for path in files} == {"fake.boundary.jsonl", "fake.tuning.jsonl"}
    again = run([experiment(data=plane, grid=grid)], results=tmp_path)
    assert (first.ran, again.ran) == (1, 0)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.jsonl")} == files
    other = run([experiment(data=plane, grid=grid, checkpoints=[2])], results=tmp_path)
    assert other.ran == 1


def test_tuning_uses_all_rows(plane, tmp_path):
    grid = {"n_iterations": [1, 30]}
    record = single_record(run([experiment(data=plane, grid=grid)], results=tmp_path))
    assert record.chosen == {"n_iterations": 30}
    assert (record.n_train, record.n_test) == (60, 0)


def test_more_than_two_features_raise(plane):
    with pytest.raises(UserError, match="needs 2 dense features, and 'toy' has 3"):
        experiment()
    rows = np.arange(257)
    many = Dataset("many", np.stack([rows, rows], axis=1) / 1.0, rows, "made here")
    with pytest.raises(UserError, match="is of up to 256 classes, and 'many' has 257; take data"):
        experiment(data=many)
    experiment(data=many.select_classes(256))
    with pytest.raises(UserError, match="checkpoints is empty"):
        experiment(data=plane, checkpoints=[])
