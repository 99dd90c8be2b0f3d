import itertools
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from boostbench import BaggedMCBoost
from boostbench.inspection.shape_displays import heat_map_data, tick_labels

FIRST_PAIR = {
    "index": 0,
    "output": 0,
    "largest": 1.0,
    "format_contribution": str,
    "format_deviation": str,
}


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


def test_category_labels_are_broken_between_words():
    rng = np.random.default_rng(0)
    names = np.array(["silver birch", "small-leaved lime", "sycamore maple"])
    X = pd.DataFrame({"time": 1.6e9 + rng.permutation(300), "tree": rng.choice(names, 300)})
    turns = (X["time"] > 1.6e9 + 150) ^ (X["tree"] == names[0])
    model = BaggedMCBoost(interactions=1, n_estimators=2, random_state=0).fit(X, turns)
    shapes = model.shape_functions()
    drawn = heat_map_data(shapes, X[["time"]].to_numpy(), **FIRST_PAIR)
    thresholds = shapes.pairs[0].axes[0].thresholds
    shown = [float(text) for _, (text,) in drawn["x_marks"]]
    assert shown == thresholds[[0, len(thresholds) // 2, -1]].tolist()
    # A letter takes 6.5 units, and the view box is 340 wide.
    position, (text,) = drawn["x_marks"][-1]
    assert position == pytest.approx(340 - 6.5 * len(text) / 2, abs=0.05)
    assert [lines for _, lines in drawn["y_marks"]] == [
        ["silver birch"],
        ["small-leaved", "lime"],
        ["sycamore", "maple"],
    ]
    told = drawn["cells"][0]["text"]
    assert told.startswith(f"time up to {thresholds[0]:.12g}, tree silver birch: ")


def test_cells_of_a_few_whole_numbers_have_their_numbers():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 5, 300), rng.random(300)]).astype(float)
    X[:20, 0] = np.nan
    model = BaggedMCBoost(interactions=1, n_estimators=2, random_state=0)
    shapes = model.fit(X, (X[:, 0] > 2) ^ (X[:, 1] > 0.5)).shape_functions()
    pair = shapes.pairs[0]
    position = [axis.feature for axis in pair.axes].index(0)
    axis = pair.axes[position]
    assert set(axis.thresholds) <= {0.5, 1.5, 2.5, 3.5}
    drawn = heat_map_data(shapes, X, **FIRST_PAIR)
    names = [re.search(r"x0 (.*?)[,:]", cell["text"])[1] for cell in drawn["cells"]]
    cells = list(dict.fromkeys(names))
    assert cells[-1] == "missing"
    ends = [[float(end) for end in name.split(" to ")] for name in cells[:-1]]
    assert (ends[0][0], ends[-1][-1]) == (0, 4)
    # Each threshold is between the numbers of two neighbouring cells.
    between = [(left[-1] + right[0]) / 2 for left, right in itertools.pairwise(ends)]
    assert between == axis.thresholds.tolist()
    marks = drawn["xy"[position] + "_marks"]
    assert [lines for _, lines in marks] == [[name] for name in cells[:: -(-len(cells) // 3)]]
