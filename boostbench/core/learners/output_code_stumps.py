"""Stumps with output codes, for RBoost^proj: search, and products with the outputs of all stumps.

`OutputCodeStumpSearch` finds the stump and the code of the most violated constraint of RandomBoost,
eq. (24).

A weak learner h that adds ``code[r] * h(x)`` to the score of each class r has the edge
``sum_ir weights[i, r] code[r] h(x_i)``. In eq. (24), each of n codes has a constraint. The *score*
of h and a code is the violation of the code's constraint with h: the sum of its violation without h
and the edge of h. The search returns the h and the code of the largest score.

`OutputProducts` multiplies the matrix H of the outputs of all weak learners so far, of shape
(n_learners, n_samples), with codes and with weights. The solver of the coefficients does so in each
of its steps. There are two ways:

- `_Rows` holds H, where weak learners with equal or opposite outputs share a row.
- `_Intervals` holds no outputs. The thresholds of the stumps divide each feature into intervals,
  and ``H.T = B @ L @ M``, where M maps each stump to the changes of its outputs from interval to
  interval, L is a cumulative sum over the intervals, and B sums up the intervals that a sample lies
  in, one per feature. A product takes n_samples * n_features additions of rows, however many stumps
  there are.
"""

from bisect import bisect_left

import numpy as np

from boostbench.core.linear_algebra import (
    GrowableMatrix,
    accumulate_rows,
    sparse_from_columns,
    sparse_product,
)
from boostbench.core.stumps.search import StumpSearch
from boostbench.core.stumps.stump import Stump, Stumps
from boostbench.core.weak_learner import TIE_TOLERANCE, SearchResult, argmax_with_tolerance

# Number of stumps in the first block: stumps are scored in blocks, in descending order of their
# norms, and the best score of a few stumps excludes most codes.
_FIRST_BLOCK = 32

# Maximum number of stumps in a block, whose scores fit in the cache. Each block has four times as
# many stumps as the one before it, up to this number.
_LARGEST_BLOCK = 1024

# Distinct rows per feature above which `_Intervals` is faster: an addition of a row of 11 classes
# takes about 4.5 ns, a row of H in a product of matrices 0.6 ns for each sample.
_ROWS_PER_FEATURE = 8


class OutputCodeStumpSearch:
    """Search for the best stump and the best code for it.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Training data.

    Attributes
    ----------
    stack_type : type
        Type of the stack of the weak learners, in which the booster stores its model.
    n_learner_parameters : int
        Number of parameters of a weak learner without its sign: a feature and a threshold. The
        booster counts the parameters of its model with it.
    """

    stack_type = Stumps
    n_learner_parameters = 2

    def __init__(self, X):
        self.X = X
        self._search = StumpSearch(X)

    def best(self, G, codes, violation):
        """Return the stump and the code v with the largest score, ``violation[v] + edge``.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_classes)
            Weight of each sample in each class.
        codes : ndarray of shape (n_codes, n_classes)
            One number per class.
        violation : ndarray of shape (n_codes,)
            Violation of each code's constraint without the new weak learner.

        Returns
        -------
        SearchResult or None
            `SearchResult.edge` holds the score, and `SearchResult.column` holds v.
            Ties go to the first stump and code. None if no feature varies.

        Notes
        -----
        All stumps are scored in single precision. The few pairs of a stump and a code that could
        be the best one within rounding errors are scored again in double precision.
        """
        if not self._search.n_positions:
            return None
        # 1) Compute the edges of all stumps in each class, in single precision.
        edges = self._search.edges(G)
        class_sums = np.abs(G).sum(axis=0)
        # Bound of all scores: an edge is at most `class_sums` @ |code| (Cauchy-Schwarz).
        max_length = np.sqrt(np.einsum("vr,vr->v", codes, codes).max())
        scale = float(np.linalg.norm(class_sums) * max_length + np.abs(violation).max())
        # The product with a code has two roundings per class. `slack` bounds the error of the
        # difference of two scores.
        relative_error = self._search.error_bound(
            len(class_sums), n_roundings=2 * len(class_sums) + 4
        )
        slack = 2 * relative_error * scale
        # 2) Collect the candidates. Positions of padding hold no stump.
        position, code = select_candidates(edges, codes, violation, slack)
        is_stump = ~self._search.is_padding[position]
        position, code = position[is_stump], code[is_stump]
        # 3) Evaluate the candidates in double precision, and take the first of the best ones in the
        # canonical order of stumps (feature, threshold), then in the order of codes.
        order = np.lexsort([code, self._search.stump_index[position]])
        position, code = position[order], code[order]
        code_edges = np.einsum(
            "qr,qr->q", self._search.exact_edges_all_columns(G, position), codes[code]
        )
        first = argmax_with_tolerance(violation[code] + np.abs(code_edges), scale)
        # 4) Choose the sign of the stump. An edge of 0 has no sign: the code adds the same number
        # to all classes.
        polarity = 1 if code_edges[first] >= -TIE_TOLERANCE * scale else -1
        stump = self._search.stump(position[first], polarity)
        outputs, best_code = stump(self.X), int(code[first])
        score = float(violation[best_code] + outputs @ G @ codes[best_code])
        return SearchResult(stump, outputs, score, best_code)


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
    # 1) Exclude stumps by the bound with the longest code. The stumps with the largest norms give a
    # first best score, which excludes most other stumps, so that few are sorted.
    norms = np.sqrt(np.einsum("qr,qr->q", edges, edges))
    lengths = np.sqrt(np.einsum("vr,vr->v", codes, codes))
    violation = violation.astype(np.float32)
    width = min(_FIRST_BLOCK, len(norms))
    top = norms.argpartition(-width)[-width:]
    first_best = float((violation + np.abs(edges[top] @ codes.T)).max())
    is_promising = violation.max() + norms * lengths.max() >= first_best - slack
    # A norm may be 0, since squares of tiny edges underflow.
    is_promising[top] = True
    stumps = np.flatnonzero(is_promising)
    stumps = stumps[norms[stumps].argsort()[::-1]]
    # 2) Score blocks of stumps in descending order of their norms, with the codes that the bound of
    # the first stump of the block does not exclude. `width` is the length of the block. The best
    # score starts anew, as the stumps of step 1 are scored again, by products of other shapes and
    # roundings.
    best, candidates, start = -np.inf, [], 0
    # The rule "pair" of `RBoostProj` has no violations. Adding zeros would take as long as each
    # other pass over the scores.
    has_violation = violation.any()
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
    # 3) Keep the pairs that are near the final best score.
    stump, code, score = (np.concatenate(parts) for parts in zip(*candidates, strict=True))
    is_near = score >= best - slack
    return stump[is_near], code[is_near]


