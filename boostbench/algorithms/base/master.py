"""Restricted master problem of a training run, the interface of an algorithm to the loop.

`Clock` measures the CPU seconds of the run, by phase.
"""

import time
from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from boostbench.algorithms.base.input_validation import normalise_weights

# Largest edge of normalised weights; larger ones are capped: a perfect weak learner (edge 1) would
# get an infinite coefficient.
MAX_EDGE = 1.0 - 1e-10

# Smallest edge of normalised weights: smaller ones are rounding errors of the search, which sums in
# single precision.
MIN_EDGE = np.finfo(np.float32).eps

# Seconds of wall time between two readings of the CPU time. A reading is a system call, in which
# other processes may run and evict the cache.
_WINDOW = 0.01


class Master(ABC):
    """Restricted master problem: the state of one training run.

    A round has five steps: (1) search for the weak learner of the most violated constraint of the
    dual problem; (2) stop if none is violated; (3) add the weak learner; (4) solve for its
    coefficients, or for all coefficients; (5) update the dual variables.

    The term is from column generation: the master problem has a column for each of all weak
    learners, and the restricted one only for the weak learners so far. It holds the weak learners
    so far (the columns), their coefficients (the primal variables) and the weights of the samples
    (the dual variables).

    Parameters
    ----------
    params : Booster
        Estimator in training, with its parameters and `classes_`. A master never changes it.
    search : boostbench.core.weak_learner.Search
        Search for weak learners on the training data.

    Attributes
    ----------
    clock : Clock
        Clock of the training; the loop sets it before the first round.
    """

    # Names of the attributes, lists, that every round appends an element to; `__init__` makes them
    # empty, and `rewind` shortens them. None: rounds cannot be undone.
    per_round_lists: ClassVar = None

    def __init__(self, params, search):
        self.params = params
        self.search = search
        for name in self.per_round_lists or ():
            setattr(self, name, [])

    @abstractmethod
    def generate(self):
        """Find the weak learner of the most violated dual constraint (steps 1 and 2).

        Returns
        -------
        column : object or None
            Weak learner with its outputs, the argument of `correct`: a `SearchResult` or a struct
            of the algorithm. None if no constraint is violated, which ends the training.
        """

    @abstractmethod
    def correct(self, column):
        """Correct the solution by the column: steps 3 to 5.

        Parameters
        ----------
        column : object
            Result of `generate`.

        Returns
        -------
        bool
            False if another round would change nothing, which ends the training.
        """

    def finish(self):  # noqa: B027 - optional, most masters have nothing to warn of
        """Warn about an incomplete result; the loop calls it after the last round."""

    def rewind(self, rounds):
        """Undo all but the first `rounds` rounds; the training ends after it."""
        for name in self.per_round_lists:
            del getattr(self, name)[rounds:]


class StumpMaster(Master):
    """Base of the masters that add a stump with fixed votes in each round.

    Parameters
    ----------
    params, search
        See `Master`.
    weights : ndarray of shape (n_samples, n_columns)
        Signed weights of the first search, before the multiplication by `sample_weight`. The sign
        is the output that a stump should have.
    sample_weight : ndarray of shape (n_samples,), default=None
        Sample weights; None: all are 1.

    Attributes
    ----------
    weights : ndarray of shape (n_samples, n_columns)
        Signed weights of the next search. The edge of a stump in a column is the sum of the weights
        times its outputs.
    stumps, votes : list
        Stump of each round, and its vote: a coefficient, or one for each class.
    """

    per_round_lists: ClassVar = ("stumps", "votes")

    def __init__(self, params, search, weights, sample_weight=None):
        super().__init__(params, search)
        # Sample weights of mean 1 as a column, or None if all are 1.
        factors = normalise_weights(sample_weight)
        self._sample_factors = None if factors is None else factors[:, None]
        self.weights = self.apply_sample_weight(weights)

    def apply_sample_weight(self, weights):
        """Return `weights`, of shape (n_samples, n_columns), times the sample weights of mean 1."""
        return weights if self._sample_factors is None else weights * self._sample_factors

    def adaboost_coefficient(self, edge):
        """Return AdaBoost's coefficient for an edge, and whether the stump makes errors.

        Parameters
        ----------
        edge : float
            Edge of the stump, from 0 to 1, for weights whose absolute values sum to 1.

        Returns
        -------
        alpha : float
            Half of the logarithm of (1 + edge) / (1 - edge), the minimiser of the exponential loss.
            The edge is capped at `MAX_EDGE`, as a perfect stump would get an infinite coefficient.
        has_errors : bool
            False if the edge is 1 up to rounding: the weights of another round would all be 0.
        """
        capped = min(edge, MAX_EDGE)
        return 0.5 * np.log((1 + capped) / (1 - capped)), edge < MAX_EDGE


