"""Random perceptrons and cosines: of many that are drawn in every round, the best one is taken."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from boostbench.core.learners.perceptrons import Perceptron
from boostbench.core.stumps.ties import EQUAL, first_largest
from boostbench.core.weak_learner import Found, Stack

# What single precision tells apart.
_SINGLE = float(np.finfo(np.float32).eps)


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


class RandomUnits(ABC):
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
        learners, edges, off = self._candidates(G)
        scale = np.abs(G).sum(axis=0).max()
        # Two edges are off by half of eps for each term, in single precision.
        slack = (2 * (len(G) + 2) * _SINGLE + EQUAL) * scale
        sizes = np.abs(edges).max(axis=0)
        most = sizes + off * scale
        while (reached := (sizes - off * scale).max()) > -np.inf:
            near = np.flatnonzero(most >= reached - slack)
            exact = np.array([self._exact(learners(candidate), G) for candidate in near])
            if (exact >= 0).any():
                at, column = divmod(int(first_largest(exact.ravel(), scale)), G.shape[1])
                learner = learners(near[at])
                outputs = learner(self.X)
                return Found(learner, outputs, float(G[:, column] @ outputs), column)
            sizes[near] = most[near] = -np.inf
        return None

    def _exact(self, learner, G):
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
        learners : callable
            Takes the number of a candidate; returns the weak learner.
        edges : ndarray of shape (n_columns, n_candidates)
            From sums in single precision.
        off : ndarray of shape (n_candidates,)
            By so much the outputs that were added up may be wrong, each of them; for a few that
            may all be wrong, 2.
        """

    def _directions(self):
        shape = self._n_candidates, self.X.shape[1]
        return self._rng.standard_normal(shape, dtype=np.float32)

    def _uniform(self):
        return self._rng.random(self._n_candidates, dtype=np.float32)


class RandomPerceptrons(RandomUnits):
    """Perceptrons with directions uniform on the sphere, and thresholds uniform in [-R, R].

    R is the largest norm of a sample.

    Parameters
    ----------
    X, n_candidates, rng
        As of `RandomUnits`.

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
        directions = self._directions()
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        thresholds = 2 * self._uniform() - 1
        values, sizes = self._values
        np.matmul(self._scaled, directions.T, out=values)
        values -= thresholds
        # On which side a sample is that is so near to the threshold, only double precision tells:
        # directions and samples are of length 1 at most.
        nearest = np.abs(values, out=sizes).min(axis=0)
        off = np.where(nearest <= (self.X.shape[1] + 4) * _SINGLE, 2.0, 0.0)
        outputs = np.copysign(np.float32(1), values, out=values)
        edges = G.T.astype(np.float32) @ outputs

        def learner(i):
            return Perceptron(directions[i].astype(np.float64), float(thresholds[i]) * self._radius)

        return learner, edges, off


class TurnedPerceptrons(RandomPerceptrons):
    """Random perceptrons and their negatives.

    Parameters
    ----------
    X, n_candidates, rng
        As of `RandomPerceptrons`.
    """

    def best(self, G):
        """Find the perceptron and column of the largest edge, positive or 0, as `Search.best`."""
        found = super().best(G)
        if found is None or found.edge >= 0:
            return found
        turned = Perceptron(-found.learner.direction, -found.learner.threshold)
        outputs = turned(self.X)
        return Found(turned, outputs, float(G[:, found.column] @ outputs), found.column)


class RandomCosines(RandomUnits):
    r"""Fourier features: directions from :math:`N(0, 2 \gamma I)`, phases uniform in [0, 2 pi).

    Parameters
    ----------
    X, n_candidates, rng
        As of `RandomUnits`.
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
        directions = self._directions()
        phases = np.float32(2 * np.pi) * self._uniform()
        outputs = self._scaled @ directions.T
        outputs -= phases
        np.cos(outputs, out=outputs)
        edges = G.T.astype(np.float32) @ outputs
        # A cosine is off by no more than its argument, a sum of products, is.
        lengths = self._longest * np.linalg.norm(directions, axis=1)
        off = (self.X.shape[1] + 4) * _SINGLE * (lengths + 2 * np.pi)

        def learner(i):
            return Cosine(self._scale * directions[i].astype(np.float64), float(phases[i]))

        return learner, edges, off
