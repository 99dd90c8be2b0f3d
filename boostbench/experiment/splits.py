"""From a data set and a protocol to training and test parts."""

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from sklearn.model_selection import ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit

from boostbench.data.dataset import Dataset
from boostbench.errors import UserError
from boostbench.experiment.protocol import Protocol


@dataclass(frozen=True, eq=False)
class Split:
    """One division of a data set.

    Attributes
    ----------
    index : int
        Number of the split, from 0.
    seed : int
        Seed for the estimator that is fitted on this split.
    train, test : ndarray of shape (n_train,) and (n_test,), dtype=int64
        Row numbers.
    """

    index: int
    seed: int
    train: np.ndarray
    test: np.ndarray

    @cached_property
    def checksum(self) -> str:
        """First 16 hex digits of the SHA-256 of the row numbers, in order."""
        digest = hashlib.sha256()
        for rows in (self.train, self.test):
            digest.update(np.ascontiguousarray(rows, dtype="<i8").tobytes() + b";")
        return digest.hexdigest()[:16]


def splits(dataset: Dataset, protocol: Protocol, seed: int) -> list[Split]:
    """Divide a data set as the protocol says.

    Split ``i`` depends on ``(seed, i)`` only, so that asking for more splits keeps the first ones;
    in k-fold sampling all folds belong together and depend on ``(seed, n_splits)``.

    Parameters
    ----------
    dataset : Dataset
        The samples; only `y` and the fixed `splits` are looked at.
    protocol : Protocol
        Sampling, number of splits, share of the test part.
    seed : int
        Non-negative.

    Returns
    -------
    list of Split

    Raises
    ------
    UserError
        If the data set cannot be divided so: too few samples in a class or in all, no (or too
        few) fixed splits.
    """
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise UserError(f"seed is {seed!r}; it must be a whole number, 0 or more")
    parts = _fixed if protocol.sampling == "fixed" else _kfold
    if protocol.sampling in ("stratified", "plain"):
        parts = _shuffled
    return [
        numbered(i, seed, train, test)
        for i, (train, test) in enumerate(parts(dataset, protocol, seed))
    ]


def numbered(index: int, seed: int, train: np.ndarray, test: np.ndarray) -> Split:
    """Make a split of row numbers, with the seed of its number."""
    rows = (np.asarray(part, np.int64) for part in (train, test))
    return Split(index, int(_seeds(seed, index)[1]), *rows)


def _shuffled(dataset: Dataset, protocol: Protocol, seed: int):
    stratified = protocol.sampling == "stratified"
    splitter = StratifiedShuffleSplit if stratified else ShuffleSplit
    for i in range(protocol.n_splits):
        draw = int(_seeds(seed, i)[0])
        rows = _draw(dataset.y, protocol.samples_per_class, draw)
        y = dataset.y[rows]
        _check_sizes(y, protocol, stratified, dataset.name)
        once = splitter(n_splits=1, test_size=protocol.test_size, random_state=draw)
        train, test = next(once.split(np.zeros(len(y)), y))
        yield rows[train], rows[test]


def _kfold(dataset: Dataset, protocol: Protocol, seed: int):
    draw = int(_seeds(seed, protocol.n_splits)[0])
    rows = _draw(dataset.y, protocol.samples_per_class, draw)
    y = dataset.y[rows]
    label, count = smallest_class(y)
    if count < protocol.n_splits:
        raise UserError(
            f"class {label!r} of data set {dataset.name!r} has {count} samples, fewer than the "
            f"{protocol.n_splits} folds; lower protocol.n_splits"
        )
    splitter = StratifiedKFold(protocol.n_splits, shuffle=True, random_state=draw)
    return [(rows[train], rows[test]) for train, test in splitter.split(np.zeros(len(y)), y)]


def _fixed(dataset: Dataset, protocol: Protocol, seed: int):
    if not dataset.splits:
        raise UserError(
            f"data set {dataset.name!r} came without fixed splits; "
            f"take protocol.sampling=stratified"
        )
    if protocol.n_splits > len(dataset.splits):
        raise UserError(
            f"protocol.n_splits is {protocol.n_splits}, but data set {dataset.name!r} has "
            f"{len(dataset.splits)} fixed splits"
        )
    return dataset.splits[: protocol.n_splits]


def _draw(y: np.ndarray, per_class: int | None, seed: int) -> np.ndarray:
    if per_class is None:
        return np.arange(len(y))
    rng = np.random.default_rng(seed)
    chosen = []
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        chosen.append(rng.choice(rows, min(per_class, len(rows)), replace=False))
    return np.sort(np.concatenate(chosen))


def _check_sizes(y: np.ndarray, protocol: Protocol, stratified: bool, name: str) -> None:
    n_test = int(np.ceil(protocol.test_size * len(y)))
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


def smallest_class(y: np.ndarray) -> tuple[int | str, int]:
    """Give the label with the fewest samples, and their number."""
    labels, counts = np.unique(y, return_counts=True)
    smallest = int(np.argmin(counts))
    return labels[smallest].item(), int(counts[smallest])


def _seeds(seed: int, index: int) -> np.ndarray:
    """Two independent 32-bit seeds: one for the division, one for the estimator."""
    return np.random.SeedSequence([int(seed), index]).generate_state(2)
