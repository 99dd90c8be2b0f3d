"""A real scheduler and two workers, each a process, on the loopback."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

import processes
import pytest
from fitting.examples import FAKES
from fitting.toy import bare, make_dataset, run

from boostbench.data.loading import load
from boostbench.execution import cluster as dask_cluster
from boostbench.execution.queue import Finished
from boostbench.records.store import read_records
from boostbench.util.errors import UserError

pytest.importorskip("distributed", reason="the dask extra is not installed")

N_SPLITS = 10
#: Time limit of a fit in seconds; other fits take a hundredth of it.
LIMIT = 6


def environment():
    return {**os.environ, "PYTHONPATH": os.pathsep.join([FAKES, os.environ.get("PYTHONPATH", "")])}


def start(*words, **variables):
    command = [sys.executable, "-m", "dask", *words]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return processes.start(command, env=environment() | variables, start_new_session=True, **quiet)


@pytest.fixture
def make_cluster(tmp_path):
    """Start a scheduler and two workers: give its address, its process and theirs.

    A worker may have variables of its own; further keywords are variables of the scheduler.
    """
    started = []

    def make(*environments, **variables_of_scheduler):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        address = f"tcp://127.0.0.1:{port}"
        place = ["--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
        scheduler = start("scheduler", *place, **variables_of_scheduler)
        started.append(scheduler)
        settings = ["--nthreads", "1", "--no-dashboard", "--local-directory"]
        for variables in environments or ({}, {}):
            folder = str(tmp_path / "dask")
            started.append(start("worker", address, *settings, folder, **variables))
        wait_for(address, 2)
        return address, scheduler, started[1:]

    yield make
    for process in reversed(started):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=600)


@pytest.fixture
def cluster(make_cluster):
    return make_cluster()


def wait_for(address, n_workers):
    from distributed import Client

    with Client(address, timeout=600, set_as_default=False) as client:
        client.wait_for_workers(n_workers, timeout=600)


def act_after_fits(number, act):
    """Return a listener that calls a function once, after a number of fits."""
    events = []

    def listen(event):
        if isinstance(event, Finished):
            events.append(event)
            if len(events) == number:
                act()

    return listen


def test_cluster_gives_equal_records_after_a_worker_is_killed(make_experiment, tmp_path, cluster):
    address, _, workers = cluster
    experiment = make_experiment("fake_classifiers.Slow", grid={"width": [1, 2]}, n_splits=N_SPLITS)
    alone = run([experiment], results=tmp_path / "alone").results[0]
    kill = act_after_fits(3, lambda: os.killpg(workers[0].pid, signal.SIGKILL))
    asked = {"backend": "dask", "scheduler": address, "on_event": kill}
    [outcome] = run([experiment], results=tmp_path / "dask", **asked).results
    assert outcome.failures == []
    assert bare(alone.records) == bare(outcome.records)


def test_fit_that_is_ended_at_the_limit_is_late_and_not_dead(
    make_experiment, tmp_path, make_cluster
):
    address, _, _ = make_cluster(DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0")
    seed = make_experiment().splits[1].seed
    experiment = make_experiment(
        "fake_classifiers.Uninterruptible", fail_on=seed, time_limit=LIMIT, n_splits=2
    )
    [outcome] = run([experiment], results=tmp_path, backend="dask", scheduler=address).results
    assert [record.split for record in outcome.records] == [0]
    [failure] = outcome.failures
    assert failure.error == f"OutOfTime: it takes more than {LIMIT} s"
    assert failure.where == "protocol.time_limit"


def test_repeated_task_is_late_without_another_fit(make_experiment, dataset):
    seed = make_experiment().splits[0].seed
    experiment = make_experiment("fake_classifiers.Crashing", fail_on=seed, time_limit=LIMIT)
    trial = experiment.trial(experiment.splits[0], {})
    name = f"boostbench-test-{uuid.uuid4().hex}"
    trace = Path(tempfile.gettempdir()) / name
    trace.write_text("Timeout!")  # as the deadline leaves it in the process that it ends
    data = dataset.X, dataset.class_indices
    outcome = dask_cluster.run_task(trial, data, dask_cluster.code_digest(), name)
    assert outcome.error == f"OutOfTime: it takes more than {LIMIT} s"
    assert not trace.exists()


def test_killed_scheduler_loses_no_record(tmp_path, make_cluster):
    """Kill the scheduler while both workers are within a fit that does not end."""
    path, blocked = tmp_path / "records" / "wine" / "Slow.jsonl", tmp_path / "blocked"
    blocked.mkdir()
    slow = {"SLOW_AFTER": str(path), "SLOW_BLOCKED": str(blocked)}
    address, scheduler, _ = make_cluster(slow, slow)
    main = "import sys; from boostbench.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", main]
    asked = ["run", "data=wine", "algo._target_=fake_classifiers.Slow", f"results={tmp_path}"]
    asked.append(f"protocol.n_splits={N_SPLITS}")
    process = processes.start(
        [*command, *asked, "parallel=dask", f"parallel.scheduler={address}"],
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
    )
    while len(list(blocked.iterdir())) < 2:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    os.killpg(scheduler.pid, signal.SIGKILL)
    _, output = process.communicate(timeout=600)
    assert process.returncode == 2
    started, *_, line = output.splitlines()
    assert started.endswith(f"start: {N_SPLITS} splits to run")
    assert f"the Dask scheduler {address} is gone; finished fits are recorded" in line
    recorded, warnings = read_records(path)
    assert warnings == []
    assert 2 <= len(recorded) < N_SPLITS
    assert not any(record.is_failed for record in recorded)
    again = subprocess.run([*command, *asked, "parallel=serial"], env=environment(), check=False)
    assert again.returncode == 0
    assert read_records(path)[0][: len(recorded)] == recorded
    assert len(read_records(path)[0]) == N_SPLITS


@pytest.fixture
def data_folder(tmp_path):
    """Write files of data sets into a folder."""

    def write(name, seed=0):
        folder = tmp_path / name
        folder.mkdir()
        toy = make_dataset(seed=seed)
        rows = [",".join([*map(repr, x), y]) for x, y in zip(toy.X.tolist(), toy.y, strict=True)]
        (folder / "toy.csv").write_text("\n".join(["a,b,c,class", *rows]))
        return str(folder)

    return write


def count_loads(address):
    """Count the data sets that each worker has loaded."""
    from distributed import Client

    def count():
        from boostbench.execution import cluster as dask_cluster

        return dask_cluster.load_reference.cache_info().misses

    with Client(address, timeout=600, set_as_default=False) as client:
        return list(client.run(count).values())


def test_workers_load_a_data_set_once_by_name_and_checksum(
    make_experiment, make_cluster, data_folder, tmp_path, monkeypatch
):
    first, second = data_folder("one"), data_folder("other")
    monkeypatch.setenv("BOOSTBENCH_DATA", data_folder("own"))
    address, _, _ = make_cluster({"BOOSTBENCH_DATA": first}, {"BOOSTBENCH_DATA": second})
    asked = {"backend": "dask", "scheduler": address}
    data = load({"name": "toy"})
    experiment = make_experiment("fake_classifiers.Slow", data=data, n_splits=N_SPLITS)
    [outcome] = run([experiment], results=tmp_path / "dask", **asked).results
    assert count_loads(address) == [1, 1]
    alone = run([experiment], results=tmp_path / "alone").results[0]
    assert bare(alone.records) == bare(outcome.records)
    assert len(alone.records) == N_SPLITS
    # Workers keep loaded data sets, so they no longer need the files.
    for folder in (first, second):
        (Path(folder) / "toy.csv").unlink()
    report = run([experiment], results=tmp_path / "dask", rerun="all", **asked)
    assert (report.ran, report.failed) == (N_SPLITS, 0)


@pytest.mark.parametrize("missing", ["the file", "the same data"])
def test_worker_without_the_data_is_an_error(
    make_experiment, make_cluster, data_folder, tmp_path, monkeypatch, missing
):
    monkeypatch.setenv("BOOSTBENCH_DATA", data_folder("own"))
    folder = str(tmp_path) if missing == "the file" else data_folder("other", seed=1)
    address, _, _ = make_cluster(*[{"BOOSTBENCH_DATA": folder}] * 2)
    messages = {"the file": r"cannot load its data: data set 'toy' is not available"}
    messages["the same data"] = r"has other data: 'toy' from file .* has the checksum"
    with pytest.raises(UserError, match=f"the Dask worker on .* {messages[missing]}") as error:
        run(
            [make_experiment(data=load({"name": "toy"}))],
            results=tmp_path / "r",
            backend="dask",
            scheduler=address,
        )
    assert "\n" not in str(error.value)


def test_data_without_a_config_are_sent_to_workers(make_experiment, tmp_path, cluster):
    address, _, _ = cluster
    asked = {"backend": "dask", "scheduler": address}
    report = run([make_experiment()], results=tmp_path, **asked)
    assert (report.ran, report.failed) == (4, 0)
    assert count_loads(address) == [0, 0]


@pytest.mark.parametrize("scheduler", ["tcp://127.0.0.1:9", "nonsense://x", "tcp://"])
def test_unreachable_scheduler_is_an_error(make_experiment, tmp_path, monkeypatch, scheduler):
    from distributed.client import _get_global_client as default

    before = default()
    monkeypatch.setattr("boostbench.execution.cluster._CONNECT_TIMEOUT", 1)
    with pytest.raises(UserError, match="no Dask scheduler answers at"):
        run([make_experiment()], results=tmp_path / "r", backend="dask", scheduler=scheduler)
    assert not (tmp_path / "r").exists()
    assert default() is before


def test_scheduler_address_needs_the_dask_backend(make_experiment, tmp_path):
    for backend, scheduler in (("loky", "tcp://127.0.0.1:9"), ("dask", 5)):
        with pytest.raises(UserError, match=r"parallel.scheduler is"):
            run([make_experiment()], results=tmp_path, backend=backend, scheduler=scheduler)
