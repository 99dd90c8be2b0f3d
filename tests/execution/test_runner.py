import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace

import highspy
import msgspec
import numpy as np
import processes
import pytest
from fitting.examples import FAKES, FINDING, rewrite
from fitting.toy import bare, make_dataset, run
from msgspec import structs
from scipy import sparse

from boostbench.execution.queue import Finished, Waiting
from boostbench.execution.run_records import Shard
from boostbench.execution.runner import Interrupted, Planned
from boostbench.fitting.measures.prediction import Prediction
from boostbench.records.index import Records
from boostbench.records.store import read_records
from boostbench.records.verified import verified_path
from boostbench.spec.class_facts import _code_version
from boostbench.util.errors import UserError

GRID = {"width": [1, 2, 3]}
FOREST = "sklearn.ensemble.RandomForestClassifier"


@pytest.fixture
def results(tmp_path):
    return tmp_path / "results"


def record_file(results, tuning=False):
    return results / "records" / "toy" / f"fake{'.tuning' if tuning else ''}.jsonl"


def lines(results, tuning=False):
    """Return the lines of a file that are records."""
    path = record_file(results, tuning)
    body = path.read_text().splitlines() if path.exists() else []
    return [line for line in body if '"schema":2' in line]


class Listener(list):
    def __call__(self, event):
        self.append(event)

    def finished(self, tuning):
        return [e for e in self if isinstance(e, Finished) and e.is_tuning == tuning]


def test_run_records_each_split_and_each_trial(make_experiment, results):
    events = Listener()
    experiment = make_experiment(grid=GRID)
    report = run([experiment], results=results, on_event=events)
    [outcome] = report.results
    assert [record.split for record in outcome.records] == [0, 1, 2, 3]
    assert (report.ran, report.failed, outcome.missing, outcome.stale) == (4, 0, 0, 0)
    assert (len(lines(results)), len(lines(results, tuning=True))) == (4, 9)
    assert events[0] == Planned(n_trials=9, n_splits=4, n_recorded=0)
    assert (len(events.finished(True)), len(events.finished(False))) == (9, 4)
    assert "fake on toy, split 0, fold 0, width=1" in [e.label for e in events.finished(True)]
    assert outcome.records[0].config.data.n_samples == 120


def test_choice_has_the_least_mean_validation_error(make_experiment, results):
    [outcome] = run([make_experiment(grid=GRID)], results=results).results
    trials = read_records(results / "records" / "toy" / "fake.tuning.jsonl")[0]
    means = {
        width: np.mean([t.validation_error for t in trials if t.points == [{"width": width}]])
        for width in GRID["width"]
    }
    best = min(means, key=means.get)
    assert {record.chosen["width"] for record in outcome.records} == {best}
    assert outcome.records[3].validation_error == pytest.approx(means[best], abs=1e-15)


def test_every_split_is_tuned_separately(make_experiment, results):
    run([make_experiment(grid=GRID, tune="every_split")], results=results)
    trials = read_records(results / "records" / "toy" / "fake.tuning.jsonl")[0]
    assert len(trials) == 4 * 9
    assert {trial.split for trial in trials} == {0, 1, 2, 3}


@pytest.mark.parametrize("settings", [{"grid": GRID, "tune": "none"}, {"grid": {"width": [3]}}, {}])
def test_single_choice_needs_no_cross_validation(make_experiment, results, settings):
    [outcome] = run([make_experiment(**settings)], results=results).results
    assert lines(results, tuning=True) == []
    chosen = {"width": 3} if settings == {"grid": {"width": [3]}} else {}
    assert all(record.chosen == chosen for record in outcome.records)
    assert all(record.validation_error is None for record in outcome.records)


