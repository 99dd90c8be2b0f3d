"""Speed of a process, measured by a reference job."""

import functools
import os
import statistics
import time

import numpy as np
from threadpoolctl import threadpool_limits


def calibration() -> float:
    """Measure how fast this process computes, so that CPU times of two machines can be compared.

    The job has the operations of a boosting round: sorting, a matrix product, fancy indexing.

    Returns
    -------
    float
        CPU seconds of the job on one thread, the median of three runs; measured once in a process.
    """
    return _calibration(os.getpid())


@functools.cache
def _calibration(pid: int) -> float:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((300, 10_000))
    square = rng.standard_normal((300, 300))
    order = rng.integers(0, rows.size, 2_000_000)
    seconds = []
    with threadpool_limits(1):
        for _ in range(3):
            start = time.process_time()
            np.sort(rows, axis=1)
            for _ in range(20):
                square @ square
            rows.ravel()[order].sum()
            seconds.append(time.process_time() - start)
    return statistics.median(seconds)
