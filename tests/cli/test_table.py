import csv
import itertools
import json
import re
import shutil
from pathlib import Path

import pytest
from scipy import stats
from sklearn.datasets import dump_svmlight_file, load_wine

from boostbench.analysis.verdicts import COMPARED
from boostbench.config.compose import compose_experiment
from boostbench.config.table_definitions import TableDefinition
from boostbench.data.sources import openml_client
from boostbench.papers.published import find_quantity, lines_of
from boostbench.records.store import read_records, record_path
from boostbench.spec.algorithm import AlgorithmSpec
from boostbench.util import configs
from boostbench.util.errors import UserError

QUICK = ["algo.n_iterations=5", "protocol.n_splits=3", "parallel=serial"]
CHANGED = "n_iterations=5-n_splits=3"  # QUICK as a part of a table's file name

RECORDS = configs.conf_dir().parent / "results" / "records"
SMALL = ["protocol.samples_per_class=30"]
FEW = {"overrides": ["algo.n_projections=5"]}


def test_demo_supports_its_claim_with_every_verdict(call, folder, monkeypatch):
    """The demo needs no data; a sentence below the table states whether its claim holds."""
    monkeypatch.delenv("BOOSTBENCH_DATA")
    assert call("table", "demo", "results=few", *QUICK).code == 0
    for row in ("annulus", "checkerboard", "parity"):
        shutil.copytree(RECORDS / row, folder / "results" / "records" / row)
    result = call("table", "demo", "rerun=never")
    assert (result.code, result.complaints) == (0, "")
    assert "it is right at more points than AdaBoost.” holds: 3 of 3" in (
        " ".join(result.out.split())
    )
    lines = (folder / "results" / "tables" / "demo.csv").read_text().splitlines()
    cells = list(csv.DictReader(lines))
    assert len(cells) == 6
    assert "undecided" not in {cell["verdict"] for cell in cells}
    assert {cell["verdict"] for cell in cells} <= set(COMPARED)
    assert {path.name for path in (folder / "results" / "tables").iterdir()} == {
        f"demo{suffix}" for suffix in (".md", ".csv", ".tex", "-notes.tex")
    }


def test_table_of_two_data_sets_shows_published_numbers(done, folder, define_table):
    name = define_table(
        rows=["iris", {"wine": ["protocol.samples_per_class=30"]}],
        columns=["adaboost_mh", {"rboost_rank": ["algo.n_projections=50"]}],
        published="randomboost-table5",
    )
    result = done("table", name, *QUICK)
    assert max(len(line.rstrip()) for line in result.out.splitlines()[:-1]) <= 80
    markdown = (folder / "results" / "tables" / f"mine-{CHANGED}.md").read_text()
    assert "**Not as the table is defined: protocol.n_splits=3, algo.n_iterations=5.**" in markdown
    header = markdown.splitlines()[4]
    assert [name.strip() for name in header.strip("|").split("|")] == [
        "data",
        "AdaBoost.MH",
        "RBoost^rank",
    ]
    assert "over 2 data sets" in markdown
    lines = (folder / "results" / "tables" / f"mine-{CHANGED}.csv").read_text().splitlines()
    cells = list(csv.DictReader(lines))
    assert [(cell["data"], cell["algo"]) for cell in cells] == [
        ("iris", "adaboost_mh"),
        ("iris", "rboost_rank"),
        ("wine", "adaboost_mh"),
        ("wine", "rboost_rank"),
    ]
    assert {cell["n_splits"] for cell in cells} == {"3"}
    assert [cell["published_mean"] for cell in cells] == ["", "", "4.3", "3.2"]
    # The experiment differs from the published one, so that it has a mark and no verdict.
    not_published, not_judged = "not published", "not judged"
    assert [cell["verdict"] for cell in cells] == [*[not_published] * 2, *[not_judged] * 2]
    assert " 4.3 (3.8)§ |" in markdown
    assert "2 published numbers: 2 not judged." in markdown
    assert "§ published of another protocol or other parameters" in markdown


def test_columns_may_share_an_algorithm(done, folder, define_table):
    name = define_table(
        rows=["iris", {"half": {"data": "wine", "title": "Wine 30", "overrides": SMALL}}],
        columns=[
            {"few": {"algo": "rboost_rank", "group": "RBoost^rank", "title": "n = 5", **FEW}},
            {"pooled": {"algo": "rboost_rank", "overrides": "algo.n_projections=50"}},
            "adaboost_mh",
        ],
        classes=True,
        rounds=[2, 5],
        compare=[["few", "pooled"]],
        seconds="weak_learner",
    )
    done("table", name, *QUICK)
    markdown = (folder / "results" / "tables" / f"mine-{CHANGED}.md").read_text()
    header, _, iris, wine = (line for line in markdown.splitlines()[4:8])
    heads = [head.strip() for head in header.strip("|").split("|")]
    assert heads[:4] == [
        "data",
        "RBoost^rank, n = 5, Test 2",
        "RBoost^rank, n = 5, T=5, Test error",
        "RBoost^rank, n = 5, T=5, CPU time",
    ]
    assert heads[4] == "pooled, Test 2"
    assert heads[7] == "AdaBoost.MH, Test 2"
    assert "iris (3 classes)" in iris
    assert "Wine 30 (3 classes)" in wine
    assert "RBoost^rank, n = 5, T=5 against pooled, T=5" in markdown
    lines = (folder / "results" / "tables" / f"mine-{CHANGED}.csv").read_text().splitlines()
    cells = list(csv.DictReader(lines))
    assert [cell["column"] for cell in cells[:4]] == ["few@2", "few@5", "pooled@2", "pooled@5"]
    assert {cell["n_splits"] for cell in cells} == {"3"}
    # The columns share the algorithm, but not its parameters.
    assert cells[1]["test_error_mean"] != cells[3]["test_error_mean"]


