"""Search for small classification trees with Gini's impurity as the criterion, for SAMME."""

from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from boostbench.core.learners.trees import ClassTreeSearch, Tree
from boostbench.core.stumps.thresholds import midpoint
from boostbench.core.weak_learner import SearchResult, argmax_with_tolerance

# Number of stumps that are scored at a time, so that their sums fit in the cache.
_BLOCK_STUMPS = 2**12

# Gain of a split below which it is a rounding error of single precision, as a fraction of the
# leaf's weight.
_MIN_GAIN = 1e-6

# Balance of a split below which its gain is reduced. The balance is 4 L H for sides with the
# fractions L and H of the leaf's weight: 1 for equal sides, and 0 if one side is empty. Smaller
# ones are within the rounding errors of single precision.
_MIN_BALANCE = 1e-6

# Number by which a sum is divided if its side has less weight, only to avoid a division by 0. The
# reduction for small balances makes the quotient negligible.
_MIN_DIVISOR = _MIN_BALANCE**2


class GiniTreeSearch(ClassTreeSearch):
    r"""Search for classification trees with few leaves.

    A tree grows best-first, like scikit-learn's DecisionTreeClassifier with `max_leaf_nodes`: each
    step splits the leaf with the largest gain. The gain is the decrease of Gini's impurity. Leaf l
    of the weight :math:`w_l`, in which class c has the weight :math:`w_{lc}`, has the impurity

    .. math:: w_l \left(1 - \sum_c (w_{lc} / w_l)^2\right) = w_l - \sum_c w_{lc}^2 / w_l

    so that the gain is the increase of :math:`\sum_l \sum_c w_{lc}^2 / w_l`. The samples are
    sorted once, for all trees. Ties go to the first feature and threshold; scikit-learn breaks ties
    at random.

    `ClassTreeSearch` provides `_prefix_sums`, the search by sums of classes if there are many of
    them, `_own_class_index`, and `_side_weights`, the class weights on both sides of a threshold.

    Parameters
    ----------
    search, labels, n_classes
        See `ClassTreeSearch`.
    max_leaf_nodes : int
        Maximum number of leaves, at least 2.

    Examples
    --------
    >>> from boostbench.core.stumps.search import StumpSearch
    >>> X, labels = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1, 1, 0, 1])
    >>> search = GiniTreeSearch(StumpSearch(X), labels, n_classes=2, max_leaf_nodes=3)
    >>> result = search.best(np.full(4, 0.25))
    >>> result.learner.threshold[:3].tolist(), result.outputs.tolist(), result.edge
    ([1.5, 0.0, 2.5], [1, 1, 0, 1], 1.0)
    """

    # `ClassPrefixSums` is faster from 12 classes on, and takes half of the time with 26.
    min_classes_for_sums: ClassVar = 12

    def __init__(self, search, labels, n_classes, max_leaf_nodes):
        # Column 0 of the weights is not for a class; see `_best_position_from_edges`.
        super().__init__(search, labels, n_classes, first_class_column=1)
        self.max_leaf_nodes = max_leaf_nodes

    def best(self, G):
        """Return the tree. Each leaf votes for its class with the largest weight.

        Parameters
        ----------
        G : ndarray of shape (n_samples,)
            Weights of the samples, not negative.

        Returns
        -------
        SearchResult or None
            The learner is a `Tree`, and `edge` is the weight of the samples that it classifies
            correctly. None if no split has a gain.
        """
        # 1) Split the leaf with the largest gain until no gain is left or the tree is complete.
        # `leaves` has the indices of the leaves in `nodes`. As in `Tree`, a leaf is its own child.
        nodes = [self._make_leaf(G, np.ones(len(G), bool))]
        children = [(0, 0)]
        leaves = [0]
        total = float(G.sum())
        while len(leaves) < self.max_leaf_nodes:
            gains = np.array([nodes[leaf].gain for leaf in leaves])
            parent = leaves[argmax_with_tolerance(gains, total)]
            node = nodes[parent]
            if node.gain <= 0:
                break
            low_leaf, high_leaf = len(nodes), len(nodes) + 1
            leaves = [leaf for leaf in leaves if leaf != parent] + [low_leaf, high_leaf]
            children[parent] = low_leaf, high_leaf
            children += [(low_leaf, low_leaf), (high_leaf, high_leaf)]
            # The leaves of a complete tree need no search for a split.
            may_grow = len(leaves) < self.max_leaf_nodes
            # `is_above` is not restricted to the leaf, hence the mask `is_inside`.
            for is_on_side in (~node.is_above, node.is_above):
                nodes.append(self._make_leaf(G, node.is_inside & is_on_side, may_grow=may_grow))
        if len(nodes) == 1:
            return None
        # 2) Label the leaves, and store the nodes as arrays. A leaf tests nothing: the split that
        # its search has found is replaced by zeros.
        value = np.array([argmax_with_tolerance(node.class_weights, total) for node in nodes])
        outputs = np.empty(len(G), np.int64)
        for leaf in leaves:
            outputs[nodes[leaf].is_inside] = value[leaf]
            nodes[leaf] = nodes[leaf]._replace(feature=0, threshold=0.0)
        feature = np.array([node.feature for node in nodes])
        threshold = np.array([node.threshold for node in nodes])
        tree = Tree(feature, threshold, np.array(children), value)
        correct_weight = sum(nodes[leaf].class_weights.max() for leaf in leaves)
        return SearchResult(tree, outputs, edge=float(correct_weight))

    def _make_leaf(self, G, is_inside, may_grow=True):
        """Return a leaf with its best split, the test that would divide it with the largest gain.

        Parameters
        ----------
        G : ndarray of shape (n_samples,)
        is_inside : ndarray of shape (n_samples,), dtype=bool
            True for the samples of the leaf.
        may_grow : bool, default=True
            False: do not search for a split.

        Returns
        -------
        _Node
            Its gain is 0 if no split separates classes by more than rounding errors.
        """
        # 1) Find the best split. Weights are divided by the weight of the leaf, and are 0 for other
        # samples.
        weights = np.where(is_inside, G, 0.0)
        class_weights = np.bincount(self.labels, weights, self.n_classes)
        leaf = _Node(is_inside, class_weights)
        if not may_grow or np.count_nonzero(class_weights) < 2:
            return leaf
        total = class_weights.sum()
        # The base class has made a search by prefix sums if there are many classes.
        if self._prefix_sums is None:
            position = self._best_position_from_edges(weights / total, class_weights / total)
        else:
            position = self._prefix_sums.best_position(weights / total, _gain_from_sums, scale=1.0)
        if position is None:
            return leaf
        # 2) Compute its gain from the class weights of both sides, without the rounding errors of
        # the search.
        stump = self.search.stump(position)
        values = self.search.X[:, stump.feature]
        is_above = values > stump.threshold
        side_weights = self._side_weights(is_above, weights)
        side_totals = side_weights.sum(axis=1)
        if side_totals.min() == 0:
            return leaf
        gain = ((side_weights**2).sum(axis=1) / side_totals).sum()
        gain -= (class_weights**2).sum() / total
        if gain <= _MIN_GAIN * total:
            return leaf
        # 3) Move the threshold to the midpoint between two neighbours in the leaf: the search has
        # put it between two neighbours among all samples.
        threshold = _midpoint_around(values[is_inside], stump.threshold)
        return leaf._replace(
            gain=gain, feature=stump.feature, threshold=threshold, is_above=is_above
        )

    @cached_property
    def _search_weights(self):
        """Work array of `_best_position_from_edges`, of shape (n_samples, 1 + n_classes)."""
        return np.empty((len(self.labels), 1 + self.n_classes))

    def _best_position_from_edges(self, shares, class_shares):
        r"""Return the position of the best split, computed from the edges of all stumps.

        The weights are scaled to the sum 1 in the leaf. The symbols are

        - :math:`v_i`, the weight of sample i, 0 outside of the leaf;
        - :math:`p_c`, the weight of class c in the leaf;
        - L and H = 1 - L, the weights of the low and of the high side of a split;
        - :math:`l_c` and :math:`h_c`, the weights of class c on these sides.

        Substituting :math:`l_c = p_c - h_c` and L = 1 - H gives the gain

        .. math:: \sum_c l_c^2 / L + h_c^2 / H - p_c^2 = \sum_c (h_c - p_c H)^2 / (L H).

        The right side has no cancellation, and follows from edges: sums above the threshold minus
        sums below. The edge of the weights v is e = H - L, so that
        :math:`1 - e^2 = (L + H)^2 - (H - L)^2 = 4 L H`. The deviations
        :math:`v_i ([y_i = c] - p_c)` have the sum :math:`h_c - p_c H` above the threshold, and
        minus this sum below, as the total is 0: their edge is :math:`d_c = 2 (h_c - p_c H)`. The
        factors 4 cancel, and the gain is :math:`\sum_c d_c^2 / (1 - e^2)`.

        Parameters
        ----------
        shares : ndarray of shape (n_samples,)
            Shares v, 0 outside of the leaf.
        class_shares : ndarray of shape (n_classes,)
            Shares p.

        Returns
        -------
        int or None
            See `StumpSearch.best_position`.
        """
        # Column 0 has v, and column 1 + c has the deviations of class c: -v p_c for all samples,
        # plus v for the samples of class c, whose flat indices are in `_own_class_index`.
        np.multiply(shares[:, None], np.append(1.0, -class_shares), out=self._search_weights)
        self._search_weights.ravel()[self._own_class_index] += shares
        return self.search.best_position(self._search_weights, _gain_from_edges, scale=1.0)


