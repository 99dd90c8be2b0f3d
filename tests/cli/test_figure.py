import re
import shutil
import sys

import pytest
import yaml

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

from boostbench.records.store import read_records
from boostbench.util import configs

#: Fits that are done in no time, in this process.
BOUNDARIES = {"kind": "boundaries", "rows": ["diagonals"], "columns": [{"algo": "adaboost_mh"}]}
SMALL = ["algo.n_iterations=5", "protocol.checkpoints=[2,5]"]

#: Suffixes of the files of a figure.
ENDINGS = (".png", ".svg", ".pdf", ".md")


@pytest.fixture
def define(tmp_path):
    """Write a figure's definition next to the working folder."""

    def define(**content):
        path = tmp_path / "figure" / "mine.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(yaml.safe_dump({"title": "Mine", "caption": "What it is.", **content}))
        return str(path)

    return define


@pytest.fixture
def two_panels(define):
    columns = [{"algo": "adaboost_mh", "rounds": 2, "title": "two"}, {"algo": "adaboost_ecc"}]
    return define(
        kind="boundaries", rows=["diagonals"], columns=columns, points="data", overrides=SMALL
    )


def test_boundaries_of_the_same_records_are_the_same_bytes(call, folder, two_panels):
    result = call("figure", two_panels)
    assert (result.code, result.complaints) == (0, "")
    assert result.out.startswith("Mine\nWhat it is.\n")
    figures = folder / "results" / "figures"
    assert {path.name for path in figures.iterdir()} == {
        f"mine.{end}" for end in ("png", "svg", "pdf", "md")
    }
    page = (figures / "mine.md").read_text()
    assert "![Mine](mine.svg)" in page
    lines = [line.replace(" ", "") for line in page.splitlines()]
    assert any(line.startswith("|diagonals|AdaBoost.MH|-|-|2|") for line in lines)
    assert any(line.startswith("|diagonals|AdaBoost.ECC|-|-|5|") for line in lines)
    records = folder / "results" / "records" / "diagonals"
    assert {path.name for path in records.glob("*.jsonl")} == {
        "adaboost_mh.boundary.jsonl",
        "adaboost_ecc.boundary.jsonl",
    }
    # The same records give the same bytes.
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    call("figure", two_panels)
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before


def test_figure_name_keeps_its_dot(call, folder):
    call("figure", "rpboost12.1")
    written = {path.name for path in (folder / "results" / "figures").iterdir()}
    assert written == {f"rpboost12.1{end}" for end in ENDINGS}


def test_tuned_columns_show_the_chosen_parameters(call, folder, define):
    overrides = ["algo.grid.nu=[1e-1,1e-3]", "protocol.n_folds=2"]
    column = {"algo": "multiboost", "overrides": overrides}
    assert (
        call("figure", define(**boundaries_definition(columns=[column], overrides=SMALL))).code == 0
    )
    assert "nu=0.001" in (folder / "results" / "figures" / "mine.md").read_text()


def test_failed_fit_leaves_its_panel_empty(call, folder, define):
    # The fit fails, since 400 points have no 1000 neighbours.
    far = ["algo._target_=sklearn.neighbors.KNeighborsClassifier", "+algo.n_neighbors=1000"]
    columns = [{"algo": "adaboost_mh", "overrides": far}, {"algo": "adaboost_ecc"}]
    settings = ["protocol.checkpoints=[5]"]
    result = call("figure", define(**boundaries_definition(columns=columns, overrides=settings)))
    assert result.code == 1
    assert "failed: KNeighborsClassifier on diagonals" in result.err
    page = (folder / "results" / "figures" / "mine.md").read_text()
    assert "AdaBoost.ECC" in page
    assert "KNeighborsClassifier" not in page


