"""Whether results depend on how they are computed: on the number of processes, hash seeds, BLAS.

::

    python scripts/check_bits.py            # one line for each way, exit code 1 if one differs
    python scripts/check_bits.py --rounds 100 --splits 4

A few algorithms run on a few data sets in every way; digests of all predictions, and errors, are
compared with those of one process. Other kernels of OpenBLAS, those of other processors, come last:
they add numbers in another order, so that differences are no mistake. By how much the errors differ
is what they say.
"""

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from boostbench.experiment.records import read, record_paths

ALGORITHMS = "adaboost_mh,mcboost,multiboost,rboost_rank,rboost_proj,samme_tree"
DATA = "wine,iris"
_RUN = "import sys; from boostbench.cli import main; sys.exit(main())"
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def ways() -> dict[str, tuple[list[str], dict[str, str]]]:
    """Give overrides and environment of each way that has to come to the same."""
    found = {
        "1 process, again": (["parallel=serial"], {}),
        "loky, 2 processes": (["parallel=joblib", "parallel.n_jobs=2"], {}),
        "loky, 4 processes": (["parallel=joblib", "parallel.n_jobs=4"], {}),
        "PYTHONHASHSEED=0": (["parallel=serial"], {"PYTHONHASHSEED": "0"}),
        "PYTHONHASHSEED=77": (["parallel=serial"], {"PYTHONHASHSEED": "77"}),
        "2 BLAS threads": (["parallel=serial"], dict.fromkeys(_THREADS, "2")),
    }
    if importlib.util.find_spec("distributed"):
        found["Dask, 2 processes"] = (["parallel=dask", "parallel.n_jobs=2"], {})
    return found


#: Kernels of OpenBLAS for x86-64, from the oldest; what the processor lacks cannot run.
KERNELS = ("Prescott", "Nehalem", "Sandybridge", "Haswell", "Zen", "SkylakeX")


def run(folder: Path, overrides: list[str], environment: dict[str, str], common: list[str]) -> dict:
    """Run all in a process of its own; give what came out, by file and key."""
    # A list of several values makes a sweep, which is one process for all.
    command = [sys.executable, "-c", _RUN, "run", "-m", f"algo={ALGORITHMS}", f"data={DATA}"]
    env = {**os.environ, **dict.fromkeys(_THREADS, "1"), **environment}
    done = subprocess.run(
        [*command, *common, *overrides, f"results={folder}"],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1][:200])
    found = {}
    for path in record_paths(folder):
        records, warnings = read(path)
        assert not warnings, warnings
        for record in records:
            error = record.get("test_error", record.get("validation_error"))
            bits = record.get("digests") or record.get("digest"), record.get("checkpoints")
            found[path.relative_to(folder), record["key"]] = bits, error
    return found


def differences(base: dict, other: dict) -> tuple[int, float]:
    """Count what differs, and give the largest difference of errors in percentage points."""
    assert base.keys() == other.keys(), "other records"
    different = [key for key in base if base[key] != other[key]]
    known = [key for key in different if None not in (base[key][1], other[key][1])]
    return len(different), max((100 * abs(base[k][1] - other[k][1]) for k in known), default=0.0)


def main() -> int:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=30, help="boosting rounds; default 30")
    parser.add_argument("--splits", type=int, default=2, help="default 2")
    args = parser.parse_args()
    common = [f"algo.n_iterations={args.rounds}", f"protocol.n_splits={args.splits}"]
    common += ["protocol.n_folds=2", "profile=quick"]
    failed = 0
    with tempfile.TemporaryDirectory() as top:
        base = run(Path(top) / "base", ["parallel=serial"], {}, common)
        print(f"{len(base)} records of {ALGORITHMS} on {DATA}", flush=True)
        for number, (name, (overrides, environment)) in enumerate(ways().items()):
            other = run(Path(top) / str(number), overrides, environment, common)
            n, most = differences(base, other)
            failed += n > 0
            print(f"{name:24} {n} differ{f', by up to {most:.2f} points' if n else ''}", flush=True)
        for kernel in KERNELS:
            environment = {"OPENBLAS_CORETYPE": kernel}
            try:
                other = run(Path(top) / kernel, ["parallel=serial"], environment, common)
            except RuntimeError as error:
                print(f"kernel {kernel:17} does not run: {error}", flush=True)
                continue
            n, most = differences(base, other)
            print(f"kernel {kernel:17} {n} differ, errors by up to {most:.2f} points", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
