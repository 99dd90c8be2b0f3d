"""Search for sign-valued trees by scikit-learn's greedy algorithm."""

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from boostbench.core.learners.trees import Tree, Trees
from boostbench.core.stumps.ties import argmax_with_tolerance
from boostbench.core.weak_learner import SearchResult

# Absolute weights are rounded to multiples of this fraction of their mean. Sums over up to 2^25
# samples are then exact in double precision in any order, so that equivalent splits have equal
# gains and scikit-learn takes the first feature that it tries.
_WEIGHT_UNIT = 2.0**-28


class SignTreeSearch:
    """Search for trees that separate samples of positive weights from samples of negative weights.

    Features are compared in single precision, as in scikit-learn's trees.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Training data.
    max_depth, max_leaf_nodes : int or None
        See scikit-learn's DecisionTreeClassifier.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> G = np.array([[1.0], [-2.0], [1.0]])
    >>> result = SignTreeSearch(X, max_depth=2, max_leaf_nodes=None).best(G)
    >>> result.outputs, result.column, result.edge
    (array([ 1., -1.,  1.]), 0, 4.0)
    """

    def __init__(self, X, max_depth, max_leaf_nodes):
        self.X = X
        self._X_float32 = np.asfortranarray(X, dtype=np.float32)
        self._has_varying_feature = np.ptp(self._X_float32, axis=0).any()
        # The seed only shuffles the order of features, which breaks ties.
        self._model = DecisionTreeClassifier(
            max_depth=max_depth, max_leaf_nodes=max_leaf_nodes, random_state=0
        )

    def best(self, G):
        """Grow a tree for every column of G, and return the tree of the largest edge.

        The edge of a `Tree` h with outputs -1 and +1 is ``sum_i G[i, column] h(x_i)``, eq. (10) of
        MCBoost, which greedy trees maximise approximately. Ties go to the first column.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_columns)
            Signed weights: a tree should output the sign of each entry of a column, and the
            absolute value is the importance of the sample.

        Returns
        -------
        SearchResult or None
            None if all features are constant.
        """
        if not self._has_varying_feature:
            return None
        trees = [self._grow(signed_weights) for signed_weights in G.T]
        outputs = Trees(trees).outputs(self.X)
        edges = (G * outputs).sum(axis=0)
        column = int(argmax_with_tolerance(edges, np.abs(G).sum(axis=0).max()))
        return SearchResult(trees[column], outputs[:, column], float(edges[column]), column)

    def _grow(self, signed_weights):
        """Return the greedy tree for one column of G, of shape (n_samples,)."""
        magnitudes = np.abs(signed_weights)
        # Scale the magnitudes to mean 1: scikit-learn drops splits whose gain is near machine
        # epsilon.
        sample_weight = (
            np.rint(magnitudes * (len(magnitudes) / magnitudes.sum() / _WEIGHT_UNIT)) * _WEIGHT_UNIT
        )
        model = self._model.fit(self._X_float32, signed_weights > 0, sample_weight=sample_weight)
        class_fractions = model.tree_.value[:, 0]
        class_signs = np.where(model.classes_, 1.0, -1.0)
        # A tie within a node gives the positive sign.
        leaf_signs = np.where(
            class_fractions[:, -1] >= class_fractions[:, 0], class_signs[-1], class_signs[0]
        )
        return _to_tree(model.tree_, leaf_signs)


def _to_tree(sklearn_tree, leaf_signs):
    """Convert a tree of scikit-learn to a `Tree` with the given output of each node."""
    is_leaf = sklearn_tree.children_left < 0
    children = np.column_stack([sklearn_tree.children_left, sklearn_tree.children_right])
    return Tree(
        feature=np.where(is_leaf, 0, sklearn_tree.feature),
        threshold=np.where(is_leaf, 0.0, sklearn_tree.threshold),
        children=np.where(is_leaf[:, None], np.arange(sklearn_tree.node_count)[:, None], children),
        value=leaf_signs,
        dtype=np.float32,
    )
