"""RBoost^proj whose coefficients are found from zero in every round."""

from typing import ClassVar

import numpy as np

from boostbench.algorithms.parameters import NonNegativeFloat
from boostbench.algorithms.rboost_proj import PairMaster, RBoostProj

__all__ = ["RBoostProjFromZero"]


class RBoostProjFromZero(RBoostProj):
    r"""RBoost^proj whose solver starts from zero in every round, and stops early.

    The model is that of `RBoostProj` with pairs: a coefficient for each weak learner and the row of
    P that suits it best. Every round looks for all of them from w = 0, and training goes on to
    `n_iterations`.

    Parameters
    ----------
    n_iterations : int, default=1000
        T of RandomBoost: boosting rounds.
    nu : float, default=1e-5
        Weight of the L1 norm of w, for the mean of the loss over all m k pairs.

    Attributes
    ----------
    hypotheses_ : boostbench.core.weak.stumps.Stumps or boostbench.core.weak.linear.Perceptrons
    coefficients_ : ndarray of shape (n_iterations_, n_classes)
        What a weak learner adds to the scores: ``w[t] P[v[t], t, r]``.
    objective_, converged_, weight_path_, rows_ : ndarray
        As of `RBoostProj`; the objective may rise, and there is no warning.

    Notes
    -----
    Where few samples are soon separated, all slopes are below the solver's limit of 1e-5 before
    there are many weak learners. From the coefficients of the round before, a new one gets none
    then, and the training is at its end: with 5 samples of each of ten digits after 50 rounds. From
    zero, the coefficients are spread over all weak learners anew; see `MultiBoostFromZero`.

    RandomBoost's grid of nu for digits, 5e-8 to 1e-5, lies where only the solver's limit counts.

    See Also
    --------
    RBoostProj : Goes on from the round before.

    References
    ----------
    .. [1] S. Paisitkriangkrai, C. Shen, Q. Shi and A. van den Hengel, "RandomBoost: Simplified
       multi-class boosting through randomization" (RandomBoost), Section IV-D.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> RBoostProjFromZero(n_iterations=50, random_state=0).fit(X, y).score(X, y) > 0.95
    True
    """

    nu: NonNegativeFloat = 1e-5
    # The other parameters of `RBoostProj` have one value here.
    rule: ClassVar = "pair"
    positive: ClassVar = True
    tol: ClassVar = 0.0
    patience: ClassVar = None

    @property
    def _master_class(self):
        return _FromZeroMaster


class _FromZeroMaster(PairMaster):
    def correct(self, column):
        self.w = np.zeros(len(self.w))
        return super().correct(column)

    def end(self):
        """Say nothing: the solver is meant to stop early."""
