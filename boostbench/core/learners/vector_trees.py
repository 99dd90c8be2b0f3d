r"""Trees with vectors in their leaves, and the search for them: the weak learners of LADDER.

A weak learner g maps a sample to a vector. It should have a large edge
:math:`\sum_i \langle g(x_i), w_i \rangle` for weights :math:`w_i`, one vector per sample. The paper
does not specify the weak learners, and the problem has no solution unless their outputs are
bounded. The two criteria of this module, `LeastSquares` and `CodewordVote`, bound them.

A criterion has three methods. `leaf_vectors` chooses the outputs of leaves; `gain` is the part of
the edge that a leaf contributes with this output; and `edge_bound` bounds the edge of any tree, so
that scores within rounding errors can be recognised as equal. Throughout, *weights* are the vectors
:math:`w_i`, and *counts* are numbers: 1 or the `sample_weight` of each sample, and their sums.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from boostbench.core.learners.trees import Tree, Trees
from boostbench.core.weak_learner import argmax_with_tolerance


class VectorTreeResult(NamedTuple):
    r"""Result of `VectorTreeSearch.best`.

    Attributes
    ----------
    tree : Tree
        Tree with vectors in its leaves.
    leaf : ndarray of shape (n_samples,), dtype=int64
        Leaf of each training sample, from 0 to n_leaves - 1.
    values : ndarray of shape (n_leaves, n_components), dtype=float64
        Vectors of the leaves.
    edge : float
        Edge :math:`\sum_i \langle g(x_i), w_i \rangle` of the tree.
    """

    tree: Tree
    leaf: np.ndarray
    values: np.ndarray
    edge: float


class LeastSquares:
    """Criterion of the least-squares fit to the weights: a leaf returns the mean of its weights.

    With the sum s of the weights of a leaf and its count n, the mean is s / n. Its inner product
    with s, ``s @ s / n``, is the contribution of the leaf to the edge, and also the decrease of the
    squared error by the leaf.

    Parameters
    ----------
    count_floor : float, default=1.0
        Lower bound of the count by which a sum is divided, so that an empty leaf does not divide
        by 0. It is at most the smallest count of a sample.
    """

    def __init__(self, count_floor=1.0):
        self._count_floor = count_floor

    def gain(self, sums, counts):
        """Return the gain of leaves.

        Parameters
        ----------
        sums : ndarray of shape (n_leaves, n_components)
            Sum of the weights in each leaf.
        counts : ndarray of shape (n_leaves,)
            Number of samples in each leaf, or sum of their `sample_weight`.

        Returns
        -------
        ndarray of shape (n_leaves,)
            Not negative.
        """
        return np.einsum("ij,ij->i", sums, sums) / np.maximum(counts, self._count_floor)

    def edge_bound(self, weights, counts):
        """Return an upper bound of the edge of a tree: the gain with one leaf for each sample.

        Parameters
        ----------
        weights : ndarray of shape (n_samples, n_components)
        counts : ndarray of shape (n_samples,)
            Count of each sample; 0 for samples outside of the node.

        Returns
        -------
        float
        """
        # Outside of the node the weights are 0, so that any positive count gives the gain 0.
        return float(self.gain(weights, np.where(counts > 0, counts, 1.0)).sum())

    def leaf_vectors(self, sums, counts, absolute_sums):
        """Return the vectors of leaves.

        Parameters
        ----------
        sums, counts
            Same as for `gain`.
        absolute_sums : ndarray of shape (n_leaves, n_components)
            Sum of the absolute weights in each leaf.

        Returns
        -------
        ndarray of shape (n_leaves, n_components)
        """
        return sums / np.maximum(counts, self._count_floor)[:, None]


class CodewordVote:
    """Criterion of the vote: a leaf returns the codeword with the largest inner product.

    With the sum s of the weights of a leaf, codeword y contributes ``y @ s`` to the edge. Counts
    have no effect.

    Parameters
    ----------
    codewords : ndarray of shape (n_classes, n_components)
        Codeword of each class, a unit vector.
    """

    def __init__(self, codewords):
        self.codewords = codewords

    def gain(self, sums, counts):
        """Return the gain of leaves, which may be negative; see `LeastSquares.gain`."""
        return (self.codewords @ sums.T).max(axis=0)

    def edge_bound(self, weights, counts):
        """Return an upper bound of the edge of a tree; see `LeastSquares.edge_bound`."""
        # A component of a codeword is at most its largest magnitude among all codewords.
        return float((np.abs(weights) @ np.abs(self.codewords).max(axis=0)).sum())

    def leaf_vectors(self, sums, counts, absolute_sums):
        """Return the vectors of leaves; see `LeastSquares.leaf_vectors`."""
        votes = sums @ self.codewords.T
        return self.codewords[
            argmax_with_tolerance(votes, absolute_sums @ np.abs(self.codewords).max(axis=0))
        ]


class VectorTreeSearch:
    """Search for complete trees (all leaves at one depth), which grow greedily from the root.

    Parameters
    ----------
    search : boostbench.core.stumps.search.StumpSearch
        Search for the tests.
    depth : int
        Number of tests between the root and a leaf; 1 for stumps.
    sample_weight : ndarray of shape (n_samples,), default=None
        Count of each sample in the criterion. None: all are 1.

    Examples
    --------
    >>> from boostbench.core.stumps.search import StumpSearch
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> G = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 3.0]])
    >>> result = VectorTreeSearch(StumpSearch(X), 1).best(G, LeastSquares())
    >>> result.leaf, result.edge
    (array([0, 0, 1]), 11.0)
    >>> result.values
    array([[1., 0.],
           [0., 3.]])
    """

    def __init__(self, search, depth, sample_weight=None):
        self.search = search
        self.depth = depth
        self._sample_counts = np.ones(len(search.X)) if sample_weight is None else sample_weight

    def best(self, G, criterion):
        """Return a tree that is grown by the test with the largest gain at each node.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_components)
            Weights w of the samples.
        criterion : LeastSquares or CodewordVote

        Returns
        -------
        VectorTreeResult or None
            None if no feature varies.
        """
        # 1) Find the tests level by level. The nodes of a level are numbered from 0: node n has the
        # children 2 n (test fails) and 2 n + 1 (test holds) in the next level.
        weights_and_counts = np.column_stack([G, self._sample_counts])
        node_of_sample = np.zeros(len(G), np.int64)
        tests = []
        for level in range(self.depth):
            # True for the samples for which the test of their node holds.
            is_above = np.zeros(len(G), bool)
            for node in range(2**level):
                is_inside = node_of_sample == node
                weights = weights_and_counts * is_inside[:, None] if level else weights_and_counts
                position = self._best_position(weights, criterion)
                if position is None:
                    return None
                tests.append(self.search.stump(position))
                values = self.search.X[:, tests[-1].feature]
                is_above |= is_inside & (values > tests[-1].threshold)
            node_of_sample = 2 * node_of_sample + is_above
        # 2) Make the tree; the nodes of the last level are its leaves.
        return self._make_result(G, criterion, tests, node_of_sample)

    def _best_position(self, weights, criterion):
        """Return the position of the test with the largest gain; None if no feature varies.

        Parameters
        ----------
        weights : ndarray of shape (n_samples, n_components + 1)
            Weights of the samples in the node, and their counts in the last column; 0 for samples
            outside of the node.
        criterion : LeastSquares or CodewordVote
        """
        total = weights.sum(axis=0)[None]

        def score(edges):
            """Return twice the sum of the gains of both sides of each test."""
            # An edge is the sum above a threshold minus the sum below: plus the total, it is twice
            # the sum above. Twice the total minus this is twice the sum below. The last column has
            # the counts. The gain is homogeneous: doubled sums and counts give twice the gain.
            doubled_sums = np.add(edges, total, out=edges)
            gains = criterion.gain(doubled_sums[:, :-1], doubled_sums[:, -1])
            np.subtract(2 * total, doubled_sums, out=doubled_sums)
            gains += criterion.gain(doubled_sums[:, :-1], doubled_sums[:, -1])
            return gains

        edge_bound = criterion.edge_bound(weights[:, :-1], weights[:, -1])
        return self.search.best_position(weights, score, edge_bound)

    def _make_result(self, G, criterion, tests, leaf):
        """Return the complete tree with given tests, as a `VectorTreeResult`.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_components)
        criterion : LeastSquares or CodewordVote
        tests : list of Stump
            Tests of the inner nodes, level by level.
        leaf : ndarray of shape (n_samples,), dtype=int64
            Leaf of each sample, from 0 to n_leaves - 1.
        """
        # 1) Compute the vectors of the leaves.
        n_leaves = 2**self.depth
        is_in_leaf = np.arange(n_leaves)[:, None] == leaf
        counts = is_in_leaf @ self._sample_counts
        sums, absolute_sums = (
            is_in_leaf.astype(np.float64) @ weights for weights in (G, np.abs(G))
        )
        leaf_vectors = criterion.leaf_vectors(sums, counts, absolute_sums)
        # A leaf without training samples gets the vector of its sibling, whose number differs in
        # the last bit.
        empty_leaves = np.flatnonzero(counts == 0)
        leaf_vectors[empty_leaves] = leaf_vectors[empty_leaves ^ 1]
        # 2) Number all nodes of the tree level by level, from the root 0: node n has the children
        # 2 n + 1 and 2 n + 2. The leaves come last, and each is its own child.
        n_inner = n_leaves - 1
        node = np.arange(2 * n_leaves - 1)
        children = np.column_stack([2 * node + 1, 2 * node + 2])
        children[n_inner:] = node[n_inner:, None]
        tree = Tree(
            feature=np.array([test.feature for test in tests] + [0] * n_leaves),
            threshold=np.array([test.threshold for test in tests] + [0.0] * n_leaves),
            children=children,
            value=np.concatenate([np.zeros((n_inner, G.shape[1])), leaf_vectors]),
        )
        return VectorTreeResult(tree, leaf, leaf_vectors, float((sums * leaf_vectors).sum()))


class VectorTrees(Trees):
    """Stack of trees with vectors in their leaves.

    Parameters
    ----------
    trees : sequence of Tree
    n_components : int
        Number of components of a vector; needed if `trees` is empty.
    """

    def __init__(self, trees, n_components):
        super().__init__(trees)
        self.value = self.value.reshape(-1, n_components)

    def scores(self, X, coefficients, selection=slice(None)):
        """Return the weighted sum of the trees; see `LearnerStack.scores`.

        The result has the shape (n_samples, n_components).
        """
        # Row i of a sparse matrix has the coefficient of each tree at the leaf of sample i. Its
        # product with the vectors of all leaves needs no array of the outputs of single trees.
        leaves = self._leaves(X, selection)
        n_samples, n_selected = leaves.shape
        weights = np.broadcast_to(coefficients[selection], leaves.shape).ravel()
        rows = n_selected * np.arange(n_samples + 1)
        shape = n_samples, len(self.value)
        return sparse.csr_array((weights, leaves.ravel(), rows), shape) @ self.value
