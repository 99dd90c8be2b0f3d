import functools
import gzip
import json
import multiprocessing
import random
import threading
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor, wait
from operator import attrgetter

import portalocker
import pytest
from fitting.examples import (
    CONFIG,
    FAILURE,
    RECORD,
    TRIAL,
    append,
    flat,
    measured,
    modify_record,
    recorded,
)

from boostbench.records import codec
from boostbench.records.fit_results import SplitRecord
from boostbench.records.schema import BadLine
from boostbench.records.store import (
    RecordFile,
    check_writable,
    deduplicate,
    pack,
    read_records,
    record_path,
    record_paths,
)
from boostbench.records.verified import RefitFindings
from boostbench.spec import measures
from boostbench.util.errors import UserError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "records" / "toy" / "fake.jsonl"


def splits(path):
    return [record.split for record in read_records(path)[0]]


def record(split, **changes):
    return modify_record(RECORD, split=split, **changes)


@pytest.mark.parametrize(
    "written",
    [
        RECORD,
        FAILURE,
        modify_record(FAILURE, error="a\nb — é \u2028 😀"),
        modify_record(RECORD, warnings=["é"], n_features=..., n_parameters=12),
        # Errors that are no multiple of 1 / n_test are stored as fractions.
        modify_record(RECORD, test_error=0.123456789, train_error=1.0, checkpoints__1=1e-9),
        modify_record(RECORD, digests={"1": "0a", "2": "0b", "end": "0b"}),
        modify_record(RECORD, digests={"end": "0b"}),
        modify_record(RECORD, digests={"2": "0a", "end": "0b"}),
        modify_record(RECORD, n_test=7, test_error=3 / 7, checkpoints={}),
        modify_record(RECORD, config__algo__C=1e-300, config__grid={"C": [1, 1.0, 1e22]}),
    ],
)
def test_written_records_are_read_unchanged(path, written):
    returned = append(path, written)
    assert read_records(path) == ([returned], [])
    assert flat(returned) == written
    # Types count as well: 1 and 1.0 differ.
    assert json.dumps(flat(returned), sort_keys=True) == json.dumps(written, sort_keys=True)


@pytest.mark.parametrize(
    "written",
    [
        TRIAL | {"environment": None},
        modify_record(TRIAL, point=..., validation_error=...)
        | {"environment": {"python": "3"}, "seconds": [1, 0.5], "validation_errors": [0.1, 0.2]}
        | {"digests": ["0a", "0b"]}
        | {"points": [{"width": 1}, {"width": 2}]},
        FAILURE | {"fold": 0, "point": {"width": 1}},
    ],
)
def test_written_trials_are_read_unchanged(path, written):
    path = path.with_suffix(".tuning.jsonl")
    assert flat(append(path, written)) == written
    assert flat(read_records(path)[0][0]) == written


def test_errors_of_all_counts_are_exact(path):
    for n in (1, 3, 45, 997):
        errors = {str(k + 1): k / n for k in range(n + 1)}
        written = record(n, n_test=n, test_error=1.0, checkpoints=errors)
        assert append(path, written).checkpoints == errors
        assert read_records(path)[0][-1].checkpoints == errors
    assert b'"checkpoints":{' not in path.read_bytes().replace(b'"checkpoints":[', b"")


def test_definitions_are_written_once(path):
    other = modify_record(RECORD, config__seed=1)
    for entry in (record(0), record(1), other, record(2), modify_record(other, commit="c0ffee0")):
        append(path, entry)
    written = [json.loads(line) for line in path.read_bytes().splitlines()]
    kinds = ["config" if "hash" in line and "config" in line else "provenance" for line in written]
    kinds = [
        kind if "hash" in line else "record" for kind, line in zip(kinds, written, strict=True)
    ]
    assert kinds == [
        *("config", "provenance", "record"),
        "record",
        *("config", "record"),
        "record",
        *("provenance", "record"),
    ]
    assert written[0]["config"] == CONFIG
    assert written[2]["config"] == written[0]["hash"]


