from pathlib import Path

import yaml

from boostbench.report.papers import papers

CITATION = Path(__file__).parents[1] / "CITATION.cff"


def test_citation_names_the_papers():
    told = yaml.safe_load(CITATION.read_text(encoding="utf-8"))["references"]
    for paper, cited in zip(papers().values(), told, strict=True):
        assert (cited["title"], str(cited["year"])) == (paper.work, paper.year)
        names = [f"{one['given-names']} {one['family-names']}" for one in cited["authors"]]
        assert ", ".join(names) == paper.authors
