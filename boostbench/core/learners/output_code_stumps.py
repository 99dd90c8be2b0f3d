"""Search for the stump and the code of the most violated constraint: RandomBoost, eq. (24).

A weak learner h that adds ``code[r] * h(x)`` to the score of each class r has the edge
``sum_ir weights[i, r] code[r] h(x_i)``. In eq. (24), each of n codes has a constraint. The
violation of a constraint is the sum of its violation without h and the edge of h. The search
returns the h and the code of the largest violation.
"""

import numpy as np

from boostbench.core.stumps.search import StumpSearch
from boostbench.core.stumps.stump import Stumps
from boostbench.core.stumps.ties import TIE_TOLERANCE, argmax_with_tolerance
from boostbench.core.weak_learner import SearchResult

# Stumps are scored in blocks, in descending order of their norms. The first block has few stumps:
# their best score excludes most codes. Each later block has four times as many as the one before
# it, until its scores would no longer fit in the cache.
_FIRST_BLOCK = 32
_LARGEST_BLOCK = 1024


class OutputCodeStumpSearch:
    """Search for the best stump and code.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Training data.

    Attributes
    ----------
    stack : type
        Type of the stack of the weak learners.
    size : int
        Number of parameters of a weak learner without its sign.
    """

    stack = Stumps
    size = 2

    def __init__(self, X):
        self.X = X
        self._search = StumpSearch(X)

    def best(self, G, codes, violation):
        """Return the stump and the code v with the largest ``violation[v] + edge``.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_classes)
            Weight of each sample in each class.
        codes : ndarray of shape (n_codes, n_classes)
        violation : ndarray of shape (n_codes,)
            Violation of each code's constraint without the new weak learner.

        Returns
        -------
        SearchResult or None
            The edge is ``violation[v] + edge``, the column is v. Ties go to the first stump and
            code. None if no feature varies.

        Notes
        -----
        All stumps are scored in single precision. The few pairs of a stump and a code that could
        be the best one within rounding errors are scored again in double precision.
        """
        if not self._search.n_positions:
            return None
        edges = self._search.edges(G)
        class_sums = np.abs(G).sum(axis=0)
        max_length = np.sqrt(np.einsum("vr,vr->v", codes, codes).max())
        scale = float(np.linalg.norm(class_sums) * max_length + np.abs(violation).max())
        slack = (
            2
            * self._search.error_bound(len(class_sums), n_roundings=2 * len(class_sums) + 4)
            * scale
        )
        position, column = select_candidates(edges, codes, violation, slack)
        is_stump = ~self._search.is_padding[position]
        position, column = position[is_stump], column[is_stump]
        # Ties are broken in the canonical order of stumps, then in the order of codes.
        order = np.lexsort([column, self._search.stump_index[position]])
        position, column = position[order], column[order]
        gains = np.einsum("qr,qr->q", self._search.exact_rows(G, position), codes[column])
        first = argmax_with_tolerance(violation[column] + np.abs(gains), scale)
        # A gain of 0 has no sign: the code adds the same number to all classes.
        polarity = 1 if gains[first] >= -TIE_TOLERANCE * scale else -1
        stump = self._search.stump(position[first], polarity)
        outputs, column = stump(self.X), int(column[first])
        return SearchResult(
            stump, outputs, float(violation[column] + outputs @ G @ codes[column]), column
        )


def select_candidates(edges, codes, violation, slack):
    """Return the pairs of a stump and a code whose score is within `slack` of the best score.

    The score of a stump q and a code v is ``violation[v] + |edges[q] @ codes[v]|``. It is at most
    ``violation[v] + |edges[q]| |codes[v]|`` (Cauchy-Schwarz), which excludes nearly all pairs.

    Parameters
    ----------
    edges : ndarray of shape (n_stumps, n_classes), dtype=float32
    codes : ndarray of shape (n_codes, n_classes), dtype=float32
    violation : ndarray of shape (n_codes,)
    slack : float
        Upper bound on the rounding error of the difference of two scores.

    Returns
    -------
    stump, code : ndarray of shape (n_candidates,), dtype=int64
        Row indices of `edges` and of `codes`.

    Examples
    --------
    >>> edges = np.array([[1.0, 0.0], [0.0, 3.0]], np.float32)
    >>> codes = np.array([[2.0, 0.0], [0.0, -1.0]], np.float32)
    >>> select_candidates(edges, codes, violation=np.zeros(2), slack=1e-6)
    (array([1]), array([1]))
    """
    norms = np.sqrt(np.einsum("qr,qr->q", edges, edges))
    lengths = np.sqrt(np.einsum("vr,vr->v", codes, codes))
    violation = violation.astype(np.float32)
    # Pairs have no violation, whose addition would take as long as the other passes over scores.
    has_violation = violation.any()
    # The stumps with the largest norms exclude most others, so that few stumps are sorted.
    width = min(_FIRST_BLOCK, len(norms))
    top = norms.argpartition(-width)[-width:]
    best = float((violation + np.abs(edges[top] @ codes.T)).max())
    is_promising = violation.max() + norms * lengths.max() >= best - slack
    # A norm may be 0, since squares of tiny edges underflow.
    is_promising[top] = True
    stumps = np.flatnonzero(is_promising)
    stumps = stumps[norms[stumps].argsort()[::-1]]
    best, candidates, start = -np.inf, [], 0
    while start < len(stumps):
        block = stumps[start : start + width]
        promising = np.flatnonzero(violation + norms[block[0]] * lengths >= best - slack)
        if not len(promising):
            break
        scores = edges.take(block, axis=0) @ codes.take(promising, axis=0).T
        np.abs(scores, out=scores)
        if has_violation:
            scores += violation[promising]
        largest = float(scores.max())
        if largest >= best - slack:
            best = max(best, largest)
            near_best = np.flatnonzero(scores >= best - slack)
            row, column = np.divmod(near_best, len(promising))
            candidates.append((block[row], promising[column], scores.ravel()[near_best]))
        start, width = start + width, min(4 * width, _LARGEST_BLOCK)
    stump, code, score = (np.concatenate(parts) for parts in zip(*candidates, strict=True))
    is_near = score >= best - slack
    return stump[is_near], code[is_near]
