import csv

import pytest


def test_new_paper_runs_and_is_judged(done, folder):
    out = done("new", "paper", "mine").out
    assert "boostbench --papers papers table mine1" in out
    papers = ["--papers", "papers"]
    table = done(*papers, "table", "mine1", "parallel=serial", "algo.n_iterations=5").out
    assert "mine, Table 1" in table
    [first, second] = csv.DictReader(
        (folder / "results" / "tables" / "mine1-n_iterations=5.csv").open()
    )
    assert (first["published_mean"], second["published_mean"]) == ("2.9", "4.5")
    done(*papers, "table", "mine1", "parallel=serial")
    checked = done(*papers, "check", "mine1").out
    assert "2 published numbers" in checked
    listed = done(*papers, "list", "tables").out
    assert "mine1" in listed
    assert "mcboost5" in listed
    assert "mine1" not in done("list", "tables").out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a-b"], "no name of a paper"),
        (["mcboost"], "mcboost is a paper of the project"),
        (["mine", "--papers", "there"], "exists already"),
    ],
)
def test_new_refuses_names_in_one_line(call, folder, words, message):
    (folder / "there" / "mine").mkdir(parents=True)
    result = call("new", "paper", *words)
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert message in result.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--papers"], "--papers needs a folder"),
        (["--papers=nowhere", "list"], "there is no folder"),
        (["--papers", ".", "list"], "has a paper.yaml"),
    ],
)
def test_papers_folder_is_checked(refused, words, message):
    assert message in refused(*words)


def test_damaged_paper_is_reported_in_one_line(call, done, folder):
    done("new", "paper", "mine")
    path = folder / "papers" / "mine" / "paper.yaml"
    path.write_text(path.read_text().replace("authors:", "author:"))
    result = call("--papers", "papers", "table", "mine1")
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert "does not describe a paper" in result.err
