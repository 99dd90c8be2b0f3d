"""NM-Boost: a linear program of negative margins, by column generation."""

from boostbench.algorithms.base.margin_programs import MarginBooster
from boostbench.algorithms.base.parameters import FractionOrOne, PositiveFloat
from boostbench.core.solvers.linear_programs import NegativeMarginProgram


class NMBoost(MarginBooster):
    r"""NM-Boost for two classes: maximise the sum of margins, with extra weight on negative ones.

    The score is :math:`F(x) = \sum_j w_j h_j(x)`, :math:`w \ge 0` and :math:`\sum_j w_j = 1`, with
    margins :math:`\rho_i = y_i F(x_i)`. After each new stump all coefficients are the solution of

    .. math:: \max_w \sum_i (\rho^-_i + C \rho_i), \quad \rho^-_i = \min(0, \rho_i - \tau),

    where :math:`\tau = 1 / J` with J stumps, and 1 / 2 with the first one, whose coefficient is 1
    in any case. The next stump violates the constraint of the dual program most:

    .. math:: \max_{0 \le u \le 1} \tau \sum_i u_i - \gamma \quad\text{s.t.}\quad
              \sum_i (u_i + C) y_i h(x_i) \le \gamma.

    Training ends if no constraint is violated. With a fixed :math:`\tau`, w then solves the program
    over all stumps and their negatives. There is no bias. The dual program differs from LPBoost's
    in its bounds only, and HiGHS's dual simplex method starts from the last solution.

    Parameters
    ----------
    n_iterations : int, default=500
        Maximum number of stumps.
    C : float, default=0.01
        Weight of the margins relative to the negative margins.
    margin : float or None, default=None
        Threshold :math:`\tau` below which a margin counts as negative, at most 1; None: 1 / J.

    Attributes
    ----------
    hypotheses_, coefficients_, weight_path_
        See `LPBoost`.
    objective_ : ndarray of shape (n_iterations_,)
        Minus the maximum divided by the number of samples, after each round.
    dual_ : ndarray of shape (n_samples,)
        Dual variables :math:`u + C` after the last round, times the sample weights, which are
        scaled to mean 1.

    Raises
    ------
    RuntimeError
        If HiGHS does not solve a linear program in `fit`.

    References
    ----------
    .. [1] F. Akkerman, J. Ferry, C. Artigues, E. Hebrard and T. Vidal, "Boosting revisited:
       benchmarking and advancing LP-based ensemble methods", TMLR 2025, as in their library
       colboost.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> NMBoost(n_iterations=30).fit(X, y).score(X, y) > 0.9
    True
    """

    C: PositiveFloat = 0.01
    margin: FractionOrOne | None = None

    def _make_program(self, weights):
        return NegativeMarginProgram(weights, self.C, self.margin)
