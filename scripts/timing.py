"""Tools of the benchmarks: data, one core, CPU seconds and memory of jobs, and tables."""

import multiprocessing
import resource
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from tabulate import tabulate
from threadpoolctl import threadpool_limits

from boostbench import data
from boostbench.fitting.splits import splits
from boostbench.spec.protocol import ProtocolSpec
from boostbench.util import configs


def parts(name, n_splits=1):
    """Return the training and the test part of the first 75/25 splits.

    Parameters
    ----------
    name : str
        A data set, ``"letter"``, or with the number of samples per class, ``"letter:50"``.
    n_splits : int, default=1

    Returns
    -------
    list of pairs of (X, y)
    """
    name, _, per_class = name.partition(":")
    dataset = data.load(configs.read_option("data", name))
    protocol = ProtocolSpec(
        n_splits=n_splits, samples_per_class=int(per_class) if per_class else None
    )
    return [
        [(dataset.X[rows], dataset.y[rows]) for rows in (split.train, split.test)]
        for split in splits(dataset, protocol, seed=0)
    ]


def training_part(name):
    """Return X and y of the first training part; see `parts`."""
    return parts(name)[0][0]


def on_one_core(job, *arguments, **named):
    """Run a job whose libraries start no threads, and return its result."""
    with threadpool_limits(1):
        return job(*arguments, **named)


def in_a_process(job, *arguments, **named):
    """Run a job on one core in a new process, whose memory holds no earlier job."""
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=fresh) as pool:
        return pool.submit(on_one_core, job, *arguments, **named).result()


def timed(job, *arguments):
    """Return the CPU seconds of a job, and its result."""
    started = time.process_time()
    result = job(*arguments)
    return time.process_time() - started, result


def peak():
    """Return the largest memory of this process so far, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def cpu_seconds(jobs, repeats):
    """Run the jobs in turn, once to warm up and `repeats` times measured.

    Parameters
    ----------
    jobs : list of callable
    repeats : int

    Returns
    -------
    ndarray of shape (repeats, n_jobs)
    """
    seconds = np.empty((repeats + 1, len(jobs)))
    for turn in seconds:
        turn[:] = [timed(job)[0] for job in jobs]
    return seconds[1:]


def medians(jobs, repeats):
    """Return the median CPU seconds of each job; see `cpu_seconds`."""
    return np.median(cpu_seconds(jobs, repeats), axis=0)


def minima(jobs, repeats):
    """Return the least CPU seconds of each job, which other work on the machine disturbs least."""
    return cpu_seconds(jobs, repeats).min(axis=0)


def error(model, X, y):
    """Return the percentage of samples that a model predicts wrongly."""
    return 100 * np.mean(model.predict(X) != y)


def print_table(headers, rows, style="simple"):
    """Print rows of texts and numbers as they are."""
    print(tabulate(rows, headers, tablefmt=style, disable_numparse=True))
