"""Small files that unpack to gigabytes, and other small files that would take much memory."""

import bz2
import gzip
import io
import lzma
import re
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from boostbench.data.loading import load
from boostbench.util.errors import UserError

COMPRESS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
#: Files of several parts unpack to all of them.
N_PARTS = 2048


#: Program that prints the error of loading a file, and the memory in kB that the load added. The
#: memory of the process of the tests depends on the tests before.
LOAD = """
import re, sys
from boostbench.data.loading import load
from boostbench.util.errors import UserError

def memory(name):
    status = open("/proc/self/status").read() if sys.platform == "linux" else f"{name}: 0 kB"
    return int(re.search(rf"{name}:\\s+(\\d+) kB", status)[1])

before = memory("VmRSS")
try:
    load({"name": "toy", "path": sys.argv[1]})
except UserError as error:
    print(error)
print(memory("VmHWM") - before)
"""


def refused(path, match):
    command = [sys.executable, "-W", "ignore", "-c", LOAD, str(path)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    message, added = done.stdout.splitlines()
    assert re.search(match, message)
    assert path.name in message
    assert 1024 * int(added) < 10 * path.stat().st_size + 4e8


@pytest.mark.parametrize(
    ("kind", "ending"), [*((".svm", ending) for ending in COMPRESS), (".npz", ".gz")]
)
def test_file_of_two_gigabytes_is_refused(tmp_path, kind, ending):
    path = tmp_path / f"toy{kind}{ending}"
    path.write_bytes(COMPRESS[ending](b"1 1:1 2:2, 3\n" * 2**16 + b"1" * 2**18) * N_PARTS)
    refused(path, r"unpacks to more than \d+ MB, more than 100 times its size")


def test_archive_of_two_gigabytes_is_refused(tmp_path):
    path = tmp_path / "toy.npz"
    header = io.BytesIO()
    about = {"descr": "|u1", "fortran_order": False, "shape": (1, 2**31)}
    np.lib.format.write_array_header_1_0(header, about)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", header.getvalue() + bytes(2**28))
        archive.writestr("y.npy", b"")
    refused(path, "unpacks to more than 134 MB")
    path.rename(tmp_path / "other.splits.npz")
    (tmp_path / "other.csv").write_text("a,class\n1,2\n2,3\n")
    with pytest.raises(UserError, match=r"splits.npz unpacks to more than"):
        load({"name": "toy", "path": str(tmp_path / "other.csv")})


def test_small_content_may_have_any_compression_ratio(tmp_path):
    path = tmp_path / "toy.svm.xz"
    path.write_bytes(lzma.compress(b"1 1:1\n2 1:2\n" * 10**5))
    assert load({"name": "toy", "path": str(path)}).n_samples == 2 * 10**5


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("wide.csv", b"1," * 10**6 + b"1\n" + b"2," * 10**6 + b"2\n", "more than 100000 columns"),
        ("narrow.csv", b"x\n" * 10**7, "no column of features"),
        ("empty.csv", b"\n" * 10**7, "is empty"),
        ("line.csv", b"x" * 10**7, "no column of features"),
        ("narrow.svm", b"1\n" * 10**7, "has no features"),
        ("alone.svm", b"1 1:1\n" + b"2\n" * 10**6, "1000001 rows and only 1 features in all"),
        ("line.svm", b"x" * 10**7, "has no features"),
        ("label.svm", b"x" * 10**6 + b" 1:1\n" + b"a 1:2\n" * 10**5, "label in row 1 .*1000000 ch"),
        ("label.csv", b"1," + b"x" * 10**6 + b"\n" + b"2,a\n" * 10**5, "line 1: field larger than"),
        (
            "ids.csv",
            b"a,class\n" + b"".join(b"w%d,1\n" % i for i in range(10**5)),
            "is different in",
        ),
        ("line.arff", b"@relation r\n@attribute a real\n@data\n" + b"x" * 10**7, "line 4 does not"),
        ("deep.arff", b"@relation r\n@attribute a " + b"{" * 10**6 + b"\n@data\n1\n", "toy|deep"),
    ],
)
def test_memory_of_a_file_is_limited(tmp_path, name, content, match):
    path = tmp_path / name
    path.write_bytes(content)
    refused(path, match)
