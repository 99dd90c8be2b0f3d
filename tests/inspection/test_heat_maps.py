from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from boostbench import BaggedMCBoost
from boostbench.inspection.pairs import heat_map_data, tick_labels


@pytest.mark.parametrize("has_missing", [False, True])
@pytest.mark.parametrize("n", [1, 2, 30])
def test_threshold_labels_are_between_cells(n, has_missing):
    thresholds = np.arange(n) / 4
    axis = SimpleNamespace(
        thresholds=thresholds, n_cells=n + 1 + has_missing, has_missing=has_missing
    )
    labels = tick_labels(axis, [], 4)
    numbers = [(place, float(text)) for place, text in labels if text != "missing"]
    assert numbers
    assert all(thresholds[place - 1] == pytest.approx(value, rel=5e-3) for place, value in numbers)
    assert numbers[0] == (1, 0.0)
    assert [place for place, text in labels if text == "missing"] == [n + 1.5] * has_missing


def test_subset_of_many_categories_is_labelled():
    names = list("abcdefghij")
    axis = SimpleNamespace(thresholds=None, n_cells=10, has_missing=False)
    assert tick_labels(axis, names, 3) == [(0.5, "a"), (4.5, "e"), (8.5, "i")]


def test_only_category_labels_are_shortened():
    rng = np.random.default_rng(0)
    names = np.array(["silver birch", "small-leaved lime", "sycamore maple"])
    X = pd.DataFrame({"time": 1.6e9 + rng.permutation(300), "tree": rng.choice(names, 300)})
    turns = (X["time"] > 1.6e9 + 150) ^ (X["tree"] == names[0])
    model = BaggedMCBoost(interactions=1, n_estimators=2, random_state=0).fit(X, turns)
    shapes = model.shape_functions()
    drawn = heat_map_data(shapes, 0, 0, 1.0, str, str)
    thresholds = shapes.pairs[0].axes[0].thresholds
    shown = [float(text) for _, text in drawn["x_marks"]]
    assert shown == thresholds[[0, len(thresholds) // 2, -1]].tolist()
    assert [text for _, text in drawn["y_marks"]] == ["silver b…", "small-le…", "sycamore…"]
    told = drawn["cells"][0]["text"]
    assert told.startswith(f"time up to {thresholds[0]:.12g}, tree silver birch: ")
