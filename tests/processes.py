"""Processes that end with their parent process, even if it is killed."""

import ctypes
import os
import signal
import subprocess
import sys
from functools import partial

_PR_SET_PDEATHSIG = 1  # see prctl(2)


def start(command, **options) -> subprocess.Popen:
    """Start a process that Linux kills when its parent ends; an ordinary one on other systems.

    Killed tests do not finish their fixtures, but their processes must not remain: a Dask
    scheduler would wait for ever. The process handles Ctrl-C even if its parent ignores it, like
    the background processes of a shell.
    """
    if sys.platform == "linux":
        options["preexec_fn"] = partial(_end_with, os.getpid(), ctypes.CDLL(None).prctl)
    return subprocess.Popen(command, **options)


def _end_with(parent: int, prctl) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it has ended in the meantime
        os.kill(os.getpid(), signal.SIGKILL)
