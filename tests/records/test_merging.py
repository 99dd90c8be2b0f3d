import pytest
from fitting.examples import FAILURE, RECORD, modify_record, recorded

from boostbench.records.merging import merge_records
from boostbench.records.store import RecordFile, read_records, record_path
from boostbench.util.errors import UserError


@pytest.fixture
def put(tmp_path):
    """Return a function that adds records to a folder of results and returns the folder."""

    def put(name, *records):
        folder = tmp_path / name
        RecordFile(record_path(folder, "toy", "fake")).add(map(recorded, records))
        return folder

    return put


def merged_records(folder):
    return read_records(record_path(folder, "toy", "fake"))[0]


def test_duplicates_are_merged_once(put):
    elsewhere = modify_record(RECORD, environment__cpu="another", seconds__fit=0.7, code="0" * 16)
    a, b = put("a", RECORD, modify_record(RECORD, split=1)), put("b", elsewhere)
    summary = merge_records([a, b], put("all"))
    assert (summary.n_added, summary.n_existing, summary.conflicts) == (2, 1, [])
    assert [record.split for record in merged_records(put("all"))] == [0, 1]
    again = merge_records([b, a], put("all"))
    assert (again.n_added, again.n_existing, again.conflicts) == (0, 3, [])


@pytest.mark.parametrize(
    "change", [{"test_error": 2 / 30}, {"checkpoints": {"1": 0.2}}, {"digests": {"end": "0" * 10}}]
)
def test_conflicts_are_reported_and_lose_no_record(put, change):
    a, b = put("a", RECORD), put("b", modify_record(RECORD, **change))
    before = [path.read_bytes() for path in (*a.rglob("*.jsonl"), *b.rglob("*.jsonl"))]
    summary = merge_records([a, b], put("all"))
    [conflict] = summary.conflicts
    assert f"split 0 of {b}" in conflict
    assert next(iter(change)) in conflict
    assert merged_records(put("all"))[0].test_error == RECORD["test_error"]
    assert before == [path.read_bytes() for path in (*a.rglob("*.jsonl"), *b.rglob("*.jsonl"))]


def test_finished_split_replaces_a_failure(put):
    for first, second in ((FAILURE, RECORD), (RECORD, FAILURE)):
        target = put(f"all{'error' in first}")
        merge_records(
            [put(f"a{'error' in first}", first), put(f"b{'error' in first}", second)], target
        )
        assert not merged_records(target)[0].is_failed


def test_order_of_folders_does_not_matter(put):
    a = put("a", modify_record(RECORD, split=2), modify_record(RECORD, split=0))
    b = put("b", modify_record(RECORD, split=1))
    merge_records([a, b], put("one"))
    merge_records([b, a], put("other"))
    first, second = (
        record_path(put(name), "toy", "fake").read_bytes() for name in ("one", "other")
    )
    assert first == second
    assert [record.split for record in merged_records(put("one"))] == [0, 1, 2]


def test_later_edition_replaces_an_earlier_one(put):
    later = modify_record(RECORD, edition=2, test_error=2 / 30)
    for first, second in ((RECORD, later), (later, RECORD)):
        target = put(f"all{first is later}")
        merge_records([put(f"a{first is later}", first), put(f"b{first is later}", second)], target)
        assert merged_records(target)[0].test_error == 2 / 30


def test_bad_lines_are_reported(put):
    a = put("a", RECORD)
    path = record_path(a, "toy", "fake")
    path.write_bytes(b"rubbish\n" + path.read_bytes())
    summary = merge_records([a], put("all"))
    assert (summary.n_added, len(summary.warnings)) == (1, 1)


def test_unmergeable_folders_are_refused(put, tmp_path):
    with pytest.raises(UserError, match="holds no records"):
        merge_records([tmp_path / "nothing"], put("all"))
    a = put("a", RECORD)
    with pytest.raises(UserError, match="is the folder that is added to"):
        merge_records([a], a)


def test_shards_are_merged_into_their_folder(put):
    a = put("a", RECORD)
    put("a/shards/1-of-2", modify_record(RECORD, split=1))
    put("a/shards/2-of-2", modify_record(RECORD, split=2))
    assert merge_records([a], a).n_added == 2
    assert [record.split for record in merged_records(a)] == [0, 1, 2]


def test_newest_keeps_the_record_that_finished_later(put):
    older = modify_record(RECORD, finished="2026-01-01T00:00:00Z", seconds__fit=9.0)
    newer = modify_record(RECORD, finished="2026-06-01T00:00:00Z", test_error=2 / 30)
    for name, first, second in (("up", older, newer), ("down", newer, older)):
        summary = merge_records([put(f"{name}-other", second)], put(name, first), newest=True)
        [record] = merged_records(put(name))
        assert record.finished == newer["finished"], name
        assert record.test_error == newer["test_error"]
        assert summary.n_added == (name == "up")


@pytest.mark.parametrize("newest", [False, True])
def test_merging_keeps_data_options(put, newest):
    options = [{"header": True}, {"labels": "class"}, {"rows": [0, 9]}]
    first = modify_record(RECORD, config__data__cut=options[0])
    later = modify_record(RECORD, config__data__cut=options[1], finished="2031-01-01T00:00:00Z")
    other = later | {"also": [options[2]]}
    for name, parts in (("ab", (first, other)), ("ba", (other, first))):
        folders = [put(f"{name}{i}", part) for i, part in enumerate(parts)]
        summary = merge_records(folders, put(name), newest)
        assert summary.conflicts == []
        [kept] = merged_records(put(name))
        assert all(kept.has_options(option) for option in options)
        assert not kept.has_options({})
        assert merge_records(folders, put(name), newest).n_added == 0