def test_results_are_equal_for_any_number_of_jobs(make_experiment, tmp_path):
    # Joblib maps arrays of more than 1 MB into the memory of the workers.
    big = make_dataset((30_000, 30_000), name="big")
    assert big.X.nbytes > 2**20
    records_by_n_jobs = []
    for n_jobs in (1, 2):
        experiments = [
            make_experiment(grid=GRID),
            make_experiment(data=big, n_splits=2, samples_per_class=50),
            make_experiment(
                "sklearn.ensemble.RandomForestClassifier", name="forest", n_estimators=3
            ),
        ]
        results = tmp_path / str(n_jobs)
        report = run(experiments, results=results, n_jobs=n_jobs)
        trials = read_records(results / "records" / "toy" / "fake.tuning.jsonl")[0]
        assert len(trials) == 9
        records_by_n_jobs.append(
            [bare(outcome.records) for outcome in report.results] + [bare(trials)]
        )
    assert [len(records) for records in records_by_n_jobs[0]] == [4, 2, 4, 9]
    assert records_by_n_jobs[0] == records_by_n_jobs[1]


def test_second_run_fits_nothing(make_experiment, results):
    first = run([make_experiment(grid=GRID)], results=results)
    before = lines(results) + lines(results, tuning=True)
    events = Listener()
    again = run([make_experiment(grid=GRID)], results=results, on_event=events)
    assert again.ran == 0
    assert again.results[0].records == first.results[0].records
    assert lines(results) + lines(results, tuning=True) == before
    assert events == []


def test_lost_records_are_made_again_with_equal_results(make_experiment, results):
    first = run([make_experiment(grid=GRID)], results=results)
    path = results / "records" / "toy" / "fake.jsonl"
    records = lines(results)
    definitions = path.read_text().splitlines()[:2]
    path.write_text("\n".join([*definitions, records[0], records[3]]) + "\n" + records[1][:50])
    events = Listener()
    again = run([make_experiment(grid=GRID)], results=results, on_event=events)
    assert events[0] == Planned(n_trials=0, n_splits=2, n_recorded=2)
    assert bare(again.results[0].records) == bare(first.results[0].records)
    assert len(lines(results)) == 4


def test_lost_trials_are_run_again_only_for_missing_choices(make_experiment, results):
    run([make_experiment(grid=GRID)], results=results)
    path = results / "records" / "toy" / "fake.tuning.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[: 2 + 5]))
    assert run([make_experiment(grid=GRID, n_splits=6)], results=results).ran == 2
    assert len(lines(results, tuning=True)) == 5
    (results / "records" / "toy" / "fake.jsonl").unlink()
    assert run([make_experiment(grid=GRID)], results=results).ran == 4
    assert len(lines(results, tuning=True)) == 9


def test_more_splits_run_new_splits_only(make_experiment, results):
    few = run([make_experiment(n_splits=2)], results=results)
    many = run([make_experiment(n_splits=5)], results=results)
    assert many.ran == 3
    assert many.results[0].records[:2] == few.results[0].records


@pytest.mark.parametrize(
    ("change", "n_ran"),
    [
        ({"seed": 1}, 4),
        ({"width": 3}, 4),
        ({"scale": "none"}, 4),
        ({"checkpoints": [1]}, 4),
        ({"grid": {"width": [1, 2]}}, 4),
        ({"data": make_dataset(seed=1)}, 4),
        ({"n_folds": 5}, 0),
        ({"tune": "every_split"}, 0),
    ],
)
def test_settings_that_decide_results_cause_new_fits(make_experiment, results, change, n_ran):
    run([make_experiment()], results=results)
    assert run([make_experiment(**change)], results=results).ran == n_ran
    assert run([make_experiment()], results=results).ran == 0


def test_parameter_of_the_grid_is_ignored(make_experiment, results):
    run([make_experiment(grid=GRID, width=1)], results=results)
    assert run([make_experiment(grid=GRID, width=2)], results=results).ran == 0


