"""Print the CPU hours of each table of the papers from nothing, estimated from the records.

The hours include cross-validation and are scaled to a machine whose reference job takes 50 ms.
A split that several tables show counts in each of them, and once in the sum.

    python scripts/table_hours.py [RESULTS]
"""

import sys
from collections import defaultdict
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from tabulate import tabulate

from boostbench.records.index import Records
from boostbench.records.store import record_path
from boostbench.report.assemble import read_tables

REFERENCE = 0.05  # seconds of the reference job


def main(results):
    """Print a row per table."""
    hours, rows = read_hours(results), []
    for name, keys in hours.items():
        by_algorithm = defaultdict(float)
        for key, number in keys.items():
            by_algorithm[key.algo] += number
        most = max(by_algorithm, key=by_algorithm.get)
        share = f"{most} ({by_algorithm[most] / sum(by_algorithm.values()):.0%})"
        tuning = sum(number for key, number in keys.items() if key.tuning)
        splits = sum(keys.values()) - tuning
        n_splits = sum(not key.tuning for key in keys)
        formatted = [f"{number:.2f}" for number in (splits, tuning, splits + tuning)]
        rows.append([name, n_splits, *formatted, share])
    rows.append(["all", "", "", "", f"{total(hours):.1f}", ""])
    headers = ["table", "splits", "splits, hours", "cross-validation", "both", "most of it"]
    print(tabulate(rows, headers, tablefmt="github", disable_numparse=True))


class Key(NamedTuple):
    """Key of a fit."""

    key: str
    algo: str
    tuning: bool


def read_hours(results):
    """Return the CPU hours of each fit on record, by table and `Key`."""
    records = Records(results)
    hours = {}
    for table in read_tables(None, records):
        fits = {}
        for cell in table.cells.values():
            splits = cell.finished_splits.records
            configs = {record.config.hash for record in splits}
            file = record_path(results, cell.data, cell.algo, "tuning")
            tuned = records.index(file)
            tried = [one for one in tuned if one.config.hash in configs]
            job = reference_job(splits)
            for made, tuning in ((splits, False), (tried, True)):
                fits |= {Key(one.key, cell.algo, tuning): of_record(one, job) for one in made}
        if fits:
            hours[table.name] = fits
    return hours


def total(hours):
    """Sum the hours of tables; a fit that several show counts once."""
    return sum({key: one for fits in hours.values() for key, one in fits.items()}.values())


def reference_job(records):
    """Seconds of the reference job, the mean of a cell's splits: paths of fits do not record it."""
    seconds = [record.cpu_seconds("calibration") for record in records]
    return mean([one for one in seconds if one] or [REFERENCE])


def of_record(record, job):
    """CPU hours of a fit, 0 where it failed, or of a path of fits."""
    if record.is_failed:
        return 0.0
    reference = None if record.has_several_points else record.cpu_seconds("calibration")
    return (record.cpu_seconds() or 0.0) / 3600 * REFERENCE / (reference or job)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results"))
