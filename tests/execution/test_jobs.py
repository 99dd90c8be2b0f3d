import re
import sys

import pytest
from conftest import QUICK
from util.test_spinner import Terminal

from boostbench.config.compose import compose_experiment
from boostbench.config.overrides import parse_overrides
from boostbench.execution.jobs import RecordedCell, execute, load_cell_data
from boostbench.records.index import ExperimentResults
from boostbench.records.verified import RefitFindings
from boostbench.spec.experiment import TableCell
from boostbench.util.errors import UserError


def test_rows_with_equal_data_share_the_data_set(folder):
    asked = {
        "wine": ["data=wine"],
        "few": ["data=wine", "protocol.samples_per_class=20"],
        "two": ["data=wine", "++data.classes=2"],
    }
    cells = []
    for row, overrides in asked.items():
        config = compose_experiment(parse_overrides(overrides))
        results = ExperimentResults.from_splits([], 10, config.spec.code_version, RefitFindings())
        cells.append(RecordedCell(TableCell(row, "x", config), results, records_suffice=False))
    loaded, notes = load_cell_data(cells)
    wine, few, two = (cell.dataset for cell in loaded)
    assert notes == []
    assert few is wine
    assert (wine.n_classes, two.n_classes) == (3, 2)


def test_spinner_is_shown_before_the_plan(folder, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    spec = compose_experiment(parse_overrides(["data=wine", *QUICK]))
    [outcome] = execute([spec]).results
    assert outcome.ran == 3
    output = sys.stderr.getvalue()
    assert -1 < output.find("reading records") < output.find("3 splits to run")


#: Invalid overrides and a part of their error messages.
WRONG_VALUES = {
    "results=null": "results is None; it must be text",
    "results=[a]": "results is ['a']; it must be text",
    "results=true": "results is True; it must be text",
    "rerun=5": "rerun is 5; ",
    "seed=abc": "seed is 'abc'; ",
    "seed=null": "seed is None; ",
    "measure=5": "5",
    "parallel=null": "unknown parallel backend 'null'",
    "parallel.n_jobs=abc": "parallel.n_jobs is 'abc'; ",
    "parallel.n_jobs=null": "parallel.n_jobs is None; ",
    "parallel.backend=5": "parallel.backend is 5; ",
    "profile=null": "unknown profile 'null'",
    "profile.algo=5": "profile: algo is 5; ",
    "profile.protocol=null": "profile: protocol is None; ",
    "protocol=null": "unknown protocol 'null'",
    "protocol.checkpoints=null": "checkpoints",
    "protocol.checkpoints=[a]": "checkpoints",
    "protocol.n_splits=2.5": "n_splits is 2.5",
    "protocol.scale=[a]": "scale is ['a']",
    "algo=null": "unknown algorithm 'null'",
    "algo.name=5": "algo.name is 5",
    "algo.name=[a]": "algo.name is ['a']",
    "algo.name=x.tuning": "x.tuning",
    "algo.name=../x": "../x",
    "algo.title=null": "algo.title is None",
    "algo.title=[bold]": "algo.title is ['bold']",
    "algo._target_=null": "algo._target_ is None",
    "algo._target_=[a]": "algo._target_ is ['a']",
    "algo.grid=abc": "algo.grid is 'abc'",
    "algo.n_iterations=true": "n_iterations",
    "data=null": "unknown data set 'null'",
    "data.name=123": "data.name is 123",
    "data.name=a/b": "a/b",
    "data.path=5": "data.path is 5",
    "data.expect=abc": "data.expect is 'abc'",
    "+data.classes=1.5": "data.classes is 1.5",
    "+data.rows=abc": "data.rows is 'abc'",
    "+data.rows=[1,2,3]": "data.rows is [1, 2, 3]",
    "+data.train_rows=9999999999": "train_rows",
    "+data.train_rows=-5": "train_rows",
    "+data.generate=5": "data.generate is 5",
    "protocol.sampling=foo": "foo",
    "+algo.grid.foo=[1]": "no parameter 'foo'",
    "+algo.foo=1": "no parameter 'foo'",
    "algo._target_=sklearn.ensemble.Nonsense": "Nonsense",
    "data.path=/nowhere.csv": "/nowhere.csv",
}
#: Deletions of required keys and a part of their error messages.
MISSING_KEYS = {
    "~results": "lacks results",
    "~rerun": "lacks rerun",
    "~seed": "lacks seed",
    "~parallel": "lacks parallel",
    "~parallel.n_jobs": "parallel lacks n_jobs",
    "~profile": "lacks profile",
    "~profile.algo": "profile lacks algo",
    "~protocol": "lacks protocol",
    "~algo": "lacks algo",
    "~algo.name": "lacks algo.name",
    "~algo._target_": "names no class",
    "~data": "lacks data",
}


@pytest.mark.parametrize(("override", "message"), (WRONG_VALUES | MISSING_KEYS).items())
def test_mistakes_are_errors_of_one_line(folder, override, message):
    """Compose and execute as `boostbench run` and `boostbench table` do."""
    group = override.lstrip("~").partition("=")[0]
    argv = ["data=wine", "algo=adaboost_mh", "algo.n_iterations=2", "protocol.n_splits=2"]
    # A group that is deleted must not be chosen.
    argv = [word for word in argv if re.split("[.=]", word)[0] != group and f"{group}=" not in word]
    with pytest.raises(UserError, match=re.escape(message)) as error:  # noqa: PT012
        spec = compose_experiment(parse_overrides([*argv, override]))
        execute([spec])
    assert len(str(error.value).splitlines()) == 1
    assert len(str(error.value)) < 190
    assert list(folder.iterdir()) == []
