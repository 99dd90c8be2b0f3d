"""Joint training of a bag of stumps, followed by the training of its interactions.

`boostbench.algorithms.bagging.jointly_bagged_stumps` makes a `JointStumpMaster` for each fit. A
*view* is a numeric column derived from a feature, which a stump tests
(`boostbench.core.stumps.views`). The stumps of a view are a *group*; in each round, each member
draws one stump of each group.
"""

import numpy as np

from boostbench.algorithms.bagging.bag_stumps import make_bag_stumps
from boostbench.algorithms.bagging.interactions import (
    InteractionMaster,
    move_main_effects_to_stumps,
    select_pairs,
)
from boostbench.algorithms.bagging.joint_losses import ValidationSamples
from boostbench.algorithms.bagging.joint_rounds import (
    DAMPING,
    JointBoostingMaster,
    RegionSteps,
    SampleBlock,
    count_groups,
)
from boostbench.algorithms.explanation.stump_sums import StumpSum
from boostbench.core.stumps.stump import Stumps

# Number of floats of a block's arrays, which have an entry for each sample, member, and group or
# score. With 4 bytes each they fill 2 MB, the size of a common second-level cache.
_BLOCK_SIZE = 2**19

# Minimum number of samples of a block; with fewer samples the calls cost more than the sums. A
# block also has at least as many samples as the histograms have rows, because it adds up a sum for
# each.
_MIN_BLOCK_SAMPLES = 128


