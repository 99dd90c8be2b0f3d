"""Measure BaggedMCBoost on larger data: beside EBM, its growth, and its threads.

The data are those of `bench_large`: 28 Gaussian features, 20 000 samples to test on. Every fit runs
in a process of its own.

- ebm: InterpretML's explainable boosting machine without interactions, on one core. Both have their
  default settings. EBM is stopped after ten times the CPU seconds of the bag.
- growth: CPU seconds of 20 rounds and the preparation, on one core, and the peak of memory that the
  fit adds to the data, as a multiple of the data.
- threads: wall-clock seconds of 60 rounds with one and with two threads, and the speed-up that two
  processes have in the same minute, which is 2 on idle cores.

    python scripts/bench_bag.py [ebm] [growth] [threads] [--samples N ...]
"""

import argparse
import resource
import time
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import get_context

import numpy as np
from bench_large import N_TEST, draw
from bench_small import MODELS
from timing import error, in_a_process, on_one_core, peak, print_table, timed

from boostbench import BaggedMCBoost

SIZES = {"ebm": [10_000, 100_000], "growth": [10_000, 100_000, 1_000_000], "threads": [30_000]}
N_CLASSES = 2
# EBM is stopped after this multiple of the bag's CPU seconds.
MAX_RATIO = 10
# Enough rounds for the preparation to be a small part of the time.
GROWTH_ROUNDS = 20
THREADS_ROUNDS = 60


def main():
    """Print the tables that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    # argparse of Python 3.11 looks up the empty list, too, if no kind is named.
    parser.add_argument(
        "kinds",
        nargs="*",
        choices=[*SIZES, []],
        metavar="KIND",
        help="ebm, growth or threads; default: all",
    )
    parser.add_argument("--samples", type=int, nargs="+")
    arguments = parser.parse_args()
    tables = {"ebm": compare_with_ebm, "growth": show_growth, "threads": compare_threads}
    for kind in arguments.kinds or SIZES:
        tables[kind](arguments.samples or SIZES[kind])


def compare_with_ebm(sizes):
    """Print seconds and errors of the bag and of EBM, for each number of samples."""
    rows = []
    for n_samples in sizes:
        wrong, seconds = in_a_process(measure, "bag", n_samples)
        rows.append([n_samples, f"{wrong:.1f}", f"{seconds:.1f}"])
        try:
            wrong, ebm_seconds = in_a_process(measure, "EBM", n_samples, MAX_RATIO * seconds)
            rows[-1] += [f"{wrong:.1f}", f"{ebm_seconds:.1f}", f"{ebm_seconds / seconds:.1f}"]
        except BrokenProcessPool:
            rows[-1] += ["", "stopped", f"> {MAX_RATIO}"]
        print(*rows[-1], flush=True)
    headers = ["samples", "bag, %", "s", "EBM, %", "s", "ratio"]
    print_table(headers, rows, "github")


def show_growth(sizes):
    """Print seconds and memory for each number of samples, and the exponent of the seconds."""
    measured = [in_a_process(measure_growth, n_samples) for n_samples in sizes]
    rows = [
        [n_samples, f"{seconds:.2f}", f"{memory:.2f}"]
        for n_samples, (seconds, memory) in zip(sizes, measured, strict=True)
    ]
    print_table(["samples", "s", "memory / data"], rows, "github")
    seconds = [s for s, _ in measured]
    exponents = np.diff(np.log(seconds)) / np.diff(np.log(sizes))
    print("exponents from one size to the next:", *(f"{exponent:.2f}" for exponent in exponents))


def measure_growth(n_samples):
    """Return CPU seconds of a fit and the memory that it adds, as a multiple of the data."""
    X, y = draw(n_samples, N_CLASSES)
    bag = BaggedMCBoost(GROWTH_ROUNDS, random_state=0)
    bag.fit(X[:2000], y[:2000])  # imports, and the first calls of each library
    before = peak()
    seconds, _ = timed(bag.fit, X, y)
    return seconds, (peak() - before) * 2**30 / X.nbytes


def compare_threads(sizes):
    """Print the speed-up by two threads, and by two processes, for each number of samples."""
    rows = []
    for n_samples in sizes:
        one, two = (in_a_process(measure_wall, n_samples, n_jobs) for n_jobs in (1, 2))
        with get_context("spawn").Pool(2) as pool:
            job = partial(on_one_core, measure_wall)
            both = max(pool.starmap(job, [(n_samples, 1)] * 2, chunksize=1))
        rows.append([n_samples, f"{one:.2f}", f"{two:.2f}", f"{one / two:.2f}"])
        rows[-1].append(f"{2 * one / both:.2f}")
    headers = ["samples", "1 thread, s", "2 threads, s", "speed-up", "of two processes"]
    print_table(headers, rows, "github")


def measure_wall(n_samples, n_jobs):
    """Return the wall-clock seconds of a fit."""
    X, y = draw(n_samples, N_CLASSES)
    bag = BaggedMCBoost(THREADS_ROUNDS, patience=THREADS_ROUNDS, n_jobs=n_jobs, random_state=0)
    bag.fit(X[:2000], y[:2000])  # imports, and the first calls of each library
    started = time.perf_counter()
    bag.fit(X, y)
    return time.perf_counter() - started


def measure(name, n_samples, at_most=None):
    """Return the test error in percent and the CPU seconds of a fit; the process ends `at_most`."""
    X, y = draw(n_samples + N_TEST, N_CLASSES)
    hard_limit = resource.getrlimit(resource.RLIMIT_CPU)[1]
    if at_most is not None:
        soft_limit = int(time.process_time() + at_most) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (soft_limit, hard_limit))
    seconds, model = timed(MODELS[name]().fit, X[:-N_TEST], y[:-N_TEST])
    resource.setrlimit(resource.RLIMIT_CPU, (hard_limit, hard_limit))
    return error(model, X[-N_TEST:], y[-N_TEST:]), seconds


if __name__ == "__main__":
    main()
