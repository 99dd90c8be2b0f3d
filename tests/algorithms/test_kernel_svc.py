import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import gamma as gamma_function
from sklearn.base import clone
from sklearn.decomposition import KernelPCA
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC

from boostbench.algorithms import FourierFeaturesSVC, PerceptronKernelSVC, StumpKernelSVC
from boostbench.algorithms.kernel_svc import perceptron_kernel, stump_kernel

from .problems import blobs, noise

MODELS = [
    StumpKernelSVC(),
    PerceptronKernelSVC(),
    FourierFeaturesSVC(n_components=100, random_state=0),
]


def draw(seed=0, n_samples=12, n_features=3):
    return np.random.default_rng(seed).normal(size=(n_samples, n_features))


def test_stump_kernel_equals_the_sum_over_all_stumps():
    """The integral is a finite sum, since all thresholds between two values give one stump."""
    X = draw()
    total = np.zeros((len(X), len(X)))
    for column in X.T:
        values = np.sort(column)
        for low, high in itertools.pairwise(values):
            h = np.where(column > (low + high) / 2, 1.0, -1.0)
            for polarity in (1, -1):
                total += (high - low) * np.outer(polarity * h, polarity * h)
    offset = 0.5 * np.ptp(X, axis=0).sum()
    np.testing.assert_allclose(4 * stump_kernel(X, offset=offset), total)


@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_perceptron_kernel_equals_the_mean_over_perceptrons(n_features):
    X, rng = draw(1, 8, n_features), np.random.default_rng(2)
    n, R = 400_000, np.linalg.norm(X, axis=1).max()
    directions = rng.normal(size=(n, n_features))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    outputs = np.where(X @ directions.T > rng.uniform(-R, R, n), 1.0, -1.0)
    mean = outputs @ outputs.T / n
    c = gamma_function(n_features / 2) / (np.sqrt(np.pi) * gamma_function((n_features + 1) / 2))
    # The tolerance is six standard deviations of the sampled means.
    np.testing.assert_allclose(c / R * perceptron_kernel(X, offset=R / c), mean, atol=6 / n**0.5)


@pytest.mark.parametrize("kernel", [stump_kernel, perceptron_kernel])
def test_kernels_are_conditionally_positive_definite(kernel):
    X, Y = draw(0), draw(1, 5)
    assert kernel(X, Y).shape == (12, 5)
    np.testing.assert_allclose(kernel(X, Y), kernel(np.vstack([X, Y]))[:12, 12:], atol=1e-12)
    # Conditional positive definiteness concerns vectors orthogonal to the constant one.
    centre = np.eye(12) - 1 / 12
    assert np.linalg.eigvalsh(centre @ kernel(X) @ centre).min() > -1e-12


def test_kernels_with_offsets_are_positive_semidefinite():
    X = draw(3, 30)
    stumps = stump_kernel(X, offset=0.5 * np.ptp(X, axis=0).sum())
    perceptrons = perceptron_kernel(X, offset=2 * np.linalg.norm(X, axis=1).max())
    for matrix in (stumps, perceptrons):
        assert np.linalg.eigvalsh(matrix).min() > -1e-10


@pytest.mark.parametrize(
    ("model", "kernel"), [(StumpKernelSVC, stump_kernel), (PerceptronKernelSVC, perceptron_kernel)]
)
class TestKernelSVC:
    def test_offset_of_the_kernel_does_not_matter(self, model, kernel):
        X, y = blobs(2, seed=1)
        ours = model(C=0.1).fit(X, y)
        theirs = SVC(C=0.1, kernel=lambda A, B: kernel(A, B, offset=50.0)).fit(X, y)
        np.testing.assert_allclose(
            ours.decision_function(X), theirs.decision_function(X), atol=0.02
        )

    def test_solution_equals_another_solver_of_the_dual(self, model, kernel):
        """The other solver maximises eq. (2)."""
        X, y = noise(2, n_samples=30)
        signs, C = 2.0 * y - 1, 0.2
        Q = kernel(X) * np.outer(signs, signs)
        theirs = minimize(
            lambda a: a @ Q @ a / 2 - a.sum(),
            np.full(30, C / 2),
            jac=lambda a: Q @ a - 1,
            bounds=[(0, C)] * 30,
            constraints={"type": "eq", "fun": lambda a: signs @ a, "jac": lambda a: signs},
            method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-12},
        )
        machine = model(C=C).fit(X, y).machine_
        alpha = np.zeros(30)
        alpha[machine.support_] = np.abs(machine.dual_coef_[0])
        assert alpha @ Q @ alpha / 2 - alpha.sum() == pytest.approx(theirs.fun, rel=1e-3)


def test_many_fourier_features_approximate_the_gaussian_kernel():
    X, y = blobs(2, n_samples=80, seed=2)
    model = FourierFeaturesSVC(gamma=0.05, n_components=20_000, random_state=0).fit(X, y)
    features = model.machine_[0].transform(X)
    np.testing.assert_allclose(
        features @ features.T, pairwise_kernels(X, metric="rbf", gamma=0.05), atol=0.05
    )


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("C", [0.0, -1.0, np.inf])
def test_invalid_C_raises(model, C):
    with pytest.raises(ValueError, match=r"The 'C' parameter of .* must be"):
        clone(model).set_params(C=C).fit(*blobs(2))


@pytest.mark.parametrize("model", MODELS)
def test_one_class_raises(model):
    with pytest.raises(ValueError, match="class"):
        clone(model).fit(np.arange(8.0).reshape(4, 2), ["a"] * 4)


@pytest.mark.parametrize("model", MODELS)
def test_constant_features_and_one_sample_per_class(model):
    """The models are trained like support vector machines of scikit-learn."""
    constant = clone(model).fit(np.ones((5, 2)), [0, 1, 1, 0, 1])
    assert len(set(constant.predict(np.ones((3, 2))))) == 1
    single = clone(model).fit(np.array([[0.0, 1.0], [5.0, 1.0]]), [0, 1])
    assert single.predict([[0.0, 1.0], [5.0, 1.0]]).tolist() == [0, 1]


@pytest.mark.parametrize("kernel", [stump_kernel, perceptron_kernel])
def test_kernels_are_callables_for_scikit_learn(kernel):
    """The kernels work as a metric of `pairwise_kernels` and as a kernel of other models."""
    X, Y = draw(0), draw(1, 5)
    np.testing.assert_allclose(
        pairwise_kernels(X, Y, metric=lambda a, b: kernel([a], [b])[0, 0]), kernel(X, Y)
    )
    actual = KernelPCA(2, kernel="precomputed").fit_transform(kernel(X))
    expected = KernelPCA(2, kernel=lambda a, b: kernel([a], [b])[0, 0]).fit_transform(X)
    np.testing.assert_allclose(np.abs(actual), np.abs(expected), atol=1e-8)


@pytest.mark.parametrize("model", MODELS)
def test_words_raise_an_error_with_the_column(model):
    X, y = blobs(2)
    frame = pd.DataFrame(X, columns=list("abcd"))
    words = frame.assign(b="elm")
    with pytest.raises(ValueError, match="column 'b' holds categories"):
        clone(model).fit(words, y)
    with pytest.raises(ValueError, match="column 'b' holds categories"):
        clone(model).fit(frame, y).predict(words)
