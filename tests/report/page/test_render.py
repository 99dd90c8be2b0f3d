import re
from collections import Counter
from html.parser import HTMLParser

import pytest
from fitting.examples import RECORD, flat, modify_record, recorded

from boostbench.analysis.cells import Cell
from boostbench.analysis.frame import ResultFrame
from boostbench.analysis.verdicts import VERDICTS, count_tables
from boostbench.report import wording
from boostbench.report.page.details import PageRecords
from boostbench.report.page.render import Figure, render_page
from boostbench.report.wording import PARTIAL, STALE, format_number
from tests.analysis.groups import find_group
from tests.report.page.conftest import ODD, complete

_VOID = {"meta", "link", "img", "input", "br", "hr"}


class Page(HTMLParser):
    """Elements in their order, as (name, attributes, text); complains where they do not nest."""

    def __init__(self, html):
        super().__init__()
        self.elements, self._open = [], []
        self.feed(html)
        self.close()
        assert not self._open

    def handle_starttag(self, tag, attributes):
        element = [tag, dict(attributes), ""]
        self.elements.append(element)
        if tag not in _VOID:
            self._open.append(element)

    def handle_endtag(self, tag):
        assert self._open.pop()[0] == tag

    def handle_data(self, data):
        for element in self._open:
            element[2] += data

    def find_all(self, tag=None, **attributes):
        """Find elements; an attribute ``class_`` need only be among the classes."""
        name = attributes.pop("class_", None)
        return [
            (element_attributes, text)
            for kind, element_attributes, text in self.elements
            if tag in (None, kind)
            and (name is None or name in (element_attributes.get("class") or "").split())
            and attributes.items() <= element_attributes.items()
        ]

    def text(self, tag=None, **attributes):
        return [" ".join(text.split()) for _, text in self.find_all(tag, **attributes)]


@pytest.fixture
def html(tables):
    return render_page(
        tables, [Figure("f", "A figure", [("It shows x", "data:image/png;base64,AA")], "")]
    )


@pytest.fixture
def page(html):
    return Page(html)


def test_page_fetches_no_files(page):
    for tag, attributes, text in page.elements:
        for name in ("src", "href", "srcset", "poster", "data", "action", "background"):
            value = attributes.get(name)
            assert value is None or value.startswith(("#", "data:")), (tag, name, value)
        if tag in ("style", "script"):
            assert not re.search(r"@import|url\(|https?:|fetch\(|XMLHttp|import\s*\(", text)
    (policy,) = page.find_all("meta", **{"http-equiv": "Content-Security-Policy"})
    assert policy[0]["content"].startswith("default-src 'none'; img-src data:;")


def test_ids_are_unique_and_every_reference_finds_its_element(page):
    ids = [attributes["id"] for _, attributes, _ in page.elements if "id" in attributes]
    assert [identity for identity, count in Counter(ids).items() if count > 1] == []
    assert not [identity for identity in ids if re.search(r"\s", identity) or not identity]
    for _, attributes, _ in page.elements:
        for name in ("for", "popovertarget", "aria-labelledby", "aria-describedby"):
            for target in (attributes.get(name) or "").split():
                assert target in ids
        if (attributes.get("href") or "").startswith("#"):
            assert attributes["href"][1:] in ids


def test_page_shows_every_number_and_verdict(page, tables):
    cells = [cell for table in tables for cell in table.cells.values()]
    shown = [attributes for attributes in page.find_all("td") if "data-verdict" in attributes[0]]
    assert Counter(attributes["data-verdict"] for attributes, _ in shown) == Counter(
        c.verdict for c in cells
    )
    texts = Counter(page.text("span", class_="ours"))
    for cell in cells:
        marks = STALE * bool(cell.stale) + PARTIAL * cell.is_partial
        text = f"{format_number(cell)}{marks} {VERDICTS[cell.verdict].sign}".strip()
        assert texts[text] > 0, text


def test_tables_are_grouped_by_paper(page):
    assert page.text("h2")[1:4] == ["RandomBoost", "MCBoost", "Other tables"]
    assert [text for text in page.text("h3") if text.startswith("Table")] == [
        "Table I: verdicts",
        "Table II: times",
        "Table III: nothing",
        "Table I: rounds",
    ]


def test_names_are_escaped(html, page):
    assert "<script>alert" not in html
    assert len(page.find_all("script")) == 1
    assert not [a for _, a, _ in page.elements if any(name.startswith("on") for name in a)]
    # The text after ^ is set as a superscript, but not interpreted as HTML.
    assert ODD.replace("^", "") in page.text("h3")
    assert f"{ODD} on {ODD}" in [
        a.get("aria-label") for a, _ in page.find_all("div", class_="details")
    ]


def test_details_show_every_fact_of_a_cell(page):
    details = {
        a["id"]: " ".join(text.split()) for a, text in page.find_all("div", class_="details")
    }
    cell = details["table-one-wine-a"]
    assert "Ours 2.00 (1.00) %, 3 splits" in cell
    assert "Published 3.0 (3.0) %, 10 repeats" in cell
    assert "Difference −1.00, Welch’s 95% interval −3.46 to +1.46" in cell
    assert (
        "Detectable 3.44 percentage points, 115% of the published error, with a probability of 80%"
        in cell
    )
    assert "Verdict ? undecided" in cell
    assert "Rounds 100 done" in cell
    assert "CPU seconds fit 4.00, weak learners 2.00, prediction 2.00 µs an instance" in cell
    assert "Published CPU coefficients 13.7" in details["table-timed-wine-a"]
    assert "Recorded 2026-11-10 to 2026-11-12" in cell
    assert f"{STALE} 3 of 3 splits are refuted or of another edition" in details["table-one-wine-b"]
    assert f"{PARTIAL} over 2 of 3 splits" in details["table-one-glass-a"]
    assert f"Ours failed: {VERDICTS['failed'].meaning}" in details["table-one-glass-b"]
    assert "Failed 3 × ValueError: no" in details["table-one-glass-b"]
    assert "Ours data not available" in details["table-one-dna-b"]
    assert "test error after 50; 100 done" in details["table-rounds-glass-a.40.50"]
    assert "Ours not reached" in details["table-rounds-glass-b.40.100"]


