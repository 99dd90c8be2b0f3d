"""The page of one model, in a browser."""

import datetime
import itertools
import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from boostbench import AdaBoostMH, BaggedMCBoost, LsBoostRegressor, MCBoost, RBoostRank
from boostbench.inspection import export_html
from boostbench.inspection.html_page import _round_ticks
from boostbench.inspection.shape_displays import visible_steps
from tests.algorithms.problems import messy
from tests.browser import CONTRAST, Browser, chromium, needs_browser

#: Names and labels that are HTML, a quotation and an attribute at once.
ODD = """<b>odd</b> & 'x' onclick="y"^z"""


@pytest.fixture(scope="module")
def driver():
    with chromium() as driver:
        yield driver


def written(folder, n_classes=2, interactions=0, **options):
    X, y = messy(n_classes, n_samples=200)
    X = X.rename(columns={"with holes": ODD})
    X["words"] = X["words"].replace("elm", ODD)
    model = BaggedMCBoost(
        n_iterations=40, n_estimators=4, interactions=interactions, random_state=0
    )
    model.fit(X, np.array(["no", ODD, "perhaps"])[y])
    export_html(model, X, folder / "model.html", date=datetime.date(2026, 11, 28), **options)
    return model, X, folder / "model.html"


@pytest.fixture(params=[(2, 0), (2, 2), (3, 2)])
def page(request, driver, tmp_path):
    model, X, path = written(tmp_path, *request.param, row=5)
    return model, X, Browser(driver, path)


@needs_browser
def test_page_makes_no_requests_and_has_no_errors(page, tmp_path):
    browser = page[2]
    assert browser.requested_urls() == {(tmp_path / "model.html").as_uri()}
    assert browser.driver.get_log("browser") == []


@needs_browser
def test_all_features_are_shown_by_importance(page):
    model, X, browser = page
    order = np.argsort(-model.feature_importances_, kind="stable")
    names = list(X.columns[order][model.feature_importances_[order] > 0])
    assert browser.visible_texts("#importances th") == names
    assert browser.visible_texts("#functions h3") == names
    shares = [
        float(text.strip(" %")) / 100 for text in browser.visible_texts("#importances .number")
    ]
    np.testing.assert_allclose(shares, model.feature_importances_[order][: len(names)], atol=6e-4)


@needs_browser
def test_terms_of_a_row_sum_to_its_score(page):
    model, X, browser = page
    sample = X.iloc[[5]]
    scores = model.decision_function(sample)
    score = scores[0] if scores.ndim == 1 else scores[0].max()
    numbers = [float(text.split()[0]) for text in browser.visible_texts("#explained .number")]
    assert numbers[-1] == pytest.approx(score, abs=0.006)
    assert sum(numbers[:-1]) == pytest.approx(score, abs=0.006 * len(numbers))
    prediction = browser.visible_texts("#explained p b")
    column = list(model.classes_).index(prediction[1])
    assert prediction[0] == model.predict(sample)[0]
    probability = 100 * model.predict_proba(sample)[0, column]
    assert float(prediction[2].strip(" %")) == pytest.approx(probability, abs=0.06)
    labels = browser.visible_texts("#explained .scroll th")
    assert f"words = {X['words'][5]}" in labels
    assert f"count = {X['count'][5]}" in labels


@needs_browser
def test_categories_are_bars_and_missing_values_marks(page):
    model, X, browser = page
    shapes = model.shape_functions(X)
    find = """
    const card = [...document.querySelectorAll(".terms article")]
      .find((card) => card.querySelector("h3").innerText === arguments[0]);
    """
    labels = "return [...card.querySelectorAll('th')].map((head) => head.innerText);"
    term = shapes.term(2)
    # Categories are sorted by their effect.
    effects = -term.values[:, 0] if len(shapes.outputs) == 1 else -np.abs(term.values).max(axis=1)
    order = [*np.argsort(effects, kind="stable"), -1]
    names = np.append(term.categories, "missing")[order]
    counts = X["words"].fillna("missing").value_counts()
    assert browser.run(find + labels, "words") == [f"{n} ({counts[n]} rows)" for n in names]
    numbers = "return [...card.querySelectorAll('.number div')].map((cell) => cell.innerText);"
    texts = np.char.split(browser.run(find + numbers, "words")).tolist()
    shown = np.array([[text[0], text[2]] for text in texts], float).reshape(*term.table.shape, 2)
    np.testing.assert_allclose(shown[..., 0], term.table[order], atol=0.006)
    np.testing.assert_allclose(shown[..., 1], 2 * term.std[order], atol=0.006)
    marks = "return card.querySelectorAll('path.missing').length;"
    assert browser.run(find + marks, ODD) == len(shapes.outputs)
    assert browser.run(find + marks, "number") == 0


