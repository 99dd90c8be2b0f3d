"""Linear programs of LPBoost, NM-Boost and the pairwise hinge loss, solved by HiGHS.

The programs of LPBoost and NM-Boost gain a constraint in every round, the constraint of the new
weak learner in the dual program, and start from the last solution. HiGHS is the solver behind
SciPy's `linprog`; `highspy` is its interface for programs that change.
"""

import highspy
import numpy as np
from scipy.optimize import linprog

from boostbench.core.solvers.newton import SolverResult

# Number from which on HiGHS treats bounds as infinite: the default of its option `infinite_bound`.
_INFINITE = 1e20


class _SilentHighs(highspy.Highs):
    """HiGHS without callbacks: enabling them makes version 1.16 print its banner."""

    def enableCallbacks(self):
        pass


class SoftMarginProgram:
    r"""Dual linear program of LPBoost, to which constraints are added one at a time.

    .. math:: \max_{0 \le \alpha \le C} 1^\top \alpha \quad\text{s.t.}\quad
              \sum_i y_i \alpha_i h_j(x_i) \le 1, \; j = 1 \dots J

    A new constraint leaves the last basis dual feasible, so that the dual simplex method continues
    from it. The basis has a row for each constraint, not for each sample.

    Parameters
    ----------
    n_samples : int
    max_dual : float or ndarray of shape (n_samples,)
        Upper bound C of all dual variables, or of each; infinity: no bound.

    Attributes
    ----------
    dual : ndarray of shape (n_samples,)
        Dual variables :math:`\alpha`, clipped to [0, C].
    coefficients : ndarray of shape (n_constraints,)
        Nonnegative coefficients w: the multipliers of the constraints.
    value : float
        Maximum, which is also the minimum of :math:`\|w\|_1 + C^\top \xi` with the slacks
        :math:`\xi_i = \max(0, 1 - y_i \sum_j w_j h_j(x_i))`.

    Raises
    ------
    ValueError
        If a finite bound is so large that HiGHS would treat it as infinite.

    Examples
    --------
    >>> program = SoftMarginProgram(3, max_dual=2.0)
    >>> program.add(np.array([1.0, 1.0, -1.0]))
    >>> print(program.value, program.coefficients)
    5.0 [1.]
    """

    def __init__(self, n_samples, max_dual):
        # 1) Check the bounds, and set the solution of the program without constraints: all
        # variables at their upper bound.
        largest = np.max(max_dual, where=np.isfinite(max_dual), initial=0.0)
        if largest >= _INFINITE:
            raise ValueError(
                f"the largest bound of the linear program, C times a weight or 1 / nu, is "
                f"{largest:.3g}, and HiGHS takes {_INFINITE:g} for infinite: make the weights or C "
                "smaller, or nu larger"
            )
        self._max_dual = max_dual
        self.dual = np.full(n_samples, max_dual, dtype=np.float64)
        self.coefficients = np.empty(0)
        self.value = float(self.dual.sum())
        self._columns = np.arange(n_samples, dtype=np.int32)
        self._highs = highs = _SilentHighs()
        # 2) Set up HiGHS: it prints nothing, uses no threads beside the runner's, and keeps the
        # warm start, which presolve would discard.
        for option, value in (
            ("output_flag", False),
            ("threads", 1),
            ("solver", "simplex"),
            ("presolve", "off"),
        ):
            self._check(highs.setOptionValue(option, value))
        # 3) Add the variables, with coefficients 1 in the objective, which is maximised.
        self._check(highs.addVars(n_samples, np.zeros(n_samples), self.dual))
        self._check(highs.changeColsCost(n_samples, self._columns, np.ones(n_samples)))
        self._check(highs.changeObjectiveSense(highspy.ObjSense.kMaximize))

    def add(self, margins):
        """Add the constraint of a weak learner, and solve the program.

        Parameters
        ----------
        margins : ndarray of shape (n_samples,)
            Margins :math:`y_i h(x_i)`.

        Raises
        ------
        RuntimeError
            If HiGHS does not solve the program.
        """
        # 1) Add the constraint, a row without a lower bound, and solve.
        highs = self._highs
        margins = np.ascontiguousarray(margins, dtype=np.float64)
        lower, upper = -highspy.kHighsInf, 1.0
        self._check(highs.addRow(lower, upper, len(margins), self._columns, margins))
        self._check(highs.run())
        status = highs.getModelStatus()
        if status != highspy.HighsModelStatus.kOptimal:
            raise RuntimeError(
                f"the linear program of {highs.getNumRow()} weak learners was not solved: "
                f"{highs.modelStatusToString(status)}"
            )
        # 2) Read the solution. Rounding errors of the solver can violate the bounds.
        solution = highs.getSolution()
        self.dual = np.clip(solution.col_value, 0.0, self._max_dual)
        self.coefficients = np.maximum(solution.row_dual, 0.0)
        self.value = highs.getInfo().objective_function_value

    @staticmethod
    def _check(status):
        """Raise RuntimeError if the status of a call of HiGHS is an error."""
        if status == highspy.HighsStatus.kError:
            raise RuntimeError("HiGHS reports an error in a linear program of LPBoost")


