"""Dispatcher of the command line: it finds the command, runs it and reports its errors.

A command is imported when it is called and its name is checked, so that a light command, or an
unknown name, is answered at once. Changes of the process's state are undone when a command ends.
"""

import atexit
import errno
import gc
import io
import logging
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import TextIO

from boostbench.cli._commands import command_names, complete_shell, find_command, make_parser
from boostbench.util import configs
from boostbench.util.errors import Terminated, UserError, did_you_mean, is_debugging, print_error
from boostbench.util.files import user_path
from boostbench.util.process import end_workers, random_state_restored, temporarily_set

#: Number of new objects after which Python looks for reference cycles; its default is 700.
_GC_THRESHOLD = 100_000

# Commands of several threads run one after another: Hydra's state, the streams and the environment
# belong to the process.
_command_lock = threading.RLock()


def main(
    argv: Sequence[str] | None = None,
    stdout: TextIO | None = None,
    stderr: TextIO | None = None,
) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str, default=sys.argv[1:]
        Command and arguments. None: `main` is the program of this process, and may change settings
        of the process for good.
    stdout, stderr : file object, default=None
        Streams of the command. None: `sys.stdout` and `sys.stderr`, which may be any file objects
        or None.

    Returns
    -------
    int
        0 when all is well, 1 when splits failed, 2 for a mistake of the user (one line on
        stderr, nothing written), 130 after Ctrl-C, 143 after SIGTERM. With ``BOOSTBENCH_DEBUG=1``
        in the environment, mistakes show their traceback.

    Notes
    -----
    With `argv`, the process is afterwards as it was before; calls of several threads run one after
    another.
    """
    if argv is not None:
        with _restored_process(stdout, stderr):
            return _run(list(argv), owns_process=False)
    _open_standard_descriptors()
    # Python would collect the objects of all modules at exit, which takes a third of a second.
    atexit.register(gc.freeze)
    # Records are many small dicts without cycles, which Python would traverse again and again.
    gc.set_threshold(_GC_THRESHOLD)
    try:
        with _restored_process(stdout, stderr):
            return _run(sys.argv[1:], owns_process=True)
    finally:
        end_workers()


def _run(argv: list[str], *, owns_process: bool) -> int:
    """Run a command, and return its exit code, also after an error.

    Parameters
    ----------
    argv : list of str
        Command and arguments.
    owns_process : bool
        Whether the process ends after the command. Only then may its standard output be closed
        after a failed write.
    """
    configs.forget_listings()  # another call in this process may have added files
    try:
        code = _dispatch(argv)
        # Flush here, so that a full disk is reported as an error and not at interpreter exit.
        sys.stdout.flush()
        return code
    except SystemExit as stop:
        # argparse and Hydra leave this way. As in Python itself, a code of None means success, and
        # a code that is no number means failure.
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except Terminated:
        return 143  # 128 + SIGTERM, as shells report it
    except KeyboardInterrupt:
        return 130  # 128 + SIGINT
    except OSError as error:
        if _is_broken_pipe(error):
            # The reader has closed the pipe ('boostbench list | head'); flushing would fail.
            if owns_process:
                _close_output()
            return 0
        # The output has no file name. An error with a file name, or any error but a full disk, is a
        # fault of the program and keeps its traceback.
        is_full_output = error.errno == errno.ENOSPC and error.filename is None
        if not is_full_output or is_debugging():
            raise
        print_error(f"cannot write the output: {error.strerror}")
        if owns_process:
            _close_output()
        return 2
    except UserError as error:
        if is_debugging():
            raise
        print_error(error)
        return 2


def _is_broken_pipe(error: OSError) -> bool:
    """Return whether the reader of the output has closed it."""
    # Windows reports a closed pipe as an invalid argument.
    is_windows = sys.platform == "win32"
    is_invalid = is_windows and error.errno == errno.EINVAL and error.filename is None
    return is_invalid or isinstance(error, BrokenPipeError)


def _close_output() -> None:
    """Send all further output to the null device, also the output that Python flushes at exit."""
    # A stream that is no file of the system has no descriptor.
    with suppress(io.UnsupportedOperation):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _dispatch(argv: list[str]) -> int:
    """Find the command, parse its arguments, run it and return its exit code."""
    # 1) Apply --papers, and run the rest of the command line.
    if argv and argv[0].partition("=")[0] == "--papers":
        folder, rest = _split_papers(argv)
        # Worker processes read the folder from the environment, which they inherit.
        with temporarily_set(os.environ, BOOSTBENCH_PAPERS=str(folder)):
            return _dispatch(rest)
    # 2) Find the command without argparse, so that only its module is imported.
    names = command_names()
    name = argv[0] if argv else ""
    if name in ("-sc", "--shell-completion"):
        return complete_shell(argv[1] if len(argv) > 1 else "")
    if name and not name.startswith("-") and name not in names:
        raise UserError(f"unknown command {name!r}; {did_you_mean(name, names)}")
    # The first word is an option of the program or absent; its help needs all commands.
    needed_names = [name] if name in names else names
    # 3) Parse the arguments.
    parser = make_parser(find_command(command) for command in needed_names)
    args, extra_words = parser.parse_known_args(argv)
    if extra_words:
        # argparse takes no words behind options, but 'compare a b --json results=DIR' has some.
        if not hasattr(args, "words") or any(word.startswith("-") for word in extra_words):
            raise UserError(_unrecognized_message(args.command, extra_words))
        args.words += extra_words
    if args.command is None:
        parser.print_help()
        return 0
    # 4) Run the command; None as its result means success.
    _check_working_directory()
    return find_command(args.command).run(args) or 0


def _split_papers(argv: list[str]) -> tuple[Path, list[str]]:
    """Return the checked folder of ``--papers DIR`` (or ``=DIR``), and the words behind it."""
    _, equals, value = argv[0].partition("=")
    words = [value, *argv[1:]] if equals else argv[1:]
    if not words or not words[0]:
        raise UserError("--papers needs a folder: boostbench --papers DIR table NAME")
    folder = user_path(words[0]).absolute()
    if not folder.is_dir():
        raise UserError(f"--papers: there is no folder {folder}; 'boostbench new paper' makes one")
    if not any(folder.glob("*/paper.yaml")):
        raise UserError(
            f"--papers: no folder in {folder} has a paper.yaml; name the folder that holds the "
            "papers' folders"
        )
    return folder, words[1:]


def _unrecognized_message(command: str | None, words: Sequence[str]) -> str:
    """Return the error for unknown flags, with advice for a key of a config that has dashes.

    Parameters
    ----------
    command : str or None
        Name of the command; None: the program itself.
    words : sequence of str
        Words that argparse did not recognize, at least one of them a flag.
    """
    flag = next(word for word in words if word.startswith("-"))
    key = flag.lstrip("-").partition("=")[0]
    if command in ("run", "table", "figure") and key.partition(".")[0] in configs.OPTION_NOUNS:
        return f"unrecognized arguments: {' '.join(words)}; write {key}=VALUE without dashes"
    program = " ".join(filter(None, ["boostbench", command]))
    return f"unrecognized arguments: {' '.join(words)}; '{program} --help' shows how"


def _check_working_directory() -> None:
    """Raise an error if the working directory was deleted, as relative paths would fail later."""
    try:
        os.getcwd()
    except FileNotFoundError:
        raise UserError(
            "the working directory does not exist any more; change to another one"
        ) from None


# --- The state of the process ---


@contextmanager
def _restored_process(stdout: TextIO | None = None, stderr: TextIO | None = None) -> Iterator[None]:
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


def _open_standard_descriptors() -> None:
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
            # The buffer may be impossible to flush (OSError), or the stream closed (ValueError).
            with suppress(OSError, ValueError):
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
    """Handler that prints log records as the command line prints errors."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print a record as a line on stderr."""
        print_error(self.format(record))


def _remove(entries: list, entry: object) -> None:
    """Remove an entry of a list, if it is still there."""
    with suppress(ValueError):
        entries.remove(entry)
