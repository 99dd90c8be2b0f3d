"""Compare BaggedMCBoost with InterpretML's explainable boosting machine on larger data.

The data are those of `bench_large`: 28 Gaussian features, 20 000 samples to test on. Both are as by
default, on one core, EBM without interactions, each in a process of its own. EBM is stopped once it
has taken ten times the CPU seconds of the bag.

    python scripts/bench_bag.py [N_SAMPLES ...]
"""

import resource
import sys
import time
from concurrent.futures.process import BrokenProcessPool

from bench_large import N_TEST, draw
from bench_small import MODELS
from timing import error, in_a_process, print_table, timed

SIZES = [10_000, 100_000]
N_CLASSES = 2
LONGEST = 10


def main(sizes):
    """Print a row for each number of samples."""
    rows = []
    for n_samples in sizes:
        wrong, seconds = in_a_process(measure, "bag", n_samples)
        rows.append([n_samples, f"{wrong:.1f}", f"{seconds:.1f}"])
        try:
            wrong, of_ebm = in_a_process(measure, "EBM", n_samples, LONGEST * seconds)
            rows[-1] += [f"{wrong:.1f}", f"{of_ebm:.1f}", f"{of_ebm / seconds:.1f}"]
        except BrokenProcessPool:
            rows[-1] += ["", "stopped", f"> {LONGEST}"]
        print(*rows[-1], flush=True)
    headers = ["samples", "bag, %", "s", "EBM, %", "s", "ratio"]
    print_table(headers, rows, "github")


def measure(name, n_samples, at_most=None):
    """Return the test error in percent and the CPU seconds of a fit; the process ends `at_most`."""
    X, y = draw(n_samples + N_TEST, N_CLASSES)
    hardest = resource.getrlimit(resource.RLIMIT_CPU)[1]
    if at_most is not None:
        last = int(time.process_time() + at_most) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (last, hardest))
    seconds, model = timed(MODELS[name]().fit, X[:-N_TEST], y[:-N_TEST])
    resource.setrlimit(resource.RLIMIT_CPU, (hardest, hardest))
    return error(model, X[-N_TEST:], y[-N_TEST:]), seconds


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or SIZES)
