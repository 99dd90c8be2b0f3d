import portalocker
import pytest

from boostbench.util.errors import UserError
from boostbench.util.file_lock import file_lock


def lock_now(folder):
    flags = portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING
    with (folder / ".lock").open("ab") as other:
        portalocker.lock(other, flags)


def test_nobody_else_has_the_lock_meanwhile(tmp_path):
    folder = tmp_path / "new"
    with file_lock(folder / "file"), pytest.raises(portalocker.LockException):
        lock_now(folder)
    lock_now(folder)


def test_what_can_be_done_about_it_is_told(tmp_path, monkeypatch):
    def lock(file, flags):
        raise portalocker.LockException("no locks available")

    (tmp_path / "file").write_text("")
    told = r"^cannot write all to .*more: File exists; go elsewhere$"
    with (
        pytest.raises(UserError, match=told),
        file_lock(tmp_path / "file/more", "all to ", "go elsewhere"),
    ):
        pass
    monkeypatch.setattr(portalocker, "lock", lock)
    told = r"^cannot lock .*: no locks available; go elsewhere$"
    with pytest.raises(UserError, match=told), file_lock(tmp_path / "file", remedy="go elsewhere"):
        pass
