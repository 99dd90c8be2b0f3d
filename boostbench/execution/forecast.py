"""How long fits will take, by the seconds of others like them on record."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from boostbench.fitting.calibration import calibration


class Forecast(NamedTuple):
    """How long fits will take together.

    Attributes
    ----------
    seconds : float
        CPU seconds on this machine, of those fits of which something is known.
    unknown : int
        Number of fits of which nothing is known.
    each : mapping of hashable to float
        CPU seconds of one fit of a kind; only of kinds of which something is known.
    """

    seconds: float
    unknown: int
    each: Mapping[Hashable, float]


def forecast(
    work: Iterable[tuple[Hashable, int, Mapping, Sequence[Sequence[Mapping]]]],
) -> Forecast:
    """Add up what fits will take.

    Parameters
    ----------
    work : iterable of (hashable, int, mapping, sequence)
        A kind of fits, how many there are, their config, and records of other fits of the same
        algorithm on the same data: those of its own kind, and others, to be asked where these tell
        nothing.

    Returns
    -------
    Forecast
        Brought to this machine by the reference job where there is one, and to the asked boosting
        rounds in proportion.
    """
    seconds, unknown, each = 0.0, 0, {}
    for kind, number, config, sources in work:
        known = (_spent(config, records) for records in sources)
        spent = next((jobs for jobs in known if jobs is not None), None)
        if spent is None:
            unknown += number
        else:
            each[kind] = spent * calibration()
            seconds += number * each[kind]
    return Forecast(seconds, unknown, each)


def _spent(config: Mapping, records: Sequence[Mapping]) -> float | None:
    """Average CPU times of fits in reference jobs; None where no record tells."""
    same = [record for record in records if record["config"] == config] or records
    jobs = []
    for record in same:
        times = record.get("seconds")
        if isinstance(times, list) and sum(times):
            # Of a path of fits there is no reference job.
            spent = sum(times) / calibration()
        elif isinstance(times, Mapping) and times.get("fit") and times.get("calibration"):
            spent = times["fit"] / times["calibration"]
        else:
            continue
        asked, done = (about["algo"].get("n_iterations") for about in (config, record["config"]))
        # A class of somebody else may take "auto" as well.
        are_numbers = all(isinstance(n, int | float) and n > 0 for n in (asked, done))
        jobs.append(spent * (asked / done if are_numbers else 1))
    return fmean(jobs) if jobs else None
