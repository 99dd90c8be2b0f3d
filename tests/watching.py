"""Record changes of files, processes, libraries and connections while code runs."""

import contextlib
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
#: Events of Python's audit that change files, by the positions of the paths in their arguments.
_CHANGES = {
    **dict.fromkeys(("os.mkdir", "os.rmdir", "os.remove", "os.chmod", "os.chown"), (0,)),
    **dict.fromkeys(("os.truncate", "os.utime", "shutil.rmtree", "shutil.chown"), (0,)),
    **dict.fromkeys(("os.rename", "os.link", "os.symlink", "shutil.move"), (0, 1)),
    **dict.fromkeys(("shutil.copyfile", "shutil.copytree"), (1,)),
    "sqlite3.connect": (0,),
}
#: Events that start something, or speak to somebody.
_STARTS = {
    *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork"),
    *("os.forkpty", "os.startfile", "pty.spawn", "ctypes.dlopen", "ctypes.dlsym"),
    *("socket.connect", "socket.bind", "socket.sendto", "webbrowser.open", "urllib.Request"),
    *("marshal.loads", "pickle.find_class"),
}


class Watch:
    """Record of Python's audit events.

    Attributes
    ----------
    seen : list of str
        Events that are not allowed.
    """

    def __init__(self, writable: list[Path], secret: Path):
        self.seen: list[str] = []
        self._writable = [str(path.resolve()) for path in writable]
        self._secret = str(secret)
        self._thread = threading.get_ident()

    def hear(self, event: str, args: tuple) -> None:
        """Record an event, unless it is allowed."""
        if event == "open":
            path, _, flags = args
            if isinstance(path, int):
                return
            path = os.path.abspath(os.fsdecode(path))
            if path == self._secret:
                self.seen.append(f"reads {path}")
            elif flags & _WRITES and not self._is_allowed(path):
                self.seen.append(f"writes {path}")
        elif event in _CHANGES:
            paths = [os.path.abspath(os.fsdecode(args[n])) for n in _CHANGES[event]]
            if event == "os.mkdir" and os.path.isdir(paths[0]):
                return  # which fails, and nothing changes
            if "joblib_memmapping_folder" in paths[0] and _under("joblib"):
                return  # through which its workers get their data
            if not all(map(self._is_allowed, paths)):
                self.seen.append(f"{event} {paths}")
        elif event in _STARTS and not _is_usual(event, args):
            self.seen.append(f"{event} {args!r:.200}")

    def _is_allowed(self, path: str) -> bool:
        return path == os.devnull or any(
            path == folder or path.startswith(folder + os.sep) for folder in self._writable
        )


def _is_usual(event: str, args: tuple) -> bool:
    """Return True for events that boostbench causes with any input.

    It asks git for the commit, and on macOS `platform` asks uname for the processor.
    """
    if event == "subprocess.Popen":
        return os.path.basename(os.fsdecode(args[0])) in ("git", "uname")
    if event in ("os.fork", "os.posix_spawn", "marshal.loads"):
        return _under("subprocess.py", "importlib._bootstrap_external")
    if event in ("ctypes.dlopen", "ctypes.dlsym"):
        return _under("threadpoolctl.py")
    if event == "pickle.find_class":
        return _under("joblib")
    return False


def _under(*names: str) -> bool:
    frame = sys._getframe(2)
    while frame:
        if any(name in frame.f_code.co_filename for name in names):
            return True
        frame = frame.f_back
    return False


_watches: list[Watch] = []
_hooked: list[bool] = []


def _hook(event: str, args: tuple) -> None:
    if _watches and threading.get_ident() == _watches[-1]._thread:
        with contextlib.suppress(TypeError, ValueError):
            _watches[-1].hear(event, args)


@contextlib.contextmanager
def watching(writable: list[Path], secret: Path) -> Iterator[Watch]:
    """Watch the events of this process.

    Parameters
    ----------
    writable : list of Path
        Folders in which files may be written.
    secret : Path
        A file that must not be read.
    """
    if not _hooked:
        sys.addaudithook(_hook)  # for good: Python takes none away
        _hooked.append(True)
    _watches.append(Watch(writable, secret))
    try:
        yield _watches[-1]
    finally:
        _watches.pop()
