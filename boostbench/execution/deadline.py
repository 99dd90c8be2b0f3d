"""Time limits of trials."""

import ctypes
import faulthandler
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace

from boostbench.fitting.calibration import calibration
from boostbench.fitting.trial import Outcome, Trial, run_trial
from boostbench.util.errors import UserError

#: How much of the limit, and how many seconds at least, a trial has to stop by itself before its
#: process is ended.
GRACE_SHARE, MIN_GRACE = 0.1, 1
# Seconds until a timer goes off that is due; 0 would switch it off.
_MIN_DELAY = 1e-6


class OutOfTime(BaseException):
    """The limit is over; not an `Exception`, so that estimators do not take it for their own."""


def late(outcome: Outcome, limit: float) -> Outcome:
    """Return an outcome as the failure of a trial that took longer than its time limit."""
    error = f"OutOfTime: it takes more than {limit:g} s"
    return replace(outcome, results={}, error=error, where="protocol.time_limit")


def run_with_time_limit(
    trial: Trial, X, y, *, expendable: bool, trace: str = os.devnull
) -> Outcome:
    """Run a trial; at the end of its protocol's `time_limit` it is a failure.

    Parameters
    ----------
    trial, X, y
        As of `run_trial`.
    expendable : bool
        Whether this process may be ended, if the trial does not stop by itself soon after
        the limit: it hangs in compiled code, or keeps the exception to itself.
    trace : str, default=os.devnull
        Path of the file to which the process writes its traceback before it is ended so.

    Returns
    -------
    Outcome
    """
    limit = trial.protocol.time_limit
    if limit is None:
        return run_trial(trial, X, y)
    # Do this outside the limit: only the first trial of a process would take longer for it.
    calibration()
    with suppress(UserError):  # the trial says it in its own words
        trial.algorithm.import_class()
    try:
        grace = max(MIN_GRACE, GRACE_SHARE * limit)
        last = _exit_after(limit + grace, trace) if expendable else nullcontext()
        with last, _raising_after(limit) as is_over:
            outcome = run_trial(trial, X, y)
    except OutOfTime:
        return late(Outcome(), limit)
    # The exception became the failure of the trial, or the estimator replaced it by its own error.
    return late(outcome, limit) if is_over and outcome.error else outcome


@contextmanager
def _raising_after(seconds: float) -> Iterator[list]:
    """Raise `OutOfTime` in this thread; the yielded list is not empty from then on."""
    is_over: list[bool] = []
    if hasattr(signal, "SIGALRM") and threading.current_thread() is threading.main_thread():

        def stop(number, frame):
            is_over.append(True)
            raise OutOfTime

        before, begin = signal.signal(signal.SIGALRM, stop), time.monotonic()
        remaining, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            yield is_over
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            if remaining:
                # An alarm of the caller that is due by now goes off at once.
                remaining = max(_MIN_DELAY, remaining - (time.monotonic() - begin))
                signal.setitimer(signal.ITIMER_REAL, remaining, interval)
        return
    # A thread of a Dask worker hears no signals, and Windows has none for it.
    thread = ctypes.c_ulong(threading.get_ident())

    def tell():
        is_over.append(True)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(OutOfTime))

    timer = threading.Timer(seconds, tell)
    timer.start()
    try:
        yield is_over
    finally:
        timer.cancel()


@contextmanager
def _exit_after(seconds: float, trace: str) -> Iterator[None]:
    """End this process, even if Python itself does not get a word in any more."""
    with open(trace, "w") as file:
        faulthandler.dump_traceback_later(seconds, exit=True, file=file)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()
