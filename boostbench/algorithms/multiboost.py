"""MultiBoost: totally corrective multi-class boosting by column generation.

`_MultiBoostMaster` starts each round from the coefficients of the previous one, with one of two
solvers. The master of ``start="zero"`` is in `boostbench.algorithms.multiboost_from_zero`.
"""

import warnings
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from boostbench.algorithms.base.booster import TabularBooster
from boostbench.algorithms.base.estimators import BoostingClassifier, TotallyCorrective
from boostbench.algorithms.base.input_validation import normalise_weights
from boostbench.algorithms.base.master import Master
from boostbench.algorithms.base.parameters import (
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    TwoOrMore,
)
from boostbench.algorithms.multiboost_from_zero import FromZeroMaster
from boostbench.core.coefficient_path import CoefficientPath
from boostbench.core.losses.objective import LOSSES, get_loss
from boostbench.core.losses.restricted_problems import PairwiseLoss, pairwise_weights
from boostbench.core.solvers.lbfgs import SOLVERS
from boostbench.core.solvers.linear_programs import pairwise_hinge
from boostbench.core.solvers.newton import SolverResult
from boostbench.core.stumps.search import StumpSearch
from boostbench.core.stumps.stump import Stumps

# Slack of the solver in a round: the violation of constraints, in units of nu, up to which it may
# stop, and the limits of the slack as fractions of the newest stump's violation; see `_slack`.
_USUAL_SLACK = 1.0
_MIN_VIOLATION_FRACTION = 0.1
_MAX_VIOLATION_FRACTION = 0.5

# Default of `solver_iterations`: Newton steps, and the iterations of L-BFGS in the papers.
_DEFAULT_ITERATIONS = {"newton": 5, "lbfgs": 100}

# Values of parameters that ``start="zero"`` excludes.
_INCOMPATIBLE_WITH_ZERO = {"loss": "hinge", "solver": "newton", "warm_start": True}


