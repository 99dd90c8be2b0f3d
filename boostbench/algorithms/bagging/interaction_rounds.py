"""The training of the tables of pairs, after that of a bag's stumps."""

import numpy as np

from boostbench.algorithms.bagging.interactions import Pair, PairColumns
from boostbench.algorithms.bagging.joint_rounds import BagRounds


class PairMaster(BagRounds):
    """Tables of pairs in training, on the scores of the best functions.

    The columns of a round are quadrants: of each feature some cells are drawn, those on one side of
    a threshold, with or without the missing values, or any set of categories.

    Parameters
    ----------
    main : BagMaster
        Trained, with the scores of its best round.
    axes, pairs
        From `boostbench.algorithms.bagging.interactions.chosen_pairs`.

    Attributes
    ----------
    votes : ndarray of shape (n_pairs, n_cells, n_cells, n_scores)
        The tables, of as many cells as the longest axis has.
    """

    def __init__(self, main, axes, pairs):
        super().__init__(main.params, main.loss, main.random_state, main.threads)
        self._axes, self._ends = axes, pairs
        cells = np.stack([axis.cell_indices(main.X) for axis in axes])
        parts = zip(main.blocks, main.best_scores, main.rows, strict=True)
        blocks = [
            block.with_columns(PairColumns(cells[:, rows], pairs), scores)
            for block, scores, rows in parts
        ]
        # Which cells are in the order of numbers, and how many thresholds are between them.
        width = max(axis.n_cells for axis in axes)
        self._cuts = np.array([0 if a.thresholds is None else len(a.thresholds) for a in axes])
        self._is_ordered = np.arange(width) < np.where(self._cuts, self._cuts + 1, 0)[:, None]
        n_scores = len(main.intercept)
        votes = np.zeros((len(pairs), width, width, n_scores))
        self._begin(main.rows, blocks, votes, np.zeros(n_scores))

    def draw(self):
        """Draw sets of cells of each axis for each member, (n_members, n_axes, n_cells) of 0, 1."""
        n_members, width = self.blocks[0].scores.shape[2], self.votes.shape[1]
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
