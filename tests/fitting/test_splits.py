from dataclasses import replace

import numpy as np
import pytest

from boostbench.fitting.splits import splits
from boostbench.spec.protocol import ProtocolSpec
from boostbench.util.errors import UserError

from .toy import make_dataset


def equal_splits(first, second):
    return (
        first.seed == second.seed
        and np.array_equal(first.train, second.train)
        and np.array_equal(first.test, second.test)
    )


@pytest.mark.parametrize("sampling", ["stratified", "plain", "kfold"])
def test_splits_are_disjoint_and_cover_everything(dataset, sampling):
    for split in splits(dataset, ProtocolSpec(sampling=sampling, n_splits=4), seed=0):
        assert sorted([*split.train, *split.test]) == list(range(120))
        assert len(split.test) == 30


@pytest.mark.parametrize("samples_per_class", [None, 20])
@pytest.mark.parametrize("sampling", ["stratified", "plain"])
def test_more_splits_extend_fewer(dataset, sampling, samples_per_class):
    settings = {"sampling": sampling, "samples_per_class": samples_per_class}
    few = splits(dataset, ProtocolSpec(n_splits=3, **settings), seed=5)
    many = splits(dataset, ProtocolSpec(n_splits=7, **settings), seed=5)
    assert all(equal_splits(first, second) for first, second in zip(few, many, strict=False))
    assert len({split.checksum for split in many}) == 7
    assert len({split.seed for split in many}) == 7


def test_seed_determines_the_splits(dataset):
    first, again, other = (splits(dataset, ProtocolSpec(), seed)[0] for seed in (0, 0, 1))
    assert equal_splits(first, again)
    assert first.checksum == again.checksum
    assert first.checksum != other.checksum
    assert first.seed != other.seed


def test_stratified_keeps_the_shares_of_classes():
    dataset = make_dataset((60, 24, 12))
    for split in splits(dataset, ProtocolSpec(), seed=0):
        labels, counts = np.unique(dataset.y[split.test], return_counts=True)
        assert dict(zip(labels, counts, strict=True)) == {"a": 15, "b": 6, "c": 3}


def test_plain_ignores_the_shares_of_classes():
    dataset = make_dataset((60, 24, 12))
    of_first_class = {
        int(np.sum(dataset.y[split.test] == "a"))
        for split in splits(dataset, ProtocolSpec(sampling="plain"), seed=0)
    }
    assert len(of_first_class) > 1


def test_samples_per_class_are_drawn_anew_and_small_classes_keep_all():
    dataset = make_dataset((60, 8, 30))
    protocol = ProtocolSpec(samples_per_class=12, n_splits=3)
    drawn = [np.sort([*s.train, *s.test]) for s in splits(dataset, protocol, seed=0)]
    for rows in drawn:
        assert np.unique(dataset.y[rows], return_counts=True)[1].tolist() == [12, 8, 12]
    assert not np.array_equal(drawn[0], drawn[1])


def test_kfold_tests_every_drawn_sample_once():
    dataset = make_dataset((60, 8, 30))
    protocol = ProtocolSpec(sampling="kfold", samples_per_class=12, n_splits=4)
    parts = splits(dataset, protocol, seed=0)
    tested = np.concatenate([split.test for split in parts])
    assert len(np.unique(tested)) == len(tested) == 32


def test_fixed_splits_are_unchanged():
    fixed = [(np.array([0, 5]), np.array([1, 2])), (np.array([3]), np.array([4]))]
    dataset = make_dataset(splits=fixed)
    fixed_splits = splits(dataset, ProtocolSpec(sampling="fixed", n_splits=2), seed=0)
    assert [(s.train.tolist(), s.test.tolist()) for s in fixed_splits] == [
        ([0, 5], [1, 2]),
        ([3], [4]),
    ]


@pytest.mark.parametrize(
    ("counts", "settings", "message"),
    [
        ((40, 1), {}, "class 'b' of data set 'toy' has 1 sample, and a stratified split needs 2"),
        ((40, 3), {"sampling": "kfold"}, "class 'b' of data set 'toy' has 3 samples, fewer than"),
        ((40, 40), {"sampling": "fixed"}, "'toy' came without fixed splits"),
        ((4, 4), {"test_size": 0.1}, "test part of 1 samples, fewer than the 2 classes"),
        ((4, 4), {"test_size": 0.8}, "training part of 1 samples, fewer than the 2 classes"),
        ((2, 2), {"test_size": 0.9, "sampling": "plain"}, "leaves nothing to train on"),
    ],
)
def test_impossible_splits_are_user_errors(counts, settings, message):
    with pytest.raises(UserError, match=message):
        splits(make_dataset(counts), ProtocolSpec(**settings), seed=0)


def test_too_few_fixed_splits_are_refused():
    dataset = make_dataset(splits=[(np.array([0]), np.array([1]))])
    with pytest.raises(UserError, match="n_splits is 3, but data set 'toy' has 1 fixed splits"):
        splits(dataset, ProtocolSpec(sampling="fixed", n_splits=3), seed=0)


def class_counts(y):
    return np.unique(y, return_counts=True)[1].tolist()


def test_repeated_folds_extend_the_first_repetition():
    dataset = make_dataset((60, 24, 12))
    once = splits(dataset, ProtocolSpec(sampling="kfold", n_splits=4), seed=3)
    twice = splits(dataset, ProtocolSpec(sampling="kfold", n_splits=4, n_repeats=2), seed=3)
    assert [split.index for split in twice] == list(range(8))
    assert all(equal_splits(first, second) for first, second in zip(once, twice, strict=False))
    for folds in (twice[:4], twice[4:]):
        assert sorted(np.concatenate([split.test for split in folds])) == list(range(96))
    assert len({split.checksum for split in twice}) == len({split.seed for split in twice}) == 8