class MultiBoost(TotallyCorrective, TabularBooster, BoostingClassifier):
    r"""MultiBoost with stumps: totally corrective, with a coefficient for every stump and class.

    The scores are :math:`F_r(x) = \sum_t h_t(x) W_{tr}` with :math:`W \ge 0`. After each new stump
    all coefficients move towards the minimum of

    .. math:: \min_{W \ge 0} \frac{1}{mk} \sum_{i,r} \lambda(\rho_{ir}) + \nu 1^\top W 1,
              \quad \rho_{ir} = F_{y_i}(x_i) - F_r(x_i)

    and the next stump belongs to the most violated constraint of the dual problem,

    .. math:: \max_{h,r} \frac{1}{mk} \sum_i G_{ir} h(x_i) \le \nu, \quad
              G_{ir} = [r = y_i] \sum_l u_{il} - u_{ir}, \quad u = -\lambda'(\rho).

    If no constraint is violated, W solves the problem over all stumps, and training ends. Until
    then, the solver is only as exact as the choice of the next stump requires (see the notes): the
    objective of a model that ends at `n_iterations` is above the minimum over its stumps, by up to
    8 % in comparisons with exact solutions. `final_solve` computes the minimum.

    Parameters
    ----------
    n_iterations : int, default=1000
        Maximum number T of boosting rounds.
    loss : {"logistic", "exponential", "hinge"}, default="logistic"
        Loss :math:`\lambda`. The hinge loss is minimised by linear programs without a warm start:
        seconds per 10 rounds for hundreds of samples, too slow for thousands.
    nu : float, default=1e-4
        Weight :math:`\nu` of the L1 norm of W, relative to the mean loss. RandomBoost and MCBoost
        write the loss as a sum over the m k pairs (m samples, k classes), where the equivalent
        weight is :math:`m k \nu`; the values in their grids make sense for the mean.
    tol : float, default=1e-2
        Tolerance :math:`\epsilon` of the stopping rule: maximum violation of a constraint, as a
        fraction of `nu`.
    start : {"previous", "zero"}, default="previous"
        Starting point of the solver in each round. ``"previous"``: the coefficients of the previous
        round; the solver converges to the minimum. ``"zero"``: :math:`W = 0`; the solver stops
        early, as with the settings of RandomBoost and MCBoost, see the notes. It requires L-BFGS-B
        and a smooth loss, and excludes `warm_start`.
    solver : {"newton", "lbfgs"} or None, default=None
        ``"newton"``: Newton's method, as exact as the next stump requires. ``"lbfgs"`` with
        ``start="zero"``: L-BFGS-B with the settings of RandomBoost. MCBoost has the same
        settings except for the minimum progress of an iteration (1e-9, not 2.2e-9).
        ``"lbfgs"`` with ``start="previous"``: projected L-BFGS, which stops at the same slopes and
        gives equal results on every machine. None: L-BFGS-B with ``start="zero"``, otherwise
        Newton's method.
        Not used with the hinge loss.
    solver_iterations : int or None, default=None
        Newton steps or L-BFGS iterations per call of the solver. None: 5 steps, or 100 iterations
        as in the papers. With ``start="previous"``, the solver is called again if the iterations
        are too few to find another stump.
    max_bins : int or None, default=None
        Number of quantile bins of each feature. None: all thresholds are searched.
    warm_start : bool, default=False
        True: `fit` continues from the stumps and coefficients of the previous fit, which must have
        had the same data. With equal parameters, or more rounds, the model is the same as without a
        warm start. With another `nu`, `tol` or solver, the solution is the same up to `tol` if
        training converges before `n_iterations`; a grid of decreasing `nu` then takes hardly longer
        than its last value. If all `n_iterations` rounds are used, and stumps of previous fits with
        other settings take some of them, `fit` starts again without these stumps.

    Attributes
    ----------
    hypotheses_ : boostbench.core.stumps.stump.Stumps
        Stumps of the rounds. With ``start="zero"``, a stump may occur several times.
    coefficients_ : ndarray of shape (n_iterations_, n_classes)
        Coefficients W after the last round.
    weight_path_ : scipy.sparse.csr_array of shape (n_iterations_, n_iterations_ * n_classes)
        Coefficients W after each round, flattened row by row.
    objective_ : ndarray of shape (n_iterations_,)
        Objective after each round, including the constant :math:`\lambda(0) / k` of the terms
        r = y_i. With ``start="zero"``, it may rise.
    converged_ : bool
        True if W solves the problem over all stumps up to `tol`. False if training ended at
        `n_iterations` or was stopped early, or (with a `ConvergenceWarning`) the solver reached the
        limit of its precision. With ``start="zero"`` and a small `nu`, it is always False, without
        a warning.
    dual_ : ndarray of shape (n_samples, n_classes)
        Dual variables u after the last round, times the sample weights (scaled to mean 1, without
        samples of weight 0); 0 for r = y_i.

    Notes
    -----
    With `warm_start`, attributes with an entry per round include the rounds of the previous fits.

    If the newest column violated its constraint by v times `nu`, the restricted problem is solved
    until no constraint of its columns is violated by more than the largest of ``v / 10``,
    ``min(v / 2, 1)`` and `tol`, times `nu`: see `boostbench.core.solvers.newton`.

    *Start from zero.* L-BFGS-B stops if no slope of the objective, a mean over all pairs, exceeds
    1e-5. Once the stumps separate the training data, the slopes become small, as the dual variables
    vanish with the losses. On 375 samples of pendigits, the solver stops after about 15 iterations
    for any :math:`\nu \le 10^{-6}`, far from the minimum. A start from zero spreads coefficients
    over all stumps, new and old, in every round. Therefore `nu` has little effect, and more stumps
    continue to help, as in a forest. From the coefficients of the previous round, the same solver
    stops at once: the new stump gets the coefficient 0, and the search finds it again in every
    later round. The papers state the settings of the solver, but not its starting point.

    For two classes, W only enters through :math:`\alpha_t = W_{t1} - W_{t0}` and
    :math:`|\alpha_t|`: this is binary totally corrective boosting with the mean of the loss over
    the m samples, and :math:`2 \nu \|\alpha\|_1`.

    References
    ----------
    .. [1] C. Shen and Z. Hao, "A direct formulation for totally-corrective multi-class boosting",
       CVPR 2011. It is the baseline "MultiBoost" of RandomBoost and MCBoost.
    .. [2] S. Paisitkriangkrai, C. Shen and A. van den Hengel, "A scalable stage-wise approach to
       large-margin multi-class loss based boosting" (MCBoost), Section IV-B: the settings of
       ``start="zero"``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> MultiBoost(n_iterations=50, nu=1e-3).fit(X, y).score(X, y) > 0.95
    True
    """

    edition = 4

    loss: Literal[*LOSSES, "hinge"] = "logistic"
    nu: PositiveFloat = 1e-4
    tol: NonNegativeFloat = 1e-2
    solver: Literal[*SOLVERS] | None = None
    solver_iterations: PositiveInt | None = None
    max_bins: TwoOrMore | None = None
    warm_start: bool = False
    start: Literal["previous", "zero"] = "previous"

    @property
    def warm_parameters(self):
        """Parameters that a warm start may change; see `boostbench.fitting.tuning`."""
        return ("nu",) if self.start == "previous" else ()

    def _train(self, X, y, *weights, validation=None):
        """Train, and again without the stumps of earlier fits if all rounds are used with them.

        Stumps that an earlier fit chose with another `nu`, `tol` or solver are *inherited*. If the
        training has used up `n_iterations` with them among the stumps, the model is not the model
        of a fit without a warm start. The master is then dropped, and the training starts anew.
        """
        super()._train(X, y, *weights, validation=validation)
        # `_store_model` has set `_previous_master` to the master of this training, or to None
        # without a warm start. If it is None, `_make_master` makes a new master.
        if self._previous_master is not None and self._previous_master.is_restart_needed():
            self._previous_master = None
            super()._train(X, y, *weights, validation=validation)
        return self

    def _make_master(self, X, labels, random_state, weights=None):
        """Return a new master, or the master of the previous fit; see `Booster._make_master`."""
        # 1) Make a master that starts from zero.
        if self.start == "zero":
            for name, value in _INCOMPATIBLE_WITH_ZERO.items():
                if getattr(self, name) == value:
                    raise ValueError(
                        f"start='zero' does not go with {name}={value!r}: L-BFGS-B solves a smooth "
                        "loss from zero, in fits that start afresh"
                    )
            return FromZeroMaster(self, StumpSearch(X, self.max_bins, weights), labels, weights)
        # 2) Continue with the master of the previous fit, if there is one.
        if self.warm_start and self.n_iter_no_change is not None:
            raise ValueError(
                "warm_start=True continues from all rounds of the last fit, but early stopping "
                "undoes some of them: set n_iter_no_change=None or warm_start=False"
            )
        master = getattr(self, "_previous_master", None) if self.warm_start else None
        if master is not None:
            # A copy of the estimator continues with its own parameters.
            master.params = self
            master.check_warm_start(X, labels, weights)
            # After an interrupted training, the next fit starts afresh.
            self._previous_master = None
            master.prepare_fit()
        # 3) Make a new master if there is none, or if inherited stumps fill all rounds before the
        # training. In the second case `_train` would drop the master after a call of the solver.
        if master is None or master.is_restart_needed():
            search = StumpSearch(X, self.max_bins, weights)
            master = _MultiBoostMaster(self, search, labels, weights)
        return master

    def _store_model(self, master):
        """Store the model, and the master for a warm start; see `Booster._store_model`."""
        self._previous_master = master if self.warm_start else None
        self.n_iterations_ = len(master.stumps)
        self.hypotheses_ = Stumps(master.stumps)
        # The master's arrays have a row for each class; the attributes have a column.
        self.coefficients_ = np.ascontiguousarray(master.solution.w.T)
        self.weight_path_ = master.path.matrix(self.coefficients_.size)
        self.objective_ = np.array(master.objective)
        self.dual_ = np.ascontiguousarray(master.solution.dual.T)
        self.converged_ = master.converged
        self.n_parameters_ = 2 * len(self.hypotheses_) + self.coefficients_.size


