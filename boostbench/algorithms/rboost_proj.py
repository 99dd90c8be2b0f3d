"""RBoost^proj (RandomBoost, Algorithm 2): boosting by projecting weak learners' outputs.

A *code* is one number per class: a weak learner h with a code adds ``code[r] * h(x)`` to the score
of class r. Each row of the random matrix P is a code for each weak learner. `_PairMaster` gives
each weak learner a row of its own, `_RowMaster` gives all weak learners a weighted sum of all rows.
"""

from typing import ClassVar, Literal, NamedTuple

import numpy as np

from boostbench.algorithms.base.booster import TabularBooster
from boostbench.algorithms.base.estimators import (
    BoostingClassifier,
    TotallyCorrective,
    warn_unsolved,
)
from boostbench.algorithms.base.input_validation import normalise_weights
from boostbench.algorithms.base.master import Master
from boostbench.algorithms.base.parameters import NonNegativeFloat, PositiveInt
from boostbench.core.coefficient_path import CoefficientPath
from boostbench.core.learners.discriminants import OutputCodeDiscriminantSearch
from boostbench.core.learners.output_code_stumps import OutputCodeStumpSearch, OutputProducts
from boostbench.core.losses.objective import LOSSES, get_loss
from boostbench.core.projections import KINDS, random_matrix
from boostbench.core.solvers.lbfgs import nonnegative_quasi_newton
from boostbench.core.weak_learner import SearchResult

# Search for each kind of weak learner.
_WEAK_LEARNERS = {"stump": OutputCodeStumpSearch, "wlda": OutputCodeDiscriminantSearch}

# Exponent of the number of projections n in the divisor of the entries of P, for each `scaling`.
_SCALING_EXPONENTS = {"sqrt_n": 0.5, "n": 1.0}

# Number of consecutive rounds without progress that end the training with pairs. Every round draws
# new codes, so that a single round may offer no better pair by chance.
_PATIENCE = 20

# Fraction of nonzero coefficients below which it is faster to copy their rows of P for the product.
_SPARSE_FRACTION = 0.1

# Bound on the weights of samples. A line search may try points where the exponential loss is
# infinite.
_MAX_WEIGHT = 1e30


