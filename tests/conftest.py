import re
from dataclasses import dataclass

import pytest
import yaml
from sklearn.datasets import dump_svmlight_file, load_iris, load_wine

from boostbench.cli import main
from boostbench.data import openml_source

#: A classifier that is fitted in no time, and stays out of worker processes.
QUICK = [
    "algo._target_=sklearn.tree.DecisionTreeClassifier",
    "+algo.max_depth=1",
    "protocol.n_splits=3",
    "parallel=serial",
]


@dataclass
class Result:
    code: int
    out: str
    err: str

    @property
    def complaints(self):
        """What stderr says besides how far a run has come."""
        dated = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d ")
        return "".join(line for line in self.err.splitlines(True) if not dated.match(line))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty working folder, wine and iris as files, and no server that can be reached.

    All cores are one: only what asks for worker processes starts some, which takes seconds.
    """
    data = tmp_path / "data"
    data.mkdir()
    for name, loader in (("wine", load_wine), ("iris", load_iris)):
        dump_svmlight_file(*loader(return_X_y=True), str(data / f"{name}.svm"), zero_based=False)
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("BOOSTBENCH_DATA", str(data))
    monkeypatch.setenv("BOOSTBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("BOOSTBENCH_OPENML_SERVER", "http://127.0.0.1:9/api/v1/xml")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(openml_source, "given_up", set())
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    for name in ("BOOSTBENCH_DEBUG", "HYDRA_FULL_ERROR"):
        monkeypatch.delenv(name, raising=False)
    return here


@pytest.fixture
def call(folder, capfd):
    """Call the command line in this process."""

    def call(*argv):
        capfd.readouterr()
        code = main(argv)
        return Result(code, *capfd.readouterr())

    return call


@pytest.fixture
def refused(call, folder):
    """Call the command line with a mistake; return the one line that it gets."""

    def refused(*argv):
        result = call(*argv)
        assert result.code == 2
        assert result.out == ""
        assert result.err.count("\n") == 1
        assert list(folder.iterdir()) == []
        return result.err

    return refused


@pytest.fixture
def define_table(tmp_path):
    """Write a table's definition next to the working folder."""

    def define(**content):
        path = tmp_path / "mine.yaml"
        path.write_text(yaml.safe_dump({"title": "Mine", **content}))
        return str(path)

    return define