def test_profile_is_named_above_the_table(call, folder, define_table):
    name = define_table(rows=[{"iris": ["protocol.n_splits=50"]}], columns=["adaboost_mh"])
    result = call("table", name, "profile=quick", "parallel=serial")
    output = " ".join(result.out.split())
    assert output.startswith("Mine (quick: at most 3 splits, 200 rounds)")
    assert "over 3 splits" in output or " 3 200 " in output
    assert "Not as the table is defined: profile=quick, protocol.n_splits=3," in output
    assert "algo.n_iterations=200" in output
    assert (folder / "results" / "tables" / "mine-quick.md").is_file()


def test_rerun_never_shows_recorded_cells_only(call, done, folder, define_table):
    name = define_table(rows=["iris", "wine"], columns=["adaboost_mh"])
    call("run", "algo=adaboost_mh", "data=wine", *QUICK)
    before = sorted(folder.rglob("*.jsonl"))
    result = done("table", name, *QUICK, "rerun=never")
    assert "iris" in result.out
    assert "not run" in result.out
    result = call("table", name, *QUICK[::2], "rerun=never", "protocol.n_splits=10")
    assert "‡ over a part of the splits: AdaBoost.MH on wine (3 of 10)." in result.out
    assert sorted(folder.rglob("*.jsonl")) == before


def test_table_as_defined_has_its_own_file(call, done, folder, define_table):
    name = define_table(rows=["iris", "wine"], columns=["adaboost_mh"], overrides=QUICK[:2])
    first = done("table", name, "parallel=serial")
    markdown = (folder / "results" / "tables" / "mine.md").read_text()
    assert "Not as the table is defined" not in markdown
    assert len(list((folder / "results" / "tables").iterdir())) == 4
    # An override with the default value changes nothing, so that nothing runs.
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    again = call("table", name, "parallel=serial", "seed=0")
    assert (again.code, again.out) == (0, first.out)
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before


def resolved_algos(table):
    """Compose the algorithm of each column, which suffices to find its published number."""
    return {
        column.name: compose_experiment(table.cell_settings(table.rows[0], column)).algorithm
        for column in table.columns
    }


RANDOMBOOST = [f"randomboost{number}" for number in (2, 3, 4, 5, 6)]


@pytest.mark.parametrize("name", RANDOMBOOST)
def test_every_randomboost_number_stands_in_its_table(name):
    table = TableDefinition.read(name)
    algos = resolved_algos(table)
    published = {
        (row.published_as or row.name, column, rounds): table.find_published(
            row.name, column, algos[column], rounds
        )
        for row in table.rows
        for column in table.column_names
        for rounds in table.rounds or [None]
    }
    assert all(published.values())
    assert len(published) == len(lines_of(table.published))


#: Data sets without a file.
ABSENT = {"rcv1", "sector"}


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5, 6])
def test_every_mcboost_number_stands_in_its_table(number):
    table = TableDefinition.read(f"mcboost{number}")
    algos = resolved_algos(table)
    numbers = {
        key: table.find_published(*key, algos[key[1]])
        for key in itertools.product(table.row_names, table.column_names)
    }
    # Excluded cells have no number, nor has SAMME on isolet.
    cells_without_number = {key for key, published in numbers.items() if not published}
    assert {
        (row, column)
        for row, column in cells_without_number
        if row not in table.column(column).without
    } <= {("isolet", "samme")}
    shown = {
        (
            table.row(row).published.get("data", table.row(row).data),
            number_of_measure.mean,
            number_of_measure.std,
        )
        for (row, _), published in numbers.items()
        for number_of_measure in published
        if number_of_measure.quantity.name == "test_error"
    }
    printed = {
        (line["data"], float(line["test_error_mean"]), float(line["test_error_std"]))
        for line in lines_of(table.published)
        if line.get("test_error_mean") and line["data"] not in ABSENT
    }
    if printed:
        assert shown == printed
    else:  # Table VI, of times
        assert {published[0].quantity.name for published in numbers.values()} == {table.seconds}