@needs_browser
def test_band_is_two_standard_deviations_around_the_curve(page):
    model, X, browser = page
    drawn = browser.run("""
    const card = [...document.querySelectorAll(".terms article")]
      .find((card) => card.querySelector("h3").innerText === "number");
    const heights = (shape, selector) => [...card.querySelectorAll(selector)]
      .map((path) => path.getBBox()).map((box) => [box.y, box.y + box.height]);
    return [heights(card, "path.curve"), heights(card, "path.band")];
    """)
    curves, bands = np.array(drawn)
    term = model.shape_functions(X).term(0)
    steps = visible_steps(term, X[["number"]].to_numpy())
    unit = np.ptp(curves[0]) / np.ptp(steps.values[:, 0])
    for column, std, band in zip(steps.values.T, steps.stds.T, bands, strict=True):
        height = np.max(column + 2 * std) - np.min(column - 2 * std)
        assert np.ptp(band) == pytest.approx(unit * height, rel=0.03)


@needs_browser
def test_search_box_filters_categories(driver, tmp_path):
    X = pd.DataFrame({"town": [f"town {index % 30}" for index in range(300)]})
    y = np.arange(300) % 30 > 14
    export_html(BaggedMCBoost(random_state=0).fit(X, y), X, tmp_path / "model.html")
    browser = Browser(driver, tmp_path / "model.html")
    visible = (
        "return [...document.querySelectorAll('#functions tr')].filter((r) => !r.hidden).length;"
    )
    assert browser.run(visible) == 30
    browser.run("""
    const box = document.querySelector("input.search");
    box.value = "TOWN 1";
    box.dispatchEvent(new Event("input"));
    """)
    assert browser.run(visible) == 11


@pytest.mark.parametrize("n_classes", [2, 3])
def test_training_rows_and_test_results_are_shown(tmp_path, n_classes):
    X, y = messy(n_classes, n_samples=300)
    labels = np.array(["no", "yes", "perhaps"])[y]
    model = BaggedMCBoost(random_state=0).fit(X[:200], labels[:200])
    date = datetime.date(2026, 11, 28)
    path = tmp_path / "model.html"
    X_test, y_test = X[200:], labels[200:]
    options = {"X_test": X_test, "y_test": y_test, "data_name": "a <b> & c", "date": date}
    export_html(model, X[:200], path, **options)
    page = path.read_text(encoding="utf-8")
    assert "BaggedMCBoost for a &lt;b&gt; &amp; c</h1>" in page
    assert "28 November 2026" in page
    for label, count in zip(*np.unique(labels[:200], return_counts=True), strict=True):
        assert f"{label}: {count} rows, {count / 2:.1f} %" in page
    shown = dict(re.findall('<tr><th scope="row">([^<]+)</th><td>([^<]+)</td>', page))
    assert shown["error"] == f"{100 * (1 - model.score(X_test, y_test)):.1f} %"
    shares = model.predict_proba(X_test)
    is_label = y_test[:, None] == model.classes_
    assert float(shown["log-loss"]) == pytest.approx(-np.log(shares[is_label]).mean(), abs=5e-4)
    areas = []
    for share, positive in zip(shares.T, is_label.T, strict=True):
        wins = share[positive][:, None] - share[~positive]
        areas.append(np.mean((wins > 0) + 0.5 * (wins == 0)))
    assert float(shown["AUC"]) == pytest.approx(np.mean(areas), abs=5e-4)
    points = re.findall(r"observed ([\d.]+) % .*? in (\d+) rows", page)
    assert sum(int(n) for _, n in points) == 100
    hits = is_label[:, 1] if n_classes == 2 else model.predict(X_test) == y_test
    n_correct = sum(float(share) / 100 * int(n) for share, n in points)
    assert n_correct == pytest.approx(hits.sum(), abs=0.1)


