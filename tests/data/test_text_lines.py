import bz2
import gzip
import io
import lzma

import pytest

from boostbench.data.text import check_utf8, read_lines
from boostbench.util.errors import UserError


def lines(content, **options):
    return list(read_lines(io.BytesIO(content), "toy", **options))


def test_lines_have_any_line_end():
    assert lines("\ufeffä\rb\r\nc\nd\u2028e".encode()) == ["ä\n", "b\n", "c\n", "d\u2028e"]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_error_names_the_line_outside_utf_8(end):
    content = end.join([b"a", "ü".encode(), b"", b"x,M\xfcller", b"\xfc"])
    with pytest.raises(UserError) as error:
        check_utf8(io.BytesIO(content), "toy")
    message = "toy, line 4 is not UTF-8: byte 0xfc after 'x,M'; save it as UTF-8"
    assert str(error.value) == message


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf_16_is_named(encoding):
    with pytest.raises(UserError, match=r"^toy is UTF-16 text; save it as UTF-8$"):
        lines("\ufeffa,b".encode(encoding) if "-be" in encoding else "a,b".encode(encoding))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(b"a,b\n1,2\n", mtime=0), "compressed; add .gz to its name"),
        (bz2.compress(b"a,b\n1,2\n"), "compressed; add .bz2 to its name"),
        (lzma.compress(b"a,b\n1,2\n"), "compressed; add .xz to its name"),
        (b"PK\x03\x04\n\x00\n\x80", "a zip archive or a workbook; save the table as text"),
        (b"PAR1\x15\x04\n\x80\xff", "Parquet; save the table as text"),
    ],
)
def test_error_names_the_kind_of_a_foreign_file(content, message):
    with pytest.raises(UserError) as error:
        check_utf8(io.BytesIO(content), "toy")
    assert str(error.value) == f"toy is {message}"


def test_ignored_lines_may_hold_any_bytes():
    content = b"1 # \xfc\n\xfc # 2\n"
    with pytest.raises(UserError, match="line 2 is not UTF-8"):
        lines(content, checked_part=lambda line: line.partition("#")[0])


def test_file_stays_open():
    stream = io.BytesIO(b"a\nb\n")
    assert next(read_lines(stream, "toy")) == "a\n"
    assert read_lines(stream, "toy").__next__() == "a\n"
    assert not stream.closed
