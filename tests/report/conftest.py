from statistics import fmean

import pytest

from boostbench.report.cells import Cell
from boostbench.report.published import Published
from boostbench.report.tables import Table


@pytest.fixture
def make_cell():
    """Make a cell from test errors in percent."""

    def make(errors, data="wine", algo="a", published=None, failures=0, stale=0, chosen=()):
        records = [
            {
                "split": split,
                "test_error": error / 100,
                "n_iterations": 100,
                "chosen": chosen[split] if chosen else {},
                "seconds": {
                    "fit": 3.0 + split,
                    "weak_learner": 2.0,
                    "coefficients": None,
                    "calibration": 0.1,
                },
            }
            for split, error in enumerate(errors)
        ]
        failed = [{"split": len(errors) + i, "error": "ValueError: no"} for i in range(failures)]
        if published:
            published = Published("randomboost-table5", *published, 10)
        return Cell(data, algo, algo.upper(), records, failed, stale, published)

    return make


@pytest.fixture
def table(make_cell):
    """Three data sets, two algorithms; one data set is not available, one cell has failures."""
    cells = {
        ("wine", "a"): make_cell([1, 2, 3], "wine", "a", published=(3.0, 3.0)),
        ("wine", "b"): make_cell([4, 4, 4.3], "wine", "b", published=(1.0, 0.2), stale=3),
        ("glass", "a"): make_cell([20, 30], "glass", "a", failures=1),
        ("glass", "b"): make_cell([], "glass", "b", published=(20.0, 1.0), failures=3),
    }
    assert fmean(cells["wine", "a"].errors.values()) == 2
    return Table("Title", ["wine", "glass", "dna"], {"a": "A", "b": "B"}, cells, ["dna"])
