"""Splits of a data set into training and test parts, by a protocol."""

import functools
import hashlib
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from sklearn.model_selection import ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit
from sklearn.utils import resample

from boostbench.data.dataset import Dataset
from boostbench.spec.protocol import ProtocolSpec
from boostbench.util.errors import UserError


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
        Rows on the side of the training part that are neither trained on nor tested.
    """

    index: int
    seed: int
    train: np.ndarray
    test: np.ndarray
    spare: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))

    @cached_property
    def checksum(self) -> str:
        """First 16 hex digits of the SHA-256 of the row numbers, in order."""
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
        The samples; only `y` and the fixed `splits` are looked at.
    protocol : ProtocolSpec
        Sampling, number of splits, sizes of the parts, and the tested samples.
    seed : int
        Non-negative.

    Returns
    -------
    list of Split

    Raises
    ------
    UserError
        If the data set cannot be divided so: too few samples in a class or in all, no (or too
        few) fixed splits, or fixed splits whose parts overlap.
    """
    return list(_divide(dataset, protocol, seed))


# The algorithms of a table's row share its splits.
@functools.lru_cache(maxsize=32)
def _divide(dataset: Dataset, protocol: ProtocolSpec, seed: int) -> list[Split]:
    if protocol.sampling in ("stratified", "plain"):
        parts = _shuffled
    else:
        parts = {"kfold": _kfold, "official": _officially, "fixed": _fixed}[protocol.sampling]
    return [
        _reduce_training_part(numbered(i, seed, train, test), dataset, protocol, seed)
        for i, (train, test) in enumerate(parts(dataset, protocol, seed))
    ]


def numbered(index: int, seed: int, train: np.ndarray, test: np.ndarray) -> Split:
    """Return a split of row numbers, with the seed of its number."""
    rows = (np.asarray(part, np.int64) for part in (train, test))
    return Split(index, int(_seeds(seed, index)[1]), *rows)


def smallest_class(y: np.ndarray) -> tuple[int | str, int]:
    """Return the label with the fewest samples, and their number."""
    labels, counts = np.unique(y, return_counts=True)
    smallest = int(np.argmin(counts))
    return labels[smallest].item(), int(counts[smallest])


def _reduce_training_part(
    split: Split, dataset: Dataset, protocol: ProtocolSpec, seed: int
) -> Split:
    """Reduce the training part, and select the tested samples."""
    y = dataset.y[split.train]
    draw = _seed(seed, split.index, 0, 1)
    selected = np.arange(len(y))
    if protocol.train_per_class:
        selected = _draw(y, protocol.train_per_class, draw)
    elif protocol.train_size and protocol.train_size < len(y):
        shares = None if protocol.sampling == "plain" else y
        selected = resample(
            selected,
            replace=False,
            n_samples=protocol.train_size,
            stratify=shares,
            random_state=draw,
        )
        selected = np.sort(selected)
    test, spare = split.test, np.delete(split.train, selected)
    if protocol.test == "rest":
        test, spare = np.sort(np.concatenate([test, spare])), spare[:0]
    elif protocol.test == "official":
        test = _official(dataset)[1]
    elif protocol.test == "all":
        test = np.arange(dataset.n_samples)
    return replace(split, train=split.train[selected], test=test, spare=spare)


def _shuffled(dataset: Dataset, protocol: ProtocolSpec, seed: int):
    stratified = protocol.sampling == "stratified"
    splitter = StratifiedShuffleSplit if stratified else ShuffleSplit
    pool = _pool(dataset, protocol)
    for i in range(protocol.n_splits):
        draw = int(_seeds(seed, i)[0])
        rows = pool[_draw(dataset.y[pool], protocol.samples_per_class, draw)]
        y = dataset.y[rows]
        _check_sizes(y, protocol, stratified, dataset.name)
        once = splitter(n_splits=1, test_size=protocol.test_size, random_state=draw)
        train, test = next(once.split(np.zeros(len(y)), y))
        yield rows[train], rows[test]


