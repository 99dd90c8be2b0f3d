"""Print how many CPU hours each table of the papers takes from nothing, by what is on record.

Splits and cross-validation as they were run, brought to a machine whose reference job takes 50 ms.
A split that several tables show counts in each of them, and once in the sum.

    python scripts/table_hours.py [RESULTS]
"""

import sys
from collections import defaultdict
from pathlib import Path

from tabulate import tabulate

from boostbench.definitions.assemble import recorded_tables
from boostbench.experiment.archive import Records

REFERENCE = 0.05  # seconds of the reference job


def main(results):
    """Print a row per table."""
    records = Records(results)
    tables, _ = recorded_tables(None, records)
    rows, total = [], {}
    for table in tables:
        fits, trials, by_algorithm = {}, {}, defaultdict(float)
        for cell in table.cells.values():
            configs = {record["config_hash"] for record in cell.records}
            fits |= {record["key"]: hours(record) for record in cell.records}
            file = results / "records" / cell.data / f"{cell.algo}.tuning.jsonl"
            tried = [one for one in records.all(file) if one["config_hash"] in configs]
            trials |= {record["key"]: hours(record) for record in tried}
            for record in cell.records:
                by_algorithm[cell.algo] += hours(record)
        if not fits:
            continue
        total |= fits | trials
        most = max(by_algorithm, key=by_algorithm.get)
        share = f"{most} ({by_algorithm[most] / sum(by_algorithm.values()):.0%})"
        rows.append([table.name, len(fits), *sums(fits, trials), share])
    rows.append(["all", len(total), "", "", f"{sum(total.values()):.1f}", ""])
    headers = ["table", "splits", "splits, hours", "cross-validation", "both", "most of the splits"]
    print(tabulate(rows, headers, tablefmt="github", disable_numparse=True))


def hours(record):
    """CPU hours of a fit, 0 where it failed, or of a path of fits, whose records have no job."""
    seconds = record.get("seconds") or {}
    if isinstance(seconds, list):
        return sum(seconds) / 3600
    return seconds.get("fit", 0.0) / 3600 * REFERENCE / (seconds.get("calibration") or REFERENCE)


def sums(fits, trials):
    """Format the hours of both, and of both together."""
    splits, tuning = sum(fits.values()), sum(trials.values())
    return [f"{number:.2f}" for number in (splits, tuning, splits + tuning)]


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results"))
