"""How long fits will take, by the seconds of others like them on record."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from boostbench.experiment.calibration import calibration


class Forecast(NamedTuple):
    """How long fits will take together.

    Attributes
    ----------
    seconds : float
        CPU seconds on this machine, of those fits of which something is known.
    unknown : int
        Number of fits of which nothing is known.
    """

    seconds: float
    unknown: int


def forecast(work: Iterable[tuple[int, Mapping, Sequence[Sequence[Mapping]]]]) -> Forecast:
    """Add up what fits will take.

    Parameters
    ----------
    work : iterable of (int, mapping, sequence)
        So many fits of a config, and records of other fits of the same algorithm on the same data:
        those of its own kind, and others, to be asked where these tell nothing.

    Returns
    -------
    Forecast
        Brought to this machine by the reference job, and to the asked boosting rounds in
        proportion.
    """
    seconds, unknown = 0.0, 0
    for number, config, sources in work:
        known = (_spent(config, records) for records in sources)
        spent = next((seconds_spent for seconds_spent in known if seconds_spent is not None), None)
        if spent is None:
            unknown += number
        else:
            seconds += number * spent
    return Forecast(seconds * calibration() if seconds else 0.0, unknown)


def _spent(config: Mapping, records: Sequence[Mapping]) -> float | None:
    """Average CPU times of fits in reference jobs; None where no record tells."""
    same = [record for record in records if record["config"] == config] or records
    jobs = []
    for record in same:
        times = record.get("seconds")
        if not isinstance(times, Mapping) or not (times.get("fit") and times.get("calibration")):
            continue
        asked, done = (about["algo"].get("n_iterations") for about in (config, record["config"]))
        jobs.append(times["fit"] / times["calibration"] * (asked / done if asked and done else 1))
    return fmean(jobs) if jobs else None
