"""What the benchmarks share: the data they run on, and CPU times of jobs that take turns."""

import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from boostbench import configs, data
from boostbench.experiment.protocol import Protocol
from boostbench.experiment.splits import splits


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
    dataset = data.load(configs.read("data", name))
    protocol = Protocol(n_splits=n_splits, samples_per_class=int(per_class) if per_class else None)
    return [
        [(dataset.X[rows], dataset.y[rows]) for rows in (split.train, split.test)]
        for split in splits(dataset, protocol, seed=0)
    ]


def training_part(name):
    """Return X and y of the first training part; see `parts`."""
    return parts(name)[0][0]


def in_a_process(job, *arguments, **named):
    """Run a job in a process of its own, that no other has left memory to."""
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=fresh) as pool:
        return pool.submit(job, *arguments, **named).result()


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
        for i, job in enumerate(jobs):
            started = time.process_time()
            job()
            turn[i] = time.process_time() - started
    return seconds[1:]


def medians(jobs, repeats):
    """Return the median CPU seconds of each job; see `cpu_seconds`."""
    return np.median(cpu_seconds(jobs, repeats), axis=0)


def minima(jobs, repeats):
    """Return the least CPU seconds of each job, which other work on the machine disturbs least."""
    return cpu_seconds(jobs, repeats).min(axis=0)