@pytest.mark.parametrize("number", [5, 6])
def test_randomboost_statement_stands_under_its_table(number):
    table = TableDefinition.read(f"randomboost{number}")
    algos = resolved_algos(table)
    statistics = {5: "over 11 data sets: statistic 16,", 6: "over 6 data sets: statistic 10.5,"}
    statements = [
        table.find_statement(pair, [algos[name] for name in pair]) for pair in table.pairs
    ]
    assert [statistics[number] in statement for statement in statements if statement] == [True]


def test_mcboost_statements_stand_under_their_table():
    table = TableDefinition.read("mcboost4")
    algos = resolved_algos(table)
    exponential, logistic, *remaining = (
        table.find_statement(pair, [algos[name] for name in pair]) for pair in table.pairs
    )
    assert "statistic 10.5," in exponential
    assert "statistic 7," in logistic
    assert remaining == [None, None]


def test_mcboost_tables_share_experiments():
    """A cell that stands in two tables is run once."""

    def cell(number, row, column):
        table = TableDefinition.read(f"mcboost{number}")
        return compose_experiment(table.cell_settings(table.row(row), table.column(column)))

    shared = [
        [(1, "usps", "exp9"), (2, "usps", "exp05"), (4, "usps", "exponential")],
        [(1, "20news-bydate", "log9"), (4, "20news-bydate", "logistic")],
        [
            (3, "classes26", "multiboost"),
            (3, "samples50", "multiboost"),
            (4, "letter", "multiboost"),
        ],
        [(5, "pendigits7494", "gradboost"), (6, "pendigits7494", "gradboost")],
    ]
    for first, *repetitions in shared:
        assert all(cell(*repetition) == cell(*first) for repetition in repetitions)
    assert cell(1, "usps", "exp0") != cell(1, "usps", "exp9")


def test_speedup_is_empty_without_a_run(done, folder, define_table):
    name = define_table(
        rows=["iris", {"two": {"data": "iris", "title": "Two", "overrides": ["+data.classes=2"]}}],
        columns=["adaboost_mh", "adaboost_ecc", {"adaboost_mo": {"without": ["two"]}}],
        seconds="fit",
        speedup=[["adaboost_mo", "adaboost_mh"]],
        classes=True,
        compare=[],
    )
    done("table", name, *QUICK)
    markdown = (folder / "results" / "tables" / f"mine-{CHANGED}.md").read_text()
    header, _, iris, two = (line.strip("| ").split("|") for line in markdown.splitlines()[4:8])
    assert header[-1].strip() == "Speed-up, AdaBoost.MH"
    assert float(iris[-1]) > 0
    assert [text.strip() for text in (two[0], *two[-3:])] == [
        "Two (2 classes)",
        "not run",
        "-",
        "-",
    ]
    assert "Data not available" not in markdown


def read_split_counts(text):
    """Return the number of splits of each cell of a table's CSV file."""
    return {(cell["data"], cell["algo"]): cell["n_splits"] for cell in csv.DictReader(text)}


@pytest.fixture
def fully_recorded(call, folder, define_table, monkeypatch):
    """Record all cells of a table, then remove its two data files."""
    X, y = load_wine(return_X_y=True)
    dump_svmlight_file(X[:, :5], y, str(folder.parent / "data" / "svmguide4.svm"))
    unknown = ["data.expect=null", "data.train_rows=null"]
    name = define_table(rows=["wine", {"svmguide4": unknown}], columns=["adaboost_mh", "samme"])
    assert call("table", name, *QUICK).code == 0
    for path in (folder.parent / "data").glob("*.svm"):
        path.unlink()
    return name


def test_recorded_cells_are_shown_without_data(call, folder, fully_recorded):
    written = {path: path.read_bytes() for path in (folder / "results").rglob("*.*")}
    shown = call("table", fully_recorded, *QUICK, "rerun=never").out
    again = call("table", fully_recorded, *QUICK)
    assert (again.code, again.out) == (0, shown)
    # Scikit-learn's copy of wine differs from the file.
    [line] = again.complaints.splitlines()
    assert "wine" in line
    assert "rerun=all" in line
    assert {path: path.read_bytes() for path in (folder / "results").rglob("*.*")} == written


def test_rows_without_data_keep_recorded_numbers(done, folder, fully_recorded):
    """A new column is run for available data, and rows without data keep their numbers."""
    text = Path(fully_recorded).read_text().replace("- samme", "- samme\n- adaboost_ecc")
    Path(fully_recorded).write_text(text)
    result = done("table", fully_recorded, *QUICK)
    with (folder / "results" / "tables" / f"mine-{CHANGED}.csv").open() as file:
        assert read_split_counts(file) == {
            ("wine", "adaboost_mh"): "3",
            ("wine", "samme"): "3",
            ("wine", "adaboost_ecc"): "3",
            ("svmguide4", "adaboost_mh"): "3",
            ("svmguide4", "samme"): "3",
            ("svmguide4", "adaboost_ecc"): "0",
        }
    reports = [line for line in result.complaints.splitlines() if "svmguide4" in line]
    assert len(reports) == 1
    assert "not run" in reports[0]
    # Recorded cells are shown before the missing ones run.
    assert result.out.count("svmguide4 ") == 2
    assert "On record" in result.out


