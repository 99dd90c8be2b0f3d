"""The training of a bag of stumps: all members at once, and then the tables of pairs."""

import numpy as np

from boostbench.algorithms.bagging.interaction_rounds import PairMaster
from boostbench.algorithms.bagging.interactions import chosen_pairs, with_functions
from boostbench.algorithms.bagging.joint_rounds import DAMPING, BagRounds
from boostbench.algorithms.bagging.sample_block import BagBlock
from boostbench.algorithms.bagging.stump_columns import StumpLayout
from boostbench.algorithms.explanation.stump_sums import StumpSum
from boostbench.core.stumps.stump import Stump, Stumps

# Size of a block: numbers of a sample, for each member and column or score. With 4 bytes each, they
# fill half of a second-level cache of 2 MB. A block has no fewer samples than are worth its calls,
# and no fewer than cells, because it adds up as many sums.
_BLOCK, _LEAST_BLOCK = 2**19, 128


class BagMaster(BagRounds):
    """Members in training: their scores, and the stumps of all rounds.

    Parameters
    ----------
    params, loss, random_state, threads
        As in `BagRounds`.
    X : ndarray of shape (n_samples, n_views) or ViewedFeatures
        Training data, as the views show them.
    table : boostbench.core.stumps.feature_codes.FeatureCodes
        Stumps on X.
    unseen : ndarray of shape (n_members, n_samples), dtype=bool
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

    def __init__(self, params, X, table, loss, unseen, weights, random_state, signs, threads):
        super().__init__(params, loss, random_state, threads)
        self.X, self.table, self.weights = X, table, weights
        start = loss.start(weights, ~unseen)
        self._layout = layout = StumpLayout(table, len(start))
        self._first, self._count = layout.ranges(unseen)
        self.are_open = self._count > 0
        self._pairs = None
        self.signs = signs
        self._signs = signs[table.view]
        self._bound = np.flatnonzero(signs[layout.view])
        self.is_bound = len(self._bound) > 0
        # Shares of the members in `votes`.
        self._of_members = np.zeros((len(unseen), len(table.view) if self.is_bound else 0))
        n_members, n_samples = unseen.shape
        width = n_members * max(layout.n_compared, 4 * len(start))
        n_blocks = -(-n_samples // max(_LEAST_BLOCK, _BLOCK // width, layout.n_rows))
        # An even number, so that two threads have equal parts.
        n_blocks += n_blocks > 1 and n_blocks % 2
        # Sorted by class, a class is a slice of a block.
        rows = np.array_split(np.argsort(loss.strata, kind="stable"), n_blocks)
        blocks = [
            BagBlock(
                layout.columns(some), loss.target[some], weights[some], unseen.T[some], start, loss
            )
            for some in rows
        ]
        self._begin(rows, blocks, np.zeros((len(table.view), len(start))), start.mean(axis=1))

    def generate(self):
        """As `BagRounds.generate`; None if no feature varies."""
        return super().generate() if len(self._layout.view) else None

    def draw(self):
        """Draw a threshold of each column for each member, of shape (n_members, n_columns)."""
        lots = self.random_state.random_sample(self._count.shape[::-1]).T
        return self._first + (lots * self._count).astype(int)

    def _block_draws(self, drawn):
        return self._layout.block_draws(drawn)

    def _above(self, drawn, total, *sums):
        return self._layout.above(drawn, total, *sums)

    def _addends(self, drawn, difference):
        return self._layout.addends(drawn, difference)

    def _hold(self, cut, slopes, curvatures, steps):
        """Change steps that would turn a vote into the wrong direction.

        A vote is taken to 0 then, and the constant beside it makes the best of that.

        Parameters
        ----------
        cut : ndarray of shape (n_members, n_features)
        slopes, curvatures, steps : ndarray of shape (2, n_members, n_features)
            By the side of the thresholds. Steps are overwritten.

        Returns
        -------
        falls, along : ndarray of shape (n_members, n_features)
            Twice what the steps lower the loss by, and the slopes along them.
        """
        some, n_members = self._bound, len(cut)
        at = self._layout.start[some] + cut[:, some]
        vote = np.take_along_axis(self._of_members, at, axis=1)
        slopes_of, damped = slopes[..., some], curvatures[..., some] + DAMPING
        low, high = steps[..., some]
        is_wrong = self._signs[at] * (vote + (high - low) / (2 * n_members)) < 0
        apart = -2 * n_members * vote
        held = (slopes_of.sum(axis=0) - damped[1] * apart) / damped.sum(axis=0)
        steps[..., some] = np.where(is_wrong, [held, held + apart], [low, high])
        along = (slopes * steps).sum(axis=0)
        falls = along.copy()
        quadratic = 2 * along[:, some] - (damped * steps[..., some] ** 2).sum(axis=0)
        falls[:, some] = np.where(is_wrong, quadratic, along[:, some])
        return falls, along

    def _add(self, cut, added):
        """Add to the votes, by member, score and feature."""
        n_scores = len(self.intercept)
        at = (self._layout.start + cut)[:, None] * n_scores + np.arange(n_scores)[:, None]
        votes = np.bincount(at.ravel(), added.ravel(), self.votes.size)
        if self.is_bound:
            np.put_along_axis(
                self._of_members,
                at[:, 0],
                np.take_along_axis(self._of_members, at[:, 0], axis=1) + added[:, 0],
                axis=1,
            )
        self.votes += votes.reshape(self.votes.shape)

    def finish(self):
        """Train the tables of pairs."""
        if self.params.interactions:
            with self.clock.phase("pairs"):
                axes, pairs = chosen_pairs(self)
                if len(pairs):
                    self._pairs = PairMaster(self, axes, pairs)
                    self._pairs.train()

    @property
    def rounds_of_pairs(self):
        """The last round of progress of the tables; 0 where there are none."""
        return 0 if self._pairs is None else self._pairs.best

    def model(self):
        """Return the pairs, and the sum of stumps."""
        total = self.mean_of_members(*self.kept)
        if not self.rounds_of_pairs:
            return [], total
        pairs, intercept = self._pairs.tables()
        total = total._replace(intercept=total.intercept + intercept.reshape(total.intercept.shape))
        return with_functions(pairs, total, self.params.views_, self.X, self.weights)

    def _look(self, loss):
        has_fallen = super()._look(loss)
        if has_fallen and self.params.interactions:
            self.best_scores = [block.scores.copy() for block in self.blocks]
        return has_fallen

    def mean_of_members(self, votes, intercept):
        """Sum up stumps, as `kept`.

        Returns
        -------
        boostbench.algorithms.explanation.stump_sums.StumpSum
        """
        # The rounding errors of a sum of members.
        wrong = self._signs[:, None] * votes < 0
        votes = np.where(wrong, 0.0, votes)
        used = votes.any(axis=1)
        stumps = Stumps([*map(Stump, self.table.view[used], self.table.threshold[used])])
        votes, intercept = votes * self.loss.scale, intercept * self.loss.scale + self.loss.offset
        if len(intercept) == 1:
            return StumpSum(stumps, votes[used, 0], intercept[0])
        return StumpSum(stumps, votes[used], intercept)
