import pytest
from fitting.examples import RECORD, changed

from boostbench.execution.verification.tally import ENOUGH, GroupTally, Member
from boostbench.records.environment import system
from boostbench.records.verified import Group

HERE, THERE = "openblas Haswell", "openblas Prescott"
STARTED = "2026-11-24T00:00:00Z"
GROUP = Group("fake_classifiers.Nearest", "", "toy")


def members(n, seconds=0.5, blas=None, **changes):
    """Make records of a group, by an unknown kernel unless one is given."""
    made = []
    for split in range(n):
        record = changed(RECORD, split=split, seconds__fit=seconds, **changes)
        record |= {"key": f"{split:016x}"}
        if blas:
            record = changed(record, environment__blas=blas)
        made.append(Member.of(record, "fake"))
    return made


def verdict(tally, wrong=(), blas=HERE, n=None, **more):
    """Fit some members again, of which those at some places come out otherwise."""
    for place, member in enumerate(tally.members[:n]):
        outcome = changed(member.record, **({"test_error": 2 / 30} if place in wrong else {}))
        tally.add(member, outcome, blas, more.get("is_same_kernel", False))
    return tally.finding("b17bc98", blas, STARTED)


@pytest.mark.parametrize(
    ("n_records", "n_fitted", "state"),
    [(10, ENOUGH, "verified"), (10, ENOUGH - 1, "unverified"), (2, 2, "verified")],
)
def test_one_sample_verifies_nothing(n_records, n_fitted, state):
    found = verdict(GroupTally(GROUP, members(n_records), None), n=n_fitted)
    assert (found.state, found.total) == (state, n_records)


def test_draws_add_up():
    some = members(10)
    known = verdict(GroupTally(GROUP, some, None), n=3)
    assert known.state == "unverified"
    rest = GroupTally(GROUP, some, known)
    for member in some[3:5]:
        rest.add(member, member.record, HERE, False)
    found = rest.finding("b17bc98", HERE, STARTED)
    assert found.state == "verified"
    assert len(found.agreed[HERE]) == 5


def test_a_record_that_names_the_kernel_is_refuted_by_one_difference():
    found = verdict(GroupTally(GROUP, members(10, blas=HERE), None), wrong=[3])
    assert found.state == "refuted"
    assert found.until == STARTED
    [words] = found.refuted.values()
    assert words.startswith("fake on toy, split 3: test_error is 0.0333")


@pytest.mark.parametrize("blas", [None, THERE])
def test_by_another_kernel_a_few_may_differ(blas):
    found = verdict(GroupTally(GROUP, members(10, blas=blas), None), wrong=[3, 4])
    assert (found.state, found.until) == ("compatible", "")
    assert list(found.unlike.values()) == pytest.approx([100 / 30] * 2)


def test_by_another_kernel_a_system_refutes():
    found = verdict(GroupTally(GROUP, members(10), None), wrong=range(8))
    assert found.state == "refuted"
    assert set(found.refuted.values()) == {"errors differ by +3.33 points on average, in 8 fits"}


def test_what_agreed_once_has_to_agree_again_by_that_kernel():
    some = members(10)
    known = verdict(GroupTally(GROUP, some, None))
    assert verdict(GroupTally(GROUP, some, known), wrong=[0]).state == "refuted"
    assert verdict(GroupTally(GROUP, some, known), wrong=[0], blas=THERE).state == "compatible"


def test_on_another_system_a_kernel_is_another_one():
    here, there = (members(10, blas=HERE, environment__system=s) for s in (system(), "Plan9 68k"))
    assert verdict(GroupTally(GROUP, here, None), wrong=[0]).state == "refuted"
    known = verdict(GroupTally(GROUP, there, None), wrong=[0])
    assert (known.state, list(known.unlike)) == ("compatible", [there[0].key])
    # What agreed here once was made elsewhere all the same.
    assert verdict(GroupTally(GROUP, there, known), wrong=[1]).state == "compatible"


def test_records_of_this_machine():
    found = verdict(GroupTally(GROUP, members(10), None), wrong=[0], is_same_kernel=True)
    assert found.state == "refuted"


def test_a_failure_refutes():
    tally = GroupTally(GROUP, members(3), None)
    tally.add(tally.members[0], {"error": "ValueError: no"}, HERE, False)
    found = tally.finding("b17bc98", HERE, STARTED)
    assert (found.state, found.refuted[tally.members[0].key]) == (
        "refuted",
        "fake on toy, split 0: today it fails: ValueError: no",
    )


def test_what_is_put_right_is_no_longer_refuted():
    some = members(10, blas=HERE)
    known = verdict(GroupTally(GROUP, some, None), wrong=[3])
    again = GroupTally(GROUP, some, known)
    assert again.order("salt", HERE)[0].key == some[3].key
    assert verdict(again).state == "verified"


def test_records_that_were_made_again_stay_fresh():
    """One that was not, and differs still, does not refute them once more."""
    some = members(10, blas=HERE)
    known = verdict(GroupTally(GROUP, some, None), wrong=[3])
    anew = [changed(m.record, finished="2026-11-25T00:00:00Z") for m in some]
    some = [Member.of(r, "fake") if i != 3 else some[3] for i, r in enumerate(anew)]
    found = verdict(GroupTally(GROUP, some, known), wrong=[3])
    assert (found.state, found.until) == ("refuted", known.until)
    later = GroupTally(GROUP, some, known).finding("b17bc98", HERE, "2026-11-26T00:00:00Z")
    assert (later.state, later.until) == ("refuted", known.until)


def test_equivalent_groups_may_differ():
    some = members(10, blas=HERE)
    tally = GroupTally(GROUP, some, None, is_equivalent=True)
    known = verdict(tally, wrong=[3])
    assert known.state == "equivalent"
    assert verdict(GroupTally(GROUP, some, known), wrong=[3]).state == "compatible"


def test_the_draw():
    """Records of a tenth of a second to five come first, then cheaper ones, then the dearest."""
    cheap, right, dear = members(3, 0.01), members(6)[3:], members(9, 50.0)[6:]
    tally = GroupTally(GROUP, [*dear, *cheap, *right], None)
    orders = [[m.key for m in tally.order(salt, HERE)] for salt in "abcdefgh"]
    for order in orders:
        assert {*order[:3]} == {m.key for m in right}
        assert {*order[3:6]} == {m.key for m in cheap}
    assert len({tuple(order) for order in orders}) > 1
    known = verdict(GroupTally(GROUP, right, None), n=1)
    tally = GroupTally(GROUP, right, known)
    assert {tally.order(salt, HERE)[0].key for salt in "abcdefgh"} == {right[0].key}
    assert {tally.order(salt, THERE)[0].key for salt in "abcdefgh"} > {right[0].key}