class OutputProducts:
    """Products with the outputs of the weak learners of a training run.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Training data.

    Examples
    --------
    >>> products = OutputProducts(np.array([[0.0], [1.0]]))
    >>> products.append(Stump(0, 0.5), np.array([-1.0, 1.0]))
    >>> products.append(Stump(0, 0.5, -1), np.array([1.0, -1.0]))
    >>> products.scores(np.array([[3.0], [1.0]]))
    array([[-2.,  2.]])
    >>> products.edges(np.array([[1.0, 4.0]]))
    array([[ 3.],
           [-3.]])
    """

    def __init__(self, X):
        self._X = X
        self._learners = []
        self._products = _Rows(len(X))

    def append(self, learner, outputs):
        """Add a weak learner.

        Parameters
        ----------
        learner : callable
        outputs : ndarray of shape (n_samples,)
            Outputs on the training data, -1 and +1.
        """
        self._learners.append(learner)
        if isinstance(self._products, _Intervals):
            self._products.append(learner)
            return
        self._products.append(outputs)
        # Change to `_Intervals` when there are many distinct outputs, and add all stumps to it.
        max_rows = _ROWS_PER_FEATURE * self._X.shape[1]
        if self._products.n_rows > max_rows and isinstance(learner, Stump):
            self._products = _Intervals(self._X)
            for stump in self._learners:
                self._products.append(stump)

    def scores(self, codes):
        """Return ``codes.T @ H``.

        Parameters
        ----------
        codes : ndarray of shape (n_learners, n_classes)

        Returns
        -------
        ndarray of shape (n_classes, n_samples)
        """
        return self._products.scores(codes)

    def edges(self, weights):
        """Return ``H @ weights.T``.

        Parameters
        ----------
        weights : ndarray of shape (n_classes, n_samples)

        Returns
        -------
        ndarray of shape (n_learners, n_classes)
        """
        return self._products.edges(weights)


class _Rows:
    """Distinct outputs as rows of a dense matrix.

    Each weak learner has the index of its row and a sign: -h shares the row of h. A sparse matrix
    with one entry per weak learner, its sign at its row, maps weak learners to rows: H is its
    transpose times the rows.
    """

    def __init__(self, n_samples):
        self._rows = GrowableMatrix(n_samples)
        self._row_of_outputs = {}
        self._rows_of_learners = np.empty((0, 1), np.int32)
        self._signs = np.empty((0, 1))

    @property
    def n_rows(self):
        """Number of distinct outputs, up to their sign."""
        return len(self._row_of_outputs)

    def append(self, outputs):
        """Add a weak learner by its outputs, of shape (n_samples,)."""
        # The key of h and of -h is one: the bits that say whether an output equals the first
        # output.
        sign = outputs[0]
        key = np.packbits(outputs == sign).tobytes()
        row = self._row_of_outputs.setdefault(key, self.n_rows)
        if row == len(self._rows.matrix):
            self._rows.append(sign * outputs)
        self._rows_of_learners = np.vstack([self._rows_of_learners, np.int32([row])])
        self._signs = np.vstack([self._signs, [sign]])
        self._learner_matrix = sparse_from_columns(self._rows_of_learners, self._signs, self.n_rows)

    def scores(self, codes):
        """Return ``codes.T @ H``; see `OutputProducts.scores`."""
        # Codes of weak learners that share a row are summed first.
        return sparse_product(self._learner_matrix, codes).T @ self._rows.matrix

    def edges(self, weights):
        """Return ``H @ weights.T``; see `OutputProducts.edges`."""
        return sparse_product(self._learner_matrix.T, self._rows.matrix @ weights.T)


