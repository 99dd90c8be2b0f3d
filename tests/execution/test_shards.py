import pytest
from fitting.toy import run

from boostbench.execution.run_records import Shard
from boostbench.execution.runner import Planned
from boostbench.records.merging import merge_records
from boostbench.records.store import read_records
from boostbench.util.errors import UserError

GRID = {"width": [1, 2, 3]}


@pytest.mark.parametrize("text", ["3", "0/2", "3/2", "1/0", "a/b", "1/2/3", "-1/2", "1.5/2", 5])
def test_invalid_shards_are_refused(text):
    with pytest.raises(UserError, match="write shard=3/20"):
        Shard.parse(text)


def test_each_key_is_in_one_shard():
    keys = [f"{number * 7919:016x}" for number in range(200)]
    shards = [Shard(number, 3) for number in (1, 2, 3)]
    assert all(sum(shard.takes(key) for shard in shards) == 1 for key in keys)
    assert min(sum(map(shard.takes, keys)) for shard in shards) > 40


@pytest.mark.parametrize("tune", ["first_split", "every_split", "none"])
def test_shards_run_every_fit_once_in_separate_files(make_experiment, tmp_path, tune):
    experiment, results = make_experiment(grid=GRID, n_splits=8, tune=tune), tmp_path / "results"
    planned = []
    for number in (1, 2, 3):
        run([experiment], results=results, shard=Shard(number, 3), on_event=planned.append)
    assert not (results / "records").exists()
    planned = [event for event in planned if isinstance(event, Planned)]
    assert sum(event.n_splits for event in planned) == 8
    n_trials = {"first_split": 9, "every_split": 72, "none": 0}[tune]
    assert sum(event.n_trials for event in planned) == n_trials
    summary = merge_records(sorted((results / "shards").iterdir()), results)
    assert (summary.n_added, summary.n_existing) == (8 + n_trials, 0)
    assert not summary.conflicts + summary.warnings
    report = run([experiment], results=results)
    assert (report.ran, len(report.results[0].records)) == (0, 8)


def test_shard_continues_from_its_own_and_the_shared_records(make_experiment, tmp_path):
    experiment = make_experiment(n_splits=8)
    shard = Shard(1, 2)
    first = run([experiment], results=tmp_path, shard=shard).ran
    assert run([experiment], results=tmp_path, shard=shard).ran == 0
    run([make_experiment(n_splits=4)], results=tmp_path)
    events = []
    run([experiment], results=tmp_path, shard=Shard(2, 2), on_event=events.append)
    shared_splits = {record.split for record in read_records(experiment.path(tmp_path))[0]}
    shard_splits = {r.split for r in read_records(experiment.path(Shard(2, 2).folder(tmp_path)))[0]}
    assert not shared_splits & shard_splits
    assert events[0].n_recorded + events[0].n_splits == 8 - first
