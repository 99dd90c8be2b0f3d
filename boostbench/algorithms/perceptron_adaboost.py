"""AdaBoost with random perceptrons in place of stumps."""

from typing import ClassVar

import numpy as np

from boostbench.algorithms.adaboost import AdaBoost
from boostbench.algorithms.base.parameters import PositiveInt
from boostbench.core.learners.perceptrons import Perceptrons
from boostbench.core.learners.random_features import SignedPerceptronSearch


class PerceptronAdaBoost(AdaBoost):
    r"""Discrete AdaBoost with the best of many random perceptrons in each round.

    A round adds ``alpha_t h_t(x)`` with the perceptron of smallest weighted error
    :math:`\epsilon_t` and
    :math:`\alpha_t = \frac12 \log \frac{1 - \epsilon_t}{\epsilon_t}`.

    Parameters
    ----------
    n_iterations : int, default=500
        Maximum number of boosting rounds. Training ends earlier if no perceptron is better than
        chance, or if a perceptron is perfect.
    n_candidates : int, default=2000
        Number of perceptrons drawn in each round, of which the best one is taken.
    random_state : int, RandomState instance or None, default=None
        Seed of the perceptrons.

    Attributes
    ----------
    hypotheses_ : boostbench.core.learners.perceptrons.Perceptrons
    coefficients_ : ndarray of shape (n_iterations_,)
        Positive coefficients :math:`\alpha_t`.

    See Also
    --------
    AdaBoost : The same algorithm with stumps.

    References
    ----------
    .. [1] C. Shen and F. Liu, "From kernel machines to ensemble learning", 2014 (CGENS): the
       baseline "AdaBoost" of Table II.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = PerceptronAdaBoost(n_iterations=20, random_state=0).fit(scale(X), y)
    >>> model.score(scale(X), y) > 0.95
    True
    """

    n_iterations: PositiveInt = 500
    n_candidates: PositiveInt = 2000
    max_bins: ClassVar = None
    constant: ClassVar = False

    # Each stage of a fit equals a fit with fewer rounds; see `boostbench.fitting.tuning`.
    staged_parameter: ClassVar = "n_iterations"

    _takes_sparse: ClassVar = False
    categorical_features: ClassVar = None
    category_sets: ClassVar = False
    _takes_tables: ClassVar = False

    def _make_search(self, X, random_state, weights):
        rng = np.random.default_rng(random_state.randint(2**31))
        return SignedPerceptronSearch(X, self.n_candidates, rng)

    def _store_model(self, master):
        self.hypotheses_ = Perceptrons(master.stumps)
        self.coefficients_ = np.array(master.votes)
        # A perceptron has a direction, a threshold and a coefficient.
        self.n_parameters_ = (self.n_features_in_ + 2) * len(self.hypotheses_)