def test_bars_and_curves_are_drawn_from_records(call, folder, define, define_table):
    table = define_table(rows=["iris", "wine"], columns=["adaboost_mh", "adaboost_ecc"])
    panel = {"title": "One", "table": table, "columns": ["adaboost_mh"]}
    kinds = {"bars": {"panels": [panel]}, "curves": {"table": table}}
    for kind, source in (("bars", "the tables of figure mine"), ("curves", "table mine")):
        result = call("figure", define(kind=kind, **kinds[kind]))
        assert result.code == 2
        assert re.search(f"nothing (is recorded )?of {source}", result.err)
    run = ["run", "algo=adaboost_mh", "data=iris", "parallel=serial"]
    call(*run, "protocol.n_splits=2")
    before = sorted((folder / "results" / "records").rglob("*.jsonl"))
    for kind, content in kinds.items():
        result = call("figure", define(kind=kind, **content))
        assert (result.code, result.complaints) == (0, "")
        if kind == "bars":
            assert "Not run as a whole: AdaBoost.MH on iris (2 of 10 splits)." in result.out
    assert sorted((folder / "results" / "records").rglob("*.jsonl")) == before
    page = (folder / "results" / "figures" / "mine.md").read_text()
    assert "Lacking on iris: AdaBoost.MH (only 2 of 10 splits); AdaBoost.ECC (not run)." in page
    assert "Lacking on wine: all (not run)." in page


@pytest.fixture
def table_of_losses(define_table):
    """Define a table with two columns of one algorithm and with excluded cells."""
    return define_table(
        overrides=["algo.n_iterations=5", "protocol.n_splits=2"],
        rows=[{"few": {"data": "iris", "overrides": ["algo.n_iterations=2"]}}, "iris", "wine"],
        columns=[
            {"exp": {"algo": "mcboost", "overrides": ["algo.loss=exponential"]}},
            {"log": {"algo": "mcboost", "group": "MC", "overrides": ["algo.loss=logistic"]}},
            {"adaboost_ecc": {"without": ["wine", "iris", "few"]}},
        ],
    )


def test_curves_show_the_cells_of_the_table(call, folder, define, table_of_losses, monkeypatch):
    drawn = []
    monkeypatch.setattr(
        "boostbench.figures.curves.draw_curves",
        lambda curves, axis, headline: drawn.extend([curves, axis]) or Figure(),
    )
    call("table", table_of_losses)
    assert (
        call("figure", define(kind="curves", table=table_of_losses, error_axis="linear")).code == 0
    )
    curves, axis = drawn
    assert axis == "linear"
    losses_of_curves = {
        (curve.panel, curve.hue): [record.config.algo["loss"] for record in curve.records]
        for curve in curves
    }
    assert losses_of_curves == {
        (row, title): [loss] * 2
        for row in ("few", "iris", "wine")
        for title, loss in (("exp", "exponential"), ("MC, log", "logistic"))
    }


def test_algorithm_without_rounds_has_no_curve(call, folder, define, define_table, monkeypatch):
    drawn = []
    monkeypatch.setattr(
        "boostbench.figures.curves.draw_curves",
        lambda curves, axis, headline: drawn.extend(curves) or Figure(),
    )
    tree = {"tree": {"_target_": "sklearn.tree.DecisionTreeClassifier"}}
    settings = ["protocol.n_splits=2", "data.openml=null"]
    columns = [tree, {"mh": {"algo": "adaboost_mh", "overrides": "algo.n_iterations=3"}}]
    table = define_table(rows=["iris"], columns=columns, overrides=settings)
    assert call("table", table, "parallel=serial").code == 0
    assert call("figure", define(kind="curves", table=table)).code == 0
    assert [(curve.panel, curve.hue) for curve in drawn] == [("iris", "mh")]
    page = (folder / "results" / "figures" / "mine.md").read_text()
    assert "No curve, as it has no boosting rounds: tree." in page
    table = define_table(rows=["iris"], columns=[tree], overrides=settings)
    error = call("figure", define(kind="curves", table=table)).err
    assert "mine.yaml has a test error after some rounds" in error


