"""Search for trees of signs by scikit-learn's greedy algorithm."""

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from boostbench.core.learners.trees import Tree, Trees
from boostbench.core.stumps.ties import first_largest
from boostbench.core.weak_learner import Found

# Weights are multiples of this part of their mean. Sums of up to 2^25 samples are then exact in
# double precision, in any order: splits that part the samples alike are equally good, and of these
# scikit-learn takes the first feature that it tries.
_WEIGHT_UNIT = 2.0**-28


class SignTreeSearch:
    """Trees that separate the positive from the negative weights of a training set.

    They see features in single precision, as scikit-learn's trees do.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Training data.
    max_depth : int or None
    max_leaf_nodes : int or None
        As of scikit-learn's DecisionTreeClassifier.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> G = np.array([[1.0], [-2.0], [1.0]])
    >>> found = SignTreeSearch(X, max_depth=2, max_leaf_nodes=None).best(G)
    >>> found.outputs, found.column, found.edge
    (array([ 1., -1.,  1.]), 0, 4.0)
    """

    def __init__(self, X, max_depth, max_leaf_nodes):
        self.X = X
        self._single = np.asfortranarray(X, dtype=np.float32)
        self._varies = np.ptp(self._single, axis=0).any()
        # The order in which features are tried only decides between equal ones.
        self._model = DecisionTreeClassifier(
            max_depth=max_depth, max_leaf_nodes=max_leaf_nodes, random_state=0
        )

    def best(self, G):
        """Grow a tree for every column, and return that of the largest edge; see `Search.best`.

        A `Tree` of -1 and +1, with the edge ``sum_i G[i, column] h(x_i)``: eq. (10) of MCBoost,
        as far as a greedy tree goes; of equally good ones that of the first column.
        """
        if not self._varies:
            return None
        trees = [self._grow(column) for column in G.T]
        outputs = Trees(trees).outputs(self.X)
        edges = (G * outputs).sum(axis=0)
        column = int(first_largest(edges, np.abs(G).sum(axis=0).max()))
        return Found(trees[column], outputs[:, column], float(edges[column]), column)

    def _grow(self, gains):
        sizes = np.abs(gains)
        # Weights of mean 1, since scikit-learn drops splits that gain less than rounding.
        weight = np.rint(sizes * (len(sizes) / sizes.sum() / _WEIGHT_UNIT)) * _WEIGHT_UNIT
        model = self._model.fit(self._single, gains > 0, sample_weight=weight)
        share = model.tree_.value[:, 0]
        signs = np.where(model.classes_, 1.0, -1.0)
        value = np.where(share[:, -1] >= share[:, 0], signs[-1], signs[0])
        return _to_tree(model.tree_, value)


def _to_tree(sklearn_tree, value):
    """Turn a tree of scikit-learn's into one of ours."""
    is_leaf = sklearn_tree.children_left < 0
    children = np.column_stack([sklearn_tree.children_left, sklearn_tree.children_right])
    return Tree(
        feature=np.where(is_leaf, 0, sklearn_tree.feature),
        threshold=np.where(is_leaf, 0.0, sklearn_tree.threshold),
        children=np.where(is_leaf[:, None], np.arange(sklearn_tree.node_count)[:, None], children),
        value=value,
        dtype=np.float32,
    )
