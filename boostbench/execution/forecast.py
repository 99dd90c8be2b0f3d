"""Forecasts of the time of fits, from the recorded seconds of similar fits."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from boostbench.fitting.trial import calibration
from boostbench.records.schema import Config, Record


class Forecast(NamedTuple):
    """Expected time of a run.

    Attributes
    ----------
    seconds : float
        CPU seconds on this machine of the fits with an estimate.
    n_unknown : int
        Number of fits without an estimate.
    seconds_per_fit : mapping of hashable to float
        CPU seconds of one fit, by the name of its group (`FitGroup`), for groups with an estimate.
    """

    seconds: float
    n_unknown: int
    seconds_per_fit: Mapping[Hashable, float]


class FitGroup(NamedTuple):
    """Missing fits that are expected to take the same time.

    Attributes
    ----------
    name : hashable
        Name of the group: an experiment, and True for its cross-validation trials.
    n_fits : int
        Number of fits.
    config : Config
        Config of the fits.
    record_sources : sequence of sequence of Record
        Records of the same algorithm on the same data, by preference; the first source with times
        is used.
    """

    name: Hashable
    n_fits: int
    config: Config
    record_sources: Sequence[Sequence[Record]]


def forecast(groups: Iterable[FitGroup]) -> Forecast:
    """Return the expected time of fits.

    Times are scaled to this machine by the reference job, and in proportion to the numbers of
    boosting rounds.
    """
    seconds, n_unknown, seconds_per_fit = 0.0, 0, {}
    for group in groups:
        costs = (_mean_cost(group.config, records) for records in group.record_sources)
        cost = next((cost for cost in costs if cost is not None), None)
        if cost is None:
            n_unknown += group.n_fits
        else:
            seconds_per_fit[group.name] = cost * calibration()
            seconds += group.n_fits * seconds_per_fit[group.name]
    return Forecast(seconds, n_unknown, seconds_per_fit)


def _mean_cost(config: Config, records: Sequence[Record]) -> float | None:
    """Return the mean CPU time of recorded fits, scaled to the boosting rounds of a config.

    Parameters
    ----------
    config : Config
        Config of the fits whose time is estimated.
    records : sequence of Record
        Records of the same config, if there are any, are used alone.

    Returns
    -------
    float or None
        Time as a multiple of the reference job, so that it does not depend on the machine. None: no
        record has a time.
    """
    same_config = [record for record in records if record.config.content == config.content]
    costs = []
    for record in same_config or records:
        if record.is_failed or not record.cpu_seconds():
            continue
        # A record of several points of a grid has no time of the reference job: it is assumed to
        # be made on a machine like this one.
        reference = calibration() if record.is_path else record.cpu_seconds("calibration")
        if not reference:
            continue
        cost = record.cpu_seconds() / reference
        rounds = config.algo.get("n_iterations")
        recorded_rounds = record.config.algo.get("n_iterations")
        # The parameter of a user's class may be missing, or a word such as "auto".
        if all(isinstance(n, int | float) and n > 0 for n in (rounds, recorded_rounds)):
            cost *= rounds / recorded_rounds
        costs.append(cost)
    return fmean(costs) if costs else None
