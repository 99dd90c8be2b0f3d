import math
from dataclasses import replace

import pytest
from fitting.examples import with_records

from boostbench.analysis.cells import BETTER, BETTER_ELSEWHERE, pair_numbers
from boostbench.fitting.quantities import QUANTITIES
from boostbench.report.wording import (
    format_chosen,
    format_marks,
    format_number,
    format_published,
    format_splits,
    format_verdict,
    stale_mark,
)

NAN = float("nan")


def test_mean_and_sample_deviation(make_cell):
    cell = make_cell([1, 2, 4.5])
    assert cell.mean == pytest.approx(2.5)
    assert cell.std == pytest.approx(math.sqrt((1.5**2 + 0.5**2 + 2**2) / 2))
    assert format_number(cell) == "2.5 (1.8)"


def test_one_split_has_no_deviation(make_cell):
    assert format_number(make_cell([2.5])) == "2.5"


def test_stale_numbers_are_marked(make_cell):
    cell = make_cell([1, 3], stale=1, missing=1)
    assert (format_number(cell), stale_mark(cell), format_marks(cell)) == ("2.0 (1.4)", "†", "†‡")


def test_cell_without_numbers_shows_its_status(make_cell):
    assert format_number(make_cell([], failures=2)) == "failed"
    assert format_number(make_cell([])) == "not run"
    assert format_number(make_cell([], available=False)) == "data not available"
    assert format_number(make_cell([1, 2], rounds=1000)) == "not reached"
    assert format_number(make_cell([1, 2], quantity=QUANTITIES["auc"])) == "not recorded"


def test_error_after_some_rounds(make_cell):
    cell = make_cell([10, 20], rounds=50, published=(8.0, 1.0))
    assert format_number(cell) == "7.5 (3.5)"
    assert cell.agreement.difference == pytest.approx(-0.5)
    assert make_cell([10, 20], rounds=1000, published=(8.0, 1.0)).verdict == "not reached"


def test_splits_are_counted(make_cell):
    assert format_splits(make_cell([1, 2])) == "2"
    assert format_splits(make_cell([1, 2], failures=1, missing=2)) == "2 of 5"


def test_missing_or_failed_splits_make_a_cell_partial(make_cell):
    assert make_cell([1, 2], missing=1).is_partial
    assert make_cell([1, 2], failures=1).is_partial
    assert not make_cell([1, 2]).is_partial
    assert not make_cell([], missing=3).is_partial


def test_cell_averages_its_seconds(make_cell):
    cell = make_cell([1, 2, 3])
    assert cell.finished_splits.average(QUANTITIES["fit"]) == 4.0
    assert cell.finished_splits.average(QUANTITIES["coefficients"]) is None


def test_chosen_parameters_are_counted(make_cell):
    assert format_chosen(make_cell([1, 2])) == ""
    assert format_chosen(make_cell([1, 2], chosen=[{"nu": 1e-5}] * 2)) == "nu=1e-05"
    several = [{"nu": 0.1}, {"nu": 0.2}, {"nu": 0.2}]
    assert format_chosen(make_cell([1, 2, 3], chosen=several)) == "nu=0.2 (2 of 3), nu=0.1 (1 of 3)"


def test_verdict_depends_on_the_published_number(make_cell):
    assert make_cell([24, 25, 26], published=(25.5, 1.0)).verdict == "reproduced"
    assert make_cell([1, 2, 3], published=(2.5, 1.0)).verdict == "undecided"
    assert make_cell([1, 2, 3], published=(20.0, 1.0)).verdict == "better"
    assert make_cell([91, 92, 93], published=(20.0, 1.0)).verdict == "worse"
    assert make_cell([1, 2, 3]).verdict == "not published"
    assert make_cell([], published=(20.0, 1.0)).verdict == "not run"


def test_higher_accuracy_is_better(make_cell):
    accuracy = QUANTITIES["accuracy"]
    cell = make_cell([1, 2, 3], quantity=accuracy, published=(90.0, 1.0))
    assert (format_number(cell), cell.verdict) == ("98.0 (1.0)", "better")
    assert make_cell([20, 21, 22], quantity=accuracy, published=(90.0, 1.0)).verdict == "worse"


