"""What must not decide a result; ``scripts/check_bits.py`` does the same at length."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from boostbench.records.store import read

PROGRAM = """
import sys
from pathlib import Path
from boostbench.running.plan import Experiment
from boostbench.running.runner import run
from toy import make_dataset
algo = {"name": "fake", "_target_": "boostbench.algorithms.MCBoost", "n_iterations": 15}
protocol = {"n_splits": 2, "checkpoints": [1, 5], "pca": 0.9}
experiment = Experiment.from_config({"algo": algo, "protocol": protocol}, make_dataset())
run([experiment], results=Path(sys.argv[1]))
"""
KERNELS = """
import numpy, scipy.linalg
from threadpoolctl import threadpool_info
print(*(one.get("architecture") for one in threadpool_info()))
"""
VARIABLES = ("PYTHONHASHSEED", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OPENBLAS_CORETYPE")


@pytest.fixture
def digests(tmp_path):
    """Run in a process with some environment; give the digests of the predictions."""

    def run(*values):
        results = tmp_path / "-".join(values)
        env = {**os.environ, **dict(zip(VARIABLES, values, strict=False))}
        env["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), env.get("PYTHONPATH", "")])
        subprocess.run([sys.executable, "-c", PROGRAM, str(results)], env=env, check=True)
        records, _ = read(results / "records" / "toy" / "fake.jsonl")
        return [record["digests"] for record in records]

    return run


def test_hash_seeds_and_threads_decide_nothing(digests):
    first = digests("0", "1", "1")
    assert len(first) == 2
    assert len({name for one in first for name in one.values()}) > 2
    assert digests("77", "2", "2") == first


@pytest.mark.skipif(platform.machine() != "x86_64", reason="kernels of other processors")
def test_two_kernels_of_openblas_come_to_the_same_labels(digests):
    """They add in another order, and predicted labels are coarser than that."""
    kernels = ("Prescott", "Nehalem")
    used = [
        subprocess.run(
            [sys.executable, "-c", KERNELS],
            env={**os.environ, "OPENBLAS_CORETYPE": kernel},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for kernel in kernels
    ]
    assert used[0] != used[1]
    prescott, nehalem = (digests("0", "1", "1", kernel) for kernel in kernels)
    assert prescott == nehalem
