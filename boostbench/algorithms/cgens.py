"""CGENS and CGENS-SLS: kernel machines that learn their kernel, one weak learner at a time.

A round adds the weak learner of the largest edge, and solves for all coefficients again
(`boostbench.core.solvers.incremental_solvers`).
"""

from typing import ClassVar, Literal

import numpy as np
from scipy.linalg import solve_triangular

from boostbench.algorithms.base.booster import TabularBooster, stage_slices
from boostbench.algorithms.base.estimators import (
    BinaryClassifier,
    NoEarlyStoppingMixin,
    StumpEnsemble,
    TotallyCorrective,
)
from boostbench.algorithms.base.master import MIN_EDGE, Master
from boostbench.algorithms.base.parameters import PositiveFloat, PositiveInt, TwoOrMore
from boostbench.core.codebooks import simplex_vertices
from boostbench.core.learners.random_features import (
    RandomCosineSearch,
    RandomPerceptronSearch,
    UnionSearch,
    stack_learners,
)
from boostbench.core.solvers.incremental_solvers import GrowingRidge, PrimalSVM
from boostbench.core.stumps.search import StumpSearchWithExclusion
from boostbench.core.stumps.stump import Stump, Stumps

# Kinds of weak learners of `CGENS`.
_WEAK_LEARNERS = ("stump", "perceptron", "fourier")

# Minimum relative tolerance of the hinge loss: smaller duality gaps are rounding errors.
_MIN_TOL = 1e-8