def test_changed_data_file_runs_again(call, define_table, tmp_path):
    path = tmp_path / "own.csv"
    lines = [f"{i % 7},{i % 2}" for i in range(40)]
    path.write_text("\n".join(["a,class", *lines]))
    name = define_table(rows=[str(path)], columns=["adaboost_mh"])
    assert "start: 3 splits" in call("table", name, *QUICK).err
    assert "start:" not in call("table", name, *QUICK).err
    path.write_text("\n".join(["a,class", *lines[1:]]))
    assert "start: 3 splits" in call("table", name, *QUICK).err


def test_table_without_records_and_data_is_refused(call, folder, define_table):
    name = define_table(rows=["svmguide4", "svmguide2"], columns=["samme"])
    result = call("table", name, *QUICK)
    assert (result.code, result.out) == (2, "")
    [line] = result.complaints.splitlines()
    assert "svmguide2 (LIBSVM svmguide2, bioinformatics)" in line
    assert not (folder / "results").exists()


def test_verdict_requires_the_defined_parameters(call, folder, define_table):
    overrides = [*QUICK[:2], "protocol.tune=none"]
    name = define_table(
        rows=["wine"], columns=["adaboost_mh"], overrides=overrides, published="randomboost-table5"
    )
    assert call("table", name, "parallel=serial").code == 0
    (cell,) = csv.DictReader((folder / "results" / "tables" / "mine.csv").open())
    assert cell["verdict"] in COMPARED
    # Another seed draws other splits of the same experiment, and fewer splits are judged as such.
    call("table", name, "parallel=serial", "seed=1")
    (cell,) = csv.DictReader((folder / "results" / "tables" / "mine-1.csv").open())
    assert cell["verdict"] in COMPARED
    call("table", name, "parallel=serial", "protocol.n_splits=2")
    (cell,) = csv.DictReader((folder / "results" / "tables" / "mine-n_splits=2.csv").open())
    assert cell["verdict"] in COMPARED
    call("table", name, "parallel=serial", "algo.n_iterations=2")
    (cell,) = csv.DictReader((folder / "results" / "tables" / "mine-n_iterations=2.csv").open())
    assert cell["verdict"] == "not judged"


def test_accuracy_table_marks_the_highest_mean(done, folder, define_table):
    """The same records as another quantity; the better one is the higher."""
    name = define_table(
        rows=["wine", "iris"], columns=["adaboost_mh", "samme"], quantity="accuracy", rounds=[2, 5]
    )
    done("table", name, *QUICK)
    folder = folder / "results" / "tables"
    cells = list(csv.DictReader((folder / f"mine-{CHANGED}.csv").open()))
    means = {(c["data"], c["column"]): float(c["accuracy_mean"]) for c in cells}
    assert all(50 < mean < 100 for mean in means.values())
    markdown = (folder / f"mine-{CHANGED}.md").read_text()
    assert " AdaBoost.MH, Accuracy 2 |" in markdown
    assert "Accuracy in percent: mean (standard deviation) over 3 splits." in markdown
    best = max(means["wine", f"{algo}@5"] for algo in ("adaboost_mh", "samme"))
    assert f"**{best:.1f} (" in markdown


def test_verdict_without_a_published_deviation(call, folder, define_table):
    """Iris stands for a data set whose accuracy is published without a deviation."""
    name = define_table(
        rows=[{"iris": {"published": {"data": "ionosphere"}}}],
        columns=[{"adaboost_mh": {"published": {"algo": "adaboost"}}}],
        published="rpboost-table12.6",
        overrides=QUICK[:2],
    )
    assert call("table", name, "parallel=serial").code == 0
    markdown = (folder / "results" / "tables" / "mine.md").read_text()
    assert "Accuracy in percent: mean (standard deviation) over 3 splits." in markdown
    (cell,) = csv.DictReader((folder / "results" / "tables" / "mine.csv").open())
    assert (cell["published_mean"], cell["published_std"]) == ("92.4", "")
    ours, std = float(cell["accuracy_mean"]), float(cell["accuracy_std"])
    # The published number is rounded to a tenth, which is no estimate: it adds to the degrees.
    variance, rounding = std**2 * (1 / 3 + 1 / 20), 0.1**2 / 12
    freedom = 2 * (1 + rounding / variance) ** 2
    half = stats.t.ppf(0.975, freedom) * (variance + rounding) ** 0.5
    assert float(cell["high"]) - float(cell["low"]) == pytest.approx(2 * half, rel=1e-4)
    equal = abs(ours - 92.4) <= half
    verdict_if_equal = (
        "reproduced" if float(cell["detectable"]) <= 0.2 * (100 - 92.4) else "undecided"
    )
    verdict = verdict_if_equal if equal else "better" if ours > 92.4 else "worse"
    assert cell["verdict"] == verdict
    assert f"{verdict} (published deviation unknown)" in markdown


