import itertools
from collections import Counter

import numpy as np
import pytest
from scipy.optimize import check_grad

from boostbench.core import codebooks
from boostbench.core.codebooks import (
    draw_codebook,
    exhaustive_codes,
    largest_inner_product,
    max_distance_codewords,
    random_half,
    simplex_vertices,
    smoothed_largest_product,
)


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("n_classes", [2, 3, 5, 10, 26])
def test_simplex_has_equal_angles(n_classes):
    vectors = simplex_vertices(n_classes)
    assert vectors.shape == (n_classes, n_classes - 1)
    expected = np.full((n_classes, n_classes), -1 / (n_classes - 1))
    np.fill_diagonal(expected, 1.0)
    np.testing.assert_allclose(vectors @ vectors.T, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("n_classes", "n_components", "best"),
    [
        (3, 2, -1 / 2),  # triangle
        (7, 2, np.cos(2 * np.pi / 7)),  # heptagon
        (4, 3, -1 / 3),  # tetrahedron
        (5, 3, 0.0),  # two poles and an equator
        (6, 3, 0.0),  # octahedron
        (12, 3, 1 / np.sqrt(5)),  # icosahedron
        (8, 4, 0.0),  # cross polytope
        (24, 4, 0.5),  # 24-cell
    ],
)
def test_known_optima_are_found(n_classes, n_components, best):
    vectors = max_distance_codewords(n_classes, n_components, rng())
    assert largest_inner_product(vectors) == pytest.approx(best, abs=2e-3)


@pytest.mark.parametrize("n_classes", [3, 6, 10])
def test_search_finds_the_simplex(n_classes):
    """The search does not use the closed form of the simplex."""
    searched = codebooks._maximise_distance(rng(1).normal(size=(n_classes, n_classes - 1)))
    product = largest_inner_product(searched)
    assert product == pytest.approx(largest_inner_product(simplex_vertices(n_classes)), abs=1e-3)
    assert product >= -1 / (n_classes - 1) - 1e-12


@pytest.mark.parametrize(("n_classes", "n_components"), [(10, 3), (13, 4), (26, 10)])
def test_codewords_do_not_depend_on_rounding_errors(n_classes, n_components, monkeypatch):
    """Random changes of the last digits stand for another library of linear algebra."""
    digits = np.random.default_rng(0)

    def perturbed_product(*arguments):
        value, gradient = smoothed_largest_product(*arguments)
        return value, gradient * (1 + 1e-15 * digits.uniform(-1, 1, gradient.shape))

    codewords = max_distance_codewords(n_classes, n_components, rng())
    monkeypatch.setattr(codebooks, "smoothed_largest_product", perturbed_product)
    np.testing.assert_array_equal(max_distance_codewords(n_classes, n_components, rng()), codewords)


@pytest.mark.parametrize("sharpness", [2, 100])
def test_gradient_of_the_smoothed_product_equals_differences(sharpness):
    shape = 5, 3
    start = rng(2).normal(size=15)
    wrong = check_grad(
        lambda x: smoothed_largest_product(x, shape, sharpness)[0],
        lambda x: smoothed_largest_product(x, shape, sharpness)[1],
        start,
    )
    assert wrong < 1e-5


@pytest.mark.parametrize("n_classes", [2, 3, 7, 11])
@pytest.mark.parametrize("n_components", [1, 2, 3, 5, 10, 14])
def test_codewords_have_length_1_and_a_simplex_if_it_fits(n_classes, n_components):
    vectors = draw_codebook(n_classes, n_components, rng(3))
    assert vectors.shape == (n_classes, n_components)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0)
    if n_components >= n_classes - 1:
        assert largest_inner_product(vectors) == pytest.approx(-1 / (n_classes - 1))


def test_padded_codewords_use_all_coordinates():
    vectors = draw_codebook(4, 9, rng(4))
    assert (np.abs(vectors).max(axis=0) > 0.01).all()
    assert np.linalg.matrix_rank(vectors) == 3


def test_classes_are_shuffled():
    """Neighbouring classes are not always neighbours of the polygon."""
    drawn = [draw_codebook(5, 2, rng(seed)) for seed in range(20)]
    assert len({round(float(vectors[0] @ vectors[1]), 3) for vectors in drawn}) == 2


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
    first, second = (np.random.default_rng(7) for _ in range(2))
    for _ in range(10):
        assert (random_half(9, first) == random_half(9, second)).all()


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
        for first, second in itertools.combinations(range(n_classes), 2):
            assert (codes[:, first] != codes[:, second]).sum() == 2 ** (n_classes - 2)
