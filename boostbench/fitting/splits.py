"""Splits of a data set into training and test parts, by a protocol.

`boostbench.execution.plan` asks for the splits of an experiment, and `boostbench.fitting.tuning`
divides a training part again, into the folds of cross-validation.
"""

import functools
import hashlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit
from sklearn.utils import resample

from boostbench.data.dataset import Dataset
from boostbench.spec.protocol import ProtocolSpec
from boostbench.util.errors import UserError

#: Row numbers of a training and a test part.
Parts = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Split:
    """Division of a data set into a training and a test part.

    Attributes
    ----------
    index : int
        Number of the split, from 0.
    seed : int
        Seed for the estimator that is fitted on this split.
    train, test : ndarray of shape (n_train,) and (n_test,), dtype=int64
        Row numbers.
    spare : ndarray of shape (n_spare,), dtype=int64
        Row numbers of the training side that a reduced training part left out, and that are not
        tested.
    """

    index: int
    seed: int
    train: np.ndarray
    test: np.ndarray
    spare: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))

    @cached_property
    def checksum(self) -> str:
        """First 16 hex digits of the SHA-256 of the row numbers of both parts, in their order."""
        digest = hashlib.sha256()
        for rows in (self.train, self.test):
            digest.update(np.ascontiguousarray(rows, dtype="<i8").tobytes() + b";")
        return digest.hexdigest()[:16]


def splits(dataset: Dataset, protocol: ProtocolSpec, seed: int) -> list[Split]:
    """Divide a data set as the protocol says.

    Split ``i`` depends on ``(seed, i)`` only, so that asking for more splits keeps the first ones;
    in k-fold sampling all folds belong together and depend on ``(seed, n_splits)`` and the number
    of the repeat.

    Parameters
    ----------
    dataset : Dataset
        Data set, of which `y` and the fixed `splits` are used.
    protocol : ProtocolSpec
        Sampling, number of splits, sizes of the parts, and the tested samples.
    seed : int
        Seed of the experiment, at least 0.

    Returns
    -------
    list of Split

    Raises
    ------
    UserError
        If the data set cannot be divided in this way: a class or the data set has too few samples,
        there are too few fixed splits, or the parts of a fixed split overlap.
    """
    return list(_divide(dataset, protocol, seed))


# The algorithms of a table's row share its splits.
@functools.lru_cache(maxsize=32)
def _divide(dataset: Dataset, protocol: ProtocolSpec, seed: int) -> list[Split]:
    """Return the splits of a data set; see `splits`."""
    iter_parts = {
        "stratified": _iter_random_parts,
        "plain": _iter_random_parts,
        "kfold": _iter_folds,
        "official": _iter_official_parts,
        "fixed": _iter_fixed_parts,
    }[protocol.sampling]
    return [
        _reduce_and_select(make_split(index, seed, train, test), dataset, protocol, seed)
        for index, (train, test) in enumerate(iter_parts(dataset, protocol, seed))
    ]


def make_split(index: int, seed: int, train: np.ndarray, test: np.ndarray) -> Split:
    """Return a split of row numbers, with the estimator's seed that belongs to its number.

    Parameters
    ----------
    index : int
        Number of the split, from 0.
    seed : int
        Seed of the experiment.
    train, test : array of int of shape (n_train,) and (n_test,)
        Row numbers.
    """
    train, test = (np.asarray(part, np.int64) for part in (train, test))
    return Split(index, _split_seeds(seed, index).estimator, train, test)


def smallest_class(y: np.ndarray) -> tuple[int | str, int]:
    """Return the label with the fewest samples, and their number."""
    labels, counts = np.unique(y, return_counts=True)
    smallest = int(np.argmin(counts))
    return labels[smallest].item(), int(counts[smallest])


class _SplitSeeds(NamedTuple):
    """Independent 32-bit seeds of a split: for the division, and for the estimator."""

    division: int
    estimator: int


def _split_seeds(seed: int, index: int) -> _SplitSeeds:
    """Return the seeds of split `index` in an experiment with this seed."""
    return _SplitSeeds(*map(int, np.random.SeedSequence([int(seed), index]).generate_state(2)))


def _derive_seed(*numbers: int) -> int:
    """Return a 32-bit seed that depends on all numbers and on their order."""
    return int(np.random.SeedSequence([int(number) for number in numbers]).generate_state(1)[0])


