r"""Trees with vectors in their leaves, and the search for them: the weak learners of LADDER.

The paper leaves open what the weak learners are. Its problem, to maximise
:math:`\sum_i \langle g(x_i), w_i \rangle`, has no solution unless the outputs are bounded; there
are two ways, the criteria of this file.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from boostbench.core.learners.trees import Tree, Trees
from boostbench.core.stumps.ties import first_largest


class VectorTreeResult(NamedTuple):
    r"""The tree that a search has found.

    Attributes
    ----------
    tree : Tree
        With vectors in its leaves.
    leaf : ndarray of shape (n_samples,), dtype=int64
        The leaf that each sample of the training data comes to, from 0 to n_leaves - 1.
    values : ndarray of shape (n_leaves, n_components), dtype=float64
        Its vectors, in the order of the leaves.
    edge : float
        :math:`\sum_i \langle g(x_i), w_i \rangle`.
    """

    tree: Tree
    leaf: np.ndarray
    values: np.ndarray
    edge: float


class LeastSquares:
    """A leaf gives the mean of its weights: the tree is the least-squares fit to them.

    Parameters
    ----------
    min_count : float, default=1.0
        The smallest count of a leaf that is not empty.
    """

    def __init__(self, min_count=1.0):
        self._min_count = min_count

    def gain(self, sums, counts):
        """Say how good leaves are.

        Parameters
        ----------
        sums : ndarray of shape (n_leaves, n_components)
            Of the weights in each.
        counts : ndarray of shape (n_leaves,)
            Of the samples in each, or the sums of their weights.

        Returns
        -------
        ndarray of shape (n_leaves,)
            Not negative.
        """
        return np.einsum("ij,ij->i", sums, sums) / np.maximum(counts, self._min_count)

    def scale(self, weights, counts):
        """Say how good leaves could be: the gain of one leaf for each sample.

        Parameters
        ----------
        weights : ndarray of shape (n_samples, n_components)
        counts : ndarray of shape (n_samples,)
            What a sample counts, 0 where it has no weights.

        Returns
        -------
        float
        """
        return float(self.gain(weights, np.where(counts > 0, counts, 1.0)).sum())

    def values(self, sums, counts, sizes):
        """Give the vectors of leaves.

        Parameters
        ----------
        sums, counts
            As of `gain`.
        sizes : ndarray of shape (n_leaves, n_components)
            What the sizes of the weights add up to.

        Returns
        -------
        ndarray of shape (n_leaves, n_components)
        """
        return sums / np.maximum(counts, self._min_count)[:, None]


class CodewordVote:
    """A leaf gives the codeword that its weights are most in favour of.

    Parameters
    ----------
    codewords : ndarray of shape (n_classes, n_components)
    """

    def __init__(self, codewords):
        self.codewords = codewords

    def gain(self, sums, counts):
        """Say how good leaves are; as `LeastSquares.gain`, but of any sign."""
        return (self.codewords @ sums.T).max(axis=0)

    def scale(self, weights, counts):
        """Say how good leaves could be; as `LeastSquares.scale`."""
        return float((np.abs(weights) @ np.abs(self.codewords).max(axis=0)).sum())

    def values(self, sums, counts, sizes):
        """Give the vectors of leaves; as `LeastSquares.values`."""
        votes = sums @ self.codewords.T
        return self.codewords[first_largest(votes, sizes @ np.abs(self.codewords).max(axis=0))]


class VectorTreeSearch:
    """Complete trees, grown greedily from the root on.

    Parameters
    ----------
    search : boostbench.core.stumps.search.StumpSearch
        Of the tests.
    depth : int
        Tests on the way to a leaf; 1 for stumps.
    sample_weight : ndarray of shape (n_samples,), default=None
        What a sample counts; None: 1.

    Examples
    --------
    >>> from boostbench.core.stumps.search import StumpSearch
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> G = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 3.0]])
    >>> found = VectorTreeSearch(StumpSearch(X), 1).best(G, LeastSquares())
    >>> found.leaf, found.edge
    (array([0, 0, 1]), 11.0)
    >>> found.values
    array([[1., 0.],
           [0., 3.]])
    """

    def __init__(self, search, depth, sample_weight=None):
        self.search = search
        self.depth = depth
        self._counts = np.ones(len(search.X)) if sample_weight is None else sample_weight

    def best(self, G, criterion):
        """Grow the tree of the largest gain, as far as one test after the other finds it.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_components)
            w, the weights of the samples.
        criterion : LeastSquares or CodewordVote

        Returns
        -------
        VectorTreeResult or None
            None where no feature varies.
        """
        counted_weights = np.column_stack([G, self._counts])
        node_of_sample = np.zeros(len(G), np.int64)
        tests = []
        for level in range(self.depth):
            is_above = np.zeros(len(G), bool)
            for node in range(2**level):
                is_inside = node_of_sample == node
                weights = counted_weights * is_inside[:, None] if level else counted_weights
                position = self._best_position(weights, criterion)
                if position is None:
                    return None
                tests.append(self.search.stump(position))
                X = self.search.X[:, tests[-1].feature]
                is_above |= is_inside & (X > tests[-1].threshold)
            node_of_sample = 2 * node_of_sample + is_above
        return self._make_result(G, criterion, tests, node_of_sample)

    def _best_position(self, weights, criterion):
        total = weights.sum(axis=0)[None]

        def score(edges):
            # Twice the sums above a threshold, then twice those below it.
            edges += total
            gains = criterion.gain(edges[:, :-1], edges[:, -1])
            np.subtract(2 * total, edges, out=edges)
            gains += criterion.gain(edges[:, :-1], edges[:, -1])
            return gains

        scale = criterion.scale(weights[:, :-1], weights[:, -1])
        return self.search.best_position(weights, score, scale)

    def _make_result(self, G, criterion, tests, leaf):
        n_leaves = 2**self.depth
        is_in_leaf = np.arange(n_leaves)[:, None] == leaf
        counts = is_in_leaf @ self._counts
        sums, absolute_sums = (
            is_in_leaf.astype(np.float64) @ weights for weights in (G, np.abs(G))
        )
        values = criterion.values(sums, counts, absolute_sums)
        # No sample of the training data comes to such a leaf; others find there what is beside it.
        empty_leaves = np.flatnonzero(counts == 0)
        values[empty_leaves] = values[empty_leaves ^ 1]
        n_inner = n_leaves - 1
        node = np.arange(2 * n_leaves - 1)
        children = np.column_stack([2 * node + 1, 2 * node + 2])
        children[n_inner:] = node[n_inner:, None]
        tree = Tree(
            feature=np.array([test.feature for test in tests] + [0] * n_leaves),
            threshold=np.array([test.threshold for test in tests] + [0.0] * n_leaves),
            children=children,
            value=np.concatenate([np.zeros((n_inner, G.shape[1])), values]),
        )
        return VectorTreeResult(tree, leaf, values, float((sums * values).sum()))


class VectorTrees(Trees):
    """T stacked trees with vectors in their leaves.

    Parameters
    ----------
    trees : sequence of Tree
    n_components : int
        Of the vectors; needed where there are no trees.
    """

    def __init__(self, trees, n_components):
        super().__init__(trees)
        self.value = self.value.reshape(-1, n_components)

    def scores(self, X, coefficients, some=slice(None)):
        """Add up some as `Stack.scores` does, but without the outputs of each."""
        leaves = self._leaves(X, some)
        n_samples, n_some = leaves.shape
        weights = np.broadcast_to(coefficients[some], leaves.shape).ravel()
        rows = np.arange(0, leaves.size + 1, n_some) if n_some else np.zeros(n_samples + 1, int)
        shape = n_samples, len(self.value)
        return sparse.csr_array((weights, leaves.ravel(), rows), shape) @ self.value
