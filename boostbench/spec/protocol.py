"""Specification of a protocol: how an algorithm is evaluated on a data set."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from boostbench.util import validation
from boostbench.util.errors import UserError
from boostbench.util.validation import annotated_type

# Splits, repeats or folds: larger numbers are typing errors, and would exhaust the memory before
# anybody notices. One fold would have no training part.
_Number = annotated_type(int, "a whole number from 1 to 10000", ge=1, le=10_000)
_Folds = annotated_type(int, "a whole number from 2 to 10000", ge=2, le=10_000)
# A sample of two rows is the smallest one that can have two classes.
_Rows = annotated_type(int, "a whole number >= 2", ge=2)
_Share = annotated_type(float, "between 0 and 1", gt=0, lt=1)
_Rounds = annotated_type(
    tuple[Annotated[int, Meta(ge=1)], ...],
    "a list of numbers of boosting rounds, such as [10,100], and may be empty",
)
# About four months: a longer time limit is a typing error.
_MAX_SECONDS = 10_000_000
_Seconds = Annotated[int, Meta(gt=0, lt=_MAX_SECONDS)] | annotated_type(
    float, "a number of seconds, such as 600", gt=0, lt=_MAX_SECONDS
)


class ProtocolSpec(msgspec.Struct, frozen=True, kw_only=True):
    """Evaluation of an algorithm on a data set: the fields of ``conf/protocol/NAME.yaml``.

    Three settings define a split: the source of its two parts (`sampling`), the reduction of the
    training part (`train_per_class`, `train_size`), and the tested samples (`test`).

    Parameters
    ----------
    name : str
        Display name. Protocols that differ in the name only are equal in effect.
    n_splits : int or None, default=10
        Number of splits into a training and a test part, or of folds in k-fold sampling. None: all
        fixed splits.
    n_repeats : int, default=1
        Number of divisions into folds, in k-fold sampling.
    test_size : float or int, default=0.25
        Fraction of the samples in the test part, or their number (``stratified`` and ``plain``
        sampling).
    sampling : {"stratified", "plain", "kfold", "official", "fixed"}, default="stratified"
        Random splits with the class shares of the data set, random splits, stratified k-fold
        with `n_splits` folds, the official training and test part of the data set with
        `n_splits` different seeds of the fit, or the splits that come with the data set, in their
        order.
    samples_per_class : int or None, default=None
        Number of samples of each class to draw before the division; smaller classes are kept
        whole. None: all samples.
    train_per_class : int or None, default=None
        Number of samples of each class to draw from the training part. None: all samples.
    train_size : int or None, default=None
        Number of samples to draw from the training part, with its class shares. None: all samples.
    test : {"part", "rest", "official", "all"}, default="part"
        Tested samples: the test part; the test part and the samples that a reduction left out of
        the training part; the official test part, where `sampling` divides the official training
        part only; or all samples, including the training part.
    scale : {"minmax", "standard", "unit", "none"}, default="minmax"
        Scaling of the features, fitted on the training part; ``unit`` gives each sample length 1.
    pca : float or None, default=None
        Fraction of the variance of the scaled features that the principal components keep, fitted
        on the training part. None: no projection.
    tune : {"first_split", "every_split", "none"}, default="first_split"
        Splits whose training part is used for cross-validation over the algorithm's grid.
    n_folds : int, default=5
        Folds of that cross-validation.
    checkpoints : tuple of int, default=(1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
        Boosting rounds at which the test error is recorded, in ascending order. They may be given
        in any order.
    time_limit : int, float or None, default=None
        Wall-clock seconds for a fit and its measurement; a longer trial fails. None: no limit.

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
        # 1) Check the values: the constructor of a struct does not.
        validation.check_config_group(ProtocolSpec, msgspec.structs.asdict(self), "protocol")
        # 2) Refuse settings that have no meaning for this source of the splits.
        has_given_splits = self.sampling in ("fixed", "official")
        for is_conflict, setting in (
            (has_given_splits and self.samples_per_class, "samples_per_class"),
            (self.sampling == "fixed" and self.test == "official", "test=official"),
            (self.sampling != "kfold" and self.n_repeats > 1, "n_repeats"),
            (self.sampling == "kfold" and self.n_splits == 1, "n_splits=1"),
            (self.sampling != "fixed" and self.n_splits is None, "n_splits=null"),
        ):
            if is_conflict:
                raise UserError(
                    f"protocol.{setting} cannot go with protocol.sampling={self.sampling}"
                )
        # 3) Refuse two reductions of the training part.
        if self.train_per_class and self.train_size:
            raise UserError("protocol.train_per_class cannot go with protocol.train_size")
        # 4) Sort the checkpoints: equal protocols then have equal configs.
        msgspec.structs.force_setattr(self, "checkpoints", tuple(sorted(set(self.checkpoints))))

    @property
    def total_splits(self) -> int | None:
        """Number of splits over all repeats; None if `n_splits` is None."""
        return self.n_splits and self.n_splits * self.n_repeats

    def to_config(self) -> dict[str, Any]:
        """Return the settings that affect the result of a split, as JSON types.

        A split depends on its own number, and not on the number of all splits: `n_splits` and
        `n_repeats` are left out, except that the number of folds (`n_splits` of k-fold sampling)
        changes the size of the test part. The name is left out, and so is the time limit if there
        is none.
        """
        config = msgspec.structs.asdict(self)
        config["checkpoints"] = list(self.checkpoints)
        del config["name"], config["n_repeats"]
        if self.sampling != "kfold":
            del config["n_splits"]
        if self.time_limit is None:
            del config["time_limit"]
        return config
