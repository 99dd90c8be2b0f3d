from types import SimpleNamespace

import numpy as np
import pytest

from boostbench.inspection.heat_maps import marks


@pytest.mark.parametrize("has_missing", [False, True])
@pytest.mark.parametrize("n", [1, 2, 30])
def test_thresholds_are_between_cells(n, has_missing):
    thresholds = np.arange(n) / 4
    axis = SimpleNamespace(
        thresholds=thresholds, n_cells=n + 1 + has_missing, has_missing=has_missing
    )
    found = marks(axis, [], 4)
    numbers = [(place, float(text)) for place, text in found if text != "missing"]
    assert numbers
    assert all(thresholds[place - 1] == pytest.approx(value, rel=5e-3) for place, value in numbers)
    assert numbers[0] == (1, 0.0)
    assert [place for place, text in found if text == "missing"] == [n + 1.5] * has_missing


def test_some_of_many_categories():
    names = list("abcdefghij")
    axis = SimpleNamespace(thresholds=None, n_cells=10, has_missing=False)
    assert marks(axis, names, 3) == [(0.5, "a"), (4.5, "e"), (8.5, "i")]
