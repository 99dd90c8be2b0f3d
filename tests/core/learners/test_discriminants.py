import itertools

import numpy as np
import pytest

from boostbench.core.learners import discriminants
from boostbench.core.learners.discriminants import (
    OutputCodeDiscriminantSearch,
    ProjectedDiscriminantSearch,
    fisher_direction,
)
from boostbench.core.learners.projected_stumps import (
    IndependentProjectionSearch,
    PooledProjectionSearch,
)

from ..stumps import reference


@pytest.mark.parametrize("seed", range(5))
def test_direction_maximises_fishers_ratio(seed):
    rng = np.random.default_rng(seed)
    root, difference = rng.normal(size=(6, 4)), rng.normal(size=4)
    within = root.T @ root

    def ratio(direction):
        return (direction @ difference) ** 2 / (direction @ within @ direction)

    best = fisher_direction(within, difference)
    assert best @ difference > 0
    assert all(ratio(best) >= ratio(rng.normal(size=4)) for _ in range(200))
    assert all(ratio(best) >= ratio(best + 0.01 * rng.normal(size=4)) for _ in range(50))


def test_directions_of_a_batch_equal_single_solutions():
    rng = np.random.default_rng(0)
    roots, differences = rng.normal(size=(3, 5, 4)), rng.normal(size=(3, 4))
    within = roots.transpose(0, 2, 1) @ roots
    stacked = fisher_direction(within, differences)
    for solution, matrix, difference in zip(stacked, within, differences, strict=True):
        np.testing.assert_allclose(solution, np.linalg.solve(matrix, difference), rtol=1e-8)


def test_constant_features_have_weight_zero():
    within = np.diag([2.0, 0.0, 1.0])
    assert fisher_direction(within, np.array([1.0, 5.0, 1.0])).tolist() == [0.5, 0.0, 1.0]


def problem(seed, n_samples=30, n_features=3, n_classes=3):
    rng = np.random.default_rng(seed)
    G = rng.normal(size=(n_samples, n_classes))
    return rng.normal(size=(n_samples, n_features)), G - G.mean()


def independent(X, G, n_projections, rng):
    return IndependentProjectionSearch(X, G.shape[1], n_projections, 6, rng)


def pooled(X, G, n_projections, rng):
    return PooledProjectionSearch(X, G.shape[1], n_projections, 6, rng, pool_size=50)


def values_on_discriminant(search, X, G, selected):
    """Return the weighted discriminant, computed point by point, at all points P^(r) x_i."""
    points, weights = [], []
    for i, x in enumerate(X):
        for r in range(G.shape[1]):
            points.append(search.projection_rows(selected)[:, r] @ x)
            weights.append(G[i, r])
    points, weights = np.array(points), np.array(weights)
    within, means = 0.0, []
    for kind in (weights > 0, weights < 0):
        w = np.abs(weights[kind]) / np.abs(weights[kind]).sum()
        mean = sum(a * p for a, p in zip(w, points[kind], strict=True))
        within = within + sum(
            a * np.outer(p - mean, p - mean) for a, p in zip(w, points[kind], strict=True)
        )
        means.append(mean)
    direction = np.linalg.pinv(within, rcond=1e-9) @ (means[0] - means[1])
    return (points @ direction).reshape(G.shape)


@pytest.mark.parametrize("kind", [independent, pooled])
@pytest.mark.parametrize("n_selected", [5, 40], ids=["fewer than k d", "more than k d"])
@pytest.mark.parametrize("seed", range(5))
def test_discriminant_equals_literal_one_of_projected_points(kind, n_selected, seed):
    X, G = problem(seed)
    search = kind(X, G, 40, np.random.default_rng(seed))
    search_with_discriminant = ProjectedDiscriminantSearch(
        search, X, 40, n_selected, np.random.default_rng(seed)
    )
    selected = np.random.default_rng(seed).choice(40, n_selected, replace=False)
    values = X @ search_with_discriminant._discriminant(G).T
    np.testing.assert_allclose(values, values_on_discriminant(search, X, G, selected), rtol=1e-5)


@pytest.mark.parametrize("seed", range(10))
def test_best_edge_equals_brute_force(seed):
    X, G = problem(seed)
    search = independent(X, G, 4, np.random.default_rng(seed))
    model = ProjectedDiscriminantSearch(search, X, 4, 100, np.random.default_rng(seed))
    result = model.best(G)
    edge = (G * result.learner(X)).sum()
    assert result.edge == pytest.approx(edge, rel=1e-12)
    direction = ProjectedDiscriminantSearch(
        search, X, 4, 100, np.random.default_rng(seed)
    )._discriminant(G)
    values = np.unique(X @ direction.T)
    edges = [
        abs(reference.projected_edge(X, G, direction, (low + high) / 2))
        for low, high in itertools.pairwise(values)
    ]
    plain = search.best(G).edge
    assert edge == pytest.approx(max(*edges, plain), rel=1e-6)


