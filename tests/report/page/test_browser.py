"""The page in a browser."""

from dataclasses import replace

import pytest

from boostbench.analysis.recorded_experiments import RecordedExperiment
from boostbench.report.page.render import render_page
from tests.browser import CONTRAST, Browser, chromium, needs_browser
from tests.report.page.conftest import complete

pytestmark = needs_browser


@pytest.fixture(scope="module")
def driver():
    with chromium() as driver:
        yield driver


class Report(Browser):
    """A report that is open."""

    def type(self, text):
        query = self.find("#query")
        query.clear()
        query.send_keys(text)

    def column(self, index):
        """Give the first word of each row in a column of the first table."""
        cells = self.visible_texts(f"#table-one .cells tbody tr > :nth-child({index + 1})")
        return [text.split()[0] for text in cells]

    @property
    def open_details(self):
        return [text.partition(" Ours")[0] for text in self.visible_texts(".details:popover-open")]


def written(tables, folder):
    path = folder / "report.html"
    path.write_text(render_page(tables), encoding="utf-8")
    return path


@pytest.fixture
def browser(driver, tables, tmp_path):
    return Report(driver, written(tables, tmp_path))


@pytest.fixture
def sorted_table(driver, make_cell, make_table, tmp_path):
    """A table whose numbers, as words, stand in another order."""
    errors = {"x9": [9.5, 9.5], "x10": [10.2, 10.2], "none": [], "x100": [100, 100]}
    cells = {(row, "a"): make_cell(numbers, row) for row, numbers in errors.items()}
    table = complete(make_table(cells, compare=()), name="one")
    return Report(driver, written([table], tmp_path))


def test_page_loads_without_requests_and_errors(browser, tmp_path):
    page = (tmp_path / "report.html").as_uri()
    assert browser.requested_urls() == {page}
    browser.type("wine")
    browser.find(".sort").click()
    assert browser.driver.get_log("browser") == []
    assert browser.run("return window.alert === undefined") is False


def test_search_shows_and_counts_matches(browser):
    assert browser.visible_texts("#shown") == ["18 cells in 5 tables"]
    browser.type("GLASS")
    assert browser.visible_texts("#shown") == ["6 of 18 cells, in 2 tables"]
    assert browser.visible_texts(".result h3") == ["Table I: verdicts", "Table I: rounds"]
    assert browser.visible_texts(".cells tbody th") == ["glass", "glass"]
    assert "Table II: times" not in browser.visible_texts(".contents li li")
    assert "Other tables" not in " ".join(browser.visible_texts(".contents li"))
    browser.type("t=100 glass")
    assert browser.visible_texts("#shown") == ["2 of 18 cells, in 1 table"]
    assert browser.visible_texts(".groups th") == ["A", "B"]
    assert browser.visible_texts(".heads th") == ["data", "Test 100", "Test 100"]
    browser.type("failed")
    assert browser.visible_texts(".cells button.cell .ours") == ["failed ✕"]


def test_empty_search_has_a_note_and_a_reset(browser):
    browser.type("nonesuch")
    assert "nonesuch" in browser.visible_texts("#empty")[0]
    assert browser.visible_texts(".result") == []
    browser.find("#again").click()
    assert browser.visible_texts("#empty") == []
    assert len(browser.visible_texts(".result")) == 5
    assert not browser.find("#reset").is_enabled()
    browser.type("wine")
    browser.find("#reset").click()
    assert browser.find("#query").get_attribute("value") == ""
    assert browser.visible_texts("#shown") == ["18 cells in 5 tables"]


def test_verdicts_and_algorithms_are_links_to_a_search(browser):
    browser.find(".legend [data-search=worse] button").click()
    assert browser.find("#query").get_attribute("value") == '"worse"'
    assert {text[-1] for text in browser.visible_texts(".cells button.cell .ours")} == {"▲"}
    browser.find(".counts [data-search=b] button").click()
    assert browser.find("#query").get_attribute("value") == '"b"'
    # The search finds whole words, not the b of "published".
    assert browser.visible_texts("#shown") == ["8 of 18 cells, in 3 tables"]


def test_lists_follow_the_search(browser):
    browser.run("for (const list of document.querySelectorAll('.compared')) list.open = true")
    browser.find(".legend [data-search=worse] button").click()
    lines = browser.visible_texts("#table-one .compared tr[data-find]")
    assert lines
    assert all("worse" in line for line in lines)
    browser.find(".counts [data-search=b] button").click()
    lines = browser.visible_texts("#table-one .compared tr[data-find]")
    assert [line.split()[:2] for line in lines] == [["wine", "B"], ["glass", "B"]]


def test_sorting_sorts_numbers_and_comes_back(sorted_table):
    head = "#table-one .heads th:nth-child(2)"
    orders = {
        "ascending": ["9.5", "10.2", "100.0", "not"],
        "descending": ["100.0", "10.2", "9.5", "not"],
        "none": ["9.5", "10.2", "not", "100.0"],
    }
    for state, order in orders.items():
        sorted_table.find(f"{head} button").click()
        assert sorted_table.find(head).get_attribute("aria-sort") == state
        assert sorted_table.column(1) == order
    names = "#table-one .heads th:first-child"
    sorted_table.run("arguments[0].focus()", sorted_table.find(f"{names} button"))
    sorted_table.press("Enter")
    assert sorted_table.find(names).get_attribute("aria-sort") == "ascending"
    assert sorted_table.column(0) == ["none", "x9", "x10", "x100"]