def _slack(violation):
    """Return the violation of constraints up to which the solver may stop.

    The solver is as exact as the choice of the next stump requires: a more exact solution hardly
    changes the next stump, and takes more than twice as long.

    =============== ========
    violation v     slack
    =============== ========
    v < 2           v / 2
    2 <= v <= 10    1
    v > 10          v / 10
    =============== ========

    Parameters
    ----------
    violation : float
        Violation v of the newest stump's constraint, in units of nu.

    Returns
    -------
    float
        Slack, in units of nu.
    """
    slack = max(_USUAL_SLACK, _MIN_VIOLATION_FRACTION * violation)
    return min(slack, _MAX_VIOLATION_FRACTION * violation)


class _DescentSolver:
    """Solver of a smooth loss that starts from the coefficients of the previous round.

    Parameters
    ----------
    params : MultiBoost
        Estimator with the parameters `loss`, `solver` and `solver_iterations`.
    is_own_class : ndarray of shape (n_classes, n_samples), dtype=bool
        Mask of the class of each sample.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of mean 1.

    Attributes
    ----------
    objective_rtol : float
        Relative decrease of the objective below which a call has made no progress.
    """

    def __init__(self, params, is_own_class, sample_weight):
        self.is_own_class = is_own_class
        self.loss = get_loss(params.loss, sample_weight)
        name = params.solver or "newton"
        self.max_iter = params.solver_iterations or _DEFAULT_ITERATIONS[name]
        self.solver = SOLVERS[name]()
        self.objective_rtol = self.solver.objective_rtol

    def solve(self, H, start, sum_nu, max_violation):
        """Minimise the loss plus nu times the sum of W over nonnegative W.

        Parameters
        ----------
        H : ndarray of shape (n_stumps, n_samples)
            Outputs of the stumps.
        start : ndarray of shape (n_classes, n_stumps)
            Starting point.
        sum_nu : float
            Weight of the L1 norm, relative to the sum of the losses.
        max_violation : float
            Maximum violation of a constraint: by this much an edge may exceed `sum_nu`.

        Returns
        -------
        SolverResult
            Its `w` has the shape (n_classes, n_stumps), and `dual` (n_classes, n_samples).
        """
        problem = PairwiseLoss(H, self.is_own_class, self.loss)
        result = self.solver.minimise(
            problem, start, nu=sum_nu, tol=max_violation, max_iter=self.max_iter
        )
        return result._replace(dual=problem.dual)

    def restore(self, H, W, sum_nu):
        """Return the result of an earlier call of `solve`, given its coefficients W.

        The residual is infinite, which stands for unknown: the training ends after this call, so
        that it is not needed.
        """
        problem = PairwiseLoss(H, self.is_own_class, self.loss)
        value = problem.move(W)[0] + sum_nu * W.sum()
        return SolverResult(w=W, value=value, residual=np.inf, converged=False, dual=problem.dual)


