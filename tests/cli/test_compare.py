import json
import re
import shutil
import sys

import pytest
import yaml

from boostbench.cli.compare import select_tables
from boostbench.util.errors import UserError

#: Fits that are done in no time, in this process.
SMALL = ["algo.n_iterations=3", "protocol.n_splits=3", "protocol.checkpoints=[2,3]"]
ALGOS = ["adaboost_mh", "adaboost_ecc", "samme"]
ROWS = [{"iris": "data.openml=null"}, {"wine": "data.openml=null"}]  # scikit-learn has them
TABLE = {"title": "Mine", "rows": ROWS, "columns": ALGOS, "overrides": SMALL}


@pytest.fixture(scope="module")
def results(tmp_path_factory, call_once):
    """Run a table of three algorithms on two data sets, once; return its folder of results."""
    path = tmp_path_factory.mktemp("table") / "mine.yaml"
    path.write_text(yaml.safe_dump(TABLE))
    return call_once(["table", str(path), "parallel=serial"]) / "results"


@pytest.fixture
def recorded(results, folder, define_table):
    """Copy the results into the working folder; return the path of the table's definition."""
    shutil.copytree(results, folder / "results")
    return define_table(**TABLE)


def unwrapped_output(result):
    return " ".join(result.out.split())


def test_compare_shows_the_numbers_of_a_table(call, folder, recorded):
    before = sorted(folder.rglob("*"))
    result = call("compare", "samme", "adaboost_mh", "--tables", recorded)
    assert (result.code, result.err) == (0, "")
    assert sorted(folder.rglob("*")) == before
    assert result.out.startswith("SAMME against AdaBoost.MH\n")
    assert max(map(len, result.out.splitlines())) <= 80
    # The comparison shows the numbers of the table.
    table = (folder / "results" / "tables" / "mine.md").read_text()
    mine = [cell.strip(" *") for cell in re.search(r"\| wine +\|.*", table)[0].split("|")]
    shown = re.search(r"^wine  .*", result.out, re.MULTILINE)[0]
    assert mine[4] in shown
    assert mine[2] in shown
    assert "of SAMME against AdaBoost.MH over 2 data sets" in unwrapped_output(result)
    assert "Effect size: rank-biserial correlation" in unwrapped_output(result)
    assert "Numbers of table mine." in unwrapped_output(result)


def test_figure_of_three_algorithms_is_written(call, folder, recorded):
    pytest.importorskip("matplotlib")
    result = call("compare", *ALGOS, "--tables", recorded, "--figure")
    assert (result.code, result.err) == (0, "")
    assert "Friedman test of 3 algorithms over 2 data sets" in unwrapped_output(result)
    written = sorted((folder / "results" / "figures").iterdir())
    assert {path.suffix for path in written} == {".png", ".svg", ".pdf"}
    assert sum(path.stem.endswith("-matrix") for path in written) == 3
    assert all(path.name.startswith("compare-adaboost_mh-adaboost_ecc-samme-") for path in written)
    pictures = [path.relative_to(folder) for path in written if path.suffix == ".png"]
    assert all(f"{path}, .svg, .pdf" in result.out.splitlines()[-1] for path in pictures)


def test_figure_path_expands_the_tilde(done, recorded, home):
    pytest.importorskip("matplotlib")
    done("compare", *ALGOS, "--tables", recorded, "--figure=~/mine.png")
    assert len(list(home.glob("mine*.png"))) == 2


def test_figure_name_is_short_enough_for_file_systems(done, folder, recorded):
    pytest.importorskip("matplotlib")
    done("compare", *ALGOS, "--tables", recorded, "--data", ",".join(["iris"] * 60), "--figure")
    written = list((folder / "results" / "figures").iterdir())
    assert len(written) == 6
    assert all(path.name.startswith("compare-adaboost_mh-") for path in written)


def test_json_of_one_data_set_compares_splits(done, folder, recorded):
    # The names of written files go to stderr, and one data set is compared over its splits.
    arguments = ["--tables", recorded, "--data", "iris", "--json", "--figure", "mine.png"]
    result = done("compare", *ALGOS, *arguments)
    content = json.loads(result.out)
    assert [line["data"] for line in content["data"]] == ["iris"]
    assert (content["n"], content["unit"]) == (3, "paired splits")
    assert "written: mine.png, .svg, .pdf; mine-matrix.png, .svg, .pdf" in result.err
    assert {path.suffix for path in folder.glob("mine.*")} == {".png", ".svg", ".pdf"}
    # Splits of one data set share samples, which the last of the p-values takes into account.
    assert (content["rope"], len(content["pairs"])) == (1, 3)
    assert all(pair["p_resampled"] is not None for pair in content["pairs"])


