"""Stage-wise MCBoost: each round adds a weak learner with a coefficient for every class.

`MCBoost` is the estimator, `_MCBoostMaster` Algorithm 1 of the paper, and `SignTreeSearch` the
search for decision trees; stumps are searched by `boostbench.core.stumps`.
"""

from typing import ClassVar, Literal

import numpy as np

from boostbench.algorithms.base.estimators import CategorySetBooster, StumpEnsemble
from boostbench.algorithms.base.master import MAX_EDGE, MIN_EDGE, Master
from boostbench.algorithms.base.parameters import (
    FractionOrOne,
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    TwoOrMore,
)
from boostbench.core.learners.trees import Tree, Trees
from boostbench.core.losses.logistic_weights import LogisticWeights, TwoClassLogisticWeights
from boostbench.core.losses.objective import LOSSES
from boostbench.core.losses.pair_weights import ExponentialWeights, TwoClassExponentialWeights
from boostbench.core.solvers.balancing import minimise
from boostbench.core.stumps.category_sets import stack_stumps
from boostbench.core.stumps.search import StumpSearch
from boostbench.core.weak_learner import SearchResult, argmax_with_tolerance

# Tolerance epsilon of the stopping rule (step 2), as a fraction of nu: under the penalty, edges
# approach nu without reaching it.
_EDGE_TOLERANCE = 1e-2

# Dual variables of each loss, for several classes and for two.
_WEIGHTS = {"exponential": ExponentialWeights, "logistic": LogisticWeights}
_TWO_CLASS_WEIGHTS = {
    "exponential": TwoClassExponentialWeights,
    "logistic": TwoClassLogisticWeights,
}

# Absolute weights are rounded to multiples of this fraction of their mean. Sums over up to 2^25
# samples are then exact in double precision in any order, so that equivalent splits have equal
# gains and scikit-learn takes the first feature that it tries.
_WEIGHT_UNIT = 2.0**-28


