import portalocker
import pytest

from boostbench.util.errors import UserError
from boostbench.util.files import file_lock


def lock_now(folder):
    flags = portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING
    with (folder / ".lock").open("ab") as other:
        portalocker.lock(other, flags)


def test_file_lock_is_exclusive(tmp_path):
    folder = tmp_path / "new"
    with file_lock(folder / "file"), pytest.raises(portalocker.LockException):
        lock_now(folder)
    lock_now(folder)


def test_error_has_the_remedy(tmp_path, monkeypatch):
    def lock(file, flags):
        raise portalocker.LockException("no locks available")

    (tmp_path / "file").write_text("")
    message = r"^cannot write all to .*more: File exists; go elsewhere$"
    with (
        pytest.raises(UserError, match=message),
        file_lock(tmp_path / "file/more", "all to ", "go elsewhere"),
    ):
        pass
    monkeypatch.setattr(portalocker, "lock", lock)
    message = r"^cannot lock .*: no locks available; go elsewhere$"
    with (
        pytest.raises(UserError, match=message),
        file_lock(tmp_path / "file", remedy="go elsewhere"),
    ):
        pass
