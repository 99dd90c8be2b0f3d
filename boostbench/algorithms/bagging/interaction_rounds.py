"""Joint training of the tables of pairs of features, after the stumps of a bag.

An *axis* is a feature of a pair with its values divided into cells: intervals, categories, or the
missing values (`boostbench.core.learners.feature_interactions.Axis`).
"""

import numpy as np

from boostbench.algorithms.bagging.interactions import BlockQuadrants, Pair
from boostbench.algorithms.bagging.joint_rounds import JointBoostingMaster
from boostbench.algorithms.bagging.sample_block import ValidationSamples


class InteractionMaster(JointBoostingMaster):
    """Joint training of a table for each pair of features, after the stumps.

    The regions of a round are quadrants. For each feature a member draws a set of cells: the cells
    on one side of a threshold, with or without the missing values, or any set of categories. The
    quadrant of a pair contains the samples that are in the drawn cells of both features.

    Parameters
    ----------
    stump_master : JointStumpMaster
        Finished training of the stumps, with the scores of its best round.
    axes, pairs
        Results of `boostbench.algorithms.bagging.interactions.select_pairs`.

    Attributes
    ----------
    votes : ndarray of shape (n_pairs, n_cells, n_cells, n_scores)
        Tables of the pairs, padded to the number of cells of the longest axis.

    Notes
    -----
    The drawn cells and the addends of all rounds are kept, from which `member_tables` computes the
    tables of each member. The tables of all members would need more memory than the samples.
    """

    def __init__(self, stump_master, axes, pairs):
        super().__init__(
            stump_master.params, stump_master.loss, stump_master.random_state, stump_master.threads
        )
        # 1) Give the blocks of samples their quadrants, and the scores of the best round of stumps.
        self.clock = stump_master.clock
        self._axes, self._pairs = axes, pairs
        cells = np.stack([axis.cell_indices(stump_master.X) for axis in axes])
        stump_blocks = zip(
            stump_master.blocks, stump_master.best_scores, stump_master.block_rows, strict=True
        )
        blocks = [
            block.replace_regions(BlockQuadrants(cells[:, rows], pairs), scores)
            for block, scores, rows in stump_blocks
        ]
        # 2) Mark the cells that thresholds separate: (n_axes, n_cells). Cells of numeric features
        #    are ordered by value and separated by thresholds.
        width = max(axis.n_cells for axis in axes)
        self._n_thresholds = np.array(
            [0 if axis.thresholds is None else len(axis.thresholds) for axis in axes]
        )
        self._is_ordered = (
            np.arange(width) < np.where(self._n_thresholds, self._n_thresholds + 1, 0)[:, None]
        )
        n_scores = len(stump_master.intercept)
        votes = np.zeros((len(pairs), width, width, n_scores))
        self._steps = []
        n_members = len(stump_master.member_intercepts)
        self._initialise(stump_master.block_rows, blocks, votes, np.zeros((n_scores, n_members)))
        if stump_master.validation is not None:
            self.stop_by(self._validation_samples(stump_master))

    def _validation_samples(self, stump_master):
        """Return the validation samples of the stumps with their cells in the tables."""
        stump_sums = stump_master.table.stump_sums(stump_master.best_model[0])
        stump_scores = stump_master.validation.scores(stump_sums, stump_master.best_model[1])
        Z = stump_master.params.views_.transform(stump_master.X_val)
        cells = np.stack([axis.cell_indices(Z) for axis in self._axes], axis=1)
        width = self.votes.shape[1]
        tables = np.arange(len(self._pairs)) * width**2
        pair_cells = tables + cells[:, self._pairs[:, 0]] * width + cells[:, self._pairs[:, 1]]
        return ValidationSamples(
            pair_cells,
            len(self._pairs) * width**2,
            stump_master.validation.target,
            stump_master.validation.weights,
            self.loss,
            stump_scores,
        )

    def tables(self):
        """Return the cells of all tables: (n_pairs * n_cells * n_cells, n_scores)."""
        return self.votes.reshape(-1, self.votes.shape[-1])

    def draw_regions(self):
        """Draw a set of cells for each member and axis: 0 or 1, (n_members, n_axes, n_cells)."""
        n_members, width = self.blocks[0].scores.shape[2], self.votes.shape[1]
        uniforms = self.random_state.random_sample((n_members, len(self._axes), width + 2))
        threshold = (uniforms[..., -2] * self._n_thresholds).astype(int)
        is_reversed = uniforms[..., -1:] < 0.5
        is_drawn = (np.arange(width) > threshold[..., None]) != is_reversed
        return np.where(self._is_ordered, is_drawn, uniforms[..., :-2] < 0.5).astype(np.float32)

    def _add_votes(self, sides, additions):
        """Add to the tables."""
        # The output of a quadrant is +1 inside and -1 outside. In a table, that is twice the addend
        # in the quadrant, and minus the addend in the intercept.
        first, second = sides[:, self._pairs[:, 0]], sides[:, self._pairs[:, 1]]
        self.intercept -= additions.sum(axis=(0, 2))
        self.member_intercepts -= additions.sum(axis=2)
        self._steps.append((np.packbits(sides.astype(bool), axis=-1), additions))
        self.votes += 2 * np.einsum(
            "mpa,mpb,msp->pabs", first, second, additions, optimize=["einsum_path", (0, 2), (0, 1)]
        )

    def member_tables(self):
        """Return the parts of the best tables and of their intercept from each member.

        Returns
        -------
        tables : list of ndarray of shape (n_cells, n_cells, n_scores, n_members)
            Their sum over the members is the table of a pair.
        intercepts : ndarray of shape (n_members, n_scores)
        """
        sides, additions = zip(*self._steps[: self.best_round], strict=True)
        sides = np.unpackbits(np.stack(sides), axis=-1).transpose(2, 1, 3, 0)
        additions = np.stack(additions).transpose(3, 2, 1, 0)
        tables = []
        for (first, second), pair_additions in zip(self._pairs, additions, strict=True):
            rows = sides[first, :, : self._axes[first].n_cells, :].astype(float)
            columns = sides[second, :, : self._axes[second].n_cells, :].astype(float)
            # Axes: (score, member, cell, cell); the sum is over rounds.
            table = 2 * (rows * pair_additions[:, :, None]) @ columns.swapaxes(1, 2)
            tables.append(table.transpose(2, 3, 0, 1))
        return tables, self.best_member_intercepts

    def train(self):
        """Run rounds until the loss stops decreasing, or the time is over."""
        while len(self.losses) < self.params.n_iterations:
            column = self.generate()
            if column is None or not self.correct(column):
                break
            self._print_progress(len(self.losses))
            if self.clock.is_past(self.params.time_limit):
                break

    def _print_progress(self, rounds):
        """Print a line every `verbose` rounds; callbacks are called for rounds of stumps only."""
        params = self.params
        if params.verbose and rounds % params.verbose == 0:
            loss = self.loss.unscale_losses(np.array(self.losses[-1]))
            progress = f"pairs, round {rounds} of {params.n_iterations}: loss {loss:.6g}"
            print(f"{type(params).__name__}, {progress} (best round {self.best_round})")

    def best_tables(self):
        """Return the pairs and the intercept of the best round.

        Returns
        -------
        pairs : list of boostbench.algorithms.bagging.interactions.Pair
        intercept : ndarray of shape (n_scores,)
        """
        tables, intercept = (self.loss.scale * part for part in self.best_model)
        axis_pairs = [tuple(self._axes[index] for index in pair) for pair in self._pairs]
        pairs = [
            Pair(axes, table[: axes[0].n_cells, : axes[1].n_cells])
            for axes, table in zip(axis_pairs, tables, strict=True)
        ]
        return pairs, intercept
