import re
import time
from dataclasses import dataclass

import pytest
import yaml
from sklearn.datasets import dump_svmlight_file, load_iris, load_wine

from boostbench.cli import main
from boostbench.data.sources import openml_client

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
        """Text on stderr without lines of progress."""
        dated = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d ")
        return "".join(line for line in self.err.splitlines(True) if not dated.match(line))


def work_in(top, patch):
    """Make an empty working folder, with wine and iris as files and no reachable server.

    The number of cores is one, since the start of worker processes takes seconds.
    """
    data = top / "data"
    data.mkdir()
    for name, loader in (("wine", load_wine), ("iris", load_iris)):
        dump_svmlight_file(*loader(return_X_y=True), str(data / f"{name}.svm"), zero_based=False)
    here = top / "here"
    here.mkdir()
    patch.chdir(here)
    patch.setenv("BOOSTBENCH_DATA", str(data))
    patch.setenv("BOOSTBENCH_CACHE", str(top / "cache"))
    patch.setenv("BOOSTBENCH_OPENML_SERVER", "http://127.0.0.1:9/api/v1/xml")
    patch.setenv("NO_PROXY", "127.0.0.1")
    patch.setattr(openml_client, "last_failures", {})
    patch.setenv("COLUMNS", "80")
    patch.setenv("LOKY_MAX_CPU_COUNT", "1")
    for name in ("BOOSTBENCH_DEBUG", "HYDRA_FULL_ERROR"):
        patch.delenv(name, raising=False)
    return here


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a working folder, see `work_in`."""
    return work_in(tmp_path, monkeypatch)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Return an empty home folder, which ``~`` expands to."""
    home = tmp_path / "home"
    home.mkdir()
    for name in ("HOME", "USERPROFILE"):  # the second on Windows
        monkeypatch.setenv(name, str(home))
    return home


@pytest.fixture(scope="session")
def call_once(tmp_path_factory):
    """Return a function that calls the command line in a new folder and returns the folder.

    The folder holds records that many tests copy.
    """

    def call_once(*commands):
        with pytest.MonkeyPatch.context() as patch:
            here = work_in(tmp_path_factory.mktemp("once"), patch)
            assert [main(argv) for argv in commands] == [0] * len(commands)
        return here

    return call_once


@pytest.fixture
def call(folder, capfd):
    """Call the command line in this process."""

    def call(*argv):
        capfd.readouterr()
        code = main(argv)
        return Result(code, *capfd.readouterr())

    return call


@pytest.fixture
def done(call):
    """Return a function that calls the command line, checks its success and returns the result."""

    def done(*argv):
        result = call(*argv)
        assert result.code == 0, result.err
        return result

    return done


@pytest.fixture
def refused(call, folder):
    """Return a function that calls the command line with a mistake and returns the error line."""

    def refused(*argv):
        result = call(*argv)
        assert result.code == 2
        assert result.out == ""
        assert result.err.count("\n") == 1
        assert list(folder.iterdir()) == []
        return result.err

    return refused


@pytest.fixture
def fine_clock(monkeypatch):
    """Replace the CPU clock, whose resolution on Windows is 16 ms, by the wall clock."""
    monkeypatch.setattr(time, "process_time", time.perf_counter)


@pytest.fixture
def define_table(tmp_path):
    """Write a table's definition next to the working folder."""

    def define(**content):
        path = tmp_path / "mine.yaml"
        path.write_text(yaml.safe_dump({"title": "Mine", **content}))
        return str(path)

    return define
