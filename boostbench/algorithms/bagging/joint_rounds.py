"""Joint rounds of a bag: all members take a Newton step at once, each in drawn regions.

A *region* is a set of samples: the samples where a drawn stump is +1, or a quadrant of two
features. The samples are divided into blocks (`SampleBlock`), each small enough to stay in the
cache during a step of a round, and the blocks into groups that threads share. Subclasses of
`JointBoostingMaster` train stumps (`boostbench.algorithms.bagging.stump_rounds`) and then tables of
pairs of features (`boostbench.algorithms.bagging.interactions`).

A *slope* in this module is minus the derivative of the loss, so that a step in its direction lowers
the loss. A *step* is the change of a score on one side of a region.
"""

import copy
from abc import abstractmethod

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


class JointBoostingMaster(Master):
    """Joint training of the members of a bag with a step inside and a step outside each region.

    In a round, each member draws regions, takes a Newton step inside and outside each of them, and
    multiplies both steps by the gain of the region relative to its largest gain. The sum of all
    steps is then scaled by a Newton step along it, times `eta`.

    A subclass calls `_initialise` at the end of its `__init__`. It draws regions with
    `draw_regions` and adds them to its votes with `_add_votes`. Three hooks convert between the
    regions of a round and the arguments of its blocks. As defined here, they suit the quadrants of
    `InteractionMaster`. `JointStumpMaster` overrides them, because the sums of some stumps are read
    from histograms:

    =============== ============================= ========================================
    hook            argument                      result for stumps
    =============== ============================= ========================================
    _block_draws    draws of all regions          draws of the groups that are compared
    _region_sums    total, sums, histograms       total, sums above the drawn thresholds
    _block_addends  addend inside minus outside   addends of compared groups, and of bins
    =============== ============================= ========================================

    Parameters
    ----------
    params : JointlyBaggedStumps
        Estimator in training.
    loss : object
        Loss of `boostbench.algorithms.bagging.joint_losses`, such as `LogisticLoss`.
    random_state : RandomState
        Source of the draws.
    threads : boostbench.algorithms.bagging.jointly_bagged_stumps.Threads

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
    is_available : ndarray of shape (n_members, n_regions) or True
        True where a member may use a region.
    has_constraints : bool
        True if the signs of votes are constrained; see `_apply_constraints`.
    """

    is_available = True
    has_constraints = False

    def __init__(self, params, loss, random_state, threads):
        super().__init__(params, search=None)
        self.loss, self.random_state, self.threads = loss, random_state, threads
        self.validation = None

    def _initialise(self, block_rows, blocks, votes, intercepts):
        """Set the state before the first round.

        Parameters
        ----------
        block_rows, blocks
            See the attributes.
        votes : ndarray of shape (..., n_scores)
            Zeros.
        intercepts : ndarray of shape (n_scores, n_members)
            Constant of the scores of each member.
        """
        # 1) Start from the constant scores.
        self.block_rows = block_rows
        self.blocks, self.votes = blocks, votes
        self.intercept = intercepts.mean(axis=1)
        self.member_intercepts = intercepts.T / intercepts.shape[1]
        # 2) Divide the blocks into groups, which the threads share.
        group_size = -(-len(blocks) // count_groups(sum(map(len, block_rows))))
        self._groups = [
            blocks[start : start + group_size] for start in range(0, len(blocks), group_size)
        ]
        # 3) Compute the loss of the constant scores, which the first round must lower.
        self._out_of_bag_weight = sum(block.out_of_bag_weights.sum() for block in blocks)
        self.losses, self._min_loss = [], np.inf
        self._track_best(
            self._mean_loss(self._sum_over_blocks(lambda block: (block.out_of_bag_loss(),)))
        )

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
        """Draw regions for each member."""

    @abstractmethod
    def cell_addends(self):
        """Return the addend of the scores in each cell, for `ValidationSamples`.

        A cell is a bin of a feature or a cell of a pair's table. All cells are numbered through.

        Returns
        -------
        ndarray of shape (n_cells, n_scores)
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

    def _apply_constraints(self, draws, slopes, curvatures, steps):
        """Bound the steps that would give a vote the wrong sign; see `JointStumpMaster`."""
        raise NotImplementedError

    def _block_draws(self, draws):
        """Return the drawn regions as the argument `draws` of the blocks."""
        return draws

    def _region_sums(self, draws, total, sums):
        """Return the sums over all samples and in regions, given the sums over all blocks.

        Their shapes are (n_sums, n_members) and (n_members, n_sums, n_regions).
        """
        return total, sums

    def _block_addends(self, draws, difference):
        """Return the addends of regions as arguments of `propose_step`.

        `difference`, of shape (n_members, n_scores, n_regions), is the step inside a region minus
        the step outside.
        """
        return (difference.astype(np.float32),)

    def generate(self):
        """Draw regions and compute their steps: the proposal that `correct` takes.

        Returns
        -------
        draws : ndarray
            Result of `draw_regions`.
        steps : ndarray of shape (2, n_members, n_scores, n_regions)
            Newton steps outside and inside (below and above a threshold), multiplied by the
            relative gain of each region.
        slope : ndarray of shape (n_members,)
            Slope of a member's loss along the sum of its steps.

        The result is None if no region has a positive gain.
        """
        # 1) Draw regions, and add up the derivatives on both sides of each. `above` has the axes
        #    (member, slope or curvature, score, region), `total` the first three.
        draws = self.draw_regions()
        block_draws = self._block_draws(draws)
        total, above = self._region_sums(draws, *self._derivative_sums(block_draws))
        above = above.reshape(len(above), 2, -1, above.shape[-1])
        total = total.T.reshape(above.shape[:-1])
        # Slopes and curvatures have the axes (side, member, score, region).
        sides = np.stack([total[..., None] - above, above])
        slopes, curvatures = sides[:, :, 0], sides[:, :, 1]
        # 2) Take a Newton step on each side, within the constraints. A step s lowers the quadratic
        #    model of the loss by ``slope s - (curvature + DAMPING) s^2 / 2``. Twice the decrease by
        #    a Newton step is ``slope s``, which is also the slope of the loss along the step.
        steps = slopes / (curvatures + DAMPING)
        decreases = slopes_along = (slopes * steps).sum(axis=(0, 2))
        if self.has_constraints:
            decreases, slopes_along = self._apply_constraints(
                draws, slopes[:, :, 0], curvatures[:, :, 0], steps[:, :, 0]
            )
        # 3) The gain of a region is its decrease beyond the decrease by one step for all samples.
        slope, curvature = total[:, 0], total[:, 1]
        gain = decreases - (slope**2 / (curvature + DAMPING)).sum(axis=1, keepdims=True)
        gain = np.where(self.is_available, gain.clip(0.0), 0.0)
        if not gain.any() and not self.has_constraints:
            # The training ends, as all regions are without a gain. With constraints it goes on,
            # since other draws may have a gain.
            return None
        relative_gain = gain / np.maximum(gain.max(axis=1, keepdims=True), np.finfo(float).tiny)
        return draws, steps * relative_gain[:, None], (slopes_along * relative_gain).sum(axis=1)

    def correct(self, proposal):
        """Scale the steps of a proposal, and add them to the scores and to the model.

        Parameters
        ----------
        proposal : tuple
            Result of `generate`.

        Returns
        -------
        bool
            False if the loss did not decrease for `patience` rounds.
        """
        # 1) Find each member's size of a Newton step along the sum of its steps. A sample gets the
        #    steps outside all regions, and the difference for each of its regions.
        draws, (steps_below, steps_above), slope = proposal
        constant = steps_below.sum(axis=2).T.astype(np.float32)
        difference = steps_above - steps_below
        addends = constant, self._block_draws(draws), *self._block_addends(draws, difference)
        (curvature,) = self._sum_over_blocks(lambda block: (block.propose_step(*addends),))
        step_size = self.params.eta * slope / np.maximum(curvature, np.finfo(np.float32).tiny)
        if self.has_constraints:
            # A longer step could give a vote the wrong sign.
            step_size = np.minimum(step_size, 1.0)
        # 2) Change the scores.
        step_sizes = np.tile(step_size.astype(np.float32), (max(map(len, self.block_rows)), 1))
        loss = self._mean_loss(self._sum_over_blocks(lambda block: (block.apply_step(step_sizes),)))
        # 3) Add the steps to the model, the mean of the members. A region has the outputs -1
        #    outside and +1 inside, so its vote is half the difference of its two steps, and their
        #    mean goes to the intercept.
        half_step = step_size[:, None, None] / (2 * len(step_size))
        constants = (steps_above + steps_below) * half_step
        self.intercept += constants.sum(axis=(0, 2))
        self.member_intercepts += constants.sum(axis=2)
        self._add_votes(draws, difference * half_step)
        # 4) Record the loss.
        if self.validation is not None:
            loss = self.validation.mean_loss(self.cell_addends(), self.intercept)
        self.losses.append(loss)
        self._track_best(loss)
        return len(self.losses) < self.best_round + self.params.patience

    def _derivative_sums(self, block_draws):
        """Return the arrays of `zero_sums` of the blocks, summed over all blocks, as float64.

        The first is the sum of the derivatives over all samples; the others are sums by region.
        """

        def group_sums(blocks):
            sums = blocks[0].zero_sums()
            for block in blocks:
                block.add_derivative_sums(block_draws, sums)
            return sums

        return _sum_arrays(self.threads.map(group_sums, self._groups))

    def _sum_over_blocks(self, function):
        """Return the sums of arrays over the blocks, in double precision.

        Parameters
        ----------
        function : callable
            Takes a block and returns a tuple of arrays or floats.

        Returns
        -------
        list of ndarray
        """

        def group_sums(blocks):
            return _sum_arrays(function(block) for block in blocks)

        sums = self.threads.map(group_sums, self._groups)
        return sums[0] if len(sums) == 1 else _sum_arrays(sums)

    def _mean_loss(self, sums):
        """Return the loss that early stopping monitors.

        `sums` is a list of one array: the sum of the out-of-bag losses, from `_sum_over_blocks`.
        """
        return self.loss.stopping_loss(float(sums[0]) / self._out_of_bag_weight)

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


def _sum_arrays(parts):
    """Return the elementwise sums of tuples of arrays or floats, in double precision."""
    parts = iter(parts)
    totals = [np.array(part, dtype=float) for part in next(parts)]
    for part in parts:
        for total, array in zip(totals, part, strict=True):
            np.add(total, array, out=total)
    return totals
