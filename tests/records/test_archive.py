from dataclasses import replace

import numpy as np
import pytest
from fitting.examples import rewrite
from fitting.toy import make_dataset, run

from boostbench.execution.plan import Experiment
from boostbench.records.archive import Records
from boostbench.spec.experiment import ExperimentSpec

ALGO = {"name": "fake", "_target_": "fake_classifiers.Nearest", "grid": {}}
PROTOCOL = {"n_splits": 4, "n_folds": 3}
DATA = {"name": "toy", "expect": {"classes": 3}}


def config(seed=0, **changes):
    asked = {"algo": ALGO, "protocol": PROTOCOL, "data": DATA}
    return {part: asked[part] | changes.get(part, {}) for part in asked} | {"seed": seed}


@pytest.fixture
def results(tmp_path):
    run([Experiment.from_config(config(), make_dataset())], results=tmp_path)
    return tmp_path


def test_finds_what_was_asked(results):
    found = Records(results).find(ExperimentSpec.from_config(config()))
    assert [record["split"] for record in found.records] == [0, 1, 2, 3]
    assert (found.failures, found.missing, found.stale) == ([], 0, 0)


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
def test_finds_nothing_else(results, changes):
    found = Records(results).find(ExperimentSpec.from_config(config(**changes)))
    assert (found.records, found.missing) == ([], 4)


@pytest.mark.parametrize(("n_splits", "expected"), [(None, (3, 0)), (2, (2, 0)), (5, (3, 2))])
def test_as_many_fixed_splits_as_are_asked_for(tmp_path, n_splits, expected):
    """Only all of them are as many as there happen to be on record."""
    rows = np.arange(120)
    given = [(np.delete(rows, np.s_[start::3]), rows[start::3]) for start in range(3)]
    fixed = {"protocol": {"sampling": "fixed", "n_splits": None}}
    asked = Experiment.from_config(config(**fixed), replace(make_dataset(), splits=given))
    run([asked], results=tmp_path)
    fixed["protocol"]["n_splits"] = n_splits
    found = Records(tmp_path).find(ExperimentSpec.from_config(config(**fixed)))
    assert (len(found.records), found.missing) == expected


@pytest.mark.parametrize(
    ("measure", "algo"),
    [
        ("feature_use", {"_target_": "boostbench.algorithms.AdaBoostMH", "n_iterations": 2}),
        ("codewords", {"_target_": "boostbench.algorithms.CodewordMCBoost", "n_iterations": 2}),
        ("boundary", {}),
        ("paths", {"_target_": "boostbench.algorithms.AdaBoostMH", "n_iterations": 1}),
    ],
)
def test_finds_what_a_measure_takes_of_a_protocol(tmp_path, measure, algo):
    """They leave settings out, as checkpoints, by which records are not filed."""
    protocol = {"samples_per_class": 30} if measure == "paths" else {"checkpoints": [1, 2]}
    asked = config(algo=algo, protocol=protocol | {"n_splits": 2}) | {"measure": measure}
    dataset = make_dataset()
    dataset = replace(dataset, X=dataset.X[:, :2] if measure == "boundary" else dataset.X)
    if measure == "paths":
        wide = np.hstack([dataset.X + dataset.X[:, [j]] ** 2 for j in range(3)])
        dataset = replace(dataset, X=wide)
    [outcome] = run([Experiment.from_config(asked, dataset)], results=tmp_path).outcomes
    assert outcome.records
    found = Records(tmp_path).find(ExperimentSpec.from_config(asked))
    assert (found.records, found.missing) == (outcome.records, 0)


def test_of_some_labels_against_the_rest_there_are_two_classes(tmp_path):
    asked = config(data={"positive": ["a"]})
    dataset = replace(make_dataset().one_vs_rest(["a"]), spec=asked["data"])
    run([Experiment.from_config(asked, dataset)], results=tmp_path)
    assert len(Records(tmp_path).find(ExperimentSpec.from_config(asked)).records) == 4


@pytest.mark.parametrize("key", ["classes", "positive", "rows", "path", "labels"])
def test_data_that_were_cut_otherwise_are_others(tmp_path, key):
    """They have one name, and perhaps as many classes."""
    cuts = [{key: ["a", "b"]}, {key: ["b", "c"]}, {}]
    for seed, cut in enumerate(cuts[:2]):
        dataset = replace(make_dataset((40, 40), seed=seed), spec=DATA | cut)
        run([Experiment.from_config(config(data=cut), dataset)], results=tmp_path)
    found = [
        Records(tmp_path).find(
            ExperimentSpec.from_config(config(data=DATA | cut | {"expect": None}))
        )
        for cut in cuts
    ]
    checksums = [{r["config"]["data"]["checksum"] for r in one.records} for one in found]
    assert [len(some) for some in checksums] == [1, 1, 0]
    assert checksums[0] != checksums[1]