def test_accuracy_without_a_published_deviation_is_judged(make_cell):
    published = {"quantity": QUANTITIES["accuracy"], "published": (98.0, NAN), "n": 1}
    cell = make_cell([1.99, 2, 2.01], **published)
    assert (cell.verdict, cell.agreement.basis) == ("reproduced", "ours")
    # The error is the distance to 100%.
    assert cell.agreement.detectable_share == pytest.approx(cell.agreement.detectable / 2)
    assert make_cell([8, 9, 10], **published).verdict == "worse"
    # All of the protocol's splits, which is one, are there.
    # The number of its test samples determines the interval.
    cell = make_cell([1.9], **published)
    assert (cell.verdict, cell.agreement.basis) == ("undecided", "counts")
    # A single split out of several allows no verdict.
    cell = make_cell([1.9], **published, missing=9)
    assert (cell.verdict, cell.agreement, cell.note) == ("undecided", None, None)


def test_another_protocol_is_not_judged(make_cell):
    cell = make_cell([1, 2], published=(20.0, 1.0), departures=("protocol.n_splits=2",))
    assert (cell.verdict, cell.agreement, cell.note) == ("not judged", None, None)
    assert format_published(cell) == "20.0 (1.0)§"
    assert make_cell([], published=(20.0, 1.0), departures=("x=1",)).verdict == "not run"
    assert make_cell([1], departures=("x=1",)).verdict == "not published"
    assert format_published(make_cell([1])) == ""


def test_better_verdict_has_a_note(make_cell):
    better = make_cell([4, 4.1, 4.2], published=(50.0, 1.0))
    assert (better.verdict, better.note) == ("better", BETTER)
    elsewhere = replace(better.target, table="mcboost-table1")
    published = (elsewhere,)
    replacement = replace(better, data="20news-bydate", published=published)
    assert replacement.note.startswith(f"{BETTER_ELSEWHERE} 20news-bydate replaces")
    worse = make_cell([80, 80.1, 80.2], published=(50.0, 1.0))
    assert (worse.verdict, worse.note) == ("worse", None)


def test_reproduced_number_that_differs_carries_its_difference(make_cell):
    higher = make_cell([10.4, 10.5, 10.6] * 9, published=(10.2, 0.1))
    assert (higher.verdict, format_verdict(higher)) == ("reproduced", "reproduced, higher")
    lower = make_cell([9.8, 9.9, 10.0] * 9, published=(10.2, 0.1))
    assert (lower.verdict, format_verdict(lower)) == ("reproduced", "reproduced, lower")
    alike = make_cell([10.1, 10.2, 10.3] * 9, published=(10.2, 0.1))
    assert (alike.verdict, format_verdict(alike)) == ("reproduced", "reproduced")
    worse = make_cell([30.4, 30.5, 30.6], published=(10.2, 0.1))
    assert (worse.verdict, format_verdict(worse)) == ("worse", "worse")


def test_folds_have_a_narrower_interval_than_independent_splits(make_cell):
    errors = [9.0, 11.0] * 10
    random = make_cell(errors, published=(10.0, 1.0), n=20)
    folds = make_cell(errors, published=(10.0, 1.0), n=20)
    kfold = {"config__protocol__sampling": "kfold", "config__protocol__n_splits": 10}
    folds = with_records(folds, **kfold)
    assert folds.agreement.half_width < 0.6 * random.agreement.half_width
    drawn = with_records(folds, config__protocol__samples_per_class=50)
    assert drawn.agreement == random.agreement


def test_number_after_rounds_is_not_recorded_without_stages(make_cell):
    """A fit that recorded no stages, of as many rounds as the cell asks for."""
    cell = make_cell([1, 2], rounds=50, checkpoints=())
    assert with_records(cell, config__algo__n_iterations=50).status == "not recorded"
    assert with_records(cell, config__algo__n_iterations=49).status == "not reached"


def test_numbers_are_paired_on_common_splits(make_cell):
    pairs = pair_numbers([make_cell([1, 2, 3]), make_cell([4, 5], rounds=50)])
    assert pairs.tolist() == [[1, 2], [2, 2.5]]
    assert pair_numbers([make_cell([1]), make_cell([])]).shape == (0, 2)
