import importlib.util
import re
import shutil

import pytest
import yaml

import boostbench

pytest.importorskip("matplotlib")

QUICK = ["algo.n_iterations=5", "protocol.n_splits=3", "parallel=serial"]
DEFINED = {
    "overrides": ["algo.n_iterations=5", "protocol.n_splits=3"],
    "rows": ["iris", "wine"],
    "columns": ["adaboost_mh"],
    "published": "randomboost-table5",
}


@pytest.fixture(scope="module")
def recorded_run(call_once):
    return call_once(["run", "algo=adaboost_mh", "data=wine", *QUICK])


@pytest.fixture
def recorded(recorded_run, folder, define_table):
    """Define a table with records for one of its two rows."""
    shutil.copytree(recorded_run / "results", folder / "results")
    return define_table(**DEFINED)


def test_report_of_a_table_prints_one_line(call, recorded, folder):
    result = call("report", recorded, recorded)
    assert (result.code, result.err) == (0, "")
    (line,) = result.out.splitlines()
    assert line.startswith("written: results/report.html (0.")
    assert line.endswith(" MB: 1 table, 0 figures)")
    html = (folder / "results" / "report.html").read_text(encoding="utf-8")
    assert html.startswith("<!doctype html>")
    assert "AdaBoost.MH on wine" in html
    assert "not run" in html
    # The readme counts all tables, so that a report on one table does not write it.
    assert not (folder / "results" / "README.md").exists()


def test_output_option_sets_the_path(call, recorded, folder):
    result = call("report", recorded, "--output", "pages/mine.html", "results=results")
    assert result.out.startswith("written: pages/mine.html (")
    assert (folder / "pages" / "mine.html").is_file()


def test_paths_expand_the_tilde(done, recorded, folder, home):
    (folder / "results").rename(home / "r")
    done("report", recorded, "results=~/r")
    done("report", recorded, "results=~/r", "--output=~/mine.html")
    assert (home / "r" / "report.html").is_file()
    assert (home / "mine.html").is_file()
    assert list(folder.iterdir()) == []


def test_damaged_record_is_named_and_left_out(done, recorded, folder):
    (path,) = folder.glob("results/records/wine/adaboost_mh.jsonl")
    path.write_text("{damaged\n" + path.read_text())
    result = done("report", recorded)
    assert f"{path.relative_to(folder)}:1: not a record: JSON is malformed" in result.err
    assert "AdaBoost.MH on wine" in (folder / "results" / "report.html").read_text()


def test_damaged_record_outside_the_tables_is_named(done, recorded, folder):
    (path,) = folder.glob("results/records/wine/adaboost_mh.jsonl")
    path.with_name("mine.jsonl").write_text("{damaged\n")
    assert "results/records/wine/mine.jsonl:1: not a record" in done("report").err


@pytest.mark.parametrize(
    "file", ["records/iris/.lock", "records/.claims", "records/iris/mcboost.jsonl", "tables/x.md"]
)
@pytest.mark.parametrize("content", ["", "damaged\n"])
def test_folder_without_readable_records_is_refused(call, folder, file, content):
    path = folder / "results" / file
    path.parent.mkdir(parents=True)
    path.write_text(content)
    result = call("report")
    assert (result.code, result.out) == (2, "")
    refusal = "boostbench: there is no readable record in results; 'boostbench run'"
    assert result.err.splitlines()[-1].startswith(refusal)
    is_bad_line = bool(content) and path.suffix == ".jsonl"
    assert result.err.count("\n") == 1 + is_bad_line
    assert not (folder / "results" / "report.html").exists()


def test_report_of_all_tables_writes_the_readme(done, recorded, folder, monkeypatch):
    # Two instead of all of conf/table, which takes half a minute to compose.
    monkeypatch.setattr(
        "boostbench.util.configs.list_options", list_only_tables(["randomboost6", "demo"])
    )
    # The folder counts as the project's own where half of the numbers are run.
    monkeypatch.setattr("boostbench.cli.report._has_few_published_results", lambda tables: False)
    result = done("report")
    assert "2 tables, 0 figures, 12 published numbers: 12 not run), results/README.md" in result.out
    assert "written: results/report.html (0.1 MB: 1 run beside them, 2 tables" in result.out
    text = (folder / "results" / "README.md").read_text()
    assert "| **RandomBoost**" in text
    assert "](figures/overview.svg)" in text
    assert (folder / "results" / "figures" / "overview.svg").is_file()
    page = (folder / "results" / "report.html").read_text()
    assert "Other tables" in page
    # Runs outside the tables stand behind the tables.
    assert page.index("Runs that no table shows</h2>") > page.index("Other tables</h2>")