def test_longer_grid_keeps_recorded_trials(make_experiment, results):
    run([make_experiment(grid={"width": [1, 2]})], results=results)
    events = Listener()
    run([make_experiment(grid=GRID)], results=results, on_event=events)
    assert events[0] == Planned(n_trials=3, n_splits=4, n_recorded=0)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_failure_is_recorded_and_other_splits_finish(make_experiment, results, n_jobs):
    seed = make_experiment().splits[2].seed
    failing = make_experiment("fake_classifiers.Failing", fail_on=seed)
    events = Listener()
    report = run([failing], results=results, n_jobs=n_jobs, on_event=events)
    [outcome] = report.results
    assert [record.split for record in outcome.records] == [0, 1, 3]
    assert [record.split for record in outcome.failures] == [2]
    assert outcome.failures[0].error == "ValueError: cannot do this one"
    assert report.failed == 1
    assert [e.error for e in events.finished(False) if e.error] == [outcome.failures[0].error]
    assert len(lines(results)) == 4
    assert run([failing], results=results, rerun="never").failed == 1
    assert run([failing], results=results).ran == 1


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), 7.0, -0.5, None, "0.1", np.float32(0.1), {1}, "\ud800"]
)
def test_unrecordable_values_are_failures(make_experiment, results, monkeypatch, value):
    take = Prediction.take

    def broken(self, trial, X, y):
        results = take(self, trial, X, y)
        if trial.split.index != 2:
            return results
        return msgspec.structs.replace(results, test_error=value)

    monkeypatch.setattr(Prediction, "take", broken)
    [outcome] = run([make_experiment()], results=results).results
    assert [record.split for record in outcome.records] == [0, 1, 3]
    [failure] = outcome.failures
    assert failure.error.startswith("the results cannot be recorded: ")
    report = run([make_experiment()], results=results, rerun="never")
    assert (report.failed, report.warnings) == (1, [])
    monkeypatch.undo()
    [outcome] = run([make_experiment()], results=results).results
    assert (outcome.ran, len(outcome.records)) == (1, 4)


def test_unsolved_linear_program_is_one_failure(make_experiment, results, monkeypatch):
    """Check that the next run fits the failed split alone."""
    statuses = []

    def status(self):
        statuses.append(True)
        wrong = len(statuses) == 3  # one program a fit
        return getattr(highspy.HighsModelStatus, "kSolveError" if wrong else "kOptimal")

    monkeypatch.setattr(highspy.Highs, "getModelStatus", status)
    data = make_dataset(counts=(40, 40))
    target = "boostbench.algorithms.LPBoost"
    experiment = make_experiment(target, data=data, n_iterations=1, C=1.0)
    [outcome] = run([experiment], results=results).results
    assert [record.split for record in outcome.records] == [0, 1, 3]
    [failure] = outcome.failures
    assert failure.error.startswith("RuntimeError: the linear program of 1 weak learners was not")
    report = run([experiment], results=results)
    assert (report.ran, report.failed) == (1, 0)


def test_failing_grid_point_is_not_chosen(make_experiment, results):
    experiment = make_experiment("fake_classifiers.Failing", grid=GRID, fail_width=3)
    report = run([experiment], results=results)
    assert report.failed == 0
    assert report.results[0].records[0].chosen["width"] in (1, 2)


def test_splits_fail_if_all_grid_points_fail(make_experiment, results):
    grid = {"n_iterations": [3, 4]}
    experiment = make_experiment("fake_classifiers.Failing", grid=grid, fail_width=2)
    [outcome] = run([experiment], results=results).results
    assert [record.split for record in outcome.failures] == [0, 1, 2, 3]
    error = outcome.failures[0].error
    assert error.startswith("no point of the grid could be fitted; one of them: ValueError: cannot")


def test_dead_worker_is_one_failure(make_experiment, results):
    """Kill the last split; the test of hanging fits checks that other workers continue."""
    seed = make_experiment(n_splits=6).splits[5].seed
    experiment = make_experiment("fake_classifiers.Crashing", fail_on=seed, n_splits=6)
    [outcome] = run([experiment], results=results, n_jobs=2).results
    assert [record.split for record in outcome.failures] == [5]
    assert "died" in outcome.failures[0].error
    assert [record.split for record in outcome.records] == [0, 1, 2, 3, 4]