def test_published_settings_select_a_line(define_table):
    name = define_table(
        rows=["heart"],
        columns=[{"sw": {"algo": "rboost_rank", "published": {"loss": "exponential"}}}],
        published="randomboost-table3",
    )
    table = TableDefinition.read(name)
    published = table.find_published(
        "heart", "sw", AlgorithmSpec("rboost_rank", "boostbench.RBoostRank")
    )
    assert find_quantity(published, "test_error").mean == 21.3


def test_columns_are_taken_from_another_table(define_table):
    table = TableDefinition.read(define_table(rows=["iris"], columns="mcboost2"))
    assert table.columns == TableDefinition.read("mcboost2").columns
    assert table.row_names == ["iris"]


def test_cell_overrides_apply_to_one_cell(define_table):
    wine = {"cells": {"samme": ["protocol.n_splits=2"]}}
    columns = [{"samme": ["algo.n_iterations=9"]}, "adaboost_mh"]
    table = TableDefinition.read(define_table(rows=["iris", {"wine": wine}], columns=columns))
    asked = {"algo": "samme", "algo.n_iterations": 9}
    (iris_samme, iris_mh), (wine_samme, wine_mh) = (
        [table.cell_settings(row, column) for column in table.columns] for row in table.rows
    )
    assert iris_samme.items() >= ({"data": "iris"} | asked).items()
    assert wine_samme.items() >= (asked | {"protocol.n_splits": 2}).items()
    assert "protocol.n_splits" not in iris_samme
    assert wine_mh == iris_mh | {"data": "wine"}
    wine["cells"] = {"sammy": []}
    with pytest.raises(UserError, match="cells of wine has no column 'sammy'; did you mean samme"):
        TableDefinition.read(define_table(rows=[{"wine": wine}], columns=columns))


def test_column_may_change_the_data(call, folder, define_table):
    """Each cell is fitted on the data of its own config."""
    two = {"algo": "constant", "title": "two classes", "overrides": ["data.classes=2"]}
    name = define_table(rows=["wine", "iris"], columns=["constant", {"two": two}])
    argv = ["table", name, "protocol.n_splits=2", "parallel=serial"]
    assert call(*argv, "--column", "constant").code == 0
    result = call(*argv)
    assert (result.code, result.complaints) == (0, "")
    assert "start: 4 splits to run" in result.err
    assert "start:" not in call(*argv).err
    for row in ("wine", "iris"):
        path = folder / "results" / "records" / row / "constant.jsonl"
        parsed = map(json.loads, path.read_text().splitlines())
        facts = [line["config"]["data"] for line in parsed if isinstance(line.get("config"), dict)]
        assert [(data["n_classes"], data.get("cut")) for data in facts] == [
            (3, None),
            (2, {"classes": 2}),
        ]
    single_row = call(*argv, "--row", "wine").out
    assert "60.0" in single_row
    assert "45.5" in single_row
    # The two columns have different samples, so that the row states no number of samples.
    assert "samples" not in single_row


def test_published_numbers_depend_on_rounds(define_table):
    name = define_table(rows=["heart"], columns=["adaboost"], published="randomboost-table4")
    table = TableDefinition.read(name)
    algo = AlgorithmSpec("adaboost", "boostbench.AdaBoost", {"n_iterations": 1000})
    numbers = [
        table.find_published("heart", "adaboost", algo, rounds) for rounds in (50, 100, None)
    ]
    assert [find_quantity(published, "test_error").mean for published in numbers] == [
        16.7,
        17.6,
        20.9,
    ]


def test_unreachable_server_is_reported_once(done, define_table, monkeypatch):
    monkeypatch.setattr(openml_client, "N_ATTEMPTS", 1)
    name = define_table(rows=["vowel", "iris", "glass", "letter"], columns=["adaboost_mh"])
    result = done("table", name, *QUICK)
    assert result.complaints == (
        "boostbench: 3 rows are not run, as their data are not at hand: vowel (OpenML 307), "
        "glass (OpenML 41), letter (OpenML 6). OpenML cannot be reached; put NAME.svm, .arff, "
        ".csv or .npz into $BOOSTBENCH_DATA\n"
    )


def test_unavailable_data_sets_are_not_run(done, folder, define_table):
    name = define_table(rows=["iris", "svmguide2"], columns=["adaboost_mh"])
    result = done("table", name, *QUICK)
    assert result.complaints == (
        "boostbench: 1 row is not run, as its data are not at hand: svmguide2 (LIBSVM svmguide2, "
        "bioinformatics). Put NAME.svm, .arff, .csv or .npz into $BOOSTBENCH_DATA\n"
    )
    markdown = (folder / "results" / "tables" / f"mine-{CHANGED}.md").read_text()
    assert re.search(r"^\| svmguide2 +\| +not run +\|$", markdown, re.M)
    assert re.search(r"^svmguide2 +not run *$", result.out, re.M)


