import sys

import pytest
import yaml

pytest.importorskip("matplotlib")

#: Fits that are done in no time, in this process.
SMALL = ["algo.n_iterations=5", "protocol.checkpoints=[2,5]", "parallel=serial"]


@pytest.fixture
def define(tmp_path):
    """Write a figure's definition next to the working folder."""

    def define(**content):
        path = tmp_path / "mine.yaml"
        path.write_text(yaml.safe_dump({"title": "Mine", "caption": "What it is.", **content}))
        return str(path)

    return define


@pytest.fixture
def two_panels(define):
    columns = [{"algo": "adaboost_mh", "rounds": 2, "title": "two"}, {"algo": "adaboost_ecc"}]
    return define(rows=["diagonals"], columns=columns, points="data", overrides=SMALL)


def test_boundaries(call, folder, two_panels):
    result = call("figure", two_panels)
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("Mine\nWhat it is.\n")
    figures = folder / "results" / "figures"
    assert {path.name for path in figures.iterdir()} == {"mine.png", "mine.svg", "mine.md"}
    page = (figures / "mine.md").read_text()
    assert "![Mine](mine.svg)" in page
    lines = [line.replace(" ", "") for line in page.splitlines()]
    assert any(line.startswith("|diagonals|AdaBoost.MH|-|-|2|") for line in lines)
    assert any(line.startswith("|diagonals|AdaBoost.ECC|-|-|5|") for line in lines)
    records = folder / "results" / "records" / "diagonals"
    assert {path.name for path in records.iterdir()} == {
        "adaboost_mh.boundary.jsonl",
        "adaboost_ecc.boundary.jsonl",
    }


def test_the_same_records_give_the_same_bytes(call, folder, two_panels):
    call("figure", two_panels)
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    call("figure", two_panels)
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before


def test_tuned_columns_tell_what_was_chosen(call, folder, define):
    column = {
        "algo": "multiboost",
        "overrides": ["algo.grid.nu=[1e-1,1e-3]", "protocol.n_folds=2"],
    }
    assert call("figure", define(rows=["diagonals"], columns=[column], overrides=SMALL)).code == 0
    page = (folder / "results" / "figures" / "mine.md").read_text()
    assert "nu=0.001" in page


def test_what_failed_is_left_empty(call, folder, define):
    # It cannot find that many neighbours among 400 points.
    far = ["algo._target_=sklearn.neighbors.KNeighborsClassifier", "+algo.n_neighbors=1000"]
    columns = [{"algo": "adaboost_mh", "overrides": far}, {"algo": "adaboost_ecc"}]
    settings = ["protocol.checkpoints=[5]", "parallel=serial"]
    result = call("figure", define(rows=["diagonals"], columns=columns, overrides=settings))
    assert result.code == 1
    assert "failed: KNeighborsClassifier on diagonals" in result.err
    page = (folder / "results" / "figures" / "mine.md").read_text()
    assert "AdaBoost.ECC" in page
    assert "KNeighborsClassifier" not in page


def test_curves_are_drawn_of_what_is_recorded(call, folder, define, tmp_path):
    table = tmp_path / "both.yaml"
    content = {"title": "T", "rows": ["iris", "wine"], "columns": ["adaboost_mh", "adaboost_ecc"]}
    table.write_text(yaml.safe_dump(content))
    figure = define(table=str(table))
    result = call("figure", figure)
    assert result.code == 2
    assert "nothing of table both is recorded" in result.err
    run = ["run", "algo=adaboost_mh", "data=iris", "parallel=serial"]
    call(*run, "protocol.n_splits=2")
    before = sorted((folder / "results" / "records").rglob("*.jsonl"))
    result = call("figure", figure)
    assert (result.code, result.err) == (0, "")
    assert sorted((folder / "results" / "records").rglob("*.jsonl")) == before
    page = (folder / "results" / "figures" / "mine.md").read_text()
    assert "Lacking on iris: AdaBoost.MH (only 2 of 10 splits); AdaBoost.ECC (not run)." in page
    assert "Lacking on wine: AdaBoost.MH, AdaBoost.ECC (not run)." in page


def test_without_matplotlib(refused, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "pip install 'boostbench[plots]'" in refused("figure", "randomboost2")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"rows": ["diagonals"]}, "has no columns; it needs caption, columns, rows, title"),
        ({"table": "demo", "rows": ["wine"]}, "may have no 'rows'"),
        ({"rows": ["diagonals"], "columns": [{"title": "x"}]}, "a column has no algo"),
        ({"rows": ["diagnals"], "columns": [{"algo": "adaboost_mh"}]}, "did you mean diagonals"),
        ({"rows": ["wine"], "columns": [{"algo": "adaboost_mh"}]}, "needs 2 dense features"),
        (
            {"rows": ["diagonals"], "columns": [{"algo": "adaboost_mh", "rounds": 3}]},
            "shows 3 rounds, which protocol.checkpoints",
        ),
    ],
)
def test_wrong_definitions(refused, define, content, told):
    assert told in refused("figure", define(**content))


def test_mistakes(refused):
    assert "did you mean randomboost2" in refused("figure", "randombost2")
    assert "cannot read the figure" in refused("figure", "nowhere.yaml")
    asked = refused("figure", "randomboost2", "algo.n_iterations=100")
    assert "shows 1000 rounds, but algo.n_iterations is 100" in asked