def make_stale(results, tuning=False):
    changes = {"source": "0" * 16}
    rewrite(record_file(results, tuning), lambda i, r: r | (changes if i in (1, 2) else {}))


def test_stale_records_are_marked_and_rerun_on_request(make_experiment, results):
    run([make_experiment()], results=results)
    make_stale(results)
    [outcome] = run([make_experiment()], results=results).results
    assert (outcome.ran, outcome.stale, len(outcome.records)) == (0, 2, 4)
    [outcome] = run([make_experiment()], results=results, rerun="stale").results
    assert (outcome.ran, outcome.stale, len(outcome.records)) == (2, 0, 4)
    assert run([make_experiment()], results=results, rerun="all").ran == 4
    assert run([make_experiment()], results=results, rerun="stale").ran == 0


def test_stale_trials_never_compete_with_fresh_ones(make_experiment, results):
    run([make_experiment(grid=GRID)], results=results)
    make_stale(results, tuning=True)
    (results / "records" / "toy" / "fake.jsonl").unlink()
    events = Listener()
    run([make_experiment(grid=GRID)], results=results, on_event=events)
    assert events[0] == Planned(n_trials=2, n_splits=4, n_recorded=0)


def test_new_edition_makes_records_stale(make_experiment, results, monkeypatch):
    [outcome] = run([make_experiment()], results=results).results
    assert not any("edition" in record.provenance.content for record in outcome.records)
    monkeypatch.setattr("fake_classifiers.Nearest.edition", 2, raising=False)
    _code_version.cache_clear()
    [outcome] = run([make_experiment()], results=results).results
    assert (outcome.ran, outcome.stale) == (0, 4)
    [outcome] = run([make_experiment()], results=results, rerun="stale").results
    assert (outcome.ran, outcome.stale) == (4, 0)
    assert {record.provenance.content["edition"] for record in outcome.records} == {2}
    monkeypatch.undo()
    _code_version.cache_clear()
    [outcome] = run([make_experiment()], results=results).results
    assert (outcome.ran, outcome.stale) == (0, 4)


def test_refuted_records_are_replaced_on_request(make_experiment, results):
    run([make_experiment()], results=results)
    rewrite(
        record_file(results), lambda i, record: record | {"finished": f"2026-11-2{i}T00:00:00Z"}
    )
    # The finding is from the second day, and concerns records that were finished before.
    for data, n_stale in (("other", 0), ("toy", 2)):
        verified_path(results).write_text(json.dumps(FINDING | {"data": data}) + "\n")
        [outcome] = run([make_experiment()], results=results).results
        assert (outcome.ran, outcome.stale) == (0, n_stale)
    [outcome] = run([make_experiment()], results=results, rerun="stale").results
    assert (outcome.ran, outcome.stale) == (2, 0)
    # The finding does not concern records of another edition.
    later = {"edition": 2, "until": "2999-01-01T00:00:00Z"}
    verified_path(results).write_text(json.dumps(FINDING | later) + "\n")
    assert run([make_experiment()], results=results).results[0].stale == 0


def test_damaged_finding_is_named(make_experiment, results):
    verified_path(results).parent.mkdir(parents=True, exist_ok=True)
    verified_path(results).write_text("{}\n")
    [warning] = run([make_experiment()], results=results).warnings
    assert warning.endswith("verified.jsonl:1: record: there is no target; left out")


def test_rerun_never_reads_records_only(make_experiment, results):
    run([make_experiment(n_splits=2)], results=results)
    with (results / "records" / "toy" / "fake.jsonl").open("a") as file:
        file.write("damaged\n")
    report = run([make_experiment(n_splits=5)], results=results, rerun="never")
    [outcome] = report.results
    assert (len(outcome.records), outcome.missing, outcome.ran) == (2, 3, 0)
    [warning] = report.warnings
    assert warning.partition(":")[2].startswith("5: not a record: ")
    [outcome] = run([make_experiment(n_splits=5)], results=results, rerun="never").results
    assert (outcome.missing, outcome.ran) == (3, 0)


