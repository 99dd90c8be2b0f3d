"""The training of a bag of stumps: all members at once, and then the tables of pairs."""

import numpy as np

from boostbench.algorithms.bag_block import BagBlock
from boostbench.algorithms.bag_pairs import chosen_pairs, with_functions
from boostbench.algorithms.bag_rounds import DAMPING, BagRounds
from boostbench.algorithms.explaining.stump_sums import StumpSum
from boostbench.algorithms.pair_master import PairMaster
from boostbench.core.weak.stump import Stumps

# Samples come in blocks of so many numbers, of each member and feature or score, and no fewer
# samples than worth the calls.
_BLOCK, _LEAST_BLOCK = 2**19, 128


class BagMaster(BagRounds):
    """Members in training: their scores, and the stumps of all rounds.

    Parameters
    ----------
    params, search, loss, weights, random_state
        As of `BagRounds`.
    unseen : ndarray of shape (n_samples, n_members), dtype=bool
        Which samples a member does not see.
    signs : ndarray of shape (n_columns,), dtype=int64
        Of each column that `search` searches: 1 where the votes of its stumps must not be negative,
        -1 where not positive, 0 where they are free.

    Attributes
    ----------
    stumps : ndarray of shape (n_stumps,), dtype=int64
        Positions of the different stumps in `search`, by feature and threshold.
    counts : ndarray of shape (n_features,), dtype=int64
        How many of them each feature has; of those that vary.
    votes : ndarray of shape (n_stumps, n_scores)
        Of the mean of the members: what it adds above each stump, and subtracts elsewhere.
    best_scores : list of ndarray
        Scores of each block after the best round, where pairs are to come.
    """

    def __init__(self, params, search, loss, unseen, weights, random_state, signs):
        tested = unseen.any(axis=1)
        super().__init__(params, search, loss, random_state, tested, weights)
        seen = ~unseen
        start = loss.start(seen * weights[:, None])
        codes = self._lay_out(seen)
        self._pairs = None
        self.signs = signs
        self._signs = signs[search.feature[self.stumps].astype(int)]
        self._bound = np.flatnonzero(self._signs[self._start])
        self.is_bound = len(self._bound) > 0
        # What each member has of `votes`.
        self._of_members = np.zeros((seen.shape[1], len(self.stumps) if self.is_bound else 0))
        wide = max(codes.shape[1], 2 * len(start))
        size = max(_LEAST_BLOCK, _BLOCK // (seen.shape[1] * wide))
        ends = np.arange(size, len(weights), size)
        parts = (np.split(part, ends) for part in (codes, loss.target, seen * weights[:, None]))
        blocks = [BagBlock(*part, start, loss.of_block) for part in zip(*parts, strict=True)]
        self._begin(blocks, np.zeros((len(self.stumps), len(start))), start.mean(axis=1))

    def _lay_out(self, seen):
        """List the stumps by feature and threshold, and what each member may draw of them.

        Returns
        -------
        ndarray of shape (n_samples, n_features), dtype=unsigned
            How many thresholds of a feature a sample is above.
        """
        search = self.search
        at = np.flatnonzero(~search.is_padding)
        keys = np.stack([search.feature[at], search.threshold[at]])
        (feature, _), first = np.unique(keys, axis=1, return_index=True)
        self.stumps = at[first]
        columns, self.counts = np.unique(feature.astype(int), return_counts=True)
        self._start = np.cumsum(self.counts) - self.counts
        codes = np.empty(
            (len(search.X), len(columns)), np.min_scalar_type(self.counts.max(initial=0))
        )
        groups = np.split(self.stumps, self._start)[1:]
        for code, column, some in zip(codes.T, columns, groups, strict=True):
            code[:] = np.searchsorted(search.threshold[some], search.X[:, column])
        # What a member draws has samples that it sees on both sides: a threshold from the lowest of
        # their codes on, and before the highest. Where there is none, any stands for it.
        seen_codes = (codes[some] for some in seen.T)
        ranges = [(some.min(axis=0), some.max(axis=0)) for some in seen_codes]
        lowest, highest = np.transpose(ranges, (1, 0, 2)).astype(int)
        self._first, self._count = np.minimum(lowest, self.counts - 1), highest - lowest
        self.are_open = self._count > 0
        return codes

    def generate(self):
        """As `BagRounds.generate`; None where no feature varies."""
        return super().generate() if self.search.n_positions else None

    def draw(self):
        """Draw a threshold of each feature for each member, of shape (n_members, n_features)."""
        lots = self.random_state.random_sample(self._count.shape[::-1]).T
        return self._first + (lots * self._count).astype(int)

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
        at = self._start[some] + cut[:, some]
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
        at = (self._start + cut)[:, None] * n_scores + np.arange(n_scores)[:, None]
        votes = np.bincount(at.ravel(), added.ravel(), self.votes.size)
        if self.is_bound:
            np.put_along_axis(
                self._of_members,
                at[:, 0],
                np.take_along_axis(self._of_members, at[:, 0], axis=1) + added[:, 0],
                axis=1,
            )
        self.votes += votes.reshape(self.votes.shape)

    def end(self):
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
        return with_functions(pairs, total, self.params.views_, self.search.X, self.weights)

    def _look(self, loss):
        has_fallen = super()._look(loss)
        if has_fallen and self.params.interactions:
            self.best_scores = [block.scores.copy() for block in self.blocks]
        return has_fallen

    def mean_of_members(self, votes, intercept):
        """Sum up stumps, as `kept`.

        Returns
        -------
        boostbench.algorithms.explaining.stump_sums.StumpSum
        """
        # The rounding errors of a sum of members.
        wrong = self._signs[:, None] * votes < 0
        votes = np.where(wrong, 0.0, votes)
        used = votes.any(axis=1)
        stumps = Stumps([self.search.stump(position) for position in self.stumps[used]])
        votes, intercept = votes * self.loss.scale, intercept * self.loss.scale + self.loss.offset
        if len(intercept) == 1:
            return StumpSum(stumps, votes[used, 0], intercept[0])
        return StumpSum(stumps, votes[used], intercept)
