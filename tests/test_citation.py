from pathlib import Path

import yaml

from boostbench.report.papers import papers

#: Of a reference, those of the types of CFF 1.2.0 that a paper may need. It has none for a chapter.
TYPES = {"article", "book", "conference-paper", "generic", "report", "thesis", "unpublished"}

CITATION = Path(__file__).parents[1] / "CITATION.cff"


def test_citation_names_the_papers():
    told = yaml.safe_load(CITATION.read_text(encoding="utf-8"))["references"]
    assert {one["type"] for one in told} <= TYPES
    for paper, cited in zip(papers().values(), told, strict=True):
        assert (cited["title"], str(cited["year"])) == (paper.work, paper.year)
        names = [f"{one['given-names']} {one['family-names']}" for one in cited["authors"]]
        assert ", ".join(names) == paper.authors
