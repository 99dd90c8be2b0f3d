"""AdaBoost.MO: every division of the classes into two sides, in every round."""

from typing import ClassVar

import numpy as np
from scipy import sparse

from boostbench.algorithms.base import ColumnGenerationClassifier, spans
from boostbench.algorithms.stagewise import NO_EDGE, StageWiseStumps, StumpMaster
from boostbench.core.codewords import exhaustive
from boostbench.core.weak.learners import Stumps
from boostbench.core.weak.stumps import Stump, StumpSearch

# The number of codes doubles with every class: 2047 for 12.
_MAX_CLASSES = 12

# Codes of a block of weights, which is updated in the cache.
_BLOCK_CODES = 64

# Stumps that `predict` evaluates at a time.
_BLOCK_STUMPS = 1024


class AdaBoostMO(ColumnGenerationClassifier):
    r"""AdaBoost.MO with stumps, the exhaustive code and one coefficient per round.

    Each of the :math:`J = 2^{k-1} - 1` codes :math:`m_j`, the divisions of the k classes into two
    sides, is a binary problem with the labels :math:`m_{j y_i}`. A round finds a stump
    :math:`h_{tj}` for each and adds :math:`\alpha_t h_{tj}` to each :math:`F_j`, which minimises

    .. math:: \sum_{i,j} \exp(-m_{j y_i} F_j(x_i))

    by :math:`\alpha_t = \frac12 \log \frac{1 + g}{1 - g}` with
    :math:`g = \sum_{i,j} D_{ij} m_{j y_i} h_{tj}(x_i)`. The score of class r is
    :math:`\sum_j m_{jr} F_j(x)`.

    Parameters
    ----------
    n_iterations : int, default=1000
        Boosting rounds at most. Training ends earlier where no stump has an edge, or where all are
        perfect.
    max_bins : int or None, default=None
        None searches all thresholds; an integer that many quantile bins per feature.
    random_state : int, RandomState instance or None, default=None
        Unused: the algorithm is deterministic.

    Attributes
    ----------
    hypotheses_ : boostbench.core.weak.learners.Stumps
        Of shape (n_iterations_, n_codes).
    coefficients_ : ndarray of shape (n_iterations_,)
        :math:`\alpha_t`.
    codes_ : ndarray of shape (n_codes, n_classes)
        m.

    See Also
    --------
    AdaBoostECC : One division of the classes per round.

    Notes
    -----
    There are at most 12 classes: 2047 codes. The scores are linear in the outputs of the stumps, so
    `predict` adds up the votes of equal stumps first, of which there are many.

    References
    ----------
    .. [1] R. E. Schapire and Y. Singer, "Improved boosting algorithms using confidence-rated
       predictions", Machine Learning 37, 1999. It is the baseline "AdaBoost.MO" of papers 1 and 2;
       the scores are those of paper 2, Table VI.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> AdaBoostMO(n_iterations=50).fit(X, y).score(X, y) > 0.95
    True
    """

    _parameter_constraints: ClassVar = StageWiseStumps._parameter_constraints

    def __init__(self, n_iterations=1000, max_bins=None, random_state=None):
        self.n_iterations = n_iterations
        self.max_bins = max_bins
        self.random_state = random_state

    def _check_classes(self):
        super()._check_classes()
        n_classes = len(self.classes_)
        if n_classes > _MAX_CLASSES:
            raise ValueError(
                f"AdaBoostMO learns 2^(k-1) - 1 stumps per round, which are "
                f"{2 ** (n_classes - 1) - 1} for the {n_classes} classes of y: too many to train. "
                f"It takes {_MAX_CLASSES} classes at most; use AdaBoostECC or AdaBoostMH instead."
            )

    def _master(self, X, labels, random_state):
        self.codes_ = exhaustive(len(self.classes_))
        return _MOMaster(StumpSearch(X, self.max_bins), self.codes_.T[labels])

    def _keep(self, master):
        self.hypotheses_ = Stumps(master.stumps)
        self.coefficients_ = np.array(master.votes)
        self.n_parameters_ = len(master.stumps) * (2 * len(self.codes_) + 1)
        positions = np.reshape(master.positions, -1).astype(np.int64)
        distinct, at = np.unique(positions, return_inverse=True)
        votes = (self.coefficients_[:, None] * self.hypotheses_.polarity).ravel()
        # Votes of one stump for one code add up.
        code = np.arange(len(votes)) % len(self.codes_)
        by_code = sparse.csr_array((votes, (at, code)), (len(distinct), len(self.codes_)))
        self._distinct = Stumps([master.search.stump(position) for position in distinct])
        self._votes = by_code @ self.codes_

    def _staged_scores(self, X, stages):
        stages = list(stages)
        scores = np.zeros((len(X), len(self.classes_)))
        if stages == [self.n_iterations_]:
            for start in range(0, len(self._distinct), _BLOCK_STUMPS):
                some = slice(start, start + _BLOCK_STUMPS)
                scores += self._distinct.outputs(X, some) @ self._votes[some]
            yield scores
            return
        for some in spans(stages):
            outputs = self.hypotheses_.outputs(X, some)
            votes = np.einsum("itj,t->ij", outputs, self.coefficients_[some])
            scores = scores + votes @ self.codes_
            yield scores


class _MOMaster(StumpMaster):
    def __init__(self, search, labels):
        # Signed: the label times the weight. In column order, as the features are.
        super().__init__(search, np.asfortranarray(labels / labels.size))
        self.wrong = np.empty_like(self.weights, bool)
        self.positions = []
        starts = range(0, labels.shape[1], _BLOCK_CODES)
        self.blocks = [slice(start, start + _BLOCK_CODES) for start in starts]

    def generate(self):
        if not self.search.n_positions:
            return None
        positions = self.search.best_each(self.weights)
        feature, threshold = self.search.feature[positions], self.search.threshold[positions]
        edges = np.empty(len(positions))
        total = 0.0
        for some in self.blocks:
            weights = self.weights[:, some]
            products = weights * Stump(feature[some], threshold[some])(self.search.X)
            edges[some] = products.sum(axis=0)
            np.not_equal(products < 0, edges[some] < 0, out=self.wrong[:, some])
            total += np.abs(weights).sum()
        edge = np.abs(edges).sum() / total
        if edge <= NO_EDGE:
            return None
        stumps = Stump(feature, threshold, np.where(edges < 0, -1.0, 1.0))
        return positions, stumps, edge, total

    def correct(self, column):
        positions, stumps, edge, total = column
        alpha, imperfect = self.step(edge)
        self.positions.append(positions)
        self.stumps.append(stumps)
        self.votes.append(alpha)
        if imperfect:
            # Weights are brought back to sum 1, which the factors alone lower by sqrt(1 - edge^2).
            right = np.exp(-alpha) / (total * np.sqrt(1 - edge**2))
            surplus = right * np.expm1(2 * alpha)
            for some in self.blocks:
                self.weights[:, some] *= self.wrong[:, some] * surplus + right
        return imperfect