class Clock:
    """Stop-watch of the CPU time of a training, for phases that may interrupt each other.

    A *window* of at least 10 milliseconds collects the wall seconds of each phase, which are cheap
    to read. At its end, the CPU seconds of the process since its start are read once, and divided
    among the phases in proportion to these wall seconds.

    Attributes
    ----------
    seconds : dict of str to float
        CPU seconds of each phase so far; exact when no phase is running.
    start : float
        Wall time at which the clock was made, as `time.perf_counter` returns it.

    Examples
    --------
    >>> clock = Clock()
    >>> with clock.phase("coefficients"):
    ...     with clock.phase("search"):  # does not count for the coefficients
    ...         pass
    >>> sorted(clock.seconds)
    ['coefficients', 'search']
    """

    def __init__(self):
        self.seconds = {}
        self.start = time.perf_counter()
        # Names of the phases that are entered, the running one last.
        self._phases = []
        # Name of the phase that the next `with` statement enters.
        self._next_phase = None
        # Wall seconds of each phase in the current window. `__enter__` sets its start, and the wall
        # time of the last reading, `_last_time`.
        self._wall_seconds = {}

    def is_past(self, time_limit):
        """Return True if the clock is older than a time limit.

        Parameters
        ----------
        time_limit : float or None
            Wall seconds; None: no limit.

        Returns
        -------
        bool
        """
        return time_limit is not None and time.perf_counter() - self.start >= time_limit

    def phase(self, name):
        """Return a context manager that times a block; an enclosing phase pauses.

        Parameters
        ----------
        name : str or None
            Name of the phase; None: the time is not counted.

        Returns
        -------
        Clock
            The clock itself, for a `with` statement; several times as fast as a generator.
        """
        # `__enter__`, which has no arguments, is called next and reads the name.
        self._next_phase = name
        return self

    def __enter__(self):
        """Begin the phase that `phase` has named."""
        if self._phases:
            self._credit_running_phase()
        else:
            self._window_cpu, self._window_start = time.process_time(), time.perf_counter()
            self._last_time = self._window_start
        self._phases.append(self._next_phase)
        if self._next_phase is not None:
            self.seconds.setdefault(self._next_phase, 0.0)

    def __exit__(self, *error):
        """End the running phase, and read the CPU time if the window is over."""
        self._credit_running_phase()
        self._phases.pop()
        if not self._phases or self._last_time - self._window_start >= _WINDOW:
            self._distribute_cpu_seconds()

    def _credit_running_phase(self):
        """Add the wall seconds since the last call to the running phase."""
        now, name = time.perf_counter(), self._phases[-1]
        self._wall_seconds[name] = self._wall_seconds.get(name, 0.0) + now - self._last_time
        self._last_time = now

    def _distribute_cpu_seconds(self):
        """Divide the CPU seconds of the window among its phases, and begin a new window."""
        cpu = time.process_time()
        seconds = cpu - self._window_cpu
        # A window without wall time, shorter than the resolution of the clock, must not divide by
        # 0.
        window_seconds = max(self._last_time - self._window_start, 1e-9)
        for name, wall_seconds in self._wall_seconds.items():
            if name is not None:
                self.seconds[name] += seconds * wall_seconds / window_seconds
        self._wall_seconds.clear()
        self._window_cpu, self._window_start = cpu, self._last_time