def test_equal_points_are_not_separated():
    X, G = problem(0)
    X = np.repeat(X[:3], 10, axis=0)
    model = ProjectedDiscriminantSearch(
        independent(X, G, 4, np.random.default_rng(0)), X, 4, 100, np.random.default_rng(0)
    )
    outputs = model._discriminant_stump(G).outputs
    for start in range(0, 30, 10):
        assert (outputs[start : start + 10] == outputs[start]).all()


def tied(seed, n_classes=3, n_samples=40):
    """Return a problem of few distinct values and weights, with sums equal up to rounding."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, size=(n_samples, 2)) / 10
    weights = rng.choice([-0.3, -0.1, 0.1, 0.3], (n_samples, n_classes))
    return X, weights, rng.permutation(n_samples)


@pytest.mark.parametrize("kind", [independent, pooled])
@pytest.mark.parametrize("seed", range(10))
def test_ties_do_not_depend_on_the_order_of_samples(kind, seed):
    """Rounding errors, which depend on the order of samples, do not affect the result."""
    X, G, order = tied(seed)
    # The weights sum to zero, since each sample has a neighbour with the opposite weights.
    X, G = np.concatenate([X, X[::-1] + 0.1]), np.concatenate([G, -G])
    order = np.concatenate([order, len(order) + order])
    results = []
    for Z, W in ((X, G), (X[order], G[order])):
        search = kind(Z, W, 4, np.random.default_rng(seed))
        model = ProjectedDiscriminantSearch(search, Z, 4, 4, np.random.default_rng(seed))
        results.append((model._discriminant_stump(W), model.best(W)))
    for first_result, second_result in zip(*results, strict=True):
        assert (first_result.learner(X) == second_result.learner(X)).all()


def make_problem(seed, n_classes=3, n_codes=6, n_samples=25, n_features=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features)) * [1, 5, 0.2, 3, 1][:n_features] + 1
    weights = rng.normal(size=(n_samples, n_classes))
    codes = rng.normal(size=(n_codes, n_classes)).astype(np.float32)
    violation = 5 * rng.normal(size=n_codes).astype(np.float32)
    return X, weights, codes, violation


def signed_weights(weights, code):
    return np.array([sum(g * p for g, p in zip(row, code, strict=True)) for row in weights])


def discriminant(X, signed):
    """``(S1 + S2)^-1 (mu1 - mu2)`` from the weighted means and covariances of the two sides."""
    means, covariances = [], []
    for side in (signed > 0, signed < 0):
        size = np.abs(signed[side])
        means.append(np.average(X[side], axis=0, weights=size))
        covariances.append(np.cov(X[side].T, aweights=size, ddof=0))
    return np.linalg.pinv(sum(covariances), rcond=1e-10) @ (means[0] - means[1])


def largest_violation(X, weights, codes, violation):
    """Return the maximum of eq. (24) over all stumps on the discriminants, and its code."""
    scores = []
    for v, code in enumerate(codes):
        signed = signed_weights(weights, code)
        line = (X @ discriminant(X, signed))[:, None]
        edges = [abs(reference.edge(line, signed, *stump)) for stump in reference.stumps(line)]
        scores.append(violation[v] + max(edges))
    return max(scores), int(np.argmax(scores))


@pytest.mark.parametrize("n_features", [2, 3, 5])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("seed", range(4))
def test_best_violation_equals_brute_force(seed, n_classes, n_features):
    X, weights, codes, violation = make_problem(seed, n_classes, n_features=n_features)
    perceptron, outputs, edge, column, _ = OutputCodeDiscriminantSearch(X).best(
        weights, codes, violation
    )
    expected, v = largest_violation(X, weights, codes, violation)
    assert outputs.tolist() == perceptron(X).tolist()
    assert (edge, column) == (pytest.approx(expected), v)
    assert violation[v] + signed_weights(weights, codes[v]) @ perceptron(X) == pytest.approx(
        expected
    )
    direction = discriminant(X, signed_weights(weights, codes[v]))
    cosine = direction @ perceptron.direction / np.linalg.norm(direction)
    assert abs(cosine) == pytest.approx(np.linalg.norm(perceptron.direction))


@pytest.mark.parametrize("seed", range(4))
def test_best_for_one_code_equals_brute_force(seed):
    X, weights, codes, _ = make_problem(seed)
    h = OutputCodeDiscriminantSearch(X).best(weights, codes[:1], np.zeros(1)).outputs
    expected, _ = largest_violation(X, weights, codes[:1], np.zeros(1))
    assert signed_weights(weights, codes[0]) @ h == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(20))
def test_ties_go_to_the_first_code_in_any_order_of_samples(seed):
    """Rounding errors, which depend on the order of samples, do not affect the result."""
    X, weights, order = tied(seed)
    codes = np.random.default_rng(seed).choice([-1, 1], (12, 3)).astype(np.float32)
    violation = np.zeros(12, np.float32)
    first_result = OutputCodeDiscriminantSearch(X).best(weights, codes, violation)
    second_result = OutputCodeDiscriminantSearch(X[order]).best(weights[order], codes, violation)
    assert first_result.column == second_result.column
    assert (first_result.learner(X) == second_result.learner(X)).all()
    # Equal and opposite codes tie.
    same = (codes == codes[first_result.column]).all(axis=1) | (
        codes == -codes[first_result.column]
    ).all(axis=1)
    assert first_result.column == same.argmax()


@pytest.mark.parametrize("sizes", [(1, 10**6, 10**6), (5, 1, 0), (3, 60, 0), (50, 10**6, 0)])
@pytest.mark.parametrize("seed", range(3))
def test_result_does_not_depend_on_block_sizes(seed, sizes, monkeypatch):
    X, weights, codes, violation = make_problem(seed, n_codes=40)
    full = OutputCodeDiscriminantSearch(X).best(weights, codes, violation).learner
    for name, size in zip(
        ("_BLOCK_CODES", "_PRODUCT_VALUES", "_MAX_CACHED_VALUES"), sizes, strict=True
    ):
        monkeypatch.setattr(discriminants, name, size)
    blocked = OutputCodeDiscriminantSearch(X).best(weights, codes, violation).learner
    np.testing.assert_allclose(blocked.direction, full.direction, rtol=1e-9)
    assert blocked.threshold == pytest.approx(full.threshold)


def test_block_holds_at_least_one_code(monkeypatch):
    X, weights, codes, violation = make_problem(0)
    full = OutputCodeDiscriminantSearch(X).best(weights, codes, violation).learner
    monkeypatch.setattr(discriminants, "_BLOCK_VALUES", 1)
    blocked = OutputCodeDiscriminantSearch(X).best(weights, codes, violation).learner
    np.testing.assert_allclose(blocked.direction, full.direction, rtol=1e-9)


def test_result_does_not_depend_on_an_offset_of_features():
    X, weights, codes, violation = make_problem(0)
    original = OutputCodeDiscriminantSearch(X).best(weights, codes, violation).learner
    shifted = OutputCodeDiscriminantSearch(X + 1e4).best(weights, codes, violation).learner
    np.testing.assert_allclose(shifted.direction, original.direction, rtol=1e-6)
    assert (shifted(X + 1e4) == original(X)).all()


def test_repeated_and_constant_features_do_not_change_outputs():
    """The covariances are singular. The pseudo-inverse divides a weight among equal features."""
    X, weights, codes, violation = make_problem(0)
    plain = OutputCodeDiscriminantSearch(X).best(weights, codes, violation).learner
    wide = np.column_stack([X, X[:, 0], np.full(len(X), 3.0)])
    perceptron = OutputCodeDiscriminantSearch(wide).best(weights, codes, violation).learner
    assert (perceptron(wide) == plain(X)).all()
    halves = plain.direction * [0.5, 1, 1]
    np.testing.assert_allclose(
        perceptron.direction, [*halves, halves[0], 0], atol=1e-9 * np.abs(halves).max()
    )


@pytest.mark.parametrize("seed", range(5))
def test_equal_samples_are_not_separated(seed):
    """Edges of thresholds between equal samples are not counted."""
    rng = np.random.default_rng(seed)
    cells = rng.normal(size=(6, 2))
    cell = np.arange(30) % 6
    X, weights = cells[cell], rng.normal(size=(30, 3))
    codes = rng.normal(size=(8, 3)).astype(np.float32)
    h = OutputCodeDiscriminantSearch(X).best(weights, codes, np.zeros(8)).outputs
    assert all(len(set(h[cell == c])) == 1 for c in range(6))
    expected = 0.0
    for code in codes:
        signed = signed_weights(weights, code)
        line = np.round(X @ discriminant(X, signed), 9)[:, None]
        edges = [abs(reference.edge(line, signed, *stump)) for stump in reference.stumps(line)]
        expected = max(expected, *edges)
    assert np.abs(codes @ (h @ weights)).max() == pytest.approx(expected)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("weight", [0.0, 1.0, -1e-30])
def test_weights_of_one_sign_give_a_finite_result_or_none(weight):
    """The discriminant is not defined, since one of the classes is empty."""
    X = make_problem(0)[0]
    weights = np.full((len(X), 2), weight)
    codes = np.ones((3, 2), np.float32)
    result = OutputCodeDiscriminantSearch(X).best(weights, codes, np.zeros(3))
    if weight == 0:
        assert result is None
    else:
        assert np.isfinite([*result.learner.direction, result.learner.threshold]).all()


def test_best_is_none_for_constant_features():
    _, weights, codes, violation = make_problem(0)
    assert (
        OutputCodeDiscriminantSearch(np.full((25, 3), 0.1)).best(weights, codes, violation) is None
    )
