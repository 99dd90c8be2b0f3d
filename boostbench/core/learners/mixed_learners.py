"""Several kinds of weak learners at once: the best one of all kinds, and sums over all kinds."""

import numpy as np

from boostbench.core.learners.perceptrons import Perceptron, Perceptrons
from boostbench.core.learners.random_features import Cosine, Cosines
from boostbench.core.stumps.stump import Stump, Stumps
from boostbench.core.stumps.ties import first_largest
from boostbench.core.weak_learner import Stack

_STACKS = {Stump: Stumps, Perceptron: Perceptrons, Cosine: Cosines}


class UnionSearch:
    """A search over several searches.

    Parameters
    ----------
    searches : sequence of boostbench.core.weak_learner.Search
        Each with the type of its weak learners, `learners`, and with `leave_out`.
    """

    def __init__(self, searches):
        self._searches = searches

    def best(self, G):
        """Find the largest absolute edge; of equal ones that of the first search. See `Search`."""
        results = [result for result in (search.best(G) for search in self._searches) if result]
        if not results:
            return None
        scores = np.array([abs(result.edge) for result in results])
        return results[first_largest(scores, np.abs(G).sum(axis=0).max())]

    def leave_out(self, learner):
        """Find a weak learner no more, if the search of its kind can find it again."""
        for search in self._searches:
            if isinstance(learner, search.learners):
                search.leave_out(learner)


class MixedStack(Stack):
    """T stacked weak learners of several kinds.

    Parameters
    ----------
    learners : sequence of Stump, Perceptron or Cosine

    Attributes
    ----------
    parts : list of (ndarray, Stack)
        For each kind, the places of its weak learners, ascending, and their stack.
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

    def outputs(self, X, some=slice(None)):
        """Evaluate some of the weak learners as `Stack.outputs`, of shape (n_samples, n_some)."""
        start, stop, _ = some.indices(self._n)
        outputs = np.empty((len(X), stop - start))
        for indices, stack in self.parts:
            selected = slice(*indices.searchsorted([start, stop]))
            outputs[:, indices[selected] - start] = stack.outputs(X, selected)
        return outputs


def stack_learners(learners):
    """Stack weak learners: `Stumps`, `Perceptrons`, `Cosines`, or a `MixedStack` of several kinds.

    Parameters
    ----------
    learners : sequence of Stump, Perceptron or Cosine

    Returns
    -------
    boostbench.core.weak_learner.Stack
        Where there are none, `Stumps`.
    """
    kinds = {type(learner) for learner in learners} or {Stump}
    return _STACKS[kinds.pop()](learners) if len(kinds) == 1 else MixedStack(learners)