class CGENS(TotallyCorrective, NoEarlyStoppingMixin, TabularBooster, BinaryClassifier):
    r"""Column generation for learning ensembles: an SVM over weak learners, for two classes.

    The score is :math:`F(x) = \sum_j w_j h_j(x) + b`. After each new weak learner all coefficients
    solve eq. (1) of [1]_ over the current weak learners,

    .. math:: \min_{w, b} \frac12 \|w\|^2 + C \sum_i \ell(y_i F(x_i)), \quad
              \ell(\rho) = \max(0, 1 - \rho)^2 \;\text{or}\; \max(0, 1 - \rho),

    and the next weak learner, eq. (8), has the largest correlation with the labels times the dual
    variables :math:`\alpha`, by which it decreases the duality gap most:

    .. math:: \max_h \Big|\sum_i y_i \alpha_i h(x_i)\Big|.

    Training ends if this is 0 for all weak learners that are not in use. Then w solves the problem
    over all weak learners: an SVM with the kernel :math:`\sum_h h(x) h(x')`.

    Parameters
    ----------
    n_iterations : int, default=500
        Maximum number of weak learners.
    C : float, default=0.01
        Positive weight of the loss. The loss is a sum: a factor of all sample weights acts as a
        factor of C.
    loss : {"hinge", "squared_hinge"}, default="squared_hinge"
        Loss of the margins. The paper has the hinge; the squared hinge is several times as fast.
    weak_learner : {"stump", "perceptron", "fourier"} or a list of these, default="stump"
        Stumps, random perceptrons, or random cosines. With a list, each round takes the best weak
        learner of all these kinds.
    n_candidates : int, default=2000
        Number of perceptrons or cosines drawn in each round.
    gamma : "scale" or float, default="scale"
        Parameter of the Gaussian kernel :math:`\exp(-\gamma \|x - x'\|^2)` whose random features
        the cosines are. ``"scale"``: 1 / (n_features * X.var()), as in scikit-learn's SVC.
    max_bins : int or None, default=None
        Number of quantile bins per feature for stumps; None: all thresholds are tried.
    tol : float, default=1e-3
        Relative duality gap to which the hinge loss is minimised, at least 1e-8. The squared hinge
        is solved up to rounding.
    random_state : int, RandomState instance or None, default=None
        Seed of the perceptrons and cosines; stumps need none.

    Attributes
    ----------
    hypotheses_ : boostbench.core.weak_learner.LearnerStack
        `Stumps`, `Perceptrons` or `Cosines`, or a `MixedStack` of several kinds.
    coefficients_ : ndarray of shape (n_iterations_,)
        Coefficients w after the last round.
    intercepts_ : ndarray of shape (1,)
        Bias b after the last round.
    weight_path_ : list of n_iterations_ ndarrays
        Coefficients w after each round.
    intercept_path_ : ndarray of shape (n_iterations_ + 1,)
        Bias b before the first round and after each round.
    objective_ : ndarray of shape (n_iterations_,)
        Objective of eq. (1) after each round.
    dual_ : ndarray of shape (n_samples,)
        Dual variables :math:`\alpha` after the last round.

    Notes
    -----
    A stump in use has :math:`|\sum_i y_i \alpha_i h(x_i)| = |w_j|`, not 0. The search excludes it,
    because eq. (8) as printed finds the same stumps repeatedly. Perceptrons and cosines are drawn
    in every round, and none is excluded.

    b is not regularised. :math:`\alpha` starts as a constant.

    References
    ----------
    .. [1] C. Shen and F. Liu, "From kernel machines to ensemble learning", 2014: Algorithm 1.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> CGENS(n_iterations=50).fit(X, y).score(X, y) > 0.97
    True
    """

    edition = 2

    n_iterations: PositiveInt = 500
    C: PositiveFloat = 0.01
    loss: Literal["squared_hinge", "hinge"] = "squared_hinge"
    weak_learner: Literal[*_WEAK_LEARNERS] | list | tuple = "stump"
    n_candidates: PositiveInt = 2000
    gamma: Literal["scale"] | PositiveFloat = "scale"
    max_bins: TwoOrMore | None = None
    tol: PositiveFloat = 1e-3

    # Each stage of a fit equals a fit with fewer rounds; see `boostbench.fitting.tuning`.
    staged_parameter: ClassVar = "n_iterations"

    @property
    def _takes_tables(self):
        """True if X may have missing values and categories: only stumps accept them."""
        return self.weak_learner in ("stump", ["stump"], ("stump",))

    def _validate_params(self):
        """Check the parameters, and the elements of a list of weak learners."""
        super()._validate_params()
        if isinstance(self.weak_learner, str):
            return
        options = ", ".join(repr(name) for name in _WEAK_LEARNERS)
        names = list(self.weak_learner)
        known_only = all(name in _WEAK_LEARNERS for name in names)
        # Repeated names are looked for last: an unknown element may have no hash.
        if not names or not known_only or len(names) > len(set(names)):
            raise ValueError(
                f"The 'weak_learner' parameter of CGENS must be one of {options}, or a list of "
                f"different ones. Got {self.weak_learner!r} instead."
            )

    def _make_master(self, X, signs, random_state, weights=None):
        """Return the master with a search for each kind of weak learner."""
        rng = np.random.default_rng(random_state.randint(2**31))
        names = [self.weak_learner] if isinstance(self.weak_learner, str) else self.weak_learner
        searches = [self._make_search(name, X, rng, weights) for name in names]
        search = searches[0] if len(searches) == 1 else UnionSearch(searches)
        return _CGENSMaster(self, search, signs, weights)

    def _make_search(self, name, X, rng, weights):
        """Return the search for weak learners of one kind, an element of `_WEAK_LEARNERS`."""
        if name == "stump":
            return StumpSearchWithExclusion(X, self.max_bins, weights)
        if name == "perceptron":
            return RandomPerceptronSearch(X, self.n_candidates, rng)
        gamma = self.gamma
        if gamma == "scale":
            gamma = 1.0 / (X.shape[1] * _weighted_variance(X, weights) or 1.0)
        return RandomCosineSearch(X, self.n_candidates, rng, gamma)

    def _store_model(self, master):
        """Store the model; see `Booster._store_model`."""
        self.hypotheses_ = stack_learners(master.learners)
        self.coefficients_ = master.svm.weights
        self.intercepts_ = np.array([master.svm.intercept])
        self.weight_path_ = list(master.weights)
        self.intercept_path_ = np.array(master.intercepts)
        self.objective_ = np.array(master.objective)
        self.dual_ = master.svm.dual
        # A stump has a feature, a threshold and a coefficient; a perceptron or a cosine a
        # direction, a threshold or phase, and a coefficient. The 1 is the bias of the model.
        n_stumps = sum(isinstance(learner, Stump) for learner in master.learners)
        n_others = len(master.learners) - n_stumps
        self.n_parameters_ = 3 * n_stumps + (self.n_features_in_ + 2) * n_others + 1

    def _staged_coefficients(self, stages):
        for stage in stages:
            yield self.weight_path_[stage - 1]

    def _staged_scores(self, X, stages):
        """Yield the scores with the bias of each stage; see `Booster._staged_scores`."""
        stages = list(stages)
        for stage, scores in zip(stages, super()._staged_scores(X, stages), strict=True):
            yield scores + self.intercept_path_[stage]


