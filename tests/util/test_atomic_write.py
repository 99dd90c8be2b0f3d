import os
import sys
from pathlib import Path

import pytest

from boostbench.util.files import atomic_write, open_in_place, write_output


def test_failed_write_keeps_the_old_file(tmp_path):
    path = tmp_path / "folder" / "file"
    atomic_write(path, lambda stream: stream.write(b"old"))

    def save(stream):
        stream.write(b"new")
        raise OSError("No space left on device")

    with pytest.raises(OSError, match="No space"):
        atomic_write(path, save)
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("platform", ["win32", "linux"])
def test_replacement_waits_for_readers_on_windows(tmp_path, monkeypatch, platform):
    """Windows refuses to replace an open file; on other systems an error is final."""
    refusals, replace = [PermissionError("being used by another process")] * 2, os.replace

    def replace_in_time(*paths):
        if refusals:
            raise refusals.pop()
        replace(*paths)

    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(os, "replace", replace_in_time)
    path = tmp_path / "file"
    if platform == "win32":
        atomic_write(path, lambda stream: stream.write(b"new"))
        assert path.read_bytes() == b"new"
        assert refusals == []
    else:
        with pytest.raises(PermissionError):
            atomic_write(path, lambda stream: stream.write(b"new"))
        assert not list(tmp_path.iterdir())
        assert len(refusals) == 1


def test_a_link_is_replaced_and_not_followed(tmp_path):
    path, target = tmp_path / "page.html", tmp_path / "target"
    target.write_text("precious")
    path.symlink_to(target)
    atomic_write(path, lambda stream: stream.write(b"new"))
    assert (path.read_text(), target.read_text()) == ("new", "precious")
    assert not path.is_symlink()


def test_a_link_in_place_of_the_temporary_file_is_not_followed(tmp_path):
    path, target = tmp_path / "page.html", tmp_path / "target"
    target.write_text("precious")
    (tmp_path / f"page.html.{os.getpid()}.part").symlink_to(target)
    atomic_write(path, lambda stream: stream.write(b"new"))
    assert (path.read_text(), target.read_text()) == ("new", "precious")


def test_longest_file_name_can_be_written(tmp_path):
    path = tmp_path / ("é" * 127)
    atomic_write(path, lambda stream: stream.write(b"new"))
    assert path.read_text() == "new"


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="the system has no /dev/fd")
def test_output_goes_to_a_device_that_leads_to_a_file(tmp_path):
    with (tmp_path / "file").open("wb") as file:
        write_output(Path(f"/dev/fd/{file.fileno()}"), lambda stream: stream.write(b"new"))
    assert (tmp_path / "file").read_text() == "new"


def test_a_file_is_opened_in_place_and_a_link_is_refused(tmp_path):
    with open_in_place(tmp_path / "file", "ab") as stream:
        stream.write(b"line\n")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    (tmp_path / "dangling").symlink_to(tmp_path / "new")
    for name in ("link", "dangling"):
        with pytest.raises(OSError, match=f"{name} is a symbolic link, not a file; remove it"):
            open_in_place(tmp_path / name, "ab")
    assert not (tmp_path / "new").exists()
