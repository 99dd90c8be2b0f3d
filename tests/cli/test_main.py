import errno
import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

import boostbench
from boostbench.cli import main
from boostbench.cli._commands import command_names, find_command
from boostbench.util.errors import UserError


def test_version_is_printed(call):
    assert call("--version").out == f"boostbench {boostbench.__version__}\n"


@pytest.mark.parametrize("argv", [[], ["--help"]])
def test_help_names_the_commands(done, argv):
    result = done(*argv)
    for command in command_names():
        assert f"\n    {command} " in result.out


@pytest.mark.parametrize("command", command_names())
def test_command_help_shows_the_docstring_of_its_module(call, command):
    summary = find_command(command).__doc__.splitlines()[0]
    assert summary.endswith(".")
    assert command == "run" or summary in " ".join(call(command, "--help").out.split())


def test_unknown_command_is_refused(refused):
    assert "unknown command 'frob'; there are: check, compare," in refused("frob")
    assert "unknown command 'tabel'; did you mean table?" in refused("tabel", "demo")


def test_debugging_shows_the_traceback(folder, monkeypatch):
    monkeypatch.setenv("BOOSTBENCH_DEBUG", "1")
    with pytest.raises(UserError):
        main(["table", "nonsense"])
    with pytest.raises(UserError):
        main(["run", "algo=nonsense"])


def test_installed_command_runs(folder):
    command = Path(sys.executable).with_name("boostbench")
    done = subprocess.run([command, "list", "algos"], capture_output=True, text=True, check=True)
    assert "RBoost^proj" in done.stdout


def test_closed_pipe_is_no_error(folder):
    code = "import sys; sys.exit(__import__('boostbench.cli').cli.main(['list']))"
    command = f'{sys.executable} -u -c "{code}" | true; echo ${{PIPESTATUS[0]}}'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("0\n", "")


#: Command lines that import no heavy library; only the first one imports no Hydra either.
LIGHT = [["list"], ["tabel"]]
LIGHT += [[command, "randombost5"] for command in ("table", "figure", "check", "report")]
LIGHT += [["run", "algo=rbost_proj"]]
HEAVY = {"numpy", "scipy", "sklearn", "pandas", "joblib", "matplotlib", "openml"}


def test_names_are_checked_before_heavy_imports(folder):
    code = f"""
import sys
from boostbench.cli import main
for argv in {LIGHT}:
    code = main(argv)
    print("*", argv[0], code, *(set(sys.modules) & ({HEAVY} | {{"hydra", "rich"}})))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    reports = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("* ")]
    assert [line[:2] for line in reports] == [[argv[0], "02"[argv != ["list"]]] for argv in LIGHT]
    assert reports[0][2:] == []
    assert not HEAVY & set(reports[-1])


@pytest.mark.parametrize("argv", [None, ["list", "algos"]])
def test_workers_end_only_with_the_process(monkeypatch, capfd, argv):
    """A caller of `main` from Python may go on to use running workers."""
    ended = []
    monkeypatch.setattr(sys.modules["boostbench.cli._main"], "end_workers", lambda: ended.append(1))
    monkeypatch.setattr("sys.argv", ["boostbench", "list", "algos"])
    assert main(argv) == 0
    assert len(ended) == (argv is None)


def test_exit_starts_no_workers():
    """loky would make a pool to be ended, and a process that watches its semaphores."""
    code = """
import sys
import joblib
import joblib.externals.loky.reusable_executor as loky
from boostbench.cli import main
sys.argv = ["boostbench", "list", "algos"]
main()
assert loky._executor is None
list(joblib.Parallel(2)(joblib.delayed(abs)(number) for number in (-1, 1)))
main()
assert loky._executor._flags.shutdown
"""
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_unencodable_name_is_escaped(tmp_path):
    (tmp_path / "größe.csv").write_text("a,class\n1,x\n2,y\n")
    command = [Path(sys.executable).with_name("boostbench"), "data", "größe.csv"]
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    shown = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr
    assert "gr\\xf6\\xdfe" in shown.stdout


@pytest.mark.parametrize(
    ("platform", "number", "code"),
    [("linux", errno.EPIPE, 0), ("win32", errno.EINVAL, 0), ("linux", errno.EINVAL, None)],
)
def test_broken_pipe_error_ends_the_command(monkeypatch, platform, number, code):
    module, closed = sys.modules["boostbench.cli._main"], []

    def print_more(argv):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(module, "_dispatch", print_more)
    monkeypatch.setattr(module, "_close_output", lambda: closed.append(True))
    monkeypatch.setattr("sys.argv", ["boostbench", "list"])
    for argv in (["list"], None):
        with pytest.raises(OSError, match="Invalid") if code is None else nullcontext():
            assert main(argv) == code
        # A caller from Python keeps its output open.
        assert closed == ([True] if argv is None and code is not None else [])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is full, of Linux")
def test_full_disk_is_reported():
    command = [Path(sys.executable).with_name("boostbench"), "list", "algos"]
    with open("/dev/full", "w") as full:
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert "cannot write the output: No space left" in result.stderr
