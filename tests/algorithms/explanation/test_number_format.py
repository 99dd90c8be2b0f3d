import math

import numpy as np
import pytest

from boostbench.algorithms.explanation.stump_sums import shortest_decimals

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("digits", [3, 4, 6])
@pytest.mark.parametrize("size", [1, 1e3, 1e5, 1.6e9, 1e14])
def test_whole_numbers_do_not_change_sides(size, digits):
    integers = size + np.arange(-20, 20)
    thresholds = np.concatenate(
        [integers, integers + 0.5, integers + 1 - 1e-3, integers - RNG.random(40)]
    )
    for sign in (1, -1):
        for threshold, text in zip(
            sign * thresholds, shortest_decimals(sign * thresholds, digits), strict=True
        ):
            near = math.floor(threshold) + np.arange(-1, 3)
            assert ((near > float(text)) == (near > threshold)).all()


@pytest.mark.parametrize(
    "numbers",
    [
        RNG.random(300) * 1e-5,
        np.nextafter(RNG.normal(size=20), np.inf)[:, None] + np.spacing(1.0) * np.arange(3),
        [1e15, 1e15 + 0.25, 1e300, np.nextafter(1e300, 0), 5e-324, 0.0],
        [99999.96, 100000.04, 100000.2, 99999.97],
    ],
    ids=["small", "by one rounding", "huge", "around a power of ten"],
)
def test_different_numbers_have_different_texts(numbers):
    numbers = np.ravel(numbers)
    texts = shortest_decimals(numbers)
    assert len(set(texts)) == len(set(numbers.tolist()))
    np.testing.assert_allclose(np.array(texts, float), numbers, rtol=5e-6)
    assert shortest_decimals(numbers[::-1]) == texts[::-1]


def test_usual_number_of_digits():
    numbers = [2.45, 4.85, 1 / 3, 2.45, 1234.5678, 2e20, -1e-7]
    texts = ["2.45", "4.85", "0.333333", "2.45", "1234.57", "2e+20", "-1e-07"]
    assert shortest_decimals(numbers) == texts
    assert shortest_decimals(numbers[:3], digits=3) == ["2.45", "4.85", "0.333"]
    assert shortest_decimals([2008.5, 2009.5, 2011.0], digits=3) == ["2008.5", "2009.5", "2011"]
    assert shortest_decimals([]) == []
