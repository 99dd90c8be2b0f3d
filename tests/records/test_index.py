from dataclasses import replace

import numpy as np
import pytest
from fitting.examples import append, flat, rewrite
from fitting.toy import experiment_from_config, make_dataset, run, spec_from_config

from boostbench.records.index import Records
from boostbench.records.store import read_records
from boostbench.spec.data import DataSpec

ALGO = {"name": "fake", "_target_": "fake_classifiers.Nearest", "grid": {}}
PROTOCOL = {"n_splits": 4, "n_folds": 3}
DATA = {"name": "toy", "expect": {"classes": 3}}


def config(seed=0, **changes):
    asked = {"algo": ALGO, "protocol": PROTOCOL, "data": DATA}
    return {part: asked[part] | changes.get(part, {}) for part in asked} | {"seed": seed}


@pytest.fixture
def results(tmp_path):
    run([experiment_from_config(config(), make_dataset())], results=tmp_path)
    return tmp_path


def test_records_of_the_experiment_are_found(results):
    query = Records(results).find(spec_from_config(config()))
    assert [record.split for record in query.records] == [0, 1, 2, 3]
    assert (query.failures, query.missing, query.stale) == ([], 0, 0)


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 1},
        {"protocol": {"test_size": 0.5}},
        {"algo": {"_target_": "fake_classifiers.Tying"}},
        {"data": {"name": "other"}},
        {"data": {"expect": {"classes": 4}}},
        {"data": {"classes": 2}},
        {"data": {"classes": ["a", "b"]}},
    ],
)
def test_records_of_other_experiments_are_not_found(results, changes):
    query = Records(results).find(spec_from_config(config(**changes)))
    assert (query.records, query.missing) == ([], 4)


@pytest.mark.parametrize(("n_splits", "expected"), [(None, (3, 0)), (2, (2, 0)), (5, (3, 2))])
def test_number_of_fixed_splits_is_the_number_of_records(tmp_path, n_splits, expected):
    """Check that None accepts any number of recorded splits."""
    rows = np.arange(120)
    given = [(np.delete(rows, np.s_[start::3]), rows[start::3]) for start in range(3)]
    fixed = {"protocol": {"sampling": "fixed", "n_splits": None}}
    asked = experiment_from_config(config(**fixed), replace(make_dataset(), splits=given))
    run([asked], results=tmp_path)
    fixed["protocol"]["n_splits"] = n_splits
    query = Records(tmp_path).find(spec_from_config(config(**fixed)))
    assert (len(query.records), query.missing) == expected


@pytest.mark.parametrize(
    ("measure", "algo"),
    [
        ("feature_use", {"_target_": "boostbench.algorithms.AdaBoostMH", "n_iterations": 2}),
        ("codewords", {"_target_": "boostbench.algorithms.CodewordMCBoost", "n_iterations": 2}),
        ("boundary", {}),
        ("paths", {"_target_": "boostbench.algorithms.AdaBoostMH", "n_iterations": 1}),
    ],
)
def test_records_are_found_by_the_protocol_settings_of_the_measure(tmp_path, measure, algo):
    """Use settings that these measures ignore, such as checkpoints; keys leave them out."""
    protocol = {"samples_per_class": 30} if measure == "paths" else {"checkpoints": [1, 2]}
    asked = config(algo=algo, protocol=protocol | {"n_splits": 2}) | {"measure": measure}
    dataset = make_dataset()
    dataset = replace(dataset, X=dataset.X[:, :2] if measure == "boundary" else dataset.X)
    if measure == "paths":
        wide = np.hstack([dataset.X + dataset.X[:, [j]] ** 2 for j in range(3)])
        dataset = replace(dataset, X=wide)
    [outcome] = run([experiment_from_config(asked, dataset)], results=tmp_path).results
    assert outcome.records
    query = Records(tmp_path).find(spec_from_config(asked))
    assert (query.records, query.missing) == (outcome.records, 0)


def test_labels_against_the_rest_are_two_classes(tmp_path):
    asked = config(data={"positive": ["a"]})
    dataset = replace(make_dataset().one_vs_rest(["a"]), spec=DataSpec.from_config(asked["data"]))
    run([experiment_from_config(asked, dataset)], results=tmp_path)
    assert len(Records(tmp_path).find(spec_from_config(asked)).records) == 4


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("classes", [["a", "b"], ["b", "c"]]),
        ("positive", [["a", "b"], ["b", "c"]]),
        ("rows", [[0, 9], [1, 9]]),
        ("path", ["a.csv", "b.csv"]),
        ("labels", ["a", "b"]),
    ],
)
def test_other_cuts_are_other_data(tmp_path, key, values):
    """Use data sets with equal names and numbers of classes."""
    cuts = [*({key: value} for value in values), {}]
    for seed, cut in enumerate(cuts[:2]):
        dataset = replace(make_dataset((40, 40), seed=seed), spec=DataSpec.from_config(DATA | cut))
        run([experiment_from_config(config(data=cut), dataset)], results=tmp_path)
    queries = [
        Records(tmp_path).find(spec_from_config(config(data=DATA | cut | {"expect": None})))
        for cut in cuts
    ]
    checksums = [{r.config.data.checksum for r in query.records} for query in queries]
    assert [len(checksum_set) for checksum_set in checksums] == [1, 1, 0]
    assert checksums[0] != checksums[1]


