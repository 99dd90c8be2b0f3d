import csv

import pytest
import yaml

QUICK = ["algo.n_iterations=5", "protocol.n_splits=3", "parallel=serial"]


@pytest.fixture
def define(tmp_path):
    """Write a table's definition next to the working folder."""

    def define(**content):
        path = tmp_path / "mine.yaml"
        path.write_text(yaml.safe_dump({"title": "Mine", **content}))
        return str(path)

    return define


def test_demo(call, folder):
    result = call("table", "demo", *QUICK, "protocol.tune=none")
    assert result.code == 0
    assert "RBoost^proj" in result.out
    assert "Wilcoxon signed-rank test (WSRT) of RBoost^proj against AdaBoost.MH over 3 paired" in (
        " ".join(result.out.split())
    )
    assert {path.name for path in (folder / "results" / "tables").iterdir()} == {
        "demo.md",
        "demo.csv",
    }


def test_table_of_several_data_sets(call, folder, define):
    name = define(
        rows=["iris", {"wine": ["protocol.samples_per_class=30"]}],
        columns=["adaboost_mh", {"rboost_rank": ["algo.n_projections=50"]}],
        published="randomboost-table5",
    )
    result = call("table", name, *QUICK)
    assert result.code == 0
    assert max(len(line.rstrip()) for line in result.out.splitlines()[:-1]) <= 80
    markdown = (folder / "results" / "tables" / "mine.md").read_text()
    header = markdown.splitlines()[2]
    assert [name.strip() for name in header.strip("|").split("|")] == [
        "data",
        "AdaBoost.MH",
        "RBoost^rank",
    ]
    assert "over 2 data sets" in markdown
    lines = (folder / "results" / "tables" / "mine.csv").read_text().splitlines()
    cells = list(csv.DictReader(lines))
    assert [(cell["data"], cell["algo"]) for cell in cells] == [
        ("iris", "adaboost_mh"),
        ("iris", "rboost_rank"),
        ("wine", "adaboost_mh"),
        ("wine", "rboost_rank"),
    ]
    assert {cell["n_splits"] for cell in cells} == {"3"}
    assert [cell["published_mean"] for cell in cells] == ["", "", "4.3", "3.2"]


def test_table_again_runs_nothing_and_prints_the_same(call, folder, define):
    name = define(rows=["iris", "wine"], columns=["adaboost_mh"])
    first = call("table", name, *QUICK)
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    assert call("table", name, *QUICK).out == first.out
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before


def test_data_sets_that_cannot_be_had_are_left_out(call, folder, define):
    name = define(rows=["iris", "svmguide2"], columns=["adaboost_mh"])
    result = call("table", name, *QUICK)
    assert result.code == 0
    assert result.err.count("\n") == 1
    assert "svmguide2 is left out" in result.err
    assert "not available" in result.out
    assert "Not available: svmguide2." in (folder / "results" / "tables" / "mine.md").read_text()


def test_failed_splits(call, define):
    name = define(rows=["iris"], columns=["adaboost_mh"])
    broken = "algo._target_=sklearn.neighbors.KNeighborsClassifier"
    result = call("table", name, broken, "+algo.n_neighbors=1000", *QUICK[1:])
    assert result.code == 1
    assert result.err.splitlines()[-1] == "boostbench: 3 of 3 splits failed"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"rows": ["iris"]}, "needs title, rows and columns"),
        ({"rows": ["iris"], "columns": ["adaboost"], "colour": 1}, "no colour"),
        ({"rows": ["irsi"], "columns": ["adaboost"]}, "did you mean iris"),
        ({"rows": ["iris"], "columns": ["adabost"]}, "did you mean adaboost"),
        ({"rows": ["iris"], "columns": ["adaboost"]}, "two classes"),
    ],
)
def test_wrong_definitions(refused, define, content, told):
    assert told in refused("table", define(**content))


def test_mistakes(refused):
    assert "did you mean demo" in refused("table", "dem")
    assert "cannot read the table" in refused("table", "nowhere.yaml")
    assert "did you mean algo.n_iterations" in refused("table", "demo", "algo.n_iteratons=3")
