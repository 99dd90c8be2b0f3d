"""Blocks of samples in the joint training of a bag.

A block is small enough to stay in the cache during a step of a round. In each round the members
draw *regions*: the samples above a threshold
(`boostbench.algorithms.bagging.bag_stumps.BlockStumps`) or quadrants of pairs of features
(`boostbench.algorithms.bagging.interactions.BlockQuadrants`).
"""

import copy

import numpy as np
from scipy import sparse


class ValidationSamples:
    """Samples that decide when the training ends, in place of the samples out of the bags.

    The scores are computed from the mean of the members, and not for each member.

    Parameters
    ----------
    cells : ndarray of shape (n_samples, n_tables), dtype=int64
        Cell of each sample in each table of the model; cells are numbered through all tables.
    n_cells : int
        Number of cells of all tables.
    target : ndarray of shape (n_samples,)
        Target in the units of the training.
    weights : ndarray of shape (n_samples,)
        Nonnegative sample weights.
    loss : object
        Loss of `boostbench.algorithms.bagging.joint_losses`, such as `LogisticLoss`.
    base_scores : ndarray of shape (n_samples, n_scores) or float, default=0.0
        Scores that the scores of the tables are added to.
    """

    def __init__(self, cells, n_cells, target, weights, loss, base_scores=0.0):
        n_samples, n_tables = cells.shape
        ends = np.arange(n_samples + 1) * n_tables
        self._is_in_cell = sparse.csr_array(
            (np.ones(cells.size), cells.ravel(), ends), (n_samples, n_cells)
        )
        self.target, self.weights = target, weights
        self._loss, self._base_scores = loss, base_scores

    def scores(self, tables, intercept):
        """Return the scores of the samples.

        Parameters
        ----------
        tables : ndarray of shape (n_cells, n_scores)
        intercept : ndarray of shape (n_scores,)

        Returns
        -------
        ndarray of shape (n_samples, n_scores)
        """
        return self._is_in_cell @ tables + intercept + self._base_scores

    def mean_loss(self, tables, intercept):
        """Return the loss that early stopping monitors; see `scores`."""
        scores = self.scores(tables, intercept)
        scores = scores[:, 0] if scores.shape[1] == 1 else scores
        losses = self._loss.sample_losses(scores, self.target)
        return self._loss.stopping_loss(float(np.average(losses, weights=self.weights)))


class SampleBlock:
    """Samples of a bag in training, with their scores by each member.

    Parameters
    ----------
    regions : BlockStumps or BlockQuadrants
        Regions on the samples of the block.
    target : ndarray of shape (n_samples,)
        Ascending labels, or the numbers to predict.
    weights : ndarray of shape (n_samples,)
        Positive sample weights.
    is_out_of_bag : ndarray of shape (n_samples, n_members), dtype=bool
        True where a sample is out of a member's bag.
    initial_scores : ndarray of shape (n_scores, n_members)
        Scores of all samples before the first round. Two classes have one score, the score of the
        second class minus the score of the first.
    loss : object
        Loss of `boostbench.algorithms.bagging.joint_losses`, such as `LogisticLoss`.

    Attributes
    ----------
    scores : ndarray of shape (n_scores, n_samples, n_members), dtype=float32
        Scores of the samples by each member.
    out_of_bag_weights : ndarray of shape (n_samples,)
        Sample weights; 0 for samples that are in every bag.
    """

    def __init__(self, regions, target, weights, is_out_of_bag, initial_scores, loss):
        self.regions = regions
        self.scores = np.repeat(initial_scores[:, None].astype(np.float32), len(target), axis=1)
        # Curvatures are kept from `add_derivative_sums` to `propose_step`, and the proposed change
        # of the scores from `propose_step` to `apply_step`.
        self._curvatures = self._change = None
        self._target, self._loss = target, loss
        in_bag_weights = np.where(
            is_out_of_bag, np.float32(0.0), weights[:, None].astype(np.float32)
        )
        self._block_loss = loss.block_loss(target, in_bag_weights)
        n_out_of_bag = is_out_of_bag.sum(axis=1, keepdims=True)
        # Factor of each member's score in the out-of-bag mean of a sample.
        self._out_of_bag_shares = (is_out_of_bag / np.maximum(1, n_out_of_bag)).astype(np.float32)
        self.out_of_bag_weights = np.where(n_out_of_bag[:, 0] > 0, weights, 0.0)

    def replace_regions(self, regions, scores):
        """Return a block of the same samples with other regions and scores."""
        block = copy.copy(self)
        block.regions, block.scores = regions, scores.copy()
        return block

    def zero_sums(self):
        """Return arrays of zeros that `add_derivative_sums` adds to."""
        n_scores, _, n_members = self.scores.shape
        return self.regions.zero_sums(2 * n_scores, n_members)

    def add_derivative_sums(self, draws, sums):
        """Add the sums of the slopes and curvatures of the loss to arrays.

        Parameters
        ----------
        draws : ndarray
            Drawn regions, in the form that `regions` takes.
        sums : tuple of ndarray, dtype=float32
            From `zero_sums`. Overwritten.
        """
        slopes, self._curvatures = self._block_loss.derivatives(self.scores)
        self.regions.add_derivative_sums([*slopes, *self._curvatures], draws, sums)

    def propose_step(self, constant, draws, *addends):
        """Prepare a change of the scores, and return the second derivative of the loss along it.

        Parameters
        ----------
        constant : ndarray of shape (n_scores, n_members), dtype=float32
            Addend of all samples.
        draws : ndarray
            Drawn regions, in the form that `regions` takes.
        *addends : ndarray, dtype=float32
            Addends of the regions, in the form that `regions` takes.

        Returns
        -------
        ndarray of shape (n_members,), dtype=float32
            Second derivative at the scores of the last call of `add_derivative_sums`.
        """
        self._change = self.regions.score_changes(constant, draws, *addends)
        curvature = self._block_loss.curvature_along(self._change, self._curvatures)
        self._curvatures = None
        return curvature

    def apply_step(self, step_size):
        """Change the scores by the proposed step, and return the out-of-bag loss.

        Parameters
        ----------
        step_size : ndarray of shape (n_rows, n_members), dtype=float32
            Factor of the proposed change, repeated in at least `n_samples` rows: NumPy multiplies
            arrays of equal shape faster than it broadcasts a short row.

        Returns
        -------
        float
            Weighted sum of the losses of the samples at their out-of-bag scores.
        """
        self._change *= step_size[: self._change.shape[1]]
        self.scores += self._change
        self._change = None
        return self.out_of_bag_loss()

    def out_of_bag_loss(self):
        """Return the weighted sum of the losses of the samples at their out-of-bag scores."""
        scores = self.out_of_bag_scores(self.scores)
        losses = self._loss.sample_losses(scores[0] if len(scores) == 1 else scores.T, self._target)
        return float(losses @ self.out_of_bag_weights)

    def out_of_bag_scores(self, scores):
        """Return the mean score of each sample over the members whose bag does not contain it.

        Parameters
        ----------
        scores : ndarray of shape (n_scores, n_samples, n_members), dtype=float32

        Returns
        -------
        ndarray of shape (n_scores, n_samples), dtype=float32
            0 for samples that are in every bag.
        """
        return (scores * self._out_of_bag_shares) @ np.ones(scores.shape[2], np.float32)