def test_rope_option_sets_the_region_of_equivalence(call, folder, recorded):
    result = call("compare", "samme", "adaboost_mh", "--tables", recorded, "--rope", "2.5")
    assert "better by more than 2.5 percentage points with probability" in unwrapped_output(result)
    result = call("compare", "samme", "adaboost_mh", "--tables", recorded, "--rope", "0")
    assert result.code == 2
    assert "--rope is 0" in result.err


def test_missing_records_are_reported_without_a_figure(call, folder, define_table):
    (folder / "results").mkdir()
    result = call("compare", *ALGOS, "--tables", define_table(**TABLE), "--figure")
    assert re.search(r"iris +not run +not run +not run", result.out)
    assert "No data set with a number of each algorithm: too few for a test." in unwrapped_output(
        result
    )
    assert "2 data sets are left out, where a number is missing: iris, wine." in unwrapped_output(
        result
    )
    assert result.code == 2
    assert "nothing to draw" in result.err
    assert list(folder.rglob("*")) == [folder / "results"]


def test_command_for_missing_numbers_is_shown(call, define_table):
    name = define_table(**TABLE)
    for algo in ("samme", "adaboost_mh"):
        run = [f"algo={algo}", "data=iris", "data.openml=null", "parallel=serial"]
        assert call("run", *run, *SMALL[1:], "algo.n_iterations=4").code == 0
    output = unwrapped_output(call("compare", "samme", "adaboost_mh", "--tables", name))
    # A long path is broken at the width of the terminal.
    unbroken = output.replace(" ", "")
    assert f"Missingnumbersarerunby'boostbenchtable{name}'." in unbroken
    assert "iris also has records of other settings, such as profile=quick" in output
    assert call("table", name, "parallel=serial").code == 0
    output = unwrapped_output(call("compare", "samme", "adaboost_mh", "--tables", name))
    assert "is run by" not in output


def test_runs_are_compared_without_a_table(call, folder):
    """A sweep ran on data and settings that no table has."""
    sweep = ["data=wine,iris", "algo.n_iterations=4", *SMALL[1:], "parallel=serial"]
    assert call("run", "-m", "algo=samme,adaboost_mh", *sweep).code == 0
    for options in ((), ("--data", "wine,iris")):
        result = call("compare", "samme", "adaboost_mh", *options)
        assert (result.code, result.err) == (0, "")
        output = unwrapped_output(result)
        assert "over 2 data sets" in output
        assert re.search(r"^iris +\d", result.out, re.M)
        assert "What was run, not what a table asks for" in output
        assert "is run by" not in output
    content = json.loads(call("compare", "samme", "adaboost_mh", "--json").out)
    assert [line["table"] for line in content["data"]] == [None, None]


def test_runs_are_compared_on_shared_splits(call, folder):
    run = ["run", "data=iris", "protocol.tune=none", "parallel=serial"]
    for algo, n_splits, n_iterations in (("samme", 4, 3), ("adaboost_mh", 2, 5)):
        settings = [f"protocol.n_splits={n_splits}", f"algo.n_iterations={n_iterations}"]
        assert call(*run, f"algo={algo}", *settings).code == 0
    output = unwrapped_output(call("compare", "samme", "adaboost_mh", "--data", "iris"))
    assert "over 2 splits" in output
    assert "Not by the defaults: SAMME on iris: n_iterations=3" in output
    assert "AdaBoost.MH on iris: n_iterations=5" in output


def test_runs_of_a_class_are_compared_unless_ambiguous(call, folder):
    few = ["data=wine", "protocol.n_splits=3", "protocol.samples_per_class=9", "parallel=serial"]
    tree = ["algo._target_=sklearn.tree.DecisionTreeClassifier", "+algo.max_depth=2"]
    assert call("run", *tree, *few).code == 0
    assert call("run", "algo=mcboost", "algo.n_iterations=3", *few).code == 0
    output = unwrapped_output(call("compare", "DecisionTreeClassifier", "mcboost"))
    assert "over 3 paired splits" in output
    # A second setting of the algorithm makes its name ambiguous.
    assert call("run", "algo=mcboost", "algo.n_iterations=5", *few).code == 0
    result = call("compare", "DecisionTreeClassifier", "mcboost")
    assert result.code == 2
    assert "DecisionTreeClassifier" in result.err
    # A name stands for the default settings if they are on record.
    assert call("run", "algo=mcboost", *few, "protocol.tune=none").code == 0
    assert "over 3 paired splits" in unwrapped_output(
        call("compare", "DecisionTreeClassifier", "mcboost")
    )
    # Runs that differ only in the recorded checkpoints have one setting.
    stages = ["protocol.tune=none", "protocol.checkpoints=[1,2]"]
    assert call("run", "algo=mcboost", *few, *stages).code == 0
    assert "over 3 paired splits" in unwrapped_output(
        call("compare", "DecisionTreeClassifier", "mcboost")
    )


