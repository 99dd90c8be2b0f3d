"""What boostbench spends on a split besides the trial, and whether its memory stays flat.

::

    python scripts/bench_overhead.py --splits 2000 --backends loky
    python scripts/bench_overhead.py --splits 10000 --backends dask

Splits of a classifier that does nothing are run by two workers: processes of loky, or those of a
Dask scheduler on the loopback. CPU milliseconds are counted for each process, as the clock says
little on a machine with other work. What the same trials take without any of this, 10 ms of it
for measuring how long a prediction takes, is taken off; so are the first splits, while workers
import. Memory is what is resident in the process that plans, hands out
and records, and in the scheduler: after the first tenth, and the most from then on.
"""

import argparse
import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import processes

from boostbench.data.loading import load
from boostbench.execution.plan import Experiment
from boostbench.execution.queue import Finished
from boostbench.execution.runner import Run
from boostbench.fitting.trial import run_trial
from boostbench.records.index import Records
from boostbench.spec.algorithm import AlgorithmSpec
from boostbench.spec.data import DataSpec
from boostbench.spec.experiment import ExperimentSpec
from boostbench.spec.protocol import ProtocolSpec

#: Splits between two looks at the memory, and those before the first look at the CPU times.
STEP, WARM = 50, 200


def experiment(n_splits: int) -> Experiment:
    """Make an experiment of that many splits."""
    algorithm = AlgorithmSpec("dummy", "sklearn.dummy.DummyClassifier")
    data = DataSpec("wine", sklearn="load_wine")
    protocol = ProtocolSpec(n_splits=n_splits, checkpoints=())
    return Experiment.from_spec(ExperimentSpec(algorithm, data, protocol).normalized(), load(data))


@contextlib.contextmanager
def cluster(folder: str) -> Iterator[tuple[str, list[psutil.Process]]]:
    """Start a scheduler and two workers; give the address and their processes."""
    from distributed import Client

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    place = ["--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    worker = ["worker", address, "--nthreads", "1", "--no-dashboard", "--local-directory", folder]
    command = [sys.executable, "-m", "dask"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = [processes.start([*command, "scheduler", *place], **quiet)]
    started += [processes.start([*command, *worker, "--no-nanny"], **quiet) for _ in range(2)]
    try:
        with Client(address, timeout=60, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
        yield address, [psutil.Process(process.pid) for process in started]
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait()


def measure(backend: str, n_splits: int) -> str:
    """Run the splits, and return a line on their CPU time and memory."""
    this_process = psutil.Process()
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        address, others = None, []
        if backend == "dask":
            address, others = stack.enter_context(cluster(folder))
        parts = dict(zip(["here", "scheduler", "worker 1", "worker 2"], [this_process, *others]))  # noqa: B905
        watched = [name for name in parts if not name.startswith("worker")]
        seen: dict[str, list[float]] = {name: [] for name in watched}
        done, begin, clock = [], {}, 0.0

        def listen(event):
            nonlocal begin, clock
            if isinstance(event, Finished):
                done.append(event.error)
                if len(done) == WARM:
                    begin = {name: cpu(process) for name, process in parts.items()}
                    clock = time.monotonic()
                if len(done) % STEP == 0:
                    for name in watched:
                        seen[name].append(parts[name].memory_info().rss / 1e6)

        asked = experiment(n_splits)
        records = Records(Path(folder) / "results")
        Run.plan([asked], records, n_jobs=2, backend=backend, scheduler=address).carry_out(listen)
        n = n_splits - WARM
        clock = 1e3 * (time.monotonic() - clock) / n
        spent = {name: 1e3 * (cpu(process) - begin[name]) / n for name, process in parts.items()}
    assert done == [None] * n_splits, "splits failed"
    each = ", ".join(f"{ms:.1f} {name}" for name, ms in spent.items())
    report = f"{backend}: {n_splits} splits, CPU ms each: {each}"
    if others:
        itself = trial(asked)
        report += f", {itself:.1f} the trial itself; overhead {sum(spent.values()) - itself:.1f}"
    report += f"; {clock:.0f} ms of the clock"
    for name, values in seen.items():
        later = values[len(values) // 10 :]
        report += f"; memory {name} {later[0]:.0f} MB after a tenth, at most {max(later):.0f} MB"
    return report


def trial(asked: Experiment) -> float:
    """Return the CPU milliseconds of a trial without the runner."""
    chosen, data = asked.spec.algorithm.points()[0], asked.dataset
    trials = [asked.trial(split, chosen) for split in asked.splits[:WARM]]
    run_trial(trials[0], data.X, data.class_indices)
    begin = time.process_time()
    for trial_task in trials:
        run_trial(trial_task, data.X, data.class_indices)
    return 1e3 * (time.process_time() - begin) / len(trials)


def cpu(process: psutil.Process) -> float:
    """Return the CPU seconds of a process so far."""
    times = process.cpu_times()
    return times.user + times.system


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--splits", type=int, default=2000, help="default 2000")
    parser.add_argument("--backends", default="loky,dask", help="default: both")
    args = parser.parse_args()
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))
    for backend in args.backends.split(","):
        print(measure(backend, args.splits), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
