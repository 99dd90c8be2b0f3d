"""MultiBoost as the papers solve it: its coefficients from zero in every round."""

from typing import ClassVar, Literal

import numpy as np

from boostbench.algorithms.base import Master
from boostbench.algorithms.multiboost import MultiBoost, PairwiseSolution
from boostbench.algorithms.parameters import PositiveInt
from boostbench.algorithms.training.weights import relative
from boostbench.core.coefficient_path import CoefficientPath
from boostbench.core.losses.margin import LOSSES, get_loss
from boostbench.core.losses.pairwise import PairwiseLoss, pairwise_weights
from boostbench.core.solvers.lbfgs import nonnegative_l1

__all__ = ["MultiBoostFromZero"]


class MultiBoostFromZero(MultiBoost):
    r"""MultiBoost whose solver starts from zero in every round, and stops early.

    The problem, the weak learners and the dual constraints are those of `MultiBoost`. Every round
    looks for all coefficients from :math:`W = 0` by L-BFGS-B with the settings of RandomBoost and
    MCBoost: at most 100 iterations, which end where no slope of the objective, a mean over all
    pairs, exceeds 1e-5.

    Parameters
    ----------
    loss : {"logistic", "exponential"}, default="logistic"
        :math:`\lambda`.
    nu : float, default=1e-4
        Weight of the L1 norm of W, for the mean of the loss over all m k pairs.
    solver_iterations : int, default=100
        L-BFGS-B iterations of a round at most.

    Attributes
    ----------
    hypotheses_ : boostbench.core.weak.stumps.Stumps
        A stump may come several times.
    coefficients_ : ndarray of shape (n_iterations_, n_classes)
        W after the last round.
    weight_path_ : scipy.sparse.csr_array of shape (n_iterations_, n_iterations_ * n_classes)
        W after each round, row by row.
    objective_ : ndarray of shape (n_iterations_,)
        The objective after each round, the constant :math:`\lambda(0) / k` of the terms r = y_i
        included. It may rise.
    converged_ : bool
        Whether training ended as no constraint is violated by more than `tol` times `nu`, so that W
        solves the problem over all stumps. With a small `nu` it never does; there is no warning.
    dual_ : ndarray of shape (n_samples, n_classes)
        The dual variables u after the last round, times the weights of the samples (of mean 1,
        those of weight 0 left out); 0 for r = y_i.

    Notes
    -----
    *What stops early.* As soon as the stumps separate the training data, slopes become small: the
    dual variables vanish with the losses. On 375 samples of pendigits the limit of 1e-5 ends the
    solver after about 15 iterations, whatever :math:`\nu \le 10^{-6}` is, far from the minimum. A
    start from zero spreads the coefficients over all stumps, new ones as well as old ones, and the
    next round begins again. So `nu` hardly matters and more stumps go on to help, as in a forest.
    From the coefficients of the round before, the same solver has nothing to do: the slopes
    are below 1e-5 already, the new stump gets no coefficient, and it comes again for ever.

    The papers state the settings, and not where the solver starts. `MultiBoost` goes to the
    minimum.

    See Also
    --------
    MultiBoost : Solves the same problem to the end.

    References
    ----------
    .. [1] C. Shen and Z. Hao, "A direct formulation for totally-corrective multi-class boosting",
       CVPR 2011.
    .. [2] S. Paisitkriangkrai, C. Shen and A. van den Hengel, "A scalable stage-wise approach to
       large-margin multi-class loss based boosting" (MCBoost), Section IV-B.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> MultiBoostFromZero(n_iterations=50, nu=1e-6).fit(X, y).score(X, y) > 0.95
    True
    """

    edition = 2

    loss: Literal[*LOSSES] = "logistic"
    solver_iterations: PositiveInt = 100
    # The other parameters of `MultiBoost` have one value here.
    solver: ClassVar = "lbfgs"
    warm_start: ClassVar = False

    warm_parameters: ClassVar = ()

    @property
    def _master_class(self):
        return _FromZeroMaster


class _FromZeroMaster(Master):
    per_round: ClassVar = ("stumps", "objective")

    def __init__(self, params, search, labels, sample_weight):
        super().__init__(params, search)
        self.loss = get_loss(params.loss, relative(sample_weight))
        self.own = labels == np.arange(len(params.classes_))[:, None]
        self.H = np.empty((params.n_iterations, len(labels)))
        self.stumps = []
        self.objective = []
        self.path = CoefficientPath()
        self.converged = False
        self._take(self._problem(), np.zeros((len(self.own), 0)))

    def _problem(self):
        return PairwiseLoss(self.H[: len(self.stumps)], self.own, self.loss)

    def _take(self, problem, W):
        """Take over the coefficients, and the dual variables that belong to them."""
        value, _ = problem.move(W)
        self.solution = PairwiseSolution(W, value, problem.dual, np.inf)

    def generate(self):
        found = self.search.best(pairwise_weights(self.solution.dual.T, self.own.T))
        least = (1.0 + self.params.tol) * self.params.nu * self.own.size
        self.converged = found is None or bool(found.edge <= least)
        return None if self.converged else found

    def correct(self, found):
        self.H[len(self.stumps)] = found.outputs
        self.stumps.append(found.learner)
        problem = self._problem()

        def mean(W):
            value, slopes = problem.move(W)
            return value / self.own.size, slopes / self.own.size

        start = np.zeros((len(self.own), len(self.stumps)))
        limits = self.params.nu, self.params.solver_iterations
        solution = nonnegative_l1(mean, start, *limits)
        self._take(problem, solution.w)
        self.path.append(solution.w.T)
        self.objective.append(solution.value)
        return True

    def rewind(self, rounds):
        super().rewind(rounds)
        values, places = self.path.rewind(rounds)
        W = np.zeros((rounds, len(self.own)))
        W.flat[places] = values
        self._take(self._problem(), np.ascontiguousarray(W.T))
        self.converged = False
