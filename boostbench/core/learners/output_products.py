r"""Products with the outputs of weak learners on the training data.

The solver of a totally corrective booster multiplies the matrix H of all outputs, of shape
(n_learners, n_samples), with codes and with weights in each of its steps. `OutputProducts` has two
ways to do so:

- `_Rows` holds H, where weak learners with equal or opposite outputs share a row.
- `_Intervals` holds no outputs. The thresholds of the stumps divide each feature into intervals,
  and :math:`H^\top = B L M`, where M maps stumps to intervals, L is a cumulative sum over the
  intervals, and B sums up the intervals that a sample lies in. A product takes n_samples *
  n_features additions of rows, however many stumps there are.
"""

from bisect import bisect_left

import numpy as np

from boostbench.core.linear_algebra import CompressedMatrix, GrowableMatrix, sparse_product
from boostbench.core.stumps.stump import Stump

# Distinct rows per feature above which `_Intervals` is faster: an addition of a row of 11 classes
# takes about 4.5 ns, a row of H in a product of matrices 0.6 ns for each sample.
_ROWS_PER_FEATURE = 8


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
        n_many = _ROWS_PER_FEATURE * self._X.shape[1]
        if self._products.n_rows > n_many and isinstance(learner, Stump):
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

    Each weak learner has the index of its row and a sign: -h shares the row of h.
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
        sign = outputs[0]
        key = np.packbits(outputs == sign).tobytes()
        row = self._row_of_outputs.setdefault(key, self.n_rows)
        if row == len(self._rows.matrix):
            self._rows.append(sign * outputs)
        self._rows_of_learners = np.vstack([self._rows_of_learners, np.int32([row])])
        self._signs = np.vstack([self._signs, [sign]])
        columns = self._rows_of_learners, self._signs, self.n_rows
        self._learner_matrix = CompressedMatrix.from_columns(*columns)

    def scores(self, codes):
        """Return ``codes.T @ H``; see `OutputProducts.scores`."""
        return sparse_product(self._learner_matrix, codes).T @ self._rows.matrix

    def edges(self, weights):
        """Return ``H @ weights.T``; see `OutputProducts.edges`."""
        return sparse_product(self._learner_matrix.T, self._rows.matrix @ weights.T)


class _Intervals:
    """The intervals between the thresholds of each feature, numbered feature by feature.

    A stump of sign s adds -s to the scores of the samples in all intervals of its feature, and 2 s
    from its threshold on. So column t of M has three entries: -s at the first interval of the
    feature, 2 s at the interval above the threshold, and -s at the first interval of the next
    feature, where the cumulative sum returns to 0.
    """

    def __init__(self, X):
        self._X = X
        n_samples, n_features = X.shape
        # The last number is an interval without samples: it is the next feature of the last one.
        self._first_interval = np.arange(n_features + 1, dtype=np.int32)
        self._thresholds = [[] for _ in range(n_features)]
        self._interval_of_sample = np.tile(self._first_interval[:-1], (n_samples, 1))
        self._ones = np.ones(X.shape)
        self._intervals_of_stump = np.empty((0, 3), np.int32)
        self._entries_of_stump = np.empty((0, 3))

    def append(self, stump):
        """Add a stump; a new threshold divides an interval of its feature."""
        # 1) Find the interval below the threshold.
        feature = stump.feature
        thresholds = self._thresholds[feature]
        n_below = bisect_left(thresholds, stump.threshold)
        interval = self._first_interval[feature] + n_below
        # 2) If the threshold is new, renumber the later intervals, and move samples into the new
        # interval.
        if stump.threshold not in thresholds[n_below : n_below + 1]:
            thresholds.insert(n_below, stump.threshold)
            for indices in (
                self._first_interval,
                self._intervals_of_stump,
                self._interval_of_sample,
            ):
                indices += indices > interval
            is_above = self._X[:, feature] > stump.threshold
            intervals_in_feature = self._interval_of_sample[:, feature]
            intervals_in_feature += is_above & (intervals_in_feature == interval)
            columns = self._interval_of_sample, self._ones, self._first_interval[-1] + 1
            self._B = CompressedMatrix.from_columns(*columns).T
        # 3) Add the column of the stump to M.
        intervals = self._first_interval[feature], interval + 1, self._first_interval[feature + 1]
        entries = -stump.polarity, 2 * stump.polarity, -stump.polarity
        self._intervals_of_stump = np.vstack([self._intervals_of_stump, np.int32(intervals)])
        self._entries_of_stump = np.vstack([self._entries_of_stump, np.float64(entries)])
        columns = self._intervals_of_stump, self._entries_of_stump, self._first_interval[-1] + 1
        self._M = CompressedMatrix.from_columns(*columns)

    def scores(self, codes):
        """Return ``codes.T @ H``; see `OutputProducts.scores`."""
        sums = np.cumsum(sparse_product(self._M, codes), axis=0)
        return np.ascontiguousarray(sparse_product(self._B, sums).T)

    def edges(self, weights):
        """Return ``H @ weights.T``; see `OutputProducts.edges`."""
        sums = sparse_product(self._B.T, np.ascontiguousarray(weights.T))
        sums = np.cumsum(sums[::-1], axis=0)[::-1]
        return sparse_product(self._M.T, np.ascontiguousarray(sums))
