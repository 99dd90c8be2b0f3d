from math import isnan, nan

import numpy as np
import pytest

from boostbench.analysis.comparison import hedges_g, score
from boostbench.util.numbers import differences


def test_score_compares_printed_numbers():
    a, b = [1.04, 1.06, 2.0, 9.0], [1.0, 1.0, 3.0, 10.0]
    assert score(differences(a, b)) == (2, 1, 1)
    assert score(differences(b, a)) == (1, 1, 2)
    assert score(differences(a, b, digits=2)) == (2, 0, 2)


def test_hedges_g_is_cohens_d_without_its_bias():
    # The pooled variance of equal numbers of repeats is the mean of both variances.
    d = (10 - 13) / np.sqrt((2**2 + 4**2) / 2)
    g = hedges_g(10, 2, 10, 13, 4, 10)
    assert g == pytest.approx(d * (1 - 3 / (4 * 18 - 1)), rel=1e-3)
    assert g == -hedges_g(13, 4, 10, 10, 2, 10)
    assert hedges_g(10, 2, 10_000, 13, 4, 10_000) == pytest.approx(d, rel=1e-4)


def test_hedges_g_has_no_bias():
    # Cohen's d of 3 and 3 samples is a quarter too large on average.
    rng = np.random.default_rng(0)
    a, b = rng.normal(0, 1, (2, 20_000, 3))
    a += 1
    g = [
        hedges_g(*first, 3, *second, 3)
        for first, second in zip(
            zip(a.mean(1), a.std(1, ddof=1), strict=True),
            zip(b.mean(1), b.std(1, ddof=1), strict=True),
            strict=True,
        )
    ]
    assert np.mean(g) == pytest.approx(1, abs=4 * np.std(g) / np.sqrt(len(g)))


@pytest.mark.parametrize(
    "numbers",
    [(1, nan, 1, 2, nan, 1), (1, nan, 1, 2, 0.5, 5), (1, 0, 5, 2, 0, 5)],
    ids=["one split each", "one split", "no deviation"],
)
def test_hedges_g_needs_deviations(numbers):
    assert isnan(hedges_g(*numbers))
