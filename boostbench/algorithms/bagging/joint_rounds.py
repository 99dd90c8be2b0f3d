"""Joint rounds of a bag: all members take a Newton step at once, each in drawn regions.

A *region* is a set of samples that a member draws: the samples where a stump is +1, or a quadrant
of two features. The samples are divided into blocks (`SampleBlock`), each small enough to stay in
the cache during a step of a round, and the blocks into groups that threads share. Subclasses of
`JointBoostingMaster` train stumps (`boostbench.algorithms.bagging.stump_rounds`) and then tables of
pairs of features (`boostbench.algorithms.bagging.interactions`).

A *slope* in this module is minus the derivative of the loss, so that a step in its direction lowers
the loss. A *step* is the change of a score on one side of a region.
"""

import copy
from abc import abstractmethod
from typing import NamedTuple

import numpy as np

from boostbench.algorithms.base.master import Master
from boostbench.algorithms.base.observers import MIN_DECREASE

# Added to the curvature inside and outside a region, so that a side with few samples takes a short
# step. The value is XGBoost's default (`reg_lambda`). It shortens steps and does not change the
# minimum.
DAMPING = 1.0

# Maximum number of groups of blocks. The derivatives of a group are added up in single precision,
# and the sums of groups in double precision. Each thread takes whole groups. The groups do not
# depend on the number of threads, so the rounding errors, and thus the model, do not either.
_MAX_GROUPS = 32

# Minimum number of samples of a group, if there are several: with fewer, adding up the sums of
# groups takes a noticeable part of a round.
_MIN_GROUP_SAMPLES = 8192