class CGENSSLS(NoEarlyStoppingMixin, StumpEnsemble):
    r"""CGENS for several classes: least squares on simplex codes, with stumps.

    Each of k classes has a codeword c, a vertex of the regular simplex in k - 1 dimensions. After
    each new stump, all coefficients of the k - 1 outputs solve eq. (10) of [1]_,

    .. math:: \min_{w, b} \frac12 \sum_\tau \|w_\tau\|^2 + \frac C2 \sum_{i\tau} O_{i\tau}^2, \quad
              O_{i\tau} = L_{i\tau} - w_\tau^\top h(x_i) - b_\tau,

    where the rows of L are the codewords of the samples. The next stump, eq. (13), has the largest
    correlation with the residuals of an output,

    .. math:: \max_{h, \tau} \sum_i U_{i\tau} h(x_i), \quad U = C \, O,

    and the score of a class is :math:`\langle F(x), c_y \rangle`, eq. (15).

    Parameters
    ----------
    n_iterations : int, default=500
        Maximum number of stumps.
    C : float, default=0.01
        Positive weight of the sum of squared errors: a factor of all sample weights acts as a
        factor of C.

    Attributes
    ----------
    hypotheses_ : boostbench.core.stumps.stump.Stumps
    codewords_ : ndarray of shape (n_classes, n_classes - 1)
        Codewords c.
    coefficients_ : ndarray of shape (n_iterations_, n_classes)
        Coefficients w after the last round, times the codewords.
    intercepts_ : ndarray of shape (1, n_classes)
        Biases b after the last round, times the codewords.
    triangle_ : ndarray of shape (n_iterations_, n_iterations_)
        Upper triangular R: the centred stump outputs H are Q R, where
        :math:`R^\top R = H^\top H + I / C` without sample weights. The columns of Q are orthogonal
        up to the regularisation term I / C.
    means_ : ndarray of shape (n_iterations_,)
        Mean output of each stump over the training data.
    steps_ : ndarray of shape (n_iterations_, n_classes)
        Coefficients of the columns of Q, times the codewords; the scores after t rounds are
        `mean_codeword_` plus the first t columns of Q times the first t rows.
    mean_codeword_ : ndarray of shape (n_classes,)
        Mean of the samples' codewords, times the codewords.
    dual_ : ndarray of shape (n_samples, n_classes - 1)
        Dual variables U after the last round.

    Notes
    -----
    The correlation of a stump in use equals its coefficient, not 0, so that the search excludes it.
    The first stump is searched with U of the model that has the biases b only. The paper starts
    with a constant U, which does not depend on the labels. A rotated simplex can lead to other
    stumps in eq. (13), which are no better on average.

    See Also
    --------
    CGENS : Two classes, with the hinge loss of a support vector machine.

    References
    ----------
    .. [1] C. Shen and F. Liu, "From kernel machines to ensemble learning", 2014: Algorithm 2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> CGENSSLS(n_iterations=50).fit(X, y).score(X, y) > 0.95
    True
    """

    n_iterations: PositiveInt = 500
    C: PositiveFloat = 0.01

    # Each stage of a fit equals a fit with fewer rounds; see `boostbench.fitting.tuning`.
    staged_parameter: ClassVar = "n_iterations"

    _takes_sparse: ClassVar = False

    def inverse_temperature(self):
        """Return the derivative of the log-odds of a class with respect to F.

        F is linear in the probabilities of the classes, and the derivative is taken where all
        probabilities are equal.
        """
        return len(self.classes_) - 1.0

    def _make_master(self, X, labels, random_state, weights=None):
        """Draw the codewords, and return the master; see `Booster._make_master`."""
        self.codewords_ = simplex_vertices(len(self.classes_))
        search = StumpSearchWithExclusion(X, self.max_bins, weights)
        return _SLSMaster(self, search, self.codewords_[labels], weights)

    def _store_model(self, master):
        """Store the model, with all outputs mapped to scores of classes."""
        ridge, n = master.ridge, len(master.learners)
        self.hypotheses_ = Stumps(master.learners)
        self.means_ = np.array(ridge.means)
        self.triangle_ = ridge.triangle()
        self.coefficients_ = ridge.weights() @ self.codewords_.T
        self.steps_ = ridge.orthogonal_coefficients @ self.codewords_.T
        self.dual_ = self.C * ridge.residual
        self.mean_codeword_ = self.codewords_ @ ridge.target_means
        self.intercepts_ = (self.mean_codeword_ - self.means_ @ self.coefficients_)[None]
        self.n_parameters_ = 2 * n + self.coefficients_.size + self.intercepts_.size

    def _staged_scores(self, X, stages):
        """Yield the scores after each stage, a sum over columns of Q; see `steps_`."""
        stages = list(stages)
        if stages == [self.n_iterations_]:
            # The coefficients after the last round are known, so that Q is not needed.
            yield self.hypotheses_.scores(X, self.coefficients_) + self.intercepts_
            return
        # The columns of Q for the samples X solve Q R = H, with the centred outputs H.
        centred = self.hypotheses_.outputs(X) - self.means_
        orthogonal = solve_triangular(self.triangle_, centred.T, trans="T").T
        scores = self.mean_codeword_
        for stage in stage_slices(stages):
            scores = scores + orthogonal[:, stage] @ self.steps_[stage]
            yield scores


