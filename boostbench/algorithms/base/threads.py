"""Threads that share the items of a list, for bags, and a limit on the threads of BLAS."""

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController


class Threads:
    """Threads for functions that spend their time outside of Python's global interpreter lock.

    The thread that calls `map` takes a part of the work.

    Parameters
    ----------
    n_jobs : int or None
        Number of threads; as `n_jobs` of scikit-learn.

    Examples
    --------
    >>> Threads(2).map(abs, [-1, 2, -3])
    [1, 2, 3]
    """

    def __init__(self, n_jobs):
        self._n_threads = effective_n_jobs(n_jobs)
        self._pool = ThreadPoolExecutor(self._n_threads - 1) if self._n_threads > 1 else None

    def map(self, function, items):
        """Return the results for all items, in the order of the items.

        Parameters
        ----------
        function : callable
        items : list

        Returns
        -------
        list
        """
        if self._pool is None:
            return _apply(function, items)
        # Each thread gets one task, not one for each item: to start a task takes some 50
        # microseconds.
        ends = [len(items) * i // self._n_threads for i in range(self._n_threads + 1)]
        parts = [items[start:end] for start, end in pairwise(ends)]
        tasks = [self._pool.submit(_apply, function, part) for part in parts[1:] if part]
        results = _apply(function, parts[0])
        for task in tasks:
            results += task.result()
        return results


def one_blas_thread():
    """Return a context manager that limits BLAS to one thread.

    The products of blocks of samples are so small that threads of BLAS mostly wait for one another.
    """
    return _thread_controller().limit(limits=1, user_api="blas")


# The search for the loaded libraries takes some milliseconds.
@cache
def _thread_controller():
    """Return the controller of the libraries that are loaded."""
    return ThreadpoolController()


def _apply(function, items):
    """Return the results of a function for a list of items."""
    return [function(item) for item in items]