class SampleBlock:
    """Samples of a bag in training, with their scores by each member.

    Parameters
    ----------
    regions : boostbench.algorithms.bagging.block_regions.BlockRegions
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
            Drawn regions; see `JointBoostingMaster.draw_regions`.
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
            Drawn regions; see `JointBoostingMaster.draw_regions`.
        *addends : ndarray, dtype=float32
            Addends of the regions; see `JointBoostingMaster._block_addends`.

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


class RegionSteps(NamedTuple):
    """Steps on the two sides of drawn regions, and their effects on the loss.

    Attributes
    ----------
    steps : ndarray of shape (2, n_members, n_scores, n_regions)
        Change of the scores outside (index 0) and inside (index 1) each region.
    step_slopes : ndarray of shape (n_members, n_regions)
        Slope of the loss along the two steps: the sum of slope times step over sides and scores.
    doubled_decreases : ndarray of shape (n_members, n_regions)
        Twice the decrease of the quadratic model of the loss. A step s lowers it by
        ``slope s - (curvature + DAMPING) s^2 / 2``. For a Newton step, twice the decrease is
        ``slope s``, so that it differs from `step_slopes` only where a constraint changes a step.
    """

    steps: np.ndarray
    step_slopes: np.ndarray
    doubled_decreases: np.ndarray


class Proposal(NamedTuple):
    """Result of `JointBoostingMaster.generate`, the argument of `correct`.

    Attributes
    ----------
    draws : ndarray
        Result of `JointBoostingMaster.draw_regions`.
    steps : ndarray of shape (2, n_members, n_scores, n_regions)
        Steps outside and inside the regions, multiplied by the relative gain of each region.
    slope : ndarray of shape (n_members,)
        Slope of a member's loss along the sum of its steps.
    """

    draws: np.ndarray
    steps: np.ndarray
    slope: np.ndarray


class JointBoostingMaster(Master):
    """Joint training of the members of a bag with a step inside and a step outside each region.

    In a round, each member draws regions, takes a Newton step inside and outside each of them, and
    multiplies both steps by the gain of the region relative to its largest gain. The sum of all
    steps is then scaled by a Newton step along it, times `eta`.

    A subclass defines the regions. A round calls its methods in this order:

    1. `generate` calls `draw_regions`, `_region_sums` and `_region_steps`.
    2. `correct` calls `_block_addends` and `_add_votes`, and `cell_addends` if there are validation
       samples.

    Parameters
    ----------
    params : JointlyBaggedStumps
        Estimator in training.
    loss : object
        Loss of `boostbench.algorithms.bagging.joint_losses`, such as `LogisticLoss`.
    random_state : RandomState
        Source of the draws.
    threads : boostbench.algorithms.bagging.jointly_bagged_stumps.Threads
    block_rows, blocks
        See the attributes.
    votes : ndarray of shape (..., n_scores)
        Zeros.
    intercepts : ndarray of shape (n_scores, n_members)
        Constant of the scores of each member.

    Attributes
    ----------
    block_rows : list of ndarray of int64
        Indices of the samples of each block.
    blocks : list of SampleBlock
    losses : list of float
        Out-of-bag loss after each round: the score of a sample is the mean over the members whose
        bag does not contain it. With `validation`, the loss of its samples.
    best_round : int
        Last round that decreased the loss; 0 if the initial scores are best.
    votes : ndarray of shape (..., n_scores)
        Vote of each region, averaged over the members.
    intercept : ndarray of shape (n_scores,)
        Constant of the scores, averaged over the members.
    member_intercepts : ndarray of shape (n_members, n_scores)
        Part of `intercept` from each member, whose constant it is, divided by the number of
        members.
    best_model : tuple
        `votes` and `intercept` after the best round.
    validation : ValidationSamples or None
        Samples that `losses` are computed from, in place of the out-of-bag scores.
    best_member_intercepts : ndarray of shape (n_members, n_scores)
        `member_intercepts` after the best round.
    is_available : ndarray of shape (n_members, n_regions), dtype=bool, or True
        True where a member may use a region; a single True: all regions.
    has_constraints : bool
        True if the signs of votes are constrained; see `JointStumpMaster`.
    """

    is_available = True
    has_constraints = False

    def __init__(self, params, loss, random_state, threads, block_rows, blocks, votes, intercepts):
        super().__init__(params, search=None)
        self.loss, self.random_state, self.threads = loss, random_state, threads
        self.validation = None
        # 1) Start from the constant scores.
        self.block_rows, self.blocks = block_rows, blocks
        self.votes, self.intercept = votes, intercepts.mean(axis=1)
        self.member_intercepts = intercepts.T / intercepts.shape[1]
        # 2) Divide the blocks into groups, which the threads share.
        group_size = -(-len(blocks) // count_groups(sum(map(len, block_rows))))
        self._groups = [
            blocks[start : start + group_size] for start in range(0, len(blocks), group_size)
        ]
        # 3) Compute the loss of the constant scores, which the first round must lower.
        self._out_of_bag_weight = sum(block.out_of_bag_weights.sum() for block in blocks)
        self.losses, self._min_loss = [], np.inf
        self._track_best(self._stopping_loss(self._sum_over_blocks(SampleBlock.out_of_bag_loss)))

    def set_validation(self, validation):
        """Compute `losses` from validation samples from now on; called before the first round."""
        self.validation, self._min_loss = validation, np.inf
        self._track_best(validation.mean_loss(self.cell_addends(), self.intercept))

    @property
    def scores(self):
        """Scores of all samples by each member: (n_samples, n_members, n_scores), float32."""
        scores = np.concatenate([block.scores for block in self.blocks], axis=1)
        return self.restore_sample_order(scores.transpose(1, 2, 0))

    def restore_sample_order(self, values):
        """Return values of the samples of all blocks, in the order of the training data."""
        ordered = np.empty_like(values)
        ordered[np.concatenate(self.block_rows)] = values
        return ordered

    @abstractmethod
    def draw_regions(self):
        """Draw regions for each member.

        Returns
        -------
        draws : ndarray
            Argument of the blocks and of the other methods.
        """

    @abstractmethod
    def _region_sums(self, draws, *block_sums):
        """Return the sums of derivatives over all samples and over the samples in each region.

        Parameters
        ----------
        draws : ndarray
            Result of `draw_regions`.
        *block_sums : ndarray, dtype=float64
            Arrays of `BlockRegions.add_derivative_sums`, summed over all blocks.

        Returns
        -------
        total : ndarray of shape (2 * n_scores, n_members)
            Sums over all samples: first the slopes of all scores, then the curvatures.
        inside : ndarray of shape (n_members, 2 * n_scores, n_regions)
            Sums over the samples in each region.
        """

    def _region_steps(self, draws, slopes, curvatures):
        """Return a Newton step on each side of each region; a subclass may bound the steps.

        Parameters
        ----------
        draws : ndarray
            Result of `draw_regions`.
        slopes, curvatures : ndarray of shape (2, n_members, n_scores, n_regions)
            Minus the first derivative of the loss, and the second, outside and inside each region.

        Returns
        -------
        RegionSteps
        """
        steps = slopes / (curvatures + DAMPING)
        step_slopes = (slopes * steps).sum(axis=(0, 2))
        return RegionSteps(steps, step_slopes, doubled_decreases=step_slopes)

    @abstractmethod
    def _block_addends(self, draws, step_differences):
        """Return the addends of regions for the blocks.

        Parameters
        ----------
        draws : ndarray
            Result of `draw_regions`.
        step_differences : ndarray of shape (n_members, n_scores, n_regions)
            Step inside a region minus the step outside.

        Returns
        -------
        tuple of ndarray, dtype=float32
            Arguments `addends` of `BlockRegions.score_changes`.
        """

    @abstractmethod
    def _add_votes(self, draws, additions):
        """Add to the votes of the drawn regions.

        Parameters
        ----------
        draws : ndarray
            Result of `draw_regions`.
        additions : ndarray of shape (n_members, n_scores, n_regions)
        """

    @abstractmethod
    def cell_addends(self):
        """Return the addend of the scores in each cell, for `ValidationSamples`.

        A cell is a bin of a feature or a cell of a pair's table. All cells are numbered through.

        Returns
        -------
        ndarray of shape (n_cells, n_scores)
        """

    def generate(self):
        """Draw regions and compute their steps.

        Returns
        -------
        Proposal or None
            None if no region has a positive gain.
        """
        # 1) Draw regions, and add up the derivatives on both sides of each.
        draws = self.draw_regions()
        total, inside = self._region_sums(draws, *self._derivative_sums(draws))
        n_members, n_sums, n_regions = inside.shape
        # Axes (member, kind, score, region); kind 0 are slopes, and kind 1 curvatures.
        inside = inside.reshape(n_members, 2, n_sums // 2, n_regions)
        # Axes (member, kind, score).
        total = total.T.reshape(n_members, 2, n_sums // 2)
        outside = total[..., None] - inside
        # Axes (side, member, score, region); side 0 is outside a region, and side 1 inside.
        slopes = np.stack([outside[:, 0], inside[:, 0]])
        curvatures = np.stack([outside[:, 1], inside[:, 1]])
        # 2) Take a step on each side.
        steps, step_slopes, doubled_decreases = self._region_steps(draws, slopes, curvatures)
        # 3) The gain of a region is its decrease of the loss beyond the decrease by a constant
        #    step, which is equal on both sides. All are doubled. Axes (member, region).
        total_slope, total_curvature = total[:, 0], total[:, 1]
        constant_decreases = total_slope**2 / (total_curvature + DAMPING)
        gain = doubled_decreases - constant_decreases.sum(axis=1, keepdims=True)
        gain = np.where(self.is_available, gain.clip(0.0), 0.0)
        if not gain.any() and not self.has_constraints:
            # The training ends, as all regions are without a gain. With constraints it goes on,
            # since other draws may have a gain.
            return None
        relative_gain = gain / np.maximum(gain.max(axis=1, keepdims=True), np.finfo(float).tiny)
        slope = (step_slopes * relative_gain).sum(axis=1)
        return Proposal(draws, steps * relative_gain[:, None], slope)

    def correct(self, proposal):
        """Scale the steps of a proposal, and add them to the scores and to the model.

        Parameters
        ----------
        proposal : Proposal
            Result of `generate`.

        Returns
        -------
        bool
            False if the loss did not decrease for `patience` rounds.
        """
        # 1) Propose a change of the scores to the blocks. A sample gets the steps outside all
        #    regions, a constant of shape (n_scores, n_members), and the difference for each region
        #    that contains it.
        draws, (steps_outside, steps_inside), slope = proposal
        constant = steps_outside.sum(axis=2).T.astype(np.float32)
        step_differences = steps_inside - steps_outside
        addends = self._block_addends(draws, step_differences)
        curvature = self._sum_over_blocks(
            lambda block: block.propose_step(constant, draws, *addends)
        )
        # 2) Change the scores by a Newton step along the sum of the steps. The step sizes, a factor
        #    for each member, have the shape (n_members,).
        step_size = self.params.eta * slope / np.maximum(curvature, np.finfo(np.float32).tiny)
        if self.has_constraints:
            # A longer step could give a vote the wrong sign.
            step_size = np.minimum(step_size, 1.0)
        step_sizes = np.tile(step_size.astype(np.float32), (max(map(len, self.block_rows)), 1))
        out_of_bag_loss = self._sum_over_blocks(lambda block: block.apply_step(step_sizes))
        # 3) Add the steps to the model, the mean of the members. A region has the outputs -1
        #    outside and +1 inside, so its vote is half the difference of its two steps, and half
        #    their sum goes to the intercept.
        half_step = step_size[:, None, None] / (2 * len(step_size))
        constants = (steps_inside + steps_outside) * half_step
        self.intercept += constants.sum(axis=(0, 2))
        self.member_intercepts += constants.sum(axis=2)
        self._add_votes(draws, step_differences * half_step)
        # 4) Record the loss.
        if self.validation is None:
            loss = self._stopping_loss(out_of_bag_loss)
        else:
            loss = self.validation.mean_loss(self.cell_addends(), self.intercept)
        self.losses.append(loss)
        self._track_best(loss)
        return len(self.losses) < self.best_round + self.params.patience

    def _derivative_sums(self, draws):
        """Return the arrays of `zero_sums` of the blocks, summed over all blocks, as float64."""

        def group_sums(blocks):
            sums = blocks[0].zero_sums()
            for block in blocks:
                block.add_derivative_sums(draws, sums)
            return sums

        sums_by_group = self.threads.map(group_sums, self._groups)
        return [_sum_arrays(arrays) for arrays in zip(*sums_by_group, strict=True)]

    def _sum_over_blocks(self, function):
        """Return the sum of a function over the blocks, in double precision.

        Parameters
        ----------
        function : callable
            Takes a block and returns an array or a float.

        Returns
        -------
        ndarray
        """

        def group_sum(blocks):
            return _sum_arrays(function(block) for block in blocks)

        return _sum_arrays(self.threads.map(group_sum, self._groups))

    def _stopping_loss(self, loss_sum):
        """Return the loss that early stopping monitors, given the sum of the out-of-bag losses."""
        return self.loss.stopping_loss(float(loss_sum) / self._out_of_bag_weight)

    def _track_best(self, loss):
        """Store the votes if the loss decreased, and return True if it did."""
        has_fallen = loss < self._min_loss - MIN_DECREASE
        if has_fallen:
            self._min_loss, self.best_round = loss, len(self.losses)
            self.best_model = self.votes.copy(), self.intercept.copy()
            self.best_member_intercepts = self.member_intercepts.copy()
        return has_fallen


def count_groups(n_samples):
    """Return the number of groups of blocks, which is even, so that two threads have equal work."""
    return min(_MAX_GROUPS, 2 * max(1, n_samples // (2 * _MIN_GROUP_SAMPLES)))


def _sum_arrays(arrays):
    """Return the elementwise sum of arrays of one shape, or of floats, in double precision."""
    arrays = iter(arrays)
    total = np.array(next(arrays), dtype=float)
    for array in arrays:
        total += array
    return total
