"""Time limits of trials, by the setting ``protocol.time_limit``.

Two mechanisms end a trial. At the limit, the exception `OutOfTime` is raised in its thread. A fit
goes on if it is in compiled code, which Python cannot interrupt, or catches the exception: then the
process is ended after a grace period, provided that it is a worker process.
"""

import ctypes
import faulthandler
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path

from boostbench.fitting.trial import DIED, Outcome, Trial, calibration, run_trial
from boostbench.records.fit_results import Results
from boostbench.util.errors import UserError

#: Grace period, in which a trial can stop after its limit before its process is ended: a fraction
#: of the limit, as slow fits have slow steps, and at least this number of seconds.
GRACE_SHARE = 0.1
MIN_GRACE = 1
# Seconds until a timer goes off that is due: a microsecond is the shortest time of `setitimer`,
# whose 0 stops a timer.
_MIN_DELAY = 1e-6


class OutOfTime(BaseException):
    """Exception at the time limit.

    It is no subclass of `Exception`, which estimators may catch to handle their own errors.
    """


def timeout_failure(outcome: Outcome, limit: float) -> Outcome:
    """Return the outcome of a trial as the failure to finish within its time limit.

    Parameters
    ----------
    outcome : Outcome
        Outcome of the interrupted trial, whose sizes of parts and times are kept.
    limit : float
        Time limit in seconds.
    """
    error = f"OutOfTime: it takes more than {limit:g} s"
    return replace(outcome, results=Results(), error=error, where="protocol.time_limit")


def find_timeout(trace: Path, limit: float | None) -> Outcome | None:
    """Return the outcome of a trial whose process was ended by the deadline.

    Parameters
    ----------
    trace : Path
        File that `run_with_time_limit` got as `trace`. Only the deadline writes to it, the
        traceback of the process that it ends.
    limit : float or None
        Time limit in seconds; None: the trial has no limit.

    Returns
    -------
    Outcome or None
        None: the process is not gone, or died of another cause.
    """
    has_traceback = trace.exists() and trace.stat().st_size > 0
    # A worker that died of another cause leaves the file empty.
    return timeout_failure(DIED, limit) if has_traceback else None


def run_with_time_limit(
    trial: Trial, X, y, *, expendable: bool, trace: str = os.devnull
) -> Outcome:
    """Run a trial; if it takes longer than its protocol's `time_limit`, it is a failure.

    Parameters
    ----------
    trial, X, y
        See `run_trial`.
    expendable : bool
        True: this is a worker process, which is ended if the trial does not stop within the grace
        period.
    trace : str, default=os.devnull
        Path of the file to which the process writes its traceback before it is ended.

    Returns
    -------
    Outcome
        Outcome of `run_trial`, or a failure, see `timeout_failure`.
    """
    limit = trial.protocol.time_limit
    if limit is None:
        return run_trial(trial, X, y)
    # 1) Import the estimator and run the reference job before the clock starts: both take time in
    #    the first trial of a process only. The trial itself reports an error of the import.
    calibration()
    with suppress(UserError):
        trial.algorithm.import_class()
    # 2) Run the trial under both mechanisms. The list `alarms` is empty until the alarm is raised.
    grace = max(MIN_GRACE, GRACE_SHARE * limit)
    end_of_process = _exit_after(limit + grace, trace) if expendable else nullcontext()
    try:
        with end_of_process, _raising_after(limit) as alarms:
            outcome = run_trial(trial, X, y)
    except OutOfTime:
        # The alarm came between the steps of `run_trial` that record exceptions.
        return timeout_failure(Outcome(), limit)
    # 3) Name the limit as the cause of a failure after the alarm: `run_trial` has recorded the
    #    exception, or an error that the estimator raised in its place. A fit that finished although
    #    the alarm was raised is a success.
    return timeout_failure(outcome, limit) if alarms and outcome.error else outcome


def _raising_after(seconds: float) -> AbstractContextManager[list[bool]]:
    """Return a context that raises `OutOfTime` in this thread after a number of seconds.

    The value of the context is a list, to which True is appended when the exception is raised.
    """
    # Python sends signals to the main thread; Dask runs trials in others. Windows has no alarms.
    has_alarms = hasattr(signal, "SIGALRM")
    if has_alarms and threading.current_thread() is threading.main_thread():
        return _raising_by_signal(seconds)
    return _raising_by_thread(seconds)


@contextmanager
def _raising_by_signal(seconds: float) -> Iterator[list[bool]]:
    """Raise `OutOfTime` by an alarm, which also interrupts a system call, such as `time.sleep`."""
    alarms: list[bool] = []

    def raise_out_of_time(signal_number, frame):
        alarms.append(True)
        raise OutOfTime

    # A process has one alarm: keep the handler and the timer of the caller.
    caller_handler = signal.signal(signal.SIGALRM, raise_out_of_time)
    start = time.monotonic()
    caller_seconds, caller_interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield alarms
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, caller_handler)
        if caller_seconds:
            # An alarm of the caller that is due by now goes off at once.
            remaining = max(_MIN_DELAY, caller_seconds - (time.monotonic() - start))
            signal.setitimer(signal.ITIMER_REAL, remaining, caller_interval)


@contextmanager
def _raising_by_thread(seconds: float) -> Iterator[list[bool]]:
    """Raise `OutOfTime` from another thread; it takes effect at the next bytecode of this one."""
    alarms: list[bool] = []
    thread_id = ctypes.c_ulong(threading.get_ident())

    def raise_out_of_time():
        alarms.append(True)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(thread_id, ctypes.py_object(OutOfTime))

    timer = threading.Timer(seconds, raise_out_of_time)
    timer.start()
    try:
        yield alarms
    finally:
        timer.cancel()


@contextmanager
def _exit_after(seconds: float, trace: str) -> Iterator[None]:
    """End this process after a number of seconds, even if compiled code does not return to Python.

    `faulthandler` waits in a C thread, which needs no lock of Python, and first writes the
    traceback to the file `trace`.
    """
    with open(trace, "w") as file:
        faulthandler.dump_traceback_later(seconds, exit=True, file=file)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()