def test_times_average_the_recorded_seconds(call, folder, define, table_of_losses, monkeypatch):
    panels = [{"title": "rounds", "table": table_of_losses, "rows": {"iris": 5, "few": 2}}]
    figure = define(kind="times", panels=panels)
    assert "nothing of table mine is recorded" in call("figure", figure).err
    call("table", table_of_losses)
    drawn = {}
    monkeypatch.setattr(
        "boostbench.figures.lines.draw_times",
        lambda frame, titles, *_: drawn.update(frame=frame, titles=titles) or Figure(),
    )
    assert call("figure", figure).code == 0
    assert drawn["titles"] == ["exp", "MC, log"]
    assert set(drawn["frame"].panel) == {"rounds"}
    recorded, _ = read_records(folder / "results/records/iris/mcboost.jsonl")
    for title, loss in (("exp", "exponential"), ("MC, log", "logistic")):
        line = drawn["frame"][drawn["frame"].hue == title]
        # Points are sorted by their position.
        assert list(line.x) == [2, 5]
        for rounds, seconds in zip(line.x, line.y, strict=True):
            algos = [record.config.algo for record in recorded]
            spent = [
                record.seconds.coefficients
                for record, algo in zip(recorded, algos, strict=True)
                if (algo["loss"], algo["n_iterations"]) == (loss, rounds)
            ]
            assert len(spent) == 2
            assert seconds == pytest.approx(sum(spent) / 2)
    page = (folder / "results" / "figures" / "mine.md").read_text()
    assert "| rounds: 5 " in page
    assert "(5 rounds)" in page


def test_column_without_the_quantity_has_no_line(call, folder, define, define_table):
    columns = ["constant", {"mh": {"algo": "adaboost_mh", "overrides": "algo.n_iterations=3"}}]
    table = define_table(rows=["iris"], columns=columns, overrides=["protocol.n_splits=2"])
    assert call("table", table, "parallel=serial").code == 0
    panel = {"title": "One", "table": table, "rows": {"iris": 2}}
    figure = define(kind="times", panels=[panel])
    assert call("figure", figure).code == 0
    page = folder / "results" / "figures" / "mine.md"
    assert "No line in One, as records do not tell coefficients: constant." in page.read_text()
    assert "constant |" not in page.read_text()
    assert call("figure", define(kind="times", panels=[panel], seconds="fit")).code == 0
    [facts] = [line for line in page.read_text().splitlines() if line.startswith("| One: 2")]
    assert [("rounds" in cell) for cell in facts.split("|")[2:4]] == [False, True]
    rounds = define(kind="varied", varied="n", panels=[panel | {"quantity": "n_iterations"}])
    assert call("figure", rounds).code == 0
    assert "No line in One, as records do not tell n_iterations: constant." in page.read_text()
    precisions = define(
        kind="varied", varied="n", panels=[panel | {"quantity": "mean_average_precision"}]
    )
    refusal = call("figure", precisions)
    assert (refusal.code, refusal.err) == (
        2,
        "boostbench: no record of what One shows tells mean_average_precision\n",
    )


def test_excluded_rows_are_not_drawn(call, refused, define, define_table):
    columns = [{"mh": {"algo": "adaboost_mh", "without": ["wine"]}}]
    empty = define_table(rows=["wine"], columns=columns)
    refusal = refused("figure", define(kind="curves", table=empty))
    assert "table mine does not run mh on wine" in refusal
    small = [*SMALL, "protocol.n_splits=2"]
    table = define_table(rows=["iris", "wine"], columns=columns, overrides=small)
    assert call("table", table, "parallel=serial").code == 0
    panel = {"title": "One", "table": table, "rows": {"iris": 1, "wine": 2}}
    assert call("figure", define(kind="times", panels=[panel])).code == 0


def test_paths_of_the_same_records_are_the_same_bytes(call, folder, define, monkeypatch):
    monkeypatch.setattr("boostbench.fitting.measures.fitted_model._EVERY", 200)
    classes = {0: "Barolo", 1: "Grignolino", 2: "Barbera"}
    overrides = ["algo.n_iterations=1", "protocol.samples_per_class=20"]
    figure = define(kind="paths", data="wine", algo="mcboost", classes=classes, overrides=overrides)
    result = call("figure", figure)
    assert (result.code, result.complaints) == (0, "")
    before = {p: p.read_bytes() for p in (folder / "results").rglob("[!.]*.*")}
    assert {path.name for path in before} == {
        "mine.png",
        "mine.svg",
        "mine.pdf",
        "mine.md",
        "mcboost.path.jsonl",
    }
    page = (folder / "results" / "figures" / "mine.md").read_text()
    assert [line.split("|")[2].strip() for line in page.splitlines() if "| logistic" in line] == [
        *("2", "4", "6", "8", "10")
    ]
    assert call("figure", figure).code == 0
    assert {p: p.read_bytes() for p in (folder / "results").rglob("[!.]*.*")} == before


