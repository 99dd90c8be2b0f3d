"""Check that results do not depend on the number of processes, the hash seed or the BLAS kernel.

::

    python scripts/check_bits.py                  # records, then fits
    python scripts/check_bits.py records --rounds 100 --splits 4
    python scripts/check_bits.py fits --rounds 50 --splits 1 --only MCBoost SAMME
    python scripts/check_bits.py fits --crossed --kernels SkylakeX Haswell Prescott

- ``records`` runs a few algorithms on a few data sets with all kinds of workers. It compares errors
  and digests of all predictions with the results of one process; a difference gives exit code 1.
- ``fits`` fits every exported estimator to up to ten data sets (`fits.py`) with the kernels of
  OpenBLAS that run here, with NumPy's loops for older processors, and with two threads, which add
  numbers in different orders. ``--crossed`` combines each of these with each other. A line for each
  estimator counts the fits with different weak learners, predictions and numbers of errors.
"""

import argparse
import functools
import importlib.util
import operator
import os
import pickle
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

import numpy as np

from boostbench.records.store import read_records, record_paths

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


#: Kernels of OpenBLAS for x86-64, from the oldest; some need instructions that a processor lacks.
KERNELS = ("Prescott", "Nehalem", "Sandybridge", "Haswell", "Zen", "SkylakeX")


def run(folder: Path, overrides: list[str], environment: dict[str, str], common: list[str]) -> dict:
    """Run all experiments in a new process; return the results by file and key."""
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
        records, warnings = read_records(path)
        assert not warnings, warnings
        for record in records:
            results = record.comparable_entries
            error = results.get("test_error", results.get("validation_error"))
            bits = results.get("digests") or results.get("digest"), results.get("checkpoints")
            found[path.relative_to(folder), record.key] = bits, error
    return found


def differences(base: dict, other: dict) -> tuple[int, float]:
    """Return the number of differences, and the largest one of errors, in percentage points."""
    assert base.keys() == other.keys(), "other records"
    different = [key for key in base if base[key] != other[key]]
    known = [key for key in different if None not in (base[key][1], other[key][1])]
    return len(different), max((100 * abs(base[k][1] - other[k][1]) for k in known), default=0.0)


#: Groups of instructions that NumPy has loops for.
FEATURES = ("X86_V4", "X86_V3")

#: Results of a fit that are compared.
OTHER = ("learners", "predicted", "errors", "scores")

#: Outputs, features and scores that differ by less are the same, as parts of the largest.
CLOSE = 1e-6


def features_found() -> dict[str, str]:
    """Return the groups of instructions that NumPy uses here, each with all newer groups."""
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    # A group is disabled together with the newer groups, which would be used instead.
    found = [name for name in __cpu_dispatch__ if __cpu_features__.get(name)]
    return {name: " ".join(found[found.index(name) :]) for name in FEATURES if name in found}


def runs_here(kernel: str) -> bool:
    """Return True if the processor has the instructions of a kernel of OpenBLAS."""
    env = {**os.environ, "OPENBLAS_CORETYPE": kernel}
    multiply = "import numpy as np; np.ones((300, 300)) @ np.ones((300, 300))"
    return subprocess.run([sys.executable, "-c", multiply], env=env, check=False).returncode == 0


def fit_ways(kernels: list[str], crossed: bool) -> dict[str, dict[str, str]]:
    """Return the environment variables of each way to fit; the first is the reference."""
    without = {
        f"NumPy without {name}": {"NPY_DISABLE_CPU_FEATURES": names}
        for name, names in features_found().items()
    }
    kinds = (
        {name: {"OPENBLAS_CORETYPE": name} for name in kernels},
        {"": {}} | without,
        {"": {}} | {"2 BLAS threads": dict.fromkeys(_THREADS, "2")},
    )
    found = {}
    for names in product(*kinds):
        n_others = sum(name != next(iter(kind)) for name, kind in zip(names, kinds, strict=True))
        if crossed or n_others < 2:
            parts = (kind[name] for name, kind in zip(names, kinds, strict=True))
            found[", ".join(filter(None, names))] = functools.reduce(operator.or_, parts)
    return found