class _LinearProgramSolver:
    """Solver of the hinge loss with the methods of `_DescentSolver`.

    It ignores starting points and tolerances: a linear program is solved exactly. Its residual is
    0, so that `_MultiBoostMaster._reoptimise` needs no `objective_rtol` of it.
    """

    def __init__(self, params, is_own_class, sample_weight):
        self.is_own_class = is_own_class
        self.sample_weight = sample_weight

    def solve(self, H, start, sum_nu, max_violation):
        """Solve the linear program; see `_DescentSolver.solve`."""
        result = pairwise_hinge(H, self.is_own_class, sum_nu, self.sample_weight)
        # The linear program leaves out the terms r = y_i. They are hinge losses of margin 0, each
        # equal to 1; their weighted sum is n_samples, as the sample weights have the mean 1.
        return result._replace(value=result.value + self.is_own_class.shape[1])

    def restore(self, H, W, sum_nu):
        """Solve the linear program again; see `_DescentSolver.restore`."""
        return self.solve(H, start=None, sum_nu=sum_nu, max_violation=None)


class _Candidate(NamedTuple):
    """Stump whose constraint is violated most.

    Attributes
    ----------
    stump : Stump
    outputs : ndarray of shape (n_samples,)
        Outputs of the stump, -1 and +1.
    violation : float
        Violation of its constraint in units of nu: (edge - nu) / nu.
    """

    stump: object
    outputs: np.ndarray
    violation: float

    @property
    def key(self):
        """Bytes that identify the candidate: stumps with equal outputs have equal constraints."""
        return self.outputs.tobytes()


