"""RBoost^proj written out literally: projections, scores, eqs. (18), (20), (23) and (24)."""

import functools
import itertools

import numpy as np

from boostbench.algorithms import RBoostProj
from boostbench.core.projections import random_matrix

from . import reference
from .problems import noise


class Fitted:
    """Fitted model with the quantities of the literal formulas; training ran all rounds.

    A subclass defines the `rule` that assigns coefficients, and `design`, `weights`,
    `violation` and `chosen`.
    """

    @classmethod
    def make(cls, seed=0, n_classes=3, n_iterations=7, n_projections=10, data=noise, **options):
        X, y = data(n_classes, n_samples=21, n_features=3, seed=seed)
        settings = {
            "rule": cls.rule,
            "n_iterations": n_iterations,
            "n_projections": n_projections,
            "nu": 1e-2,
            "tol": 0,
            "solver_iterations": 1000,
            "random_state": seed,
        }
        return cls(RBoostProj(**(settings | options)), X, y)

    def __init__(self, model, X, y):
        self.model = model.fit(X, y)
        self.X, self.y = X, y
        self.k = len(model.classes_)
        self.P = projections(model)
        self.w = model.weight_path_.toarray()
        self.H = self.outputs(X)

    def outputs(self, X):
        """Return h_t(x_i) as a list of arrays, one per round."""
        if self.model.weak_learner == "stump":
            return reference.stage_outputs(self.model, X)
        learners = self.model.hypotheses_
        return [
            np.array([1.0 if row @ direction > threshold else -1.0 for row in X])
            for direction, threshold in zip(learners.directions, learners.threshold, strict=True)
        ]

    def dual(self, t):
        """Return u / (m k) after round t, or before the first, t = -1: eq. (25)."""
        u = loss(self.model.loss, self.design(t) @ self.weights(t))[1]
        return u / u.size


class RowCoefficients(Fitted):
    """Fitted model with a coefficient for each row of P."""

    rule = "paper"

    def design(self, t):
        """Return the design after round t; zeros for t = -1, before the first round."""
        return design(self.H[: t + 1], self.P, self.y)

    def weights(self, t):
        """Return w after round t; zeros before the first round."""
        return self.w[t] if t >= 0 else np.zeros(self.model.n_projections)

    def violation(self, t):
        """Return the violations of the constraints of the rows before round t."""
        return np.einsum("ir,irv->v", self.dual(t - 1), self.design(t - 1))

    def chosen(self, t):
        """Return the rows that the weak learner of round t may belong to."""
        return range(self.model.n_projections)


class PairCoefficients(Fitted):
    """Fitted model with a coefficient for each pair of a weak learner and a row of P."""

    rule = "pair"

    def __init__(self, model, X, y):
        super().__init__(model, X, y)
        self.codes = [self.P[t, v] for t, v in enumerate(model.rows_)]

    def design(self, t):
        """Return the contributions of a unit of each coefficient to the margins, after round t."""
        result = np.zeros((len(self.y), self.k, t + 1))
        for i, r, s in itertools.product(range(len(self.y)), range(self.k), range(t + 1)):
            result[i, r, s] = (self.codes[s][self.y[i]] - self.codes[s][r]) * self.H[s][i]
        return result

    def weights(self, t):
        """Return w after round t; empty before the first round."""
        return self.w[t, : t + 1] if t >= 0 else np.zeros(0)

    def violation(self, t):
        """Return 0, since a new pair has a separate constraint."""
        return np.zeros(self.model.n_projections)

    def chosen(self, t):
        """Return the row that the weak learner of round t belongs to."""
        return [self.model.rows_[t]]


@functools.cache
def fit(kind, *args, **options):
    """Return a cached fit, which tests must not modify."""
    return kind.make(*args, **options)


def projections(model):
    """Return the matrices P of a fitted model, of shape (n_iterations_, n_projections, k)."""
    rng = np.random.default_rng(model.projection_seed_)
    shape = (model.n_projections, len(model.classes_))
    drawn = [random_matrix(model.projection, shape, rng) for _ in range(model.n_iterations_)]
    size = model.n_projections if model.scaling == "n" else np.sqrt(model.n_projections)
    return np.array(drawn, dtype=float) / size


def design(H, P, y):
    """Return ``(P^(y_i) - P^(r))_v H_i``, of shape (n_samples, n_classes, n_projections).

    Parameters
    ----------
    H : list of ndarray of shape (n_samples,)
        Outputs of the weak learners.
    P : ndarray of shape (at least len(H), n_projections, n_classes)
    y : ndarray of shape (n_samples,)
    """
    result = np.zeros((len(y), P.shape[2], P.shape[1]))
    for i in range(len(y)):
        for r in range(P.shape[2]):
            for t, h in enumerate(H):
                result[i, r] += (P[t, :, y[i]] - P[t, :, r]) * h[i]
    return result


def loss(name, margins):
    """Return the losses of margins and their dual variables u = -loss'."""
    if name == "exponential":
        return np.exp(-margins), np.exp(-margins)
    return np.logaddexp(0.0, -margins), np.exp(-np.logaddexp(0.0, margins))


def objective(w, Z, name, nu):
    """Return eq. (18) and its gradient for a design Z."""
    values, u = loss(name, Z @ w)
    n_pairs = values.size
    gradient = -np.einsum("ir,irv->v", u, Z) / n_pairs
    return values.sum() / n_pairs + nu * w.sum(), gradient + nu