class RBoostProj(TotallyCorrective, TabularBooster, BoostingClassifier):
    r"""RBoost^proj (RandomBoost, Algorithm 2), totally corrective.

    The outputs of the weak learners are projected by a random matrix :math:`P^{(r)}` for each class
    r, and all classes share one vector w. The paper has two readings, which `rule` selects. With
    ``"pair"``, a round adds a weak learner h_t, the best row v_t of P for it, and one coefficient
    for both,

    .. math:: F_r(x) = \sum_t w_t P^{(r)}_{v_t t} h_t(x), \quad w \in R^T,

    as in the opening of Section III. With ``"paper"``, every row of P has a coefficient for the
    projected outputs of all weak learners, :math:`F_r(x) = w^\top P^{(r)} H(x)` with
    :math:`w \in R^n`, as in Section III-B. After each new weak learner, all coefficients are
    optimised again with a warm start. They minimise eq. (18):

    .. math:: \min_{w \ge 0} \frac{1}{mk} \sum_{i,r} \lambda(\rho_{ir}) + \nu 1^\top w,
              \quad \rho_{ir} = F_{y_i}(x_i) - F_r(x_i)

    Parameters
    ----------
    n_iterations : int, default=1000
        Maximum number of boosting rounds, T of RandomBoost.
    n_projections : int, default=1000
        Number of rows of P that a round chooses from, n of RandomBoost.
    loss : {"logistic", "exponential"}, default="logistic"
        Loss :math:`\lambda`.
    nu : float, default=1e-4
        Weight :math:`\nu` of the L1 norm of w.
    rule : {"pair", "paper", "greedy"}, default="pair"
        Column that a round adds. ``"pair"``: the pair (h, v) of the most violated dual constraint,
        with its own coefficient. ``"paper"``: the weak learner that increases the violation of a
        row's constraint most, eq. (24); all coefficients change. ``"greedy"``, an extension of
        ``"paper"``: the weak learner of the largest edge for its code ``w @ P[:, t]``.
    weak_learner : {"stump", "wlda"}, default="stump"
        Type of the weak learners. ``"wlda"``: for each row of P, the best stump on the weighted
        linear discriminant of its two-class problem (Table VI).
    positive : bool, default=True
        True: w is nonnegative. False, an extension for rules with a coefficient per row: w may have
        any sign, with the L1 norm :math:`\nu |w|_1`. This is eq. (18) with the rows of both P and
        -P, and 2n coefficients. Pairs need no sign, as -h is a weak learner as well.
    projection : {"gaussian", "sign", "sparse"}, default="gaussian"
        Distribution of the entries of P before scaling.
    scaling : {"sqrt_n", "n"}, default="sqrt_n"
        Divisor of the entries of P. The paper states :math:`\sqrt n` in its theorems only.
    tol : float, default=1e-5
        Tolerance :math:`\epsilon` of step 2: a round makes no progress if the relative change of
        the objective is below it. 0: training continues to `n_iterations`.
    patience : int or None, default=None
        Number of consecutive rounds without progress that end the training. None: 20 with
        ``"pair"``, 1 otherwise. Rounds with w = 0 do not count.
    solver_iterations : int, default=100
        Maximum number of solver iterations per round.
    start : {"previous", "zero"}, default="previous"
        Starting point of the solver in each round. ``"previous"``: the coefficients of the previous
        round. ``"zero"``, only with ``rule="pair"``: w = 0. From zero, the solver is meant to stop
        early (see the notes), so the objective may rise, without a warning; combine it with
        `tol` = 0.
    random_state : int, RandomState instance or None, default=None
        Seed of the projections.

    Attributes
    ----------
    hypotheses_ : boostbench.core.weak_learner.LearnerStack
        Weak learners: `Stumps` or `Perceptrons`.
    coefficients_ : ndarray of shape (n_iterations_, n_classes)
        Code of each weak learner in the scores: ``w[t] P[v[t], t, r]`` with ``rule="pair"``, else
        ``sum_v w[v] P[v, t, r]``.
    objective_ : ndarray of shape (n_iterations_,)
        Objective of eq. (18) after each round, including the constant ``lambda(0) / k`` of the
        terms r = y_i.
    converged_ : ndarray of shape (n_iterations_,), dtype=bool
        True for each round in which the solver converged, False if it stopped at
        `solver_iterations`. If the last is False, `fit` issues a `ConvergenceWarning`.
    weight_path_ : scipy.sparse.csr_array of shape (n_iterations_, n_coefficients)
        Coefficients w after each round, one for each pair (`n_iterations_`) or each row of P
        (`n_projections`).
    rows_ : ndarray of shape (n_iterations_,), dtype=int64
        Rows v_t; only with ``rule="pair"``.
    projection_seed_ : int
        Seed from which `projection_columns` draws P.

    Notes
    -----
    *Rows: a phase transition.* With a small :math:`\nu`, hundreds of rows have a coefficient. A new
    weak learner gets a random code ``w @ P[:, t]`` from all of them, not the code for which it was
    chosen. The training data are separated after 25 to 75 rounds, and later rounds learn nothing.
    With a :math:`\nu` above the largest violation by one weak learner, about 0.02 for n = 1000, w
    stays 0 until the violation of one row exceeds :math:`\nu`. Then eq. (24) chooses this row in
    all later rounds, and the algorithm is AdaBoost.ECC with Gaussian codes, which learns until the
    last round. The grid of the paper ends just below the transition. With pairs, a weak learner
    gets the code for which it was chosen, for every :math:`\nu`.

    *Stopping rule.* "The training stops when adding more weak classifiers does not further decrease
    the objective function of (18)" (Section IV-C). For pairs, a single round proves nothing: its
    codes may offer no better pair by chance, while the codes of the next round do.

    *Solver.* The solver has the tolerances of L-BFGS-B in RandomBoost, including 1e-5 for the
    gradient. With a smaller :math:`\nu`, this tolerance limits the precision of w, which also
    regularises. With ``rule="paper"``, the logistic loss and :math:`\nu = 10^{-5}` on vowel, the
    objective is up to 1.4 % above its minimum in the first 20 rounds, in which `converged_` is
    False. The solver rounds w to a grid, so that w is equal on every machine; see
    `boostbench.core.solvers.lbfgs`.

    *Start from zero.* If few samples are separated early, all slopes are below the solver's limit
    of 1e-5 while there are few weak learners. From the coefficients of the previous round, a new
    weak learner then gets the coefficient 0, and training ends: with 5 samples of each of ten
    digits, after 50 rounds. A start from zero spreads the coefficients over all weak learners in
    every round; see `MultiBoost`. In RandomBoost's grid of nu for digits, 5e-8 to 1e-5, only the
    limit of the solver has an effect.

    References
    ----------
    .. [1] S. Paisitkriangkrai, C. Shen, Q. Shi and A. van den Hengel, "RandomBoost: Simplified
       multi-class boosting through randomization" (RandomBoost).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> RBoostProj(n_iterations=50, random_state=0).fit(X, y).score(X, y) > 0.95
    True
    """

    edition = 3

    n_projections: PositiveInt = 1000
    loss: Literal[*LOSSES] = "logistic"
    nu: NonNegativeFloat = 1e-4
    rule: Literal["pair", "paper", "greedy"] = "pair"
    weak_learner: Literal[*_WEAK_LEARNERS] = "stump"
    positive: bool = True
    projection: Literal[*KINDS] = "gaussian"
    scaling: Literal[*_SCALING_EXPONENTS] = "sqrt_n"
    tol: NonNegativeFloat = 1e-5
    patience: PositiveInt | None = None
    solver_iterations: PositiveInt = 100
    start: Literal["previous", "zero"] = "previous"

    @property
    def _takes_tables(self):
        """True if X may have missing values and categories: only stumps accept them."""
        return self.weak_learner == "stump"

    def _make_master(self, X, labels, random_state, weights=None):
        """Check the parameters, and return the master of the rule; see `Booster._make_master`."""
        if self.rule == "pair" and not self.positive:
            raise ValueError(
                "positive=False is for rule='paper' and rule='greedy'; with rule='pair' a weak "
                "learner and its negative have a coefficient each, so leave it at True"
            )
        if self.rule != "pair" and self.start == "zero":
            raise ValueError(
                f"start='zero' is for rule='pair', not for rule={self.rule!r}: leave it at "
                "'previous'"
            )
        self.projection_seed_ = random_state.randint(2**31)
        # P is drawn again from the seed and these settings; a user may change the parameters after
        # the fit.
        self._projection = self.projection, self.n_projections, self.scaling
        search = _WEAK_LEARNERS[self.weak_learner](X)
        master = _PairMaster if self.rule == "pair" else _RowMaster
        return master(self, search, labels, normalise_weights(weights))

    def projection_columns(self):
        """Yield P[:, t], of shape (n_projections, n_classes), for t = 0, 1, ...

        The fitted model stores the seed instead of P, which is far larger than the other
        attributes.
        """
        rng = np.random.default_rng(self.projection_seed_)
        kind, n_projections, scaling = self._projection
        while True:
            # Division by a Python float keeps float32.
            size = float(n_projections ** _SCALING_EXPONENTS[scaling])
            yield random_matrix(kind, (n_projections, len(self.classes_)), rng) / size

    def _store_model(self, master):
        """Store the model; see `Booster._store_model`."""
        self.hypotheses_ = master.search.stack_type(master.hypotheses)
        self.coefficients_ = master.codes()
        self.objective_ = np.array(master.objective)
        self.converged_ = np.array(master.converged, dtype=bool)
        self.weight_path_ = master.path.matrix(len(master.w))
        n_numbers = master.search.n_learner_parameters + len(self.classes_)
        self.n_parameters_ = self.n_iterations_ * n_numbers
        # An earlier fit may have had another rule.
        for name in ("rows_", "_pair_codes"):
            vars(self).pop(name, None)
        if self.rule == "pair":
            self.rows_ = np.array(master.rows, dtype=np.int64)
            self._pair_codes = master.pair_codes[: self.n_iterations_]

    def _staged_coefficients(self, stages):
        """Yield the codes of the weak learners after each stage, of shape (stage, n_classes)."""
        if self._fit_param("rule") == "pair":
            for stage in stages:
                w = self.weight_path_[[stage - 1], :stage].toarray()
                yield w.T * self._pair_codes[:stage]
            return
        # Draw P again, of shape (n_iterations_, n_projections, n_classes).
        columns = self.projection_columns()
        n_projections = self._projection[1]
        projections = [next(columns) for _ in range(self.n_iterations_)]
        shape = (self.n_iterations_, n_projections, len(self.classes_))
        projections = np.reshape(projections, shape)
        for stage in stages:
            w = self.weight_path_[[stage - 1]]
            yield np.einsum("tvr,v->tr", projections[:stage, w.indices], w.data)


