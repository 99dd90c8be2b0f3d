"""MultiBoost with the settings of the papers, where the solver starts from zero in every round.

`boostbench.algorithms.multiboost` has the estimator, and the master that starts from the previous
coefficients.
"""

from typing import ClassVar

import numpy as np

from boostbench.algorithms.base.input_validation import normalise_weights
from boostbench.algorithms.base.master import Master
from boostbench.core.coefficient_path import CoefficientPath
from boostbench.core.losses.objective import get_loss
from boostbench.core.losses.restricted_problems import PairwiseLoss, pairwise_weights
from boostbench.core.solvers.lbfgs import scipy_lbfgsb
from boostbench.core.solvers.newton import SolverResult

# Iterations of L-BFGS-B per round in the papers.
_PAPER_ITERATIONS = 100


class FromZeroMaster(Master):
    """Master of `MultiBoost` with ``start="zero"``.

    Parameters
    ----------
    params : MultiBoost
        Estimator in training.
    search : StumpSearch
        Search for stumps on the training data.
    labels : ndarray of shape (n_samples,)
        Classes from 0 to n_classes - 1.
    sample_weight : ndarray of shape (n_samples,) or None
        None: all weights are 1.

    Attributes
    ----------
    loss : Exponential, Logistic or WeightedLoss
        Loss of the margins, from `get_loss`.
    H : ndarray of shape (n_iterations, n_samples)
        Outputs of the stumps. The first ``len(stumps)`` rows are valid.
    is_own_class : ndarray of shape (n_classes, n_samples), dtype=bool
        True for the class of each sample.
    solution : SolverResult
        Coefficients over the stumps, of shape (n_classes, n_stumps), with their dual variables. Its
        `value` is the sum of the losses without the penalty.
    path : CoefficientPath
        Coefficients after each round.
    converged : bool
        True if no constraint of the dual problem is violated by more than `tol`.
    """

    per_round_lists: ClassVar = ("stumps", "objective")

    def __init__(self, params, search, labels, sample_weight):
        super().__init__(params, search)
        self.loss = get_loss(params.loss, normalise_weights(sample_weight))
        self.is_own_class = labels == np.arange(len(params.classes_))[:, None]
        self.H = np.empty((params.n_iterations, len(labels)))
        self.path = CoefficientPath()
        self.converged = False
        self._set_solution(self._problem(), np.zeros((len(self.is_own_class), 0)))

    def _problem(self):
        """Return the sum of the losses as a function of the coefficients of the stumps so far."""
        return PairwiseLoss(self.H[: len(self.stumps)], self.is_own_class, self.loss)

    def _set_solution(self, problem, W):
        """Store coefficients, with the loss and the dual variables that `problem` has for them."""
        value, _ = problem.move(W)
        # The residual is not needed, and not computed.
        self.solution = SolverResult(
            w=W, value=value, residual=np.inf, converged=False, dual=problem.dual
        )

    def generate(self):
        """Search with the dual variables; see `Master.generate`."""
        result = self.search.best(pairwise_weights(self.solution.dual.T, self.is_own_class.T))
        # The edge is a sum over the pairs, and nu belongs to their mean: multiply nu by the number
        # of pairs, the size of `is_own_class`. All dual constraints hold if no edge is larger.
        min_edge = (1.0 + self.params.tol) * self.params.nu * self.is_own_class.size
        self.converged = result is None or bool(result.edge <= min_edge)
        return None if self.converged else result

    def correct(self, result):
        """Solve the problem over all stumps from zero; see `Master.correct`."""
        self.H[len(self.stumps)] = result.outputs
        self.stumps.append(result.learner)
        problem = self._problem()

        # The problem is the sum of the losses over all pairs, and nu belongs to their mean.
        def mean_loss_and_gradient(W):
            value, gradient = problem.move(W)
            return value / self.is_own_class.size, gradient / self.is_own_class.size

        start = np.zeros((len(self.is_own_class), len(self.stumps)))
        max_iter = self.params.solver_iterations or _PAPER_ITERATIONS
        solution = scipy_lbfgsb(mean_loss_and_gradient, start, nu=self.params.nu, max_iter=max_iter)
        self._set_solution(problem, solution.w)
        self.path.append(solution.w.T)
        self.objective.append(solution.value)
        return True

    def rewind(self, rounds):
        """Restore the coefficients of an earlier round; see `Master.rewind`."""
        super().rewind(rounds)
        # The path has a row for each stump and a column for each class; W is its transpose.
        n_coefficients = rounds * len(self.is_own_class)
        W = self.path.rewind(rounds, n_coefficients=n_coefficients).reshape(rounds, -1)
        self._set_solution(self._problem(), np.ascontiguousarray(W.T))
        self.converged = False