def test_row_and_column_options_select_cells(call, done, folder, define_table):
    name = define_table(
        rows=["iris", "wine"],
        columns=["adaboost_mh", "samme", {"shrunk": {"algo": "samme", "title": "SAMME, 2"}}],
        compare=[["samme", "shrunk"], ["samme", "adaboost_mh"]],
        claims=[{"says": "So.", "better": [["samme", "adaboost_mh"]]}],
    )
    result = done("table", name, "--row", "wine", "--column", "adaboost_mh", *QUICK)
    assert "start: 3 splits to run" in result.err
    assert "So." not in result.out
    assert "written: results/tables/mine-wine-adaboost_mh-" in result.out
    recorded = {path.stem for path in (folder / "results" / "records").rglob("*.jsonl")}
    assert recorded == {"adaboost_mh"}
    # The recorded fits allow an estimate of the time.
    overrides = [*QUICK[::2], "protocol.n_splits=4"]
    result = call("table", name, "--column", "samme,adaboost_mh", *overrides)
    start = r"start: 13 splits to run; on record: 3; about .* CPU seco"
    assert re.search(start, result.err)
    assert "no estimate for 12 of them" in result.err
    assert "So." in result.out


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        (["--row", "win"], "unknown row of mine 'win'; did you mean wine?"),
        (["--column", "same"], "unknown column of mine 'same'; did you mean samme?"),
    ],
)
def test_unknown_row_or_column_is_refused(refused, define_table, option, expected):
    name = define_table(rows=["iris", "wine"], columns=["adaboost_mh", "samme"])
    assert expected in refused("table", name, *option)


def test_subset_accepts_names_of_algorithms():
    table = TableDefinition.read("mcboost5")
    part = table.subset(["wine", "letter"], ["mcboost"])
    assert part.row_names == ["wine", "letter"]
    assert part.columns == tuple(c for c in table.columns if c.algo == "mcboost")
    assert len(part.columns) == 2
    assert part.published == table.published
    assert part.row("wine") == table.row("wine")
    assert part.compose(rows=["wine"]) == [
        cell for cell in table.compose(rows=["wine"]) if cell.column in part.column_names
    ]


def test_subset_keeps_the_remarks_on_its_cells(define_table):
    general, on_iris, on_cell = "Splits are plain.", "iris is small.", "SAMME on wine is slow."
    # A column with a name of its own is called by it, and not as its algorithm.
    on_samme, on_named_column = "SAMME has stumps.", "What is own is slow."
    remarks = [general, on_iris, on_cell, on_samme, "Not of wine-like data.", on_named_column]
    hint = "The whole table has more remarks; rerun=never shows it and runs nothing."
    columns = ["adaboost_mh", "samme", {"own": {"algo": "samme"}}]
    name = define_table(rows=["iris", "wine"], columns=columns, remarks=remarks)
    table = TableDefinition.read(name)
    for rows, columns_of_subset, shown in (
        (["wine"], ["samme"], [general, on_cell, on_samme, remarks[4], hint]),
        (["iris"], ["adaboost_mh"], [general, on_iris, remarks[4], hint]),
        (["iris"], ["own"], [general, on_iris, *remarks[4:], hint]),
        ([], columns[:2], [*remarks[:5], hint]),
    ):
        assert table.subset(rows, columns_of_subset).remarks == shown


def test_failed_split_is_counted_once(call, define_table):
    name = define_table(rows=["iris"], columns=["adaboost_mh"], rounds=[2, 5])
    broken = "algo._target_=sklearn.neighbors.KNeighborsClassifier"
    for options in ((), ("rerun=never",)):
        result = call("table", name, broken, "+algo.n_neighbors=1000", *QUICK[1:], *options)
        assert result.code == 1
        assert result.err.splitlines()[-1] == "boostbench: 3 of 3 splits failed"


def definition(**settings):
    return {"rows": ["iris"], "columns": ["adaboost_mh", "samme"], **settings}


BETTER = {"says": "x", "better": [["samme", "adaboost_mh"]]}

