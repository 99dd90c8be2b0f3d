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
from boostbench.fitting.splits import Split, make_split
from boostbench.fitting.stages import predict, stages
from boostbench.fitting.trial import Trial
from boostbench.records.fit_results import SplitResults, record_type
from boostbench.records.schema import Count, Fraction, Real, Round, Seconds
from boostbench.spec.protocol import ProtocolSpec
from boostbench.util.errors import UserError
from boostbench.util.numbers import round_significant

#: Number of cells of the grid along each axis; part of the settings that keys depend on.
RESOLUTION = 200
# Margin of the grid beyond the points, as a fraction of their range.
_MARGIN = 0.05
# Limit of classes, as a cell of a map stores the class in a byte.
_MAX_CLASSES = 256


class Points(Struct):
    """Samples in the plane of the grid.

    Attributes
    ----------
    x, y : list of float, of length n_samples
        Coordinates.
    label : list of int, of length n_samples
        Class numbers, from 0.
    """

    x: list[Real]
    y: list[Real]
    label: list[Count]


class BoundaryResults(SplitResults, kw_only=True):
    """Predictions of a fit on a grid of the plane.

    Attributes
    ----------
    points : Points
        Samples of the training part, which are all samples.
    extent : list of float, of length 4
        Left, right, bottom and top bound of the grid.
    maps : dict of str to str
        Predicted classes of the cells by the number of boosting rounds, see `decode`.
    train_errors : dict of str to float
        Training errors by the number of boosting rounds, fractions.
    """

    points: Points
    extent: Annotated[list[Real], Meta(min_length=4, max_length=4)]
    maps: dict[Round, str]
    train_errors: dict[Round, Fraction]
    n_iterations: Count | None


BoundaryRecord = record_type(BoundaryResults)


class Boundary(Measure):
    """Predictions on a grid, of an algorithm that is fitted on all rows of two features.

    The `checkpoints` of the protocol are the boosting rounds that are drawn. All rows are the
    training part, on which cross-validation also chooses hyper-parameters.

    The grid is in the plane of the features. A classifier with the methods `project` and
    `unproject` has its boundaries in a space of two projected features; then the grid is there.
    """

    form = BoundaryRecord
    quantities = ("n_iterations", "fit")
    suffix = "boundary"
    takes_tables = False
    settings: ClassVar = {"boundary": {"resolution": RESOLUTION}}

    def arrange(self, protocol: ProtocolSpec) -> ProtocolSpec:
        """Return a protocol with the scaling, the tuning, the checkpoints and the time limit."""
        if not protocol.checkpoints:
            raise UserError("protocol.checkpoints is empty: no boosting round is to be drawn")
        relevant = ("scale", "tune", "n_folds", "checkpoints", "time_limit")
        settings = {name: getattr(protocol, name) for name in relevant}
        return ProtocolSpec(sampling="fixed", n_splits=1, **settings)

    def check_data(self, dataset: Dataset) -> None:
        """Raise an error unless there are two dense features and at most 256 classes."""
        if dataset.n_features != 2 or dataset.is_sparse:
            raise UserError(
                f"a decision boundary needs 2 dense features, and {dataset.name!r} has "
                f"{dataset.n_features}; take another data set"
            )
        if dataset.n_classes > _MAX_CLASSES:
            raise UserError(
                f"a decision boundary is of up to {_MAX_CLASSES} classes, and {dataset.name!r} "
                f"has {dataset.n_classes}; take data.classes={_MAX_CLASSES}"
            )

    def splits(self, dataset: Dataset, protocol: ProtocolSpec, seed: int) -> list[Split]:
        """Return one split that trains on all rows and tests none."""
        return [make_split(0, seed, np.arange(dataset.n_samples), np.arange(0))]

    def take(self, trial: Trial, X, y: np.ndarray) -> BoundaryResults:
        """Fit, and predict the points and the grid."""
        fit = trial.fit(X, y)
        estimator, inputs, true_labels = fit.estimator, fit.X_train, fit.y_train
        # 1) Lay the grid, in the plane of the projected features or of the features before scaling.
        is_projected = hasattr(estimator, "unproject")
        points = estimator.project(inputs) if is_projected else fit.impute(X[trial.split.train])
        extent, grid = _grid(points)
        cells = estimator.unproject(grid) if is_projected else fit.prepare(grid)
        # 2) Predict the points and the cells together, as each stage of a prediction takes long.
        samples = np.concatenate([inputs, cells])
        checkpoints = trial.protocol.checkpoints
        predicted = _predict_at_rounds(checkpoints, estimator, samples, np.unique(true_labels))
        rounds = [str(number) for number in checkpoints]
        return BoundaryResults(
            points=Points(
                x=points[:, 0].round(3).tolist(),
                y=points[:, 1].round(3).tolist(),
                label=true_labels.tolist(),
            ),
            extent=[round(bound, 6) for bound in extent],
            maps={
                number: encode(labels[len(true_labels) :])
                for number, labels in zip(rounds, predicted, strict=True)
            },
            train_errors={
                number: float((labels[: len(true_labels)] != true_labels).mean())
                for number, labels in zip(rounds, predicted, strict=True)
            },
            n_iterations=fit.count("n_iterations_"),
            seconds=Seconds(fit=round_significant(fit.seconds, TIME_DIGITS)),
        )


def encode(classes: np.ndarray) -> str:
    """Return class numbers below 256 as text: bytes, compressed by zlib, in base 64.

    Examples
    --------
    >>> decode(encode(np.repeat([0, 3], RESOLUTION**2 // 2)))[[0, -1], 0].tolist()
    [0, 3]
    """
    return base64.b64encode(zlib.compress(classes.astype(np.uint8).tobytes(), 9)).decode()


def decode(text: str) -> np.ndarray:
    """Return the class numbers of a map of a boundary record.

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
    """Return the grid over points of shape (n_points, 2).

    Returns
    -------
    extent : list of float
        Left, right, bottom and top bound.
    centres : ndarray of shape (RESOLUTION ** 2, 2)
        Centres of the cells, row by row from the bottom.
    """
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