def test_one_record_may_have_been_asked_for_in_several_ways(tmp_path):
    ways, wanted = [{}, {"header": True}, {"labels": "class"}, {"na_values": ["?"]}], []

    def asked(way, n_splits=2):
        wanted[:] = [config(data=DATA | way, protocol={"n_splits": n_splits})]
        dataset = replace(make_dataset(), spec=DATA | way)
        return [Experiment.from_config(wanted[0], dataset)]

    def found(way):
        return Records(tmp_path).find(
            ExperimentSpec.from_config(config(data=DATA | way, protocol={"n_splits": 2}))
        )

    run(asked(ways[0]), results=tmp_path)
    run(asked(ways[1]), results=tmp_path, rerun="never")
    assert [found(way).missing for way in ways[:2]] == [0, 2]
    report = run(asked(ways[1]) + asked(ways[2], 3), results=tmp_path)
    assert report.ran == 1
    assert [found(way).missing for way in ways] == [0, 0, 0, 2]
    before = [path.read_text() for path in sorted(tmp_path.glob("records/*/*"))]
    for way in ways[:3]:
        assert run(asked(way), results=tmp_path).ran == 0
    assert [path.read_text() for path in sorted(tmp_path.glob("records/*/*"))] == before


def test_names_and_tuning_of_nothing_do_not_count(results):
    changes = {"protocol": {"name": "mine", "n_folds": 5}, "algo": {"title": "Mine"}}
    assert len(Records(results).find(ExperimentSpec.from_config(config(**changes))).records) == 4


@pytest.mark.parametrize(("n_splits", "n_records", "missing"), [(2, 2, 0), (7, 4, 3)])
def test_counts_the_splits_that_are_asked_for(results, n_splits, n_records, missing):
    found = Records(results).find(
        ExperimentSpec.from_config(config(protocol={"n_splits": n_splits}))
    )
    assert (len(found.records), found.missing) == (n_records, missing)


def test_the_newest_version_of_the_data_counts(results):
    newer = make_dataset(seed=1)
    run([Experiment.from_config(config(protocol={"n_splits": 2}), newer)], results=results)
    found = Records(results).find(ExperimentSpec.from_config(config()))
    assert {r["config"]["data"]["checksum"] for r in found.records} == {newer.checksum}
    assert (len(found.records), found.missing) == (2, 2)


def test_marks_records_of_other_code(results):
    path = results / "records" / "toy" / "fake.jsonl"
    rewrite(path, lambda number, record: record | ({"source": "0" * 16} if number == 1 else {}))
    assert Records(results).find(ExperimentSpec.from_config(config())).stale == 1


def test_names_damaged_lines_once(results):
    path = results / "records" / "toy" / "fake.jsonl"
    path.write_text("damaged\n" + path.read_text())
    records = Records(results)
    records.find(ExperimentSpec.from_config(config()))
    assert len(records.find(ExperimentSpec.from_config(config())).records) == 4
    [warning] = records.pop_warnings()
    assert warning.startswith(f"{path}:1: not a record: ")
    assert records.pop_warnings() == []


def test_a_run_adds_to_the_records_that_have_been_read(tmp_path):
    """Both find them in one place: what runs is known by key, and by what was asked."""
    records, asked = Records(tmp_path), config(protocol={"n_splits": 2})
    assert records.find(ExperimentSpec.from_config(asked)).missing == 2
    [outcome] = run([Experiment.from_config(asked, make_dataset())], results=records).outcomes
    found = records.find(ExperimentSpec.from_config(asked))
    assert (
        found.records
        == outcome.records
        == Records(tmp_path).find(ExperimentSpec.from_config(asked)).records
    )
    assert (found.missing, outcome.ran) == (0, 2)


def test_failed_splits(tmp_path):
    experiment = Experiment.from_config(config(), make_dataset())
    failing = {"_target_": "fake_classifiers.Failing", "fail_on": experiment.splits[1].seed}
    asked = config(algo=failing)
    run([Experiment.from_config(asked, make_dataset())], results=tmp_path)
    found = Records(tmp_path).find(ExperimentSpec.from_config(asked))
    assert [record["split"] for record in found.records] == [0, 2, 3]
    assert [record["split"] for record in found.failures] == [1]
    assert found.missing == 0
