"""ERLPBoost: LPBoost's soft margin with relative entropy, by column generation."""

import warnings
from typing import ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from boostbench.algorithms.base.margin_programs import MarginBooster, MarginMaster
from boostbench.algorithms.base.parameters import FractionOrOne, NonNegativeFloat, PositiveFloat
from boostbench.core.solvers.entropy_margin import EntropyMarginProgram

# A program counts as solved if its duality gap is below this fraction of epsilon.
_SOLVED = 1e-3


class _ERLPBoostMaster(MarginMaster):
    def __init__(self, params, search, signs, program):
        super().__init__(params, search, signs, program)
        self.tol = params.epsilon / 2 if params.tol is None else params.tol
        self.bound = np.inf
        self.worst = 0.0

    def generate(self):
        result = super().generate()
        # Weak duality gives this bound: d is feasible in the program over all stumps.
        edge = self.program.edge if result is None else result.edge
        self.bound = min(self.bound, edge + self.program.divergence)
        return None if self.bound - self.program.value <= self.tol else result

    def correct(self, result):
        progress = super().correct(result)
        self.objective[-1] = -self.program.value
        self.worst = max(self.worst, self.program.gap)
        return progress

    def finish(self):
        if self.worst > _SOLVED * self.params.epsilon:
            warnings.warn(
                "Newton's method did not solve all programs of ERLPBoost: some soft margin may be "
                f"{self.worst:.1e} larger; a larger epsilon makes them easier",
                ConvergenceWarning,
                stacklevel=2,
            )


class ERLPBoost(MarginBooster):
    r"""Entropy regularised LPBoost for two classes.

    The score is :math:`F(x) = \sum_j w_j h_j(x)`, :math:`w \ge 0` and :math:`\sum_j w_j = 1`. After
    each new stump the distribution d over the samples solves

    .. math:: \min_d \max_j \sum_i d_i y_i h_j(x_i) + \frac1\eta \sum_i d_i \ln \frac{d_i}{d^0_i}
              \quad\text{s.t.}\quad \sum_i d_i = 1, \; 0 \le d_i \le \frac{d^0_i}{\nu},

    where :math:`d^0` are the sample weights, of sum 1, and w are the multipliers of the edges.
    Without the relative entropy its value is the soft margin of LPBoost, the maximum of

    .. math:: \rho - \frac1\nu \sum_i d^0_i \max(0, \rho - y_i F(x_i)).

    The relative entropy raises the value by at most :math:`\ln(1 / \nu) / \eta`, which is half of
    `epsilon` for the :math:`\eta` of [1]_,

    .. math:: \eta = \max\Bigl(\frac12, \frac2\epsilon \ln \frac1\nu\Bigr).

    The next stump has the largest edge. Training ends if no stump can change the value by more than
    `tol`. If `tol` is half of `epsilon`, the number of rounds is at most of the order of
    :math:`\ln(1 / \nu) / \epsilon^2`, and the soft margin is within `epsilon` of the largest [1]_.
    There is no bias.

    Parameters
    ----------
    n_iterations : int, default=500
        Maximum number of stumps.
    nu : float, default=0.1
        Minimum fraction :math:`\nu` of the samples over which d is spread, in (0, 1]; about this
        fraction of the samples may violate the margin.
    epsilon : float, default=0.01
        Maximum error :math:`\epsilon` of the soft margin.
    tol : float or None, default=None
        Tolerance of the stopping rule; None: half of `epsilon`.

    Attributes
    ----------
    hypotheses_, coefficients_, weight_path_
        See `LPBoost`.
    objective_ : ndarray of shape (n_iterations_,)
        Minus the value after each round.
    dual_ : ndarray of shape (n_samples,)
        Distribution d after the last round.
    bound_ : float
        Lower bound on `objective_` for the program over all stumps.

    Warns
    -----
    ConvergenceWarning
        If Newton's method does not solve a program in `fit`.

    References
    ----------
    .. [1] M. K. Warmuth, K. A. Glocer and S. V. N. Vishwanathan, "Entropy regularized LPBoost",
       ALT 2008.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ERLPBoost(n_iterations=30).fit(X, y).score(X, y) > 0.95
    True
    """

    nu: FractionOrOne = 0.1
    epsilon: PositiveFloat = 0.01
    tol: NonNegativeFloat | None = None

    _master_class: ClassVar = _ERLPBoostMaster

    def _make_program(self, weights):
        eta = max(0.5, 2 / self.epsilon * np.log(1 / self.nu))
        return EntropyMarginProgram(weights, self.nu, eta)

    def _store_model(self, master):
        super()._store_model(master)
        self.bound_ = -master.bound
