"""Symbolic links and pipes in a folder of results, which may come from elsewhere."""

import os
import shutil

import pytest

from tests.conftest import QUICK

TABLE = {"rows": ["iris"], "columns": ["constant"]}
SERIAL = ("protocol.n_splits=2", "parallel=serial")


@pytest.fixture
def commands(call_once, define_table):
    """Return commands that together write every kind of file of a folder of results."""
    other = call_once(["run", "data=iris", *QUICK]) / "results"
    return [
        ("run", "data=wine", *QUICK),
        ("run", "data=wine", "shard=1/2", "seed=1", *QUICK),
        ("run", "-m", "data=wine,iris", "algo=constant", *SERIAL),
        ("table", define_table(**TABLE), *SERIAL),
        ("report",),
        ("export",),
        ("check", "--update"),
        ("verify", "--jobs", "1"),
        ("merge", str(other)),
    ]


def read_targets(folder):
    """Return the texts of the files in the folder that links lead to."""
    return {path.name: path.read_text() for path in (folder / "outside").iterdir()}


def test_commands_never_write_through_a_link(call, commands, folder):
    for command in commands:
        assert call(*command).code in (0, 1)
    results = folder / "results"
    files = [path.relative_to(results) for path in results.rglob("*") if path.is_file()]
    assert {"splits.csv", "report.html", "verdicts.csv", "verified.jsonl"} <= set(map(str, files))
    shutil.rmtree(results)
    (folder / "outside").mkdir()
    for number, file in enumerate(files):
        (results / file).parent.mkdir(parents=True, exist_ok=True)
        target = folder / "outside" / str(number)
        target.write_text("without a line end")
        (results / file).symlink_to(target)
    before = read_targets(folder)
    for command in commands:
        call(*command)
        assert read_targets(folder) == before, command


@pytest.mark.parametrize("name", ["records", "records/wine", "shards", "tables"])
def test_link_in_place_of_a_folder_is_refused(call, commands, folder, name):
    (folder / "results" / name).parent.mkdir(parents=True)
    (folder / "outside").mkdir()
    (folder / "results" / name).symlink_to(folder / "outside")
    results = [call(*command) for command in commands]
    assert read_targets(folder) == {}
    refusal = f"results/{name} is a symbolic link, not a folder; remove it"
    assert any(refusal in result.err for result in results)


def test_linked_record_file_is_refused_before_the_first_fit(call, done, folder):
    done("run", "data=wine", *QUICK)
    path = folder / "results/records/wine/DecisionTreeClassifier.jsonl"
    path.rename(folder / "elsewhere.jsonl")
    path.symlink_to(folder / "elsewhere.jsonl")
    assert call("run", "data=wine", *QUICK).code == 0  # all splits are there, nothing is written
    result = call("run", "data=wine", *QUICK, "seed=1")
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert f"{path.name} is a symbolic link, not a file; remove it" in result.err


def test_results_folder_may_be_a_link(done, folder):
    (folder / "disk").mkdir()
    (folder / "results").symlink_to(folder / "disk")
    done("run", "data=wine", *QUICK)
    done("export")
    assert {path.name for path in (folder / "disk").iterdir()} == {"records", "splits.csv"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
@pytest.mark.parametrize("name", [".lock", "DecisionTreeClassifier.jsonl"])
def test_pipe_in_place_of_a_file_is_refused(call, folder, name):
    path = folder / "results/records/wine" / name
    path.parent.mkdir(parents=True)
    os.mkfifo(path)
    result = call("run", "data=wine", *QUICK)
    assert result.code == 2
    assert f"{name} is a pipe or a device, not a file; remove it" in result.err