class _MultiBoostMaster(Master):
    """Master of `MultiBoost` that starts each round from the coefficients of the previous round.

    `correct` already searches for the candidate of the next round, since this search shows whether
    the solution is exact enough. `generate` returns it.

    With ``warm_start=True``, the next fit continues with this master. If `nu`, `tol` or the solver
    has changed since, the stumps of the previous fits are called *inherited*.

    The arrays of the problem have a row for each class, as `PairwiseLoss` requires. The search, the
    path and the fitted attributes have a column for each class: arrays are transposed on the way.

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
    unchangeable_params : dict of str to object
        Values of the parameters that a warm start must not change: `loss` and `max_bins`.
    raw_sample_weight, sample_weight : ndarray of shape (n_samples,) or None
        Sample weights as given, to compare them with the weights of the next fit, and scaled to the
        mean 1.
    stump_choice_params : tuple
        Values of the parameters whose change makes all stumps inherited: `nu`, `tol`, `solver` and
        `solver_iterations`. None before the first fit.
    sum_nu : float
        Weight of the L1 norm relative to the sum of the losses: the parameter `nu` times m k.
    solver : _DescentSolver or _LinearProgramSolver
    stumps : list of Stump
    objective : list of float
        Objective after each round, relative to the mean loss.
    path : CoefficientPath
        Coefficients after each round, of shape (n_stumps, n_classes).
    H : ndarray of shape (n_iterations, n_samples)
        Outputs of the stumps. The first ``len(stumps)`` rows are valid.
    is_own_class : ndarray of shape (n_classes, n_samples), dtype=bool
        Mask of the class of each sample.
    known_outputs : set of bytes
        `_Candidate.key` of each stump.
    solution : SolverResult or None
        Solution over the stumps. Its `w` has the shape (n_classes, n_stumps), and its `dual` the
        shape (n_classes, n_samples). None before the first call of the solver.
    candidate : _Candidate or None
        Stump of the next round. None: training ends.
    n_inherited_stumps : int
        Number of stumps that previous fits chose with other settings, the first ones in `stumps`.
    is_started : bool
        True if the problem has been solved with the current settings.
    converged : bool
        True if `solution` is optimal over all stumps up to `tol`.
    is_stuck : bool
        True if the solver reached the limit of its precision before that.
    """

    per_round_lists: ClassVar = ("stumps", "objective")

    def __init__(self, params, search, labels, sample_weight):
        super().__init__(params, search)
        self.unchangeable_params = {name: getattr(params, name) for name in ("loss", "max_bins")}
        self.raw_sample_weight, self.sample_weight = sample_weight, normalise_weights(sample_weight)
        self.is_own_class = labels == np.arange(len(params.classes_))[:, None]
        self.H = np.empty((0, self.is_own_class.shape[1]))
        self.known_outputs = set()
        self.path = CoefficientPath()
        self.solution = None
        self.n_inherited_stumps = 0
        self.stump_choice_params = None
        self.prepare_fit()

    def check_warm_start(self, X, labels, sample_weight):
        """Raise ValueError if the previous rounds are not valid for the new fit.

        The data, the loss and `max_bins` must be equal, and `n_iterations` must not be smaller than
        the number of rounds.
        """
        data_pairs = (
            (self.is_own_class.argmax(axis=0), labels),
            (self.search.X, X),
            (self.raw_sample_weight, sample_weight),
        )
        if not all(np.array_equal(previous, current) for previous, current in data_pairs):
            raise ValueError("warm_start=True continues from the last fit, which had other data")
        for name, previous in self.unchangeable_params.items():
            current = getattr(self.params, name)
            if current != previous:
                raise ValueError(
                    f"warm_start=True continues with {name}={previous!r} of the last fit, not with "
                    f"{current!r}"
                )
        if self.params.n_iterations < len(self.stumps):
            raise ValueError(
                f"warm_start=True continues from the {len(self.stumps)} rounds of the last fit, "
                f"which are more than n_iterations={self.params.n_iterations}"
            )

    def prepare_fit(self):
        """Prepare a fit with the estimator's parameters, the first fit or one with a warm start.

        If only the number of rounds has changed, training continues as if it had not ended.
        """
        # 1) Make room for the outputs of n_iterations stumps.
        params = self.params
        previous_outputs = self.H[: len(self.stumps)]
        self.H = np.empty((params.n_iterations, self.is_own_class.shape[1]))
        self.H[: len(previous_outputs)] = previous_outputs
        # 2) If other parameters have changed, start a new problem over the stumps so far.
        stump_choice_params = params.nu, params.tol, params.solver, params.solver_iterations
        if stump_choice_params == self.stump_choice_params:
            return
        self.stump_choice_params = stump_choice_params
        self.n_inherited_stumps = len(self.stumps)
        # The problem has the sum of the m k losses in place of their mean: unlike the parameter,
        # `sum_nu` is relative to this sum.
        self.sum_nu = params.nu * self.is_own_class.size
        solver = _LinearProgramSolver if params.loss == "hinge" else _DescentSolver
        self.solver = solver(params, self.is_own_class, self.sample_weight)
        self.candidate = None
        self.is_started = self.converged = self.is_stuck = False

    def is_restart_needed(self):
        """Return True if all rounds are used, and inherited stumps take some of them.

        The current settings would have chosen other stumps. That matters only if training ends
        because all rounds are used: if it converged, the model solves the problem over all stumps.
        """
        return self.n_inherited_stumps > 0 and len(self.stumps) == len(self.H)

    def generate(self):
        """Return the candidate of this round, or None; see `Master.generate`."""
        if not self.is_started:
            self._solve_initial_problem()
        return self.candidate if len(self.stumps) < len(self.H) else None

    def correct(self, candidate):
        """Add the candidate, solve the problem and find the next one; see `Master.correct`."""
        self.H[len(self.stumps)] = candidate.outputs
        self.stumps.append(candidate.stump)
        self.known_outputs.add(candidate.key)
        # The coefficients of the previous round, and 0 for each class of the new stump.
        new_coefficients = np.zeros(len(self.is_own_class))
        start = np.column_stack([self.solution.w, new_coefficients])
        self.solution = self._solve(start, candidate.violation)
        self.candidate = self._next_candidate()
        self.path.append(self.solution.w.T)
        self.objective.append(self.solution.value / self.is_own_class.size)
        return True

    def rewind(self, rounds):
        """Undo all but the first `rounds` rounds, with the coefficients of that time."""
        super().rewind(rounds)
        n_coefficients = rounds * len(self.is_own_class)
        coefficients = self.path.rewind(rounds, n_coefficients=n_coefficients)
        W = coefficients.reshape(rounds, -1).T
        self.solution = self.solver.restore(self.H[:rounds], W, self.sum_nu)
        self.converged = self.is_stuck = False

    def finish(self):
        """Warn if the solver reached the limit of its precision."""
        if self.is_stuck:
            solver = self.params.solver or "newton"
            alternative = "newton" if solver == "lbfgs" else "lbfgs"
            warnings.warn(
                f"MultiBoost's solver {solver!r} reached the limit of its precision "
                f"after {len(self.stumps)} rounds, where constraints were still violated by more "
                f"than tol={self.params.tol:g} times nu: try solver={alternative!r}, or a larger "
                f"nu or tol",
                ConvergenceWarning,
                stacklevel=2,
            )

    def _solve_initial_problem(self):
        """Solve the problem over the initial stumps: none, or the stumps of a warm start.

        It is the first step of a fit, and of a fit with changed settings. In the second case, the
        last inherited round gets the new solution.
        """
        start = np.zeros((len(self.is_own_class), 0)) if self.solution is None else self.solution.w
        self.solution = self._solve(start)
        self.is_started = True
        self.candidate = self._next_candidate()
        if self.stumps:
            self.path.replace_last(self.solution.w.T)
            self.objective[-1] = self.solution.value / self.is_own_class.size

    def _solve(self, start, newest_violation=0.0):
        """Return a solution over the stumps so far, as exact as the choice of the next one needs.

        Parameters
        ----------
        start : ndarray of shape (n_classes, n_stumps)
            Starting point of the solver.
        newest_violation : float, default=0.0
            Violation of the newest stump's constraint, in units of nu; see `_slack`. 0: the
            solution is exact up to the parameter `tol`.

        Returns
        -------
        SolverResult
        """
        max_violation = max(self.params.tol, _slack(newest_violation)) * self.sum_nu
        with self.clock.phase("coefficients"):
            return self.solver.solve(self.H[: len(self.stumps)], start, self.sum_nu, max_violation)

    def _most_violated(self):
        """Return the candidate whose constraint is violated most; None if no feature varies."""
        with self.clock.phase("search"):
            weights = pairwise_weights(self.solution.dual.T, self.is_own_class.T)
            result = self.search.best(weights)
        if result is None:
            return None
        violation = result.edge / self.sum_nu - 1
        return _Candidate(result.learner, result.outputs, violation)

    def _next_candidate(self):
        """Return a new candidate with a violated constraint; None if the training ends."""
        while True:
            candidate = self._most_violated()
            if candidate is None:
                self.converged = True
                return None
            is_violated = candidate.violation > self.params.tol
            if is_violated and candidate.key not in self.known_outputs:
                return candidate
            # Here, no constraint is violated by more than tol, or the most violated one belongs to
            # a stump of the model. Training ends if the solution over the current stumps is exact
            # up to tol. It also ends if the solution is inexact and cannot be improved: the solver
            # has reached the limit of its precision, which `finish` reports.
            if not self._reoptimise(candidate.violation):
                self.converged = bool(self.solution.residual <= self.params.tol * self.sum_nu)
                self.is_stuck = not self.converged
                return None

    def _reoptimise(self, violation):
        """Improve the solution over the current stumps, and return whether the objective fell.

        Parameters
        ----------
        violation : float
            Largest violation of a constraint, in units of nu.

        Returns
        -------
        bool
            False if the solution is optimal up to `tol`, or the decrease is a rounding error.
        """
        # The residual is the largest violation of a constraint of the current stumps. A linear
        # program has the residual 0 and returns here.
        if self.solution.residual <= self.params.tol * self.sum_nu:
            return False
        # The largest violation decides the accuracy here, as the newest stump's does after a round.
        improved = self._solve(self.solution.w, newest_violation=violation)
        progress = self.solution.value - improved.value
        self.solution = improved
        return progress > self.solver.objective_rtol * abs(improved.value)
