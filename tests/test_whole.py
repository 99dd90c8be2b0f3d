import os
import sys

import pytest

from boostbench.whole import write_whole


def test_what_cannot_be_written_to_its_end_leaves_the_file_as_it_is(tmp_path):
    path = tmp_path / "folder" / "file"
    write_whole(path, lambda stream: stream.write(b"old"))

    def save(stream):
        stream.write(b"new")
        raise OSError("No space left on device")

    with pytest.raises(OSError, match="No space"):
        write_whole(path, save)
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("platform", ["win32", "linux"])
def test_a_file_that_others_read_is_replaced_when_they_have_read_it(
    tmp_path, monkeypatch, platform
):
    """Windows refuses it before that; elsewhere what is refused stays so."""
    refusals, replace = [PermissionError("being used by another process")] * 2, os.replace

    def replace_in_time(*paths):
        if refusals:
            raise refusals.pop()
        replace(*paths)

    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(os, "replace", replace_in_time)
    path = tmp_path / "file"
    if platform == "win32":
        write_whole(path, lambda stream: stream.write(b"new"))
        assert path.read_bytes() == b"new"
        assert refusals == []
    else:
        with pytest.raises(PermissionError):
            write_whole(path, lambda stream: stream.write(b"new"))
        assert not list(tmp_path.iterdir())
        assert len(refusals) == 1
