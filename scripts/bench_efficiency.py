"""How much of two cores a run with two workers makes use of.

::

    python scripts/bench_efficiency.py --splits 40
    python scripts/bench_efficiency.py --table --splits 10

The same splits, of one algorithm on one data set or of four on three, as of a table, run with one
process and with two workers of loky. The clock of a machine with other
work says little, so Linux is asked how long each thread of a worker has run, and how long it has
waited for a core. What is left of the time from the fourth outcome to the last is idle: the worker
had nothing to do. The efficiency is the CPU time of one process, divided by what two cores would be
taken for: CPU time and idle time of the workers, and CPU time of the process that hands out.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import psutil

from boostbench.data.loading import load
from boostbench.execution.plan import Experiment
from boostbench.execution.queue import Finished
from boostbench.execution.runner import Run
from boostbench.records.index import Records
from boostbench.spec.algorithm import AlgorithmSpec
from boostbench.spec.data import DataSpec
from boostbench.spec.experiment import ExperimentSpec
from boostbench.spec.protocol import ProtocolSpec

#: Splits before the first look, while workers import.
WARM = 4


#: Algorithms and data sets of the table; the first and the last are those of a single cell.
ALGORITHMS = ("MCBoost", "AdaBoostMH", "SAMME", "RBoostProj")
DATA = ("wine", "breast_cancer", "digits")


def experiments(is_table: bool, n_splits: int, n_iterations: int) -> list[Experiment]:
    """Make the experiments, in the order in which a table runs them."""
    return [
        experiment(name, algorithm, n_splits, n_iterations)
        for name in (DATA if is_table else DATA[-1:])
        for algorithm in (ALGORITHMS if is_table else ALGORITHMS[:1])
    ]


def experiment(name: str, algorithm: str, n_splits: int, n_iterations: int) -> Experiment:
    """Make an experiment."""
    target, params = f"boostbench.algorithms.{algorithm}", {"n_iterations": n_iterations}
    data = DataSpec(name, sklearn=f"load_{name}")
    protocol = ProtocolSpec(n_splits=n_splits, checkpoints=())
    spec = ExperimentSpec(AlgorithmSpec(algorithm, target, params), data, protocol)
    return Experiment.from_spec(spec.normalized(), load(data))


def spent(pid: int) -> tuple[float, float]:
    """Return the seconds that the threads of a process have run, and have waited for a core."""
    times = [0.0, 0.0]
    for thread in Path(f"/proc/{pid}/task").iterdir():
        for index, value in enumerate((thread / "schedstat").read_text().split()[:2]):
            times[index] += int(value) / 1e9
    return times[0], times[1]


def measure(asked: list[Experiment], n_jobs: int) -> tuple[float, float, float, float]:
    """Return CPU seconds of the workers, of this process and of all fits, and the idle seconds."""
    this_process, first, last, n_done = psutil.Process(), {}, {}, 0

    def now() -> dict:
        workers = [
            child for child in this_process.children() if "LokyProcess" in " ".join(child.cmdline())
        ]
        return {
            "clock": time.monotonic(),
            "this process": time.process_time(),
            **{worker.pid: spent(worker.pid) for worker in workers},
        }

    def listen(event):
        nonlocal first, last, n_done
        if isinstance(event, Finished):
            n_done += 1
            last = now()
            if n_done == WARM:
                first = last

    with tempfile.TemporaryDirectory() as folder:
        report = Run.plan(asked, Records(Path(folder)), n_jobs=n_jobs).carry_out(listen)
    pids = [key for key in first if isinstance(key, int)]
    clock, here = (last[key] - first[key] for key in ("clock", "this process"))
    running = sum(last[pid][0] - first[pid][0] for pid in pids)
    waiting = sum(last[pid][1] - first[pid][1] for pid in pids)
    idle = max(len(pids) * clock - running - waiting, 0.0)
    records = [record for outcome in report.results for record in outcome.records]
    return running, here, sum(record.cpu_seconds() for record in records), idle


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--table", action="store_true", help="four algorithms on three data sets")
    parser.add_argument("--splits", type=int, default=40, help="default 40")
    parser.add_argument("--rounds", type=int, default=1000, help="boosting rounds; default 1000")
    args = parser.parse_args()
    asked = args.table, args.splits, args.rounds
    _, alone, fits, _ = measure(experiments(*asked), 1)
    running, here, fits_of_two, idle = measure(experiments(*asked), 2)
    n = len(experiments(*asked)) * args.splits - WARM
    print(f"one process: {alone:.1f} CPU s for {n} splits")
    print(f"two workers: {running:.1f} CPU s, idle {idle:.1f} s, and {here:.1f} CPU s here")
    print(f"all fits by themselves: {fits:.1f} CPU s, with two workers {fits_of_two:.1f} CPU s")
    print(f"efficiency: {alone / (running + idle + here):.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