class NegativeMarginProgram(SoftMarginProgram):
    r"""Dual linear program of NM-Boost, to which constraints are added one at a time.

    With sample weights s of mean 1 it is

    .. math:: \max_{v, \gamma} \tau \sum_i (v_i - C s_i) - \gamma \quad\text{s.t.}\quad
              \sum_i v_i y_i h_j(x_i) \le \gamma, \quad C s_i \le v_i \le (1 + C) s_i.

    The parent's constraints are ``... <= 1``, so the extra variable is :math:`g = \gamma - 1`;
    `add` converts g back to :math:`\gamma`.

    Parameters
    ----------
    weights : ndarray of shape (n_samples,)
        Positive sample weights, on any scale.
    C : float
        Weight of the margins relative to the negative margins.
    margin : float or None
        Target margin :math:`\tau`; None: 1 / J with J constraints, and 1 / 2 with the first one.
        With :math:`\tau = 1`, :math:`\max(0, \tau - \rho)` is linear in w, so the optimum puts all
        weight on one weak learner.

    Attributes
    ----------
    dual : ndarray of shape (n_samples,)
        Dual variables v, clipped to their bounds.
    edge : float
        Edge :math:`\gamma`; 0 before the first constraint.
    coefficients : ndarray of shape (n_constraints,)
        Coefficients w: the multipliers of the constraints, of sum 1.
    value : float
        Maximum divided by the number of samples, which is also the minimum of
        :math:`\frac1n \sum_i s_i [\max(0, \tau - \rho_i) - C \rho_i]` with the margins
        :math:`\rho_i = \sum_j w_j y_i h_j(x_i)`.

    Examples
    --------
    >>> program = NegativeMarginProgram(np.ones(3), C=0.5, margin=0.5)
    >>> program.add(np.array([1.0, 1.0, -1.0]))
    >>> print(round(program.value, 6), program.edge, program.coefficients)
    0.333333 -0.5 [1.]
    """

    def __init__(self, weights, C, margin=None):
        n_samples = len(weights)
        # The last of the n_samples + 1 variables is g, without bounds and with the coefficient -1.
        weights = weights / weights.mean()
        self._dual_lower, self._dual_upper = C * weights, (1 + C) * weights
        self._margin = margin
        # The parent sets the bounds 0 <= variable <= upper and the coefficients 1. Correct both for
        # g, and then the lower bounds of v.
        super().__init__(n_samples + 1, np.append(self._dual_upper, np.inf))
        self._check(self._highs.changeColBounds(n_samples, -highspy.kHighsInf, highspy.kHighsInf))
        self._check(self._highs.changeColCost(n_samples, -1.0))
        bounds = self._dual_lower, self._dual_upper
        self._check(self._highs.changeColsBounds(n_samples, self._columns[:-1], *bounds))
        self.dual = self._dual_upper
        self.edge = 0.0
        self.value = np.inf

    def add(self, margins):
        """Add the constraint of a weak learner, and solve; see `SoftMarginProgram.add`."""
        # 1) Set the coefficients of v in the objective to the target margin, which may depend on J.
        # The coefficient of g in the constraint is -1: sum_i v_i y_i h(x_i) - g <= 1.
        n_samples = len(margins)
        n_constraints = len(self.coefficients) + 1
        margin = 1 / max(n_constraints, 2) if self._margin is None else self._margin
        costs = np.full(n_samples, margin)
        self._check(self._highs.changeColsCost(n_samples, self._columns[:-1], costs))
        super().add(np.append(margins, -1.0))
        # 2) Convert the solution. `add` of the parent has set `value` to margin * sum(v) - g, and
        # `dual` to (v, g), where it has clipped g to its bounds [0, inf). So g comes from `value`,
        # and the edge is gamma = g + 1.
        v, parent_value = self.dual[:-1], self.value
        self.edge = margin * v.sum() - parent_value + 1.0
        self.value = (margin * (v - self._dual_lower).sum() - self.edge) / n_samples
        self.dual = np.clip(v, self._dual_lower, self._dual_upper)