#: Wrong definitions, each with a part of its error message.
WRONG = [
    ({"rows": ["iris"]}, "needs title, rows and columns"),
    (definition(colour=1), "no key 'colour'"),
    (definition(rows=["irsi"]), "did you mean iris"),
    (definition(columns=["adabost"]), "did you mean adaboost"),
    (definition(columns=["adaboost"]), "two classes"),
    (definition(rows=[{"iris": {"colour": 1}}]), "row iris has no key 'colour'"),
    (definition(columns=[{"a": {"alg": "x"}}]), "column a has no key 'alg'; did you mean algo?"),
    (definition(columns="demp"), "did you mean demo"),
    (definition(columns="mcboost3_rounds"), "rounds.yaml has no columns of its own"),
    (definition(rows=["iris", "iris"]), "has iris twice"),
    (definition(compare=[["x", "samme"]]), "column 'x'"),
    (definition(published_as={"a": "b"}), "no row 'a'"),
    (definition(quantity="acuracy"), "did you mean acc"),
    (definition(quantity="auc", rounds=[2]), "rounds cannot go with quantity: auc"),
    (definition(quantity="n_nonzero"), "records no n_nonzero; add measure=support"),
    (definition(rounds=[7]), "after 7 rounds"),
    (definition(remarks=[{"a": "b"}]), "it must be text, in quotes if it holds a colon"),
    (definition(seconds="predict"), "seconds is 'predict'"),
    (definition(speedup=[["x", "y"]]), "speedup has no"),
    (definition(speedup=[["samme", "adaboost_mh"]]), "speedup needs seconds"),
    (definition(columns=[{"a": {"without": ["b"]}}]), "without of a has no row 'b'"),
    (definition(title=5), "title is 5; it must be text"),
    (definition(title=None), "title is None; it must be text"),
    (definition(rows=5), "rows is 5; it must be a list of names"),
    (definition(rows=[]), "rows is []; it must be a list of names"),
    (definition(rows="iris"), "rows is 'iris'; it must be a list of names"),
    (
        definition(rows={"iris": {"zz": 1}}),
        "rows is {'iris': {'zz': 1}}; it must be a list of names",
    ),
    (definition(rows=[5]), "rows has 5, which is no text"),
    (definition(rows=[{"a": 5}]), "rows: a is 5; it must be overrides or keys"),
    (definition(rows=[{"a": [5]}]), "row a: an entry of overrides is 5; it must be text"),
    (definition(rows=[{"a": {"data": 5}}]), "row a: data is 5; it must be text"),
    (definition(rows=[{"a": {"published": 5}}]), "row a: published is 5; it must be KEY: VALUE"),
    (definition(columns=5), "columns is 5; it must be a list of names"),
    (definition(columns=[None]), "columns has None, which is no text"),
    (definition(columns=[{"a": {"without": 5}}]), "column a: without is 5; it must be a list"),
    (definition(columns=[{"a": {"algo": "samme", "_target_": "x.Y"}}]), "has algo and _target_"),
    (definition(columns=[{"a": {"_target_": 5}}]), "column a: _target_ is 5; it must be text"),
    (definition(overrides=5), "overrides is 5; it must be a list of texts"),
    (definition(overrides=[5]), "an entry of overrides is 5; it must be text"),
    (definition(overrides={"seed": 1}), "overrides is {'seed': 1}; it must be a list of texts"),
    (definition(rounds=50), "rounds is 50; it must be a list of whole numbers"),
    (definition(rounds=[True]), "an entry of rounds is True; it must be a whole number"),
    (definition(rounds=[0]), "rounds is [0]; they count from 1"),
    (definition(compare=5), "compare is 5; it must be a list of lists of texts"),
    (definition(compare=[["samme"]]), "compare has ['samme'], which is no pair of columns"),
    (definition(compare=[["samme", "samme"]]), "which is no pair of columns"),
    (definition(compare=["samme"]), "compare has ['samme'], which is no pair of columns"),
    (definition(seconds=[1]), "seconds is [1]"),
    (definition(speedup=5), "speedup is 5; it must be a list of lists of texts"),
    (definition(published=5), "published is 5; it must be text"),
    (definition(published="../../x"), "published is '../../x'; there are: "),
    (definition(published="randomboost-table9"), "did you mean randomboost-table"),
    (definition(published_as=5), "published_as is 5; it must be KEY: VALUE"),
    (definition(published_as={"iris": 5}), "published_as.iris is 5; it must be text"),
    (definition(classes="yes please"), "classes is 'yes please'; it must be true or false"),
    (definition(remarks=5), "remarks is 5; it must be a list of texts"),
    (definition(claims=5), "claims is 5; it must be a list of"),
    (definition(claims=[{"better": [["samme", "adaboost_mh"]]}]), "lacks says"),
    (definition(claims=[{"says": "x"}]), "claim 1 needs better or alike, and one of them only"),
    (
        definition(claims=[BETTER | {"within": 1}]),
        "claim 1 needs within where it has alike, and only",
    ),
    (definition(claims=[BETTER | {"within": "1"}]), "within is '1'; it must be a number"),
    (
        definition(claims=[BETTER | {"rows": ["irsi"]}]),
        "claim 1 has no row 'irsi'; did you mean iris",
    ),
    (definition(claims=[{"says": "x", "better": [["a", "samme"]]}]), "claim 1 has no column 'a'"),
    (definition(claims=[{"says": "x", "better": [["samme"]]}]), "which is no pair of columns"),
]


@pytest.mark.parametrize(("content", "expected"), WRONG)
def test_wrong_definition_is_refused_in_one_line(refused, define_table, content, expected):
    message = refused("table", define_table(**content))
    assert expected in message
    assert len(message.partition("mine.yaml")[2]) < 160


@pytest.mark.parametrize(
    "content",
    [
        b"title: caf\xe9",
        b"- a\n- b",
        b"just text",
        b"",
        b"title: [a",
        b"title: 2020-13-45",
        b"title: !!python/object/apply:os.system [ls]",
        b"[" * 5000,
        b"5: 6",
    ],
)
def test_file_without_a_table_is_refused(refused, tmp_path, content):
    path = tmp_path / "mine.yaml"
    path.write_bytes(content)
    assert "mine.yaml" in refused("table", str(path))


