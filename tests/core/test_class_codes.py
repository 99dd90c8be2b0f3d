import itertools
from collections import Counter

import numpy as np
import pytest

from boostbench.core.codebooks import exhaustive_codes, random_half


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5, 10, 11, 26])
def test_random_half_has_half_of_the_classes(n_classes):
    rng = np.random.default_rng(0)
    for _ in range(20):
        code = random_half(n_classes, rng)
        assert code.shape == (n_classes,)
        assert (code == 1).sum() == n_classes // 2
        assert (code == -1).sum() == n_classes - n_classes // 2


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5])
def test_all_halves_are_equally_likely(n_classes):
    rng = np.random.default_rng(0)
    halves = list(itertools.combinations(range(n_classes), n_classes // 2))
    n_draws = 400 * len(halves)
    drawn = Counter(tuple(np.flatnonzero(random_half(n_classes, rng) == 1)) for _ in range(n_draws))
    assert set(drawn) == set(halves)
    # The tolerance is five standard deviations of the count of one half.
    assert all(abs(count - 400) < 100 for count in drawn.values())


def test_random_halves_are_determined_by_the_generator():
    one, other = (np.random.default_rng(7) for _ in range(2))
    for _ in range(10):
        assert (random_half(9, one) == random_half(9, other)).all()


@pytest.mark.parametrize("n_classes", [2, 3, 4, 6, 9])
class TestExhaustive:
    def test_every_division_occurs_once(self, n_classes):
        divisions = {
            signs
            for signs in itertools.product([1.0, -1.0], repeat=n_classes)
            if signs[0] == 1 and -1 in signs
        }
        codes = [tuple(code) for code in exhaustive_codes(n_classes)]
        assert len(codes) == len(divisions) == 2 ** (n_classes - 1) - 1
        assert set(codes) == divisions

    def test_all_pairs_of_classes_have_equal_distance(self, n_classes):
        codes = exhaustive_codes(n_classes)
        for one, other in itertools.combinations(range(n_classes), 2):
            assert (codes[:, one] != codes[:, other]).sum() == 2 ** (n_classes - 2)
