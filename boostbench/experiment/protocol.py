"""How an algorithm is judged on a data set: the settings, checked."""

import dataclasses
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, get_type_hints

from msgspec import Meta

from boostbench.util import validation
from boostbench.util.errors import UserError
from boostbench.util.validation import annotated_type

# More of anything is a slip of the hand, and would fill the memory before it is noticed.
_Number = annotated_type(int, "a whole number from 1 to 10000", ge=1, le=10_000)
_Folds = annotated_type(int, "a whole number from 2 to 10000", ge=2, le=10_000)
_Rows = annotated_type(int, "a whole number >= 2", ge=2)
_Share = annotated_type(float, "between 0 and 1", gt=0, lt=1)
_Rounds = annotated_type(
    tuple[Annotated[int, Meta(ge=1)], ...],
    "a list of numbers of boosting rounds, such as [10,100], and may be empty",
)
_Seconds = annotated_type(float, "a number of seconds, such as 600", gt=0, lt=10_000_000)


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

    name: annotated_type(str, "text") = "randomboost"
    n_splits: _Number | None = 10
    n_repeats: _Number = 1
    test_size: _Rows | _Share = 0.25
    sampling: Literal["stratified", "plain", "kfold", "official", "fixed"] = "stratified"
    samples_per_class: _Rows | None = None
    train_per_class: _Rows | None = None
    train_size: _Rows | None = None
    test: Literal["part", "rest", "official", "all"] = "part"
    scale: Literal["minmax", "standard", "unit", "none"] = "minmax"
    pca: _Share | None = None
    tune: Literal["first_split", "every_split", "none"] = "first_split"
    n_folds: _Folds = 5
    checkpoints: _Rounds = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
    time_limit: _Seconds | None = None

    def __post_init__(self):
        validation.validate_mapping(_kinds(), vars(self), "protocol")
        given = self.sampling in ("fixed", "official")
        for wrong, what in (
            (given and self.samples_per_class, "samples_per_class"),
            (self.sampling == "fixed" and self.test == "official", "test=official"),
            (self.sampling != "kfold" and self.n_repeats > 1, "n_repeats"),
            (self.sampling == "kfold" and self.n_splits == 1, "n_splits=1"),
            (self.sampling != "fixed" and self.n_splits is None, "n_splits=null"),
        ):
            if wrong:
                raise UserError(f"protocol.{what} cannot go with protocol.sampling={self.sampling}")
        if self.train_per_class and self.train_size:
            raise UserError("protocol.train_per_class cannot go with protocol.train_size")
        object.__setattr__(self, "checkpoints", tuple(sorted(set(self.checkpoints))))

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
        validation.validate_mapping(_kinds(), config, "protocol")
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


@functools.cache
def _kinds() -> dict:
    return get_type_hints(Protocol, include_extras=True)