def _reduce_and_select(split: Split, dataset: Dataset, protocol: ProtocolSpec, seed: int) -> Split:
    """Return a split with a reduced training part, the tested samples, and the spare ones.

    See the protocol's `train_per_class` and `train_size`, and its `test`.
    """
    # 1) Reduce the training part to a number of samples per class, or in all; `selected` are
    #    positions in the training part. The last two numbers of the seed are constants that
    #    distinguish this draw from the division of the split.
    y = dataset.y[split.train]
    sampling_seed = _derive_seed(seed, split.index, 0, 1)
    selected = np.arange(len(y))
    if protocol.train_per_class:
        selected = _sample_per_class(y, protocol.train_per_class, sampling_seed)
    elif protocol.train_size and protocol.train_size < len(y):
        selected = resample(
            selected,
            replace=False,
            n_samples=protocol.train_size,
            stratify=None if protocol.sampling == "plain" else y,
            random_state=sampling_seed,
        )
        selected = np.sort(selected)
    # 2) Select the tested samples: the test part (``test="part"``); the test part and the samples
    #    that step 1 left out ("rest"), so that none is spare; the test part that came with the data
    #    ("official"); or all samples ("all").
    test, spare = split.test, np.delete(split.train, selected)
    if protocol.test == "rest":
        test, spare = np.sort(np.concatenate([test, spare])), spare[:0]
    elif protocol.test == "official":
        _, test = _official_parts(dataset)
    elif protocol.test == "all":
        test = np.arange(dataset.n_samples)
    return replace(split, train=split.train[selected], test=test, spare=spare)


# ---------------------------------------------------------------------------------------------
# Samplings: each function yields the row numbers (train, test) of all splits. Their parameters are
# equal, as `_divide` calls one of them; an official or fixed sampling needs no seed.


def _iter_random_parts(dataset: Dataset, protocol: ProtocolSpec, seed: int) -> Iterator[Parts]:
    """Yield independent random divisions, stratified by class or not."""
    is_stratified = protocol.sampling == "stratified"
    splitter_class = StratifiedShuffleSplit if is_stratified else ShuffleSplit
    pool = _rows_to_divide(dataset, protocol)
    for index in range(protocol.n_splits):
        division_seed = _split_seeds(seed, index).division
        rows = pool[_sample_per_class(dataset.y[pool], protocol.samples_per_class, division_seed)]
        y = dataset.y[rows]
        _check_sizes(y, protocol, is_stratified, dataset.name)
        splitter = splitter_class(
            n_splits=1, test_size=protocol.test_size, random_state=division_seed
        )
        train, test = next(splitter.split(np.zeros(len(y)), y))
        yield rows[train], rows[test]


def _iter_folds(dataset: Dataset, protocol: ProtocolSpec, seed: int) -> Iterator[Parts]:
    """Yield the folds of stratified k-fold cross-validation, repeat by repeat."""
    pool = _rows_to_divide(dataset, protocol)
    for repeat in range(protocol.n_repeats):
        # The first repeat has the seed that it had before there were repeats.
        division_seed = (
            _derive_seed(seed, protocol.n_splits, repeat)
            if repeat
            else _split_seeds(seed, protocol.n_splits).division
        )
        rows = pool[_sample_per_class(dataset.y[pool], protocol.samples_per_class, division_seed)]
        y = dataset.y[rows]
        label, count = smallest_class(y)
        if count < protocol.n_splits:
            raise UserError(
                f"class {label!r} of data set {dataset.name!r} has {count} samples, fewer than the "
                f"{protocol.n_splits} folds; lower protocol.n_splits"
            )
        splitter = StratifiedKFold(protocol.n_splits, shuffle=True, random_state=division_seed)
        for train, test in splitter.split(np.zeros(len(y)), y):
            yield rows[train], rows[test]


def _iter_official_parts(dataset: Dataset, protocol: ProtocolSpec, seed: int) -> Iterator[Parts]:
    """Yield the one division that came with the data, for each seed of an estimator again."""
    return itertools.repeat(_official_parts(dataset), protocol.n_splits)


def _iter_fixed_parts(dataset: Dataset, protocol: ProtocolSpec, seed: int) -> Iterator[Parts]:
    """Yield the several divisions that came with the data."""
    if not dataset.splits:
        raise UserError(
            f"data set {dataset.name!r} came without fixed splits; "
            f"take protocol.sampling=stratified"
        )
    n_splits = len(dataset.splits) if protocol.n_splits is None else protocol.n_splits
    if n_splits > len(dataset.splits):
        raise UserError(
            f"protocol.n_splits is {n_splits}, but data set {dataset.name!r} has "
            f"{len(dataset.splits)} fixed splits"
        )
    return (_check_fixed_parts(dataset, number) for number in range(n_splits))