def test_results_of_a_regressor(tmp_path):
    X, y = messy(3, n_samples=300)
    y = y + X["number"].to_numpy()
    model = LsBoostRegressor(n_iterations=50).fit(X[:200], y[:200])
    export_html(model, X, tmp_path / "model.html", X_test=X[200:], y_test=y[200:])
    page = (tmp_path / "model.html").read_text(encoding="utf-8")
    shown = dict(re.findall('<tr><th scope="row">([^<]+)</th><td>([^<]+)</td>', page))
    residuals = y[200:] - model.predict(X[200:])
    rmse = np.sqrt(np.mean(residuals**2))
    assert float(shown["root mean squared error"]) == pytest.approx(rmse, rel=1e-3)
    assert float(shown["R²"]) == pytest.approx(model.score(X[200:], y[200:]), abs=5e-4)


def test_impossible_test_rows_are_named(tmp_path):
    model, X, path = written(tmp_path)
    with pytest.raises(ValueError, match="give both X_test and y_test, or neither"):
        export_html(model, X, path, X_test=X)
    with pytest.raises(ValueError, match="a label that the training data do not have: 'maybe'"):
        export_html(model, X, path, X_test=X, y_test=["maybe"] * len(X))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        export_html(model, X, path, X_test=X, y_test=["no"])


@needs_browser
def test_curve_equals_the_shape_function(page):
    model, X, browser = page
    shapes = model.shape_functions(X)
    drawn = browser.run("""
    const card = [...document.querySelectorAll(".terms article")]
      .find((card) => card.querySelector("h3").innerText === "number");
    const at = (path, part) => path.getPointAtLength(part * path.getTotalLength());
    const ends = [...card.querySelectorAll("path.curve")].map((p) => [at(p, 0).y, at(p, 1).y]);
    return [ends, +card.querySelector(".zero").getAttribute("y1")];
    """)
    ends, zero = np.array(drawn[0]), drawn[1]
    low, high = X["number"].min(), X["number"].max()
    values = shapes.term(0).lookup(np.array([low, high])).T
    # Curves share one scale: heights above zero are proportional to the values.
    heights = zero - ends
    size = np.abs(heights).max() / np.abs(values).max()
    np.testing.assert_allclose(heights, size * values, atol=0.2)


@needs_browser
def test_pairs_are_heat_maps(page):
    model, X, browser = page
    shapes = model.shape_functions(X)
    assert len(model.pairs_) == model.interactions
    order = np.argsort(-shapes.pair_importances, kind="stable")
    pairs = [shapes.pairs[number] for number in order]
    assert browser.visible_texts("#pairs h3") == [shapes.pair_name(pair) for pair in pairs]
    drawn = browser.run("""
    return [...document.querySelectorAll("#pairs svg")].map((map) =>
      [...map.querySelectorAll("rect:not(.frame)")].map((cell) => [
        +cell.getAttribute("fill-opacity") * (cell.classList.contains("cless") ? -1 : 1),
        cell.querySelector("title").textContent,
      ]));
    """)
    assert len(drawn) == len(shapes.pairs) * len(shapes.outputs)
    largest = max((np.abs(pair.table).max() for pair in shapes.pairs), default=1.0)
    tables = [column for pair in pairs for column in np.moveaxis(pair.table, 2, 0)]
    for cells, table in zip(drawn, tables, strict=True):
        values, texts = zip(*cells, strict=True)
        np.testing.assert_allclose(largest * np.array(values), table.ravel(), atol=1e-3 * largest)
        written_down = [float(text.rpartition(": ")[2].split()[0]) for text in texts]
        assert all(" ± " in text for text in texts)
        np.testing.assert_allclose(written_down, table.ravel(), atol=0.006)


@needs_browser
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [320, 390, 1280])
def test_page_fits_the_width_with_readable_contrast(page, width, dark):
    browser = page[2]
    browser.see(width, dark=dark)
    assert browser.run("return document.documentElement.scrollWidth") <= width
    seen, low = browser.run(CONTRAST)
    assert seen > 50
    assert low == []


def test_max_terms_limits_the_features(tmp_path):
    text = written(tmp_path, max_terms=2)[2].read_text(encoding="utf-8")
    assert text.count("<article") == 2
    assert "more features" in text
    assert "all other features" in text


