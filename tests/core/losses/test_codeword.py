import itertools

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize_scalar
from scipy.special import logsumexp

from boostbench.core.codebooks import draw_codebook
from boostbench.core.losses.codeword import CodewordRisk, minimise_exponential_sum


def literal_risk(labels, codewords, predictions):
    """Return R of eq. (1) and (4), summed term by term."""
    total = 0.0
    for z, f in zip(labels, predictions, strict=True):
        for j, y in enumerate(codewords):
            if j != z:
                total += np.exp(-0.5 * ((codewords[z] - y) @ f))
    return total / len(labels)


def problem(n_classes, n_components, seed, n_samples=25, size=1.0):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(n_samples) % n_classes
    codewords = draw_codebook(n_classes, n_components, rng)
    return labels, codewords, size * rng.normal(size=(n_samples, n_components))


SHAPES = pytest.mark.parametrize(
    ("n_classes", "n_components"), [(2, 1), (2, 3), (3, 2), (5, 2), (5, 4), (4, 6), (7, 1)]
)


@SHAPES
def test_risk_equals_the_equation(n_classes, n_components):
    arguments = problem(n_classes, n_components, seed=0)
    assert CodewordRisk(*arguments).log_risk == pytest.approx(np.log(literal_risk(*arguments)))


def assert_parallel(first, second):
    """Assert that two arrays differ by a positive factor."""
    np.testing.assert_allclose(
        first / np.linalg.norm(first), second / np.linalg.norm(second), atol=1e-5
    )


@SHAPES
def test_weights_are_the_negative_gradient_in_the_predictions(n_classes, n_components):
    labels, codewords, predictions = problem(n_classes, n_components, seed=1)
    weights = CodewordRisk(labels, codewords, predictions).weights()
    gradient = approx_fprime(
        predictions.ravel(), lambda f: literal_risk(labels, codewords, f.reshape(predictions.shape))
    )
    assert_parallel(weights, -gradient.reshape(weights.shape))


@SHAPES
def test_codeword_gradient_equals_differences(n_classes, n_components):
    labels, codewords, predictions = problem(n_classes, n_components, seed=2)
    risk = CodewordRisk(labels, codewords, predictions)
    gradient = approx_fprime(
        codewords.ravel(), lambda y: literal_risk(labels, y.reshape(codewords.shape), predictions)
    ).reshape(codewords.shape)
    assert_parallel(risk.codeword_gradient(), gradient)
    # The scales are equal: by the chain rule, <w_i, f_i> and <dR/dy, y> are the same sum.
    by_predictions = (risk.weights() * predictions).sum()
    by_codewords = (risk.codeword_gradient() * codewords).sum()
    assert by_predictions == pytest.approx(-by_codewords)


@SHAPES
@pytest.mark.parametrize("n_leaves", [2, 4])
def test_step_minimises_the_risk_along_the_weak_learner(n_classes, n_components, n_leaves):
    labels, codewords, predictions = problem(n_classes, n_components, seed=3, n_samples=60)
    rng = np.random.default_rng(4)
    leaf = rng.integers(n_leaves, size=len(labels))
    values = rng.normal(size=(n_leaves, n_components))
    risk = CodewordRisk(labels, codewords, predictions.copy())
    multiple, is_perfect = risk.add_learner(leaf, values)
    optimum = minimize_scalar(
        lambda a: literal_risk(labels, codewords, predictions + a * values[leaf]),
        bounds=(-30, 30),
        method="bounded",
        options={"xatol": 1e-10},
    )
    assert multiple == pytest.approx(optimum.x, abs=1e-5)
    assert risk.log_risk == pytest.approx(np.log(optimum.fun))
    assert not is_perfect
    np.testing.assert_allclose(risk.predictions, predictions + multiple * values[leaf])


def test_two_classes_equal_adaboost():
    """The weights equal exp(-y f) y, and the step has AdaBoost's closed form."""
    labels, _, predictions = problem(2, 1, seed=5, n_samples=30)
    y = np.where(labels == 0, 1.0, -1.0)
    risk = CodewordRisk(labels, np.array([[1.0], [-1.0]]), predictions)
    expected = y * np.exp(-y * predictions[:, 0])
    assert_parallel(risk.weights()[:, 0], expected)
    leaf = np.arange(30) % 2
    g = np.array([1.0, -1.0])
    edge = (expected * g[leaf]).sum() / np.abs(expected).sum()
    multiple, _ = risk.add_learner(leaf, g[:, None])
    assert multiple == pytest.approx(np.arctanh(edge))


@pytest.mark.parametrize("size", [0.01, 1.0, 30.0, 1e4])
@pytest.mark.parametrize("seed", range(4))
def test_the_risk_never_rises_when_codewords_move(seed, size):
    risk = CodewordRisk(*problem(5, 3, seed=seed, size=size))
    risks = [risk.log_risk]
    while risk.descend_codewords() and len(risks) < 60:
        risks.append(risk.log_risk)
        np.testing.assert_allclose(np.linalg.norm(risk.codewords, axis=1), 1.0)
    assert (np.diff(risks) < 0).all()
    assert len(risks) > 2


