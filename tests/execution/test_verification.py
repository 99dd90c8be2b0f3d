import itertools

import numpy as np
import pytest
from fitting import examples
from fitting.examples import RECORD, TRIAL, flat, modify_record
from fitting.toy import make_dataset, run

from boostbench.execution import verification
from boostbench.execution.verification import (
    MAX_DRAWN,
    GroupCheck,
    RecordedFit,
    Refit,
    RefitResult,
    draw_refits,
    list_differences,
    plan_refit,
    refit_records,
)
from boostbench.execution.workers import Workers
from boostbench.fitting.trial import Outcome, run_trial
from boostbench.records.environment import system
from boostbench.records.fit_results import SplitResults, TrialResults
from boostbench.records.store import read_records
from boostbench.records.verified import Group, RefitFindings, add_finding
from boostbench.util.errors import UserError

HERE, THERE = "openblas Haswell", "openblas Prescott"
STARTED = "2026-11-24T00:00:00Z"
GROUP = Group("fake_classifiers.Nearest", "", "toy")


SPLIT = examples.recorded(RECORD)


def outcome(entries):
    """Return the outcome of a fit that gives these entries of a record."""
    names = ("n_train", "n_test", "warnings", "environment", "started", "finished")
    facts = {name: entries[name] for name in names if name in entries}
    results = {name: value for name, value in entries.items() if name not in facts}
    return Outcome(SplitResults.from_dict(results), **facts)


# Comparisons of a single record


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"seconds__fit": 9.0, "finished": "2027-01-01T00:00:00Z", "commit": "0000000"},
        {"witness": {"end": 1.0}},
    ],
)
def test_times_and_new_entries_are_no_differences(changes):
    assert list_differences(SPLIT, outcome(modify_record(RECORD, **changes))) == []


@pytest.mark.parametrize(
    ("changes", "beginning"),
    [
        ({"test_error": 2 / 30}, "test_error is 0.0333"),
        ({"n_iterations": 3}, "n_iterations is 2 on record, 3 today"),
        ({"checkpoints__2": 2 / 30}, "checkpoints is"),
        ({"checkpoints": {"1": 0.1}}, "checkpoints is"),
        ({"n_parameters": 4}, "n_parameters is null on record, 4 today"),
    ],
)
def test_measured_values_are_differences(changes, beginning):
    [difference] = list_differences(SPLIT, outcome(modify_record(RECORD, **changes)))
    assert difference.startswith(beginning)


