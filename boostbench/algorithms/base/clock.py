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
        self._on_wall = {}

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
        self._next = name
        return self

    def __enter__(self):
        if self._phases:
            self._count()
        else:
            self._cpu, self._began = time.process_time(), time.perf_counter()
            self._since = self._began
        self._phases.append(self._next)
        if self._next is not None:
            self.seconds.setdefault(self._next, 0.0)

    def __exit__(self, *error):
        self._count()
        self._phases.pop()
        if not self._phases or self._since - self._began >= _WINDOW:
            self._end_window()

    def _count(self):
        """Give the time since the last call to the phase that is running."""
        now, name = time.perf_counter(), self._phases[-1]
        self._on_wall[name] = self._on_wall.get(name, 0.0) + now - self._since
        self._since = now

    def _end_window(self):
        """Share out the CPU seconds of the window, and begin the next."""
        cpu = time.process_time()
        seconds = cpu - self._cpu
        of_all = max(self._since - self._began, 1e-9)
        for name, on_wall in self._on_wall.items():
            if name is not None:
                self.seconds[name] += seconds * on_wall / of_all
        self._on_wall.clear()
        self._cpu, self._began = cpu, self._since
