"""Measure the memory that loading takes, as multiples of the (uncompressed) file.

::

    python scripts/bench_memory.py

Each file is loaded by a process of its own; counted is its peak beyond that of a process that loads
a file of three rows. Text that is no number costs most: Python and pandas keep 50 to 100 bytes for
each word, however short. One-hot features stay dense up to 80 MB (`data_table.LARGE`),
which is allowed to any file. The exit code is 1 if something takes more than that and 10 times the
size of its file.
"""

import subprocess
import sys
import tempfile
from functools import partial
from math import inf
from pathlib import Path

import numpy as np

from boostbench.data.data_table import MAX_DENSE_ENTRIES

#: Allowed multiple, and what is allowed besides: a dense matrix and a copy of it.
LIMIT, ALLOWANCE = 10, 2 * 8 * MAX_DENSE_ENTRIES
_LOAD = """
import arff, pandas, scipy.sparse, sklearn.datasets, sys, warnings
warnings.simplefilter("ignore")
from boostbench.data.loading import load
from boostbench.util.errors import UserError
try:
    X = load({"name": "toy", "path": sys.argv[1]}).X
    told = f"read, {X.shape[0]} x {X.shape[1]}{'' if type(X).__name__ == 'ndarray' else ' sparse'}"
except UserError as error:
    told = "refused: " + str(error).removeprefix(sys.argv[1]).lstrip(": ")[:50]
# Not that of getrusage, which the process that starts this one hands down.
print(1024 * int(open("/proc/self/status").read().partition("VmHWM:")[2].split()[0]))
print(told)
"""


def _numbers(rng, n=60_000):
    X = rng.normal(size=(n, 20))
    return [[f"{v:.4g}" for v in row] + [str(i % 3)] for i, row in enumerate(X)]


def _ids(rng, n=200_000):
    return [[f"name{i}", "1.5", str(i % 3)] for i in range(n)]


def _half_unique(rng, n=60_000):
    return [[f"w{i % (n // 3)}", f"{i % 7}", str(i % 3)] for i in range(n)]


def _few_rows(rng, n=6_000):
    return [[f"w{i % (n // 3)}", str(i % 3)] for i in range(n)]


def _categories(rng, n=60_000):
    words = rng.integers(0, 60, (n, 20))
    return [[f"word{v}" for v in row] + [str(i % 3)] for i, row in enumerate(words)]


def _small_categories(rng, n=3_000):
    words = rng.integers(0, 300, (n, 10))
    return [[f"w{v}" for v in row] + [str(i % 3)] for i, row in enumerate(words)]


def _digits(rng, n=800_000):
    rows = ["1," * 20 + "0\n", "2," * 20 + "1\n"]
    return ",".join([*(f"c{j}" for j in range(20)), "class\n"]) + "".join(rows) * (n // 2)


def _two_digits(rng, n=8_000_000):
    return "a,class\n" + "1,0\n2,1\n" * (n // 2)


def _long_labels(rng, n=3_000_000):
    return "a,class\n" + "1,setosa\n2,a\n3,versicolour-virginica\n" * (n // 3)


def _labels_alone(rng, n=20_000_000):
    return "1 1:1\n" + "2\n1\n" * (n // 2)


def _half_alone(rng, n=8_000_000):
    return "1 1:1\n2\n" * (n // 2)


def _sparse_digits(rng, n=1_000_000):
    names = "".join(f"@attribute a{j} real\n" for j in range(10))
    rows = "{1 1,3 2}\n{0 1,4 2,10 1}\n" * (n // 2)
    return f"@relation r\n{names}@attribute class {{0,1}}\n@data\n{rows}"


def _csv(rows) -> str:
    header = ",".join([f"c{i}" for i in range(len(rows[0]) - 1)] + ["class"])
    return "\n".join([header, *map(",".join, rows)])


def _arff(kind: str):
    def write(rows) -> str:
        kinds = [kind] * (len(rows[0]) - 1) + ["{0,1,2}"]
        attributes = [f"@attribute c{i} {one}" for i, one in enumerate(kinds)]
        return "\n".join(["@relation r", *attributes, "@data", *map(",".join, rows)])

    return write


def _libsvm(rows) -> str:
    return "\n".join(
        " ".join([row[-1], *(f"{j}:{v}" for j, v in enumerate(row[:-1], 1))]) for row in rows
    )


def _wide(rows) -> str:
    return "\n".join(f"{row[-1]} {i + 1}:1 {2**31 - 1 - i}:2" for i, row in enumerate(rows))


def _words(rows) -> str:
    return "\n".join(f"cat{row[-1]} 1:1 {i % 97 + 2}:2" for i, row in enumerate(rows))


#: By name: ending, rows, and how they are written.
FILES = {
    "CSV of numbers": (".csv", _numbers, _csv),
    "CSV with a text id": (".csv", _ids, _csv),
    "CSV, a category for three rows": (".csv", _half_unique, _csv),
    "the same, 6000 rows": (".csv", _few_rows, _csv),
    "CSV, 20 columns of 60 categories": (".csv", _categories, _csv),
    "CSV, 10 columns of 300, 3000 rows": (".csv", _small_categories, _csv),
    "ARFF of numbers": (".arff", _numbers, _arff("numeric")),
    "ARFF with a text id": (".arff", _ids, _arff("string")),
    "LIBSVM of numbers": (".svm", _numbers, _libsvm),
    "LIBSVM, indices to 2^31": (".svm", _ids, _wide),
    "LIBSVM with words as labels": (".svm", _ids, _words),
    "CSV, 20 columns of one digit": (".csv", _digits, str),
    "CSV, a feature of one digit": (".csv", _two_digits, str),
    "CSV with long labels": (".csv", _long_labels, str),
    "CSV with 2 million text ids": (".csv", partial(_ids, n=2_000_000), _csv),
    "CSV, a category for three of them": (".csv", partial(_half_unique, n=2_000_000), _csv),
    "LIBSVM, labels and one feature": (".svm", _labels_alone, str),
    "LIBSVM, a feature in every other row": (".svm", _half_alone, str),
    "sparse ARFF of digits": (".arff", _sparse_digits, str),
}


def main() -> int:
    """Measure and print."""
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        base, told = _peak(_write(Path(folder) / "toy.csv", "a,class\n1,1\n2,2\n3,1"))
        if base == inf:
            sys.exit(f"a file of three rows cannot be loaded: {told}")
        for name, (ending, make, write) in FILES.items():
            text = write(make(np.random.default_rng(0)))
            path = _write(Path(folder) / f"toy{ending}", text)
            peak, told = _peak(path)
            size, taken = path.stat().st_size, max(peak - base, 0)
            worst = max(worst, (taken - ALLOWANCE) / size)
            told = f"{taken / 1e6:6.1f} MB  {taken / size:5.1f} x  {told}"
            print(f"{name:38}{size / 1e6:6.1f} MB {told}", flush=True)
    print(f"largest beyond {ALLOWANCE / 1e6:.0f} MB: {worst:.1f} x (limit {LIMIT})")
    return int(worst > LIMIT)


def _write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def _peak(path: Path) -> tuple[float, str]:
    """Load a file in a process of its own; what does not end well counts as more than anything."""
    done = subprocess.run(
        [sys.executable, "-c", _LOAD, str(path)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        told = done.stderr.strip().splitlines() or [f"ended by {done.returncode}"]
        return inf, told[-1][:60]
    peak, told = done.stdout.splitlines()
    return int(peak), told


if __name__ == "__main__":
    sys.exit(main())
