import math
from decimal import ROUND_HALF_UP, Decimal
from statistics import fmean

import numpy as np
import pytest

from boostbench.analysis.comparison import score
from boostbench.analysis.statistics.friedman import friedman
from boostbench.analysis.statistics.wilcoxon import wilcoxon
from boostbench.util.numbers import differences, fixed, format_seconds, mean_std, rounded

#: What means of 50 splits of 40 test samples can be, in percent: 0.00, 0.05, ..., 99.95.
HUNDREDTHS = range(0, 10_000, 5)


def test_mean_and_deviation_are_formatted():
    assert mean_std(2.94, 2.36) == "2.9 (2.4)"
    assert mean_std(2.94, math.nan) == "2.9"


def test_seconds_are_formatted():
    times = (0.5, 100.0, 2644.0, 0.0, 999.4, 999.5, 999.7, 1000, 99.96, 9.996, 0.9996)
    texts = "0.500 100 2644 0.00 999 1000 1000 1000 100 10.0 1.00"
    assert " ".join(map(format_seconds, times)) == texts


@pytest.mark.parametrize("sign", [1, -1])
def test_halves_are_rounded_as_decimal_numbers(sign):
    exact = [sign * Decimal(n) / 100 for n in HUNDREDTHS]
    by_hand = [str(one.quantize(Decimal("0.1"), ROUND_HALF_UP) + 0) for one in exact]
    assert [fixed(float(one), 1) for one in exact] == by_hand
    assert rounded([float(one) for one in exact], 1).tolist() == [float(one) for one in by_hand]


def test_means_are_rounded_exactly():
    """Percentages of 40 test samples, whose mean comes out a little beside a half."""
    rng = np.random.default_rng(0)
    for errors in rng.integers(0, 41, (500, 50)):
        mean = fmean(100 * (1 - (1 - count / 40)) for count in errors.tolist())
        exact = Decimal(int(errors.sum())) / 20
        assert fixed(mean, 1) == str(exact.quantize(Decimal("0.1"), ROUND_HALF_UP))


def test_rounding_is_idempotent():
    assert np.isnan(rounded(math.nan, 1))
    assert np.signbit(rounded([-0.04, -0.0], 1)).tolist() == [False, False]
    once = rounded(np.random.default_rng(0).normal(0, 100, 1000), 2)
    assert rounded(once, 2).tolist() == once.tolist()


def test_equal_printed_numbers_are_ties():
    a = [n / 100 for n in HUNDREDTHS]
    b = [float(fixed(n, 1)) for n in a]
    assert [mean_std(x, math.nan) for x in a] == [mean_std(x, math.nan) for x in b]
    assert not differences(a, b).any()
    assert score(differences(a, b)).ties == len(a)
    for first in range(0, len(a), 20):
        pair = a[first : first + 20], b[first : first + 20]
        assert wilcoxon(differences(*pair)).ties == 20
        assert friedman(np.transpose([*pair, pair[0]])).ranks.tolist() == [2, 2, 2]
    # Numbers that are printed as 0.1 and 0.0 are no tie.
    assert score(differences([0.05], [0.04])).losses == 1