@pytest.mark.parametrize("seed", range(6, 12))
def test_codewords_converge_to_a_minimum_of_the_risk(seed):
    """The gradient is parallel to the codewords there, and no codewords of a grid are better.

    A search that compares risks resolves steps down to the square root of the machine precision.
    """
    arguments = problem(3, 2, seed, n_samples=40)
    risk = CodewordRisk(*arguments)
    n_moves = 0
    while risk.descend_codewords():
        n_moves += 1
    assert 0 < n_moves < 500
    gradient = risk.codeword_gradient()
    across = gradient - (gradient * risk.codewords).sum(axis=1, keepdims=True) * risk.codewords
    resolved = np.sqrt(np.finfo(float).eps)
    assert np.abs(across).max() < 1e3 * resolved * np.abs(gradient).max()
    labels, _, predictions = arguments
    angles = np.array([*itertools.product(np.linspace(0, 2 * np.pi, 13)[:-1], repeat=3)])
    turned = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    scores = turned @ predictions.T
    margins = scores[:, labels, np.arange(len(labels))][:, None] - scores
    # The term of the true class is exp(0) = 1 and is no part of the risk.
    risks = np.exp(-0.5 * margins).sum(axis=1).mean(axis=1) - 1
    assert risks[100] == pytest.approx(literal_risk(labels, turned[100], predictions))
    assert risks.min() >= np.exp(risk.log_risk) - 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_codewords_do_not_depend_on_the_order_of_samples(seed):
    """Sums in another order have other rounding errors, but the codewords are bit-equal."""
    labels, codewords, predictions = problem(6, 3, seed, n_samples=300)
    order = np.random.default_rng(seed).permutation(300)
    moved = []
    for rows in (np.arange(300), order):
        risk = CodewordRisk(labels[rows], codewords, predictions[rows])
        for _ in range(20):
            assert risk.descend_codewords()
        moved.append(risk.codewords)
    np.testing.assert_array_equal(*moved)


def test_large_codewords_do_not_overflow():
    labels, codewords, predictions = problem(4, 3, seed=7, size=1e6)
    risk = CodewordRisk(labels, codewords, predictions)
    risk.add_learner(np.arange(25) % 2, np.eye(2, 3))
    risk.descend_codewords()
    assert np.isfinite(risk.log_risk)
    assert np.isfinite(risk.weights()).all()


def test_perfect_weak_learner_is_recognised():
    risk = CodewordRisk(np.array([0, 1, 2]), np.array([[1, 0], [-0.6, 0.8], [-0.6, -0.8]]))
    multiple, is_perfect = risk.add_learner(np.array([0, 1, 2]), risk.codewords)
    assert is_perfect
    assert 0 < multiple < 100
    # This learner does not separate the two classes that share a leaf.
    multiple, is_perfect = risk.add_learner(np.array([0, 1, 1]), np.array([[1.0, 0], [-1, 0]]))
    assert not is_perfect
    assert 0 < multiple < 100


@pytest.mark.parametrize("seed", range(20))
def test_step_equals_a_search_without_derivatives(seed):
    rng = np.random.default_rng(seed)
    weights = rng.exponential(size=30) * (rng.random(30) < 0.8)
    slopes = rng.normal(size=30) * 10 ** rng.uniform(-3, 3) * (rng.random(30) < 0.9)
    scale = np.abs(slopes).max()

    def log_sum(a):
        return logsumexp(a * slopes / scale, b=weights)

    expected = minimize_scalar(log_sum, bounds=(-24, 24), method="bounded", options={"xatol": 1e-9})
    step = minimise_exponential_sum(weights, slopes, 24.0)
    assert abs(step) * scale <= 24 * (1 + 1e-12)
    assert log_sum(step * scale) <= expected.fun + 1e-9


def test_step_equals_the_closed_form_of_adaboost():
    for edge in (0.9, 0.1, -0.5, 1 - 1e-9):
        step = minimise_exponential_sum(np.array([1 + edge, 1 - edge]), np.array([-1.0, 1.0]), 24.0)
        assert step == pytest.approx(np.arctanh(edge), rel=1e-6)


@pytest.mark.parametrize("sign", [-1, 1])
def test_unbounded_step_stops_at_the_limit(sign):
    weights = np.array([1.0, 2.0, 0.0, 5.0])
    slopes = sign * np.array([-4.0, -1.0, 7.0, 0.0])
    assert minimise_exponential_sum(weights, slopes, 24.0) == pytest.approx(sign * 6.0)


def test_zero_slope_gives_step_zero():
    assert minimise_exponential_sum(np.ones(3), np.zeros(3), 24.0) == 0.0
    assert minimise_exponential_sum(np.array([0.0, 1.0]), np.array([1.0, 0.0]), 24.0) == 0.0


def test_weights_of_very_different_sizes():
    """The minimum is beyond the limit if a term is 200 decades below the other."""
    assert minimise_exponential_sum(np.array([1.0, 1e-200]), np.array([-1.0, 1.0]), 24.0) == 24.0