@pytest.mark.parametrize("rerun", ["missing", "all"])
def test_ctrl_c_keeps_finished_splits(make_experiment, results, rerun):
    seed = make_experiment().splits[2].seed
    experiment = make_experiment("fake_classifiers.Interrupting", fail_on=seed)
    events = Listener()
    with pytest.raises(KeyboardInterrupt):
        run([experiment], results=results, on_event=events, rerun=rerun)
    assert events[-1] == Interrupted(done=2, planned=4, reruns_all=rerun == "all")
    assert len(lines(results)) == 2


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_write_error_stops_the_workers(make_experiment, results, recwarn, n_jobs):
    experiment = make_experiment("fake_classifiers.Slow", n_splits=40)

    def listen(event):
        if isinstance(event, Finished):
            (results / "records" / "toy" / "fake.jsonl").rename(results / "elsewhere.jsonl")
            shutil.rmtree(results / "records" / "toy")
            (results / "records" / "toy").write_text("")

    with pytest.raises(UserError, match=r"cannot write records to .*results="):
        run([experiment], results=results, n_jobs=n_jobs, on_event=listen)
    assert len(read_records(results / "elsewhere.jsonl")[0]) == 1
    assert [str(warning.message) for warning in recwarn] == []


PROGRAM = """
import sys
from pathlib import Path
from boostbench.util.errors import Terminated
from boostbench.execution.run_records import Shard
from toy import experiment_from_config, make_dataset, run
algo = {"name": "fake", "_target_": "fake_classifiers.Slow", "grid": {"width": [1, 2]}}
protocol = {"n_splits": 10, "n_folds": 3, "checkpoints": [1]}
experiment = experiment_from_config({"algo": algo, "protocol": protocol}, make_dataset())
shard = Shard.parse(sys.argv[3]) if len(sys.argv) > 3 else None
try:
    run([experiment], results=Path(sys.argv[1]), n_jobs=int(sys.argv[2]), shard=shard)
except Terminated:
    sys.exit(143)
"""


@pytest.fixture
def slow(make_experiment):
    """Return the experiment of PROGRAM."""
    settings = {"grid": {"width": [1, 2]}, "n_splits": 10, "checkpoints": [1]}
    return make_experiment("fake_classifiers.Slow", **settings)


@contextlib.contextmanager
def running_process(results, n_jobs, tuning=False, shard=None):
    """A run of 6 trials and 10 splits in a process group of its own.

    It stops getting on after two records of one kind or the other, until a signal comes. Every
    process that stops there leaves a file in the folder `blocked`.
    """
    folder = shard.folder(results) if shard else results
    # Small images of containers have no command that ends processes.
    env = {**os.environ, "PATH": "", "SLOW_AFTER": str(record_file(folder, tuning))}
    env["SLOW_BLOCKED"] = str(blocked(results))
    blocked(results).mkdir()
    env["PYTHONPATH"] = os.pathsep.join([FAKES, env.get("PYTHONPATH", "")])
    command = [sys.executable, "-c", PROGRAM, str(results), str(n_jobs)]
    command += [f"{shard.number}/{shard.n_shards}"] if shard else []
    process = processes.start(command, env=env, stderr=subprocess.PIPE, start_new_session=True)
    try:
        yield process
    finally:
        # macOS has PermissionError for a group of which none but zombies are left.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=600)


def blocked(results):
    return results.with_name("blocked")


def wait_until_blocked(process, results, n_jobs):
    """Wait until all workers are within a fit that does not end, so that nothing is on its way."""
    wait_for(process, lambda: len(list(blocked(results).iterdir())) == n_jobs)


def wait_for(process, condition):
    while not condition():
        assert process.poll() is None, process.stderr.read().decode()
        time.sleep(0.02)