class _Intervals:
    """Intervals between the thresholds of each feature, numbered feature by feature.

    ``H.T = B @ L @ M``, with B in `_sample_matrix`, M in `_stump_matrix`, and the cumulative sum L
    over the intervals. A stump of sign s has the output -s in the intervals of its feature up to
    its threshold, and s above. So its column of M has three entries: -s at the first interval of
    the feature, 2 s at the interval above the threshold, and -s at the first interval of the next
    feature, where the cumulative sum returns to 0.

    A single stump of sign 1 on a single feature has the column (-1, 2, -1), whose cumulative sum is
    (-1, 1, 0): the outputs below and above the threshold, and 0 in an interval without samples,
    which takes the place of the first interval of a next feature.
    """

    def __init__(self, X):
        self._X = X
        n_samples, n_features = X.shape
        # Number of the first interval of each feature; the last entry is the interval without
        # samples.
        self._first_interval = np.arange(n_features + 1, dtype=np.int32)
        self._thresholds = [[] for _ in range(n_features)]
        # Parts of B, of shape (n_samples, n_features): the interval of a sample in each feature,
        # and the entry there. `append` makes B of them, of shape (n_samples, n_intervals).
        self._interval_of_sample = np.tile(self._first_interval[:-1], (n_samples, 1))
        self._ones = np.ones(X.shape)
        # Parts of M, of shape (n_stumps, 3): interval and value of the entries of each stump.
        # `append` makes M of them, of shape (n_intervals, n_stumps).
        self._entry_intervals = np.empty((0, 3), np.int32)
        self._entries = np.empty((0, 3))

    def append(self, stump):
        """Add a stump; a new threshold divides an interval of its feature."""
        # 1) Find the interval below the threshold.
        feature = stump.feature
        thresholds = self._thresholds[feature]
        n_below = bisect_left(thresholds, stump.threshold)
        interval = self._first_interval[feature] + n_below
        # 2) If the threshold is new, it divides this interval, and the upper part becomes number
        # `interval` + 1.
        if stump.threshold not in thresholds[n_below : n_below + 1]:
            thresholds.insert(n_below, stump.threshold)
            # Renumber in place: every stored number above `interval` rises by 1.
            for interval_numbers in (
                self._first_interval,
                self._entry_intervals,
                self._interval_of_sample,
            ):
                interval_numbers += interval_numbers > interval
            # Move the samples above the threshold into the upper part.
            is_above = self._X[:, feature] > stump.threshold
            intervals_in_feature = self._interval_of_sample[:, feature]
            intervals_in_feature += is_above & (intervals_in_feature == interval)
            # The transpose of B has one column per sample.
            self._sample_matrix = sparse_from_columns(
                self._interval_of_sample, self._ones, n_rows=self._first_interval[-1] + 1
            ).T
        # 3) Add the column of the stump to M.
        intervals = self._first_interval[feature], interval + 1, self._first_interval[feature + 1]
        entries = -stump.polarity, 2 * stump.polarity, -stump.polarity
        self._entry_intervals = np.vstack([self._entry_intervals, np.int32(intervals)])
        self._entries = np.vstack([self._entries, np.float64(entries)])
        self._stump_matrix = sparse_from_columns(
            self._entry_intervals, self._entries, n_rows=self._first_interval[-1] + 1
        )

    def scores(self, codes):
        """Return ``codes.T @ H``; see `OutputProducts.scores`."""
        # These are the products with M, L and B.
        sums = accumulate_rows(sparse_product(self._stump_matrix, _pad_columns(codes)))
        return np.ascontiguousarray(
            sparse_product(self._sample_matrix, sums)[:, : codes.shape[1]].T
        )

    def edges(self, weights):
        """Return ``H @ weights.T``; see `OutputProducts.edges`."""
        # These are the products with B', L' (sums from the end) and M'.
        sums = sparse_product(self._sample_matrix.T, _pad_columns(weights.T))
        accumulate_rows(sums[::-1])
        return sparse_product(self._stump_matrix.T, sums)[:, : len(weights)]


def _pad_columns(values):
    """Return a copy in C order with an even number of columns, for `accumulate_rows`."""
    padded = np.zeros((len(values), values.shape[1] + values.shape[1] % 2))
    padded[:, : values.shape[1]] = values
    return padded