class MCBoost(CategorySetBooster, StumpEnsemble):
    r"""Stage-wise multi-class boosting (MCBoost, Algorithm 1).

    The scores are :math:`F_r(x) = \sum_t h_t(x) w_{tr}` with :math:`w \ge 0`. A round finds the
    weak learner and class of the most violated dual constraint, eq. (10),

    .. math:: \max_{h,r} \sum_i G_{ir} h(x_i), \quad
              G_{ir} = [r = y_i] \sum_l u_{il} - u_{ir},

    and then the k coefficients of this weak learner that minimise the loss over all margins
    :math:`\rho_{ir} = F_{y_i}(x_i) - F_r(x_i)`, eq. (13) or (14),

    .. math:: \log \sum_{i,r} e^{-\rho_{ir}} + \nu \|w_t\|_1 \quad \text{or} \quad
              \sum_{i,r} \log(1 + e^{-\rho_{ir}}) + \nu \|w_t\|_1, \quad w_t \ge 0.

    Parameters
    ----------
    n_iterations : int, default=1000
        Maximum number of boosting rounds, n of MCBoost.
    loss : {"exponential", "logistic"}, default="exponential"
        Loss of eq. (13) or (14).
    eta : float, default=0.5
        Shrinkage :math:`\eta`, a factor of the coefficients.
    kappa : float or None, default=None
        Maximum step size :math:`\kappa`, an upper bound on the coefficients of a round after
        shrinkage. None: no bound.
    nu : float, default=1e-9
        Weight :math:`\nu` of the L1 norm. Training ends if the largest edge, for dual variables u
        of sum 1, exceeds it by at most 1 % (step 2), or if all coefficients of a round are 0.
        In eq. (14), a sum, multiplying all sample weights by a factor equals dividing `nu` by it.
    weak_learner : {"stump", "tree"}, default="stump"
        Type of the weak learners. ``"tree"``: decision trees of scikit-learn; every round grows one
        tree for each class and keeps the best.
    max_depth : int or None, default=2
        Maximum depth of a tree. None: no limit.
    max_leaf_nodes : int or None, default=None
        Maximum number of leaves of a tree. None: no limit.
    max_bins : int or None, default=None
        Number of quantile bins of each feature for stumps. None: all thresholds are searched.

    Attributes
    ----------
    hypotheses_ : boostbench.core.stumps.stump.Stumps or boostbench.core.learners.trees.Trees
        Weak learners.
    coefficients_ : ndarray of shape (n_iterations_, n_classes)
        Coefficients W.

    Notes
    -----
    The sums over (i, r) include the constant terms :math:`r = y_i`. These have no effect in
    eq. (14), but they do inside the logarithm of eq. (13) and in the sum of u, that is, wherever
    :math:`\nu` has an effect. In eq. (14), :math:`u^0 = 1/(mk)` would shift all margins of the
    logistic loss; here margins start from 0, and u of eq. (12) from 1/2.

    Adding one number to all coefficients of a weak learner changes neither the loss nor a
    prediction. The smallest coefficient of a round is 0, which is the minimum for any positive
    :math:`\nu`, and `kappa` is relative to it. The polarity of the weak learner makes the gain in
    eq. (10) positive, which matters for large :math:`\nu` and small :math:`\kappa` only.

    If a weak learner separates some classes without an error, the minimum is at infinity or, with
    :math:`\nu`, far away. The solver stops when the slope is below 1e-8 of the loss, at
    coefficients of about 20, which `eta` halves. For example, the first stump on iris, which
    separates setosa from the other classes, has the coefficient 10.26, and later stumps less
    than 1.

    Growing a tree for each of the k classes takes far longer than the rest of a round.

    See Also
    --------
    MultiBoost : Totally corrective: fits all coefficients again in every round.

    References
    ----------
    .. [1] S. Paisitkriangkrai, C. Shen and A. van den Hengel, "A scalable stage-wise approach to
       large-margin multi-class loss based boosting" (MCBoost).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> MCBoost(n_iterations=50).fit(X, y).score(X, y) > 0.95
    True
    """

    loss: Literal[*LOSSES] = "exponential"
    eta: FractionOrOne = 0.5
    kappa: PositiveFloat | None = None
    nu: NonNegativeFloat = 1e-9
    weak_learner: Literal["stump", "tree"] = "stump"
    max_depth: PositiveInt | None = 2
    max_leaf_nodes: TwoOrMore | None = None

    @property
    def _takes_sparse(self):
        """True if X may be sparse: only stumps accept it."""
        return self.weak_learner == "stump"

    def _make_master(self, X, labels, random_state, weights=None):
        """Return the master with the search for stumps or trees; see `Booster._make_master`."""
        if self.weak_learner == "stump":
            search = self._enable_category_sets(StumpSearch(X, self.max_bins, weights))
        else:
            search = SignTreeSearch(X, self.max_depth, self.max_leaf_nodes)
        return _MCBoostMaster(self, search, labels, weights)

    def _store_model(self, master):
        """Store the model; see `Booster._store_model`."""
        # The last round may have added no weak learner.
        T, k = len(master.learners), len(self.classes_)
        self.n_iterations_ = T
        self.coefficients_ = np.reshape(master.coefficients, (T, k))
        if self.weak_learner == "stump":
            self.hypotheses_ = stack_stumps(master.learners)
        else:
            self.hypotheses_ = Trees(master.learners)
        self.n_parameters_ = self.hypotheses_.n_parameters + self.coefficients_.size