def test_figure_requires_matplotlib(refused, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "pip install matplotlib" in refused("figure", "randomboost2")


def boundaries_definition(**settings):
    return BOUNDARIES | settings


def curves_definition(**settings):
    return {"kind": "curves", "table": "demo", **settings}


def times_definition(panel):
    return {"kind": "times", "panels": [{"title": "x", "table": "demo", **panel}]}


def paths_definition(**settings):
    return {"kind": "paths", "data": "wine", **settings}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"rows": ["diagonals"]}, "it needs its kind; there are: bars, boundaries"),
        ({"kind": "curve"}, "kind is 'curve'; did you mean curves?"),
        ({"kind": "style"}, "kind is 'style'; "),
        ({"kind": ["curves"]}, "kind is ['curves']; it must be text"),
        ({"kind": "boundaries", "rows": ["diagonals"]}, "lacks columns; it needs title, caption,"),
        (boundaries_definition(columns=[]), "columns is empty"),
        (
            boundaries_definition(columns="adaboost_mh"),
            "columns is 'adaboost_mh'; it must be a list",
        ),
        (
            boundaries_definition(columns=["adaboost_mh"]),
            "columns is 'adaboost_mh'; it must be KEY",
        ),
        (boundaries_definition(columns=[{"title": "x"}]), "an entry of columns lacks algo"),
        (
            boundaries_definition(columns=[{"algo": 5}]),
            "an entry of columns: algo is 5; it must be text",
        ),
        (
            boundaries_definition(columns=[{"algo": "samme", "rounds": 3}]),
            "shows 3 rounds, which protocol.ch",
        ),
        (
            boundaries_definition(columns=[{"algo": "samme", "rounds": True}]),
            "it must be a whole number",
        ),
        (boundaries_definition(rows=5), "rows is 5; it must be a list of texts"),
        (boundaries_definition(rows=[5]), "an entry of rows is 5; it must be text"),
        (boundaries_definition(rows=["diagnals"]), "did you mean diagonals"),
        (boundaries_definition(rows=["wine"]), "needs 2 dense features"),
        (boundaries_definition(caption=None), "caption is None; it must be text"),
        (
            boundaries_definition(overrides={"seed": 1}),
            "overrides is {'seed': 1}; it must be a list of",
        ),
        (curves_definition(rows=["wine"]), "has no key 'rows'; there are: "),
        (
            curves_definition(columns=["rpbost"]),
            "table demo has no column 'rpbost'; did you mean rpboost",
        ),
        (curves_definition(columns=None), "columns is None; it must be a list of texts"),
        (curves_definition(error_axis="lin"), "did you mean linear?"),
        (curves_definition(error_axis=["log"]), "error_axis is ['log']; "),
        (curves_definition(table="dmo"), "unknown table 'dmo'; did you mean demo"),
        ({"kind": "times", "panels": 5}, "panels is 5; it must be a list of"),
        (times_definition({}), "panels lacks rows"),
        (times_definition({"rows": {"wine": "a"}}), "rows.wine is 'a'; it must be a whole number"),
        (
            times_definition({"rows": {"wime": 1}}),
            "table demo has no row 'wime'; there are: annulus",
        ),
        (paths_definition(classes={1: "one"}), "lacks algo"),
        (
            paths_definition(classes={"a": "one"}, algo="mcboost"),
            "classes is 'a'; it must be a whole number",
        ),
    ],
)
def test_wrong_definition_is_refused_in_one_line(refused, define, content, expected):
    message = refused("figure", define(**content))
    assert expected in message
    assert len(message.partition("mine.yaml")[2]) < 160


def test_wrong_arguments_are_refused(refused):
    assert "did you mean randomboost2" in refused("figure", "randombost2")
    assert "there is no file nowhere.yaml" in refused("figure", "nowhere.yaml")
    refusal = refused("figure", "randomboost2", "algo.n_iterations=100")
    assert "shows 1000 rounds, but algo.n_iterations is 100" in refusal
    refusal = refused("figure", "randomboost2", "algo.n_iterations=abc")
    assert "n_iterations" in refusal
    assert "abc" in refusal