class JointStumpMaster(JointBoostingMaster):
    """Joint training of the members of a bag on the stumps that they draw.

    Parameters
    ----------
    params, loss, random_state, threads
        See `JointBoostingMaster`.
    X : ndarray of shape (n_samples, n_views) or ViewedFeatures
        Training data as views.
    codes : boostbench.core.stumps.feature_codes.FeatureCodes
        Stumps on X.
    is_out_of_bag : ndarray of shape (n_members, n_samples), dtype=bool
        True where a sample is out of a member's bag.
    weights : ndarray of shape (n_samples,)
        Positive sample weights.
    signs : ndarray of shape (n_views,), dtype=int64
        Required sign of the nonzero votes of the stumps on each view; 0: no constraint.
    interactions : int or list of (int, int), default=0
        Maximum number of pairs of features that get a table, or the pairs.

    Attributes
    ----------
    votes : ndarray of shape (n_stumps, n_scores)
        Coefficient of each stump, averaged over the members.
    best_scores : list of ndarray
        Scores of each block after the best round; only set if interactions are trained.
    X_val : ndarray of shape (n_validation_samples, n_features)
        Samples of `set_validation_data`; only set if it was called.
    """

    def __init__(
        self,
        params,
        X,
        codes,
        loss,
        is_out_of_bag,
        weights,
        random_state,
        signs,
        threads,
        interactions=0,
    ):
        # 1) Find the stumps that each member may draw, and the constraints of their votes.
        self.X, self.codes, self.weights = X, codes, weights
        initial_scores = loss.initial_scores(weights, ~is_out_of_bag)
        self._stumps = bag_stumps = make_bag_stumps(codes, len(initial_scores))
        self._first_admissible, self._n_admissible = bag_stumps.admissible_ranges(is_out_of_bag)
        self.is_available = self._n_admissible > 0
        self._interactions = None
        self.signs, self.interactions = signs, interactions
        self._stump_signs = signs[codes.view_of_stump]
        self._constrained_groups = np.flatnonzero(signs[bag_stumps.view])
        self.has_constraints = len(self._constrained_groups) > 0
        # Vote of each member for each stump and score, divided by the number of members. The
        # columns are numbered ``stump * n_scores + score``.
        n_votes = len(codes.view_of_stump) * len(initial_scores)
        self._member_votes = np.zeros((len(is_out_of_bag), n_votes))
        # Columns and addends of the member votes since the best round, to undo these rounds.
        self._late_additions = []
        # 2) Divide the samples into blocks, in the order of their strata, so that a class is a
        #    slice of a block. All groups of blocks have the same number of blocks.
        n_members, n_samples = is_out_of_bag.shape
        # A sample has, for each member, a number per compared group; or, if this is more, a score,
        # slope, curvature and change for each of its scores.
        width = n_members * max(bag_stumps.n_compared, 4 * len(initial_scores))
        min_samples = max(_MIN_BLOCK_SAMPLES, bag_stumps.n_summed_bins)
        n_blocks = -(-n_samples // max(min_samples, _BLOCK_SIZE // width))
        if n_blocks > 1:
            n_groups = count_groups(n_samples)
            n_blocks = n_groups * -(-n_blocks // n_groups)
        rows = np.array_split(np.argsort(loss.strata, kind="stable"), n_blocks)

        def make_block(block_rows):
            return SampleBlock(
                regions=bag_stumps.block_stumps(block_rows),
                target=loss.target[block_rows],
                weights=weights[block_rows],
                is_out_of_bag=is_out_of_bag.T[block_rows],
                initial_scores=initial_scores,
                loss=loss,
            )

        blocks = threads.map(make_block, rows)
        # 3) Start from the constant scores. The base class stores them as the best state, for which
        #    `_track_best` needs the attributes above.
        super().__init__(
            params,
            loss,
            random_state,
            threads,
            block_rows=rows,
            blocks=blocks,
            votes=np.zeros((len(codes.view_of_stump), len(initial_scores))),
            intercepts=initial_scores,
        )

    def generate(self):
        """Return drawn stumps and steps, or None if no feature varies."""
        return super().generate() if len(self._stumps.view) else None

    def draw_regions(self):
        """Draw a stump of each group for each member.

        Returns
        -------
        ndarray of shape (n_members, n_groups), dtype=int64
            Index of the drawn stump within its group.
        """
        uniforms = self.random_state.random_sample(self._n_admissible.shape[::-1]).T
        return self._first_admissible + (uniforms * self._n_admissible).astype(int)

    def _region_sums(self, draws, *block_sums):
        """Return the sums over all samples and above thresholds; see `BagStumps.sums_above`."""
        return self._stumps.sums_above(draws, *block_sums)

    def _block_addends(self, draws, step_differences):
        """Return the addends of the blocks; see `BagStumps.score_addends`."""
        return self._stumps.score_addends(draws, step_differences)

    def cell_addends(self):
        """Return the sum of the stumps in each bin of each feature: (n_joint_bins, n_scores)."""
        return self.codes.score_table(self.votes)

    def set_validation_data(self, X, target, weights):
        """End the training by the loss of validation samples.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Samples; NaN where a value is missing.
        target : ndarray of shape (n_samples,)
            Class numbers, or the numbers to predict.
        weights : ndarray of shape (n_samples,) or None
            Positive sample weights; None: all are 1.
        """
        cells = self.codes.encode(X, self.params.views_).joint_bins()
        weights = np.ones(len(X)) if weights is None else weights
        target = self.loss.transform_target(target)
        self.X_val = X
        self.set_validation(
            ValidationSamples(
                cells,
                n_cells=self.codes.n_joint_bins,
                target=target,
                weights=weights,
                loss=self.loss,
            )
        )

    def _region_steps(self, draws, slopes, curvatures):
        """Return Newton steps, but no step that would give a constrained vote the wrong sign.

        See `JointBoostingMaster._region_steps`. Such a step sets the vote to 0: the steps on the
        two sides become the best ones that do so. Constraints need a single score.
        """
        newton = super()._region_steps(draws, slopes, curvatures)
        if not self.has_constraints:
            return newton
        # 1) Select the constrained groups. There is one score, so that a vote is stored at the
        #    index of its stump.
        groups, n_members = self._constrained_groups, len(draws)
        drawn_stumps = self._stumps.first_stump[groups] + draws[:, groups]
        votes = np.take_along_axis(self._member_votes, drawn_stumps, axis=1)
        # Axes (side, member, group); side 0 is below the thresholds, and side 1 above.
        group_slopes = slopes[:, :, 0, groups]
        damped_curvatures = curvatures[:, :, 0, groups] + DAMPING
        # 2) Replace the steps that give a vote the wrong sign. The vote changes by half the
        #    difference of the two sides, divided by the number of members. `zeroing` has the steps
        #    with the difference that sets the vote to 0.
        below, above = newton.steps[:, :, 0, groups]
        new_votes = votes + (above - below) / (2 * n_members)
        has_wrong_sign = self._stump_signs[drawn_stumps] * new_votes < 0
        zeroing = _zeroing_steps(group_slopes, damped_curvatures, -2 * n_members * votes)
        group_steps = np.where(has_wrong_sign, zeroing, [below, above])
        # 3) Compute the effects of the steps, which `RegionSteps` defines. `quadratic` is the
        #    doubled decrease 2 slope s - (curvature + DAMPING) s^2, summed over both sides.
        group_step_slopes = (group_slopes * group_steps).sum(axis=0)
        quadratic = 2 * group_step_slopes - (damped_curvatures * group_steps**2).sum(axis=0)
        steps, step_slopes, doubled_decreases = (array.copy() for array in newton)
        steps[:, :, 0, groups] = group_steps
        step_slopes[:, groups] = group_step_slopes
        doubled_decreases[:, groups] = np.where(has_wrong_sign, quadratic, group_step_slopes)
        return RegionSteps(steps, step_slopes, doubled_decreases)

    def _add_votes(self, draws, additions):
        """Add to the votes of the drawn stumps.

        `additions` has the shape (n_members, n_scores, n_groups).
        """
        n_scores = len(self.intercept)
        stumps = (self._stumps.first_stump + draws)[:, None]
        columns = stumps * n_scores + np.arange(n_scores)[:, None]
        votes = np.bincount(columns.ravel(), additions.ravel(), self.votes.size)
        self.votes += votes.reshape(self.votes.shape)
        # A member draws each stump once, so that each of its votes gets one addend.
        addends = columns.reshape(len(draws), -1), additions.reshape(len(draws), -1)
        _add_to_columns(self._member_votes, *addends)
        self._late_additions.append(addends)

    def finish(self):
        """Train the interactions."""
        if self.interactions and not self.clock.is_past(self.params.time_limit):
            with self.clock.phase("pairs"):
                axes, pairs = select_pairs(self)
                if len(pairs):
                    self._interactions = InteractionMaster(self, axes, pairs)
                    self._interactions.train()

    @property
    def n_interaction_rounds(self):
        """Best round of the interactions; 0 if there are none."""
        return 0 if self._interactions is None else self._interactions.best_round

    def model(self):
        """Return the model of the best rounds.

        Returns
        -------
        pairs : list of boostbench.algorithms.bagging.interactions.Pair
        stump_sum : boostbench.algorithms.explanation.stump_sums.StumpSum
        """
        stump_sum = self.build_stump_sum(*self.best_model)
        if not self.n_interaction_rounds:
            return [], stump_sum
        pairs, intercept = self._interactions.best_pairs()
        intercept = stump_sum.intercept + intercept.reshape(stump_sum.intercept.shape)
        stump_sum = stump_sum._replace(intercept=intercept)
        return move_main_effects_to_stumps(
            pairs, stump_sum, views=self.params.views_, X=self.X, weights=self.weights
        )

    def member_deviations(self):
        """Return the members minus their mean in the best rounds.

        Returns
        -------
        pairs, stump_sum
            As from `model`, with the outputs ``n_members * score + member`` in the units of the
            target. Equal stumps and cells are in the same order.
        """
        # 1) Undo the rounds after the best one, and subtract the mean.
        member_votes = self._member_votes.copy()
        for columns, additions in self._late_additions:
            _add_to_columns(member_votes, columns, -additions)
        mean_votes, _ = self.best_model
        member_votes = member_votes.T.reshape(*mean_votes.shape, len(member_votes))
        votes = self._scaled_deviations(member_votes[self._is_used(mean_votes)])
        intercepts = self._scaled_deviations(self.best_member_intercepts.T)
        stump_sum = StumpSum(self._used_stumps(mean_votes), votes, intercepts)
        if not self.n_interaction_rounds:
            return [], stump_sum
        # 2) Move the main effects of each member's tables to its stumps.
        tables, intercepts = self._interactions.member_tables()
        pairs = [
            pair._replace(table=self._scaled_deviations(table))
            for pair, table in zip(self._interactions.best_pairs()[0], tables, strict=True)
        ]
        intercepts = stump_sum.intercept + self._scaled_deviations(intercepts.T)
        stump_sum = stump_sum._replace(intercept=intercepts)
        return move_main_effects_to_stumps(
            pairs, stump_sum, views=self.params.views_, X=self.X, weights=self.weights
        )

    def _scaled_deviations(self, shares):
        """Return the deviations of members from their mean, in the units of the target.

        `shares` has the shape (..., n_scores, n_members). A share is the value of a member divided
        by the number of members, so that the mean of the members is the sum of the shares. The
        result has the last two axes as one, with the members as the inner axis.
        """
        deviations = self.loss.scale * (
            shares.shape[-1] * shares - shares.sum(axis=-1, keepdims=True)
        )
        return deviations.reshape(*shares.shape[:-2], shares.shape[-2] * shares.shape[-1])

    def _track_best(self, loss):
        """Store the state if the loss decreased; see `JointBoostingMaster._track_best`."""
        has_fallen = super()._track_best(loss)
        if has_fallen:
            self._late_additions = []
            if self.interactions:
                self.best_scores = [block.scores.copy() for block in self.blocks]
        return has_fallen

    def build_stump_sum(self, votes, intercept):
        """Return the stumps with given votes as a `StumpSum`, in the units of the target.

        Parameters
        ----------
        votes : ndarray of shape (n_stumps, n_scores)
        intercept : ndarray of shape (n_scores,)

        Returns
        -------
        boostbench.algorithms.explanation.stump_sums.StumpSum
        """
        votes, is_used = self._allowed_votes(votes), self._is_used(votes)
        stumps = self._used_stumps(votes)
        votes, intercept = votes * self.loss.scale, intercept * self.loss.scale + self.loss.offset
        if len(intercept) == 1:
            return StumpSum(stumps, votes[is_used, 0], intercept[0])
        return StumpSum(stumps, votes[is_used], intercept)

    def _allowed_votes(self, votes):
        """Set votes of the wrong sign, which are rounding errors of the mean, to 0."""
        has_wrong_sign = self._stump_signs[:, None] * votes < 0
        return np.where(has_wrong_sign, 0.0, votes)

    def _is_used(self, votes):
        """Return True for stumps whose votes are not 0."""
        return self._allowed_votes(votes).any(axis=1)

    def _used_stumps(self, votes):
        """Return the stumps whose votes are not 0."""
        is_used = self._is_used(votes)
        return Stumps.positive(
            self.codes.view_of_stump[is_used], self.codes.threshold_of_stump[is_used]
        )


def _zeroing_steps(slopes, damped_curvatures, difference):
    """Return the best steps on both sides of a threshold with a given difference.

    The steps s below and s + difference above maximise the sum of
    ``slope step - damped_curvature step^2 / 2`` over both sides. Its derivative in s is 0 at the
    result.

    Parameters
    ----------
    slopes, damped_curvatures : ndarray of shape (2, n_members, n_groups)
        Values below and above the thresholds.
    difference : ndarray of shape (n_members, n_groups)
        Step above a threshold minus the step below.

    Returns
    -------
    ndarray of shape (2, n_members, n_groups)
    """
    below = (slopes.sum(axis=0) - damped_curvatures[1] * difference) / damped_curvatures.sum(axis=0)
    return np.stack([below, below + difference])


def _add_to_columns(array, columns, addends):
    """Add to one entry per row and column index; the indices in a row are distinct."""
    starts = np.arange(0, array.size, array.shape[1])[:, None]
    array.ravel()[starts + columns] += addends
