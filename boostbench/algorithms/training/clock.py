"""CPU seconds of a training, by phase."""

import time


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
        self._count()
        self._phases.append(self._next)
        if self._next is not None:
            self.seconds.setdefault(self._next, 0.0)

    def __exit__(self, *error):
        self._count()
        self._phases.pop()

    def _count(self):
        """Give the time since the last call to the phase that is running."""
        now = time.process_time()
        if self._phases and self._phases[-1] is not None:
            self.seconds[self._phases[-1]] += now - self._since
        self._since = now
