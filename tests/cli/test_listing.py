from pathlib import Path

import pytest

from boostbench.data.sources import lookup
from boostbench.util import configs


@pytest.mark.parametrize(
    ("what", "group"),
    [("algos", "algo"), ("data", "data"), ("tables", "table"), ("figures", "figure")],
)
def test_every_name_is_listed(call, what, group):
    lines = call("list", what).out.splitlines()
    starts = [line.split()[0] for line in lines if not line.startswith(" ")]
    assert starts == configs.list_options(group)
    assert max(map(len, lines)) <= 80


def test_data_are_listed_with_their_source(call, monkeypatch):
    monkeypatch.delenv("BOOSTBENCH_DATA")
    told = dict(line.split(maxsplit=1) for line in call("list", "data").out.splitlines())
    assert {name: text.rpartition("; ")[2] for name, text in told.items()} == {
        name: lookup.first_available_source(configs.read_option("data", name)) or "file"
        for name in configs.list_options("data")
    }
    assert told["wine"] == "178 samples, 13 features, 3 classes; scikit-learn"
    assert told["banana"] == "5300 samples, 2 features, 2 classes; OpenML 1460"


def test_all_files_that_are_needed_are_explained(call):
    page = (Path(__file__).parents[2] / "docs" / "data.md").read_text(encoding="utf-8")
    told = page.partition("## Where to get the files")[2].partition("\nOpenML")[0]
    lines = call("list", "data").out.splitlines()
    files = [line.split()[0] for line in lines if line.endswith("; file")]
    assert len(files) > 20
    assert [name for name in files if f"`{name}`" not in told] == []


def test_all_lists(call):
    headings = [line for line in call("list").out.splitlines() if line.endswith(":")]
    assert headings == ["algos:", "data:", "tables:", "figures:"]