def make_official(n_train=60):
    """Return a data set whose first rows are the official training part."""
    dataset = make_dataset((40, 30, 50))
    return replace(dataset, splits=[(np.arange(n_train), np.arange(n_train, 120))])


def test_official_parts_are_repeated_with_other_seeds():
    parts = splits(make_official(), ProtocolSpec(sampling="official", n_splits=3), seed=0)
    assert len({split.checksum for split in parts}) == 1
    assert len({split.seed for split in parts}) == 3
    assert all(np.array_equal(split.test, np.arange(60, 120)) for split in parts)


def test_reduced_training_part_keeps_the_test_part():
    """Draw a part of the official training part, as for MNIST with 1000 digits per class."""
    dataset = make_official()
    settings = {"sampling": "official", "n_splits": 3, "train_per_class": 8}
    parts = splits(dataset, ProtocolSpec(**settings), seed=0)
    assert len({split.checksum for split in parts}) == 3
    for split in parts:
        assert class_counts(dataset.y[split.train]) == [8, 8, 8]
        assert np.array_equal(split.test, np.arange(60, 120))
        assert sorted([*split.train, *split.spare]) == list(range(60))
    more_parts = splits(dataset, ProtocolSpec(**{**settings, "n_splits": 5}), seed=0)
    assert all(
        equal_splits(first, second) for first, second in zip(parts, more_parts, strict=False)
    )


@pytest.mark.parametrize("sampling", ["stratified", "plain", "kfold"])
def test_train_size_reduces_the_training_part(sampling):
    dataset = make_dataset((60, 30, 30))
    whole = splits(dataset, ProtocolSpec(sampling=sampling, n_splits=4), seed=0)
    thin = splits(dataset, ProtocolSpec(sampling=sampling, n_splits=4, train_size=20), seed=0)
    for first, second in zip(whole, thin, strict=True):
        assert np.array_equal(first.test, second.test)
        assert set(second.train) < set(first.train)
        assert sorted([*second.train, *second.spare]) == sorted(first.train)
        assert len(second.train) == 20
    if sampling != "plain":
        assert class_counts(dataset.y[thin[0].train]) == [10, 5, 5]
    all_of_them = ProtocolSpec(sampling=sampling, n_splits=4, train_size=500)
    assert all(
        equal_splits(first, second)
        for first, second in zip(whole, splits(dataset, all_of_them, seed=0), strict=True)
    )


def test_rest_is_tested():
    """Train on a number of samples per class and test on the rest."""
    dataset = make_dataset((60, 30, 30))
    for split in splits(dataset, ProtocolSpec(train_per_class=12, test="rest"), seed=0):
        assert class_counts(dataset.y[split.train]) == [12, 12, 12]
        assert sorted([*split.train, *split.test]) == list(range(120))
        assert len(split.spare) == 0


def test_all_samples_are_tested():
    """Train on a stratified sample and test on all samples."""
    for split in splits(make_dataset(), ProtocolSpec(train_size=30, test="all"), seed=0):
        assert np.array_equal(split.test, np.arange(120))
        assert len(split.train) == 30


@pytest.mark.parametrize("sampling", ["stratified", "kfold"])
def test_official_test_part_is_never_trained_on(sampling):
    protocol = ProtocolSpec(sampling=sampling, n_splits=3, test="official")
    for split in splits(make_official(), protocol, seed=0):
        assert np.array_equal(split.test, np.arange(60, 120))
        assert split.train.max() < 60


def test_test_size_may_be_a_number_of_samples():
    for split in splits(make_dataset(), ProtocolSpec(test_size=17), seed=0):
        assert (len(split.train), len(split.test)) == (103, 17)


@pytest.mark.parametrize(
    ("train", "test", "message"),
    [
        ([0, 1, 2], [2, 3], "tests on 1 of the rows that it trains on, such as row 2"),
        ([0, 1], [3, 120], "row numbers that are not among the 120"),
        ([0, -1], [3, 4], "row numbers that are not among the 120"),
        ([0, 1, 1], [3, 4], "has a row twice"),
        ([0, 1], [3, 3], "has a row twice"),
        (0, 1, "no lists of row numbers"),
        ([[0], [1]], [3], "no lists of row numbers"),
        ([0.5], [3], "no lists of row numbers"),
        ([0, 1], np.arange(0), "has an empty part"),
    ],
)
def test_invalid_fixed_splits_are_refused(train, test, message):
    good = np.arange(10), np.arange(10, 20)
    dataset = make_dataset(splits=[good, (np.array(train), np.array(test))])
    splits(dataset, ProtocolSpec(sampling="fixed", n_splits=1), seed=0)
    with pytest.raises(UserError, match=f"fixed split 1 .from 0. of data set 'toy' .*{message}"):
        splits(dataset, ProtocolSpec(sampling="fixed", n_splits=2), seed=0)


@pytest.mark.parametrize("settings", [{"sampling": "official"}, {"test": "official"}])
def test_missing_official_part_is_an_error(settings):
    with pytest.raises(UserError, match=r"data set .toy. has none; take protocol\.sampling=strat"):
        splits(make_dataset(), ProtocolSpec(**settings), seed=0)
    several = make_dataset(splits=[(np.array([0]), np.array([1]))] * 3)
    with pytest.raises(UserError, match="has 3 fixed splits, none of them the official one"):
        splits(several, ProtocolSpec(**settings), seed=0)
