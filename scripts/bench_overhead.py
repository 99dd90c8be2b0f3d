"""What boostbench spends on a split besides the fit, and whether its memory stays flat.

::

    python scripts/bench_overhead.py --splits 2000

Splits of a classifier that does nothing are run. CPU milliseconds are those of the process that
plans, hands out and records; memory is its peak, after the first quarter and at the end.
"""

import argparse
import importlib.util
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from boostbench.data.dataset import Dataset
from boostbench.experiment.plan import Experiment
from boostbench.experiment.runner import Finished, run


def experiment(n_splits: int) -> Experiment:
    """Make an experiment of that many splits."""
    rng = np.random.default_rng(0)
    dataset = Dataset("toy", rng.normal(size=(400, 50)), rng.integers(0, 3, 400), "generated")
    algo = {"name": "dummy", "_target_": "sklearn.dummy.DummyClassifier"}
    protocol = {"n_splits": n_splits, "checkpoints": []}
    return Experiment.from_config({"algo": algo, "protocol": protocol}, dataset)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--splits", type=int, default=2000, help="default 2000")
    args = parser.parse_args()
    backends = ["loky", *(["dask"] if importlib.util.find_spec("distributed") else [])]
    for backend in backends:
        peaks = []

        def listen(event, peaks=peaks):
            if isinstance(event, Finished):
                peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3)

        begin, clock = time.process_time(), time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            run(
                [experiment(args.splits)],
                results=Path(folder),
                n_jobs=2,
                backend=backend,
                on_event=listen,
            )
        spent = 1e3 * (time.process_time() - begin) / args.splits
        whole = 1e3 * (time.monotonic() - clock) / args.splits
        print(
            f"{backend}: {args.splits} splits, {spent:.1f} CPU ms each here ({whole:.0f} ms of the "
            f"clock), peak {peaks[len(peaks) // 4]:.0f} MB after a quarter, {peaks[-1]:.0f} MB "
            "at the end",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
