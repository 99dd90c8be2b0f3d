"""Clock of the CPU seconds of a training, by phase."""

import time

# Wall seconds between two readings of the CPU time. A reading is a system call, in which other
# processes may run and evict the cache.
_WINDOW = 0.01


class Clock:
    """Stop-watch for phases that may interrupt each other.

    The CPU seconds of the process are read every 10 milliseconds, and divided among the phases in
    proportion to their wall time, which is cheap to read.

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
        self._phases = []
        # Wall seconds of each phase in the current window.
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
        self._next_phase = name
        return self

    def __enter__(self):
        if self._phases:
            self._credit_running_phase()
        else:
            self._window_cpu, self._window_start = time.process_time(), time.perf_counter()
            self._last_time = self._window_start
        self._phases.append(self._next_phase)
        if self._next_phase is not None:
            self.seconds.setdefault(self._next_phase, 0.0)

    def __exit__(self, *error):
        self._credit_running_phase()
        self._phases.pop()
        if not self._phases or self._last_time - self._window_start >= _WINDOW:
            self._distribute_cpu_seconds()

    def _credit_running_phase(self):
        """Add the time since the last call to the running phase."""
        now, name = time.perf_counter(), self._phases[-1]
        self._wall_seconds[name] = self._wall_seconds.get(name, 0.0) + now - self._last_time
        self._last_time = now

    def _distribute_cpu_seconds(self):
        """Divide the CPU seconds of the window among its phases, and begin a new window."""
        cpu = time.process_time()
        seconds = cpu - self._window_cpu
        window_seconds = max(self._last_time - self._window_start, 1e-9)
        for name, wall_seconds in self._wall_seconds.items():
            if name is not None:
                self.seconds[name] += seconds * wall_seconds / window_seconds
        self._wall_seconds.clear()
        self._window_cpu, self._window_start = cpu, self._last_time