def pairwise_hinge(H, is_own_class, nu, sample_weight=None):
    r"""Minimise the pairwise hinge loss plus an L1 norm over nonnegative coefficients.

    .. math:: \min_{W, \xi \ge 0} \sum_{i, r \ne y_i} \xi_{ir} + \nu 1^\top W 1
              \quad\text{s.t.}\quad F_{y_i}(x_i) - F_r(x_i) \ge 1 - \xi_{ir}

    with :math:`F = W H`, by the simplex method of HiGHS. It is made for small problems: each call
    is a cold start with a dense matrix of shape (n_samples (n_classes - 1), n_columns n_classes),
    which takes 0.1 s for 300 samples, 3 classes and 150 columns.

    Parameters
    ----------
    H : ndarray of shape (n_columns, n_samples)
        Outputs of the weak learners.
    is_own_class : ndarray of shape (n_classes, n_samples), dtype=bool
        True for the class of each sample.
    nu : float
        Weight of the L1 norm.
    sample_weight : ndarray of shape (n_samples,), default=None
        Positive factors of the samples' losses; None: all are 1.

    Returns
    -------
    SolverResult
        Coefficients W of shape (n_classes, n_columns). The dual variables, of shape (n_classes,
        n_samples), are the multipliers u of the margin constraints, in [0, 1] times the weight of
        the sample; 0 for r = y_i.

    Raises
    ------
    RuntimeError
        If HiGHS does not solve the program.

    Examples
    --------
    >>> H = np.array([[1.0, 1.0, -1.0]])
    >>> own = np.array([[False, False, True], [True, True, False]])
    >>> solution = pairwise_hinge(H, own, nu=0.1)
    >>> print(solution.w.ravel(), round(solution.value, 6))
    [0. 1.] 0.1
    """
    # 1) Make the matrix. Row (i, r) of `margins` holds the coefficients of W in the margin of
    # sample i and the other class r: h_t(x_i) for its own class, -h_t(x_i) for r.
    n_classes, n_columns = len(is_own_class), len(H)
    other_class, sample = np.nonzero(~is_own_class)
    classes = np.arange(n_classes)
    sign = is_own_class.T[sample].astype(np.float64) - (other_class[:, None] == classes)
    margins = (sign[:, :, None] * H.T[sample, None, :]).reshape(len(sample), -1)
    costs = np.ones(len(sample)) if sample_weight is None else sample_weight[sample]
    # 2) Solve the program. The variables are W, row by row, and then xi.
    cost = np.concatenate([np.full(margins.shape[1], float(nu)), costs])
    result = linprog(
        cost,
        A_ub=np.hstack([-margins, -np.eye(len(sample))]),
        b_ub=np.full(len(sample), -1.0),
        method="highs-ds",
    )
    if result.status != 0:
        raise RuntimeError(f"the linear program of the hinge loss was not solved: {result.message}")
    # 3) Read the solution. Rounding errors of the solver can violate the bounds.
    W = np.maximum(result.x[: margins.shape[1]], 0.0).reshape(n_classes, n_columns)
    dual = np.zeros(is_own_class.shape)
    dual[other_class, sample] = np.clip(-result.ineqlin.marginals, 0.0, costs)
    return SolverResult(w=W, value=float(result.fun), residual=0.0, converged=True, dual=dual)