def test_damaged_records_of_another_folder_are_named(done, folder, recorded):
    (folder / "results").rename(folder / "elsewhere")
    (path,) = (folder / "elsewhere" / "records" / "iris").glob("samme*.jsonl")
    path.write_text("nonsense\n" + path.read_text())
    result = done("compare", "samme", "adaboost_mh", "--tables", recorded, "results=elsewhere")
    assert f"{path.relative_to(folder)}:1" in result.err
    assert "over 2 data sets" in unwrapped_output(result)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["samme", "adaboost_mh", "results=typo"], "there are no results in typo; "),
        (["samme"], "needs two algorithms or more"),
        (["samme", "samme"], "each once"),
        (["samme", "adaboost_mhh"], "did you mean adaboost_mh"),
        (["samme", "adaboost_mh", "seed=1"], "compare goes by what is on record"),
        (["samme", "adaboost_mh", "--figure"], "needs three algorithms or more"),
        (["samme", "adaboost_mh", "--figure", "adaboost_ecc"], "needs three algorithms or more"),
        (["samme", "adaboost_mh", "gradboost", "--figure", "a.jpg"], "a .png, .svg or .pdf file"),
        (["samme", "adaboost_mh", "gradboost", "--figure", "."], "a .png, .svg or .pdf file"),
        (
            ["samme", "adaboost_mh", "--tables", "mcboost5", "--data", "vehicla"],
            "did you mean vehicle",
        ),
    ],
)
def test_wrong_arguments_are_refused(refused, folder, arguments, expected):
    assert expected in refused("compare", f"results={folder.parent}", *arguments)


def test_figure_requires_matplotlib(refused, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    unwrapped_output = ["samme", "adaboost_mh", "gradboost", f"results={folder.parent}"]
    refusal = refused("compare", *unwrapped_output, "--figure")
    assert "pip install matplotlib" in refusal


def test_largest_table_comes_first():
    assert select_tables(["rboost_proj", "rboost_rank"]) == [
        "randomboost4",
        "randomboost5",
        "randomboost6",
        "randomboost5_proj",
        "randomboost5_leak",
    ]
    assert select_tables(["rboost_proj@50", "adaboost"]) == ["randomboost4"]


def test_tables_of_one_data_set_must_be_named():
    # mcboost3 has eight rows of letter.
    full_tables = ["mcboost5", "mcboost_from_zero", "mcboost4", "mcboost6"]
    assert select_tables(["exponential", "multiboost"]) == full_tables
    assert select_tables(["exponential", "multiboost"], ["mcboost3"]) == ["mcboost3"]


def test_named_tables_keep_their_order():
    tables = ["randomboost6", "randomboost4"]
    assert select_tables(["rboost_proj", "rboost_rank"], tables) == tables


def test_path_of_a_table_is_accepted(define_table):
    name = define_table(rows=["iris"], columns=["samme", {"mine": {"algo": "adaboost_mh"}}])
    assert select_tables(["mine", "samme"], [name], ["iris"]) == [name]


@pytest.mark.parametrize(
    ("names", "tables", "data", "expected"),
    [
        (["rboost_prj", "samme"], [], [], "did you mean rboost_proj, rboost_rank"),
        (["rboost_proj@5", "samme"], [], [], "did you mean rboost_proj@50, "),
        (["mcboost", "samme"], [], [], "'mcboost' is ambiguous: columns of"),
        (["adaboost", "samme"], [], [], "samme is in mcboost5"),
        (["samme", "logistic"], ["randomboost5"], [], "unknown algorithm 'samme'"),
        (
            ["samme", "adaboost_mh"],
            ["mcboost5", "demo"],
            [],
            "table demo has no samme and adaboost_mh; it has",
        ),
        (["samme", "adaboost_mh"], ["mcbost5"], [], "unknown table 'mcbost5'; did you mean"),
        (["samme", "adaboost_mh"], [], ["wine", "vowle"], "'vowle'; did you mean vowel"),
    ],
)
def test_unknown_columns_and_rows_are_refused(names, tables, data, expected):
    with pytest.raises(UserError) as error:
        select_tables(names, tables, data)
    assert expected in str(error.value)
