import pytest
from fitting.examples import RECORD, changed

from boostbench.records.cuts import is_cut_so, with_cut, with_ways_of
from boostbench.spec.data import key_options

ONE, OTHER = {"header": True}, {"rows": [0, 9]}


def test_what_is_expected_tells_no_records_apart():
    assert key_options(ONE | {"expect": {"classes": 3}, "missing": "drop"}) == ONE
    assert is_cut_so(changed(RECORD, config__data__cut=ONE | {"expect": None}), ONE)


def test_a_record_without_a_cut_is_of_the_data_of_its_name():
    assert is_cut_so(RECORD, {})
    assert not is_cut_so(RECORD, ONE)


def test_one_more_way_leaves_the_others():
    record = with_cut(with_cut(RECORD, ONE), OTHER)
    assert all(is_cut_so(record, way) for way in ({}, ONE, OTHER))
    assert "also" not in RECORD


@pytest.mark.parametrize("more", [{}, {"also": [ONE]}])
def test_a_record_that_has_all_ways_stays_what_it_is(more):
    record = with_cut(RECORD, ONE)
    assert with_ways_of(record, RECORD | more) is record


def test_a_trial_is_asked_for_in_no_way():
    trial = RECORD | {"fold": 0}
    assert with_ways_of(trial, changed(trial, config__data__cut=ONE)) is trial