def test_common_part_of_all_scores_is_a_term(tmp_path):
    X = np.random.default_rng(0).integers(0, 2, (20, 8)).astype(float)
    model = AdaBoostMH(n_iterations=12).fit(X, ["ant", "bee", "cat"] * 6 + ["ant", "bee"])
    moves = {term.feature for term in model.shape_functions().terms}
    assert moves - set(np.flatnonzero(model.feature_importances_))
    export_html(model, X, tmp_path / "model.html")
    text = (tmp_path / "model.html").read_text(encoding="utf-8")
    explained = text.partition('id="explained"')[2].partition("</section>")[0]
    *terms, score = map(float, re.findall(r">([+-]?\d[0-9.]*)<", explained))
    assert score == pytest.approx(model.decision_function(X[:1]).max(), abs=0.0006)
    assert sum(terms) == pytest.approx(score, abs=0.006)


def test_arrays_and_constant_models(tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    path = tmp_path / "model.html"
    model = AdaBoostMH(n_iterations=5).fit(X, y)
    export_html(model, X, path)
    text = path.read_text(encoding="utf-8")
    assert ">x27 = " in text
    export_html(model, sparse.csr_array(X), path)
    assert path.read_text(encoding="utf-8") == text
    constant = BaggedMCBoost(n_estimators=3, random_state=0)
    X, y = np.ones((30, 2)), np.arange(30) % 2
    with pytest.warns(ConvergenceWarning):
        constant.fit(X, y)
    export_html(constant, X, path)
    assert "No feature is in use" in path.read_text(encoding="utf-8")


def test_invalid_arguments(tmp_path):
    model, X, path = written(tmp_path)
    with pytest.raises(ValueError, match="there is no row 200: X has 200"):
        export_html(model, X, path, row=200)
    X = X[["number", "count"]].to_numpy()
    with pytest.raises(ValueError, match="RBoostRank is not a sum of stumps"):
        export_html(RBoostRank(n_iterations=2, random_state=0).fit(X, X[:, 0] > 0), X, path)


@pytest.mark.parametrize(
    ("ends", "ticks"),
    [
        ((0.0, 1.0), [0, 0.2, 0.4, 0.6, 0.8, 1]),
        ((-2.5, 3.1), [-2, -1, 0, 1, 2, 3]),
        ((7, 7), [7]),
        ((-3e-13, 5e-13), [-2e-13, 0, 2e-13, 4e-13]),
        ((-0.4, 0.3), [-0.4, -0.2, 0, 0.2]),
    ],
)
def test_round_ticks(ends, ticks):
    actual = _round_ticks(*ends)
    assert actual == pytest.approx(ticks, rel=1e-9, abs=0)
    assert [f"{tick:g}" for tick in actual] == [f"{tick:g}" for tick in ticks]


@pytest.mark.parametrize(("unit", "ticks"), [(1, "0 1 2"), (1.5, "0 0.5 1 1.5 2 2.5 3")])
def test_axis_of_whole_numbers_has_no_fractions(tmp_path, unit, ticks):
    X = unit * np.arange(3.0).repeat(20)[:, None]
    model = MCBoost(n_iterations=5).fit(X, X[:, 0] == unit)
    export_html(model, X, tmp_path / "model.html")
    text = (tmp_path / "model.html").read_text(encoding="utf-8")
    assert re.findall(r'y="164" text-anchor="middle">([^<]*)<', text) == ticks.split()


def test_intervals_and_values_have_enough_digits(tmp_path):
    X = np.arange(2005.0, 2013.0).repeat(20)[:, None]
    model = MCBoost(n_iterations=30).fit(X, X[:, 0] % 2)
    export_html(model, X, tmp_path / "model.html", row=60)
    text = (tmp_path / "model.html").read_text(encoding="utf-8")
    assert ">x0 = 2008<" in text
    ends = [2005, *np.arange(2005.5, 2012), 2012]
    expected = [f"{low:g} to {high:g}" for low, high in itertools.pairwise(ends)]
    assert re.findall("<title>(.*?): [-+0]", text) == expected
    export_html(model, X + 1.6e9, tmp_path / "model.html")
    text = (tmp_path / "model.html").read_text(encoding="utf-8")
    assert ">x0 = 1600002005<" in text
    assert {f">16000020{cents:02}<" for cents in (6, 8, 10, 12)} <= set(
        re.findall(r">\d{10}<", text)
    )


def test_pipeline_error_names_the_step_to_pass(tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), AdaBoostMH(n_iterations=2)).fit(X, y)
    with pytest.raises(ValueError, match=r"^Pipeline is not a sum of stumps; pass .* model\[-1\]"):
        export_html(pipeline, X, tmp_path / "model.html")
