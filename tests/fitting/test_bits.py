"""Check that results do not depend on the environment, a short ``scripts/check_bits.py``."""

import os
import platform
import subprocess
import sys
from pathlib import Path

from boostbench.records.store import read_records

PROGRAM = """
import sys
from pathlib import Path
from threadpoolctl import threadpool_info
from toy import experiment_from_config, make_dataset, run
algo = {"name": "fake", "_target_": "boostbench.algorithms.MCBoost", "n_iterations": 15}
protocol = {"n_splits": 2, "checkpoints": [1, 5], "pca": 0.9}
experiment = experiment_from_config({"algo": algo, "protocol": protocol}, make_dataset())
run([experiment], results=Path(sys.argv[1]))
print({one.get("architecture") for one in threadpool_info()} - {None})
"""
VARIABLES = ("PYTHONHASHSEED", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OPENBLAS_CORETYPE")


def digests(results, *values):
    """Run in another process; return the digests of the predictions, and the kernels of BLAS."""
    env = {**os.environ, **dict(zip(VARIABLES, values, strict=True))}
    env["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), env.get("PYTHONPATH", "")])
    command = [sys.executable, "-c", PROGRAM, str(results)]
    kernels = subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout
    records, _ = read_records(results / "records" / "toy" / "fake.jsonl")
    return [record.digests for record in records], kernels


def test_hash_seed_threads_and_kernels_do_not_change_results(tmp_path):
    """Kernels sum in different orders, which predicted labels do not depend on."""
    first, kernel = digests(tmp_path / "one", "0", "1", "1", "Prescott")
    other, another = digests(tmp_path / "other", "77", "2", "2", "Nehalem")
    if platform.machine() == "x86_64" and "Prescott" in kernel:
        assert "Nehalem" in another
    assert len(first) == 2
    assert len({digest for digests_of_split in first for digest in digests_of_split}) > 2
    assert other == first
