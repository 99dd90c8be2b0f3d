"""How an algorithm is judged on a data set: the settings, checked."""

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from boostbench.errors import UserError, hint
from boostbench.experiment.preparation import SCALES

SAMPLINGS = ("stratified", "plain", "kfold", "official", "fixed")
TESTED = ("part", "rest", "official", "all")
TUNINGS = ("first_split", "every_split", "none")
# More of anything is a slip of the hand, and would fill the memory before it is noticed.
_MOST = 10_000
_LONGEST = 10_000_000


@dataclass(frozen=True)
class Protocol:
    """How an algorithm is judged on a data set: the fields of ``conf/protocol/NAME.yaml``.

    Three things make a split: where its parts come from (`sampling`), how the training part is made
    smaller (`train_per_class`, `train_size`), and what is tested (`test`).

    Parameters
    ----------
    name : str
        Name for people; two protocols that differ in nothing else are the same.
    n_splits : int or None, default=10
        Number of splits into a training and a test part; of folds in k-fold sampling. None for all
        fixed splits.
    n_repeats : int, default=1
        How often the data are divided into folds anew, in k-fold sampling.
    test_size : float or int, default=0.25
        Share of the samples in the test part, or their number (``stratified`` and ``plain``
        sampling).
    sampling : {"stratified", "plain", "kfold", "official", "fixed"}, default="stratified"
        Random splits that keep the class shares, random splits that do not, stratified k-fold
        with `n_splits` folds, the data set's own training and test part `n_splits` times, or the
        splits that came with the data set, one after the other.
    samples_per_class : int or None, default=None
        Draw that many samples of each class first, before anything is divided (smaller classes
        keep all of theirs).
    train_per_class : int or None, default=None
        Draw that many samples of each class of the training part; nothing of the test part is lost.
    train_size : int or None, default=None
        Draw that many samples of the training part, with the shares of its classes.
    test : {"part", "rest", "official", "all"}, default="part"
        What is tested: the test part; it and what is left of the training part; the data set's own
        test part, which `sampling` then leaves alone; or all samples, those of the training part
        among them.
    scale : {"minmax", "standard", "unit", "none"}, default="minmax"
        Scaling of the features, fitted on the training part only; ``unit`` gives each sample
        length 1.
    pca : float or None, default=None
        Project the scaled features on the principal components that keep this share of their
        variance, fitted on the training part only.
    tune : {"first_split", "every_split", "none"}, default="first_split"
        Where hyper-parameters are chosen by cross-validation over the algorithm's grid.
    n_folds : int, default=5
        Folds of that cross-validation.
    checkpoints : tuple of int
        Boosting rounds at which the test error is recorded.
    time_limit : float or None, default=None
        Seconds of the clock that a fit and what is measured of it may take together; more is a
        failure.

    Raises
    ------
    UserError
        If a value is out of range, or settings contradict each other.
    """

    name: str = "randomboost"
    n_splits: int | None = 10
    n_repeats: int = 1
    test_size: float = 0.25
    sampling: str = "stratified"
    samples_per_class: int | None = None
    train_per_class: int | None = None
    train_size: int | None = None
    test: str = "part"
    scale: str = "minmax"
    pca: float | None = None
    tune: str = "first_split"
    n_folds: int = 5
    checkpoints: tuple[int, ...] = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
    time_limit: float | None = None

    def __post_init__(self):
        if not isinstance(self.name, str):
            raise UserError(f"protocol.name is {self.name!r}; it must be text")
        for field, allowed in (
            ("sampling", SAMPLINGS),
            ("test", TESTED),
            ("scale", SCALES),
            ("tune", TUNINGS),
        ):
            value = getattr(self, field)
            if value not in allowed:
                raise UserError(f"protocol.{field} is {value!r}; {hint(value, allowed)}")
        if self.n_splits is not None or self.sampling != "fixed":
            _whole("n_splits", self.n_splits, 2 if self.sampling == "kfold" else 1, _MOST)
        _whole("n_repeats", self.n_repeats, 1, _MOST)
        _whole("n_folds", self.n_folds, 2, _MOST)
        for field in ("samples_per_class", "train_per_class", "train_size"):
            if getattr(self, field) is not None:
                _whole(field, getattr(self, field), 2)
        if not _is_whole(self.test_size) or self.test_size < 2:
            _share("test_size", self.test_size)
        if self.pca is not None:
            _share("pca", self.pca)
        limit = self.time_limit
        is_number = isinstance(limit, int | float) and not isinstance(limit, bool)
        if limit is not None and not (is_number and 0 < limit < _LONGEST):
            raise UserError(
                f"protocol.time_limit is {limit!r}; it must be a number of seconds, such as 600"
            )
        self._check_together()
        if isinstance(self.checkpoints, str) or not isinstance(self.checkpoints, Iterable):
            raise UserError(
                f"protocol.checkpoints is {self.checkpoints!r}; it must be a list of numbers of "
                "boosting rounds, such as [10,100], and may be empty"
            )
        for checkpoint in self.checkpoints:
            _whole("checkpoints", checkpoint, 1)
        object.__setattr__(self, "checkpoints", tuple(sorted(set(self.checkpoints))))

    def _check_together(self) -> None:
        given = self.sampling in ("fixed", "official")
        for wrong, what in (
            (given and self.samples_per_class, "samples_per_class"),
            (self.sampling == "fixed" and self.test == "official", "test=official"),
            (self.sampling != "kfold" and self.n_repeats > 1, "n_repeats"),
        ):
            if wrong:
                raise UserError(f"protocol.{what} cannot go with protocol.sampling={self.sampling}")
        if self.train_per_class and self.train_size:
            raise UserError("protocol.train_per_class cannot go with protocol.train_size")

    @property
    def n_parts(self) -> int:
        """Number of splits in all."""
        return self.n_splits * self.n_repeats

    @classmethod
    def from_config(cls, config: Mapping) -> "Protocol":
        """Make the protocol from its part of the resolved configuration.

        Raises
        ------
        UserError
            If a key is not a field of the protocol (near matches are named), or a value is bad.
        """
        fields = [field.name for field in dataclasses.fields(cls)]
        for key in config:
            if key not in fields:
                raise UserError(f"protocol has no setting {key!r}; {hint(key, fields)}")
        return cls(**config)

    def to_config(self) -> dict:
        """Give what decides the results, as JSON types.

        The name only presents, and the number of splits only says how far to go, except in k-fold
        sampling where it is the size of a fold. A limit of time counts where there is one.
        """
        config = dataclasses.asdict(self)
        config["checkpoints"] = list(self.checkpoints)
        del config["name"], config["n_repeats"]
        if self.sampling != "kfold":
            del config["n_splits"]
        if self.time_limit is None:
            del config["time_limit"]
        return config


def _share(field: str, value: float) -> None:
    if not (isinstance(value, float | int) and 0 < value < 1):
        raise UserError(f"protocol.{field} is {value!r}, not between 0 and 1")


def _whole(field: str, value: int, least: int, most: int | None = None) -> None:
    if not _is_whole(value) or value < least or (most and value > most):
        limits = f"from {least} to {most}" if most else f">= {least}"
        raise UserError(f"protocol.{field} is {value!r}; it must be a whole number {limits}")


def _is_whole(value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
