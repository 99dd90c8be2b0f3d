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
    unknown : int
        Number of fits without an estimate.
    each : mapping of hashable to float
        CPU seconds of one fit of each kind with an estimate.
    """

    seconds: float
    unknown: int
    each: Mapping[Hashable, float]


def forecast(
    work: Iterable[tuple[Hashable, int, Config, Sequence[Sequence[Record]]]],
) -> Forecast:
    """Return the expected time of fits.

    Parameters
    ----------
    work : iterable of (hashable, int, Config, sequence)
        Kind of fits, their number and config, and records of other fits of the same algorithm on
        the same data: records of the same kind, and records that are used if these have no times.

    Returns
    -------
    Forecast
        Times are scaled to this machine by the reference job, and in proportion to the numbers of
        boosting rounds.
    """
    seconds, unknown, each = 0.0, 0, {}
    for kind, number, config, sources in work:
        estimates = (_spent(config, records) for records in sources)
        spent = next((jobs for jobs in estimates if jobs is not None), None)
        if spent is None:
            unknown += number
        else:
            each[kind] = spent * calibration()
            seconds += number * each[kind]
    return Forecast(seconds, unknown, each)


def _spent(config: Config, records: Sequence[Record]) -> float | None:
    """Return the mean CPU time of recorded fits, in reference jobs; None without any."""
    same = [record for record in records if record.config.content == config.content] or records
    jobs = []
    for record in same:
        if record.is_failed or not record.cpu_seconds():
            continue
        # A path of fits records no reference job.
        reference = calibration() if record.is_path else record.cpu_seconds("calibration")
        if not reference:
            continue
        spent = record.cpu_seconds() / reference
        asked, done = (each.algo.get("n_iterations") for each in (config, record.config))
        # A user's class may take "auto" as well.
        are_numbers = all(isinstance(n, int | float) and n > 0 for n in (asked, done))
        jobs.append(spent * (asked / done if are_numbers else 1))
    return fmean(jobs) if jobs else None