def _kfold(dataset: Dataset, protocol: ProtocolSpec, seed: int):
    pool = _pool(dataset, protocol)
    for repeat in range(protocol.n_repeats):
        first = int(_seeds(seed, protocol.n_splits)[0])
        draw = _seed(seed, protocol.n_splits, repeat) if repeat else first
        rows = pool[_draw(dataset.y[pool], protocol.samples_per_class, draw)]
        y = dataset.y[rows]
        label, count = smallest_class(y)
        if count < protocol.n_splits:
            raise UserError(
                f"class {label!r} of data set {dataset.name!r} has {count} samples, fewer than the "
                f"{protocol.n_splits} folds; lower protocol.n_splits"
            )
        splitter = StratifiedKFold(protocol.n_splits, shuffle=True, random_state=draw)
        for train, test in splitter.split(np.zeros(len(y)), y):
            yield rows[train], rows[test]


def _officially(dataset: Dataset, protocol: ProtocolSpec, seed: int):
    return [_official(dataset)] * protocol.n_splits


def _fixed(dataset: Dataset, protocol: ProtocolSpec, seed: int):
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
    return [_provided(dataset, number) for number in range(n_splits)]


def _provided(dataset: Dataset, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a split that came with the data, after a check of its rows."""
    train, test = (np.asarray(part) for part in dataset.splits[number])
    rows = np.concatenate([train.ravel(), test.ravel()])
    what = None
    if not all(part.ndim == 1 and part.dtype.kind in "iu" for part in (train, test)):
        what = "has parts that are no lists of row numbers"
    elif not (len(train) and len(test)):
        what = "has an empty part"
    elif rows.min() < 0 or rows.max() >= dataset.n_samples:
        what = f"has row numbers that are not among the {dataset.n_samples} of the data set"
    elif len(shared := np.intersect1d(train, test)):
        what = f"tests on {len(shared)} of the rows that it trains on, such as row {shared[0]}"
    elif len(np.unique(rows)) < len(rows):
        what = "has a row twice"
    if what:
        raise UserError(
            f"fixed split {number} (from 0) of data set {dataset.name!r} {what}; correct its file "
            f"or take another protocol.sampling"
        )
    return train, test


def _official(dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Give the data set's own training and test part."""
    if len(dataset.splits or []) != 1:
        number = len(dataset.splits or [])
        which = f"{number} fixed splits, none of them the official one" if number else "none"
        raise UserError(
            f"an official training and test part is asked for, and data set {dataset.name!r} has "
            f"{which}; take protocol.sampling={'fixed' if number else 'stratified'} and "
            f"protocol.test=part"
        )
    return _provided(dataset, 0)


def _pool(dataset: Dataset, protocol: ProtocolSpec) -> np.ndarray:
    """Give the rows that are divided: all, or those that the official test part leaves."""
    return _official(dataset)[0] if protocol.test == "official" else np.arange(dataset.n_samples)


def _draw(y: np.ndarray, per_class: int | None, seed: int) -> np.ndarray:
    if per_class is None:
        return np.arange(len(y))
    rng = np.random.default_rng(seed)
    chosen = []
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        chosen.append(rng.choice(rows, min(per_class, len(rows)), replace=False))
    return np.sort(np.concatenate(chosen))


def _check_sizes(y: np.ndarray, protocol: ProtocolSpec, stratified: bool, name: str) -> None:
    share = protocol.test_size
    n_test = share if isinstance(share, int) else int(np.ceil(share * len(y)))
    n_train = len(y) - n_test
    if n_train < 1:
        raise UserError(
            f"protocol.test_size={protocol.test_size} leaves nothing to train on: "
            f"data set {name!r} has {len(y)} samples"
        )
    if not stratified:
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
            f"protocol.test_size={protocol.test_size} gives a {part} part of {size} samples, "
            f"fewer than the {n_classes} classes of data set {name!r}"
        )


def _seeds(seed: int, index: int) -> np.ndarray:
    """Two independent 32-bit seeds: one for the division, one for the estimator."""
    return np.random.SeedSequence([int(seed), index]).generate_state(2)


def _seed(*numbers: int) -> int:
    return int(np.random.SeedSequence([int(number) for number in numbers]).generate_state(1)[0])
