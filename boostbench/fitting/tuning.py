"""Choice of parameters by cross-validation: folds of a training part, and trials of a grid.

Points of the grid that one estimator can go through are one trial of each fold. In a *warm-started
path* the estimator has ``warm_parameters``: it reaches the same solution from every start. In
*stages of one fit* it has a ``staged_parameter``, the number of boosting rounds: it can predict as
after fewer rounds.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np
from sklearn.model_selection import StratifiedKFold

from boostbench.fitting.measures.base import Measure
from boostbench.fitting.splits import Split, smallest_class
from boostbench.fitting.stages import digest_of_labels
from boostbench.fitting.trial import Fit, Trial
from boostbench.records.schema import Point, Record, TrialRecord
from boostbench.util.errors import UserError

# Mean errors that differ by less are equal: shares of folds, added up, are rounded.
_EQUAL = 1e-9


def inner_splits(split: Split, y: np.ndarray, n_folds: int, where: str) -> Iterator[Split]:
    """Divide the training part of a split into splits for stratified cross-validation.

    Parameters
    ----------
    split : Split
    y : ndarray of shape (n_train,)
        Labels of its training part.
    n_folds : int
    where : str
        Name of the part, for the error.

    Raises
    ------
    UserError
        If a class has fewer samples than there are folds.
    """
    label, count = smallest_class(y)
    if count < n_folds:
        raise UserError(
            f"class {label!r} has {count} samples in {where}, fewer than the {n_folds} folds; "
            f"lower protocol.n_folds or set protocol.tune=none"
        )
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=split.seed)
    for fold, (train, test) in enumerate(folds.split(np.zeros(len(y)), y)):
        seed = int(np.random.SeedSequence([split.seed, fold]).generate_state(1)[0])
        yield Split(fold, seed, split.train[train], split.train[test])


def trials(outer: Trial, points: Sequence[Point]) -> Iterator[Trial]:
    """Yield the trials of one fold: each has one point of the grid, or several that share a fit.

    Parameters
    ----------
    outer : Trial
        With the fold's split, nothing chosen, and the measure by which points are judged.
    points : sequence of dict
        Points of the algorithm's grid.

    Yields
    ------
    Trial
        Its measure, a `Validation`, holds the points.
    """
    estimator, grid = outer.algorithm.probe(**points[0]), outer.algorithm.grid
    staged = getattr(estimator, "staged_parameter", None)
    staged = staged if staged in grid and outer.measure.by_stage else None
    if set(grid) <= set(getattr(estimator, "warm_parameters", ())):
        groups, staged = [list(points)], None
    elif staged:
        groups = _alike(points, staged)
    else:
        groups = [[point] for point in points]
    for group in groups:
        yield replace(outer, measure=Validation(outer.measure, tuple(group), staged))


def choose(
    points: Iterable[Point], judged: Sequence[tuple[Sequence[Point], Record]]
) -> tuple[Point | None, float | None]:
    """Choose the point of the grid with the least mean validation error, the first of equal ones.

    Parameters
    ----------
    points : iterable of dict
    judged : sequence of (points, record)
        Cross-validation trials: points of each trial, and its record. A point
        with a failed trial is out.

    Returns
    -------
    dict, float
        The point and its mean error; None and None if all are out.
    """
    # Compare points as texts: 1 and 1.0 are equal to Python, but not to every estimator.
    written = [([repr(each) for each in tried], record) for tried, record in judged]
    means = []
    for point in points:
        text = repr(point)
        about = [(tried, record) for tried, record in written if text in tried]
        if any(record.is_failed for _, record in about):
            continue
        means.append((point, fmean(_error(tried, record, text) for tried, record in about)))
    if not means:
        return None, None
    least = min(mean for _, mean in means)
    return next((point, mean) for point, mean in means if mean <= least + _EQUAL)


@dataclass(frozen=True)
class Validation(Measure):
    """Measure of a cross-validation trial.

    Attributes
    ----------
    measure : Measure
        Measure that defines the error.
    points : tuple of dict
        The points of the grid that the trial is of.
    staged : str or None
        Name of the parameter that says after how many rounds of one fit to look.
    """

    measure: Measure
    points: tuple[Point, ...]
    staged: str | None = None

    def take(self, trial: Trial, X, y: np.ndarray) -> dict:
        """Fit at the points and judge.

        Returns
        -------
        dict
            For a single point, ``validation_error``, ``digest`` of the judged output (see
            `Measure.outputs`) and CPU ``seconds``; for several points,
            ``validation_errors``, ``digests`` and, as a list with one entry per fit, ``seconds``.
        """
        if len(self.points) == 1:
            fit = trial.fit(X, y, **self.points[0])
            loss, name = self._judged(fit, self.measure.outputs(fit)["end"])
            return {"validation_error": loss, "digest": name, "seconds": fit.times()}
        judged, seconds = self._stages(trial, X, y) if self.staged else self._path(trial, X, y)
        losses, names = zip(*judged, strict=True)
        return {
            "validation_errors": list(losses),
            "digests": list(names),
            "seconds": [round(spent, 4) for spent in seconds],
        }

    def _path(self, trial: Trial, X, y: np.ndarray) -> tuple[list, list[float]]:
        """Fit point by point, each fit a warm start from the one before."""
        fit, judged, seconds = None, [], []
        for point in self.points:
            fit = fit.refit(**point) if fit else trial.fit(X, y, warm_start=True, **point)
            seconds.append(fit.seconds)
            judged.append(self._judged(fit, self.measure.outputs(fit)["end"]))
        return judged, seconds

    def _stages(self, trial: Trial, X, y: np.ndarray) -> tuple[list, list[float]]:
        """Fit once, with the largest number of rounds, and look at the stages."""
        rounds = [point[self.staged] for point in self.points]
        fit = trial.fit(X, y, **self.points[rounds.index(max(rounds))])
        outputs = self.measure.outputs(fit, sorted(set(rounds)))
        return [self._judged(fit, outputs[str(number)]) for number in rounds], [fit.seconds]

    def _judged(self, fit: Fit, output: np.ndarray) -> tuple[float, str]:
        return self.measure.loss(fit, output), digest_of_labels(output)


def _alike(points: Iterable[Point], staged: str) -> list[list[Point]]:
    """Group points that differ in one parameter only."""
    groups = defaultdict(list)
    for point in points:
        others = repr([value for name, value in point.items() if name != staged])
        groups[others].append(point)
    return list(groups.values())


def _error(tried: Sequence[str], record: TrialRecord, point: str) -> float:
    if record.validation_errors:
        return record.validation_errors[tried.index(point)]
    return record.validation_error
