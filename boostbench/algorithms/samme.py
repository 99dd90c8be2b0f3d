"""SAMME: AdaBoost whose weak learners vote for one of several classes."""

from typing import ClassVar, Literal, NamedTuple

import numpy as np

from boostbench.algorithms.base.booster import TabularBooster
from boostbench.algorithms.base.estimators import BoostingClassifier
from boostbench.algorithms.base.input_validation import normalise_weights
from boostbench.algorithms.base.master import MAX_EDGE, MIN_EDGE, Master
from boostbench.algorithms.base.parameters import TwoOrMore
from boostbench.algorithms.explanation.stump_sums import stump_sum_from_trees
from boostbench.core.learners.gini_trees import GiniTreeSearch
from boostbench.core.learners.trees import ClassStumpSearch, ClassTrees, Tree
from boostbench.core.stumps.search import StumpSearch


class SAMME(TabularBooster, BoostingClassifier):
    r"""SAMME (multi-class AdaBoost) with stumps or small trees.

    A round fits a weak learner :math:`h_t(x) \in \{1, \ldots, k\}` to the weighted samples. With
    the weighted error :math:`\epsilon_t`, it adds

    .. math:: \alpha_t = \log \frac{1 - \epsilon_t}{\epsilon_t} + \log(k - 1)

    to the score of the predicted class, and multiplies the weights of the misclassified samples by
    :math:`e^{\alpha_t}`.

    Parameters
    ----------
    n_iterations : int, default=1000
        Maximum number of boosting rounds. Training ends earlier if a weak learner is perfect, or no
        better than chance: :math:`\epsilon_t \ge 1 - 1/k`.
    weak_learner : {"stump", "tree"}, default="stump"
        ``"stump"``: the stump of the smallest weighted error; each side votes for the class of the
        largest weight. ``"tree"``: a tree with few leaves, grown by Gini impurity like
        scikit-learn's DecisionTreeClassifier.
    max_leaf_nodes : int, default=3
        Maximum number of leaves of a tree. Stumps have two.
    max_bins : int or None, default=None
        Number of quantile bins per feature; None: all thresholds are tried.

    Attributes
    ----------
    hypotheses_ : boostbench.core.learners.trees.ClassTrees
    coefficients_ : ndarray of shape (n_iterations_,)
        :math:`\alpha_t`.

    See Also
    --------
    AdaBoost : Two classes; its coefficients are half as large.

    Notes
    -----
    For two classes this is AdaBoost if the two sides of every stump vote for different classes.

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

    edition = 2

    weak_learner: Literal["stump", "tree"] = "stump"
    max_leaf_nodes: TwoOrMore = 3
    max_bins: TwoOrMore | None = None

    def stump_sum(self):
        """Return the model as a sum of stumps; see `BoostingClassifier.stump_sum`."""
        if self._fit_param("weak_learner") == "tree":
            return super().stump_sum()
        return stump_sum_from_trees(self, np.eye(len(self.classes_))[self.hypotheses_.value])

    def _make_master(self, X, labels, random_state, weights=None):
        """Return the master with the search for stumps or trees; see `Booster._make_master`."""
        stumps = StumpSearch(X, self.max_bins, weights)
        if self.weak_learner == "tree":
            search = GiniTreeSearch(stumps, labels, len(self.classes_), self.max_leaf_nodes)
        else:
            search = ClassStumpSearch(stumps, labels, len(self.classes_))
        return _SAMMEMaster(self, search, labels, weights)

    def _store_model(self, master):
        self.hypotheses_ = ClassTrees(master.trees, len(self.classes_))
        self.coefficients_ = np.array(master.alphas)
        self.n_parameters_ = self.hypotheses_.n_parameters + len(self.coefficients_)


class _TreeWithErrors(NamedTuple):
    """Tree of a round with its mistakes.

    Attributes
    ----------
    tree : Tree
    is_wrong : ndarray of shape (n_samples,), dtype=bool
        True for the training samples that the tree misclassifies.
    error : float
        Sum of their weights, epsilon.
    """

    tree: Tree
    is_wrong: np.ndarray
    error: float


class _SAMMEMaster(Master):
    """Master of `SAMME`.

    Parameters
    ----------
    params, search
        See `Master`. The search returns a tree whose outputs are classes.
    labels : ndarray of shape (n_samples,)
        Classes from 0 to n_classes - 1.
    sample_weight : ndarray of shape (n_samples,), default=None
        None: all weights are 1.

    Attributes
    ----------
    weights : ndarray of shape (n_samples,)
        Weights of the samples, of sum 1 (up to rounding).
    alphas : list of float
        Coefficient of each tree.
    """

    per_round_lists: ClassVar = ("trees", "alphas")

    def __init__(self, params, search, labels, sample_weight=None):
        super().__init__(params, search)
        self.labels = labels
        self.n_classes = len(params.classes_)
        self.weights = np.full(len(labels), 1.0 / len(labels))
        if sample_weight is not None:
            self.weights *= normalise_weights(sample_weight)

    def generate(self):
        """Return the best tree if it is better than chance; see `Master.generate`.

        Returns
        -------
        _TreeWithErrors or None
        """
        result = self.search.best(self.weights)
        if result is None:
            return None
        is_wrong = result.outputs != self.labels
        error = self.weights[is_wrong].sum()
        is_better_than_chance = error < 1 - 1 / self.n_classes - MIN_EDGE
        return _TreeWithErrors(result.learner, is_wrong, error) if is_better_than_chance else None

    def correct(self, tree_with_errors):
        """Add the tree, and increase the weights of its mistakes; see `Master.correct`."""
        tree, is_wrong, error = tree_with_errors
        # A perfect tree would get an infinite coefficient. An edge of `MAX_EDGE` is this error.
        min_error = (1 - MAX_EDGE) / 2
        odds = (1 - max(error, min_error)) / max(error, min_error)
        # The factor of a weight is exp(alpha).
        factor = odds * (self.n_classes - 1)
        self.trees.append(tree)
        self.alphas.append(np.log(factor))
        self.weights[is_wrong] *= factor
        self.weights /= self.weights.sum()
        return error > min_error