def fit(path: Path, settings: list[str], environment: dict[str, str]) -> dict:
    """Fit all estimators in a new process."""
    script = Path(__file__).with_name("fits.py")
    command = [sys.executable, str(script), str(path), *settings]
    env = {**os.environ, **dict.fromkeys(_THREADS, "1"), **environment}
    subprocess.run(command, env=env, check=True)
    # Written by the process above.
    return pickle.loads(path.read_bytes())


def close(one: np.ndarray, other: np.ndarray) -> bool:
    """Return True if two arrays are equal up to rounding."""
    if one.shape != other.shape:
        return False
    largest = max(np.abs(one).max(initial=0.0), np.abs(other).max(initial=0.0))
    return bool(np.abs(one - other).max(initial=0.0) <= CLOSE * largest)


def compare(one: dict, other: dict) -> dict[str, bool]:
    """Return the differences of two fits: learners, predictions, errors, scores or features."""
    if "error" in one or "error" in other:
        return dict.fromkeys(OTHER, one != other)
    learners = one.get("learners"), other.get("learners")
    found = {"learners": learners[0] is not None and not close(*learners)}
    found["predicted"] = not np.array_equal(one.get("predicted"), other.get("predicted"))
    found["errors"] = one.get("errors") != other.get("errors")
    known = [name for name in ("scores", "features") if one.get(name) is not None]
    found["scores"] = any(not close(one[name], other[name]) for name in known)
    return found


def check_fits(settings: list[str], kernels: list[str], crossed: bool) -> int:
    """Fit in every way, and print the numbers of differences from the first way."""
    lacking = [name for name in kernels if not runs_here(name)]
    if lacking:
        print(f"this processor does not run {', '.join(lacking)}", flush=True)
    ways = fit_ways([name for name in kernels if name not in lacking], crossed)
    counts = {}
    with tempfile.TemporaryDirectory() as top:
        path = Path(top) / "fits.pickle"
        first = next(iter(ways))
        base = fit(path, settings, ways.pop(first))
        n = sum("errors" in fitted for fitted in base.values())
        print(f"{len(base)} fits, {n} that predict labels; others than with {first}:", flush=True)
        for name, environment in ways.items():
            found = fit(path, settings, environment)
            for key, fitted in base.items():
                of_way = counts.setdefault(key[0], {}).setdefault(name, dict.fromkeys(OTHER, 0))
                for part, is_other in compare(fitted, found[key]).items():
                    of_way[part] += is_other
            totals = [sum(of[name][part] for of in counts.values()) for part in OTHER]
            told = (f"{n} {part}" for n, part in zip(totals, OTHER, strict=True))
            print(f"{name:24} {', '.join(told)}", flush=True)
    n = len({key[1:] for key in base})
    print(f"of each estimator, of {n} fits, the most of any way:")
    for title, ways in counts.items():
        most = {part: max(of[part] for of in ways.values()) for part in OTHER}
        if any(most.values()):
            print(f"  {title}: " + ", ".join(f"{n} {part}" for part, n in most.items() if n))
    return 0


def check_records(rounds: int, splits: int) -> int:
    """Run the records in every way, and print how many differ."""
    common = [f"algo.n_iterations={rounds}", f"protocol.n_splits={splits}"]
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
    return int(failed > 0)


def main() -> int:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", nargs="?", choices=("records", "fits"), help="default: both")
    parser.add_argument("--rounds", type=int, default=30, help="boosting rounds; default 30")
    parser.add_argument("--splits", type=int, default=2, help="of each data set; default 2")
    parser.add_argument("--only", nargs="*", default=[], help="beginnings of names of estimators")
    parser.add_argument(
        "--kernels", nargs="+", choices=KERNELS, default=KERNELS[::-1], help="default: all"
    )
    parser.add_argument("--crossed", action="store_true", help="combine kernels, loops and threads")
    args = parser.parse_args()
    failed = 0
    if args.what != "fits":
        failed |= check_records(args.rounds, args.splits)
    if args.what != "records":
        failed |= check_fits(
            [str(args.rounds), str(args.splits), *args.only], args.kernels, args.crossed
        )
    return failed


if __name__ == "__main__":
    sys.exit(main())