# ---------------------------------------------------------------------------------------------
# Rows


def _check_fixed_parts(dataset: Dataset, number: int) -> Parts:
    """Return the parts of a split that came with the data, after a check of its rows."""
    train, test = (np.asarray(part) for part in dataset.splits[number])
    rows = np.concatenate([train.ravel(), test.ravel()])
    problem = None
    if not all(part.ndim == 1 and part.dtype.kind in "iu" for part in (train, test)):
        problem = "has parts that are no lists of row numbers"
    elif not (len(train) and len(test)):
        problem = "has an empty part"
    elif rows.min() < 0 or rows.max() >= dataset.n_samples:
        problem = f"has row numbers that are not among the {dataset.n_samples} of the data set"
    elif len(shared := np.intersect1d(train, test)):
        problem = f"tests on {len(shared)} of the rows that it trains on, such as row {shared[0]}"
    elif len(np.unique(rows)) < len(rows):
        problem = "has a row twice"
    if problem:
        raise UserError(
            f"fixed split {number} (from 0) of data set {dataset.name!r} {problem}; correct its "
            f"file or take another protocol.sampling"
        )
    return train, test


def _official_parts(dataset: Dataset) -> Parts:
    """Return the training and test part that came with the data, which must be a single pair."""
    n_fixed = len(dataset.splits or [])
    if n_fixed != 1:
        available = f"{n_fixed} fixed splits, none of them the official one" if n_fixed else "none"
        raise UserError(
            f"an official training and test part is asked for, and data set {dataset.name!r} has "
            f"{available}; take protocol.sampling={'fixed' if n_fixed else 'stratified'} and "
            f"protocol.test=part"
        )
    return _check_fixed_parts(dataset, 0)


def _rows_to_divide(dataset: Dataset, protocol: ProtocolSpec) -> np.ndarray:
    """Return the rows to divide: all rows, or the official training part if its test is tested."""
    if protocol.test == "official":
        return _official_parts(dataset)[0]
    return np.arange(dataset.n_samples)


def _sample_per_class(y: np.ndarray, n_per_class: int | None, seed: int) -> np.ndarray:
    """Return ascending positions in `y` of a random sample of each class.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Labels.
    n_per_class : int or None
        Number of samples per class; a smaller class is taken whole. None: all samples.
    seed : int
        Seed of the sample.
    """
    if n_per_class is None:
        return np.arange(len(y))
    rng = np.random.default_rng(seed)
    positions = []
    for label in np.unique(y):
        members = np.flatnonzero(y == label)
        positions.append(rng.choice(members, min(n_per_class, len(members)), replace=False))
    return np.sort(np.concatenate(positions))


def _check_sizes(y: np.ndarray, protocol: ProtocolSpec, is_stratified: bool, name: str) -> None:
    """Raise an error if `protocol.test_size` leaves too few samples of a data set in a part.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Labels of the rows that are divided.
    protocol : ProtocolSpec
    is_stratified : bool
        True: both parts need a sample of each class.
    name : str
        Name of the data set, for the error.
    """
    # An integer is a number of samples, and a float a share, which scikit-learn rounds up.
    test_size = protocol.test_size
    n_test = test_size if isinstance(test_size, int) else int(np.ceil(test_size * len(y)))
    n_train = len(y) - n_test
    if n_train < 1:
        raise UserError(
            f"protocol.test_size={test_size} leaves nothing to train on: "
            f"data set {name!r} has {len(y)} samples"
        )
    if not is_stratified:
        return
    label, count = smallest_class(y)
    if count < 2:
        raise UserError(
            f"class {label!r} of data set {name!r} has 1 sample, and a stratified split needs 2; "
            f"take protocol.sampling=plain"
        )
    n_classes = len(np.unique(y))
    if min(n_train, n_test) < n_classes:
        part, size = ("test", n_test) if n_test < n_classes else ("training", n_train)
        raise UserError(
            f"protocol.test_size={test_size} gives a {part} part of {size} samples, "
            f"fewer than the {n_classes} classes of data set {name!r}"
        )