class _Node(NamedTuple):
    """A node of a growing tree, a leaf until it is split, and its best split.

    Attributes
    ----------
    is_inside : ndarray of shape (n_samples,), dtype=bool
        True for the samples of the node.
    class_weights : ndarray of shape (n_classes,)
        Sum of the weights of the node's samples of each class.
    gain : float
        Gain of the split. 0: the node has no split.
    feature : int
        Feature of the split.
    threshold : float
        Threshold of the split.
    is_above : ndarray of shape (n_samples,), dtype=bool, or None
        True for the samples above the threshold, inside and outside of the leaf.
    """

    is_inside: np.ndarray
    class_weights: np.ndarray
    gain: float = 0.0
    feature: int = 0
    threshold: float = 0.0
    is_above: np.ndarray | None = None


def _midpoint_around(values, threshold):
    """Return the midpoint of the nearest values on both sides of a threshold, float.

    `values`, of shape (n_values,), has values up to the threshold and above it.
    """
    is_below = values <= threshold
    return float(midpoint(values[is_below].max(), values[~is_below].min()))


def _gain_from_sums(weights, sums_up_to, sums_from):
    """Return the gain of each split, a score of `ClassPrefixSums`, for weights that sum to 1.

    The gain is the sum over c of ``l_c**2 / L + h_c**2 / H - p_c**2``, with the symbols of
    `GiniTreeSearch._best_position_from_edges`. If samples are added one by one in the order of a
    feature, each sample increases the square of the sum of its own class only. These increases,
    summed over the samples below a threshold, are the sum of all ``l_c**2``. Summed from the other
    end of the order, they are the sum of all ``h_c**2``, so that a side of small weight keeps its
    relative precision.

    Parameters
    ----------
    weights : ndarray of shape (n_features, n_samples)
        Weights of the samples in the order of each feature.
    sums_up_to, sums_from : ndarray of shape (n_features, n_samples)
        Sum of the weights of the sample's class from the low end up to and including the sample,
        and from the sample to the high end. Overwritten.

    Returns
    -------
    ndarray of shape (n_features, n_samples - 1)
        Gain of the threshold behind each sample but the last.
    """
    # 1) A sample of weight v that raises the sum of its class to s increases the square of this
    # sum by s^2 - (s - v)^2 = (2 s - v) v. Summed over the samples of a class, these increases
    # telescope to its final square; summed over all samples, to the sum of all squares.
    for sums in (sums_up_to, sums_from):
        sums *= 2.0
        sums -= weights
        sums *= weights
    # 2) Both hold the increases of the squares now. Sum them from either end: `low_squares` is the
    # sum of all l_c^2, and `high_squares` of all h_c^2. The sum over all samples is the sum of all
    # p_c^2.
    low_weight = np.cumsum(weights, axis=1)[:, :-1]
    high_weight = 1.0 - low_weight
    low_squares = np.cumsum(sums_up_to, axis=1)
    leaf_squares = low_squares[:, -1:].copy()
    high_squares = np.cumsum(sums_from[:, :0:-1], axis=1)[:, ::-1]
    # 3) Compute the gain, which overwrites `low_squares`.
    gain = low_squares[:, :-1]
    gain /= np.maximum(low_weight, _MIN_DIVISOR)
    gain += high_squares / np.maximum(high_weight, _MIN_DIVISOR)
    gain -= leaf_squares
    # 4) Reduce the gain of splits with a balance 4 L H below _MIN_BALANCE, by the factor balance /
    # _MIN_BALANCE. `_gain_from_edges` divides by _MIN_BALANCE in place of their balance, which has
    # the same effect, so that both functions rank splits equally.
    balance = 4.0 * low_weight * high_weight
    gain *= np.minimum(1.0, balance / _MIN_BALANCE)
    return gain


def _gain_from_edges(edges):
    """Return the gain of each split, the sum over c of ``d_c**2 / (1 - e**2)``.

    Parameters
    ----------
    edges : ndarray of shape (n_stumps, 1 + n_classes)
        Edge e of the weights in column 0, and the edges d_c of the deviations of each class; see
        `GiniTreeSearch._best_position_from_edges`. Overwritten.

    Returns
    -------
    ndarray of shape (n_stumps,)
    """
    # A product with this matrix gives the sum of all d_c^2 in column 0, and e^2 in column 1. It is
    # faster than sums over short rows.
    column_sums = np.zeros((edges.shape[1], 2))
    column_sums[1:, 0] = column_sums[0, 1] = 1.0
    gain = np.empty(len(edges))
    for start in range(0, len(edges), _BLOCK_STUMPS):
        block = slice(start, start + _BLOCK_STUMPS)
        squares = np.square(edges[block], out=edges[block])
        deviation_squares, weight_square = (squares @ column_sums).T
        # The balance 4 L H is 0 for a split with an empty side.
        balance = 1.0 - weight_square
        np.divide(deviation_squares, np.maximum(balance, _MIN_BALANCE), out=gain[block])
    return gain
