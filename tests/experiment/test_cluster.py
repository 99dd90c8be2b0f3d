"""A real scheduler and two workers, each a process, on the loopback."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from boostbench.errors import UserError
from boostbench.experiment.records import read
from boostbench.experiment.runner import Finished, run

pytest.importorskip("distributed", reason="the dask extra is not installed")

N_SPLITS = 10


def start(*words, **more):
    here = str(Path(__file__).parent)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "dask", *words]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command, env=env | more, start_new_session=True, **quiet)


@pytest.fixture
def cluster(tmp_path):
    """Give the address of a scheduler, its process, and those of two workers."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    place = ["--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    scheduler = start("scheduler", *place)
    settings = ["--nthreads", "1", "--no-dashboard", "--local-directory", str(tmp_path / "dask")]
    workers = [start("worker", address, *settings) for _ in "ab"]
    try:
        wait_for(address, 2)
        yield address, scheduler, workers
    finally:
        for process in (*workers, scheduler):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def wait_for(address, n_workers):
    from distributed import Client

    with Client(address, timeout=60, set_as_default=False) as client:
        client.wait_for_workers(n_workers, timeout=60)


def on_finished(number, act):
    """Make a listener that acts once, when so many fits are done."""
    events = []

    def listen(event):
        if isinstance(event, Finished):
            events.append(event)
            if len(events) == number:
                act()

    return listen


def bare(records):
    left_out = ("seconds", "started", "finished")
    kept = [{k: v for k, v in one.items() if k not in left_out} for one in records]
    return sorted(kept, key=lambda record: record["key"])


def test_a_cluster_does_the_same_even_if_a_worker_is_killed(make_experiment, tmp_path, cluster):
    address, _, workers = cluster
    experiment = make_experiment("fake_classifiers.Slow", grid={"width": [1, 2]}, n_splits=N_SPLITS)
    alone = run([experiment], results=tmp_path / "alone").outcomes[0]
    kill = on_finished(3, lambda: os.killpg(workers[0].pid, signal.SIGKILL))
    asked = {"backend": "dask", "scheduler": address, "on_event": kill}
    [outcome] = run([experiment], results=tmp_path / "dask", **asked).outcomes
    assert outcome.failures == []
    assert bare(alone.records) == bare(outcome.records)


def test_without_a_scheduler_nothing_is_lost(make_experiment, tmp_path, cluster):
    address, scheduler, _ = cluster
    experiment = make_experiment("fake_classifiers.Slow", n_splits=N_SPLITS)
    kill = on_finished(3, lambda: os.killpg(scheduler.pid, signal.SIGKILL))
    begin = time.monotonic()
    with pytest.raises(UserError, match=r"is gone; what had finished is recorded") as told:
        run([experiment], results=tmp_path, backend="dask", scheduler=address, on_event=kill)
    assert "\n" not in str(told.value)
    assert time.monotonic() - begin < 120
    recorded = read(experiment.path(tmp_path))[0]
    assert 3 <= len(recorded) < N_SPLITS
    assert not any("error" in record for record in recorded)
    assert run([experiment], results=tmp_path).ran == N_SPLITS - len(recorded)


@pytest.mark.parametrize("scheduler", ["tcp://127.0.0.1:9", "nonsense://x", "tcp://"])
def test_no_scheduler_answers(make_experiment, tmp_path, monkeypatch, scheduler):
    monkeypatch.setattr("boostbench.experiment.cluster._PATIENCE", 1)
    with pytest.raises(UserError, match="no Dask scheduler answers at"):
        run([make_experiment()], results=tmp_path / "r", backend="dask", scheduler=scheduler)
    assert not (tmp_path / "r").exists()


def test_an_address_is_for_dask(make_experiment, tmp_path):
    for backend, scheduler in (("loky", "tcp://127.0.0.1:9"), ("dask", 5)):
        with pytest.raises(UserError, match=r"parallel.scheduler is"):
            run([make_experiment()], results=tmp_path, backend=backend, scheduler=scheduler)
