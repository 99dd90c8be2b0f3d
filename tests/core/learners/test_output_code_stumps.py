import numpy as np
import pytest

from boostbench.core.learners import output_code_stumps
from boostbench.core.learners.output_code_stumps import OutputCodeStumpSearch, OutputProducts
from boostbench.core.stumps.stump import Stump

from ..stumps import reference


def make_problem(seed, n_classes=3, n_codes=6):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (20, 3)).astype(float)
    weights = rng.normal(size=(20, n_classes))
    codes = rng.normal(size=(n_codes, n_classes)).astype(np.float32)
    violation = 5 * rng.normal(size=n_codes).astype(np.float32)
    return X, weights, codes, violation


def largest_violation(X, weights, codes, violation):
    """Return the maximum of eq. (24) over all stumps, polarities and codes."""
    return max(
        violation[v] + abs(reference.edge(X, weights @ codes[v], feature, threshold))
        for feature, threshold in reference.stumps(X)
        for v in range(len(codes))
    )


@pytest.mark.parametrize("block", [1, 3, 10**6])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("seed", range(4))
def test_best_violation_equals_brute_force(seed, n_classes, block, monkeypatch):
    monkeypatch.setattr(output_code_stumps, "_FIRST_BLOCK", block)
    X, weights, codes, violation = make_problem(seed, n_classes)
    result = OutputCodeStumpSearch(X).best(weights, codes, violation)
    outputs = result.learner(X)
    assert result.outputs.tolist() == outputs.tolist()
    scores = violation + codes @ (outputs @ weights)
    assert result.edge == pytest.approx(scores[result.column])
    assert scores.max() == pytest.approx(largest_violation(X, weights, codes, violation), rel=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_best_for_one_code_equals_brute_force(seed):
    X, weights, codes, _ = make_problem(seed)
    result = OutputCodeStumpSearch(X).best(weights, codes[:1], np.zeros(1, np.float32))
    assert codes[0] @ (result.learner(X) @ weights) == pytest.approx(result.edge)
    assert result.edge == pytest.approx(
        largest_violation(X, weights, codes[:1], np.zeros(1)), rel=1e-5
    )


def test_code_of_small_violation_is_not_selected(monkeypatch):
    """Give one of two codes a much smaller violation than the other."""
    X, weights, codes, _ = make_problem(0, n_codes=2)
    search, no_violation = OutputCodeStumpSearch(X), np.zeros(1, np.float32)
    single = [search.best(weights, code[None], no_violation).learner for code in codes]
    assert single[0] != single[1]
    monkeypatch.setattr(output_code_stumps, "_FIRST_BLOCK", 1)
    violations = np.array([0.0, -1e4], np.float32)
    for column, violation in enumerate((violations, violations[::-1])):
        result = search.best(weights, codes, violation)
        assert (result.learner, result.column) == (single[column], column)


@pytest.mark.parametrize("seed", range(10))
def test_ties_at_gain_zero_go_to_the_first_stump(seed):
    """A code that is equal for all classes has gains of 0 up to rounding, in any order."""
    X, weights, _, _ = make_problem(seed)
    weights -= weights.mean(axis=1, keepdims=True)
    codes = np.ones((1, 3), np.float32)
    for order in (np.arange(len(X)), np.random.default_rng(seed).permutation(len(X))):
        stump = OutputCodeStumpSearch(X[order]).best(weights[order], codes, np.zeros(1)).learner
        assert (stump.feature, stump.polarity) == (0, 1)
        assert stump.threshold == reference.midpoints(X[:, 0])[0]


def test_best_is_none_for_constant_features():
    _, weights, codes, violation = make_problem(0)
    assert OutputCodeStumpSearch(np.ones((20, 3))).best(weights, codes, violation) is None


@pytest.mark.parametrize("slack", [1 / 16, 0.3])
@pytest.mark.parametrize("seed", range(6))
def test_candidates_are_all_pairs_within_the_slack(seed, slack, monkeypatch):
    """Scores of small whole numbers are exact multiples of 1/8, with many ties."""
    monkeypatch.setattr(output_code_stumps, "_FIRST_BLOCK", 2)
    monkeypatch.setattr(output_code_stumps, "_LARGEST_BLOCK", 8)
    rng = np.random.default_rng(seed)
    edges, codes = (rng.integers(-2, 3, (n, 2)).astype(np.float32) for n in (60, 30))
    violation = rng.integers(0, 3, 30) / 8
    scores = violation + np.abs(edges @ codes.T)
    candidates = output_code_stumps.select_candidates(edges, codes, violation, slack)
    expected = np.nonzero(scores >= scores.max() - slack)
    assert set(zip(*candidates, strict=True)) == set(zip(*expected, strict=True))
    assert len(candidates[0]) == len(expected[0])


def test_best_handles_weights_whose_squares_underflow():
    X, weights, codes, _ = make_problem(0)
    violation = np.zeros(len(codes), np.float32)
    assert OutputCodeStumpSearch(X).best(2.0**-90 * weights, codes, violation).edge > 0


@pytest.mark.parametrize("rows_per_feature", [0, 2, 10**6])
@pytest.mark.parametrize("seed", range(4))
def test_products_equal_products_with_the_matrix_of_outputs(seed, rows_per_feature, monkeypatch):
    """Stumps repeat, in both polarities, and the second feature has the values of the first."""
    monkeypatch.setattr(output_code_stumps, "_ROWS_PER_FEATURE", rows_per_feature)
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 8, (20, 3)).astype(float)
    X[:, 1] = X[:, 0]
    all_stumps = list(reference.stumps(X))
    products, H = OutputProducts(X), np.empty((0, 20))
    for _ in range(40):
        stump = Stump(*all_stumps[rng.integers(len(all_stumps))], int(rng.choice([-1, 1])))
        H = np.vstack([H, stump(X)])
        products.append(stump, H[-1])
        codes, weights = rng.normal(size=(len(H), 4)), rng.normal(size=(4, 20))
        np.testing.assert_allclose(products.scores(codes), codes.T @ H, atol=1e-12)
        np.testing.assert_allclose(products.edges(weights), H @ weights.T, atol=1e-12)


def test_products_with_outputs_of_other_weak_learners():
    rng = np.random.default_rng(0)
    products, H = OutputProducts(rng.normal(size=(20, 1))), rng.choice([-1.0, 1.0], (30, 20))
    for outputs in H:
        products.append(None, outputs)
    codes, weights = rng.normal(size=(30, 4)), rng.normal(size=(4, 20))
    np.testing.assert_allclose(products.scores(codes), codes.T @ H, atol=1e-12)
    np.testing.assert_allclose(products.edges(weights), H @ weights.T, atol=1e-12)
