"""CPU seconds of a training, by phase."""

import time

# Seconds on the wall after which those of the processor are read: a system call, during which other
# processes run and take over the cache.
_WINDOW = 0.01


class Clock:
    """A stop-watch for phases that may interrupt each other.

    All phases together have the CPU seconds of the process. Within a window of 10 milliseconds each
    has its part of them by the clock on the wall, which costs next to nothing to read.

    Attributes
    ----------
    seconds : dict of str to float
        CPU seconds of each phase so far; exact where no phase is running.

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
        self._phases = []
        # Seconds on the wall in this window.
        self._wall_seconds = {}

    def phase(self, name):
        """Count the time of a block for a phase; the phase around it, if any, pauses.

        Parameters
        ----------
        name : str or None
            None: the time counts for no phase.

        Returns
        -------
        Clock
            For a `with` statement. A generator would take several times as long.
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
        """Give the time since the last call to the phase that is running."""
        now, name = time.perf_counter(), self._phases[-1]
        self._wall_seconds[name] = self._wall_seconds.get(name, 0.0) + now - self._last_time
        self._last_time = now

    def _distribute_cpu_seconds(self):
        """Share out the CPU seconds of the window, and begin the next."""
        cpu = time.process_time()
        seconds = cpu - self._window_cpu
        window_seconds = max(self._last_time - self._window_start, 1e-9)
        for name, wall_seconds in self._wall_seconds.items():
            if name is not None:
                self.seconds[name] += seconds * wall_seconds / window_seconds
        self._wall_seconds.clear()
        self._window_cpu, self._window_start = cpu, self._last_time