@pytest.mark.parametrize(("n_jobs", "tuning"), [(2, True), (1, False)])
def test_kill_loses_unfinished_fits_only(slow, results, n_jobs, tuning):
    with running_process(results, n_jobs, tuning) as process:
        wait_for(process, lambda: len(lines(results, tuning)) >= 2)
        process.kill()
        process.wait(timeout=600)
        # The workers end with their run, as nobody would record their results.
        with pytest.raises(ProcessLookupError):  # noqa: PT012
            while True:
                with contextlib.suppress(PermissionError):
                    os.killpg(process.pid, 0)
                time.sleep(0.1)
    before = read_records(results / "records" / "toy" / "fake.jsonl")[0]
    trials = read_records(results / "records" / "toy" / "fake.tuning.jsonl")[0]
    assert 0 < len(before) + len(trials) < 16
    events = Listener()
    [outcome] = run([slow], results=results, on_event=events).results
    assert events[0] == Planned(6 - len(trials), 10 - len(before), len(before))
    assert [record.split for record in outcome.records] == list(range(10))
    keys = [record.key for record in read_records(results / "records" / "toy" / "fake.jsonl")[0]]
    assert len(keys) == len(lines(results)) == 10


def test_worker_ends_if_its_parent_is_gone_at_the_start():
    """Give the worker the number of a process that is not its parent."""
    program = f"""
import time
from boostbench.execution import workers
workers._follow_parent({os.getppid()})
time.sleep(600)
"""
    child = processes.start([sys.executable, "-c", program])
    assert child.wait() == 1


def test_worker_ends_with_its_parent_on_windows():
    """Check the handle of the parent, as its number stays valid on Windows."""
    program = """
import os, sys, time
from types import SimpleNamespace
from boostbench.execution import workers
sys.platform = "win32"
workers.multiprocessing.parent_process = lambda: SimpleNamespace(join=lambda: time.sleep(0.1))
workers._follow_parent(os.getppid())
time.sleep(60)
"""
    child = processes.start([sys.executable, "-c", program])
    assert child.wait() == 1


@pytest.mark.parametrize(("n_jobs", "shard"), [(2, None), (1, Shard(1, 1))])
def test_concurrent_runs_share_the_work(slow, results, n_jobs, shard):
    """Check that a run waits for claimed fits and takes them over if the other run is killed."""
    waits = []

    def listen(event):
        if isinstance(event, Waiting):
            waits.append(event)
            other.kill()

    with running_process(results, 1, tuning=True, shard=shard) as other:
        wait_until_blocked(other, results, 1)
        run([slow], results=results, n_jobs=n_jobs, shard=shard, on_event=listen)
        assert waits == [Waiting(1)]  # or it would not end
        assert other.wait() == -signal.SIGKILL
    folder = shard.folder(results) if shard else results
    assert (len(lines(folder)), len(lines(folder, True))) == (10, 6)
    assert run([slow], results=results, shard=shard).ran == 0


@pytest.mark.parametrize("other_code", [False, True])
def test_runs_with_different_record_keys_do_not_wait(slow, results, other_code):
    """Check that a run does not wait for records that it cannot use."""
    if other_code:  # as of a module that was changed meanwhile
        slow.spec.__dict__["code_version"] = slow.spec.code_version._replace(source="0" * 16)
    else:
        algorithm = structs.replace(slow.spec.algorithm, name="renamed")
        slow = replace(slow, spec=structs.replace(slow.spec, algorithm=algorithm))

    def listen(event):
        if isinstance(event, Waiting):
            other.kill()
            pytest.fail("it waits")

    with running_process(results, 1, tuning=True) as other:
        wait_until_blocked(other, results, 1)
        [outcome] = run([slow], results=results, on_event=listen).results
        assert other.poll() is None
    assert outcome.ran == len(outcome.records) == 10
    assert outcome.stale == 0


