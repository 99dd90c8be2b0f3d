"""GradBoost: boosting as coordinate descent on a loss with a mixed-norm penalty.

A mixed norm is the sum of the norms of the rows of the coefficient matrix W, one row per stump.
"""

from functools import partial
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from boostbench.algorithms.base.estimators import StumpEnsemble
from boostbench.algorithms.base.master import MIN_EDGE, StumpMaster
from boostbench.algorithms.base.parameters import NonNegativeFloat
from boostbench.core.losses.objective import ROW_NORMS, euclidean_lengths
from boostbench.core.stumps.search import StumpSearch
from boostbench.core.stumps.stump import Stump
from boostbench.core.weak_learner import TIE_TOLERANCE, argmax_with_tolerance

# Upper bound on the curvature of the loss in the coefficients of a stump. The Hessian of a sample's
# loss is diag(p) - p p^T for the class probabilities p, because the squared output of a stump is 1.
# Its largest eigenvalue is at most 1/2, for two classes of probability 1/2.
_CURVATURE = 0.5


class GradBoost(StumpEnsemble):
    r"""GradBoost with stumps: multi-class boosting with an l1/l2 or l1/linf penalty.

    The scores are :math:`F_r(x) = \sum_j h_j(x) W_{jr}` over all stumps :math:`h_j`. A round
    decreases

    .. math:: \frac1m \sum_i \log \sum_r \exp(F_r(x_i) - F_{y_i}(x_i))
              + \nu \sum_j \|W_{j\cdot}\|

    by changing the coefficients of one stump. With the gradient g of the loss with respect to
    :math:`w = W_{j\cdot}`, the change of the objective is at most

    .. math:: g^\top (w' - w) + \frac14 \|w' - w\|_2^2 + \nu (\|w'\| - \|w\|)

    for new coefficients w', which minimise this bound. The second term is half of the largest
    possible curvature of the loss, 1/2, times the squared length of the step. The round takes the
    stump with the largest decrease of the bound; with l2, among the stumps without coefficients
    this is the stump with the largest g. A round therefore adds a stump or corrects an earlier one,
    possibly back to 0, and the rounds converge to the minimum over all stumps.

    Parameters
    ----------
    n_iterations : int, default=1000
        Maximum number of boosting rounds. Training ends earlier if no round decreases the
        objective.
    nu : float, default=1e-4
        Weight :math:`\nu` of the penalty.
    norm : {"l2", "linf"}, default="l2"
        Norm of the coefficients of a stump.

    Attributes
    ----------
    hypotheses_ : boostbench.core.stumps.stump.Stumps
        Stump of each round; a stump can occur several times.
    coefficients_ : ndarray of shape (n_iterations_, n_classes)
        Change of the stump's coefficients in each round.
    objective_ : ndarray of shape (n_iterations_,)
        Objective after each round.
    n_hypotheses_ : int
        Number of distinct stumps with nonzero coefficients after the last round.

    See Also
    --------
    MultiBoost : Optimises all coefficients in each round.

    References
    ----------
    .. [1] J. Duchi and Y. Singer, "Boosting with structural sparsity", ICML 2009. It is the
       baseline "GradBoost" of MCBoost.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> GradBoost(n_iterations=50).fit(X, y).score(X, y) > 0.95
    True
    """

    nu: NonNegativeFloat = 1e-4
    norm: Literal[*ROW_NORMS] = "l2"

    def _make_master(self, X, labels, random_state, weights=None):
        return _GradBoostMaster(self, StumpSearch(X, self.max_bins, weights), labels, weights)

    def _store_model(self, master):
        """Store the model; see `Booster._store_model`."""
        super()._store_model(master)
        self.objective_ = np.array(master.objective)
        self.n_hypotheses_ = int(master.W.any(axis=1).sum())
        self.n_parameters_ = self.n_hypotheses_ * (2 + len(self.classes_))


class _StumpUpdate(NamedTuple):
    """Stump of a round with its new coefficients.

    Attributes
    ----------
    stump : Stump
    position : int
        Index of a new stump among all stumps of the search; not used for an earlier stump.
    row : int
        Row of `_GradBoostMaster.W` with the coefficients of the stump.
    outputs : ndarray of shape (n_samples,)
        Outputs on the training data, -1 and +1.
    coefficients : ndarray of shape (n_classes,)
        Coefficients w' after the round.
    """

    stump: Stump
    position: int
    row: int
    outputs: np.ndarray
    coefficients: np.ndarray