class _ProjectedLearner(NamedTuple):
    """Weak learner of a round with its random projections.

    Attributes
    ----------
    result : SearchResult
        Weak learner and its outputs. Its `column` is the row v of P that it was chosen for.
    projection : ndarray of shape (n_projections, n_classes)
        Entries P[:, t] of P for this weak learner: a code for each row.
    """

    result: SearchResult
    projection: np.ndarray


class _ProjectionMaster(Master):
    """Base of the masters of pairs and rows: loss, weights, history and stopping rule.

    A subclass has the attributes `w` (coefficients) and `default_patience`, and a method `codes`.
    The solver calls `_evaluate_codes` last at its solution, to which the weights of the search then
    belong.

    Parameters
    ----------
    params, search
        See `Master`. The search finds a weak learner and a code.
    labels : ndarray of shape (n_samples,)
        Classes from 0 to n_classes - 1.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of mean 1; None: all are 1.

    Attributes
    ----------
    weights : ndarray of shape (n_samples, n_classes)
        Weights of the search, the dual variables of eq. (18) in the form of `pairwise_weights`.
    outputs : OutputProducts
        Products with the outputs of the weak learners so far.
    true_class : (ndarray, ndarray)
        Index of each sample's own class into arrays of shape (n_classes, n_samples).
    projection_columns : iterator of ndarray of shape (n_projections, n_classes)
        Projections P[:, t] of the weak learners of the next rounds.
    smooth_value : float
        Smooth part of eq. (18), the objective without the penalty, before the first round; the
        master of pairs updates it.
    path : CoefficientPath
        Coefficients w after each round.
    n_idle_rounds : int
        Number of rounds without progress since the last round with progress.
    """

    per_round_lists: ClassVar = ("hypotheses", "objective", "converged")

    def __init__(self, params, search, labels, sample_weight):
        super().__init__(params, search)
        self.loss = get_loss(params.loss, sample_weight)
        n_samples, n_classes = len(search.X), len(params.classes_)
        self.n_classes = n_classes
        self.true_class = labels, np.arange(n_samples)
        self.projection_columns = params.projection_columns()
        self.outputs = OutputProducts(search.X)
        self.path = CoefficientPath()
        self.n_idle_rounds = 0
        self.smooth_value, weights = self._evaluate_weights(np.zeros((n_classes, n_samples)))
        self.weights = weights.T

    def finish(self):
        """Warn if the last solve did not converge; see `Master.finish`."""
        # A solver that starts from zero is meant to stop early.
        if self.params.start == "previous":
            warn_unsolved(self.params, self.converged)

    def rewind(self, rounds):
        """Restore the coefficients of an earlier round; see `Master.rewind`."""
        super().rewind(rounds)
        self.w = self.path.rewind(rounds, n_coefficients=len(self.w))

    def _evaluate_weights(self, scores):
        """Return the smooth part of eq. (18) and its dual variables as weak-learner weights.

        Parameters
        ----------
        scores : ndarray of shape (n_classes, n_samples)

        Returns
        -------
        value : float
            Mean of the losses over all pairs (i, r).
        weights : ndarray of shape (n_classes, n_samples)
            Minus the gradient of the value by the scores.
        """
        value, dual = self.loss.value_and_dual(scores[self.true_class] - scores)
        # A margin falls with the score of r, and rises with the score of the own class.
        dual[self.true_class] = 0.0
        weights = dual / -dual.size
        weights[self.true_class] = -weights.sum(axis=0)
        return value.mean(), weights

    def _evaluate_codes(self, codes):
        """Set the weights of the search for given codes; return the smooth part of eq. (18).

        Parameters
        ----------
        codes : ndarray of shape (n_learners, n_classes)

        Returns
        -------
        value : float
            Smooth part of eq. (18), the mean loss.
        edges : ndarray of shape (n_learners, n_classes)
            Minus the gradient of the value by the codes.
        """
        # The solver stops early. It takes the same steps on each machine if the sums are in double
        # precision.
        value, weights = self._evaluate_weights(self.outputs.scores(codes))
        self.weights = weights.T
        return value, self.outputs.edges(weights.clip(-_MAX_WEIGHT, _MAX_WEIGHT))

    def _add(self, result):
        """Append the weak learner of a search result."""
        self.outputs.append(result.learner, result.outputs)
        self.hypotheses.append(result.learner)

    def _record_round(self, solution):
        """Record the round; return False if `params.tol` and `params.patience` end the training.

        Parameters
        ----------
        solution : SolverResult
            Coefficients w after the round.
        """
        w, objective = solution.w, solution.value
        self.path.append(w)
        self.objective.append(objective)
        self.converged.append(solution.converged)
        # The objective is constant until the first coefficient is positive.
        if len(self.objective) > 1 and w.any():
            previous = self.objective[-2]
            is_idle = abs(previous - objective) < self.params.tol * abs(previous)
            self.n_idle_rounds = self.n_idle_rounds + 1 if is_idle else 0
        return self.n_idle_rounds < self.patience

    @property
    def patience(self):
        """Number of consecutive rounds without progress that end the training."""
        return self.params.patience or self.default_patience


