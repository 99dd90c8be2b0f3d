"""Search for the stump and the code of the most violated constraint: RandomBoost, eq. (24).

A weak learner h that adds ``code[r] * h(x)`` to the score of each class r has the edge
``sum_ir weights[i, r] code[r] h(x_i)``. Eq. (24) offers n codes at once, each with the violation
that its constraint has without h, and asks for the h that takes one of the constraints furthest.
"""

import numpy as np

from boostbench.core.weak.base import Found
from boostbench.core.weak.stump import Stumps
from boostbench.core.weak.stumps import StumpSearch
from boostbench.core.weak.ties import EQUAL, first_largest

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
        codes : ndarray of shape (n_codes, n_classes)
        violation : ndarray of shape (n_codes,)

        Returns
        -------
        Found or None
            With that value as its edge, and v as its `column`; of equally good ones the first stump
            and v. None where no feature varies.

        Notes
        -----
        A stump whose edges in the classes have the norm s scores at most ``violation[v] + s
        |codes[v]|`` with v. So stumps are scored in the order of their norms, only with those v
        that may beat the best so far, until there is none. Those that come as near to the best as
        rounding can tell are then scored in double precision.
        """
        if not self._search.n_positions:
            return None
        edges = self._search.edges(G)
        norms = np.sqrt(np.einsum("qr,qr->q", edges, edges))
        reach = np.sqrt(np.einsum("vr,vr->v", codes, codes))
        sizes = np.abs(G).sum(axis=0)
        scale = float(np.linalg.norm(sizes) * reach.max() + np.abs(violation).max())
        slack = 2 * self._search.rounding(len(sizes), more=2 * len(sizes) + 4) * scale
        best, kept = -np.inf, []
        # Few are promising any more once the best have been scored: no others have to be sorted.
        n_first = min(_SCORE_BLOCK, len(norms))
        places, width = norms.argpartition(-n_first)[-n_first:], n_first
        for _ in range(2):
            places = places[norms[places].argsort()[::-1]]
            for start in range(0, len(places), width):
                block = places[start : start + width]
                hopeful = np.flatnonzero(violation + norms[block[0]] * reach > best - slack)
                if not len(hopeful):
                    break
                scores = np.abs(edges[block] @ codes[hopeful].T)
                scores += violation[hopeful]
                best = max(best, float(scores.max()))
                q, v = np.nonzero(scores >= best - slack)
                kept.append((block[q], hopeful[v], scores[q, v]))
            places = np.flatnonzero(violation.max() + norms * reach.max() > best - slack)
            width = _LATER_BLOCKS * _SCORE_BLOCK
        position, column, score = (np.concatenate(parts) for parts in zip(*kept, strict=True))
        near = np.flatnonzero((score >= best - slack) & ~self._search.is_padding[position])
        # In the order of the stumps and codes.
        near = near[np.lexsort([column[near], self._search.number[position[near]]])]
        position, column = position[near], column[near]
        gains = np.einsum("qr,qr->q", self._search.exact_rows(G, position), codes[column])
        first = first_largest(violation[column] + np.abs(gains), scale)
        # Where a code adds the same to all classes, no stump gains anything, nor has a sign.
        polarity = 1 if gains[first] >= -EQUAL * scale else -1
        stump = self._search.stump(position[first], polarity)
        outputs, column = stump(self.X), int(column[first])
        return Found(stump, outputs, float(violation[column] + outputs @ G @ codes[column]), column)
