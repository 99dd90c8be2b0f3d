"""Search for the stump and the code of the most violated constraint: eq. (24) of paper 1.

A weak learner h that adds ``code[r] * h(x)`` to the score of each class r has the edge
``sum_ir weights[i, r] code[r] h(x_i)``. Eq. (24) offers n codes at once, each with the violation
that its constraint has without h, and asks for the h that takes one of the constraints furthest.
"""

import numpy as np

from boostbench.core.weak.base import Found
from boostbench.core.weak.stumps import Stumps, StumpSearch

# Candidates are scored in blocks of that many stumps, the most promising first.
_SCORE_BLOCK = 128

# Later blocks are that many times as long: few codes may still win there.
_LATER_BLOCKS = 8


class CodedStumps:
    """All stumps of a training set, for any codes.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Training data.

    Attributes
    ----------
    stack : type
        Makes one object of the weak learners that were found.
    size : int
        Numbers that a weak learner consists of, but for its sign.
    """

    stack = Stumps
    size = 2

    def __init__(self, X):
        self.X = X
        self._search = StumpSearch(X)

    def best(self, G, codes, violation):
        """Stump of the largest ``max_v violation[v] + edge for codes[v]``.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_classes)
            Weights of the samples in the classes.
        codes : ndarray of shape (n_codes, n_classes), dtype=float32
        violation : ndarray of shape (n_codes,), dtype=float32

        Returns
        -------
        Found or None
            With that value as its edge, and v as its `column`. None where no feature varies.

        Notes
        -----
        A stump whose edges in the classes have the norm s scores at most ``violation[v] + s
        |codes[v]|`` with v. So stumps are scored in the order of their norms, only with those v
        that may beat the best so far, until there is none.
        """
        if not self._search.n_positions:
            return None
        edges = self._search.edges(G)
        norms = np.sqrt(np.einsum("qr,qr->q", edges, edges))
        reach = np.sqrt(np.einsum("vr,vr->v", codes, codes))
        best = -np.inf, 0, 0, 1
        # Few are promising any more once the best have been scored: no others have to be sorted.
        n_first = min(_SCORE_BLOCK, len(norms))
        places, width = norms.argpartition(-n_first)[-n_first:], n_first
        for _ in range(2):
            places = places[norms[places].argsort()[::-1]]
            for start in range(0, len(places), width):
                block = places[start : start + width]
                hopeful = np.flatnonzero(violation + norms[block[0]] * reach > best[0])
                if not len(hopeful):
                    break
                best = max(best, _scored(block, hopeful, edges, codes, violation))
            places = np.flatnonzero(violation.max() + norms * reach.max() > best[0])
            width = _LATER_BLOCKS * _SCORE_BLOCK
        _, position, column, polarity = best
        stump = self._search.stump(position, polarity)
        outputs = stump(self.X)
        return Found(stump, outputs, float(violation[column] + outputs @ G @ codes[column]), column)


def _scored(block, hopeful, edges, codes, violation):
    """Value, position, code and polarity of the best of some stumps with some codes."""
    gains = edges[block] @ codes[hopeful].T
    scores = np.abs(gains)
    scores += violation[hopeful]
    q, v = divmod(int(scores.argmax()), len(hopeful))
    polarity = 1 if gains[q, v] >= 0 else -1
    return float(scores[q, v]), int(block[q]), int(hopeful[v]), polarity