def test_features_count_the_selected_stumps(call, folder, define):
    columns = [{"algo": "adaboost_mh"}, {"algo": "adaboost_ecc", "title": "ECC"}]
    name = define(
        kind="features", rows=["iris"], columns=columns, overrides=[*SMALL, "protocol.n_splits=3"]
    )
    assert call("figure", name).code == 0
    page = (folder / "results" / "figures" / "mine.md").read_text()
    lines = [[text.strip() for text in line.split("|")[1:-1]] for line in page.splitlines()]
    assert [line[:3] for line in lines if line[:1] == ["iris"]] == [
        ["iris", "AdaBoost.MH", "3"],
        ["iris", "ECC", "3"],
    ]
    counts = folder / "results" / "records" / "iris" / "adaboost_mh.features.jsonl"
    assert [sum(record.counts) for record in read_records(counts)[0]] == [5] * 3


def test_features_require_stumps(call, define):
    name = define(
        kind="features",
        rows=["iris"],
        columns=[{"algo": "samme"}],
        overrides=[*SMALL, "protocol.n_splits=2"],
    )
    result = call("figure", name)
    assert result.code == 1
    assert "has no stumps on single features" in result.err


#: A table of three algorithms on two data sets.
JUDGED = {
    "rows": ["iris", "wine"],
    "columns": ["adaboost_mh", "adaboost_ecc", {"mc": {"algo": "mcboost"}}],
    "overrides": ["algo.n_iterations=5", "protocol.n_splits=2", "protocol.checkpoints=[5]"],
    "published": "randomboost-table5",
}


@pytest.fixture
def recorded_table(call, define_table):
    """Record all cells of the table."""
    assert call("table", define_table(**JUDGED), "parallel=serial").code == 0


@pytest.mark.parametrize("settings", [{}, {"rounds": [5], "seconds": "fit"}])
def test_ranks_report_the_friedman_test(
    call, folder, define, recorded_table, define_table, settings
):
    columns = ["adaboost_mh", "adaboost_ecc", "mc"]
    name = define(kind="ranks", table=define_table(**JUDGED, **settings), columns=columns)
    result = call("figure", name)
    assert (result.code, result.complaints) == (0, "")
    assert "Friedman test of 3 algorithms over 2 data sets" in result.out
    page = (folder / "results" / "figures" / "mine.md").read_text()
    ranks = [float(line.split("|")[2]) for line in page.splitlines() if line.startswith("| Ada")]
    assert len(ranks) == 2
    assert all(1 <= rank <= 3 for rank in ranks)


def test_scatter_counts_the_numbers_of_papers(done, folder, define):
    # The figure takes tables of papers only, so that a record of a paper's table is copied.
    recorded = configs.conf_dir().parent / "results" / "records" / "wine"
    (folder / "results" / "records" / "wine").mkdir(parents=True)
    for path in recorded.glob("adaboost_mh.jsonl*"):  # packed or not
        shutil.copy(path, folder / "results" / "records" / "wine")
    result = done("figure", define(kind="scatter", tables=["randomboost5", "randomboost6"]))
    assert "For 1 of them there is a number of ours" in result.out
    assert (folder / "results" / "figures" / "mine.svg").is_file()


def test_figures_without_enough_numbers_are_refused(refused_figure, define, define_table):
    table = define_table(rows=["iris"], columns=["adaboost_mh", "adaboost_ecc"])
    assert "needs three algorithms or more" in refused_figure(define(kind="ranks", table=table))
    name = define(kind="ranks", table=table, columns=["adaboost", "mcboost", "samme"])
    assert "has no column 'adaboost'" in refused_figure(name)
    assert "takes results=DIR alone" in refused_figure(name, "seed=1")
    scatter = define(kind="scatter", tables=["randomboost6"])
    assert "can be set beside a published number" in refused_figure(scatter)


@pytest.fixture
def refused_figure(refused):
    return lambda *argv: refused("figure", *argv)


def test_features_require_distinct_titles(call, define, folder):
    columns = [{"algo": "mcboost"}, {"algo": "mcboost", "overrides": ["algo.loss=logistic"]}]
    path = define(kind="features", rows=["wine"], columns=columns, overrides=SMALL)
    result = call("figure", path)
    assert result.code == 2
    assert "figure mine has 2 columns 'MCBoost'; give each a title" in result.complaints
    assert not (folder / "results").exists()
