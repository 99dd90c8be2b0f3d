"""What the benchmarks share: the data they run on, and medians of runs that take turns."""

import time

import numpy as np

from boostbench import configs, data
from boostbench.experiment.protocol import Protocol, splits


def training_part(name):
    """Return X and y of the training part of the first 75/25 split.

    Parameters
    ----------
    name : str
        A data set, ``"letter"``, or with the number of samples per class, ``"letter:50"``.
    """
    name, _, per_class = name.partition(":")
    dataset = data.load(configs.read("data", name))
    protocol = Protocol(n_splits=1, samples_per_class=int(per_class) if per_class else None)
    train = splits(dataset, protocol, seed=0)[0].train
    return dataset.X[train], dataset.y[train]


def medians(jobs, repeats):
    """Run the jobs in turn, once to warm up and `repeats` times measured.

    Parameters
    ----------
    jobs : list of callable
    repeats : int

    Returns
    -------
    ndarray of shape (n_jobs,)
        Median CPU seconds of each.
    """
    seconds = np.empty((repeats + 1, len(jobs)))
    for turn in seconds:
        for i, job in enumerate(jobs):
            started = time.process_time()
            job()
            turn[i] = time.process_time() - started
    return np.median(seconds[1:], axis=0)
