"""Decision trees, their stacks, and the search for stumps with classes on their sides (SAMME).

`Tree` is one tree, the result of a search; `Trees` evaluates the trees of a model together. Leaves
hold numbers, vectors or classes.
"""

from functools import cached_property, partial
from typing import ClassVar, NamedTuple

import numpy as np

from boostbench.core.stumps.layouts.sorted import majority_weight
from boostbench.core.weak_learner import LearnerStack, SearchResult, argmax_with_tolerance

# Number of stumps that are scored at a time, so that their sums fit in the cache.
_BLOCK_STUMPS = 2**14


class Tree(NamedTuple):
    """Weak learner: a tree of tests ``x[feature] > threshold``, with a value in each leaf.

    Attributes
    ----------
    feature : ndarray of shape (n_nodes,), dtype=int64
        Feature that each node tests. Node 0 is the root.
    threshold : ndarray of shape (n_nodes,), dtype=float64
        Threshold of each node's test.
    children : ndarray of shape (n_nodes, 2), dtype=int64
        Next node if the test fails, and next node if it holds. A leaf is its own child.
    value : ndarray of shape (n_nodes,) or (n_nodes, n_outputs)
        Outputs of the leaves: numbers such as -1 and +1, vectors, or classes from 0 to
        n_classes - 1. The values of inner nodes are not used.
    dtype : type, default=numpy.float64
        Precision in which features are compared with thresholds.
    """

    feature: np.ndarray
    threshold: np.ndarray
    children: np.ndarray
    value: np.ndarray
    dtype: type = np.float64

    @classmethod
    def stump(cls, feature, threshold, low, high):
        """Return a tree with one test.

        Parameters
        ----------
        feature : int
            Feature of the test.
        threshold : float
            Threshold of the test.
        low, high : int, float or ndarray of shape (n_outputs,)
            Output if the test fails, and output if it holds.

        Examples
        --------
        >>> Tree.stump(0, 1.0, low=7, high=8)(np.array([[0.0], [1.0], [1.5]]))
        array([7, 7, 8])
        """
        return cls(
            feature=np.array([feature, 0, 0]),
            threshold=np.array([threshold, 0.0, 0.0]),
            children=np.array([[1, 2], [1, 1], [2, 2]]),
            value=np.array([low, low, high]),
        )

    def __call__(self, X):
        """Return the outputs of the tree.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Value of each sample's leaf.
        """
        return Trees([self]).outputs(X)[..., 0]


class Trees(LearnerStack):
    """Stack of trees: the nodes of all trees in one set of arrays, tree after tree.

    Parameters
    ----------
    trees : sequence of Tree
        Trees with values of one kind and one `dtype`.

    Attributes
    ----------
    feature, threshold, children, value
        Concatenated arrays of all trees; see `Tree`. `children` holds indices into these arrays.
    root : ndarray of shape (n_trees,), dtype=int64
        Index of each tree's root.
    depth : int
        Largest number of tests between a root and a leaf.
    n_parameters : int
        Number of features and thresholds of the tests, and of numbers in the leaves.
    """

    def __init__(self, trees):
        n_nodes = np.array([len(tree.feature) for tree in trees], dtype=np.int64)
        self.root = np.cumsum(n_nodes) - n_nodes
        self.feature = _concatenate([tree.feature for tree in trees], np.int64)
        self.threshold = _concatenate([tree.threshold for tree in trees], np.float64)
        children = [tree.children + first for tree, first in zip(trees, self.root, strict=True)]
        self.children = _concatenate(children, np.int64).reshape(-1, 2)
        self.value = _concatenate([tree.value for tree in trees])
        self._dtype = trees[0].dtype if len(trees) else np.float64
        is_leaf = self.children[:, 0] == np.arange(len(self.children))
        self.depth = _depth(self.root, self.children, is_leaf)
        self.n_parameters = int(2 * (~is_leaf).sum()) + self.value[is_leaf].size

    def __len__(self):
        return len(self.root)

    def outputs(self, X, selection=slice(None)):
        """Return the values of the samples' leaves; see `LearnerStack.outputs`."""
        # The axis of the trees, the second one, becomes the last: values may be vectors.
        return np.moveaxis(self.value.take(self._leaves(X, selection), axis=0), 1, -1)

    def _leaves(self, X, selection):
        """Return the index of each sample's leaf, of shape (n_samples, n_selected)."""
        X = np.ascontiguousarray(X, dtype=self._dtype)
        root = self.root[selection]
        # 1) Test the root. All samples have the same test there, so that whole columns of X
        # suffice.
        is_above = X[:, self.feature[root]] > self.threshold[root]
        low, high = self.children[root].T
        node = np.where(is_above, high, low)
        # 2) Descend one level at a time. A leaf is its own child, so that samples stay there. Flat
        # indices are faster than pairs of indices: entry 2 n + 1 of `children` is the second child
        # of node n.
        row_start = np.arange(len(X))[:, None] * X.shape[1]
        for _ in range(1, self.depth):
            is_above = X.take(row_start + self.feature.take(node)) > self.threshold.take(node)
            node = self.children.take(2 * node + is_above)
        return node