class _MCBoostMaster(Master):
    """Master of `MCBoost`, Algorithm 1.

    Parameters
    ----------
    params, search
        See `Master`.
    labels : ndarray of shape (n_samples,)
        Classes from 0 to n_classes - 1.
    sample_weight : ndarray of shape (n_samples,), default=None
        None: all weights are 1.

    Attributes
    ----------
    weights : boostbench.core.losses.pair_weights.PairWeights
        Dual variables u of all pairs, eq. (11) or (12). `total` is the sum of u over the pairs (i,
        r) with r != y_i, `share` its fraction of the sum over all pairs, and `gains` are the
        weights G of eq. (10) times `total`.
    max_coefficient : float
        Upper bound kappa of the coefficients of a round.
    """

    per_round_lists: ClassVar = ("learners", "coefficients")

    def __init__(self, params, search, labels, sample_weight=None):
        super().__init__(params, search)
        n_classes = len(params.classes_)
        weights_class = (_TWO_CLASS_WEIGHTS if n_classes == 2 else _WEIGHTS)[params.loss]
        self.weights = weights_class(labels, n_classes, sample_weight)
        self.max_coefficient = np.inf if params.kappa is None else params.kappa

    def generate(self):
        """Return the weak learner of the most violated constraint; see `Master.generate`."""
        # The share is 0 if the losses of all pairs with r != y_i have underflowed to 0.
        result = self.search.best(self.weights.gains) if self.weights.share else None
        if result is None:
            return None
        result = result._replace(edge=result.edge / self.weights.total)
        is_violated = result.edge * self.weights.share > (1.0 + _EDGE_TOLERANCE) * self.params.nu
        return result if is_violated and result.edge > MIN_EDGE else None

    def correct(self, result):
        """Find the coefficients by eq. (13) or (14), and update u; see `Master.correct`."""
        # The problem is eq. (13) or (14) divided by `scale`, up to a constant; nu is divided alike.
        problem, scale = self.weights.problem(result.outputs)
        w = np.minimum(
            self.params.eta * minimise(problem, self.params.nu / scale), self.max_coefficient
        )
        if not w.any():
            # `nu` outweighs the sum of the losses, in this round and in all later rounds.
            return False
        self.weights.move(w)
        self.learners.append(result.learner)
        self.coefficients.append(w)
        return result.edge < MAX_EDGE


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
        # Importing scikit-learn's trees takes a second, and other boosters do not need them.
        from sklearn.tree import DecisionTreeClassifier

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
        # 1) Scale the magnitudes to mean 1, since scikit-learn drops splits whose gain is near
        # machine epsilon, and round them, see `_WEIGHT_UNIT`.
        sample_weight = (
            np.rint(magnitudes * (len(magnitudes) / magnitudes.sum() / _WEIGHT_UNIT)) * _WEIGHT_UNIT
        )
        model = self._model.fit(self._X_float32, signed_weights > 0, sample_weight=sample_weight)
        # 2) Let each leaf have the sign of its class with the larger weight. If all signs are
        # equal, there is one class, and the first column is the last.
        class_fractions = model.tree_.value[:, 0]
        class_signs = np.where(model.classes_, 1.0, -1.0)
        # A tie within a node gives the positive sign.
        leaf_signs = np.where(
            class_fractions[:, -1] >= class_fractions[:, 0], class_signs[-1], class_signs[0]
        )
        return _build_tree(model.tree_, leaf_signs)


def _build_tree(sklearn_tree, leaf_signs):
    """Convert a tree of scikit-learn to a `Tree` with the given output of each node.

    Parameters
    ----------
    sklearn_tree : sklearn.tree._tree.Tree
        Arrays of nodes; the children of a leaf are -1.
    leaf_signs : ndarray of shape (n_nodes,)
        Output of each node, -1 or +1, which matters for leaves.

    Returns
    -------
    Tree
        It compares features in single precision, as scikit-learn does.
    """
    is_leaf = sklearn_tree.children_left < 0
    children = np.column_stack([sklearn_tree.children_left, sklearn_tree.children_right])
    return Tree(
        feature=np.where(is_leaf, 0, sklearn_tree.feature),
        threshold=np.where(is_leaf, 0.0, sklearn_tree.threshold),
        children=np.where(is_leaf[:, None], np.arange(sklearn_tree.node_count)[:, None], children),
        value=leaf_signs,
        dtype=np.float32,
    )
