"""Test the state and the streams of the process that calls a command."""

import contextlib
import io
import logging
import os
import random
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pytest

from boostbench.cli import main
from tests.conftest import QUICK

RUN = ["run", "data=wine", *QUICK]
BOOSTBENCH = [sys.executable, "-m", "boostbench"]
HOSTILE = "\x1b[31mred\x9b0m\u202e"


def process_state():
    return {
        "handlers": list(logging.root.handlers),
        "level": logging.root.level,
        "path": list(sys.path),
        "argv": list(sys.argv),
        "random": random.getstate(),
        "environment": dict(os.environ),
        "signals": [signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)],
        "streams": (sys.stdout, sys.stderr),
        "errors": getattr(sys.stdout, "errors", None),
        "filters": list(warnings.filters),
        "folder": os.getcwd(),
    }


@pytest.mark.parametrize(
    "argv",
    [
        RUN,
        ["run", "-m", "algo=constant", "data=wine,iris"],
        ["list"],
        ["tabel"],
        ["-sc", "query=bash"],
    ],
)
def test_command_restores_the_process_state(folder, monkeypatch, argv):
    monkeypatch.setattr(logging.root, "handlers", [])
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    monkeypatch.setenv("COMP_LINE", "boostbench run al")
    before = process_state()
    main(argv)
    assert process_state() == before


def test_logging_of_the_caller_is_used(call, folder, caplog):
    handlers = list(logging.root.handlers)
    assert call("list").code == 0
    assert logging.root.handlers == handlers


def test_importing_an_estimator_draws_no_random_numbers():
    code = """
import random
state = random.getstate()
from boostbench import MCBoost
assert random.getstate() == state
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("argv", [["list", "algos"], None])
def test_streams_may_be_any_file_objects(folder, monkeypatch, argv):
    monkeypatch.setattr("sys.argv", ["boostbench", "list", "algos"])
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        assert main(argv) == 0
        assert main(["tabel"]) == 2
    assert "RBoost^proj" in out.getvalue()
    assert "unknown command 'tabel'" in err.getvalue()


@pytest.mark.parametrize("argv", [RUN, ["tabel"], ["check", "--help"]])
def test_streams_are_arguments(folder, capfd, argv):
    out, err = io.StringIO(), io.StringIO()
    code = main(argv, out, err)
    assert capfd.readouterr() == ("", "")
    if code == 0:
        assert out.getvalue()
    else:
        assert out.getvalue() == ""
        assert "unknown command 'tabel'" in err.getvalue()
    assert sys.stdout is not out
    # The next command has the streams of the process again.
    assert main(["list", "algos"]) == 0
    assert "RBoost^proj" in capfd.readouterr().out


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_missing_stream_is_accepted(folder, monkeypatch, name):
    monkeypatch.setattr(sys, name, None)
    assert main(RUN) == 0
    assert main(["tabel"]) == 2
    assert getattr(sys, name) is None


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_run_accepts_closed_descriptors(folder, closed):
    command = " ".join([*BOOSTBENCH, *RUN[:-1], "parallel.n_jobs=2", closed])
    result = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert result.returncode == 0
    assert ("DecisionTreeClassifier" in result.stdout) == (closed == "2>&-")
    assert "Traceback" not in result.stderr
    path = folder / "results/records/wine/DecisionTreeClassifier.jsonl"
    assert len(path.read_text().splitlines()) == 5  # 2 definitions, 3 splits and nothing else


def test_module_runs_as_the_command():
    result = subprocess.run([*BOOSTBENCH, "--version"], capture_output=True, text=True, check=True)
    assert result.stdout.startswith("boostbench ")


def test_commands_of_two_threads_run_one_after_another(folder):
    codes = []
    runs = [[*RUN, f"seed={seed}"] for seed in (1, 2)]
    threads = [threading.Thread(target=lambda run=run: codes.append(main(run))) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [0, 0]


@pytest.mark.skipif(sys.platform == "win32", reason="folders in use cannot be removed there")
def test_deleted_working_directory_is_reported(refused, folder, monkeypatch):
    gone = folder.parent / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    expected = "the working directory does not exist any more; change to another one"
    assert expected in refused("run", "algo=constant", "data=iris")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
def test_forked_pool_ends_after_a_parallel_run(folder):
    code = f"""
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from boostbench.cli import main
with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
    assert pool.submit(main, {[*RUN[:-1], "parallel.n_jobs=2"]}).result() == 0
"""
    env = {**os.environ, "LOKY_MAX_CPU_COUNT": "2"}
    subprocess.run([sys.executable, "-c", code], env=env, check=True, timeout=300)


def run_script_code(folder, *overrides):
    """Write and run a script that defines a class and fits it."""
    code = f"""
from sklearn.tree import DecisionTreeClassifier
class Mine(DecisionTreeClassifier):
    pass
if __name__ == "__main__":
    from boostbench.cli import main
    raise SystemExit(main(["run", "algo._target_=__main__.Mine", "data=wine",
                           "protocol.n_splits=3", *{list(overrides)}]))
"""
    (folder / "script.py").write_text(code)
    return code


@pytest.mark.parametrize("parallel", ["parallel=serial", "parallel.n_jobs=2"])
def test_class_of_a_script_is_fitted(folder, parallel):
    run_script_code(folder, parallel)
    env = {**os.environ, "LOKY_MAX_CPU_COUNT": "2"}
    command = [sys.executable, "script.py"]
    result = subprocess.run(command, env=env, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "Mine" in result.stdout


def test_class_without_a_file_is_refused_in_one_line(folder):
    command = [sys.executable, "-c", run_script_code(folder, "parallel=serial")]
    result = subprocess.run(command, capture_output=True, text=True)
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert "the classes of __main__ are in no file; put them into a module" in result.stderr


def test_control_characters_are_escaped_in_the_output(call, folder, define_table):
    rows = [f"{i},{i % 7},{label}" for i in range(12) for label in ("plain", HOSTILE)]
    Path("evil.csv").write_text("x,y,class\n" + "\n".join(rows) + "\n")
    table = define_table(
        title=f"Title {HOSTILE}",
        rows=[{"evil": {"data": "evil.csv", "title": HOSTILE}}],
        columns=["constant"],
        remarks=[f"Remark {HOSTILE}"],
    )
    commands = [
        ("data", "evil.csv"),
        ("data", f"none{HOSTILE}.csv"),
        ("run", "algo=constant", "data.path=evil.csv", *QUICK[2:]),
        ("table", table, *QUICK[2:]),
        ("report", table),
        ("check", table, "--json"),
    ]
    texts = [part for argv in commands for part in vars(call(*argv)).values() if part != 0]
    files = [*folder.glob("results/*.html"), *folder.glob("results/tables/*.[mt]*")]
    assert len(files) == 4
    texts += [file.read_text() for file in files]
    shown = "".join(map(str, texts))
    assert "\\u001b[31mred\\u009b0m\\u202e" in shown
    assert not set(HOSTILE) & set(shown) - set("[31mred0m")


def test_long_cell_is_shortened_in_the_message(call, folder):
    Path("long.csv").write_text(f"x,class\n1,a\n2,{'b' * 100_000}\n3,a\n4,a\n")
    result = call("data", "long.csv", "data.classes=[z]")
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert " characters] " in result.err
    assert len(result.err) < 2200
