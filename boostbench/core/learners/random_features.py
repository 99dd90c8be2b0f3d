"""Random perceptrons and cosines, drawn in every round, and mixtures of them with stumps: CGENS.

The searches return the best of many random candidates. `UnionSearch` searches several kinds of weak
learners, and `MixedStack` evaluates them together.
"""

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np

from boostbench.core.learners.perceptrons import Perceptron, Perceptrons
from boostbench.core.stumps.stump import Stump, Stumps
from boostbench.core.weak_learner import (
    TIE_TOLERANCE,
    LearnerStack,
    SearchResult,
    argmax_with_tolerance,
)

# Relative spacing of numbers in single precision.
_EPS_FLOAT32 = float(np.finfo(np.float32).eps)


class Cosine(NamedTuple):
    """Weak learner: ``cos(direction @ x - phase)``, a Fourier feature.

    Attributes
    ----------
    direction : ndarray of shape (n_features,), dtype=float64
    phase : float
        Phase in radians, from 0 to 2 pi.
    """

    direction: np.ndarray
    phase: float

    def __call__(self, X):
        """Return a number from -1 to +1 for each row of X, of shape (n_samples, n_features)."""
        return np.cos(X @ self.direction - self.phase)


class Cosines(LearnerStack):
    """Stack of cosines.

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

    def outputs(self, X, selection=slice(None)):
        """Return numbers from -1 to +1, one column each; see `LearnerStack.outputs`."""
        # An empty stack does not know the number of features, hence the reshape.
        directions = self.directions[selection].reshape(-1, X.shape[1])
        return np.cos(X @ directions.T - self.phase[selection])


class RandomFeatureSearch(ABC):
    """Base of the searches that draw new candidates in every call of `best`.

    Edges are computed in single precision. Candidates that could be the best one within rounding
    errors are compared in double precision. Ties go to the candidate that was drawn first.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Training data.
    n_candidates : int
        Number of candidates in every call.
    rng : numpy.random.Generator

    Attributes
    ----------
    learner_type : type
        Type of the weak learners, by which `UnionSearch` finds the search of a weak learner.
    """

    learner_type: ClassVar[type]

    def __init__(self, X, n_candidates, rng):
        self.X = np.ascontiguousarray(X, dtype=np.float64)
        self._n_candidates = n_candidates
        self._rng = rng

    def best(self, G):
        """Return the candidate with the largest absolute edge; see `Search.best`."""
        # 1) Draw candidates, and bound the largest absolute edge of each candidate, over the
        # columns of G, from below and above. `errors` bounds the errors of the outputs of each
        # candidate: times the scale, the largest sum of absolute weights of a column, it bounds the
        # errors of the edges.
        make_learner, edges, errors = self._draw_candidates(G)
        scale = np.abs(G).sum(axis=0).max()
        # `slack` is for the errors of the summation: at most eps / 2 for each term, relative to the
        # scale. The difference of two edges has the errors of both, which the slack exceeds.
        slack = (2 * (len(G) + 2) * _EPS_FLOAT32 + TIE_TOLERANCE) * scale
        magnitudes = np.abs(edges).max(axis=0)
        lower_bounds, upper_bounds = magnitudes - errors * scale, magnitudes + errors * scale
        # 2) Evaluate the candidates that may be the best in double precision. If all of them are
        # constant, remove them and try the next ones, until none is left. The bounds of removed
        # candidates are -inf.
        while (best_bound := lower_bounds.max()) > -np.inf:
            candidates = np.flatnonzero(upper_bounds >= best_bound - slack)
            scores = np.array(
                [self._exact_scores(make_learner(candidate), G) for candidate in candidates]
            )
            # The scores of constant candidates are -inf.
            if (scores >= 0).any():
                # `scores` has a row for each candidate and a column for each column of G, so that
                # the flat index of the best score gives both.
                best = int(argmax_with_tolerance(scores.ravel(), scale))
                row, column = divmod(best, G.shape[1])
                learner = make_learner(candidates[row])
                outputs = learner(self.X)
                return SearchResult(learner, outputs, float(G[:, column] @ outputs), column)
            lower_bounds[candidates] = upper_bounds[candidates] = -np.inf
        return None

    def _exact_scores(self, learner, G):
        """Return the absolute edges of a weak learner in all columns; -inf if it is constant."""
        outputs = learner(self.X)
        # The bias of a model makes constant weak learners superfluous.
        varies = (outputs != outputs[0]).any()
        return np.abs(outputs @ G) if varies else np.full(G.shape[1], -np.inf)

    def exclude(self, learner):  # noqa: B027
        """Do nothing: every call of `best` draws new candidates."""

    @abstractmethod
    def _draw_candidates(self, G):
        """Draw candidates and compute their edges.

        Returns
        -------
        make_learner : callable
            Function of the index of a candidate that returns the weak learner.
        edges : ndarray of shape (n_columns, n_candidates), dtype=float32
            Edge of each candidate in each column of G.
        errors : ndarray of shape (n_candidates,)
            Upper bound on the error of the outputs from which the edges are computed.
        """

    def _draw_directions(self):
        """Draw directions from N(0, I), of shape (n_candidates, n_features), dtype=float32."""
        shape = self._n_candidates, self.X.shape[1]
        return self._rng.standard_normal(shape, dtype=np.float32)

    def _draw_uniform(self):
        """Draw numbers from [0, 1), of shape (n_candidates,), dtype=float32."""
        return self._rng.random(self._n_candidates, dtype=np.float32)


class RandomPerceptronSearch(RandomFeatureSearch):
    """Perceptrons with directions uniform on the sphere, and thresholds uniform in [-R, R].

    R is the largest norm of a sample.

    Parameters
    ----------
    X, n_candidates, rng
        Same as for `RandomFeatureSearch`.

    References
    ----------
    .. [1] H.-T. Lin and L. Li, "Support vector machinery for infinite ensemble learning", JMLR 9,
       2008. Inner products of the outputs estimate the perceptron kernel.
    """

    learner_type = Perceptron

    def __init__(self, X, n_candidates, rng):
        super().__init__(X, n_candidates, rng)
        largest = np.abs(self.X).max(initial=0.0)
        # Norms are computed after scaling, so that squares do not overflow. If all samples are 0,
        # the radius is 1.
        scaled = self.X / (largest or 1.0)
        radius = np.sqrt((scaled**2).sum(axis=1).max()) or 1.0
        self._radius = radius * (largest or 1.0)
        self._scaled = (scaled / radius).astype(np.float32)
        # Two work arrays, whose allocation in every round would take longer than the search.
        self._work = np.empty((2, len(X), n_candidates), np.float32)

    def _draw_candidates(self, G):
        """Draw perceptrons; see `RandomFeatureSearch._draw_candidates`."""
        # Samples and thresholds are divided by R here; `make_learner` multiplies thresholds by it.
        directions = self._draw_directions()
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        thresholds = 2 * self._draw_uniform() - 1
        values, distances = self._work
        np.matmul(self._scaled, directions.T, out=values)
        values -= thresholds
        # Directions and samples have a norm of at most 1, which bounds the rounding error of
        # `values`. If a sample is nearer to the threshold, its output may have the wrong sign, an
        # error of 2.
        nearest = np.abs(values, out=distances).min(axis=0)
        errors = np.where(nearest <= (self.X.shape[1] + 4) * _EPS_FLOAT32, 2.0, 0.0)
        outputs = np.copysign(np.float32(1), values, out=values)
        edges = G.T.astype(np.float32) @ outputs

        def make_learner(i):
            """Return perceptron number i for samples that are not divided by R."""
            return Perceptron(directions[i].astype(np.float64), float(thresholds[i]) * self._radius)

        return make_learner, edges, errors


class SignedPerceptronSearch(RandomPerceptronSearch):
    """Random perceptrons with the sign that makes their edge positive.

    Boosters whose coefficients are not negative (AdaBoost, LPBoost) need this sign.

    Parameters
    ----------
    X, n_candidates, rng
        Same as for `RandomPerceptronSearch`.
    """

    def best(self, G):
        """Return the perceptron and column with the largest edge; see `Search.best`."""
        result = super().best(G)
        if result is None or result.edge >= 0:
            return result
        negated = Perceptron(-result.learner.direction, -result.learner.threshold)
        outputs = negated(self.X)
        return SearchResult(negated, outputs, float(G[:, result.column] @ outputs), result.column)


class RandomCosineSearch(RandomFeatureSearch):
    r"""Random Fourier features :math:`\cos(\theta^\top x - \kappa)` of a Gaussian kernel.

    Directions :math:`\theta` are drawn from :math:`N(0, 2 \gamma I)`, and phases :math:`\kappa`
    uniformly from [0, 2 pi).

    Parameters
    ----------
    X, n_candidates, rng
        Same as for `RandomFeatureSearch`.
    gamma : float
        Parameter :math:`\gamma` of the kernel :math:`\exp(-\gamma \|x - x'\|^2)`, which inner
        products of the outputs estimate.

    References
    ----------
    .. [1] A. Rahimi and B. Recht, "Random features for large-scale kernel machines", NIPS 2007.
    """

    learner_type = Cosine

    def __init__(self, X, n_candidates, rng, gamma):
        super().__init__(X, n_candidates, rng)
        self._scale = np.sqrt(2.0 * gamma)
        self._scaled = (self._scale * self.X).astype(np.float32)
        self._longest = np.linalg.norm(self._scaled.astype(np.float64), axis=1).max()

    def _draw_candidates(self, G):
        """Draw cosines; see `RandomFeatureSearch._draw_candidates`."""
        # Directions are drawn from N(0, I), and the samples are multiplied by sqrt(2 gamma).
        directions = self._draw_directions()
        phases = np.float32(2 * np.pi) * self._draw_uniform()
        outputs = self._scaled @ directions.T
        outputs -= phases
        np.cos(outputs, out=outputs)
        edges = G.T.astype(np.float32) @ outputs
        # The error of a cosine is at most the error of its argument, a sum of n_features products,
        # whose size is at most the product of both norms, and of the phase.
        lengths = self._longest * np.linalg.norm(directions, axis=1)
        errors = (self.X.shape[1] + 4) * _EPS_FLOAT32 * (lengths + 2 * np.pi)

        def make_learner(i):
            """Return cosine number i."""
            return Cosine(self._scale * directions[i].astype(np.float64), float(phases[i]))

        return make_learner, edges, errors


# Class of the stack of each type of weak learner.
_STACKS = {Stump: Stumps, Perceptron: Perceptrons, Cosine: Cosines}


class UnionSearch:
    """Search for the best weak learner of several kinds.

    Parameters
    ----------
    searches : sequence of boostbench.core.weak_learner.Search
        Searches with an attribute `learner_type`, the type of their weak learners, and a method
        `exclude`.
    """

    def __init__(self, searches):
        self._searches = searches

    def best(self, G):
        """Return the weak learner with the largest absolute edge; ties go to the first search."""
        results = [search.best(G) for search in self._searches]
        results = [result for result in results if result is not None]
        if not results:
            return None
        scores = np.array([abs(result.edge) for result in results])
        return results[argmax_with_tolerance(scores, np.abs(G).sum(axis=0).max())]

    def exclude(self, learner):
        """Exclude a weak learner from later searches."""
        for search in self._searches:
            if isinstance(learner, search.learner_type):
                search.exclude(learner)


class MixedStack(LearnerStack):
    """Stack of weak learners of several kinds.

    Parameters
    ----------
    learners : sequence of Stump, Perceptron or Cosine

    Attributes
    ----------
    parts : list of (ndarray, LearnerStack)
        Indices of the weak learners of each kind, ascending, and their stack.
    """

    def __init__(self, learners):
        self._n = len(learners)
        self.parts = []
        for kind, stack in _STACKS.items():
            indices = [i for i, learner in enumerate(learners) if isinstance(learner, kind)]
            if indices:
                self.parts.append((np.array(indices), stack([learners[i] for i in indices])))

    def __len__(self):
        return self._n

    def outputs(self, X, selection=slice(None)):
        """Return the outputs, of shape (n_samples, n_selected); see `LearnerStack.outputs`."""
        # Indices of a kind ascend, so that the selected ones are consecutive in its stack.
        start, stop, _ = selection.indices(self._n)
        outputs = np.empty((len(X), stop - start))
        for indices, stack in self.parts:
            selected = slice(*indices.searchsorted([start, stop]))
            outputs[:, indices[selected] - start] = stack.outputs(X, selected)
        return outputs


def stack_learners(learners):
    """Return the stack of weak learners: `Stumps`, `Perceptrons`, `Cosines` or `MixedStack`.

    Parameters
    ----------
    learners : sequence of Stump, Perceptron or Cosine

    Returns
    -------
    boostbench.core.weak_learner.LearnerStack
        `MixedStack` if `learners` has several types; `Stumps` if it is empty.
    """
    kinds = {type(learner) for learner in learners} or {Stump}
    return _STACKS[kinds.pop()](learners) if len(kinds) == 1 else MixedStack(learners)