def test_replaced_file_gets_its_definitions_again(path):
    file = RecordFile(path)
    file.add([recorded(record(0))])
    path.unlink()
    file.add([recorded(record(1))])
    body = path.read_bytes()
    path.write_bytes(body[: body.index(b'{"chosen"')].split(b"\n")[0] + b"\n")
    file.add([recorded(record(2))])
    assert read_records(path)[1] == []
    assert splits(path) == [2]


def test_read_new_returns_records_of_other_writers(path):
    """Check that torn lines and packing neither lose nor repeat a record."""
    file = RecordFile(path)
    append(path, record(0))
    assert [entry.split for entry in file.read_new()] == [0]
    append(path, record(1))
    file.add([recorded(record(2))])
    complete_lines = path.read_bytes()
    append(path, record(3))
    line = path.read_bytes().removeprefix(complete_lines)
    path.write_bytes(complete_lines + line[:50])
    assert [entry.split for entry in file.read_new()] == [1]
    path.write_bytes(complete_lines + line)
    assert [entry.split for entry in file.read_new()] == [3]
    pack(path)
    append(path, record(4))
    assert [entry.split for entry in file.read_new()] == [4]
    assert file.warnings == []


def test_missing_file_has_no_records(path):
    assert read_records(path) == ([], [])


def test_newest_record_of_a_key_is_kept(path):
    for split, error in ((0, 0.1), (1, 0.1), (0, 0.2)):
        append(path, record(split, test_error=error))
    assert [(r.split, r.test_error) for r in read_records(path)[0]] == [(1, 0.1), (0, 0.2)]


def test_definitions_may_follow_their_records(path):
    """Check any order of lines, as Git merges the lines of two branches in any order."""
    append(path, record(0))
    first, second, third = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(third + second + first)
    assert (splits(path), read_records(path)[1]) == ([0], [])


@pytest.mark.parametrize("n_bytes", [1, 5, 50, 300, -2])
def test_torn_last_line_is_left_out_and_repaired(path, n_bytes):
    append(path, record(0))
    complete_lines = path.read_bytes()
    with path.open("ab") as file:
        file.write(complete_lines.splitlines(keepends=True)[-1][:n_bytes])
    assert (splits(path), read_records(path)[1]) == ([0], [])
    append(path, record(1))
    assert (splits(path), read_records(path)[1]) == ([0, 1], [])
    assert path.read_text().count("\n") == 4


@pytest.mark.parametrize("n_lines", [1, 2, 3])
@pytest.mark.parametrize("n_bytes", [1, 30, 200])
def test_torn_definitions_are_written_again(path, n_lines, n_bytes):
    append(path, record(0))
    body = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(body[: n_lines - 1]) + body[n_lines - 1][:n_bytes])
    append(path, record(1))
    assert (splits(path), read_records(path)[1]) == ([1], [])


def test_last_line_that_lost_only_its_end_is_kept(path):
    append(path, record(0))
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert splits(path) == [0]
    append(path, record(1))
    assert (splits(path), read_records(path)[1]) == ([0, 1], [])


NESTED = b"[" * 100_000 + b"]" * 100_000


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (b'{"key": "x', "not a record: "),
        (b"[1]", "not a record"),
        (b"null", "not a record"),
        (b'{"no": "key"}', "not a record"),
        (b"\xff\xfe", "not a record: "),
        (b'{"schema":2,"error":"\\ud800"}', "not a record: "),
        (b'{"schema":2,"test_error":NaN}', "not a record: "),
        (b'{"schema":2,"test_error":1e999}', "not a record: "),
        (b'{"schema":2,"x":' + NESTED + b"}", "not a record: "),
        (b'{"schema":2}', "record: there is no "),
        (b'{"schema":3}', "not a record"),
        (b'{"config":{"algo":{}},"hash":"0"}', ".*there is no"),
        (b'{"config":{},"hash":"0123456789abcdef","more":1}', "not a record"),
    ],
)
def test_damaged_line_in_the_middle_is_named_and_left_out(path, damage, reason):
    append(path, record(0))
    with path.open("ab") as file:
        file.write(damage + b"\n")
    append(path, record(1))
    assert splits(path) == [0, 1]
    [warning] = read_records(path)[1]
    assert warning.startswith(f"{path}:4: ")
    assert warning.endswith("; left out")
    assert reason.strip(".*") in warning


