"""Choice of parameters by cross-validation: folds of a training part, and trials of a grid.

A *trial* is a fit on the training part of a fold, and a *point* a combination of values of the
grid. Several points are one trial if one estimator can visit them:

- A *warm-started path*: the grid has only parameters of the estimator's ``warm_parameters``, for
  which it reaches the same solution from every start. It is fitted point by point.
- *Stages of one fit*: the grid has the estimator's ``staged_parameter``, the number of boosting
  rounds. It is fitted once with the largest number, and predicts as after fewer rounds.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold

from boostbench.fitting.measures.base import Measure
from boostbench.fitting.splits import Split, smallest_class
from boostbench.fitting.stages import digest_of_labels
from boostbench.fitting.trial import Fit, Trial
from boostbench.records.fit_results import TrialRecord, TrialResults
from boostbench.records.schema import Point, Record
from boostbench.util.errors import UserError

# Mean errors that differ by less are equal, as sums of fractions are rounded; two different error
# rates differ by more than one over the number of samples.
_TOLERANCE = 1e-9


def inner_splits(split: Split, y: np.ndarray, n_folds: int, part_name: str) -> Iterator[Split]:
    """Yield the splits of a training part for stratified cross-validation, one per fold.

    Parameters
    ----------
    split : Split
        Split whose training part is divided.
    y : ndarray of shape (n_train,)
        Labels of this part.
    n_folds : int
        Number of folds.
    part_name : str
        Name of the part, for the error.

    Raises
    ------
    UserError
        If a class has fewer samples than there are folds.
    """
    label, count = smallest_class(y)
    if count < n_folds:
        raise UserError(
            f"class {label!r} has {count} samples in {part_name}, fewer than the {n_folds} folds; "
            f"lower protocol.n_folds or set protocol.tune=none"
        )
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=split.seed)
    for fold, (train, test) in enumerate(folds.split(np.zeros(len(y)), y)):
        seed = int(np.random.SeedSequence([split.seed, fold]).generate_state(1)[0])
        yield Split(fold, seed, split.train[train], split.train[test])


def trials(fold_trial: Trial, points: Sequence[Point]) -> Iterator[Trial]:
    """Yield the trials of one fold: each has one point of the grid, or several that share a fit.

    Parameters
    ----------
    fold_trial : Trial
        Trial with the split of the fold, the measure that judges points, and without chosen
        parameters.
    points : sequence of dict
        Points of the algorithm's grid.

    Yields
    ------
    Trial
        Trial whose measure is a `Validation` of its points.
    """
    algorithm, measure = fold_trial.algorithm, fold_trial.measure
    estimator = algorithm.try_build(**points[0])
    round_parameter = getattr(estimator, "staged_parameter", None)
    # 1) Group the points that share a fit: a warm-started path, or the stages of one fit.
    stage_parameter = None
    # A warm-started path visits all points if each tuned parameter allows a warm start.
    if set(algorithm.grid) <= set(getattr(estimator, "warm_parameters", ())):
        groups = [list(points)]
    elif round_parameter in algorithm.grid and measure.by_stage:
        groups, stage_parameter = _group_stages(points, round_parameter), round_parameter
    else:
        groups = [[point] for point in points]
    # 2) Yield a trial for each group.
    for group in groups:
        yield replace(fold_trial, measure=Validation(measure, tuple(group), stage_parameter))


class Choice(NamedTuple):
    """Chosen point of the grid.

    Attributes
    ----------
    point : Point
    validation_error : float or None
        Mean validation error of the point over the folds; None if there was nothing to choose.
    """

    point: Point
    validation_error: float | None


def choose(
    points: Iterable[Point], judged: Sequence[tuple[Sequence[Point], Record]]
) -> Choice | None:
    """Return the point of the grid with the least mean validation error, the first of equal ones.

    Parameters
    ----------
    points : iterable of Point
        Points of the grid, in its order.
    judged : sequence of (sequence of Point, Record)
        Cross-validation trials: points of each trial, and its record. A point with a failed trial
        is excluded.

    Returns
    -------
    Choice or None
        None: all points are excluded.
    """
    # Compare points as texts: 1 and 1.0 are equal in Python, but not for every estimator.
    trials = [([repr(point) for point in trial_points], record) for trial_points, record in judged]
    choices = []
    for point in points:
        text = repr(point)
        trials_of_point = [(texts, record) for texts, record in trials if text in texts]
        if not any(record.is_failed for _, record in trials_of_point):
            errors = [
                _validation_error(record, texts.index(text)) for texts, record in trials_of_point
            ]
            choices.append(Choice(point, fmean(errors)))
    if not choices:
        return None
    least = min(choice.validation_error for choice in choices)
    return next(choice for choice in choices if choice.validation_error <= least + _TOLERANCE)


class _Judgement(NamedTuple):
    """Loss of a point of the grid, and the digest of the output from which it was computed."""

    loss: float
    digest: str


@dataclass(frozen=True)
class Validation(Measure):
    """Measure of a cross-validation trial: the validation errors of points of the grid.

    Attributes
    ----------
    measure : Measure
        Measure whose method `loss` defines the validation error.
    points : tuple of Point
        Points of the grid that share a fit, or a warm-started path of fits.
    round_parameter : str or None, default=None
        Parameter for the number of boosting rounds, if the points are stages of one fit.
    """

    measure: Measure
    points: tuple[Point, ...]
    round_parameter: str | None = None

    def take(self, trial: Trial, X, y: np.ndarray) -> TrialResults:
        """Fit, and return the validation errors of the points.

        The digests are made of the judged outputs, see `Measure.outputs`.
        """
        if len(self.points) == 1:
            fit = trial.fit(X, y, **self.points[0])
            judgement = self._judge(fit, self.measure.outputs(fit)["end"])
            return TrialResults(
                validation_error=judgement.loss, digest=judgement.digest, seconds=fit.times()
            )
        fit_points = self._fit_stages if self.round_parameter else self._fit_path
        judgements, seconds = fit_points(trial, X, y)
        return TrialResults(
            validation_errors=[judgement.loss for judgement in judgements],
            digests=[judgement.digest for judgement in judgements],
            seconds=[round(seconds_of_fit, 4) for seconds_of_fit in seconds],
        )

    def _fit_path(self, trial: Trial, X, y: np.ndarray) -> tuple[list[_Judgement], list[float]]:
        """Fit point by point, each fit a warm start from the previous one.

        Returns
        -------
        judgements : list of _Judgement
            Judgement of each point.
        seconds : list of float
            CPU seconds of each fit.
        """
        fit, judgements, seconds = None, [], []
        for point in self.points:
            fit = fit.refit(**point) if fit else trial.fit(X, y, warm_start=True, **point)
            seconds.append(fit.seconds)
            judgements.append(self._judge(fit, self.measure.outputs(fit)["end"]))
        return judgements, seconds

    def _fit_stages(self, trial: Trial, X, y: np.ndarray) -> tuple[list[_Judgement], list[float]]:
        """Fit once, with the largest number of rounds, and judge its stages; see `_fit_path`."""
        rounds = [point[self.round_parameter] for point in self.points]
        fit = trial.fit(X, y, **self.points[rounds.index(max(rounds))])
        outputs = self.measure.outputs(fit, sorted(set(rounds)))
        return [self._judge(fit, outputs[str(number)]) for number in rounds], [fit.seconds]

    def _judge(self, fit: Fit, output: np.ndarray) -> _Judgement:
        """Return the loss and the digest of one of the measure's outputs."""
        return _Judgement(self.measure.loss(fit, output), digest_of_labels(output))


def _group_stages(points: Iterable[Point], round_parameter: str) -> list[list[Point]]:
    """Return groups of points that differ in the parameter `round_parameter` only."""
    groups = defaultdict(list)
    for point in points:
        other_values = repr([value for name, value in point.items() if name != round_parameter])
        groups[other_values].append(point)
    return list(groups.values())


def _validation_error(record: TrialRecord, index: int) -> float:
    """Return the validation error of the point at an index among the points of a trial."""
    return record.validation_errors[index] if record.validation_errors else record.validation_error
