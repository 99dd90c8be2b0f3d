"""SAMME: AdaBoost whose weak learners vote for one of several classes."""

from numbers import Integral
from typing import ClassVar

import numpy as np
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_array
from sklearn.utils._param_validation import Interval, StrOptions

from boostbench.algorithms.base import NO_EDGE, PERFECT, BoostingClassifier, Master, spans
from boostbench.core.weak.base import Found
from boostbench.core.weak.class_trees import ClassStumpSearch, ClassTree, ClassTrees
from boostbench.core.weak.stumps import StumpSearch


class SAMME(BoostingClassifier):
    r"""SAMME (multi-class AdaBoost) with stumps or small trees.

    A round fits a weak learner :math:`h_t(x) \in \{1, \dots, k\}` to the weighted samples. Where
    its weighted error is :math:`\epsilon_t`, it adds

    .. math:: \alpha_t = \log \frac{1 - \epsilon_t}{\epsilon_t} + \log(k - 1)

    to the score of the class it names, and multiplies the weights of the samples it has wrong by
    :math:`e^{\alpha_t}`.

    Parameters
    ----------
    n_iterations : int, default=1000
        Boosting rounds at most. Training ends earlier where a weak learner is perfect, or no
        better than chance: :math:`\epsilon_t \ge 1 - 1/k`.
    weak_learner : {"stump", "tree"}, default="stump"
        ``"stump"``: the stump of the least weighted error, each side voting for its heaviest class.
        ``"tree"``: scikit-learn's DecisionTreeClassifier.
    max_leaf_nodes : int, default=3
        Leaves of a tree. Stumps have two.
    max_bins : int or None, default=None
        None searches all thresholds; an integer that many quantile bins per feature. Trees search
        all.
    random_state : int, RandomState instance or None, default=None
        Breaks ties between splits of trees. Stumps do without.

    Attributes
    ----------
    hypotheses_ : boostbench.core.weak.class_trees.ClassTrees
    coefficients_ : ndarray of shape (n_iterations_,)
        :math:`\alpha_t`.

    See Also
    --------
    AdaBoost : The case of two classes; its coefficients are half of these.

    Notes
    -----
    For two classes this is AdaBoost as long as the two sides of the best stump vote for different
    classes.

    References
    ----------
    .. [1] J. Zhu, H. Zou, S. Rosset and T. Hastie, "Multi-class AdaBoost", Statistics and Its
       Interface 2, 2009. It is the baseline "SAMME" of MCBoost.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> SAMME(n_iterations=50).fit(X, y).score(X, y) > 0.95
    True
    """

    _parameter_constraints: ClassVar = {
        **BoostingClassifier._parameter_constraints,
        "weak_learner": [StrOptions({"stump", "tree"})],
        "max_leaf_nodes": [Interval(Integral, 2, None, closed="left")],
        "max_bins": [None, Interval(Integral, 2, None, closed="left")],
    }

    def __init__(
        self,
        n_iterations=1000,
        weak_learner="stump",
        max_leaf_nodes=3,
        max_bins=None,
        random_state=None,
    ):
        self.n_iterations = n_iterations
        self.weak_learner = weak_learner
        self.max_leaf_nodes = max_leaf_nodes
        self.max_bins = max_bins
        self.random_state = random_state

    def _master(self, X, labels, random_state):
        if self.weak_learner == "tree":
            search = _TreeSearch(X, labels, self.max_leaf_nodes, random_state)
        else:
            search = ClassStumpSearch(StumpSearch(X, self.max_bins), labels, len(self.classes_))
        return _SAMMEMaster(self, search, labels)

    def _keep(self, master):
        self.hypotheses_ = ClassTrees(master.trees)
        self.coefficients_ = np.array(master.alphas)
        n_leaves = self.hypotheses_.n_leaves
        # A test is a feature and a threshold, a leaf a class; and there is one alpha.
        self.n_parameters_ = int((2 * (n_leaves - 1) + n_leaves + 1).sum())

    def _staged_scores(self, X, stages):
        shape = len(X), len(self.classes_)
        scores = np.zeros(shape)
        row = shape[1] * np.arange(len(X))[:, None]
        for some in spans(stages):
            at = row + self.hypotheses_.outputs(X, some)
            votes = np.broadcast_to(self.coefficients_[some], at.shape)
            scores = scores + np.bincount(at.ravel(), votes.ravel(), scores.size).reshape(shape)
            yield scores


class _TreeSearch:
    """scikit-learn's trees, with the interface of `ClassStumpSearch`."""

    def __init__(self, X, labels, max_leaf_nodes, random_state):
        self.X = X
        # What `fit` would convert in every round.
        self.single = check_array(X, dtype=np.float32, order="C")
        self.labels = labels.astype(np.float64)
        self.model = DecisionTreeClassifier(
            max_leaf_nodes=max_leaf_nodes, random_state=random_state
        )

    def best(self, weights):
        grown = self.model.fit(self.single, self.labels, weights, check_input=False).tree_
        if grown.node_count == 1:
            return None
        is_leaf = grown.children_left < 0
        itself = np.arange(grown.node_count)
        tree = ClassTree(
            feature=np.where(is_leaf, 0, grown.feature),
            threshold=np.where(is_leaf, 0.0, grown.threshold),
            low=np.where(is_leaf, itself, grown.children_left),
            high=np.where(is_leaf, itself, grown.children_right),
            label=grown.value[:, 0].argmax(axis=1),
            depth=grown.max_depth,
        )
        outputs = tree(self.X)
        return Found(tree, outputs, float(weights[outputs == self.labels].sum()))


class _SAMMEMaster(Master):
    def __init__(self, params, search, labels):
        super().__init__(params, search)
        self.labels = labels
        self.n_classes = len(params.classes_)
        self.weights = np.full(len(labels), 1.0 / len(labels))
        self.trees = []
        self.alphas = []

    def generate(self):
        found = self.search.best(self.weights)
        if found is None:
            return None
        wrong = found.outputs != self.labels
        error = self.weights[wrong].sum()
        return (found.learner, wrong, error) if error < 1 - 1 / self.n_classes - NO_EDGE else None

    def correct(self, column):
        tree, wrong, error = column
        least = (1 - PERFECT) / 2
        odds = (1 - max(error, least)) / max(error, least)
        # exp(alpha).
        factor = odds * (self.n_classes - 1)
        self.trees.append(tree)
        self.alphas.append(np.log(factor))
        self.weights[wrong] *= factor
        self.weights /= self.weights.sum()
        return error > least
