"""Add up the CPU time behind each cell of a table: fits of all splits, and cross-validation.

The records say it, so nothing is run. The sum over all cells, divided by the number of cores, is
about the wall time of the whole table.

    python scripts/cell_times.py randomboost5
"""

import argparse
from collections.abc import Mapping
from pathlib import Path

from tabulate import tabulate

from boostbench.definitions.assemble import read_tables
from boostbench.experiment.records import read
from boostbench.report.cells import Cell


def main():
    """Print minutes, a row for each data set and a column for each algorithm."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", help="name of the table, or the YAML file that defines one")
    parser.add_argument("--results", type=Path, default=Path("results"), help="folder of records")
    args = parser.parse_args()
    [table] = read_tables([args.table], args.results)
    rows, total = [], 0.0
    for row, title in table.rows.items():
        minutes = [cpu_minutes(table.cells[row, column], args.results) for column in table.columns]
        total += sum(minutes)
        rows.append([title, *(f"{m:.1f}" if m else "-" for m in minutes), f"{sum(minutes):.1f}"])
    heads = ["CPU minutes", *(column.label for column in table.columns.values()), "sum"]
    print(tabulate(rows, heads, disable_numparse=True, stralign="right"))
    print(f"together {total:.0f} CPU minutes")


def cpu_minutes(cell: Cell, results: Path) -> float:
    """Return the minutes of a cell's fits, those of its cross-validation included."""
    if not cell.records:
        return 0.0
    first = cell.records[0]
    folder = results / "records" / first["config"]["data"]["name"]
    trials = [trial for path in folder.glob("*.tuning.jsonl") for trial in read(path)[0]]
    trials = [trial for trial in trials if trial["config_hash"] == first["config_hash"]]
    return sum(fit_seconds(record) for record in [*cell.records, *trials]) / 60


def fit_seconds(record: Mapping) -> float:
    """Return the seconds of a record's fits: one, or those of a warm-started path."""
    seconds = record.get("seconds", {})
    return seconds.get("fit", 0.0) if isinstance(seconds, Mapping) else sum(seconds)


if __name__ == "__main__":
    main()
