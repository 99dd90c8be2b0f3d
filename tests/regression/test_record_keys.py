"""The keys of committed records stay as they were when `record_keys.csv` was written.

``python tests/regression/test_record_keys.py`` writes that file again. Do so after records were
added or thinned, never to make a change of the code pass: with other keys, nothing on record is
found.
"""

import csv
import gzip
import hashlib
from itertools import islice
from pathlib import Path

import pytest

from boostbench.records.codec import encode
from boostbench.records.store import RecordFile, record_paths

RESULTS = Path(__file__).parents[2] / "results"
PINNED = Path(__file__).with_name("record_keys.csv")


def digest_keys(path, n_records=None):
    """Return the number of the first records of a file, and a digest of their keys."""
    digest, n_read = hashlib.sha256(), 0
    for record in islice(RecordFile(path).read_new(), n_records):
        fields = record.key, record.config.keys.settings, record.config.hash
        digest.update(" ".join(fields).encode() + b"\n")
        n_read += 1
    return n_read, digest.hexdigest()[:16]


def write_pinned():
    with PINNED.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        for path in record_paths(RESULTS):
            name = path.relative_to(RESULTS / "records").as_posix()
            writer.writerow([name, *digest_keys(path)])


def test_record_keys_are_unchanged():
    with PINNED.open(newline="") as stream:
        pinned = {name: (int(n), digest) for name, n, digest in csv.reader(stream)}
    paths = {
        path.relative_to(RESULTS / "records").as_posix(): path for path in record_paths(RESULTS)
    }
    if not paths:
        pytest.skip("no committed records")
    common = pinned.keys() & paths.keys()
    changed = [name for name in common if digest_keys(paths[name], pinned[name][0]) != pinned[name]]
    assert sorted(changed) == []


def test_records_are_encoded_to_the_lines_that_were_read():
    for path in record_paths(RESULTS):
        packed = path.with_name(f"{path.name}.gz")
        body = gzip.decompress(packed.read_bytes()) if packed.exists() else b""
        body += path.read_bytes() if path.exists() else b""
        lines = [line for line in body.splitlines(keepends=True) if b'"schema":' in line]
        assert [encode(record)[1] for record in RecordFile(path).read_new()] == lines, path


if __name__ == "__main__":
    write_pinned()
