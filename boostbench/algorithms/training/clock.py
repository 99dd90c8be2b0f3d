"""CPU seconds of a training, by phase."""

import time
from contextlib import contextmanager


class Clock:
    """A stop-watch for phases that may interrupt each other.

    Attributes
    ----------
    seconds : dict of str to float
        CPU seconds of each phase so far.

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
        self._since = 0.0

    @contextmanager
    def phase(self, name):
        """Count the time of the block for a phase; the phase around it, if any, pauses.

        Parameters
        ----------
        name : str
        """
        self._count()
        self._phases.append(name)
        self.seconds.setdefault(name, 0.0)
        try:
            yield
        finally:
            self._count()
            self._phases.pop()

    def _count(self):
        """Give the time since the last call to the phase that is running."""
        now = time.process_time()
        if self._phases:
            self.seconds[self._phases[-1]] += now - self._since
        self._since = now
