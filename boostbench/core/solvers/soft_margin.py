"""Linear program of LPBoost with constraints that come one by one, warm-started in HiGHS."""

import highspy
import numpy as np

# HiGHS treats bounds from this number on as infinite: the default of its option `infinite_bound`.
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
    C : float or ndarray of shape (n_samples,)
        Upper bound of all dual variables, or of each; infinity: no bound.

    Attributes
    ----------
    dual : ndarray of shape (n_samples,)
        Dual variables :math:`\alpha`, clipped to [0, C].
    coefficients : ndarray of shape (n_constraints,)
        Nonnegative coefficients w: the multipliers of the constraints.
    value : float
        Maximum, which is also the minimum of :math:`\|w\|_1 + C^\top \xi`.

    Raises
    ------
    ValueError
        If a finite bound is so large that HiGHS would treat it as infinite.

    Examples
    --------
    >>> program = SoftMarginProgram(3, C=2.0)
    >>> program.add(np.array([1.0, 1.0, -1.0]))
    >>> print(program.value, program.coefficients)
    5.0 [1.]
    """

    def __init__(self, n_samples, C):
        largest = np.max(C, where=np.isfinite(C), initial=0.0)
        if largest >= _INFINITE:
            raise ValueError(
                f"the largest bound of the linear program, C times a weight or 1 / nu, is "
                f"{largest:.3g}, and HiGHS takes {_INFINITE:g} for infinite: make the weights or C "
                "smaller, or nu larger"
            )
        self.C = C
        self.dual = np.full(n_samples, C, dtype=np.float64)
        self.coefficients = np.empty(0)
        self.value = float(self.dual.sum())
        self._columns = np.arange(n_samples, dtype=np.int32)
        self._highs = highs = _SilentHighs()
        # HiGHS prints nothing, uses no threads beside the runner's, and keeps the warm start, which
        # presolve would discard.
        for option, value in (
            ("output_flag", False),
            ("threads", 1),
            ("solver", "simplex"),
            ("presolve", "off"),
        ):
            self._check(highs.setOptionValue(option, value))
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
        highs = self._highs
        margins = np.ascontiguousarray(margins, dtype=np.float64)
        self._check(highs.addRow(-highspy.kHighsInf, 1.0, len(margins), self._columns, margins))
        self._check(highs.run())
        status = highs.getModelStatus()
        if status != highspy.HighsModelStatus.kOptimal:
            raise RuntimeError(
                f"the linear program of {highs.getNumRow()} weak learners was not solved: "
                f"{highs.modelStatusToString(status)}"
            )
        solution = highs.getSolution()
        self.dual = np.clip(solution.col_value, 0.0, self.C)
        self.coefficients = np.maximum(solution.row_dual, 0.0)
        self.value = highs.getInfo().objective_function_value

    @staticmethod
    def _check(status):
        if status == highspy.HighsStatus.kError:
            raise RuntimeError("HiGHS reports an error in a linear program of LPBoost")
