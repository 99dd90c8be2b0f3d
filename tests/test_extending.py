"""Test docs/extending.md: write its files, and run its commands."""

import re
import runpy
import shlex
import shutil
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from boostbench import cli
from boostbench.config.compose import compose_experiment
from boostbench.config.overrides import parse_overrides
from boostbench.data import readers
from boostbench.data.loading import load
from boostbench.fitting.quantities import QUANTITIES
from boostbench.records.store import read_records

PAGE = (Path(__file__).parents[1] / "docs" / "extending.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
FILES = {re.match(r"# (\S+)\n", text)[1]: text for kind, text in BLOCKS if kind != "sh"}
COMMANDS = [
    shlex.split(line)[1:] for kind, text in BLOCKS if kind == "sh" for line in text.splitlines()
]
FEW = ["protocol.n_splits=3", "parallel=serial"]


@pytest.fixture
def run_page(folder, call, monkeypatch):
    """Return a function that writes the page's files and runs the command with given words."""
    for name, text in FILES.items():
        if "/" not in name:
            (folder / name).write_text(text)
    monkeypatch.syspath_prepend(folder)

    def run_page(*words):
        [argv] = [argv for argv in COMMANDS if all(word in " ".join(argv) for word in words)]
        result = call(*argv, *FEW)
        assert result.code == 0, result.err
        return result, folder / "results"

    quantities = set(QUANTITIES)
    yield run_page
    for name in QUANTITIES.keys() - quantities:
        del QUANTITIES[name]
    sys.modules.pop("balanced", None)


def test_every_file_and_command_of_the_page_is_tested():
    assert FILES.keys() == {
        *("centroids.py", "stagewise.py", "test_stagewise.py"),
        *("conf/data/flowers.yaml", "balanced.py", "wine.yaml", "means.yaml"),
        *("boostbench/cli/newest.py", "boostbench/data/readers/json_lines.py"),
    }
    assert len(COMMANDS) == 7


def test_algorithm_runs(run_page):
    _, results = run_page("centroids", "+algo.shrink=0.2")
    records, _ = read_records(results / "records" / "wine" / "Centroids.jsonl")
    assert len(records) == 3
    assert all(record.test_error < 0.1 for record in records)
    assert all(record.n_parameters == 3 * 13 for record in records)
    _, results = run_page("centroids", "+algo.grid")
    records, _ = read_records(results / "records" / "wine" / "Centroids.jsonl")
    assert {record.chosen.get("shrink") for record in records[3:]} < {0.0, 0.2, 0.5}


def test_boosting_algorithm_runs(run_page, folder):
    _, results = run_page("stagewise")
    records, _ = read_records(results / "records" / "wine" / "Stagewise.jsonl")
    assert len(records) == 3
    assert all(record.test_error < 0.1 for record in records)
    check = runpy.run_path(str(folder / "test_stagewise.py"))["test_stagewise"]
    check()


def test_data_set_is_loaded(folder):
    shutil.copy(folder.parent / "data" / "iris.svm", folder.parent / "data" / "flowers.svm")
    flowers = load(yaml.safe_load(FILES["conf/data/flowers.yaml"]))
    assert (flowers.name, flowers.n_samples, flowers.n_classes) == ("flowers", 150, 3)


def test_protocol_is_read():
    [argv] = [argv for argv in COMMANDS if "data=mnist" in argv]
    protocol = compose_experiment(parse_overrides(argv[1:])).protocol
    assert (protocol.sampling, protocol.train_per_class) == ("official", 1000)


def test_measure_is_recorded(run_page):
    _, results = run_page("measure=balanced.Balanced")
    records, _ = read_records(results / "records" / "wine" / "adaboost_mh.balanced.jsonl")
    assert len(records) == 3
    assert all(0 <= record.extra_entries["balanced_error"] < 0.3 for record in records)
    result, _ = run_page("table wine.yaml")
    assert "Balanced error in percent" in result.out
    assert "not re" not in result.out.lower()


def test_table_is_printed(run_page):
    result, results = run_page("table means.yaml")
    assert "Shrunken class means" in result.out
    assert "shrunken" in result.out
    assert (results / "records" / "iris" / "Centroids.jsonl").exists()


def test_data_format_is_read(call, done, folder, monkeypatch):
    """The file is in a folder of the package's path."""
    code = folder / "readers"
    code.mkdir()
    (code / "json_lines.py").write_text(FILES["boostbench/data/readers/json_lines.py"])
    monkeypatch.setattr(readers, "__path__", [*readers.__path__, str(code)])
    readers.readers.cache_clear()
    try:
        frame = pd.DataFrame(
            {
                "size": [1.5, None, *range(58)],
                "city": [*("Bern", None, "Chur"), *["Genf", "Chur", "Bern"] * 19],
                "id": [f"C{i}" for i in range(60)],
                "kind": ["a", "b"] * 30,
            }
        )
        frame.to_json(folder / "bank.jsonl.gz", orient="records", lines=True)
        frame.to_csv(folder / "bank.csv", index=False)
        result = call("data", "bank.jsonl.gz")
        assert result.code == 2
        assert "column 'id'" in result.err
        specs = [
            {"name": "bank", "path": path, "drop": ["id"]} for path in ("bank.jsonl.gz", "bank.csv")
        ]
        datasets = [load(spec) for spec in specs]
        assert datasets[0].checksum == datasets[1].checksum
        assert datasets[0].categories == ((1, ("Bern", "Chur", "Genf")),)
        assert ".jsonl\n      JSON lines: a JSON object" in done("data", "--help").out
        (folder / "bad.jsonl").write_text("{")
        assert call("data", "bad.jsonl").err.startswith("boostbench: bad.jsonl does not parse: ")
        (folder / "bank.xml").touch()
        assert "*.npz or *.jsonl, perhaps with .gz" in call("data", "bank.xml").err
    finally:
        readers.readers.cache_clear()
        sys.modules.pop("boostbench.data.readers.json_lines", None)


def test_command_runs(done, folder, monkeypatch):
    """The file is in a folder of the package's path."""
    (folder / "newest.py").write_text(FILES["boostbench/cli/newest.py"])
    monkeypatch.setattr(cli, "__path__", [*cli.__path__, str(folder)])
    monkeypatch.delitem(sys.modules, "boostbench.cli.newest", raising=False)
    done("run", "algo=constant", "data=wine,iris", "-m", *FEW)
    assert re.search(r"\n    newest +list the newest records\n", done("--help").out)
    lines = done("newest", "-n", "4").out.splitlines()
    times, names = zip(*(line.split("  ") for line in lines), strict=True)
    assert len(lines) == 4
    assert list(times) == sorted(times)
    assert set(names) <= {"constant on wine", "constant on iris"}
