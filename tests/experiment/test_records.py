import json
import subprocess
import sys

import pytest

from boostbench.errors import UserError
from boostbench.experiment.records import append, check_writable, digest, read, record_path


@pytest.fixture
def path(tmp_path):
    return tmp_path / "records" / "toy" / "fake.jsonl"


def keys(path):
    return [record["key"] for record in read(path)[0]]


def test_what_is_written_is_read(path):
    records = [{"key": "b", "error": "a\nb — é", "x": [1, 0.5, None]}, {"key": "a"}]
    for record in records:
        append(path, record)
    assert read(path) == (records, [])
    assert path.read_text().count("\n") == 2


def test_no_file_no_records(path):
    assert read(path) == ([], [])


def test_newest_record_of_a_key_counts(path):
    for key, value in (("a", 1), ("b", 1), ("a", 2)):
        append(path, {"key": key, "value": value})
    assert read(path)[0] == [{"key": "b", "value": 1}, {"key": "a", "value": 2}]


@pytest.mark.parametrize("n_bytes", range(1, 20, 3))
def test_torn_last_line_is_left_out_and_repaired(path, n_bytes):
    append(path, {"key": "a"})
    with path.open("ab") as file:
        file.write(json.dumps({"key": "torn", "text": "é"}).encode()[:n_bytes])
    assert (keys(path), read(path)[1]) == (["a"], [])
    append(path, {"key": "b"})
    assert (keys(path), read(path)[1]) == (["a", "b"], [])
    assert path.read_text().count("\n") == 2


def test_last_line_that_lost_only_its_end_is_kept(path):
    append(path, {"key": "a"})
    with path.open("ab") as file:
        file.write(b'{"key":"b"}')
    assert keys(path) == ["a", "b"]
    append(path, {"key": "c"})
    assert (keys(path), read(path)[1]) == (["a", "b", "c"], [])


@pytest.mark.parametrize("damage", [b'{"key": "x', b"[1]", b'{"no": "key"}', b"\xff\xfe", b"null"])
def test_damaged_line_in_the_middle_is_named_and_left_out(path, damage):
    append(path, {"key": "a"})
    with path.open("ab") as file:
        file.write(damage + b"\n")
    append(path, {"key": "b"})
    assert keys(path) == ["a", "b"]
    assert read(path)[1] == [f"{path}:2: not a record, left out"]


def test_two_processes_append_to_one_file(path):
    program = (
        "import sys; from pathlib import Path; from boostbench.experiment.records import append\n"
        "for i in range(200): append(Path(sys.argv[1]), {'key': f'{sys.argv[2]}{i}', 'x': 'y' * i})"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", program, str(path), name]) for name in ("a", "b")
    ]
    assert [writer.wait() for writer in writers] == [0, 0]
    records, warnings = read(path)
    assert warnings == []
    assert {record["key"] for record in records} == {f"{n}{i}" for n in "ab" for i in range(200)}
    assert path.read_bytes().count(b"\n") == 400


def test_files_are_named_for_data_and_algorithm(tmp_path):
    assert record_path(tmp_path, "vowel", "rank") == tmp_path / "records/vowel/rank.jsonl"
    tuning = record_path(tmp_path, "vowel", "rank", tuning=True)
    assert tuning == tmp_path / "records/vowel/rank.tuning.jsonl"


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".hidden", "-x"])
def test_names_that_no_file_can_have(tmp_path, name):
    with pytest.raises(UserError, match="names a file of records"):
        record_path(tmp_path, "vowel", name)


def test_digest_needs_json():
    assert digest({"a": [1, 2]}) != digest({"a": [2, 1]})
    with pytest.raises(UserError, match="cannot be written down"):
        digest({"a": object()})


def test_unwritable_places(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"cannot write records to .*file.*results="):
        check_writable([tmp_path / "file" / "records" / "x.jsonl"])
    with pytest.raises(UserError, match=r"cannot write records to .*results="):
        append(tmp_path / "file" / "x.jsonl", {"key": "a"})
    (tmp_path / "x.jsonl").mkdir()
    with pytest.raises(UserError, match=r"cannot write records to .*results="):
        check_writable([tmp_path / "x.jsonl"])


def test_writable_place_is_left_empty(path):
    check_writable([path])
    assert list(path.parent.iterdir()) == []
