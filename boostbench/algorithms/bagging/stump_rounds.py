"""The training of a bag of stumps: all members at once, and then the tables of pairs."""

import numpy as np

from boostbench.algorithms.bagging.interaction_rounds import InteractionMaster
from boostbench.algorithms.bagging.interactions import merge_main_effects, select_pairs
from boostbench.algorithms.bagging.joint_rounds import DAMPING, JointBoostingMaster
from boostbench.algorithms.bagging.sample_block import SampleBlock
from boostbench.algorithms.bagging.stump_columns import BagStumps
from boostbench.algorithms.explanation.stump_sums import StumpSum
from boostbench.core.stumps.stump import Stump, Stumps

# Size of a block: numbers of a sample, for each member and column or score. With 4 bytes each, they
# fill half of a second-level cache of 2 MB. A block has no fewer samples than are worth its calls,
# and no fewer than cells, because it adds up as many sums.
_BLOCK_SIZE, _MIN_BLOCK_SAMPLES = 2**19, 128


class JointStumpMaster(JointBoostingMaster):
    """Members in training: their scores, and the stumps of all rounds.

    Parameters
    ----------
    params, loss, random_state, threads
        As in `JointBoostingMaster`.
    X : ndarray of shape (n_samples, n_views) or ViewedFeatures
        Training data, as the views show them.
    table : boostbench.core.stumps.feature_codes.FeatureCodes
        Stumps on X.
    is_out_of_bag : ndarray of shape (n_members, n_samples), dtype=bool
        True where a member does not see a sample.
    weights : ndarray of shape (n_samples,)
        Weights of the samples, positive.
    signs : ndarray of shape (n_views,), dtype=int64
        Sign that the votes of the stumps on each view must have if they are not 0; 0: either.

    Attributes
    ----------
    votes : ndarray of shape (n_stumps, n_scores)
        Vote of each stump of the table in the mean of the members: added above the threshold, and
        subtracted elsewhere.
    best_scores : list of ndarray
        Scores of each block after the best round, if pairs follow.
    """

    def __init__(
        self, params, X, table, loss, is_out_of_bag, weights, random_state, signs, threads
    ):
        super().__init__(params, loss, random_state, threads)
        self.X, self.table, self.weights = X, table, weights
        initial_scores = loss.initial_scores(weights, ~is_out_of_bag)
        self._stumps = bag_stumps = BagStumps(table, len(initial_scores))
        self._first, self._count = bag_stumps.admissible_ranges(is_out_of_bag)
        self.is_available = self._count > 0
        self._interactions = None
        self.signs = signs
        self._stump_signs = signs[table.view]
        self._constrained_columns = np.flatnonzero(signs[bag_stumps.view])
        self.has_constraints = len(self._constrained_columns) > 0
        # Shares of the members in `votes`.
        self._member_votes = np.zeros(
            (len(is_out_of_bag), len(table.view) if self.has_constraints else 0)
        )
        n_members, n_samples = is_out_of_bag.shape
        width = n_members * max(bag_stumps.n_compared, 4 * len(initial_scores))
        min_samples = max(_MIN_BLOCK_SAMPLES, bag_stumps.n_histogram_rows)
        n_blocks = -(-n_samples // max(min_samples, _BLOCK_SIZE // width))
        # An even number, so that two threads have equal parts.
        n_blocks += n_blocks > 1 and n_blocks % 2
        # Sorted by class, a class is a slice of a block.
        rows = np.array_split(np.argsort(loss.strata, kind="stable"), n_blocks)
        blocks = [
            SampleBlock(
                bag_stumps.block_stumps(block_rows),
                loss.target[block_rows],
                weights[block_rows],
                is_out_of_bag.T[block_rows],
                initial_scores,
                loss,
            )
            for block_rows in rows
        ]
        self._initialise(
            rows,
            blocks,
            np.zeros((len(table.view), len(initial_scores))),
            initial_scores.mean(axis=1),
        )

    def generate(self):
        """As `JointBoostingMaster.generate`; None if no feature varies."""
        return super().generate() if len(self._stumps.view) else None

    def draw_columns(self):
        """Draw a threshold of each column for each member, of shape (n_members, n_columns)."""
        uniforms = self.random_state.random_sample(self._count.shape[::-1]).T
        return self._first + (uniforms * self._count).astype(int)

    def _block_draws(self, draws):
        return self._stumps.block_draws(draws)

    def _column_sums(self, draws, total, *sums):
        return self._stumps.sums_above(draws, total, *sums)

    def _block_addends(self, draws, difference):
        return self._stumps.addends(draws, difference)

    def _apply_constraints(self, draws, slopes, curvatures, steps):
        """Change steps that would turn a vote into the wrong direction.

        A vote is taken to 0 then, and the constant beside it makes the best of that.

        Parameters
        ----------
        draws : ndarray of shape (n_members, n_features)
        slopes, curvatures, steps : ndarray of shape (2, n_members, n_features)
            By the side of the thresholds. Steps are overwritten.

        Returns
        -------
        decreases, slopes_along : ndarray of shape (n_members, n_features)
            Twice what the steps lower the loss by, and the slopes along them.
        """
        columns, n_members = self._constrained_columns, len(draws)
        positions = self._stumps.start[columns] + draws[:, columns]
        votes = np.take_along_axis(self._member_votes, positions, axis=1)
        column_slopes, damped = slopes[..., columns], curvatures[..., columns] + DAMPING
        below, above = steps[..., columns]
        new_votes = votes + (above - below) / (2 * n_members)
        has_wrong_sign = self._stump_signs[positions] * new_votes < 0
        # With this difference of the steps the vote becomes 0.
        zeroing = -2 * n_members * votes
        bounded = (column_slopes.sum(axis=0) - damped[1] * zeroing) / damped.sum(axis=0)
        steps[..., columns] = np.where(has_wrong_sign, [bounded, bounded + zeroing], [below, above])
        slopes_along = (slopes * steps).sum(axis=0)
        decreases = slopes_along.copy()
        quadratic = 2 * slopes_along[:, columns] - (damped * steps[..., columns] ** 2).sum(axis=0)
        decreases[:, columns] = np.where(has_wrong_sign, quadratic, slopes_along[:, columns])
        return decreases, slopes_along

    def _add_votes(self, draws, additions):
        """Add to the votes, by member, score and feature."""
        n_scores = len(self.intercept)
        positions = (self._stumps.start + draws)[:, None] * n_scores + np.arange(n_scores)[:, None]
        votes = np.bincount(positions.ravel(), additions.ravel(), self.votes.size)
        if self.has_constraints:
            np.put_along_axis(
                self._member_votes,
                positions[:, 0],
                np.take_along_axis(self._member_votes, positions[:, 0], axis=1) + additions[:, 0],
                axis=1,
            )
        self.votes += votes.reshape(self.votes.shape)

    def finish(self):
        """Train the tables of pairs."""
        if self.params.interactions:
            with self.clock.phase("pairs"):
                axes, pairs = select_pairs(self)
                if len(pairs):
                    self._interactions = InteractionMaster(self, axes, pairs)
                    self._interactions.train()

    @property
    def n_interaction_rounds(self):
        """The last round of progress of the tables; 0 where there are none."""
        return 0 if self._interactions is None else self._interactions.best_round

    def model(self):
        """Return the pairs, and the sum of stumps."""
        stump_sum = self.mean_model(*self.best_model)
        if not self.n_interaction_rounds:
            return [], stump_sum
        pairs, intercept = self._interactions.best_tables()
        intercept = stump_sum.intercept + intercept.reshape(stump_sum.intercept.shape)
        stump_sum = stump_sum._replace(intercept=intercept)
        return merge_main_effects(pairs, stump_sum, self.params.views_, self.X, self.weights)

    def _track_best(self, loss):
        has_fallen = super()._track_best(loss)
        if has_fallen and self.params.interactions:
            self.best_scores = [block.scores.copy() for block in self.blocks]
        return has_fallen

    def mean_model(self, votes, intercept):
        """Sum up stumps, as `best_model`.

        Returns
        -------
        boostbench.algorithms.explanation.stump_sums.StumpSum
        """
        # The rounding errors of a sum of members.
        has_wrong_sign = self._stump_signs[:, None] * votes < 0
        votes = np.where(has_wrong_sign, 0.0, votes)
        is_used = votes.any(axis=1)
        stumps = Stumps([*map(Stump, self.table.view[is_used], self.table.threshold[is_used])])
        votes, intercept = votes * self.loss.scale, intercept * self.loss.scale + self.loss.offset
        if len(intercept) == 1:
            return StumpSum(stumps, votes[is_used, 0], intercept[0])
        return StumpSum(stumps, votes[is_used], intercept)
