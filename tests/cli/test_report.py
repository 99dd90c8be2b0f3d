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
def once(call_once):
    return call_once(["run", "algo=adaboost_mh", "data=wine", *QUICK])


@pytest.fixture
def recorded(once, folder, define_table):
    """A table of which one of two rows is on record."""
    shutil.copytree(once / "results", folder / "results")
    return define_table(**DEFINED)


def test_a_page_of_one_table_in_one_line(call, recorded, folder):
    result = call("report", recorded, recorded)
    assert (result.code, result.err) == (0, "")
    (line,) = result.out.splitlines()
    assert line.startswith("written: results/report.html (0.")
    assert line.endswith(" MB: 1 table, 0 figures)")
    html = (folder / "results" / "report.html").read_text(encoding="utf-8")
    assert html.startswith("<!doctype html>")
    assert "AdaBoost.MH on wine" in html
    assert "not run" in html
    # What is counted is counted of all tables.
    assert not (folder / "results" / "README.md").exists()


def test_output_names_the_file(call, recorded, folder):
    result = call("report", recorded, "--output", "pages/mine.html", "results=results")
    assert result.out.startswith("written: pages/mine.html (")
    assert (folder / "pages" / "mine.html").is_file()


def test_folders_in_the_home_folder(done, recorded, folder, home):
    (folder / "results").rename(home / "r")
    done("report", recorded, "results=~/r")
    done("report", recorded, "results=~/r", "--output=~/mine.html")
    assert (home / "r" / "report.html").is_file()
    assert (home / "mine.html").is_file()
    assert list(folder.iterdir()) == []


def test_a_damaged_record_is_named_and_left_out(done, recorded, folder):
    (path,) = folder.glob("results/records/wine/adaboost_mh.jsonl")
    path.write_text("{damaged\n" + path.read_text())
    result = done("report", recorded)
    assert f"{path.relative_to(folder)}:1: not a record: JSON is malformed" in result.err
    assert "AdaBoost.MH on wine" in (folder / "results" / "report.html").read_text()


def test_a_damaged_record_of_no_table_is_named(done, recorded, folder):
    (path,) = folder.glob("results/records/wine/adaboost_mh.jsonl")
    path.with_name("mine.jsonl").write_text("{damaged\n")
    assert "results/records/wine/mine.jsonl:1: not a record" in done("report").err


@pytest.mark.parametrize(
    "file", ["records/iris/.lock", "records/.claims", "records/iris/mcboost.jsonl", "tables/x.md"]
)
@pytest.mark.parametrize("content", ["", "damaged\n"])
def test_a_folder_without_a_readable_record_is_refused(call, folder, file, content):
    path = folder / "results" / file
    path.parent.mkdir(parents=True)
    path.write_text(content)
    result = call("report")
    assert (result.code, result.out) == (2, "")
    told = "boostbench: there is no readable record in results; 'boostbench run'"
    assert result.err.splitlines()[-1].startswith(told)
    is_bad_line = bool(content) and path.suffix == ".jsonl"
    assert result.err.count("\n") == 1 + is_bad_line
    assert not (folder / "results" / "report.html").exists()


def test_all_tables_make_the_readme_too(done, recorded, folder, monkeypatch):
    # Two instead of all of conf/table, which takes half a minute to compose.
    monkeypatch.setattr("boostbench.util.configs.list_options", names_of(["randomboost6", "demo"]))
    # The folder counts as the project's own where half of the numbers are run.
    monkeypatch.setattr("boostbench.cli.report._is_user_folder", lambda tables: False)
    result = done("report")
    assert "2 tables, 0 figures, 12 published numbers: 12 not run), results/README.md" in result.out
    assert "written: results/report.html (0.1 MB: 1 run beside them, 2 tables" in result.out
    text = (folder / "results" / "README.md").read_text()
    assert "| **RandomBoost**" in text
    assert "](figures/overview.svg)" in text
    assert (folder / "results" / "figures" / "overview.svg").is_file()
    page = (folder / "results" / "report.html").read_text()
    assert "Other tables" in page
    # What no table shows stands behind the tables, folded away.
    assert page.index("Runs that no table shows</h2>") > page.index("Other tables</h2>")


def test_own_folder_opens_with_its_tables_then_its_runs(call, folder, monkeypatch):
    monkeypatch.setattr(
        "boostbench.util.configs.list_options", names_of(["randomboost5", "randomboost6"])
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
    # The papers' tables hold nothing of hers, and are not there.
    assert "How much is reproduced" not in text
    assert "not run" not in text
    assert "sklearn.ensemble.RandomForestClassifier, n_estimators=5" in text
    # All that was run is behind the page, not what tables show alone.
    assert f"{len(boostbench.results(folder / 'results'))} finished splits" in text
    runs = text.index("settings finished")  # the heads of the list
    assert text.index("Filter") < text.index("Tables of your own") < text.index("Mine") < runs
    assert '<details class="settings">' in page
    assert not (folder / "results" / "README.md").exists()


def test_files_that_are_no_tables_are_left_out(call, folder, monkeypatch):
    monkeypatch.setattr("boostbench.util.configs.list_options", names_of(["randomboost6"]))
    monkeypatch.setattr("boostbench.cli.report._is_user_folder", lambda tables: False)
    tables = folder / "results" / "tables"
    tables.mkdir(parents=True)
    own = {"notes": "a: 1", "mine": yaml.safe_dump({"title": "Mine", **DEFINED})}
    for (name, text), ending in zip(own.items(), (".yaml", ".yml"), strict=True):
        (tables / f"{name}.md").touch()
        (folder / f"{name}{ending}").write_text(text)
    result = call("report")
    told = "boostbench: notes.yaml is not a table: it needs title, rows and columns; left out\n"
    assert (result.code, result.err) == (0, told)
    assert "2 tables, 0 figures" in result.out


def test_without_matplotlib_the_readme_is_left_as_it_is(done, recorded, folder, monkeypatch):
    monkeypatch.setattr("boostbench.util.configs.list_options", names_of(["demo"]))
    monkeypatch.setattr("boostbench.cli.report._is_user_folder", lambda tables: False)
    found = importlib.util.find_spec
    missing = {"matplotlib"}
    monkeypatch.setattr(
        "importlib.util.find_spec",
        lambda name, *more: None if name in missing else found(name, *more),
    )
    assert "results/README.md is left as it is" in done("report").err
    assert not (folder / "results" / "README.md").exists()
    assert (folder / "results" / "report.html").is_file()


def names_of(tables):
    from boostbench.util import configs

    names = configs.list_options
    return lambda group, *more: tables if group == "table" else names(group, *more)


def test_mistakes(refused, folder):
    assert "unknown table 'randomboots5'" in refused("report", "randomboots5", "results=.")
    assert "there are no results in nowhere" in refused("report", "results=nowhere")
    assert "report goes by what is on record" in refused("report", "seed=1")


def test_a_file_that_cannot_be_written_is_named(call, folder):
    (folder / "file").touch()
    result = call("report", "demo", "--output", "file/x.html", "results=.")
    assert (result.code, result.out) == (2, "")
    assert "cannot write file/x.html" in result.err
