"""Test docs/own-data.md: write its files, and run its commands in order."""

import contextlib
import csv
import io
import json
import re
import runpy
import shlex
import sys
from pathlib import Path

import pytest

from boostbench.cli import main

pytest.importorskip("matplotlib")

PAGE = (Path(__file__).parents[1] / "docs" / "own-data.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
FILES = {re.match(r"# (\S+)\n", text)[1]: text for kind, text in BLOCKS if kind != "sh"}
COMMANDS = [line for kind, text in BLOCKS if kind == "sh" for line in text.splitlines()]


@pytest.fixture(scope="module")
def page_output(tmp_path_factory):
    """Run the commands of the page; return the output of each command, and the folder."""
    here = tmp_path_factory.mktemp("page")
    # Remove the module, since other tests import modules of the same name.
    sys.modules.pop("mymodel", None)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        patch.syspath_prepend(here)
        patch.setenv("COLUMNS", "80")
        patch.setenv("BOOSTBENCH_CACHE", str(here / "cache"))
        patch.delenv("BOOSTBENCH_DATA", raising=False)
        for name, text in FILES.items():
            (here / name).write_text(text)
        output = {}
        for command in COMMANDS:
            program, *argv = shlex.split(command)
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                if program == "python":
                    runpy.run_path(str(here / argv[0]))
                    code = 0
                else:
                    serial = ["parallel=serial"] if argv[0] in ("run", "table") else []
                    code = main([*argv, *serial])
            assert code == 0, (command, err.getvalue())
            output[command] = " ".join(out.getvalue().split())
        yield output, here
    sys.modules.pop("mymodel", None)


def find(printed, *words):
    [text] = [text for command, text in printed[0].items() if all(one in command for one in words)]
    return text


def test_every_command_of_the_page_is_tested():
    assert FILES.keys() == {
        *(
            "make_files.py",
            "mymodel.py",
            "mine.yaml",
            "curves.yaml",
            "scores.yaml",
            "messy.py",
            "paper.csv",
        )
    }
    assert len(COMMANDS) == 15


def test_files_are_read_as_described(page_output):
    assert "features 16 (dense)" in find(page_output, "data wines.csv")  # 13, and three barrels
    assert "filled by median of the training part" in find(page_output, "data flowers.csv")


def test_runs_print_the_data_and_settings(page_output):
    assert "wines: 178 samples, 16 features, 3 classes" in find(
        page_output, "run algo._target_", "grid"
    )
    assert "3 settings" in find(page_output, "run -m")


def test_missing_values_reach_algorithms_that_accept_them(page_output):
    def missing_settings(algo):
        file = page_output[1] / "results" / "records" / "flowers" / f"{algo}.jsonl"
        lines = map(json.loads, file.read_text().splitlines())
        return {
            line["config"]["data"]["missing"]
            for line in lines
            if "schema" not in line and "config" in line
        }

    assert "150 samples, 4 features" in find(page_output, "run algo=bagged_mcboost")
    assert missing_settings("bagged_mcboost") == {"keep"}
    assert missing_settings("Centroids") == {"median"}


def test_table_is_printed(page_output):
    shown = find(page_output, "table mine.yaml")
    assert "over 4 data sets" in shown
    assert "by more than 1 percentage point" in shown
    text = (page_output[1] / "results" / "tables" / "mine.tex").read_text()
    assert text.count(r"\begin{tabular}") == 1
    notes = (page_output[1] / "results" / "tables" / "mine-notes.tex").read_text()
    assert "Wilcoxon signed-rank test" in notes
    assert "P(A, equal," in notes
    for title in ("flowers", "wines", "cells", "digits"):
        assert re.search(rf"^{title} & .* & .* & .* \\\\$", text, re.MULTILINE)


def test_diagram_and_curves_are_drawn(page_output):
    here = page_output[1]
    assert "Friedman test of 3 algorithms over 4 data sets" in find(page_output, "compare")
    names = {path.name for path in here.glob("diagram*")}
    assert names == {
        f"diagram{middle}.{end}" for middle in ("", "-matrix") for end in ("png", "svg", "pdf")
    }
    assert "No curve, as it has no boosting rounds: centroids." in find(
        page_output, "boostbench figure"
    )


def test_probabilities_are_printed(page_output):
    assert "Log-loss in nats" in find(page_output, "table scores.yaml")


def test_published_numbers_are_compared(page_output):
    assert re.search(r"2 published numbers: .*", find(page_output, "check"))


def test_messy_table_is_learned_in_python(page_output):
    constant, logistic, bag = map(float, re.findall(r"\b0\.\d{3}\b", find(page_output, "messy.py")))
    assert bag < logistic < constant == 0.693


def test_files_of_the_page_are_kept(page_output):
    here = page_output[1]
    assert "0 figures" not in find(page_output, "report")
    page = (here / "results" / "report.html").read_text()
    assert page.index("Centroids beside boosting") < page.index("<h2>Runs</h2>")
    with open(here / "results" / "splits.csv") as file:
        rows = list(csv.DictReader(file))
        algorithms = {"Centroids", "adaboost_mh", "bagged_mcboost", "samme"}
        assert {row["algo"] for row in rows} == algorithms | {"constant", "logistic_regression"}
