"""Decision boundaries: the predictions of a classifier of two features on a grid."""

import base64
import zlib
from collections.abc import Sequence
from typing import Annotated, ClassVar

import numpy as np
from msgspec import Meta, Struct

from boostbench.data.dataset import Dataset
from boostbench.fitting.measures.base import Measure
from boostbench.fitting.quantities import TIME_DIGITS
from boostbench.fitting.splits import Split, numbered
from boostbench.fitting.stages import predict, stages
from boostbench.fitting.trial import Trial
from boostbench.records.schema import Count, Fraction, Measured, Real, Round
from boostbench.spec.protocol import ProtocolSpec
from boostbench.util.errors import UserError
from boostbench.util.numbers import round_significant

#: Cells of the grid along each axis.
RESOLUTION = 200
# The grid reaches beyond the points by this part of their range.
_MARGIN = 0.05
# The number of a class is a byte of a map.
_MOST_CLASSES = 256


class Points(Struct):
    """Coordinates and class numbers of the samples."""

    x: list[Real]
    y: list[Real]
    label: list[Count]


class BoundaryRecord(Measured, kw_only=True):
    """Predictions of a fit on a grid of the plane."""

    points: Points
    extent: Annotated[list[Real], Meta(min_length=4, max_length=4)]
    maps: dict[Round, str]
    train_errors: dict[Round, Fraction]
    n_iterations: Count | None


class Boundary(Measure):
    """An algorithm fitted on a whole data set of two features, to be drawn.

    The `checkpoints` of the protocol are the boosting rounds that are drawn. Hyper-parameters are
    chosen by cross-validation on all rows, as the training part of a split would be used.

    The map is of the plane of the features. A classifier that can `project` and `unproject` works
    in a space of its own, of two features too; then the map is of that.
    """

    form = BoundaryRecord
    quantities = ("n_iterations", "fit")
    suffix = "boundary"
    takes_tables = False
    settings: ClassVar = {"boundary": {"resolution": RESOLUTION}}

    def arrange(self, protocol: ProtocolSpec) -> ProtocolSpec:
        """Keep how to scale and tune, the checkpoints, and the limit of time."""
        if not protocol.checkpoints:
            raise UserError("protocol.checkpoints is empty: no boosting round is to be drawn")
        relevant = ("scale", "tune", "n_folds", "checkpoints", "time_limit")
        settings = {name: getattr(protocol, name) for name in relevant}
        return ProtocolSpec(sampling="fixed", n_splits=1, **settings)

    def check_data(self, dataset: Dataset) -> None:
        """Refuse all but two dense features, and classes whose numbers take more than a byte."""
        if dataset.n_features != 2 or dataset.is_sparse:
            raise UserError(
                f"a decision boundary needs 2 dense features, and {dataset.name!r} has "
                f"{dataset.n_features}; take another data set"
            )
        if dataset.n_classes > _MOST_CLASSES:
            raise UserError(
                f"a decision boundary is of up to {_MOST_CLASSES} classes, and {dataset.name!r} "
                f"has {dataset.n_classes}; take data.classes={_MOST_CLASSES}"
            )

    def splits(self, dataset: Dataset, protocol: ProtocolSpec, seed: int) -> list[Split]:
        """Train on all rows."""
        return [numbered(0, seed, np.arange(dataset.n_samples), np.arange(0))]

    def take(self, trial: Trial, X, y: np.ndarray) -> dict:
        """Fit, and predict the points and the grid.

        Returns
        -------
        dict
            In JSON types: ``points`` (coordinates ``x`` and ``y``, class numbers ``label``);
            ``extent`` of the grid (left, right, bottom, top); by boosting round, ``maps`` (see
            `decode`) and ``train_errors``; ``n_iterations`` done; CPU ``seconds`` of the fit.
        """
        fit = trial.fit(X, y)
        estimator, inputs, y = fit.estimator, fit.X_train, fit.y_train
        own_space = hasattr(estimator, "unproject")
        points = estimator.project(inputs) if own_space else fit.impute(X[trial.split.train])
        extent, grid = _grid(points)
        cells = estimator.unproject(grid) if own_space else fit.prepare(grid)
        drawn = np.concatenate([inputs, cells])
        checkpoints = trial.protocol.checkpoints
        predicted = _predict_at_rounds(checkpoints, estimator, drawn, np.unique(y))
        rounds = [str(number) for number in checkpoints]
        return {
            "points": {
                "x": points[:, 0].round(3).tolist(),
                "y": points[:, 1].round(3).tolist(),
                "label": y.tolist(),
            },
            "extent": [round(bound, 6) for bound in extent],
            "maps": {
                number: encode(labels[len(y) :])
                for number, labels in zip(rounds, predicted, strict=True)
            },
            "train_errors": {
                number: float((labels[: len(y)] != y).mean())
                for number, labels in zip(rounds, predicted, strict=True)
            },
            "n_iterations": fit.count("n_iterations_"),
            "seconds": {"fit": round_significant(fit.seconds, TIME_DIGITS)},
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


def _predict_at_rounds(
    rounds: Sequence[int], estimator, X: np.ndarray, labels: np.ndarray
) -> list[np.ndarray]:
    """Return the predicted labels after each number of rounds, in the order of `rounds`.

    For more rounds than the estimator has, they are the labels that it predicts in the end.
    """
    predicted = [predict(estimator, X, labels)] * len(rounds)
    # An estimator without `n_iterations_` may have stages before each checkpoint.
    n_done = getattr(estimator, "n_iterations_", np.inf)
    early = [number for number in rounds if number < n_done]
    # Stop at the last needed stage: a stage with coefficients of its own is expensive.
    staged = stages(estimator, X, labels, stop=max(early, default=0))
    for number, stage in enumerate(staged, start=1):
        if number in early:
            predicted[rounds.index(number)] = stage
    return predicted