class ClassTrees(Trees):
    """Stack of trees with classes in their leaves, which vote for a class.

    Parameters
    ----------
    trees : sequence of Tree
        Trees with values from 0 to n_classes - 1.
    n_classes : int
    """

    def __init__(self, trees, n_classes):
        super().__init__(trees)
        self.value = self.value.astype(np.int64)
        self.n_classes = n_classes

    def scores(self, X, coefficients, selection=slice(None)):
        """Return the coefficients of all trees, summed by the class that they vote for.

        See `LearnerStack.scores`; the result has the shape (n_samples, n_classes).
        """
        # A vote of sample i for class r is counted at the flat index n_classes * i + r.
        shape = len(X), self.n_classes
        flat_vote_indices = self.n_classes * np.arange(len(X))[:, None] + self.outputs(X, selection)
        votes = np.broadcast_to(coefficients[selection], flat_vote_indices.shape)
        return np.bincount(
            flat_vote_indices.ravel(), votes.ravel(), len(X) * self.n_classes
        ).reshape(shape)


class ClassTreeSearch:
    """Base of the searches for trees with classes in their leaves.

    Parameters
    ----------
    search : boostbench.core.stumps.search.StumpSearch
        Search for the tests of the nodes.
    labels : ndarray of shape (n_samples,)
        Classes from 0 to n_classes - 1.
    n_classes : int
    first_class_column : int, default=0
        Column of class 0 in the weights that are passed to `search`; the columns of the other
        classes follow. `GiniTreeSearch` has the weights of the samples of all classes in column 0.
    """

    # Number of classes from which `ClassPrefixSums`, which adds up the weights of all classes in
    # one pass over the samples, is faster than a column of weights for each class.
    min_classes_for_sums: ClassVar

    def __init__(self, search, labels, n_classes, first_class_column=0):
        self.search = search
        self.labels = labels
        self.n_classes = n_classes
        uses_sums = n_classes >= self.min_classes_for_sums
        self._prefix_sums = search.class_sum_search(labels) if uses_sums else None
        # Flat index of the entry (sample, column of its class) in an array of shape (n_samples,
        # n_columns).
        n_columns = first_class_column + n_classes
        self._own_class_index = np.arange(len(labels)) * n_columns + first_class_column + labels

    def _side_weights(self, is_above, weights):
        """Return the weight of each class on each side of a threshold.

        Parameters
        ----------
        is_above : ndarray of shape (n_samples,), dtype=bool
            True for the samples above the threshold.
        weights : ndarray of shape (n_samples,)

        Returns
        -------
        ndarray of shape (2, n_classes)
            Sums of the weights of the samples below (row 0) and above (row 1) the threshold.
        """
        class_and_side = self.labels + self.n_classes * is_above
        return np.bincount(class_and_side, weights, 2 * self.n_classes).reshape(2, -1)


