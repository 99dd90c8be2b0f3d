import numpy as np
import pytest
from fitting.toy import make_dataset, run

from boostbench.execution.verification.compare import what_differs
from boostbench.execution.verification.refit import refit
from boostbench.execution.verification.session import draws, fit, further, settle_equivalence
from boostbench.execution.verification.tally import GroupTally, Member
from boostbench.execution.workers import Workers
from boostbench.fitting.trial import run_trial
from boostbench.records.store import read_records
from boostbench.records.verified import Group, Verified, add_finding
from boostbench.util.errors import UserError

HERE = "openblas Haswell"


@pytest.fixture
def recorded(make_experiment, tmp_path):
    """Run an experiment with tuning; give all its records."""

    def make(target="fake_classifiers.Nearest", **others):
        experiment = make_experiment(target, **others)
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
def test_records_can_be_made_again_from_themselves(recorded, dataset, protocol):
    records = recorded(grid={"width": [1, 2]}, **protocol)
    assert {"fold" in record for record in records} == {False, True}
    for record in records:
        outcome = run_trial(refit(record, dataset), dataset.X, dataset.class_indices)
        assert what_differs(record, outcome) == []


def test_a_limit_of_time_refutes_nothing(recorded, dataset):
    """What finished in time may take longer on a slower machine."""
    for record in recorded(grid={"width": [1, 2]}, time_limit=600):
        assert record["config"]["protocol"]["time_limit"] == 600
        assert refit(record, dataset).protocol.time_limit is None


def test_other_rows_are_refused(recorded):
    records = recorded()
    with pytest.raises(Exception, match="other rows"):
        refit(records[0], make_dataset(seed=5, counts=(50, 30, 40)))


def tallies(records, verified=None):
    members = {}
    for record in records:
        members.setdefault(Group.of(record["config"]), []).append(Member.of(record, "fake"))
    verified = verified or Verified()
    return [GroupTally(g, some, verified.findings.get(g)) for g, some in members.items()]


def test_a_session(recorded, dataset, tmp_path, monkeypatch):
    [tally] = tallies(recorded())
    list(fit([(tally, m) for m in tally.members], lambda _: dataset, Workers(1, "loky"), HERE))
    add_finding(tmp_path, tally.finding("b17bc98", HERE, "2999-01-01T00:00:00Z"))
    known = Verified.read(tmp_path)
    assert known.findings[tally.group].state == "verified"

    # One class more is told apart in the first round: another formula.
    from fake_classifiers import Nearest

    monkeypatch.setattr(
        Nearest, "predict", lambda self, X: self.classes_[np.arange(len(X)) % len(self.classes_)]
    )
    monkeypatch.delattr(Nearest, "staged_predict")
    [tally] = tallies([m.record for m in tally.members], known)
    list(fit([(tally, m) for m in tally.members], lambda _: dataset, Workers(1, "loky"), HERE))
    add_finding(tmp_path, tally.finding("b17bc98", HERE, "2999-01-01T00:00:00Z"))
    assert Verified.read(tmp_path).findings[tally.group].state == "refuted"


def test_data_that_are_gone_are_no_refutation(recorded):
    def gone(record):
        raise UserError("not at hand")

    [tally] = tallies(recorded())
    assert list(fit([(tally, tally.members[0])], gone, Workers(1, "loky"), HERE)) == []
    assert list(tally.skipped.values()) == ["not at hand"]


def test_a_budget_counts_the_seconds_on_record(recorded, dataset):
    records = recorded(n_splits=4)
    spent = dict(zip([r["split"] for r in records], (3.0, 9.0, 2.0, 0.0), strict=True))
    records = [r | {"seconds": r["seconds"] | {"fit": spent[r["split"]]}} for r in records]
    [tally] = tallies(records)
    drawn = [(tally, m) for m in tally.members]

    def fitted(find, budget):
        done = fit(drawn, find, Workers(1, "loky"), HERE, budget=budget)
        return [member.seconds for _, member in done]

    assert fitted(lambda _: dataset, 0.0) == []
    assert fitted(lambda _: dataset, 5.05) == [3.0, 2.0]
    assert fitted(lambda _: dataset, 5.2) == [3.0, 2.0, 0.0]

    def gone(record):
        if record["split"] == 0:
            raise UserError("not at hand")
        return dataset

    assert fitted(gone, 9.2) == [9.0, 0.0]


def test_passes_reach_every_algorithm_first(recorded):
    records = recorded(n_splits=8)
    renamed = []
    for place, name in enumerate(("one", "two", "three")):
        for record in records:
            config = record["config"] | {"data": record["config"]["data"] | {"name": name}}
            renamed.append(
                record | {"config": config, "key": record["key"][:-1] + str(place), "n": name}
            )
    some = tallies(renamed)
    passes = list(draws(some, "salt", HERE))
    assert [len(one) for one in passes] == [1, 2, 3, 3, 3, 3]
    drawn = [member.key for one in passes for _, member in one]
    assert len(set(drawn)) == len(drawn)
    firsts = {next(draws(some, salt, HERE))[0][0].group.data for salt in "abcdefghijkl"}
    assert firsts == {"one", "two", "three"}


def test_equivalence_asks_for_pairs(recorded, dataset):
    [tally] = tallies(recorded(n_splits=40))
    for number, member in enumerate(tally.members[:5]):
        wrong = {"digests": {}} if number else {}
        tally.add(member, member.record | wrong, HERE, True)
    more = further([tally], "salt")
    assert len(more) == 25
    assert settle_equivalence([tally])
    for _, member in more:
        tally.add(member, member.record, HERE, True)
    assert settle_equivalence([tally]) == []
    assert tally.finding("b17bc98", HERE, "2999-01-01T00:00:00Z").state == "equivalent"
