import numpy as np
import pytest

from boostbench.errors import UserError
from boostbench.experiment.protocol import Protocol
from boostbench.experiment.splits import splits

from .toy import make_dataset


def same(one, other):
    return (
        one.seed == other.seed
        and np.array_equal(one.train, other.train)
        and np.array_equal(one.test, other.test)
    )


@pytest.mark.parametrize("sampling", ["stratified", "plain", "kfold"])
def test_splits_are_disjoint_and_cover_everything(dataset, sampling):
    for split in splits(dataset, Protocol(sampling=sampling, n_splits=4), seed=0):
        assert sorted([*split.train, *split.test]) == list(range(120))
        assert len(split.test) == 30


@pytest.mark.parametrize("samples_per_class", [None, 20])
@pytest.mark.parametrize("sampling", ["stratified", "plain"])
def test_more_splits_extend_fewer(dataset, sampling, samples_per_class):
    settings = {"sampling": sampling, "samples_per_class": samples_per_class}
    few = splits(dataset, Protocol(n_splits=3, **settings), seed=5)
    many = splits(dataset, Protocol(n_splits=7, **settings), seed=5)
    assert all(same(one, other) for one, other in zip(few, many, strict=False))
    assert len({split.checksum for split in many}) == 7
    assert len({split.seed for split in many}) == 7


def test_seed_decides(dataset):
    first, again, other = (splits(dataset, Protocol(), seed)[0] for seed in (0, 0, 1))
    assert same(first, again)
    assert first.checksum == again.checksum
    assert first.checksum != other.checksum
    assert first.seed != other.seed


def test_stratified_keeps_the_shares_of_classes():
    dataset = make_dataset((60, 24, 12))
    for split in splits(dataset, Protocol(), seed=0):
        labels, counts = np.unique(dataset.y[split.test], return_counts=True)
        assert dict(zip(labels, counts, strict=True)) == {"a": 15, "b": 6, "c": 3}


def test_plain_does_not_keep_the_shares_of_classes():
    dataset = make_dataset((60, 24, 12))
    of_first_class = {
        int(np.sum(dataset.y[split.test] == "a"))
        for split in splits(dataset, Protocol(sampling="plain"), seed=0)
    }
    assert len(of_first_class) > 1


def test_samples_per_class_are_drawn_anew_and_small_classes_keep_all():
    dataset = make_dataset((60, 8, 30))
    protocol = Protocol(samples_per_class=12, n_splits=3)
    drawn = [np.sort([*s.train, *s.test]) for s in splits(dataset, protocol, seed=0)]
    for rows in drawn:
        assert np.unique(dataset.y[rows], return_counts=True)[1].tolist() == [12, 8, 12]
    assert not np.array_equal(drawn[0], drawn[1])


def test_kfold_tests_every_drawn_sample_once():
    dataset = make_dataset((60, 8, 30))
    protocol = Protocol(sampling="kfold", samples_per_class=12, n_splits=4)
    parts = splits(dataset, protocol, seed=0)
    tested = np.concatenate([split.test for split in parts])
    assert len(np.unique(tested)) == len(tested) == 32


def test_fixed_splits_are_taken_as_they_are():
    fixed = [(np.array([0, 5]), np.array([1, 2])), (np.array([3]), np.array([4]))]
    dataset = make_dataset(splits=fixed)
    found = splits(dataset, Protocol(sampling="fixed", n_splits=2), seed=0)
    assert [(s.train.tolist(), s.test.tolist()) for s in found] == [([0, 5], [1, 2]), ([3], [4])]


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
def test_impossible_splits_are_the_users_to_mend(counts, settings, message):
    with pytest.raises(UserError, match=message):
        splits(make_dataset(counts), Protocol(**settings), seed=0)


def test_too_few_fixed_splits():
    dataset = make_dataset(splits=[(np.array([0]), np.array([1]))])
    with pytest.raises(UserError, match="n_splits is 3, but data set 'toy' has 1 fixed splits"):
        splits(dataset, Protocol(sampling="fixed", n_splits=3), seed=0)


@pytest.mark.parametrize("seed", [-1, 1.5, "x", None])
def test_bad_seed(dataset, seed):
    with pytest.raises(UserError, match="seed is"):
        splits(dataset, Protocol(), seed)
