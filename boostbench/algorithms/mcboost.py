"""MCBoost, stage-wise: one weak learner and a coefficient for every class per round."""

from typing import ClassVar, Literal

import numpy as np

from boostbench.algorithms.base.master import MAX_EDGE, MIN_EDGE, Master
from boostbench.algorithms.base.parameters import (
    FractionOrOne,
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    TwoOrMore,
)
from boostbench.algorithms.base.stump_ensembles import CategorySetBooster, StumpEnsemble
from boostbench.algorithms.base.tree_search import SignTreeSearch
from boostbench.core.learners.trees import Trees
from boostbench.core.losses.margin import LOSSES
from boostbench.core.losses.pair_weights import (
    ExponentialWeights,
    LogisticWeights,
    TwoClassExponentialWeights,
)
from boostbench.core.losses.two_class_weights import TwoClassLogisticWeights
from boostbench.core.solvers.balancing import minimise
from boostbench.core.stumps.category_sets import stacked
from boostbench.core.stumps.search import StumpSearch

# Epsilon of step 2, as a part of nu: coefficients that nu holds back bring the edges down to it
# without end.
_EDGE_TOLERANCE = 1e-2

_WEIGHTS = {"exponential": ExponentialWeights, "logistic": LogisticWeights}
_TWO_CLASS_WEIGHTS = {
    "exponential": TwoClassExponentialWeights,
    "logistic": TwoClassLogisticWeights,
}


class MCBoost(CategorySetBooster, StumpEnsemble):
    r"""Stage-wise multi-class boosting (MCBoost, Algorithm 1).

    The scores are :math:`F_r(x) = \sum_t h_t(x) w_{tr}` with :math:`w \ge 0`. A round finds the
    weak learner and class of the most violated dual constraint, eq. (10),

    .. math:: \max_{h,r} \sum_i G_{ir} h(x_i), \quad
              G_{ir} = [r = y_i] \sum_l u_{il} - u_{ir},

    and for this weak learner alone the k coefficients that minimise the loss over all margins
    :math:`\rho_{ir} = F_{y_i}(x_i) - F_r(x_i)`, eq. (13) or (14),

    .. math:: \log \sum_{i,r} e^{-\rho_{ir}} + \nu \|w_t\|_1 \quad \text{or} \quad
              \sum_{i,r} \log(1 + e^{-\rho_{ir}}) + \nu \|w_t\|_1, \quad w_t \ge 0.

    Parameters
    ----------
    n_iterations : int, default=1000
        n of MCBoost: boosting rounds at most.
    loss : {"exponential", "logistic"}, default="exponential"
    eta : float, default=0.5
        :math:`\eta`, shrinkage: the coefficients found are multiplied by it.
    kappa : float or None, default=None
        :math:`\kappa`, bounded step size: what a round adds, after shrinkage, is at most that. None
        leaves it free.
    nu : float, default=1e-9
        :math:`\nu`, weight of the L1 norm. Training ends where the largest edge, for dual
        variables u of sum 1, exceeds it by no more than 1 % (step 2), or where it leaves all
        coefficients of a round at 0. As eq. (14) is a sum, a factor of all weights of samples
        divides it there.
    weak_learner : {"stump", "tree"}, default="stump"
        ``"tree"``: scikit-learn's decision trees, one grown for every class in every round.
    max_depth : int or None, default=2
        Of a tree.
    max_leaf_nodes : int or None, default=None
        Of a tree.
    max_bins : int or None, default=None
        Quantile bins of each feature for stumps; None: all thresholds are tried.

    Attributes
    ----------
    hypotheses_ : boostbench.core.stumps.stump.Stumps or boostbench.core.learners.trees.Trees
    coefficients_ : ndarray of shape (n_iterations_, n_classes)
        W.

    Notes
    -----
    The sums over (i, r) hold the constant terms :math:`r = y_i`. They do not matter in eq. (14),
    but do inside the logarithm of eq. (13) and in the sum of u, that is, wherever :math:`\nu`
    does. In eq. (14), :math:`u^0 = 1/(mk)` would shift all margins of the logistic loss; here they
    start from 0, and u of eq. (12) from 1/2.

    The loss does not change when the same number is added to all coefficients of a weak learner,
    and neither does a prediction. The smallest coefficient of a round is 0: that is what any
    positive :math:`\nu` makes of it, and what `kappa` is relative to. The polarity of the weak
    learner is the one for which the gain in eq. (10) is positive, which matters for large
    :math:`\nu` and small :math:`\kappa` only.

    Where a weak learner tells some classes apart without an error, the minimum is at infinity or,
    with :math:`\nu`, far away: coefficients end where the slope is below 1e-8 of the loss, at about
    20, which `eta` halves. So the first stump of iris, which tells setosa from the others, has
    10.26, and later ones less than 1.

    A tree for each of k classes costs k times scikit-learn's time for one, which is far more than
    the rest of a round.

    See Also
    --------
    MultiBoost : All coefficients found anew in every round.

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
        return self.weak_learner == "stump"

    def _make_master(self, X, labels, random_state, weights=None):
        if self.weak_learner == "stump":
            search = self._enable_category_sets(StumpSearch(X, self.max_bins, weights))
        else:
            search = SignTreeSearch(X, self.max_depth, self.max_leaf_nodes)
        return _MCBoostMaster(self, search, labels, weights)

    def _store_model(self, master):
        # The last round of a training may have added nothing.
        T, k = len(master.learners), len(self.classes_)
        self.n_iterations_ = T
        self.coefficients_ = np.reshape(master.coefficients, (T, k))
        if self.weak_learner == "stump":
            self.hypotheses_ = stacked(master.learners)
        else:
            self.hypotheses_ = Trees(master.learners)
        self.n_parameters_ = self.hypotheses_.n_parameters + self.coefficients_.size


class _MCBoostMaster(Master):
    per_round_lists: ClassVar = ("learners", "coefficients")

    def __init__(self, params, search, labels, sample_weight=None):
        super().__init__(params, search)
        n_classes = len(params.classes_)
        weights_class = (_TWO_CLASS_WEIGHTS if n_classes == 2 else _WEIGHTS)[params.loss]
        self.weights = weights_class(labels, n_classes, sample_weight)
        self.max_coefficient = np.inf if params.kappa is None else params.kappa

    def generate(self):
        result = self.search.best(self.weights.gains) if self.weights.share else None
        if result is None:
            return None
        result = result._replace(edge=result.edge / self.weights.total)
        is_violated = result.edge * self.weights.share > (1.0 + _EDGE_TOLERANCE) * self.params.nu
        return result if is_violated and result.edge > MIN_EDGE else None

    def correct(self, result):
        problem, scale = self.weights.problem(result.outputs)
        w = np.minimum(
            self.params.eta * minimise(problem, self.params.nu / scale), self.max_coefficient
        )
        if not w.any():
            # `nu` outweighs the sum of the losses, as it does in all rounds to come.
            return False
        self.weights.move(w)
        self.learners.append(result.learner)
        self.coefficients.append(w)
        return result.edge < MAX_EDGE