class _PairMaster(_ProjectionMaster):
    """Master with a coefficient for each pair of a weak learner and a row of P.

    Attributes
    ----------
    pair_codes : ndarray of shape (n_iterations, n_classes)
        Row of P that each weak learner was paired with. The first `n_learners` rows are valid.
    w, gradient : ndarray of shape (n_learners,)
        Coefficients, and derivatives of the smooth part of eq. (18) by them.
    zero_offsets : ndarray of shape (n_projections,)
        Zeros, the third argument of `search.best`, which adds them to the edges of the rows.
    """

    default_patience = _PATIENCE
    per_round_lists: ClassVar = (*_ProjectionMaster.per_round_lists, "rows")

    def __init__(self, params, search, labels, sample_weight):
        super().__init__(params, search, labels, sample_weight)
        self.pair_codes = np.empty((params.n_iterations, self.n_classes))
        self.w = self.gradient = np.empty(0)
        self.zero_offsets = np.zeros(params.n_projections)

    def rewind(self, rounds):
        """Drop the coefficients of later pairs; see `Master.rewind`."""
        super().rewind(rounds)
        self.w = self.w[:rounds]

    def codes(self):
        """Return the code of each weak learner in the scores, of shape (n_learners, n_classes)."""
        return self.w[:, None] * self.pair_codes[: len(self.w)]

    def generate(self):
        """Return the pair of the largest edge; see `Master.generate`.

        The search adds the edge of a weak learner to an offset of each row, the edge of earlier
        weak learners in the constraint of this row. Here the offsets are 0, as each pair has a
        constraint of its own.
        """
        projection = next(self.projection_columns)
        result = self.search.best(self.weights, projection, self.zero_offsets)
        return None if result is None else _ProjectedLearner(result, projection)

    def correct(self, projected_learner):
        """Add the pair, and solve for all coefficients; see `Master.correct`."""
        result, projection = projected_learner
        code = projection[result.column]
        t = len(self.hypotheses)
        self._add(result)
        self.rows.append(result.column)
        self.pair_codes[t] = code
        pair_codes = self.pair_codes[: t + 1]

        # The gradient by w_t is the gradient by code t, w_t times the row of P, times this row.
        def smooth(w):
            self.smooth_value, edges = self._evaluate_codes(w[:, None] * pair_codes)
            self.gradient = -np.einsum("tr,tr->t", edges, pair_codes)
            return self.smooth_value, self.gradient

        start, initial = np.zeros(t + 1), None
        if self.params.start == "previous":
            # A pair whose coefficient is 0 changes neither the objective nor the weights, which
            # belong to self.w. `initial`, the value and the gradient at `start`, is thus known and
            # saves an evaluation.
            start[:t] = self.w
            slope = -(result.outputs @ self.weights @ code)
            self.gradient = np.append(self.gradient, slope)
            initial = self.smooth_value, self.gradient
        solution = nonnegative_quasi_newton(
            smooth, start, self.params.nu, self.params.solver_iterations, initial=initial
        )
        self.w = solution.w
        return self._record_round(solution)


