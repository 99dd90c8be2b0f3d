"""Linear program of NM-Boost, to which constraints are added one at a time."""

import highspy
import numpy as np

from boostbench.core.solvers.soft_margin import SoftMarginProgram


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
        weights = weights / weights.mean()
        self._dual_lower, self._dual_upper = C * weights, (1 + C) * weights
        self._margin = margin
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
        n_samples = len(margins)
        n_constraints = len(self.coefficients) + 1
        margin = 1 / max(n_constraints, 2) if self._margin is None else self._margin
        costs = np.full(n_samples, margin)
        self._check(self._highs.changeColsCost(n_samples, self._columns[:-1], costs))
        super().add(np.append(margins, -1.0))
        v = self.dual[:-1]
        # The parent's objective is margin * sum(v) - g, and the edge is gamma = g + 1.
        self.edge = margin * v.sum() - self.value + 1.0
        self.value = (margin * (v - self._dual_lower).sum() - self.edge) / n_samples
        self.dual = np.clip(v, self._dual_lower, self._dual_upper)