class _GradBoostMaster(StumpMaster):
    """Master of `GradBoost`: coordinate descent in the coefficients of one stump per round.

    The *bound* is the upper bound on the change of the objective in the docstring of `GradBoost`.

    Parameters
    ----------
    params, search, sample_weight
        See `StumpMaster`.
    labels : ndarray of shape (n_samples,)
        Classes from 0 to n_classes - 1.

    Attributes
    ----------
    weights : ndarray of shape (n_samples, n_classes)
        Minus the gradient of the loss with respect to the scores, so that the edges of a stump are
        minus the gradient g with respect to its coefficients.
    sample_weight : ndarray of shape (n_samples,) or None
        Sample weights as given, on any scale.
    is_own_class : ndarray of shape (n_classes, n_samples), dtype=bool
        Mask of the class of each sample.
    own_class_flat_index : ndarray of shape (n_samples,), dtype=int64
        Flat index of the own class of each sample in an array of shape (n_classes, n_samples).
    norm : RowNorm
        Norm of the rows of W in the penalty.
    ranking_score : callable
        Function of edges that orders the stumps without coefficients by the decrease of the bound.
    scores : ndarray of shape (n_classes, n_samples)
        Scores F. Classes are rows: sums and maxima over classes then process long vectors.
    distinct_stumps : list of Stump
        Distinct stumps so far.
    row_of_stump : dict of Stump to int
        Index of each of these stumps in `distinct_stumps`, `search_positions` and `W`.
    search_positions : ndarray of shape (n_iterations,), dtype=int64
        Position of each distinct stump in the search.
    W : ndarray of shape (n_iterations + 1, n_classes)
        Coefficients of each distinct stump. The rows after the last stump are 0: the first of them
        belongs to a new stump.
    penalty : float
        Sum of the norms of the rows of W.
    objective : list of float
        Objective after each round.
    """

    per_round_lists: ClassVar = (*StumpMaster.per_round_lists, "objective")

    def __init__(self, params, search, labels, sample_weight=None):
        is_own_class = labels == np.arange(len(params.classes_))[:, None]
        n_classes, n_samples = is_own_class.shape
        # All classes have the probability 1 / n_classes at the scores 0.
        super().__init__(
            params, search, (is_own_class - 1 / n_classes).T / n_samples, sample_weight
        )
        self.sample_weight = sample_weight
        self.is_own_class = is_own_class
        self.own_class_flat_index = labels * n_samples + np.arange(n_samples)
        self.norm = ROW_NORMS[params.norm]()
        self.ranking_score = partial(self.norm.ranking_score, weight=params.nu)
        self.scores = np.zeros(is_own_class.shape)
        self.row_of_stump = {}
        self.distinct_stumps = []
        self.search_positions = np.empty(params.n_iterations, np.int64)
        self.W = np.zeros((params.n_iterations + 1, n_classes))
        self.penalty = 0.0

    def generate(self):
        """Return the stump of the largest decrease of the bound, and its new coefficients.

        Returns
        -------
        _StumpUpdate or None
            None if no stump lowers the bound.
        """
        # 1) Find the best new stump, and the edges of the stumps that already occurred. A new stump
        # has the coefficients 0, so that its edges alone determine the decrease of the bound.
        # An error r of the edges changes the ranking score by at most |r|, the change bound.
        known_positions = self.search_positions[: len(self.distinct_stumps)]
        scale = float(np.abs(self.weights).sum())
        result = self.search.best_position_excluding(
            self.weights,
            self.ranking_score,
            change_bound=euclidean_lengths,
            scale=scale,
            excluded=known_positions,
        )
        if result is None:
            return None
        # The search also returns the edges of the excluded stumps, in single precision, with errors
        # up to `error_bound`.
        position, known_edges, error_bound = result
        # 2) Compare the new stump, in the last row, with the others by the decrease of the bound.
        stump = self.search.stump(position)
        new_edges = stump(self.search.X) @ self.weights
        row = self._best_row(np.vstack([known_edges, new_edges]), error_bound)
        if row < len(self.distinct_stumps):
            stump = self.distinct_stumps[row]
        else:
            # Usually the stump is new and gets the next row. If no new stump was left, the search
            # has returned one that occurred, with a row of its own.
            row = self.row_of_stump.get(stump, row)
        # 3) Minimise the bound, with edges in double precision, unlike in the search.
        outputs = stump(self.search.X)
        coefficients = self._minimisers(self.W[[row]], outputs @ self.weights)[0]
        # A smaller change is a rounding error.
        if np.abs(coefficients - self.W[row]).max() <= MIN_EDGE:
            return None
        return _StumpUpdate(stump, position, row=row, outputs=outputs, coefficients=coefficients)

    def correct(self, update):
        """Change the coefficients of the stump, then the scores and the weights.

        See `Master.correct`; `update` is the result of `generate`.
        """
        stump, position, row, outputs, coefficients = update
        if row == len(self.distinct_stumps):
            self.row_of_stump[stump] = row
            self.distinct_stumps.append(stump)
            self.search_positions[row] = position
        step = coefficients - self.W[row]
        old_norm, new_norm = self.norm.evaluate(np.stack([self.W[row], coefficients]))
        self.W[row] = coefficients
        self.penalty += new_norm - old_norm
        self.stumps.append(stump)
        self.votes.append(step)
        self.scores += step[:, None] * outputs
        self.objective.append(self._update_weights() + self.params.nu * self.penalty)
        return True

    def rewind(self, rounds):
        """Undo all but the first `rounds` rounds; see `Master.rewind`."""
        super().rewind(rounds)
        # The coefficients are the sums of the remaining steps. The training ends here, so that the
        # scores, the weights and the penalty are no longer needed.
        self.W[:] = 0.0
        for stump, step in zip(self.stumps, self.votes, strict=True):
            self.W[self.row_of_stump[stump]] += step

    def _minimisers(self, W, edges):
        """Return w' for each row w of W: the minimiser of the bound, given the edges -g.

        With the curvature c, completing the square makes the bound
        ``c / 2 * |w' - (w - g / c)|**2 + nu * norm(w')`` plus a constant. Divided by c, this is the
        function that `prox` minimises.

        Parameters
        ----------
        W, edges : ndarray of shape (n_rows, n_classes)

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
        """
        return self.norm.prox(W + edges / _CURVATURE, self.params.nu / _CURVATURE)

    def _best_row(self, edges, error_bound):
        """Return the row with the largest decrease of the bound; ties go to the first row.

        Parameters
        ----------
        edges : ndarray of shape (n_stumps + 1, n_classes)
            Edges of the stumps that already occurred, and of the best new stump in the last row.
            Overwritten.
        error_bound : ndarray of shape (n_classes,)
            Upper bound on the error of the edges of each class, in all rows but the last. Where
            errors matter, the edges are evaluated again in double precision.

        Returns
        -------
        int
        """
        decreases, steps = self._decreases(self.W[: len(edges)], edges)
        # 1) Bound the error of each decrease: errors r of the edges change it by at most
        # |step| |r| + |r|^2 / c, with the curvature c. The decrease is a maximum of linear
        # functions of the edges, and its derivatives are the step; the prox has the Lipschitz
        # constant 1, so that errors r change the step by |r| / c at most.
        errors = np.abs(steps) @ error_bound + error_bound @ error_bound / _CURVATURE
        errors[-1] = 0.0
        # 2) Find the rows that may have the largest decrease.
        lowest_tied = (decreases - errors).max() - TIE_TOLERANCE * decreases.max()
        candidates = np.flatnonzero(decreases + errors >= lowest_tied)
        if len(candidates) == 1:
            return int(candidates[0])
        # 3) Compare them in double precision, which the last row already has.
        inexact_rows = candidates[candidates < len(edges) - 1]
        edges[inexact_rows] = self.search.exact_edges_all_columns(
            self.weights, self.search_positions[inexact_rows]
        )
        decreases, _ = self._decreases(self.W[candidates], edges[candidates])
        return int(candidates[argmax_with_tolerance(decreases, decreases.max())])

    def _decreases(self, W, edges):
        """Return the decrease of the bound at its minimum for each row, and the steps w' - w.

        Parameters
        ----------
        W, edges : ndarray of shape (n_rows, n_classes)
            Coefficients w, and edges -g.

        Returns
        -------
        decreases : ndarray of shape (n_rows,)
        steps : ndarray of shape (n_rows, n_classes)
        """
        minimisers = self._minimisers(W, edges)
        steps = minimisers - W
        loss_decreases = (steps * (edges - _CURVATURE / 2 * steps)).sum(axis=1)
        norm_increases = self.norm.evaluate(minimisers) - self.norm.evaluate(W)
        return loss_decreases - self.params.nu * norm_increases, steps

    def _update_weights(self):
        """Set the weights for the current scores, and return the mean loss."""
        # The shift by the largest score avoids an overflow, and changes neither the class
        # probabilities nor the loss.
        shifted = self.scores - self.scores.max(axis=0)
        exponentials = np.exp(shifted)
        totals = exponentials.sum(axis=0)
        self.weights = self.apply_sample_weight(
            (self.is_own_class - exponentials / totals).T / len(totals)
        )
        losses = np.log(totals) - shifted.take(self.own_class_flat_index)
        return np.average(losses, weights=self.sample_weight)