class _RowMaster(_ProjectionMaster):
    """Master with a coefficient for each row of P, shared by all weak learners.

    Attributes
    ----------
    P : ndarray of shape (n_projections, n_iterations * n_classes)
        Projections: the columns of weak learner t begin at ``t * n_classes``.
    w : ndarray of shape (n_projections,)
        Coefficients.
    minimise : callable
        Solver over nonnegative w, or over w of any sign if the parameter `positive` is False.
    row_edges : ndarray of shape (n_projections,)
        Edge of all weak learners so far for each row of P. The constraint of a row in eq. (24) says
        that this edge, with the edge of the new weak learner, is at most nu.
    """

    default_patience = 1

    def __init__(self, params, search, labels, sample_weight):
        super().__init__(params, search, labels, sample_weight)
        self.minimise = nonnegative_quasi_newton if params.positive else _signed_quasi_newton
        n_values = params.n_iterations * self.n_classes
        self.P = np.empty((params.n_projections, n_values))
        self.w = np.zeros(params.n_projections)
        self.row_edges = np.zeros(params.n_projections)

    def codes(self):
        """Return the code of each weak learner in the scores, of shape (n_learners, n_classes)."""
        return self._codes(self.w, self._active_P())

    def _active_P(self):
        """Return the projections of the weak learners so far."""
        return self.P[:, : len(self.hypotheses) * self.n_classes]

    def generate(self):
        """Return the weak learner that the rule selects; see `Master.generate`."""
        projection = next(self.projection_columns)
        result = self._search(projection)
        return None if result is None else _ProjectedLearner(result, projection)

    def _search(self, projection):
        """Return the weak learner that the rule selects, given its projections P[:, t]."""
        code = self.w @ projection
        if self.params.rule == "greedy" and code.any():
            return self.search.best(self.weights, code[None], np.zeros(1))
        if self.params.positive:
            return self.search.best(self.weights, projection, self.row_edges)
        # Maximise ``abs(row_edges[v] + edge)``. As -h is a weak learner as well, the edge takes the
        # sign of ``row_edges[v]``. Rows with a negative edge are flipped, so that both are
        # positive.
        sign = np.where(self.row_edges < 0, np.float32(-1), np.float32(1))
        return self.search.best(self.weights, sign[:, None] * projection, np.abs(self.row_edges))

    def correct(self, projected_learner):
        """Add the weak learner, and solve for all coefficients; see `Master.correct`."""
        result, projection = projected_learner
        start = len(self.hypotheses) * self.n_classes
        self._add(result)
        self.P[:, start : start + self.n_classes] = projection
        P = self._active_P()

        # The gradient by w_v is the gradient by all codes, ``w @ P``, times row v of P.
        def smooth(w):
            value, slopes = self._evaluate_codes(self._codes(w, P))
            self.row_edges = P @ slopes.ravel()
            return value, -self.row_edges

        solution = self.minimise(smooth, self.w, self.params.nu, self.params.solver_iterations)
        self.w = solution.w
        return self._record_round(solution)

    def _codes(self, w, P):
        """Return ``w @ P``, reshaped to (n_learners, n_classes)."""
        rows = np.flatnonzero(w)
        if len(rows) > _SPARSE_FRACTION * len(w):
            codes = w @ P
        else:
            codes = w[rows] @ P[rows]
        return codes.reshape(-1, self.n_classes)


def _signed_quasi_newton(smooth, start, nu, max_iter):
    """Minimise ``f(w) + nu * abs(w).sum()`` as `nonnegative_quasi_newton` does, over w of any sign.

    The positive and the negative part of w are the coefficients of the other function, whose
    parameters and result are the same.
    """

    def smooth_of_parts(parts):
        """Return f and its gradient by both parts of w, positive minus negative."""
        value, gradient = smooth(np.subtract(*np.split(parts, 2)))
        return value, np.concatenate([gradient, -gradient])

    parts = np.concatenate([np.maximum(start, 0), np.maximum(-start, 0)])
    solution = nonnegative_quasi_newton(smooth_of_parts, parts, nu, max_iter)
    positive, negative = np.split(solution.w, 2)
    # The common part of both contributes to the norm only; it is 0 at the optimum.
    value = solution.value - 2 * nu * np.minimum(positive, negative).sum()
    return solution._replace(w=positive - negative, value=value)
