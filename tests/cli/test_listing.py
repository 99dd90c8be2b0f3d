from pathlib import Path

import pytest

from boostbench.data import sources
from boostbench.util import configs


@pytest.mark.parametrize(
    ("kind", "group"),
    [("algos", "algo"), ("data", "data"), ("tables", "table"), ("figures", "figure")],
)
def test_every_name_is_listed(call, kind, group):
    lines = call("list", kind).out.splitlines()
    starts = [line.split()[0] for line in lines if not line.startswith(" ")]
    assert starts == configs.list_options(group)
    assert max(map(len, lines)) <= 80


def test_data_are_listed_with_their_source(call, monkeypatch):
    monkeypatch.delenv("BOOSTBENCH_DATA")
    descriptions = dict(line.split(maxsplit=1) for line in call("list", "data").out.splitlines())
    assert {name: text.rpartition("; ")[2] for name, text in descriptions.items()} == {
        name: sources.first_available_source(configs.read_option("data", name)) or "file"
        for name in configs.list_options("data")
    }
    assert descriptions["wine"] == "178 samples, 13 features, 3 classes; scikit-learn"
    assert descriptions["banana"] == "5300 samples, 2 features, 2 classes; OpenML 1460"


def test_every_required_file_is_explained(call):
    page = (Path(__file__).parents[2] / "docs" / "data.md").read_text(encoding="utf-8")
    explanation = page.partition("## Where to get the files")[2].partition("\nOpenML")[0]
    lines = call("list", "data").out.splitlines()
    files = [line.split()[0] for line in lines if line.endswith("; file")]
    assert len(files) > 20
    assert [name for name in files if f"`{name}`" not in explanation] == []


def test_list_shows_all_kinds(call):
    headings = [line for line in call("list").out.splitlines() if line.endswith(":")]
    assert headings == ["algos:", "data:", "tables:", "figures:"]