def test_note_on_a_difference_is_shown_twice(tables, monkeypatch):
    monkeypatch.setattr(Cell, "note", property(lambda cell: f"Because of {cell.data}."))
    page = Page(render_page(tables[:1]))
    details = {a["id"]: text for a, text in page.find_all("div", class_="details")}
    assert "Because of wine." in details["table-one-wine-b"]
    (reasons,) = page.text("details", class_="reasons")
    assert "wine (A, B): Because of wine." in reasons
    assert "glass" not in reasons  # nothing of it can be compared
    assert f"4.1 (0.2){STALE}* ▲" in page.text("span", class_="ours")


def test_table_has_captions_and_notes(page, tables):
    text = " ".join(" ".join(page.text("section", class_="result")).split())
    assert "so few pairs cannot show a difference" in text
    for table in tables:
        assert wording.caption(table) in text
        for note in wording.table_notes(table):
            assert note.replace("^", "") in text
    assert "Not as the table is defined" in text


def test_table_without_records_is_named(page):
    (warning,) = [text for text in page.text("p", class_="warning") if "on record" in text]
    assert warning == "Nothing of this table is on record yet: boostbench table empty runs it."


def test_verdict_shows_its_basis(make_cell, make_table):
    cell = make_cell([2, 3, 4], published=(3.0, float("nan")))
    table = complete(make_table({("wine", "a"): cell}, compare=()), name="one")
    cells = Page(render_page([table], [])).text("td")
    sign = VERDICTS[cell.verdict].sign
    assert f"{sign} {cell.verdict} (published deviation unknown)" in cells


def test_published_numbers_stand_beside_ours(page, tables):
    rows = page.find_all("tr", class_=None)
    lines = [" ".join(text.split()) for a, text in rows if "class" in a and "data-find" in a]
    published = [c for table in tables for c in table.cells.values() if c.target]
    assert len(lines) == len(published)
    assert "wine B 1.0 (0.2) 4.1 (0.2)† +3.1 ± 0.3 0.5 ▲ worse" in lines
    assert "wine A 3.0 (1.0) not run - - ○ not run" in lines
    assert "wine A 13.7 2.00" in page.text("tr")  # CPU seconds


def test_overview_counts_by_paper_table_and_algorithm(page, tables):
    text = page.text("p", class_="lead")[0]
    assert text.startswith("The tables hold 14 published numbers. For 11 of them")
    rows = [text.split() for text in page.text("tr")]
    counted = count_tables(tables)
    randomboost = find_group(counted.papers, "randomboost")
    pairs = f"{randomboost.swaps} {randomboost.effects}".split()
    assert ["RandomBoost", "6", "1", "3", "1", "·", "1", *pairs] in rows
    assert ["Table", "III", "nothing", "1", "·", "·", "·", "·", "1", "-", "-"] in rows
    assert ["a", "7", "·", "6", "·", "·", "1"] in rows


def test_verdicts_have_signs_beside_colours():
    signs = [about.sign for about in VERDICTS.values() if about.sign]
    assert len(signs) == len(set(signs)) == len(VERDICTS) - 1


def test_environments_and_provenance(tables):
    first = next(iter(tables[0].cells.values()))
    record = modify_record(flat(first.finished_splits.records[0]), environment__numpy="2.0.0")
    first.finished_splits.records[0] = recorded(record)
    # A record of two tables counts once.
    tables[3].cells["wine", "a"].finished_splits.records[0] = first.finished_splits.records[0]
    text = Page(render_page(tables)).text("section", id="provenance")[0]
    n_records = sum(cell.n_finished for table in tables for cell in table.cells.values()) - 1
    assert f"{n_records} finished splits" in text
    assert "and 5 failed, recorded from 2026-11-10 to 2026-11-12" in text
    assert "in 2 environments" in text
    assert "A processor, 2 cores, Linux x86_64" in text
    assert "Python 3.11.7, boostbench 0.1.0, numpy 2.4.6" in text
    assert "Python 3.11.7, boostbench 0.1.0, numpy 2.0.0" in text


def test_figures_are_embedded(page):
    (image, _) = page.find_all("img")[0]
    assert image == {"src": "data:image/png;base64,AA", "alt": "It shows x"}
    assert "A figure" in page.text("h3")


def test_page_is_reproducible(tables, html):
    assert render_page(tables, []) == render_page(tables, []) != html


def test_page_without_tables_has_a_note():
    assert "There are no tables." in Page(render_page([])).text("p")


def test_records_without_times_have_no_reference_job():
    entries = [
        modify_record(RECORD, seconds=...),
        modify_record(RECORD, seconds={"fit": 1.0, "calibration": 0.05}),
        modify_record(RECORD, seconds={"calibration": None}),
    ]
    records = [recorded(each, "mine") for each in entries]
    assert PageRecords(ResultFrame(records)).calibration == "0.0500"
    assert PageRecords(ResultFrame(records[:1])).calibration == ""
    assert PageRecords(ResultFrame()).calibration == ""