def test_failed_split_may_be_retried_by_another_run(make_experiment, results):
    seed = make_experiment().splits[0].seed
    program = f"""
from pathlib import Path
from toy import make_experiment, run
experiment = make_experiment("fake_classifiers.Failing", fail_on={seed}, n_splits=1)
run([experiment], results=Path({str(results)!r}))
"""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([FAKES, os.environ.get("PYTHONPATH", "")])}

    def listen(event):
        if isinstance(event, Finished) and event.error:
            subprocess.run([sys.executable, "-c", program], env=env, check=True, timeout=60)

    experiment = make_experiment("fake_classifiers.Failing", fail_on=seed)
    run([experiment], results=results, on_event=listen)
    assert [json.loads(line)["split"] for line in lines(results)] == [0, 0, 1, 2, 3]


def test_fits_of_another_run_are_marked(make_experiment, results):
    experiment, finished = make_experiment(grid={"width": [1, 2]}), []

    def listen(event):
        if isinstance(event, Planned):
            run([experiment], results=results, on_event=finished.append)
        finished.append(event)

    assert run([experiment], results=results, on_event=listen).ran == 0
    elsewhere = [event.is_by_other_run for event in finished if isinstance(event, Finished)]
    # Two points in three folds are 6 trials, and there are 4 splits.
    assert elsewhere == [False] * 10 + [True] * 10


def test_growing_workers_are_replaced_without_warnings(make_experiment, results, recwarn):
    experiment = make_experiment("fake_classifiers.Growing", n_splits=6)
    assert run([experiment], results=results, n_jobs=2).ran == 6
    assert [str(warning.message) for warning in recwarn] == []


def test_ctrl_c_on_a_terminal_stops_workers_at_once(results):
    with running_process(results, n_jobs=2) as process:
        wait_until_blocked(process, results, 2)
        os.killpg(process.pid, signal.SIGINT)
        process.wait(timeout=600)
    assert process.returncode == -signal.SIGINT
    assert 2 <= len(lines(results)) < 10


@pytest.mark.parametrize("group", [False, True])
def test_sigterm_stops_a_run_like_ctrl_c(results, group):
    """Signal the process, like `kill`, or its group, like the end of a batch job."""
    with running_process(results, n_jobs=2) as process:
        wait_until_blocked(process, results, 2)
        (os.killpg if group else os.kill)(process.pid, signal.SIGTERM)
        process.wait(timeout=600)
    assert process.returncode == 143
    records, warnings = read_records(results / "records" / "toy" / "fake.jsonl")
    assert 2 <= len(records) < 10
    assert warnings == []
    assert not any(record.is_failed for record in records)


def test_run_restores_the_sigterm_handler(make_experiment, results):
    before = signal.getsignal(signal.SIGTERM)
    during = []
    run(
        [make_experiment()],
        results=results,
        on_event=lambda event: during.append(signal.getsignal(signal.SIGTERM)),
    )
    assert signal.getsignal(signal.SIGTERM) == before
    assert before not in during


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_failing_constructor_fails_its_trials_only(make_experiment, results, n_jobs):
    broken = "fake_classifiers.BrokenConstructor"
    sound, failing = make_experiment(), make_experiment(broken, width=3, name="broken")
    report = run([failing, sound], results=results, n_jobs=n_jobs)
    assert [len(outcome.records) for outcome in report.results] == [0, 4]
    assert {record.error for record in report.results[0].failures} == {
        "RuntimeError: no licence found"
    }
    tuned = make_experiment(broken, grid=GRID, name="tuned")
    [outcome] = run([tuned], results=results, n_jobs=n_jobs).results
    assert len(outcome.records) == 4
    assert {record.chosen["width"] for record in outcome.records} <= {1, 2}


FEW = make_dataset((40, 40, 5))


