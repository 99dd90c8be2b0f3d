"""Make every table and every figure of the papers; recorded fits are not repeated.

The cheapest tables come first. A line before each table estimates the remaining CPU hours on this
machine from the project's records (see ``table_hours.py``). A killed run continues.

    python scripts/tables.py [KEY=VALUE ...]

The overrides are passed to ``boostbench table``; figures and the report use ``results=FOLDER``
only, as some of them draw records.
"""

import subprocess
import sys
from pathlib import Path

from table_hours import REFERENCE, read_hours, total

from boostbench.fitting.trial import calibration
from boostbench.util import configs

REPOSITORY = Path(__file__).parents[1]


def main(overrides):
    """Make all tables and figures; return 1 if one failed."""
    hours = read_hours(REPOSITORY / "results")
    todo = sorted(configs.list_options("table"), key=lambda name: sum(hours.get(name, {}).values()))
    pace = calibration() / REFERENCE
    everything, failed = total(hours) * pace, []
    for number, name in enumerate(todo):
        left = total({table: hours.get(table, {}) for table in todo[number:]}) * pace
        print(f"{name}: of {everything:.1f} CPU hours {left:.1f} are left", flush=True)
        failed += make("table", name, overrides)
    where = [override for override in overrides if override.startswith("results=")]
    for name in configs.list_options("figure"):
        failed += make("figure", name, where)
    failed += make("report", None, where)
    if failed:
        print("not made: " + ", ".join(failed), file=sys.stderr)
    return int(bool(failed))


def make(command, name, overrides):
    """Run a command of boostbench; return its name in a list if it failed."""
    what = [command, *([name] if name else [])]
    program = Path(sys.executable).with_name("boostbench")
    done = subprocess.run([program, *what, *overrides], check=False)
    if done.returncode in (130, 143, -2, -15):  # stopped by a signal
        sys.exit(done.returncode % 256)
    return [" ".join(what)] if done.returncode else []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