class ClassStumpSearch(ClassTreeSearch):
    """Search for the two-leaf tree with the smallest weighted error.

    Parameters
    ----------
    search, labels, n_classes
        See `ClassTreeSearch`.

    Examples
    --------
    >>> from boostbench.core.stumps.search import StumpSearch
    >>> X, labels = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([2, 2, 0, 1])
    >>> result = ClassStumpSearch(StumpSearch(X), labels, 3).best(np.full(4, 0.25))
    >>> float(result.learner.threshold[0]), result.outputs.tolist(), result.edge
    (1.5, [2, 2, 0, 0], 0.75)
    """

    # `ClassPrefixSums` takes 0.9 of the time with 6 classes, 0.4 with 10 and 0.2 with 26.
    min_classes_for_sums: ClassVar = 6

    def best(self, G):
        """Return the best stump. Each side votes for its class with the largest weight.

        Parameters
        ----------
        G : ndarray of shape (n_samples,)
            Weights of the samples, not negative.

        Returns
        -------
        SearchResult or None
            The learner is a `Tree`, and `edge` is the weight of the samples that it classifies
            correctly, not a difference of weights. None if no feature varies.
        """
        # 1) Find the position of the best stump, its index among all stumps of the search. Scores
        # are equal if they differ by less than a tiny fraction of `scale`.
        scale = float(G.sum())
        if self._prefix_sums is None:
            position = self._best_position_from_differences(G, scale)
        else:
            # `majority_weight` returns the weights that the other search doubles, so that an equal
            # relative tolerance for ties needs half the scale.
            position = self._prefix_sums.best_position(G, majority_weight, scale / 2)
        if position is None:
            return None
        # 2) Let each side vote for its class of the largest weight.
        stump = self.search.stump(position)
        is_above = self.search.X[:, stump.feature] > stump.threshold
        side_weights = self._side_weights(is_above, G)
        low, high = argmax_with_tolerance(side_weights, scale)
        tree = Tree.stump(stump.feature, stump.threshold, low, high)
        outputs = np.where(is_above, high, low)
        return SearchResult(tree, outputs, float(side_weights.max(axis=1).sum()))

    @cached_property
    def _weights_by_class(self):
        """Work array: weights in the column of the sample's class, and 0 in other columns."""
        return np.zeros((len(self.labels), self.n_classes))

    def _best_position_from_differences(self, G, scale):
        """Return the position of the best stump, by differences of class weights.

        Parameters
        ----------
        G : ndarray of shape (n_samples,)
            Weights of the samples.
        scale : float
            Sum of the weights.

        Returns
        -------
        int or None
            None if no feature varies.
        """
        self._weights_by_class.ravel()[self._own_class_index] = G
        total = np.bincount(self.labels, G, self.n_classes)[:, None]
        # The search passes the edges of each stump, the difference of the weights above and below
        # its threshold, to the function.
        return self.search.best_position(
            self._weights_by_class, partial(_doubled_majority_weight, total=total), scale
        )


def _doubled_majority_weight(weight_differences, total):
    """Return twice the weight that stumps classify correctly.

    Parameters
    ----------
    weight_differences : ndarray of shape (n_stumps, n_classes)
        Weight of each class above the threshold minus its weight below.
    total : ndarray of shape (n_classes, 1)
        Weight of each class.

    Returns
    -------
    ndarray of shape (n_stumps,)
    """
    # Let a be a weight above and b below. The difference a - b is given, and a + b is the total:
    # their sum is 2 a, and 2 (a + b) minus this is 2 b.
    weights = np.empty(len(weight_differences))
    for start in range(0, len(weight_differences), _BLOCK_STUMPS):
        block = slice(start, start + _BLOCK_STUMPS)
        # The array is transposed, so that the maximum over the classes is elementwise between long
        # rows. It holds twice the weights above the thresholds, and then twice the weights below.
        doubled_side_weights = np.ascontiguousarray(weight_differences[block].T)
        doubled_side_weights += total
        doubled_side_weights.max(axis=0, out=weights[block])
        np.subtract(2 * total, doubled_side_weights, out=doubled_side_weights)
        weights[block] += doubled_side_weights.max(axis=0)
    return weights


def _concatenate(arrays, dtype=None):
    """Return the concatenated arrays; an empty array if there are none."""
    return np.concatenate(arrays, dtype=dtype) if len(arrays) else np.empty(0, dtype)


def _depth(nodes, children, is_leaf):
    """Return the largest number of tests on a path from a root to a leaf.

    Parameters
    ----------
    nodes : ndarray of int
        Indices of the roots.
    children : ndarray of shape (n_nodes, 2)
        See `Tree`.
    is_leaf : ndarray of shape (n_nodes,), dtype=bool
    """
    # Each step replaces the inner nodes of a level by their children.
    depth = 0
    while not is_leaf[nodes].all():
        nodes = children[nodes[~is_leaf[nodes]]].ravel()
        depth += 1
    return depth