def _weighted_variance(X, weights):
    """Return the variance of all entries of X, weighted by the sample weights of the rows."""
    if weights is None:
        return X.var()
    mean = np.average(X.mean(axis=1), weights=weights)
    return np.average(((X - mean) ** 2).mean(axis=1), weights=weights)


class _CGENSMaster(Master):
    """Master of `CGENS`.

    Parameters
    ----------
    params, search
        See `Master`. The search has a method `exclude`, after which it never finds a weak learner
        again.
    signs : ndarray of shape (n_samples,)
        Labels -1 and +1.
    sample_weight : ndarray of shape (n_samples,) or None
        None: all weights are 1.

    Attributes
    ----------
    svm : PrimalSVM
        Solver of eq. (1) over the weak learners so far.
    dual : ndarray of shape (n_samples,)
        Dual variables alpha; constant before the first round.
    weights : list of ndarray of shape (n_rounds,)
        Coefficients w after each round.
    intercepts : list of float
        Bias b before the first round and after each round.
    learners : list
        Weak learner of each round.
    objective : list of float
        Objective of eq. (1) after each round.
    """

    def __init__(self, params, search, signs, sample_weight):
        super().__init__(params, search)
        self.signs = signs
        tol = max(params.tol, _MIN_TOL)
        self.svm = PrimalSVM(
            signs, params.C, loss=params.loss, tol=tol, sample_weight=sample_weight
        )
        self.dual = np.ones(len(signs)) if sample_weight is None else sample_weight
        self.learners = []
        self.weights = []
        self.intercepts = [self.svm.intercept]
        self.objective = []

    def generate(self):
        """Return the weak learner of the largest correlation, eq. (8); see `Master.generate`."""
        result = self.search.best((self.signs * self.dual)[:, None])
        min_edge = MIN_EDGE * self.dual.sum()
        exceeds_rounding = result is not None and abs(result.edge) > min_edge
        return result if exceeds_rounding else None

    def correct(self, result):
        """Add the weak learner, and solve eq. (1) again; see `Master.correct`."""
        self.search.exclude(result.learner)
        self.svm.add(result.outputs)
        self.dual = self.svm.dual
        self.learners.append(result.learner)
        self.weights.append(self.svm.weights)
        self.intercepts.append(self.svm.intercept)
        self.objective.append(self.svm.objective)
        return True


class _SLSMaster(Master):
    """Master of `CGENSSLS`.

    Parameters
    ----------
    params, search, sample_weight
        See `_CGENSMaster`.
    targets : ndarray of shape (n_samples, n_classes - 1)
        Codeword of each sample, L in eq. (10).

    Attributes
    ----------
    ridge : GrowingRidge
        Solver of eq. (10). Its `residual`, O times the sample weights, is U / C for the U of eq.
        (13); the search uses it as weights.
    learners : list of Stump
        Stump of each round.
    """

    def __init__(self, params, search, targets, sample_weight):
        super().__init__(params, search)
        self.ridge = GrowingRidge(targets, params.C, sample_weight)
        self.learners = []

    def generate(self):
        """Return the stump of the largest correlation, eq. (13); see `Master.generate`."""
        residual = self.ridge.residual
        result = self.search.best(residual)
        if result is None:
            return None
        min_edge = MIN_EDGE * np.abs(residual[:, result.column]).sum()
        return result if result.edge > min_edge else None

    def correct(self, result):
        """Add the stump, and solve eq. (10) again; see `Master.correct`."""
        self.search.exclude(result.learner)
        self.ridge.add(result.outputs)
        self.learners.append(result.learner)
        return True
