"""The process of a command: changes of its state are undone when the command ends."""

import io
import logging
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import TextIO

from boostbench.util.errors import print_error
from boostbench.util.process import random_state_restored

# Commands of several threads run one after another: Hydra's state, the streams and the environment
# belong to the process.
_command_lock = threading.RLock()


@contextmanager
def restored_process(stdout: TextIO | None = None, stderr: TextIO | None = None) -> Iterator[None]:
    """Prepare the process for a command; restore streams, logging, path and random state.

    Parameters
    ----------
    stdout, stderr : file object, default=None
        Streams of the command. None: the streams of the process.
    """
    with _command_lock, random_state_restored(), ExitStack() as stack:
        if stdout is not None:
            stack.enter_context(redirect_stdout(stdout))
        if stderr is not None:
            stack.enter_context(redirect_stderr(stderr))
        for name in ("stdout", "stderr"):
            stack.enter_context(_usable_stream(name))
        stack.enter_context(_warnings_to_stderr())
        # A class in a file beside the user is found, after all that is installed.
        if "" not in sys.path:
            sys.path.append("")
            stack.callback(_remove, sys.path, "")
        yield


def open_standard_descriptors() -> None:
    """Open the null device in place of standard streams that are closed, as under cron.

    Otherwise the next file that is opened, such as a file of records, would get the number of
    standard output, and the output of a library or of a worker process would go into that file.
    """
    while True:
        descriptor = os.open(os.devnull, os.O_RDWR)
        if descriptor > 2:
            os.close(descriptor)
            return
        os.set_inheritable(descriptor, True)


@contextmanager
def _usable_stream(name: str) -> Iterator[None]:
    """Let `sys.stdout` or `sys.stderr` take any text; without a stream, the text is lost."""
    stream = getattr(sys, name)
    if stream is None:
        with open(os.devnull, "w", encoding="utf-8") as nowhere:
            setattr(sys, name, nowhere)
            try:
                yield
            finally:
                setattr(sys, name, None)
    elif isinstance(stream, io.TextIOWrapper):
        errors = stream.errors
        # The terminal may not be able to show all characters of a name.
        stream.reconfigure(errors="backslashreplace")
        try:
            yield
        finally:
            with suppress(OSError, ValueError):  # it cannot be flushed, or is closed
                stream.reconfigure(errors=errors)
    else:
        yield


@contextmanager
def _warnings_to_stderr() -> Iterator[None]:
    """Print warnings that modules log, unless the caller has set up logging."""
    if logging.root.handlers:
        yield
        return
    handler = _WarningPrinter()
    logging.root.addHandler(handler)
    try:
        yield
    finally:
        logging.root.removeHandler(handler)


class _WarningPrinter(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        """Print a record as a line on stderr."""
        print_error(self.format(record))


def _remove(entries: list, entry) -> None:
    with suppress(ValueError):
        entries.remove(entry)
