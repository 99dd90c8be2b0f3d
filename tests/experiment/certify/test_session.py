import pytest

from boostbench.errors import UserError
from boostbench.experiment.certificates import Certificates, certificates_path
from boostbench.experiment.certify.samples import NAMES
from boostbench.experiment.certify.session import Session
from boostbench.experiment.runner import Finished, Planned

from .conftest import changed

#: Whether today's code gives what is on record, class by class.
GRADES = {
    "Formula": None,
    "Branch": None,
    "Moved": "identical",
    "Path": "identical",
    "Ordered": "equivalent",
    "Judged": None,
    "Slower": "identical",
    "Rare": None,
}


def _verdict_changes(pairs):
    """Object to one class."""
    is_judged = "Judged" in pairs[0].sample.config["algo"]["_target_"]
    return ["mytable: worse today"] if is_judged else []


@pytest.fixture(scope="module")
def all_of_it():
    """Findings, events and results of one certification of all classes, filled by a test."""
    return {}


@pytest.fixture
def certified(all_of_it, find_groups, certify, tmp_path_factory):
    if not all_of_it:
        results = tmp_path_factory.mktemp("certified")
        findings, events = certify(find_groups(), results, _verdict_changes, n_jobs=2)
        by_name = {finding.group.name: finding for finding in findings}
        all_of_it.update(findings=by_name, events=events, results=results)
    return all_of_it


@pytest.mark.parametrize("name", GRADES)
def test_grades(certified, name):
    assert certified["findings"][name].grade == GRADES[name]


def test_another_formula_is_named_with_its_errors(certified):
    finding = certified["findings"]["Formula"]
    [reason] = finding.reasons
    assert "the error differs by" in reason
    assert len(finding.pairs) == 30
    assert any("test_error" in words for words in finding.differing[0].differences)


def test_a_branch_that_one_data_set_enters_spoils_the_other_one(certified):
    finding = certified["findings"]["Branch"]
    differing = {pair.sample.config["data"]["name"] for pair in finding.differing}
    assert differing == {"wide"}
    assert finding.covered == []


def test_cross_validation_is_sampled(certified):
    pairs = certified["findings"]["Moved"].pairs
    assert sorted(pair.sample.is_tuning for pair in pairs) == [False, False, True]
    assert all(pair.before["outcome"].keys() & NAMES for pair in pairs)
    [path] = [pair for pair in certified["findings"]["Path"].pairs if pair.sample.is_tuning]
    assert len(path.before["outcome"]["validation_errors"]) == 2


def test_a_sum_in_another_order_differs_and_is_equivalent(certified):
    finding = certified["findings"]["Ordered"]
    assert finding.differing
    assert len(finding.pairs) == 30


def test_only_the_time_differs(certified):
    [pair] = certified["findings"]["Slower"].pairs
    before, after = (found["outcome"]["seconds"]["fit"] for found in (pair.before, pair.after))
    assert after > 5 * before
    assert pair.differences == []


def test_certificates_are_on_file(certified, toy, find_groups):
    certificates = Certificates.read(certified["results"])
    assert certificates.warnings == []
    for group in find_groups():
        for config_hash in group.configurations:
            for sample in group.drawn(config_hash):
                freshness = certificates.freshness(sample.record, sample.after)
                assert freshness == GRADES[group.name]


def test_records_are_left_alone(certified, toy):
    assert not certificates_path(toy.results).exists()


def test_events(certified):
    planned, *others = certified["events"]
    more = [event for event in others if isinstance(event, Planned)]
    compared = [event for event in others if isinstance(event, Finished)]
    # One of each configuration, two where there is a grid; then up to 30 for each class that
    # differs, as far as there are any.
    assert (planned.tuning, planned.splits) == (2, 10)
    assert [event.tuning + event.splits for event in more] == [29 + 28 + 29 + 29 + 3]
    assert len(compared) == 12 + 118


def test_another_verdict_forbids_equivalence(certified):
    assert certified["findings"]["Judged"].reasons == ["another verdict: mytable: worse today"]


def test_few_splits_cannot_be_equivalent(certified):
    reason = "4 pairs with an error, of 30 that equivalence asks for"
    assert certified["findings"]["Rare"].reasons == [reason]


def test_the_budget_leaves_out_what_costs_most(find_groups, tmp_path):
    groups = find_groups("Moved", "Ordered")
    samples, seconds = Session(groups, tmp_path).plan()
    some, less = Session(groups, tmp_path, budget=seconds / 2).plan()
    assert 0 < less <= seconds / 2
    assert some == samples[: len(some)]
    assert Session(groups, tmp_path, budget=seconds / 4, n_jobs=2).plan()[0] == some
    assert Session(groups, tmp_path, budget=0.0).plan() == ([], 0.0)


def test_refused(toy, certify, find_groups, tmp_path):
    [group] = find_groups("Moved")
    variants = [
        ({"record": {"code": "0" * 16}}, "is not the code that the records name"),
        ({"after": "0" * 16}, "is not the code that the records name"),
        ({"commit": toy.broken}, "No module named 'a_package_that_is_gone'"),
        ({"commit": "f" * 40}, "cannot check out commit ffffffffffff"),
    ]
    findings, _ = certify([changed(group, **changes) for changes, _ in variants])
    for finding, (_, message) in zip(findings, variants, strict=True):
        [reason] = finding.reasons
        assert finding.is_refused
        assert message in reason
        assert "\n" not in reason
    assert not certificates_path(tmp_path).exists()


def test_what_was_fitted_before_a_stop_is_kept(certify, find_groups, tmp_path):
    class Stop(Exception):
        pass

    def stop(event):
        if isinstance(event, Finished):
            raise Stop

    with pytest.raises(Stop):
        certify(find_groups("Moved"), tmp_path, on_event=stop)
    kept = tmp_path / ".certify" / "fits.jsonl"
    before = kept.read_text().splitlines()
    # The split that has just finished; the trial may have been first.
    assert before
    [finding], _ = certify(find_groups("Moved"), tmp_path)
    assert finding.grade == "identical"
    after = kept.read_text().splitlines()
    assert after[: len(before)] == before
    assert len(after) == 3


def test_the_older_code_fits_what_no_record_names(certify, find_groups, tmp_path):
    [named] = find_groups("Slower")
    [finding], _ = certify([named])
    nameless = changed(named, {"digests": {}})
    [other], _ = certify([nameless], tmp_path / "other")
    assert finding.grade == other.grade == "identical"
    assert [list(found.pairs[0].before["outputs"]) for found in (finding, other)] == [[], ["end"]]
    costs = [Session([group], tmp_path / "none").plan()[1] for group in (named, nameless)]
    assert costs[1] == pytest.approx(2 * costs[0], rel=0.2)


def test_without_its_data_a_configuration_is_left_out(certify, find_groups):
    def missing(facts):
        raise UserError("no such file")

    groups = find_groups("Slower")
    for group in (groups[0], changed(groups[0], {"digests": {}})):
        [finding], _ = certify([group], datasets=missing)
        assert finding.pairs == []
        assert list(finding.skipped.values()) == ["no such file"]


def test_the_older_code_is_asked_where_a_record_differs(certify, find_groups, tmp_path):
    [group] = find_groups("Slower")
    [finding], _ = certify([changed(group, {"digests": {"end": "0" * 10}})])
    [pair] = finding.pairs
    assert list(pair.before["outputs"]) == ["end"]
    assert finding.grade == "identical"
