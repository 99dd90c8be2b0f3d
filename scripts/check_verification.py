"""Check that `boostbench verify` finds small changes of an algorithm within two minutes.

::

    python scripts/check_verification.py
    python scripts/check_verification.py --budget 1m --jobs 1 --only shrinkage

Each mutation is applied to a copy of the package, which verifies a copy of the records. A mutation
that is not found is an error: the exit code is 1. If it may have been missed because data sets
cannot be loaded, nothing is proven: the exit code is 2.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
MAIN = "import sys; from boostbench.cli import main; sys.exit(main())"
#: Number and data set of the records that `boostbench verify` could not fit again.
NOT_FITTED = re.compile(r"^(\d+) not fitted, (.+?):", re.MULTILINE)


class Mutation(NamedTuple):
    """Replacement of a text that stands once in a file of the package."""

    file: str
    old: str
    new: str


MUTATIONS = {
    "shrinkage of MCBoost 1 % larger": Mutation(
        "algorithms/mcboost.py", "self.params.eta * minimise(", "1.01 * self.params.eta * minimise("
    ),
    "thresholds at the upper value": Mutation(
        "core/stumps/thresholds.py",
        "return np.where((low <= middle) & (middle < high), middle, low)",
        "return np.nextafter(high, low)",
    ),
    "step of RBoost^rank 1 % larger": Mutation(
        "algorithms/rboost_rank.py", "w = self.step(", "w = 1.01 * self.step("
    ),
}


def main():
    """Verify with each mutation; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--budget", default="2m", help="recorded CPU time; default: 2m")
    parser.add_argument("--jobs", default="-1", help="processes; default: all cores")
    parser.add_argument("--only", default="", metavar="WORD", help="mutations with this word")
    options = parser.parse_args()
    missed = 0
    for name, mutation in MUTATIONS.items():
        if options.only not in name:
            continue
        start = time.perf_counter()
        result = verify_mutant(mutation, options.budget, options.jobs)
        if result.returncode not in (0, 1) or not result.stdout:
            raise SystemExit(f"verify failed: {result.stderr}")
        not_fitted = NOT_FITTED.findall(result.stdout)
        if result.returncode == 0 and not_fitted:
            n_records, (_, example) = sum(int(number) for number, _ in not_fitted), not_fitted[0]
            parser.exit(
                2,
                f"check_verification: the data of {n_records} records, such as {example}, are not "
                "available; put them into $BOOSTBENCH_DATA, or connect to OpenML\n",
            )
        missed += result.returncode == 0
        summary = result.stdout.splitlines()[-1]
        outcome = "found" if result.returncode else "MISSED"
        print(f"{outcome}: {name} ({time.perf_counter() - start:.0f} s; {summary})", flush=True)
    return int(missed > 0)


def verify_mutant(mutation: Mutation, budget: str, jobs: str) -> subprocess.CompletedProcess:
    """Apply a mutation to a copy of the package, and verify the records."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("boostbench", "conf", "results/records"):
            shutil.copytree(ROOT / name, Path(folder) / name)
        shutil.copy(ROOT / "results/verified.jsonl", Path(folder) / "results/verified.jsonl")
        path = Path(folder) / "boostbench" / mutation.file
        source = path.read_text(encoding="utf-8")
        if source.count(mutation.old) != 1:
            raise SystemExit(f"{mutation.file} does not hold {mutation.old!r} once")
        path.write_text(source.replace(mutation.old, mutation.new), encoding="utf-8")
        command = [sys.executable, "-c", MAIN, "verify", "--budget", budget, "--jobs", jobs]
        return subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": folder},
            capture_output=True,
            text=True,
            check=False,
        )


if __name__ == "__main__":
    sys.exit(main())