def test_one_of_ten_million_samples_is_a_difference():
    n_samples = 10**7
    for n_wrong in (1, n_samples // 2, n_samples - 1):
        record = examples.recorded(modify_record(RECORD, test_error=n_wrong / n_samples))
        again = modify_record(RECORD, test_error=(n_wrong + 1) / n_samples)
        assert list_differences(record, outcome(again))


def test_scores_are_compared_up_to_rounding():
    record = examples.recorded(modify_record(RECORD, witness={"1": 0.5, "end": 2.0}))
    rounded = modify_record(RECORD, witness={"1": 0.5, "end": 2.0 * (1 + 1e-10)})
    different = modify_record(RECORD, witness={"1": 0.5, "end": 2.0 * (1 + 1e-7)})
    assert list_differences(record, outcome(rounded)) == []
    assert list_differences(record, outcome(different))
    assert list_differences(record, outcome(RECORD)) == [
        'witness is {"1": 0.5, "end": 2.0} on record, null today'
    ]


def test_validation_error_is_compared_in_trials_only():
    trial = examples.recorded(TRIAL, "tuning")
    assert list_differences(trial, outcome(modify_record(TRIAL, validation_error=0.2)))
    split = examples.recorded(modify_record(RECORD, validation_error=0.1))
    assert list_differences(split, outcome(RECORD)) == []


def test_held_out_error_of_each_kind_of_record():
    assert verification.held_out_error(SPLIT) == 1 / 30
    assert verification.held_out_error(examples.recorded(TRIAL, "tuning")) == 0.1
    path = TrialResults(seconds=[1.0], validation_errors=[0.1, 0.3])
    assert verification.held_out_error(path) == pytest.approx(0.2)
    codes = SplitResults.from_dict({"mean_average_precision": 0.75})
    assert verification.held_out_error(codes) == 0.25
    assert verification.held_out_error(SplitResults()) is None


def test_systematic_difference_agrees_with_enumeration_of_signs():
    rng = np.random.default_rng(0)
    for shift in (0.0, 0.5, 1.0, 3.0):
        errors = rng.normal(shift, 1, 8)
        means = [np.mean(signs * errors) for signs in itertools.product([-1, 1], repeat=8)]
        share = np.mean(np.abs(means) >= abs(errors.mean()) - 1e-12)
        expected = errors.mean() if share < verification.SIGNIFICANCE_LEVEL else None
        assert verification.systematic_difference(errors) == pytest.approx(expected)


def test_systematic_difference_needs_eight_differences():
    assert verification.systematic_difference([]) is None
    assert verification.systematic_difference([1.0]) is None
    assert verification.systematic_difference([1.0] * 7) is None
    assert verification.systematic_difference([1.0] * 8 + [0.0, 0.0]) == 1.0


@pytest.fixture
def recorded(make_experiment, tmp_path):
    """Run an experiment with tuning, and return all its records."""

    def make(target="fake_classifiers.Nearest", **settings):
        experiment = make_experiment(target, **settings)
        run([experiment], results=tmp_path)
        paths = [experiment.path(tmp_path), experiment.path(tmp_path, tuning=True)]
        return [record for path in paths for record in read_records(path)[0]]

    return make


@pytest.mark.parametrize(
    "protocol",
    [
        {},
        {"sampling": "kfold", "n_splits": 3, "n_repeats": 2},
        {"samples_per_class": 20, "tune": "every_split"},
        {"sampling": "plain", "train_size": 30, "test": "rest", "scale": "standard"},
    ],
)
def test_refit_repeats_its_record(recorded, dataset, protocol):
    records = recorded(grid={"width": [1, 2]}, **protocol)
    assert {record.is_trial for record in records} == {False, True}
    for record in records:
        trial = plan_refit(record, dataset)
        assert trial.split.checksum == record.rows
        again = run_trial(trial, dataset.X, dataset.class_indices)
        assert list_differences(record, again) == []


def test_refit_has_no_time_limit(recorded, dataset):
    for record in recorded(grid={"width": [1, 2]}, time_limit=600):
        assert record.config.protocol["time_limit"] == 600
        assert plan_refit(record, dataset).protocol.time_limit is None


# A group


def fits(n, seconds=0.5, blas=None, **changes):
    """Make records of a group, by an unknown kernel unless one is given."""
    made = []
    for split in range(n):
        entries = modify_record(RECORD, split=split, seconds__fit=seconds, **changes)
        if blas:
            entries = modify_record(entries, environment__blas=blas)
        made.append(RecordedFit.from_record(examples.recorded(entries), "fake"))
    return made


def conclude(group, wrong=(), blas=HERE, n=None, **options):
    """Refit records of a group, with another error at some places, and return the finding."""
    for place, fit in enumerate(group.fits[:n]):
        again = modify_record(
            flat(fit.record), **({"test_error": 2 / 30} if place in wrong else {})
        )
        group.add(fit, outcome(again), blas, **options)
    return group.conclude("b17bc98", blas, STARTED)


@pytest.mark.parametrize(
    ("n_records", "n_fitted", "is_verified"), [(10, 5, True), (10, 4, False), (2, 2, True)]
)
def test_five_same_refits_verify_a_group(n_records, n_fitted, is_verified):
    finding = conclude(GroupCheck(GROUP, fits(n_records), None), n=n_fitted)
    assert (finding.state, finding.total) == ("same", n_records)
    assert finding.is_verified == is_verified


def test_samples_add_up():
    records = fits(10)
    earlier = conclude(GroupCheck(GROUP, records, None), n=3)
    assert not earlier.is_verified
    group = GroupCheck(GROUP, records, earlier)
    for fit in records[3:5]:
        group.add(fit, outcome(flat(fit.record)), HERE)
    finding = group.conclude("b17bc98", HERE, STARTED)
    assert finding.is_verified
    assert len(finding.same[HERE]) == 5


def test_one_difference_on_the_kernel_of_the_record_is_different():
    finding = conclude(GroupCheck(GROUP, fits(10, blas=HERE), None), wrong=[3])
    assert (finding.state, finding.stale_before) == ("different", STARTED)
    [difference] = finding.different.values()
    assert difference.startswith("fake on toy, split 3: test_error is 0.0333")


@pytest.mark.parametrize("blas", [None, THERE])
def test_few_other_errors_on_another_kernel_are_same(blas):
    finding = conclude(GroupCheck(GROUP, fits(10, blas=blas), None), wrong=[3, 4])
    assert (finding.state, finding.stale_before, finding.is_verified) == ("same", "", False)
    assert list(finding.other_errors.values()) == pytest.approx([100 / 30] * 2)


def test_scores_of_another_kernel_are_not_compared():
    group = GroupCheck(GROUP, fits(1, blas=THERE, witness={"end": 1.0}), None)
    [fit] = group.fits
    group.add(fit, outcome(modify_record(flat(fit.record), witness={"end": 3.0})), HERE)
    assert group.conclude("b17bc98", HERE, STARTED).state == "same"
    assert group.results == [RefitResult(fit.key, "other errors", change=0.0)]


def test_systematic_errors_on_another_kernel_are_different():
    finding = conclude(GroupCheck(GROUP, fits(10), None), wrong=range(8))
    assert finding.state == "different"
    assert set(finding.different.values()) == {
        "errors differ by +3.33 points on average, in 8 fits"
    }


def test_record_that_a_kernel_repeated_is_compared_on_it():
    records = fits(10)
    earlier = conclude(GroupCheck(GROUP, records, None))
    assert conclude(GroupCheck(GROUP, records, earlier), wrong=[0]).state == "different"
    assert conclude(GroupCheck(GROUP, records, earlier), wrong=[0], blas=THERE).state == "same"


def test_kernel_of_the_same_name_on_another_system_is_another():
    here, there = (fits(10, blas=HERE, environment__system=s) for s in (system(), "Plan9 68k"))
    assert conclude(GroupCheck(GROUP, here, None), wrong=[0]).state == "different"
    finding = conclude(GroupCheck(GROUP, there, None), wrong=[0])
    assert (finding.state, list(finding.other_errors)) == ("same", [there[0].key])
    assert conclude(GroupCheck(GROUP, there, finding), wrong=[1]).state == "same"


def test_records_of_this_machine_are_compared_in_all_values():
    group = GroupCheck(GROUP, fits(10), None)
    assert conclude(group, wrong=[0], is_same_kernel=True).state == "different"


def test_failure_makes_a_group_failed():
    group = GroupCheck(GROUP, fits(3), None)
    group.add(group.fits[0], Outcome(error="ValueError: no"), THERE)
    finding = group.conclude("b17bc98", THERE, STARTED)
    assert (finding.state, finding.stale_before) == ("failed", STARTED)
    assert finding.failed == {group.fits[0].key: "fake on toy, split 0: ValueError: no"}


def test_corrected_code_is_same_again():
    records = fits(10, blas=HERE)
    earlier = conclude(GroupCheck(GROUP, records, None), wrong=[3])
    group = GroupCheck(GROUP, records, earlier)
    assert group.draw("salt", HERE)[0].key == records[3].key
    finding = conclude(group)
    assert (finding.state, finding.stale_before) == ("same", "")


def test_records_made_again_stay_fresh():
    """The one record that was not made again, and still differs, leaves the others fresh."""
    records = fits(10, blas=HERE)
    earlier = conclude(GroupCheck(GROUP, records, None), wrong=[3])
    repeated = fits(10, blas=HERE, finished="2026-11-25T00:00:00Z")
    records = [*repeated[:3], records[3], *repeated[4:]]
    finding = conclude(GroupCheck(GROUP, records, earlier), wrong=[3])
    assert (finding.state, finding.stale_before) == ("different", earlier.stale_before)
    later = GroupCheck(GROUP, records, earlier).conclude("b17bc98", HERE, "2026-11-26T00:00:00Z")
    assert (later.state, later.stale_before) == ("different", earlier.stale_before)


def test_draw_takes_long_fits_last_and_depends_on_the_salt():
    long, short = fits(3, 50.0), fits(9)[3:]
    group = GroupCheck(GROUP, [*long, *short], None)
    draws = [[fit.key for fit in group.draw(salt, HERE)] for salt in "abcdefgh"]
    assert all(len(draw) == MAX_DRAWN and {*draw} < {f.key for f in short} for draw in draws)
    assert len({tuple(draw) for draw in draws}) > 1


def test_draw_begins_with_a_record_that_the_kernel_repeated():
    records = fits(6)
    group = GroupCheck(GROUP, records, conclude(GroupCheck(GROUP, records, None), n=2))
    draws = {salt: [fit.key for fit in group.draw(salt, HERE)] for salt in "abcdefgh"}
    repeated = {fit.key for fit in records[:2]}
    assert all(draw[0] in repeated and not repeated & {*draw[1:5]} for draw in draws.values())
    assert {group.draw(salt, THERE)[0].key for salt in "abcdefghijk"} > repeated


# All groups


def check_groups(records, verified=None):
    by_group = {}
    for record in records:
        fit = RecordedFit.from_record(record, "fake")
        by_group.setdefault(Group.from_config(record.config), []).append(fit)
    findings = verified.by_group if verified else {}
    return [GroupCheck(group, members, findings.get(group)) for group, members in by_group.items()]


def refit_all(group, find_data, **options):
    refits = [Refit(group, fit) for fit in group.fits]
    done = refit_records(refits, find_data, Workers(1, "loky"), HERE, **options)
    return [fit for _, fit in done]


def test_changed_algorithm_is_different(recorded, dataset, tmp_path, monkeypatch):
    [group] = check_groups(recorded())
    refit_all(group, lambda _: dataset)
    add_finding(tmp_path, group.conclude("b17bc98", HERE, "2999-01-01T00:00:00Z"))
    verified = RefitFindings.read(tmp_path)
    assert verified.by_group[group.group].state == "same"

    from fake_classifiers import Nearest

    monkeypatch.setattr(
        Nearest, "predict", lambda self, X: self.classes_[np.arange(len(X)) % len(self.classes_)]
    )
    monkeypatch.delattr(Nearest, "staged_predict")
    [group] = check_groups([fit.record for fit in group.fits], verified)
    refit_all(group, lambda _: dataset)
    add_finding(tmp_path, group.conclude("b17bc98", HERE, "2999-01-01T00:00:00Z"))
    assert RefitFindings.read(tmp_path).by_group[group.group].state == "different"


def test_changed_splits_are_different(recorded):
    [group] = check_groups(recorded())
    assert refit_all(group, lambda _: make_dataset(seed=5, counts=(50, 30, 40))) == []
    assert [result.state for result in group.results] == ["different"] * len(group.fits)
    assert all("draws other rows" in result.reason for result in group.results)


def test_missing_data_are_skipped(recorded):
    def find_nothing(record):
        raise UserError("not available")

    [group] = check_groups(recorded())
    assert refit_all(group, find_nothing) == []
    assert {(result.state, result.reason) for result in group.results} == {
        ("skipped", "not available")
    }
    assert not group.refitted


def test_budget_counts_recorded_seconds(recorded, dataset):
    records = recorded(n_splits=4)
    spent = dict(zip([r.split for r in records], (3.0, 9.0, 2.0, 0.0), strict=True))
    records = [
        examples.recorded(modify_record(flat(record), seconds__fit=spent[record.split]))
        for record in records
    ]

    def refitted(find_data, budget):
        [group] = check_groups(records)
        return [fit.seconds for fit in refit_all(group, find_data, budget=budget)]

    assert refitted(lambda _: dataset, 0.0) == []
    assert refitted(lambda _: dataset, 5.05) == [3.0, 2.0]
    assert refitted(lambda _: dataset, 5.2) == [3.0, 2.0, 0.0]

    def find_all_but_one(record):
        if record.split == 0:
            raise UserError("not available")
        return dataset

    assert refitted(find_all_but_one, 9.2) == [9.0, 0.0]


def test_draw_reaches_every_algorithm_then_every_group_first(recorded):
    records = recorded(n_splits=8)
    copies = []
    for place, (target, data) in enumerate(itertools.product("AB", ("one", "two", "three"))):
        for record in records:
            changes = {"config__algo___target_": f"module.{target}", "config__data__name": data}
            changes |= {"config__seed": place}
            copies.append(examples.recorded(modify_record(flat(record), **changes)))
    groups = check_groups(copies)
    refits = draw_refits(groups, "salt", HERE)
    assert len({fit.key for _, fit in refits}) == len(refits) == 6 * MAX_DRAWN
    assert {group.group.target for group, _ in refits[:2]} == {"module.A", "module.B"}
    assert len({group.group for group, _ in refits[:6]}) == 6
    firsts = {draw_refits(groups, salt, HERE)[0][0].group for salt in "abcdefghijklmnop"}
    assert len(firsts) > 3


def test_draw_takes_unverified_groups_before_verified_ones():
    groups = []
    for data in ("one", "two", "three", "four"):
        records = fits(9, config__data__name=data, config__seed=len(groups))
        groups.append(GroupCheck(Group("fake_classifiers.Nearest", "", data), records, None))
    verified = groups[:3]
    for check in verified:
        check.finding = conclude(check, n=5)
        assert check.finding.is_verified
        check.results.clear()
    for salt in "abcd":
        refits = draw_refits(groups, salt, HERE)
        # One record of the algorithm, then all of the group that is not verified.
        others = [check.group.data for check, _ in refits[1:]]
        n_left = MAX_DRAWN - (refits[0][0] is groups[3])
        assert others[:n_left] == ["four"] * n_left
        assert "four" not in others[n_left:]
    # A group that differed comes first, even if it is verified otherwise.
    groups[0].finding = conclude(groups[0], wrong=(0,), blas=HERE, is_same_kernel=True)
    assert [check.group.data for check, _ in draw_refits(groups, "a", HERE)[:5]] == ["one"] * 5


def test_draw_of_slow_records_of_unverified_groups_precedes_verified_groups():
    slow = fits(5, 50.0, config__data__name="slow")
    quick = fits(9, config__data__name="quick")
    groups = [GroupCheck(Group("fake_classifiers.Nearest", "", "slow"), slow, None)]
    groups.append(GroupCheck(Group("fake_classifiers.Nearest", "", "quick"), quick, None))
    groups[1].finding = conclude(groups[1], n=5)
    refits = draw_refits(groups, "salt", HERE)
    assert [check.group.data for check, _ in refits] == ["quick", *["slow"] * 5, *["quick"] * 4]