def test_record_may_have_several_data_options(tmp_path):
    options, expected = [{}, {"header": True}, {"labels": "class"}, {"na_values": ["?"]}], []

    def experiments(option, n_splits=2):
        expected[:] = [config(data=DATA | option, protocol={"n_splits": n_splits})]
        dataset = replace(make_dataset(), spec=DataSpec.from_config(DATA | option))
        return [experiment_from_config(expected[0], dataset)]

    def find(option):
        return Records(tmp_path).find(
            spec_from_config(config(data=DATA | option, protocol={"n_splits": 2}))
        )

    run(experiments(options[0]), results=tmp_path)
    run(experiments(options[1]), results=tmp_path, rerun="never")
    assert [find(option).missing for option in options[:2]] == [0, 2]
    report = run(experiments(options[1]) + experiments(options[2], 3), results=tmp_path)
    assert report.ran == 1
    assert [find(option).missing for option in options] == [0, 0, 0, 2]
    before = [path.read_text() for path in sorted(tmp_path.glob("records/*/*"))]
    for option in options[:3]:
        assert run(experiments(option), results=tmp_path).ran == 0
    assert [path.read_text() for path in sorted(tmp_path.glob("records/*/*"))] == before


def test_names_and_unused_folds_are_ignored(results):
    changes = {"protocol": {"name": "mine", "n_folds": 5}, "algo": {"title": "Mine"}}
    assert len(Records(results).find(spec_from_config(config(**changes))).records) == 4


@pytest.mark.parametrize(("n_splits", "n_records", "missing"), [(2, 2, 0), (7, 4, 3)])
def test_missing_splits_are_counted(results, n_splits, n_records, missing):
    query = Records(results).find(spec_from_config(config(protocol={"n_splits": n_splits})))
    assert (len(query.records), query.missing) == (n_records, missing)


def test_newest_version_of_the_data_is_used(results):
    newer = make_dataset(seed=1)
    run([experiment_from_config(config(protocol={"n_splits": 2}), newer)], results=results)
    query = Records(results).find(spec_from_config(config()))
    assert {r.config.data.checksum for r in query.records} == {newer.checksum}
    assert (len(query.records), query.missing) == (2, 2)


def test_last_line_of_a_split_is_found(results):
    path = results / "records" / "toy" / "fake.jsonl"
    first = read_records(path)[0][0]
    append(path, flat(first) | {"test_error": 1.0})
    records = Records(results)
    query = records.find(spec_from_config(config()))
    assert [record.split for record in query.records] == [0, 1, 2, 3]
    assert query.records[0].test_error == 1.0 > first.test_error
    assert records.index(path).get(first.key) == query.records[0]
    assert len(list(records.index(path))) == 4


def test_records_of_other_code_are_stale(results):
    path = results / "records" / "toy" / "fake.jsonl"
    rewrite(path, lambda number, record: record | ({"source": "0" * 16} if number == 1 else {}))
    assert Records(results).find(spec_from_config(config())).stale == 1


def test_damaged_lines_are_named_once(results):
    path = results / "records" / "toy" / "fake.jsonl"
    path.write_text("damaged\n" + path.read_text())
    records = Records(results)
    records.find(spec_from_config(config()))
    assert len(records.find(spec_from_config(config())).records) == 4
    [warning] = records.pop_warnings()
    assert warning.startswith(f"{path}:1: not a record: ")
    assert records.pop_warnings() == []


def test_run_adds_to_the_records_in_memory(tmp_path):
    """Check that a query before and after a run reads the same records in memory."""
    records, asked = Records(tmp_path), config(protocol={"n_splits": 2})
    assert records.find(spec_from_config(asked)).missing == 2
    [outcome] = run([experiment_from_config(asked, make_dataset())], results=records).results
    query = records.find(spec_from_config(asked))
    assert (
        query.records == outcome.records == Records(tmp_path).find(spec_from_config(asked)).records
    )
    assert (query.missing, outcome.ran) == (0, 2)


def test_failed_splits_are_listed(tmp_path):
    experiment = experiment_from_config(config(), make_dataset())
    failing = {"_target_": "fake_classifiers.Failing", "fail_on": experiment.splits[1].seed}
    asked = config(algo=failing)
    run([experiment_from_config(asked, make_dataset())], results=tmp_path)
    query = Records(tmp_path).find(spec_from_config(asked))
    assert [record.split for record in query.records] == [0, 2, 3]
    assert [record.split for record in query.failures] == [1]
    assert query.missing == 0