IMPOSSIBLE = [
    ({"test_error": 7.0}, "test_error: expected float <= 1.0"),
    ({"test_error": -0.5}, "test_error: expected float >= 0.0"),
    ({"test_error": None}, "test_error: expected float, got null"),
    ({"test_error": "0.1"}, "test_error: expected float, got str"),
    ({"test_error": ...}, "record: there is no test_error"),
    ({"train_error": ...}, "record: there is no train_error"),
    ({"checkpoints": {"zero": 0.1}}, "n_wrong: expected str matching regex"),
    ({"checkpoints": {"1": None}}, "checkpoints"),
    ({"seconds": ...}, "record: there is no seconds"),
    ({"seconds": None}, "seconds: expected object"),
    ({"seconds__fit": -1.0}, "seconds.fit: "),
    ({"seconds__calibration": ...}, "seconds: there is no calibration"),
    ({"chosen": ...}, "record: there is no chosen"),
    ({"chosen": []}, "chosen: expected object"),
    ({"n_iterations": ...}, "record: there is no n_iterations"),
    ({"n_iterations": 0.5}, "n_iterations: expected int"),
    ({"split": ...}, "record: there is no split"),
    ({"split": -1}, "split: expected int >= 0"),
    ({"split": True}, "split: expected int, got bool"),
    ({"fold": 0}, "fold: only a cross-validation trial has one"),
    ({"validation_error": "x"}, "validation_error: expected float"),
    ({"validation_error": 1.5}, "validation_error: expected a fraction of 1"),
    ({"validation_errors": None}, "validation_errors: expected array, got null"),
    ({"validation_errors": 5}, "validation_errors: expected array, got int"),
    ({"validation_errors": ["x"]}, r"validation_errors\[0\]: expected float, got str"),
    ({"rows": "x"}, "rows: "),
    ({"finished": 5}, "finished: expected str, got int"),
    ({"finished": "yesterday"}, "finished: "),
    ({"environment": None}, "its provenance has no environment"),
    ({"config": None}, "record: expected object, got null"),
    ({"environment": "here"}, "environment: expected object"),
    ({"code": None}, "code: expected str, got null"),
    ({"config": "a string"}, "record: expected object, got str"),
    ({"config__data__checksum": ...}, "data: there is no checksum"),
    ({"config__algo__": 1, "config__algo___target_": 5}, "algo._target_: expected str, got int"),
    ({"config__seed": -1}, "seed: expected int >= 0"),
    ({"n_iterations": 10**400}, "n_iterations: "),
    ({"n_iterations": 2**53 + 1}, "n_iterations: expected int <= 9007199254740992"),
    ({"seconds__fit": 1e308}, r"seconds.fit: expected float <= 1e\+?100"),
    ({"environment__n": 10**400}, "environment"),
]


@pytest.mark.parametrize(("changes", "reason"), IMPOSSIBLE)
def test_impossible_records_are_refused(path, changes, reason):
    """Check that a record is validated before it is written."""
    bad = modify_record(RECORD, **changes)
    with pytest.raises(BadLine, match=f"^{reason}"):
        append(path, bad)
    assert not path.exists()


@pytest.mark.parametrize("error", [-0.5, 1.5])
def test_validation_errors_are_fractions_by_default(path, error):
    path = path.with_suffix(".tuning.jsonl")
    with pytest.raises(BadLine, match=r"^validation_error: expected a fraction of 1"):
        append(path, modify_record(TRIAL, validation_error=error))
    judged = modify_record(TRIAL, validation_error=error, config__judged_by="something else")
    assert append(path, judged).validation_error == error
    for changes in ({"fold": ...}, {"point": ...}, {"validation_error": ...}, {"fold": -1}):
        with pytest.raises(BadLine):
            append(path, modify_record(TRIAL, **changes))


