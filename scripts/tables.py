"""Make every table and every figure of the papers; what is on record is not run again.

The cheapest tables come first. Before each a line says how many CPU hours are left on this machine,
by what those of the repository took (see ``table_hours.py``). A killed run goes on where it was.

    python scripts/tables.py [KEY=VALUE ...]

The overrides are those of ``boostbench table``, for example ``results=FOLDER``; of them figures and
the report take that one alone, as some go by what is on record.
"""

import subprocess
import sys
from pathlib import Path

from table_hours import REFERENCE, read_hours, total

from boostbench.fitting.calibration import calibration
from boostbench.util import configs

REPOSITORY = Path(__file__).parents[1]


def main(overrides):
    """Make all, and return 1 if a table or a figure could not be made."""
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
    """Run a command of boostbench; return what failed."""
    what = [command, *([name] if name else [])]
    program = Path(sys.executable).with_name("boostbench")
    done = subprocess.run([program, *what, *overrides], check=False)
    if done.returncode in (130, 143, -2, -15):  # somebody stops it
        sys.exit(done.returncode % 256)
    return [" ".join(what)] if done.returncode else []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
