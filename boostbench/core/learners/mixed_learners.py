"""Search and stack of several kinds of weak learners."""

import numpy as np

from boostbench.core.learners.perceptrons import Perceptron, Perceptrons
from boostbench.core.learners.random_features import Cosine, Cosines
from boostbench.core.stumps.stump import Stump, Stumps
from boostbench.core.stumps.ties import argmax_with_tolerance
from boostbench.core.weak_learner import LearnerStack

_STACKS = {Stump: Stumps, Perceptron: Perceptrons, Cosine: Cosines}


class UnionSearch:
    """Search for the best weak learner of several kinds.

    Parameters
    ----------
    searches : sequence of boostbench.core.weak_learner.Search
        Searches with an attribute `learners`, the type of their weak learners, and a method
        `exclude`.
    """

    def __init__(self, searches):
        self._searches = searches

    def best(self, G):
        """Return the weak learner with the largest absolute edge; ties go to the first search."""
        results = [result for result in (search.best(G) for search in self._searches) if result]
        if not results:
            return None
        scores = np.array([abs(result.edge) for result in results])
        return results[argmax_with_tolerance(scores, np.abs(G).sum(axis=0).max())]

    def exclude(self, learner):
        """Exclude a weak learner from later searches."""
        for search in self._searches:
            if isinstance(learner, search.learners):
                search.exclude(learner)


class MixedStack(LearnerStack):
    """T stacked weak learners of several kinds.

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