def test_single_text_is_read_as_a_list(done, define_table):
    remark = "All of it is small."
    name = define_table(
        rows=[{"iris": "data.openml=null"}],
        columns=["adaboost_mh"],
        overrides="protocol.n_splits=2",
        remarks=remark,
    )
    table = done("table", name, "algo.n_iterations=2", "parallel=serial")
    assert remark in table.out.splitlines()


def test_titles_are_shown_without_markup(done, define_table):
    odd = ["[/red] wine", "[bold]iris :dog:"]
    rows = [{"wine": {"title": odd[0]}}, {"iris": {"title": odd[1]}}]
    out = done("table", define_table(rows=rows, columns=["constant"]), *QUICK[1:]).out
    assert all(title in out for title in odd)


def test_wrong_arguments_are_refused(refused):
    assert "did you mean demo" in refused("table", "dem")
    assert "there is no file nowhere.yaml" in refused("table", "nowhere.yaml")
    assert "did you mean algo.n_iterations" in refused("table", "demo", "algo.n_iteratons=3")


def test_scores_table_shows_log_loss(call, done, folder, define_table):
    """A table of one quantity of the measure `scores`, with every two columns below it."""
    name = define_table(
        rows=["iris", "wine"],
        columns=["adaboost_mh", "samme"],
        overrides=["measure=scores", *QUICK[:-1]],
        quantity="log_loss",
        matrix=True,
        rope=0.05,
    )
    result = done("table", name, QUICK[-1])
    assert "Log-loss in nats: mean (standard deviation) over 3 splits" in result.out
    output = " ".join(result.out.split())
    assert "probabilities that A is better by more than 0.05 nats" in output
    with open(folder / "results" / "splits.csv", "w") as file:
        assert call("export", "--output", file.name).code == 0
    with open(folder / "results" / "splits.csv") as file:
        lines = [line for line in csv.DictReader(file) if line["algo"] == "samme"]
    assert {line["measure"] for line in lines} == {"scores"}
    iris_losses = [float(line["log_loss"]) for line in lines if line["data"] == "iris"]
    mean = sum(iris_losses) / 3
    assert re.search(rf"iris .* {mean:.3f} \(", result.out)
    assert all(0 < float(line["auc"]) <= 1 for line in lines)
    # A run shows all four quantities of the measure.
    result = call("run", "algo=samme", "data=iris", "measure=scores", *QUICK, "rerun=never")
    assert re.search(
        r"Log-loss .* Brier\s+score .* ROC\s+AUC .*Balanced\s+accuracy", result.out, re.S
    )


def test_table_of_several_quantities_fits_once(done, refused, folder, define_table):
    name = define_table(rows=["iris"], columns=["adaboost_mh", "samme"])
    error = refused("table", name, "quantity=test_error,aucc", *QUICK)
    assert "unknown quantity 'aucc'; did you mean auc" in error
    assert list(folder.glob("results/records/*/*.jsonl")) == []
    result = done("table", name, "quantity=test_error,auc", *QUICK)
    assert "quantity=test_error" in result.out
    assert "quantity=auc" in result.out
    for algo in ("adaboost_mh", "samme"):
        path = record_path(folder / "results", "iris", algo)
        assert len(read_records(path)[0]) == 3
    for quantity in ("test_error", "auc"):
        assert (folder / "results" / "tables" / f"mine-{CHANGED}-{quantity}.csv").is_file()


def test_foreign_table_runs_no_code(call, folder, define_table, monkeypatch):
    victim = folder.parent / "victim"
    victim.write_text("precious")
    monkeypatch.setenv("SECRET_TOKEN", "marker-of-a-secret")
    made = {"_target_": "subprocess.Popen", "args": ["touch", str(folder / "made")]}
    emptied = {"_target_": "io.FileIO", "file": str(victim), "mode": "w"}
    for overrides in (
        [f"+algo.estimator={_inline(made)}"],
        [f"+algo.estimator={_inline(emptied)}"],
        [f"+algo.grid.estimator=[{_inline(emptied)}]"],
        [f"measure={emptied['_target_']}"],
        ["+algo.n_estimators=${oc.env:SECRET_TOKEN}"],
        ["+algo.n_estimators=${oc.decode:'${oc.env:SECRET_TOKEN}'}"],
        *(["results=/tmp"], ["rerun=all"], ["parallel.scheduler=tcp://127.0.0.1:1"]),
        ["hydra.searchpath=[pkg://this]"],
    ):
        columns = [
            {"b": {"_target_": "sklearn.ensemble.BaggingClassifier", "overrides": overrides}}
        ]
        result = call("table", define_table(rows=["iris"], columns=columns), "rerun=never")
        assert (result.code, result.out) == (2, "")
        assert result.err.count("\n") == 1
        assert "marker-of-a-secret" not in result.err
    assert victim.read_text() == "precious"
    assert list(folder.iterdir()) == []


def _inline(config):
    return json.dumps(config).replace('"', "'").replace("'_target_'", "_target_")
