"""Small trees whose leaves vote for one class each, stacked, and the search for the smallest."""

from functools import partial
from typing import NamedTuple

import numpy as np

from boostbench.core.weak.base import Found, Stack

# Stumps are scored that many at a time, so that their sums stay in the cache.
_BLOCK_POSITIONS = 2**14


class ClassTree(NamedTuple):
    """A tree of tests ``x[feature] > threshold``, and a class at each leaf.

    Node 0 is the root. The children of a leaf are itself.

    Attributes
    ----------
    feature : ndarray of shape (n_nodes,), dtype=int64
    threshold : ndarray of shape (n_nodes,), dtype=float64
    low, high : ndarray of shape (n_nodes,), dtype=int64
        The child where the test fails, and where it holds.
    label : ndarray of shape (n_nodes,), dtype=int64
        The class, 0 to n_classes - 1.
    depth : int
        Tests on the way to the deepest leaf.
    """

    feature: np.ndarray
    threshold: np.ndarray
    low: np.ndarray
    high: np.ndarray
    label: np.ndarray
    depth: int

    @classmethod
    def stump(cls, feature, threshold, low, high):
        """Make a tree of one test.

        Parameters
        ----------
        feature : int
        threshold : float
        low, high : int
            The classes where the test fails, and where it holds.
        """
        return cls(
            feature=np.array([feature, 0, 0]),
            threshold=np.array([threshold, 0.0, 0.0]),
            low=np.array([1, 1, 2]),
            high=np.array([2, 1, 2]),
            label=np.array([low, low, high]),
            depth=1,
        )

    def __call__(self, X):
        """Evaluate the tree.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), dtype=int64
            Classes.
        """
        return ClassTrees([self]).outputs(X)[:, 0]


class ClassTrees(Stack):
    """T stacked trees.

    Parameters
    ----------
    trees : sequence of ClassTree

    Attributes
    ----------
    feature, threshold, low, high, label : ndarray of shape (n_trees, n_nodes)
        As of `ClassTree`, with the nodes of the largest tree; the surplus ones are never reached.
    n_leaves : ndarray of shape (n_trees,), dtype=int64
    """

    def __init__(self, trees):
        n_nodes = np.array([len(tree.feature) for tree in trees], dtype=np.int64)
        shape = len(trees), n_nodes.max(initial=1)
        for name in ("feature", "threshold", "low", "high", "label"):
            stacked = np.zeros(shape, np.float64 if name == "threshold" else np.int64)
            for row, tree in zip(stacked, trees, strict=True):
                row[: len(tree.feature)] = getattr(tree, name)
            setattr(self, name, stacked)
        self.n_leaves = (n_nodes + 1) // 2
        self._depth = max((tree.depth for tree in trees), default=0)

    def __len__(self):
        return len(self.feature)

    def outputs(self, X, some=slice(None)):
        """Evaluate some of the trees.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        some : slice, default=slice(None)
            Which; all by default.

        Returns
        -------
        ndarray of shape (n_samples, n_some), dtype=int64
            Classes.
        """
        feature, threshold = self.feature[some], self.threshold[some]
        low, high, label = self.low[some], self.high[some], self.label[some]
        # All samples are at the root at first, where no gathering by sample is needed.
        node = np.where(X[:, feature[:, 0]] > threshold[:, 0], high[:, 0], low[:, 0])
        tree = np.arange(len(feature))
        for _ in range(1, self._depth):
            above = np.take_along_axis(X, feature[tree, node], axis=1) > threshold[tree, node]
            node = np.where(above, high[tree, node], low[tree, node])
        return label[tree, node]


class ClassStumpSearch:
    """The two-leaf tree of the least weighted error, for any weights of the samples.

    Parameters
    ----------
    search : boostbench.core.weak.stumps.StumpSearch
    labels : ndarray of shape (n_samples,)
        0 to n_classes - 1.
    n_classes : int

    Examples
    --------
    >>> from boostbench.core.weak.stumps import StumpSearch
    >>> X, labels = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([2, 2, 0, 1])
    >>> found = ClassStumpSearch(StumpSearch(X), labels, 3).best(np.full(4, 0.25))
    >>> float(found.learner.threshold[0]), found.outputs.tolist(), found.edge
    (1.5, [2, 2, 0, 0], 0.75)
    """

    def __init__(self, search, labels, n_classes):
        self.search = search
        self.labels = labels
        self.n_classes = n_classes
        self._own = np.arange(len(labels)) * n_classes + labels
        self._weights = np.zeros((len(labels), n_classes))

    def best(self, G):
        """Find the stump; each side votes for its heaviest class.

        Parameters
        ----------
        G : ndarray of shape (n_samples,)
            Weights of the samples, not negative.

        Returns
        -------
        Found or None
            A `ClassTree`, with the weight of the samples that it has right as its edge. None where
            no feature varies.
        """
        self._weights.ravel()[self._own] = G
        total = np.bincount(self.labels, G, self.n_classes).astype(np.float32)[:, None]
        found = self.search.best_position(self._weights, partial(_heaviest, total=total))
        if found is None:
            return None
        stump = self.search.stump(found[0])
        above = self.search.X[:, stump.feature] > stump.threshold
        by_side = np.bincount(self.labels + self.n_classes * above, G, 2 * self.n_classes)
        by_side = by_side.reshape(2, -1)
        low, high = by_side.argmax(axis=1)
        tree = ClassTree.stump(stump.feature, stump.threshold, low, high)
        return Found(tree, np.where(above, high, low), float(by_side.max(axis=1).sum()))


def _heaviest(edges, total):
    """Twice what the heaviest classes of the two sides of stumps weigh.

    Parameters
    ----------
    edges : ndarray of shape (n_stumps, n_classes), dtype=float32
        What a class weighs above the threshold less what it weighs below.
    total : ndarray of shape (n_classes, 1), dtype=float32

    Returns
    -------
    ndarray of shape (n_stumps,), dtype=float32
    """
    heaviest = np.empty(len(edges), np.float32)
    for start in range(0, len(edges), _BLOCK_POSITIONS):
        some = slice(start, start + _BLOCK_POSITIONS)
        # Classes in rows, so that the maximum over them is one of long vectors. First twice what
        # they weigh above the threshold, then below.
        sides = np.ascontiguousarray(edges[some].T)
        sides += total
        sides.max(axis=0, out=heaviest[some])
        np.subtract(2 * total, sides, out=sides)
        heaviest[some] += sides.max(axis=0)
    return heaviest