@pytest.mark.parametrize(
    ("settings", "options", "message"),
    [
        ({}, {"rerun": "stael"}, "rerun is 'stael'; did you mean stale"),
        ({}, {"backend": "luky"}, "backend is 'luky'; did you mean loky"),
        ({}, {"n_jobs": 0}, "n_jobs is 0"),
        ({"data": FEW, "grid": GRID, "n_folds": 5}, {}, "class 'c' has 4 samples .*the 5 folds"),
        ({"data": make_dataset((40, 1))}, {}, "class 'b' of data set 'toy' has 1 sample"),
        ({"target": "fake_classifiers.Binary"}, {}, "fake takes two classes, and .*'toy' has 3"),
        ({"name": "../fake"}, {}, "names a file of records"),
    ],
)
def test_mistakes_are_found_before_anything_is_written(
    make_experiment, results, settings, options, message
):
    with pytest.raises(UserError, match=message):
        run([make_experiment(**settings)], results=results, **options)
    assert not results.exists()


def test_sparse_features_are_refused_for_a_dense_classifier(make_experiment, results):
    dense = make_dataset()
    data = type(dense)("toy", sparse.csr_matrix(dense.X), dense.y, "generated")
    with pytest.raises(UserError, match="takes no sparse features"):
        run([make_experiment(data=data)], results=results)
    tree = make_experiment("sklearn.tree.DecisionTreeClassifier", data=data, scale="minmax")
    assert run([tree], results=results).failed == 0


def test_unwritable_results_are_refused(make_experiment, tmp_path):
    (tmp_path / "results").write_text("a file")
    with pytest.raises(UserError, match=r"cannot write records to .*results="):
        run([make_experiment()], results=tmp_path / "results")


def test_nested_run_uses_one_process(make_experiment, results):
    import joblib

    experiment = make_experiment(n_splits=2)
    calls = [joblib.delayed(run_and_count_workers)(experiment, results / name) for name in "ab"]
    for ran, in_process in joblib.Parallel(n_jobs=2)(calls):
        assert ran == 2
        assert in_process


def run_and_count_workers(experiment, results):
    from boostbench.execution.workers import Workers

    return run([experiment], results=results, n_jobs=2).ran, Workers(2, "loky").n_jobs == 1


def test_dask_gives_equal_records(make_experiment, tmp_path):
    pytest.importorskip("distributed", reason="the dask extra is not installed")
    alone = run([make_experiment(grid=GRID)], results=tmp_path / "alone")
    dask = run([make_experiment(grid=GRID)], results=tmp_path / "dask", n_jobs=2, backend="dask")
    assert bare(alone.results[0].records) == bare(dask.results[0].records)


def test_missing_dask_is_an_error(make_experiment, results, monkeypatch):
    monkeypatch.setitem(sys.modules, "dask.distributed", None)
    with pytest.raises(
        UserError, match=r"needs Dask; install it by pip install 'dask\[distributed\]'"
    ):
        run([make_experiment()], results=results, backend="dask")
    assert not results.exists()


def test_written_records_are_not_kept_in_memory(make_experiment, results):
    """Count records in memory, which must not grow with the length of the queue."""
    experiment = make_experiment(n_splits=6)
    records, n_seen = Records(results), []

    def count_records():
        return len(list(records.index(experiment.path(results))._newest))

    def count(event):
        if isinstance(event, Finished):
            n_seen.append(count_records())

    [outcome] = run([experiment], results=records, on_event=count).results
    assert [record.split for record in outcome.records] == list(range(6))
    assert outcome.records == read_records(record_file(results))[0]
    assert count_records() == 6  # the results were read at the end of the run
    assert n_seen == [0] * 6


def test_records_lost_during_a_run_are_an_error_of_one_line(make_experiment, results):
    trials = record_file(results, tuning=True)

    def take_away(event):
        if isinstance(event, Finished) and event.is_tuning:
            trials.write_bytes(b"")

    with pytest.raises(UserError, match=r"fake.tuning.jsonl has lost records") as error:
        run([make_experiment(grid=GRID)], results=results, on_event=take_away)
    assert "\n" not in str(error.value)
