"""Tasks and suites of OpenML, from the tests' own server to a table."""

import numpy as np
import pytest
from openml_server import OpenMLServer
from sklearn.datasets import load_iris, load_wine

from boostbench import results
from boostbench.data import load
from boostbench.data.sources import openml_client

QUICK = ["algo=adaboost_mh", "algo.n_iterations=5", "parallel=serial"]
FEW = ["protocol.n_splits=2"]
TASKS = {3: ("iris", load_iris), 6: ("wine (UCI)", load_wine)}


@pytest.fixture
def server(folder, monkeypatch):
    """Offer iris and wine as tasks of two repeats of three folds, a regression, and a suite."""
    server = OpenMLServer()
    monkeypatch.setenv("BOOSTBENCH_OPENML_SERVER", server.url)
    monkeypatch.delenv("BOOSTBENCH_DATA")
    monkeypatch.setattr(openml_client, "N_ATTEMPTS", 1)
    for number, (_, loader) in TASKS.items():
        X, y = loader(return_X_y=True)
        columns = [f"@attribute f{i} numeric" for i in range(X.shape[1])]
        rows = [",".join(map(str, [*row, f"c{label}"])) for row, label in zip(X, y, strict=True)]
        head = ["@relation toy", *columns, "@attribute class {c0,c1,c2}", "@data"]
        server.add(number, "\n".join([*head, *rows]) + "\n")
        splits = {}
        for repeat in range(2):
            order = np.random.default_rng(repeat).permutation(len(y))
            for fold, test in enumerate(np.array_split(order, 3)):
                splits[repeat, fold] = np.setdiff1d(order, test), test
        server.add_task(number, number, splits)
    server.add_task(7, 3, {(0, 0): ([0], [1])}, kind=2)
    server.add_suite(99, {number: name for number, (name, _) in TASKS.items()})
    server.splits = list(splits.values())  # splits of the last task
    yield server
    server.stop()


def test_task_runs_on_the_splits_of_the_server(call, server, folder):
    result = call("run", *QUICK, "data.openml_task=3")
    assert (result.code, result.complaints) == (0, "")
    assert "OpenML 3 v3 (set-3), task 3" in result.out
    frame = results("results")
    assert frame["split"].tolist() == [0, 1, 2, 3, 4, 5]
    assert set(frame["n_test"]) == {50}
    splits = load({"name": "openml-task-6", "openml_task": 6}).splits
    for parts, served in zip(splits, server.splits, strict=True):
        for rows, given in zip(parts, served, strict=True):
            np.testing.assert_array_equal(rows, given)
    # The cached copy has the splits, so that the server is not needed.
    server.stop()
    for given, n_added in ((["algo.n_iterations=4"], 6), (["algo.n_iterations=3", *FEW], 2)):
        assert call("run", *QUICK[::2], *given, "data.openml_task=3").code == 0
        assert len(results("results")) == len(frame) + n_added
        frame = results("results")
    described = call("data", "openml-task-3").out
    assert "fixed splits  6, 100 training and 50 test rows" in described


def test_suite_gives_the_rows_of_a_table(call, server, folder):
    (folder / "suite.yaml").write_text(
        "title: A suite\nsuite: 99\noverrides: [algo.n_iterations=5]\ncolumns: [adaboost_mh]\n"
    )
    result = call("table", "suite.yaml", "parallel=serial")
    assert (result.code, result.complaints) == (0, "")
    table = (folder / "results" / "tables" / "suite.md").read_text()
    assert all(f"| {name} " in table for name, _ in TASKS.values())
    n_requests = len(server.requests)
    server.stop()
    part = call("table", "suite.yaml", "parallel=serial", "--row", "iris")
    assert (part.code, part.complaints) == (0, "")
    assert len(server.requests) == n_requests


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("data.openml_task=7", "OpenML task 7 is Supervised Regression"),
        ("data.openml_task=8", "OpenML task 8: OpenMLServer"),
        ("data.openml_task=three", "it must be the number of a task"),
    ],
)
def test_task_without_classification_is_refused(refused, server, override, expected):
    assert expected in refused("run", *QUICK, override)


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("data.missing=drop", "take data.missing=median"),
        ("data=wine", "it cannot go with data.sklearn, which wine has"),
        ("data.path=mine.csv", "it cannot go with data.path"),
    ],
)
def test_task_excludes_other_data_options(refused, server, override, expected):
    assert expected in refused("run", *QUICK, "data.openml_task=3", override)


def test_unavailable_suite_is_reported(call, server, folder):
    (folder / "suite.yaml").write_text("title: A\nsuite: 98\ncolumns: [samme]\n")
    result = call("table", "suite.yaml")
    assert result.code == 2
    assert "suite.yaml: suite is not at hand: OpenML suite 98: " in result.err
