"""All statistical tests refuse numbers that are not finite."""

from math import inf, nan

import numpy as np
import pytest

from boostbench.analysis.comparison import score
from boostbench.analysis.statistics.agreement import compare_means
from boostbench.analysis.statistics.bayesian import correlated_t, signed_rank
from boostbench.analysis.statistics.friedman import average_ranks, friedman, holm
from boostbench.analysis.statistics.resampled import corrected_t, p_above, p_below, standard_error
from boostbench.analysis.statistics.wilcoxon import wilcoxon

FUNCTIONS = {
    "agreement": lambda numbers: compare_means(float(numbers[1]), 1.0, 10, 3.0, 1.0, 10),
    "agreement, published": lambda numbers: compare_means(3.0, 1.0, 10, float(numbers[1]), 1.0, 10),
    "average_ranks": lambda numbers: average_ranks([numbers] * 12),
    "corrected_t": lambda numbers: corrected_t(numbers, 0.5),
    "correlated_t": lambda numbers: correlated_t(numbers, 1.0, 0.5),
    "friedman": lambda numbers: friedman([[1.0, 2.0, 3.0, 4.0, 5.0]] * 11 + [numbers]),
    "friedman, few": lambda numbers: friedman([[1.0, 2.0, 3.0, 4.0, 5.0]] * 4 + [numbers]),
    "holm": lambda numbers: holm([number / 10 for number in numbers]),
    "p_above": lambda numbers: p_above(numbers, 0.0),
    "p_below": lambda numbers: p_below(numbers, 0.0),
    "score": score,
    "signed_rank": lambda numbers: signed_rank(numbers, rope=1.0),
    "standard_error": lambda numbers: standard_error(numbers, 0.5),
    "wilcoxon": wilcoxon,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_numbers_that_are_not_finite_are_refused(name):
    for odd in (nan, inf, -inf):
        for kind in (list, tuple, np.array):
            with pytest.raises(ValueError, match=f"a number is -?{abs(odd)}; leave out"):
                FUNCTIONS[name](kind([5.0, odd, 6.0, 7.0, 4.0]))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_lists_and_arrays_give_the_same(name):
    numbers = [5.0, 3.0, 6.0, 7.0, 4.0]
    assert str(FUNCTIONS[name](numbers)) == str(FUNCTIONS[name](np.array(numbers)))
