import numpy as np

from boostbench.core.linear_algebra import GrowableMatrix


def test_growth_keeps_the_rows():
    rows = np.random.default_rng(0).normal(size=(200, 3))
    growing = GrowableMatrix(3)
    assert growing.matrix.shape == (0, 3)
    for n, row in enumerate(rows, start=1):
        growing.append(row)
        if n in (1, 63, 64, 65, 128, 129, 200):
            assert (growing.matrix == rows[:n]).all()
            assert growing.matrix.flags.c_contiguous