def test_user_folder_shows_tables_before_runs(call, folder, monkeypatch):
    monkeypatch.setattr(
        "boostbench.util.configs.list_options", list_only_tables(["randomboost5", "randomboost6"])
    )
    (folder / "mine.yaml").write_text(yaml.safe_dump({"title": "Mine", **DEFINED}))
    assert call("table", "mine.yaml", "parallel=serial").code == 0
    forest = "algo._target_=sklearn.ensemble.RandomForestClassifier"
    assert call("run", forest, "+algo.n_estimators=5", "data=wine", *QUICK[1:]).code == 0
    result = call("report")
    assert (result.code, result.err) == (0, "")
    assert "3 runs, 1 table, 0 figures" in result.out
    page = (folder / "results" / "report.html").read_text()
    text = " ".join(re.sub(r"<[^>]+>", " ", page[page.index("<main") :]).split())
    # The user has no records of the papers' tables, so that the page omits them.
    assert "How much is reproduced" not in text
    assert "not run" not in text
    assert "sklearn.ensemble.RandomForestClassifier, n_estimators=5" in text
    # The page counts all runs, also the ones outside the tables.
    assert f"{len(boostbench.results(folder / 'results'))} finished splits" in text
    runs = text.index("settings finished")  # the heads of the list
    assert text.index("Filter") < text.index("Tables of your own") < text.index("Mine") < runs
    assert '<details class="settings">' in page
    assert not (folder / "results" / "README.md").exists()


def test_files_without_a_table_are_left_out(call, folder, monkeypatch):
    monkeypatch.setattr("boostbench.util.configs.list_options", list_only_tables(["randomboost6"]))
    monkeypatch.setattr("boostbench.cli.report._has_few_published_results", lambda tables: False)
    tables = folder / "results" / "tables"
    tables.mkdir(parents=True)
    contents = {"notes": "a: 1", "mine": yaml.safe_dump({"title": "Mine", **DEFINED})}
    for (name, text), ending in zip(contents.items(), (".yaml", ".yml"), strict=True):
        (tables / f"{name}.md").touch()
        (folder / f"{name}{ending}").write_text(text)
    result = call("report")
    warning = "boostbench: notes.yaml is not a table: it needs title, rows and columns; left out\n"
    assert (result.code, result.err) == (0, warning)
    assert "2 tables, 0 figures" in result.out


def test_readme_is_kept_without_matplotlib(done, recorded, folder, monkeypatch):
    monkeypatch.setattr("boostbench.util.configs.list_options", list_only_tables(["demo"]))
    monkeypatch.setattr("boostbench.cli.report._has_few_published_results", lambda tables: False)
    find_spec = importlib.util.find_spec
    missing = {"matplotlib"}
    monkeypatch.setattr(
        "importlib.util.find_spec",
        lambda name, *args: None if name in missing else find_spec(name, *args),
    )
    assert "results/README.md is left as it is" in done("report").err
    assert not (folder / "results" / "README.md").exists()
    assert (folder / "results" / "report.html").is_file()


def list_only_tables(tables):
    from boostbench.util import configs

    list_options = configs.list_options
    return lambda group, *args: tables if group == "table" else list_options(group, *args)


def test_wrong_arguments_are_refused(refused, folder):
    assert "unknown table 'randomboots5'" in refused("report", "randomboots5", "results=.")
    assert "there are no results in nowhere" in refused("report", "results=nowhere")
    assert "report goes by what is on record" in refused("report", "seed=1")


def test_unwritable_output_is_named(call, folder):
    (folder / "file").touch()
    result = call("report", "demo", "--output", "file/x.html", "results=.")
    assert (result.code, result.out) == (2, "")
    assert "cannot write file/x.html" in result.err
