"""The training of a bag of stumps: all members at once, and then the tables of pairs."""

import numpy as np

from boostbench.algorithms.bag_block import BagBlock
from boostbench.algorithms.bag_pairs import (
    Pair,
    PairBlock,
    chosen_pairs,
    sum_of_unseen,
    with_functions,
)
from boostbench.algorithms.explaining.stump_sums import StumpSum
from boostbench.algorithms.master import Master
from boostbench.algorithms.training.early_stopping import LEAST_FALL
from boostbench.core.weak.stump import Stumps

# Added to the curvature on each side of a stump, so that few samples move little: the default of
# XGBoost (`reg_lambda`). It makes steps shorter, not another minimum.
_DAMPING = 1.0

# Samples come in blocks of so many numbers, of each member and feature or score, and no fewer
# samples than worth the calls.
_BLOCK, _LEAST_BLOCK = 2**19, 128


class BagMaster(Master):
    """Members in training: their scores, and the stumps of all rounds.

    Parameters
    ----------
    params, search
        As of `Master`.
    loss : boostbench.algorithms.bag_losses.LogisticLoss or SquaredLoss
        With the target of each sample.
    unseen : ndarray of shape (n_samples, n_members), dtype=bool
        Which samples a member does not see.
    weights : ndarray of shape (n_samples,)
        Of the samples, positive.
    random_state : RandomState
        Draws the thresholds.
    signs : ndarray of shape (n_columns,), dtype=int64
        Of each column that `search` searches: 1 where the votes of its stumps must not be negative,
        -1 where not positive, 0 where they are free.

    Attributes
    ----------
    stumps : ndarray of shape (n_stumps,), dtype=int64
        Positions of the different stumps in `search`, by feature and threshold.
    counts : ndarray of shape (n_features,), dtype=int64
        How many of them each feature has; of those that vary.
    blocks : list of BagBlock
    losses : list of float
        After each round, of the samples by members that do not see them.
    best : int
        The last round of progress; 0 where the constant scores are best.
    votes : ndarray of shape (n_stumps, n_scores)
        Of the mean of the members: what it adds above each stump, and subtracts elsewhere.
    intercept : ndarray of shape (n_scores,)
        What it adds to the scores of all samples.
    kept : tuple
        `votes` and `intercept` after the best round.
    """

    def __init__(self, params, search, loss, unseen, weights, random_state, signs):
        super().__init__(params, search)
        self.random_state = random_state
        self.loss = loss
        seen = ~unseen
        start = loss.start(seen * weights[:, None])
        codes = self._lay_out(seen)
        self._weights = weights
        self._pairs = None
        self.signs = signs
        self._signs = signs[search.feature[self.stumps].astype(int)]
        self._bound = np.flatnonzero(self._signs[self._start])
        # What each member has of `votes`.
        self._of_members = np.zeros((seen.shape[1], len(self.stumps) if len(self._bound) else 0))
        wide = max(codes.shape[1], 2 * len(start))
        size = max(_LEAST_BLOCK, _BLOCK // (seen.shape[1] * wide))
        ends = np.arange(size, len(weights), size)
        parts = (np.split(part, ends) for part in (codes, loss.target, seen * weights[:, None]))
        self.blocks = [BagBlock(*part, start, loss.of_block) for part in zip(*parts, strict=True)]
        self.votes = np.zeros((len(self.stumps), len(start)))
        self.intercept = start.mean(axis=1)

        tested = unseen.any(axis=1)
        self.tested = tested
        self._target, self._of_tested = loss.target[tested], weights[tested]
        self.losses = []
        self._least = np.inf
        self._look(self.loss_of_unseen())

    @property
    def scores(self):
        """Scores of all samples, of shape (n_samples, n_members, n_scores), dtype=float32."""
        return np.concatenate([block.scores for block in self.blocks], axis=2).transpose(2, 1, 0)

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
        return codes

    def draw(self):
        """Draw a threshold of each feature for each member, of shape (n_members, n_features)."""
        lots = self.random_state.random_sample(self._count.shape[::-1]).T
        return self._first + (lots * self._count).astype(int)

    def generate(self):
        """Find what each member gains by stumps, and Newton's steps on both sides of each."""
        if not self.search.n_positions:
            return None
        cut = self.draw()
        total, above = _sum(block.sums(cut) for block in self.blocks)
        # Slopes and curvatures by side, member, score, and feature.
        sides = np.stack([total[..., None] - above, above])
        slopes, curvatures = sides[:, :, 0], sides[:, :, 1]
        steps = slopes / (curvatures + _DAMPING)
        falls = along = (slopes * steps).sum(axis=(0, 2))
        if len(self._bound):
            falls, along = self._hold(cut, slopes[:, :, 0], curvatures[:, :, 0], steps[:, :, 0])
        slope, curvature = total[:, 0], total[:, 1]
        gain = falls - (slope**2 / (curvature + _DAMPING)).sum(axis=1, keepdims=True)
        gain = np.where(self._count > 0, gain.clip(0.0), 0.0)
        if not gain.any() and not len(self._bound):
            # Where votes are bound, other thresholds may do.
            return None
        share = gain / np.maximum(gain.max(axis=1, keepdims=True), np.finfo(float).tiny)
        return cut, steps * share[:, None], (along * share).sum(axis=1)

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
        slopes_of, damped = slopes[..., some], curvatures[..., some] + _DAMPING
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

    def correct(self, found):
        """Add the stumps to the members; True while the bag gets better."""
        cut, (low, high), slope = found
        curvature = sum(block.try_move(cut, low, high) for block in self.blocks)
        size = self.params.eta * slope / np.maximum(curvature, np.finfo(np.float32).tiny)
        if len(self._bound):
            # No further than where votes are 0.
            size = np.minimum(size, 1.0)
        for block in self.blocks:
            block.move(size)
        # A stump has the output -1 or +1: half the difference of its sides, and their mean.
        half = size[:, None, None] / (2 * len(size))
        self.intercept += ((high + low) * half).sum(axis=(0, 2))
        self._add(cut, (high - low) * half)
        self.losses.append(self.loss_of_unseen())
        self._look(self.losses[-1])
        return len(self.losses) < self.best + self.params.patience

    def _add(self, cut, added):
        """Add to the votes, by member, score and feature."""
        n_scores = len(self.intercept)
        at = (self._start + cut)[:, None] * n_scores + np.arange(n_scores)[:, None]
        votes = np.bincount(at.ravel(), added.ravel(), self.votes.size)
        if len(self._bound):
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
                axes, pairs = chosen_pairs(self, self._weights)
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
        return with_functions(pairs, total, self.params.views_, self.search.X, self._weights)

    def _look(self, loss):
        """Keep the model where the loss has fallen."""
        if loss < self._least - LEAST_FALL:
            self._least, self.best = loss, len(self.losses)
            self.kept = self.votes.copy(), self.intercept.copy()
            if self.params.interactions:
                self.best_scores = [block.scores.copy() for block in self.blocks]

    def loss_of_unseen(self):
        """Loss of the samples, each by the mean of the members that do not see it."""
        scores = sum_of_unseen(self.blocks, [block.scores for block in self.blocks])[self.tested]
        if scores.shape[1] == 1:
            scores = scores[:, 0]
        return self.loss.mean(scores, self._target, self._of_tested)

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


class PairMaster(BagMaster):
    """Tables of pairs in training, on the scores of the best functions.

    The columns of a round are quadrants: of each feature some cells are drawn, those on one side of
    a threshold, with or without the missing values, or any set of categories.

    Parameters
    ----------
    main : BagMaster
        Trained, with the scores of its best round.
    axes, pairs
        From `boostbench.algorithms.bag_pairs.chosen_pairs`.

    Attributes
    ----------
    votes : ndarray of shape (n_pairs, n_cells, n_cells, n_scores)
        The tables, of as many cells as the longest axis has.
    """

    def __init__(self, main, axes, pairs):
        Master.__init__(self, main.params, main.search)
        self.random_state, self.loss = main.random_state, main.loss
        self.tested, self._target, self._of_tested = main.tested, main._target, main._of_tested
        self._axes, self._ends = axes, pairs
        cells = np.stack([axis.cells(main.search.X) for axis in axes])
        sizes = np.cumsum([block.scores.shape[2] for block in main.blocks])[:-1]
        self.blocks = [
            PairBlock(*part, pairs)
            for part in zip(
                main.blocks, main.best_scores, np.split(cells, sizes, axis=1), strict=True
            )
        ]
        # Which cells are in the order of numbers, and how many thresholds are between them.
        width = max(axis.n_cells for axis in axes)
        self._cuts = np.array([0 if a.thresholds is None else len(a.thresholds) for a in axes])
        self._is_ordered = np.arange(width) < np.where(self._cuts, self._cuts + 1, 0)[:, None]
        self._bound, self._count = [], np.ones((1, len(pairs)))
        self.intercept = np.zeros(main.intercept.shape)
        self.votes = np.zeros((len(pairs), width, width, len(self.intercept)))
        self.losses, self._least = [], np.inf
        self._look(self.loss_of_unseen())

    def draw(self):
        """Draw sets of cells of each axis for each member, (n_members, n_axes, n_cells) of 0, 1."""
        n_members, width = self.blocks[0].scores.shape[1], self.votes.shape[1]
        lots = self.random_state.random_sample((n_members, len(self._axes), width + 2))
        cut, turned = (lots[..., -2] * self._cuts).astype(int), lots[..., -1:] < 0.5
        ordered = (np.arange(width) > cut[..., None]) != turned
        return np.where(self._is_ordered, ordered, lots[..., :-2] < 0.5).astype(np.float32)

    def _add(self, sides, added):
        """Add to the tables; a column that is +1 in a quadrant is -1 elsewhere."""
        first, second = sides[:, self._ends[:, 0]], sides[:, self._ends[:, 1]]
        self.intercept -= added.sum(axis=(0, 2))
        self.votes += 2 * np.einsum(
            "mpa,mpb,msp->pabs", first, second, added, optimize=["einsum_path", (0, 2), (0, 1)]
        )

    def train(self):
        """Go on as long as the tables get better."""
        while len(self.losses) < self.params.n_iterations:
            found = self.generate()
            if found is None or not self.correct(found):
                break
            self._tell(len(self.losses))

    def _tell(self, done):
        """Print a line every few rounds; callbacks see the rounds of functions alone."""
        params = self.params
        if params.verbose and done % params.verbose == 0:
            loss = self.loss.shown(np.array(self.losses[-1]))
            rounds = f"pairs, round {done} of {params.n_iterations}"
            print(f"{type(params).__name__}, {rounds}: loss {loss:.6g} (best round {self.best})")

    def tables(self):
        """Return the pairs and the intercept of the best round."""
        tables, intercept = (self.loss.scale * part for part in self.kept)
        ends = [tuple(self._axes[at] for at in pair) for pair in self._ends]
        pairs = [
            Pair(axes, table[: axes[0].n_cells, : axes[1].n_cells])
            for axes, table in zip(ends, tables, strict=True)
        ]
        return pairs, intercept


def _sum(pairs):
    """Sum up pairs of arrays in double precision."""
    totals = [0.0, 0.0]
    for pair in pairs:
        totals = [total + part.astype(float) for total, part in zip(totals, pair, strict=True)]
    return totals