def test_details_open_on_hover_and_close_behind_the_mouse(browser):
    browser.point("#table-one td button.cell")
    wait(lambda: browser.open_details == ["A on wine"])
    browser.point("h1")
    wait(lambda: browser.open_details == [])


def test_click_keeps_details_open(browser):
    browser.find("#table-one td button.cell").click()
    assert browser.open_details == ["A on wine"]
    browser.point("#table-one tr:nth-child(2) button.cell")
    assert browser.open_details == ["A on wine"]
    browser.find("#table-one td button.cell").click()
    assert browser.open_details == []


def test_keyboard_opens_moves_and_closes(browser):
    browser.run("arguments[0].focus()", browser.find("#table-one .heads th:last-child button"))
    browser.press("Tab")
    assert browser.open_details == ["A on wine"]
    browser.press("ArrowRight")
    assert browser.open_details == ["B on wine"]
    browser.press("ArrowDown")
    assert browser.open_details == ["B on glass"]
    browser.press("Escape")
    assert browser.open_details == []
    browser.press("Enter")
    assert browser.open_details == ["B on glass"]
    browser.press("Escape")
    assert browser.open_details == []
    # All cells of a table are a single stop of the Tab key.
    browser.press("Tab")
    assert browser.run("return document.activeElement.closest('td') === null")


def test_details_open_on_a_tap(browser):
    browser.see(360, touch=True)
    browser.tap("#table-one td button.cell")
    wait(lambda: browser.open_details == ["A on wine"])
    box = browser.find(".details:popover-open").rect
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360


def test_no_page_scrolls_sideways_on_a_phone(browser):
    browser.see(360, touch=True)
    browser.run("for (const d of document.querySelectorAll('details')) d.open = true")
    assert browser.run("return [innerWidth, document.documentElement.scrollWidth]") == [360, 360]
    # A wide table scrolls in its box, under a first column that stays.
    script = "return document.querySelector('#table-rounds tbody th').getBoundingClientRect().left"
    before = browser.run(script)
    moved = "const box = document.querySelector('#table-rounds .scroll'); box.scrollLeft = 60;"
    assert browser.run(f"{moved} return box.scrollLeft") > 0
    assert browser.run(script) == before


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_has_enough_contrast(browser, dark):
    browser.see(1280, dark=dark)
    browser.run("for (const d of document.querySelectorAll('details')) d.open = true")
    browser.find("#table-one td button.cell").click()
    paper = browser.run("return getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") is not dark
    seen, low = browser.run(CONTRAST)
    assert seen > 200
    assert low == []


def test_theme_can_be_chosen(browser):
    paper = "return getComputedStyle(document.body).backgroundColor"
    light = browser.run(paper)
    browser.find("#theme").click()
    assert browser.run(paper) == light
    browser.find("#theme").click()
    assert browser.find("#theme").text == "Theme: dark"
    assert browser.run(paper) != light


def test_page_is_complete_without_javascript(browser):
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.driver.refresh()
        assert len(browser.visible_texts(".cells td[data-verdict]")) == 18
        assert browser.visible_texts(".search") == []  # the search needs JavaScript
        browser.find("#table-one td button.cell").click()
        assert browser.open_details == ["A on wine"]
        browser.find("#table-one .compared summary").click()
        assert len(browser.visible_texts("#table-one .compared tbody tr")) == 3
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_print_shows_folded_parts(browser):
    script = """
    window.opened = null;
    addEventListener("beforeprint", () => {
      window.opened = [...document.querySelectorAll("main details")].every((d) => d.open);
    });
    """
    browser.run(script)
    browser.driver.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
    assert browser.run("return window.opened") is True
    assert browser.run("return document.querySelector('main details').open") is False


def wait(condition):
    """Wait until a condition holds that comes true soon; how soon, says the machine."""
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(None, 600, poll_frequency=0.02).until(lambda _: condition())


@pytest.fixture
def runs_browser(driver, make_cell, make_table, tmp_path):
    """The page of a folder with a table and two runs, one of many settings."""
    table = complete(make_table({("wine", "a"): make_cell([1, 2])}, compare=()), name="one")
    cell = table.cells["wine", "a"]
    settings = ", ".join(f"setting_{number}=0.{number}" for number in range(9))
    names = ("MultiBoost, at its minimum", "RandomForestClassifier")
    runs = [
        RecordedExperiment(replace(cell, title=name), text, "2026-11-28T10:00:00Z")
        for name, text in zip(names, (settings, "seed=1"), strict=True)
    ]
    path = tmp_path / "report.html"
    path.write_text(render_page([table], runs=runs, about_runs=True), encoding="utf-8")
    return Report(driver, path)


def test_page_of_a_folder_opens_with_its_tables_and_runs_can_be_searched(runs_browser):
    headings = runs_browser.run(
        "return [...document.querySelectorAll('main h2')].map(h => h.textContent)"
    )
    assert headings[:2] == ["Tables of your own", "Runs"]
    runs_browser.type("forest")
    assert len(runs_browser.visible_texts("#runs tbody tr")) == 1
    runs_browser.type("nothing-like-this")
    assert runs_browser.visible_texts("#empty")


def test_error_of_a_run_is_visible_on_a_phone(runs_browser):
    runs_browser.see(390, touch=True)
    edge = "return document.querySelector('#runs tbody td:nth-child(3)').getBoundingClientRect()"
    assert runs_browser.run(f"{edge}.right") <= 390
    assert (
        runs_browser.run("return document.querySelectorAll('#runs details:not([open])').length")
        == 1
    )
