"""Check that reproduced numbers stay reproduced, and that committed files are current."""

from pathlib import Path

import pytest

from boostbench.analysis.cells import BETTER, BETTER_ELSEWHERE
from boostbench.analysis.statistics.resampled import TEN_FOLDS, complete_repetitions, pooled_ratio
from boostbench.analysis.verdicts import count_numbers_without_cell, count_tables
from boostbench.records.index import Records
from boostbench.records.schema import Provenance
from boostbench.report.assemble import read_tables
from boostbench.report.data_files import (
    find_verdicts,
    lost_verdicts,
    read_verdicts,
    verdict_lines,
    verdicts_as_csv,
)
from boostbench.report.overview import make_readme
from boostbench.util import configs

RESULTS = Path(__file__).parents[2] / "results"


@pytest.fixture(scope="module")
def tables():
    """Return all tables, independently of the installed versions of other packages.

    Otherwise numbers of scikit-learn's classes would be marked for another version.
    """
    is_from, records = Provenance.is_from, Records(RESULTS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            Provenance,
            "is_from",
            lambda self, version: is_from(self, version._replace(versions=())),
        )
        tables = read_tables(None, records)
    assert records.pop_warnings() == []
    return tables


def test_reproduced_numbers_stay_reproduced(tables):
    before = read_verdicts(RESULTS / "verdicts.csv")
    assert len(before) > 400
    assert lost_verdicts(before, find_verdicts([table for table in tables if table.paper])) == []


def test_committed_verdicts_follow_from_the_committed_records(tables):
    today = verdicts_as_csv(
        verdict_lines(find_verdicts([table for table in tables if table.paper]))
    )
    assert (RESULTS / "verdicts.csv").read_text(encoding="utf-8") == today


def test_committed_overview_follows_from_the_committed_records(tables):
    written = {path.stem for path in (RESULTS / "tables").glob("*.md")}
    text = make_readme(tables, "figures/overview.svg", written)
    assert (RESULTS / "README.md").read_text(encoding="utf-8") == text


def test_published_numbers_are_counted_once(tables):
    """Cells of a variant or of a second data set repeat the number of another cell.

    Such cells are SAMME and codewords with trees, vowel528, CGENS on generated data, a second
    geometry of a pattern, MultiBoost at its minimum in Tables IV and V, numbers that MCBoost and
    RpBoost print twice, and 59 cells of older definitions of CGENS's and LADDER's Tables II.
    """
    total = count_tables(tables).total
    assert (total.published, total.repeated) == (767, 151)


def test_ratio_for_ten_folds_follows_from_the_committed_records(tables):
    """The pooled ratio of the variance between cross-validations, of all results on record."""
    results = {
        (cell.data, cell.finished_splits.records[0].config.hash): complete_repetitions(
            cell.splits, cell.numbers, 10
        )
        for table in tables
        if table.name in ("rpboost12.6", "rpboost12.7")
        for cell in table.cells.values()
        if cell.finished_splits.records
        and cell.finished_splits.records[0].config.protocol["sampling"] == "kfold"
    }
    repeated = [result for result in results.values() if len(result) > 1]
    assert pooled_ratio(repeated).variance_ratio == pytest.approx(
        TEN_FOLDS.variance_ratio, abs=0.05
    )
    most: dict[str, int] = {}
    for (data, _), result in results.items():
        most[data] = max(most.get(data, 0), len(result) - 1)
    assert sum(most.values()) >= TEN_FOLDS.freedom


def test_better_verdicts_have_a_note(tables):
    better = [
        cell.note for table in tables for cell in table.cells.values() if cell.verdict == "better"
    ]
    assert len(better) > 50
    assert all(note.startswith((BETTER, BETTER_ELSEWHERE)) for note in better)


def test_tables_remark_stratified_splits_that_differ_from_the_paper(tables):
    """RpBoost's text stratifies its patterns; figures and times have no verdicts."""
    text = {"rpboost12.4", "randomboost_mnist"}
    has_remark = {
        table.name: "stratified by class" in " ".join(table.remarks)
        for table in tables
        if table.paper and table.name not in text
        for cell in table.cells.values()
        if cell.target and cell.finished_splits.records
        if cell.finished_splits.records[0].config.protocol["sampling"] in ("stratified", "kfold")
    }
    assert len(has_remark) > 10
    assert [name for name, is_told in has_remark.items() if not is_told] == []


def test_no_table_of_a_paper_uses_rows_drawn_twice(tables):
    """Data with rows drawn twice, whose test rows are also training rows, study a leak only."""
    leaks = {
        name
        for name in configs.list_options("data")
        if configs.read_option("data", name).get("redraw")
    }
    shown = {(cell.data, table.paper) for table in tables for cell in table.cells.values()}
    assert {paper for name, paper in shown if name in leaks} == {""}


def test_published_numbers_without_a_cell_are_listed(tables):
    """MCBoost has 6 such numbers (rcv1, sector), MultiBoost and SVM 3 (scenes), CGENS 8, LADDER 3.

    The numbers of CGENS are of images, and the ones of LADDER of other authors' algorithms.
    """
    assert count_numbers_without_cell(tables) == 20