@pytest.mark.parametrize("name", ["validation_error", "validation_errors"])
@pytest.mark.parametrize("value", [None, 5, "x", ["x"]])
def test_validation_errors_of_failures_are_unchecked(path, name, value):
    assert append(path, FAILURE | {name: value}).get(name) == value
    assert read_records(path)[1] == []


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"points": []}, "points: expected array of length >= 1"),
        ({"points": [], "validation_errors": []}, "points: expected array of length >= 1"),
        ({"validation_errors": None}, "validation_errors: expected array, got null"),
        ({"validation_errors": [0.5, 0.5]}, "record: it has to have a validation error"),
        ({"validation_errors": 5}, "validation_errors: expected array"),
        ({"validation_errors": ["x"]}, r"validation_errors\[0\]: expected float"),
        ({"validation_errors": [1.5]}, "validation_error: expected a fraction of 1"),
    ],
)
def test_impossible_parameter_paths_are_refused(path, changes, reason):
    valid = {"points": [{}], "validation_errors": [0.5], "seconds": [1.0]}
    trial = modify_record(TRIAL, point=..., validation_error=...) | valid
    path = path.with_suffix(".tuning.jsonl")
    assert append(path, trial).points == [{}]
    with pytest.raises(BadLine, match=f"^{reason}"):
        append(path, trial | changes)


def test_external_measures_may_record_any_field(path):
    """Check that fields with a known name are validated in these records, too."""
    written = {n: RECORD[n] for n in RECORD.keys() - {"test_error", "train_error", "checkpoints"}}
    written |= {"depth": {"mean": [1.5, None]}, "seconds": {"drawing": 0.5}}
    path = path.with_suffix(".depths.jsonl")
    returned = append(path, written)
    assert flat(returned) == written
    assert read_records(path) == ([returned], [])
    for name, value in (("test_error", 7.0), ("seconds", {"fit": -1}), ("n_iterations", "many")):
        with pytest.raises(BadLine, match=f"^{name}"):
            append(path, written | {name: value})


@pytest.mark.parametrize("name", measures.names())
def test_every_measure_has_required_fields(path, name):
    with pytest.raises(BadLine, match="there is no "):
        measured(measures.find(name).suffix)
    assert isinstance(measured("depths"), SplitRecord)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (b'"n_test_wrong":1,', b'"n_test_wrong":31,', "n_test_wrong: there are 30 rows"),
        (b'"n_test_wrong":1,', b'"n_test_wrong":-1,', "n_test_wrong: expected int >= 0"),
        (b'"n_test_wrong":1,', b'"n_test_wrong":[1],', "n_test_wrong: expected int, got array"),
        (b'"n_wrong":[3,1]', b'"n_wrong":[3,"1"]', "n_wrong[1]: expected int, got str"),
        (b'"n_wrong":[3,1]', b'"n_wrong":[3,1,1,1]', "n_wrong: the config has fewer checkpoints"),
        (b'"n_test":30,', b"", "record: there is no n_test"),
        (b'"n_test":30,', b'"n_test":0,', "n_test_wrong: there are 0 rows"),
    ],
)
def test_edited_counts_are_left_out(path, old, new, reason):
    append(path, RECORD)
    body = path.read_bytes()
    assert old in body
    path.write_bytes(body.replace(old, new))
    assert read_records(path) == ([], [f"{path}:3: {reason}; left out"])


def test_edited_configs_are_left_out(path):
    append(path, RECORD)
    path.write_bytes(path.read_bytes().replace(b'"width":1.0', b'"width":2.0'))
    records, (definition, line) = read_records(path)
    assert records == []
    assert definition == f"{path}:1: its config is not what its hash says; left out"
    assert line == f"{path}:3: its config is defined nowhere in the file; left out"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1}, "\ud800", ["a\udc80"]])
def test_unreadable_values_are_not_written(path, value):
    with pytest.raises(BadLine):
        append(path, modify_record(RECORD, n_parameters=value))
    assert not path.exists()


def test_invalid_unicode_is_escaped(path):
    returned = append(path, modify_record(FAILURE, error="bad \udc80 text", where="\ud800"))
    assert (returned.error, returned.where) == ("bad \\udc80 text", "\\ud800")
    assert read_records(path) == ([returned], [])
    assert append(path, modify_record(RECORD, warnings=["\udc80"])).warnings == ["\\udc80"]


def test_many_bad_lines_are_counted(path):
    append(path, RECORD)
    with path.open("ab") as file:
        file.write(b"?\n" * 100)
    warnings = read_records(path)[1]
    assert len(warnings) == 6
    assert warnings[-1] == f"{path}: 95 more bad lines are left out"


