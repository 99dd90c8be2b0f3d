"""Random perceptrons and cosines: of many that are drawn in every round, the best one is taken."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from boostbench.core.learners.perceptrons import Perceptron
from boostbench.core.stumps.ties import EQUAL, first_largest
from boostbench.core.weak_learner import Found, Stack

# What single precision tells apart.
_EPS_FLOAT32 = float(np.finfo(np.float32).eps)


class Cosine(NamedTuple):
    """A weak learner: ``cos(direction @ x - phase)``, a Fourier feature."""

    direction: np.ndarray
    phase: float

    def __call__(self, X):
        """Evaluate it for X of shape (n_samples, n_features): from -1 to +1 for each sample."""
        return np.cos(X @ self.direction - self.phase)


class Cosines(Stack):
    """T stacked cosines.

    Parameters
    ----------
    cosines : sequence of Cosine

    Attributes
    ----------
    directions : ndarray of shape (n_hypotheses, n_features), dtype=float64
    phase : ndarray of shape (n_hypotheses,), dtype=float64
    """

    def __init__(self, cosines):
        self.directions = np.array([c.direction for c in cosines], dtype=np.float64)
        self.phase = np.array([c.phase for c in cosines], dtype=np.float64)

    def __len__(self):
        return len(self.phase)

    def outputs(self, X, some=slice(None)):
        """Evaluate some as `Stack.outputs`: from -1 to +1, of shape (n_samples, n_some)."""
        # Without hypotheses there is no number of features to take from them.
        directions = self.directions[some].reshape(-1, X.shape[1])
        return np.cos(X @ directions.T - self.phase[some])


class RandomFeatureSearch(ABC):
    """A search that draws candidates anew for every call of `best`.

    Those that come as near to the best one as rounding can tell are compared in double precision,
    and of equal ones the first that was drawn is taken.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Training data.
    n_candidates : int
        Drawn in every call.
    rng : numpy.random.Generator
    """

    def __init__(self, X, n_candidates, rng):
        self.X = np.ascontiguousarray(X, dtype=np.float64)
        self._n_candidates = n_candidates
        self._rng = rng

    def best(self, G):
        """Find the candidate of the largest absolute edge, of either sign; see `Search.best`."""
        make_learner, edges, errors = self._candidates(G)
        scale = np.abs(G).sum(axis=0).max()
        # Two edges are off by half of eps for each term, in single precision.
        slack = (2 * (len(G) + 2) * _EPS_FLOAT32 + EQUAL) * scale
        magnitudes = np.abs(edges).max(axis=0)
        upper_bounds = magnitudes + errors * scale
        while (best_bound := (magnitudes - errors * scale).max()) > -np.inf:
            candidates = np.flatnonzero(upper_bounds >= best_bound - slack)
            scores = np.array(
                [self._exact_scores(make_learner(candidate), G) for candidate in candidates]
            )
            if (scores >= 0).any():
                nth, column = divmod(int(first_largest(scores.ravel(), scale)), G.shape[1])
                learner = make_learner(candidates[nth])
                outputs = learner(self.X)
                return Found(learner, outputs, float(G[:, column] @ outputs), column)
            magnitudes[candidates] = upper_bounds[candidates] = -np.inf
        return None

    def _exact_scores(self, learner, G):
        """Sizes of the edges of a weak learner; -inf for a constant, which is none."""
        outputs = learner(self.X)
        # A bias is more than a constant.
        varies = (outputs != outputs[0]).any()
        return np.abs(outputs @ G) if varies else np.full(G.shape[1], -np.inf)

    def leave_out(self, learner):  # noqa: B027
        """Do nothing: what is drawn anew is not found again."""

    @abstractmethod
    def _candidates(self, G):
        """Draw candidates.

        Returns
        -------
        make_learner : callable
            Takes the number of a candidate; returns the weak learner.
        edges : ndarray of shape (n_columns, n_candidates)
            From sums in single precision.
        errors : ndarray of shape (n_candidates,)
            By so much the outputs that were added up may be wrong, each of them; for a few that
            may all be wrong, 2.
        """

    def _draw_directions(self):
        shape = self._n_candidates, self.X.shape[1]
        return self._rng.standard_normal(shape, dtype=np.float32)

    def _draw_uniform(self):
        return self._rng.random(self._n_candidates, dtype=np.float32)


class RandomPerceptronSearch(RandomFeatureSearch):
    """Perceptrons with directions uniform on the sphere, and thresholds uniform in [-R, R].

    R is the largest norm of a sample.

    Parameters
    ----------
    X, n_candidates, rng
        As of `RandomFeatureSearch`.

    References
    ----------
    .. [1] H.-T. Lin and L. Li, "Support vector machinery for infinite ensemble learning", JMLR 9,
       2008: the distribution whose inner products are the perceptron kernel.
    """

    learners = Perceptron

    def __init__(self, X, n_candidates, rng):
        super().__init__(X, n_candidates, rng)
        largest = np.abs(self.X).max(initial=0.0)
        # Norms are those of numbers near 1, whose squares do not overflow.
        scaled = self.X / (largest or 1.0)
        radius = np.sqrt((scaled**2).sum(axis=1).max()) or 1.0
        self._radius = radius * (largest or 1.0)
        self._scaled = (scaled / radius).astype(np.float32)
        # To ask for fresh memory in every round would take longer than the search.
        self._values = np.empty((2, len(X), n_candidates), np.float32)

    def _candidates(self, G):
        directions = self._draw_directions()
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        thresholds = 2 * self._draw_uniform() - 1
        values, distances = self._values
        np.matmul(self._scaled, directions.T, out=values)
        values -= thresholds
        # On which side a sample is that is so near to the threshold, only double precision tells:
        # directions and samples are of length 1 at most.
        nearest = np.abs(values, out=distances).min(axis=0)
        errors = np.where(nearest <= (self.X.shape[1] + 4) * _EPS_FLOAT32, 2.0, 0.0)
        outputs = np.copysign(np.float32(1), values, out=values)
        edges = G.T.astype(np.float32) @ outputs

        def make_learner(i):
            return Perceptron(directions[i].astype(np.float64), float(thresholds[i]) * self._radius)

        return make_learner, edges, errors


class SignedPerceptronSearch(RandomPerceptronSearch):
    """Random perceptrons and their negatives.

    Parameters
    ----------
    X, n_candidates, rng
        As of `RandomPerceptronSearch`.
    """

    def best(self, G):
        """Find the perceptron and column of the largest edge, positive or 0, as `Search.best`."""
        result = super().best(G)
        if result is None or result.edge >= 0:
            return result
        negated = Perceptron(-result.learner.direction, -result.learner.threshold)
        outputs = negated(self.X)
        return Found(negated, outputs, float(G[:, result.column] @ outputs), result.column)


class RandomCosineSearch(RandomFeatureSearch):
    r"""Fourier features: directions from :math:`N(0, 2 \gamma I)`, phases uniform in [0, 2 pi).

    Parameters
    ----------
    X, n_candidates, rng
        As of `RandomFeatureSearch`.
    gamma : float
        :math:`\gamma` of the kernel :math:`\exp(-\gamma \|x - x'\|^2)` that their inner products
        estimate.

    References
    ----------
    .. [1] A. Rahimi and B. Recht, "Random features for large-scale kernel machines", NIPS 2007.
    """

    learners = Cosine

    def __init__(self, X, n_candidates, rng, gamma):
        super().__init__(X, n_candidates, rng)
        self._scale = np.sqrt(2.0 * gamma)
        self._scaled = (self._scale * self.X).astype(np.float32)
        self._longest = np.linalg.norm(self._scaled.astype(np.float64), axis=1).max()

    def _candidates(self, G):
        directions = self._draw_directions()
        phases = np.float32(2 * np.pi) * self._draw_uniform()
        outputs = self._scaled @ directions.T
        outputs -= phases
        np.cos(outputs, out=outputs)
        edges = G.T.astype(np.float32) @ outputs
        # A cosine is off by no more than its argument, a sum of products, is.
        lengths = self._longest * np.linalg.norm(directions, axis=1)
        errors = (self.X.shape[1] + 4) * _EPS_FLOAT32 * (lengths + 2 * np.pi)

        def make_learner(i):
            return Cosine(self._scale * directions[i].astype(np.float64), float(phases[i]))

        return make_learner, edges, errors
