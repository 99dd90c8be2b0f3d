import json
from pathlib import Path

import yaml

import boostbench
from boostbench.papers.metadata import papers

#: Types of references in CFF 1.2.0 that papers need. The format has no type for a chapter.
TYPES = {"article", "book", "conference-paper", "generic", "report", "thesis", "unpublished"}

ROOT = Path(__file__).parents[1]
CITATION = ROOT / "CITATION.cff"


def test_citation_names_the_papers():
    told = yaml.safe_load(CITATION.read_text(encoding="utf-8"))["references"]
    assert {one["type"] for one in told} <= TYPES
    for paper, cited in zip(papers().values(), told, strict=True):
        assert (cited["title"], str(cited["year"])) == (paper.work, paper.year)
        names = [f"{one['given-names']} {one['family-names']}" for one in cited["authors"]]
        assert ", ".join(names) == paper.authors


def test_metadata_files_agree_on_version_date_and_identifiers():
    citation = yaml.safe_load(CITATION.read_text(encoding="utf-8"))
    codemeta = json.loads((ROOT / "codemeta.json").read_text(encoding="utf-8"))
    zenodo = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
    assert citation["version"] == codemeta["version"] == zenodo["version"]
    assert boostbench.__version__.startswith(citation["version"])
    assert str(citation["date-released"]) == codemeta["dateModified"]
    assert citation["keywords"] == codemeta["keywords"] == zenodo["keywords"]
    identifiers = {paper["doi"] for paper in citation["references"] if "doi" in paper}
    assert identifiers == {
        paper["@id"].removeprefix("https://doi.org/") for paper in codemeta["referencePublication"]
    }
    assert identifiers == {paper["identifier"] for paper in zenodo["related_identifiers"]}