def test_random_damage_does_not_stop_reading(path):
    """Change, remove and repeat random bytes of a file of records."""
    for number in range(4):
        append(path, record(number))
    append(path, FAILURE)
    undamaged, tokens = (
        path.read_bytes(),
        [b"null", b"-1", b"1e400", b"[", b"{}", b'"', b"\\ud800", b","],
    )
    draw = random.Random(0)
    n_kept = 0
    for _ in range(2000):
        body = bytearray(undamaged)
        for _ in range(draw.randint(1, 4)):
            start = draw.randrange(len(body))
            stop = start + draw.choice([0, 1, 1, 2, 5, 20])
            change = [bytes([draw.randrange(256)]), b"", draw.choice(tokens), body[start:stop] * 2]
            body[start:stop] = draw.choice(change)
        path.write_bytes(body)
        records, warnings = read_records(path)
        n_kept += len(records)
        assert len(records) + len(warnings) >= 1
        for entry in records:
            assert entry.is_failed or 0 <= entry.test_error <= 1
            encoded = codec.encode(entry)
            again = codec.LineDecoder()
            for _, definition in encoded.definitions:
                again.decode_line(definition)
            assert again.decode_line(encoded.line) == entry
    assert n_kept > 2000


def write(path, number, go_on):
    """Add 200 records, numbered from 1000 * number; wait for an event after 100 of them."""
    file = RecordFile(path)
    for i in range(200):
        if i == 100:
            go_on.wait()
        file.add([recorded(record(1000 * number + i, config__seed=i // 50))])


def start_writer(path, number):
    """Start a process that stops half way; it is forked, as a fork imports no modules."""
    processes = multiprocessing.get_context("fork")
    go_on = processes.Event()
    writer = processes.Process(target=write, args=(path, number, go_on), daemon=True)
    writer.start()
    return writer, go_on


def test_two_processes_may_append_to_a_file(path):
    writer, go_on = start_writer(path, 1)
    while not path.exists():
        assert writer.is_alive()
        time.sleep(0.01)
    file = RecordFile(path)
    for i in range(200):
        if i == 100:
            go_on.set()
        file.add([recorded(record(2000 + i, config__seed=i // 50))])
    writer.join()
    assert writer.exitcode == 0
    records, warnings = read_records(path)
    assert warnings == []
    assert {record.split for record in records} == {
        1000 * n + i for n in (1, 2) for i in range(200)
    }
    assert path.read_bytes().count(b"\n") == 400 + 4 + 1


def test_packing_does_not_change_records(path):
    for split in range(5):
        append(path, record(split, config__seed=split // 3))
    before = read_records(path)
    size = path.stat().st_size
    assert pack(path) > 0
    packed = path.with_name("fake.jsonl.gz")
    assert not path.exists()
    assert packed.stat().st_size < size
    assert read_records(path) == before
    assert record_paths(path.parents[2]) == [path]


def test_records_added_after_packing_are_read_and_packed(path):
    append(path, record(0))
    pack(path)
    newer = append(path, record(0, finished="2031-01-01T00:00:00Z"))
    append(path, record(1))
    assert splits(path) == [0, 1]
    assert read_records(path)[0][0] == newer
    both = read_records(path)
    pack(path)
    assert read_records(path) == both
    # The definitions of both files are the same, and are kept once.
    packed = gzip.decompress(path.with_name("fake.jsonl.gz").read_bytes())
    assert len(packed.splitlines()) == 2 + 3


def test_interrupted_packing_loses_no_record(path):
    append(path, record(0))
    body = path.read_bytes()
    before = read_records(path)
    pack(path)
    path.write_bytes(body)
    assert read_records(path) == before
    pack(path)
    assert read_records(path) == before


def test_deduplicate_keeps_the_newest_record_of_each_key(path):
    append(path, record(0))
    append(path, record(1))
    pack(path)
    append(path, record(0, finished="2031-01-01T00:00:00Z", commit="abcdef0"))
    before = read_records(path)
    assert deduplicate(path) == 1
    assert sorted(read_records(path)[0], key=attrgetter("key")) == sorted(
        before[0], key=attrgetter("key")
    )
    assert len(path.read_bytes().splitlines()) == 3 + 2  # a config, two provenances, two records
    assert not path.with_name("fake.jsonl.gz").exists()
    body = path.read_bytes()
    assert deduplicate(path) == 0
    assert path.read_bytes() == body


def test_deduplicate_does_not_change_damaged_files(path):
    assert deduplicate(path) == 0
    assert not path.exists()
    append(path, record(0))
    append(path, record(0, finished="2031-01-01T00:00:00Z"))
    with path.open("ab") as file:
        file.write(b"?\n")
    body = path.read_bytes()
    assert deduplicate(path) == 0
    assert path.read_bytes() == body


def test_damaged_line_of_a_packed_file_is_named(path):
    append(path, record(0))
    with path.open("ab") as file:
        file.write(b"?\n")
    append(path, record(1))
    pack(path)
    assert splits(path) == [0, 1]
    assert read_records(path)[1][0].startswith(f"{path}.gz:4: ")


def test_damaged_packed_file_is_named(path):
    append(path, record(0))
    pack(path)
    packed = path.with_name("fake.jsonl.gz")
    for body in (packed.read_bytes()[:-9], b"no gzip", packed.read_bytes()[:12] + b"?" * 40):
        packed.write_bytes(body)
        with pytest.raises(UserError, match=r"fake\.jsonl\.gz is damaged"):
            read_records(path)


def test_unreadable_folder_is_an_error(tmp_path):
    """Use a name that is too long, which raises OSError even for an administrator."""
    folder = tmp_path / ("x" * 300)
    with pytest.raises(UserError, match=r"^cannot read records from .*fake.jsonl.*: File name"):
        read_records(folder / "fake.jsonl")
    with pytest.raises(UserError, match=r"^cannot read findings from .*verified.jsonl: File name"):
        RefitFindings.read(folder)


#: Lines without and with closing brackets, and a line that Python and msgspec would read.
DEEP = ["[" * 10**5, '{"a":' * 10**5, "[" * 10**5 + "]" * 10**5, '{"a":' * 400 + "1" + "}" * 400]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("deep", DEEP)
def test_deeply_nested_line_is_named_and_left_out(path, deep, packed):
    append(path, record(0))
    with path.open("a") as file:
        file.write(f'{deep}\n{{"config":{deep},"hash":"0"}}\n')
    append(path, record(1))
    if packed:
        pack(path)
    assert splits(path) == [0, 1]
    name = f"{path}.gz" if packed else str(path)
    warnings = read_records(path)[1]
    assert [line.partition(": ")[0] for line in warnings] == [f"{name}:4", f"{name}:5"]
    assert warnings[1].endswith("left out")


@pytest.mark.parametrize("n_test", ["a\nb", "x" * 10**5, ["\n"] * 99, None])
def test_warning_is_one_short_line(path, n_test):
    append(path, record(0))
    body = path.read_text().splitlines()
    line = json.loads(body[-1]) | {"n_test": n_test}
    path.write_text("\n".join([*body, json.dumps(line), ""]))
    [warning] = read_records(path)[1]
    assert len(warning.splitlines()) == 1
    assert len(warning) < len(str(path)) + 300
    assert "n_test" in warning


def test_settings_may_have_50_levels(path):
    nested = functools.reduce(lambda inner, _: [inner], range(50), 1)
    append(path, record(0, config__algo__width=nested))
    assert read_records(path)[0][0].config.algo["width"] == nested


@pytest.mark.parametrize("line", [b"", b"x", b"[" * 10**4, b'{"schema":2}', b'{"a":"' + b"x" * 99])
def test_decompression_bomb_is_refused(path, line):
    packed = path.with_name("fake.jsonl.gz")
    packed.parent.mkdir(parents=True)
    packed.write_bytes(gzip.compress((line + b"\n") * (2**24 // (len(line) + 1))) * 128)
    tracemalloc.start()
    try:
        with pytest.raises(UserError, match=r"fake.jsonl.gz unpacks to more than 1?\d+ MB, more"):
            read_records(path)
        assert tracemalloc.get_traced_memory()[1] < 100 * packed.stat().st_size + 10**8
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("line", [b"", b"x", b"[" * 99])
def test_many_bad_lines_take_little_memory(path, line):
    path.parent.mkdir(parents=True)
    path.write_bytes((line + b"\n") * 20_000)
    tracemalloc.start()
    try:
        assert read_records(path)[0] == []
        assert tracemalloc.get_traced_memory()[1] < 3 * path.stat().st_size + 10**6
    finally:
        tracemalloc.stop()


def test_concurrent_packing_and_appending_lose_no_record(path):
    writer, go_on = start_writer(path, 0)
    n_packed = 0
    while writer.is_alive():
        if path.exists():
            pack(path)
            n_packed += 1
        if n_packed == 2:
            go_on.set()
        time.sleep(0.001)
    assert writer.exitcode == 0
    assert n_packed > 1
    records, warnings = read_records(path)
    assert warnings == []
    assert {record.split for record in records} == set(range(200))


def test_files_are_named_for_data_and_algorithm(tmp_path):
    assert record_path(tmp_path, "vowel", "rank") == tmp_path / "records/vowel/rank.jsonl"
    tuning = record_path(tmp_path, "a.b", "rank", "tuning")
    assert tuning == tmp_path / "records/a.b/rank.tuning.jsonl"


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".hidden", "-x", "x.tuning"])
def test_invalid_file_names_are_refused(tmp_path, name):
    with pytest.raises(UserError, match="names a file of records"):
        record_path(tmp_path, "vowel", name)


def test_unwritable_folders_are_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"cannot write records to .*file.*results="):
        check_writable([tmp_path / "file" / "records" / "x.jsonl"])
    with pytest.raises(UserError, match=r"cannot write records to .*results="):
        append(tmp_path / "file" / "x.jsonl", RECORD)
    (tmp_path / "x.jsonl").mkdir()
    with pytest.raises(UserError, match=r"cannot write records to .*results="):
        check_writable([tmp_path / "x.jsonl"])


def test_check_writable_refuses_an_unusable_lock_file(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    (path.parent / ".lock").mkdir()
    with pytest.raises(UserError, match=r"cannot write records to .*results="):
        check_writable([path])


def test_check_writable_leaves_no_file(path):
    check_writable([path])
    assert list(path.parent.iterdir()) == []


def test_records_in_memory_share_their_definitions(tmp_path):
    first, second = RecordFile(tmp_path / "fake.jsonl").add(
        [recorded(record(0)), recorded(record(1))]
    )
    assert first.config is second.config
    assert first.provenance is second.provenance


def test_read_new_waits_for_a_concurrent_add(path, monkeypatch):
    """Check the lock: a reader that finds the file shorter than before reads it anew."""
    file, is_inside, may_go_on = RecordFile(path), threading.Event(), threading.Event()
    read_on = RecordFile._read_new_lines

    def read_slowly(self, stream):
        is_inside.set()
        may_go_on.wait(60)
        read_on(self, stream)

    monkeypatch.setattr(RecordFile, "_read_new_lines", read_slowly)
    with ThreadPoolExecutor(2) as threads:
        adding = threads.submit(file.add, [recorded(record(0))])
        assert is_inside.wait(60)
        looking = threads.submit(file.read_new)
        assert not wait([looking], timeout=0.2).done
        may_go_on.set()
        assert [entry.split for entry in adding.result()] == [0]
        assert looking.result() == []


def test_append_waits_for_a_busy_lock(path, monkeypatch):
    """Simulate Windows, whose lock raises an error after ten seconds of waiting."""
    answers, lock = [portalocker.AlreadyLocked("still")] * 2, portalocker.lock

    def lock_in_time(file, flags):
        if answers:
            raise answers.pop()
        lock(file, flags)

    monkeypatch.setattr(portalocker, "lock", lock_in_time)
    append(path, record(0))
    assert answers == []
    assert [entry.split for entry in read_records(path)[0]] == [0]


def test_folder_without_locks_is_refused(path, monkeypatch):
    def lock(file, flags):
        raise portalocker.LockException("no locks available")

    monkeypatch.setattr(portalocker, "lock", lock)
    for write_attempt in (lambda: append(path, record(0)), lambda: check_writable([path])):
        with pytest.raises(UserError, match=r"cannot lock .*toy: no locks available; choose ano"):
            write_attempt()
