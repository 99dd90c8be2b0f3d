"""Decision trees with outputs -1 and +1 as weak learners."""

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from boostbench.core.weak.base import Found, Stack

_LEAF = -1


class Tree:
    """A weak learner: a tree of thresholds with -1 or +1 in its leaves.

    It sees features in single precision, as scikit-learn's trees do.

    Parameters
    ----------
    feature : ndarray of shape (n_nodes,), dtype=int64
        What a node looks at; -1 for leaves. Node 0 is the root.
    threshold : ndarray of shape (n_nodes,)
    children : ndarray of shape (n_nodes, 2), dtype=int64
        Where to go from a node: up to its threshold, and above.
    output : ndarray of shape (n_nodes,)
        -1 or +1, of the leaves.
    """

    def __init__(self, feature, threshold, children, output):
        self.feature = feature
        self.threshold = threshold
        self.children = children
        self.output = output

    def __call__(self, X):
        """Evaluate the tree.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), dtype=float64
            -1 or +1.
        """
        return Trees([self]).outputs(X)[:, 0]


class TreeSearch:
    """Trees that separate two sides of a training set, by scikit-learn's greedy algorithm.

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
    >>> found = TreeSearch(X, max_depth=2, max_leaf_nodes=None).best(G)
    >>> found.outputs, found.column, found.edge
    (array([ 1., -1.,  1.]), 0, 4.0)
    """

    def __init__(self, X, max_depth, max_leaf_nodes):
        self.X = X
        self._single = np.asfortranarray(X, dtype=np.float32)
        self._varies = np.ptp(self._single, axis=0).any()
        self._options = {"max_depth": max_depth, "max_leaf_nodes": max_leaf_nodes}

    def best(self, G):
        """Grow a tree for every column and return the one of the largest edge.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_columns)

        Returns
        -------
        Found or None
            With the edge ``sum_i G[i, column] h(x_i)``: eq. (10) of paper 2, as far as a greedy
            tree goes. None where no feature varies.
        """
        if not self._varies:
            return None
        trees = [self._grow(column) for column in G.T]
        outputs = Trees(trees).outputs(self.X)
        edges = (G * outputs).sum(axis=0)
        column = int(edges.argmax())
        return Found(trees[column], outputs[:, column], float(edges[column]), column)

    def _grow(self, gains):
        # The order in which features are tried only decides between equal ones.
        model = DecisionTreeClassifier(random_state=0, **self._options)
        size = np.abs(gains)
        # Weights of mean 1, since scikit-learn drops splits that gain less than rounding.
        weight = size * (len(size) / size.sum())
        tree = model.fit(self._single, gains > 0, sample_weight=weight).tree_
        if len(model.classes_) == 2:
            output = np.where(tree.value[:, 0, 1] >= tree.value[:, 0, 0], 1.0, -1.0)
        else:
            output = np.full(tree.node_count, 1.0 if model.classes_[0] else -1.0)
        children = np.column_stack([tree.children_left, tree.children_right])
        is_leaf = children[:, 0] == _LEAF
        feature = np.where(is_leaf, _LEAF, tree.feature)
        return Tree(feature, np.where(is_leaf, 0.0, tree.threshold), children, output)


class Trees(Stack):
    """T stacked trees; the interface of `boostbench.core.weak.stumps.Stumps`.

    Parameters
    ----------
    trees : sequence of Tree

    Attributes
    ----------
    feature, threshold, output : ndarray of shape (n_nodes,)
        Of the nodes of all trees, one tree after the other; feature 0 for leaves.
    children : ndarray of shape (n_nodes, 2)
        A leaf is its own child.
    root : ndarray of shape (n_hypotheses,)
    depth : int
        Steps from a root to any leaf, at most.
    n_parameters : int
        Features and thresholds of the inner nodes, outputs of the leaves.
    """

    def __init__(self, trees):
        sizes = np.array([len(tree.feature) for tree in trees], dtype=np.int64)
        self.root = np.cumsum(sizes) - sizes
        empty = np.empty(0)
        feature = np.concatenate([empty, *(tree.feature for tree in trees)]).astype(np.int64)
        self.threshold = np.concatenate([empty, *(tree.threshold for tree in trees)])
        self.output = np.concatenate([empty, *(tree.output for tree in trees)])
        children = np.concatenate([np.empty((0, 2)), *(tree.children for tree in trees)])
        is_leaf = feature == _LEAF
        own = np.arange(len(feature))
        first = np.repeat(self.root, sizes)
        inside = children.astype(np.int64) + first[:, None]
        self.children = np.where(is_leaf[:, None], own[:, None], inside)
        self.feature = np.where(is_leaf, 0, feature)
        self.depth = _depth(self.root, self.children)
        self.n_parameters = int(2 * (~is_leaf).sum() + is_leaf.sum())

    def __len__(self):
        return len(self.root)

    def outputs(self, X, some=slice(None)):
        """Evaluate some of the hypotheses; as `boostbench.core.weak.stumps.Stumps.outputs`."""
        X = np.ascontiguousarray(X, dtype=np.float32)
        root = self.root[some]
        first = np.arange(len(X))[:, None] * X.shape[1]
        node = np.broadcast_to(root, (len(X), len(root)))
        for _ in range(self.depth):
            above = X.take(first + self.feature.take(node)) > self.threshold.take(node)
            node = self.children.take(2 * node + above)
        return self.output.take(node)


def _depth(nodes, children):
    depth = 0
    while True:
        below = np.unique(children[nodes])
        # A leaf is its own child.
        below = np.setdiff1d(below, below[children[below, 0] == below])
        if not len(nodes) or (children[nodes, 0] == nodes).all():
            return depth
        depth += 1
        nodes = below
