"""Decision boundaries as records: what a classifier of two features predicts all over the plane."""

import base64
import itertools
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from boostbench.data.dataset import Dataset
from boostbench.errors import UserError
from boostbench.experiment.plan import Experiment
from boostbench.experiment.preparation import scaler
from boostbench.experiment.protocol import Protocol
from boostbench.experiment.splits import Split
from boostbench.experiment.trial import Trial

#: Cells of the grid along each axis.
RESOLUTION = 200
# The grid reaches beyond the points by this part of their range.
_MARGIN = 0.05


class BoundaryExperiment(Experiment):
    """An algorithm fitted on a whole data set of two features, to be drawn.

    The `checkpoints` of the protocol are the boosting rounds that are drawn. Hyper-parameters are
    chosen by cross-validation on all rows, as the training part of a split would be used.
    """

    @classmethod
    def from_config(cls, config: Mapping, dataset: Dataset) -> "BoundaryExperiment":
        """Make an experiment from the resolved configuration and the loaded data.

        Parameters
        ----------
        config : mapping
            As for `Experiment`; of the protocol, how to scale, tune and which checkpoints matter.
        dataset : Dataset
            Of two dense features.

        Raises
        ------
        UserError
            If the configuration or the data set is not fit for this.
        """
        if dataset.n_features != 2 or dataset.is_sparse:
            raise UserError(
                f"a decision boundary needs 2 dense features, and {dataset.name!r} has "
                f"{dataset.n_features}; take another data set"
            )
        if not config["protocol"].get("checkpoints"):
            raise UserError("protocol.checkpoints is empty: no boosting round is to be drawn")
        whole = (np.arange(dataset.n_samples), np.arange(0))
        plain = super().from_config(config, replace(dataset, splits=[whole]))
        protocol = Protocol(
            sampling="fixed",
            n_splits=1,
            scale=plain.protocol.scale,
            tune=plain.protocol.tune,
            n_folds=plain.protocol.n_folds,
            checkpoints=plain.protocol.checkpoints,
        )
        return replace(plain, protocol=protocol)

    @cached_property
    def config(self) -> dict:
        """All that decides the record, in JSON types."""
        return {**super().config, "boundary": {"resolution": RESOLUTION}}

    def trial(self, split: Split, chosen: Mapping) -> Trial:
        """Plan the fit whose predictions are drawn."""
        plain = super().trial(split, chosen)
        return BoundaryTrial(**vars(plain))

    def path(self, results: Path, tuning: bool = False) -> Path:
        """Give the file of the records: ``ALGO.boundary.jsonl``, or the cross-validation trials."""
        path = super().path(results, tuning)
        return path if tuning else path.with_suffix(".boundary.jsonl")


@dataclass(frozen=True)
class BoundaryTrial(Trial):
    """A fit on the training part, and a map of what it predicts at each checkpoint.

    The map is of the plane of the features. A classifier that can `project` and `unproject` works
    in a space of its own, of two features too; then the map is of that.
    """

    def measure(self, X, y: np.ndarray) -> dict:
        """Fit, and predict the points and the grid.

        Returns
        -------
        dict
            In JSON types: ``points`` (coordinates ``x`` and ``y``, class numbers ``label``);
            ``extent`` of the grid (left, right, bottom, top); by boosting round, ``maps`` (see
            `decode`) and ``train_errors``; ``n_iterations`` done; CPU ``seconds`` of the fit.
        """
        X, y = X[self.train], y[self.train]
        scaling = scaler(self.scale).fit(X)
        inputs = scaling.transform(X)
        estimator = self.algorithm.build(self.seed, **self.chosen)
        started = time.process_time()
        estimator.fit(inputs, y)
        seconds = time.process_time() - started

        own_space = hasattr(estimator, "unproject")
        points = estimator.project(inputs) if own_space else X
        extent, grid = _grid(points)
        cells = estimator.unproject(grid) if own_space else scaling.transform(grid)
        n_iterations = getattr(estimator, "n_iterations_", None)
        predicted = _at(self.checkpoints, estimator, np.concatenate([inputs, cells]))
        return {
            "points": {
                "x": points[:, 0].round(3).tolist(),
                "y": points[:, 1].round(3).tolist(),
                "label": y.tolist(),
            },
            "extent": [round(bound, 6) for bound in extent],
            "maps": {str(r): encode(p[len(X) :]) for r, p in predicted.items()},
            "train_errors": {
                str(r): float((p[: len(X)] != y).mean()) for r, p in predicted.items()
            },
            "n_iterations": None if n_iterations is None else int(n_iterations),
            "seconds": {"fit": float(f"{seconds:.6g}")},
        }


def encode(classes: np.ndarray) -> str:
    """Write class numbers below 256 as text: bytes, deflated, in base 64.

    Examples
    --------
    >>> decode(encode(np.repeat([0, 3], RESOLUTION**2 // 2)))[[0, -1], 0].tolist()
    [0, 3]
    """
    return base64.b64encode(zlib.compress(classes.astype(np.uint8).tobytes(), 9)).decode()


def decode(text: str) -> np.ndarray:
    """Read a map of a boundary record.

    Parameters
    ----------
    text : str
        One of the record's ``maps``.

    Returns
    -------
    ndarray of shape (resolution, resolution), uint8
        Predicted class numbers at the centres of the cells of ``extent``, the lowest row first.
    """
    classes = np.frombuffer(zlib.decompress(base64.b64decode(text)), np.uint8)
    return classes.reshape(RESOLUTION, RESOLUTION)


def _grid(points: np.ndarray) -> tuple[list[float], np.ndarray]:
    """Lay a grid over the points: its bounds, and the centres of its cells row by row."""
    low, high = points.min(axis=0), points.max(axis=0)
    margin = _MARGIN * (high - low)
    low, high = low - margin, high + margin
    steps = (np.arange(RESOLUTION) + 0.5) / RESOLUTION
    x, y = (low + steps[:, None] * (high - low)).T
    centres = np.stack([np.tile(x, RESOLUTION), np.repeat(y, RESOLUTION)], axis=1)
    return [float(bound) for bound in (low[0], high[0], low[1], high[1])], centres


def _at(rounds: tuple[int, ...], estimator, X: np.ndarray) -> dict[int, np.ndarray]:
    """Predict after each number of rounds; one that stopped earlier stays as it was."""
    predicted = dict.fromkeys(rounds, estimator.predict(X))
    early = [number for number in rounds if number < getattr(estimator, "n_iterations_", 0)]
    if early:
        # No further than needed: a stage is expensive where each has coefficients of its own.
        stages = itertools.islice(estimator.staged_predict(X), early[-1])
        for number, classes in enumerate(stages, start=1):
            if number in early:
                predicted[number] = classes
    return predicted
