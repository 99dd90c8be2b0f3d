"""How an algorithm is judged on a data set: the settings, checked."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from boostbench.errors import UserError, hint
from boostbench.experiment.preparation import SCALES

SAMPLINGS = ("stratified", "plain", "kfold", "fixed")
TUNINGS = ("first_split", "every_split", "none")


@dataclass(frozen=True)
class Protocol:
    """How an algorithm is judged on a data set: the fields of ``conf/protocol/NAME.yaml``.

    Parameters
    ----------
    name : str
        Name for people; two protocols that differ in nothing else are the same.
    n_splits : int, default=10
        Number of splits into a training and a test part.
    test_size : float, default=0.25
        Share of the samples in the test part (``stratified`` and ``plain`` sampling).
    sampling : {"stratified", "plain", "kfold", "fixed"}, default="stratified"
        Random splits that keep the class shares, random splits that do not, stratified k-fold
        with `n_splits` folds, or the splits that came with the data set.
    samples_per_class : int or None, default=None
        Draw that many samples of each class first (smaller classes keep all of theirs).
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

    Raises
    ------
    UserError
        If a value is out of range.
    """

    name: str = "randomboost"
    n_splits: int = 10
    test_size: float = 0.25
    sampling: str = "stratified"
    samples_per_class: int | None = None
    scale: str = "minmax"
    pca: float | None = None
    tune: str = "first_split"
    n_folds: int = 5
    checkpoints: tuple[int, ...] = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)

    def __post_init__(self):
        _one_of("sampling", self.sampling, SAMPLINGS)
        _one_of("scale", self.scale, SCALES)
        _one_of("tune", self.tune, TUNINGS)
        _at_least("n_splits", self.n_splits, 2 if self.sampling == "kfold" else 1)
        _at_least("n_folds", self.n_folds, 2)
        if self.samples_per_class is not None:
            _at_least("samples_per_class", self.samples_per_class, 2)
            if self.sampling == "fixed":
                raise UserError("protocol.samples_per_class cannot go with protocol.sampling=fixed")
        _share("test_size", self.test_size)
        if self.pca is not None:
            _share("pca", self.pca)
        for checkpoint in self.checkpoints:
            _at_least("checkpoints", checkpoint, 1)
        object.__setattr__(self, "checkpoints", tuple(sorted(set(self.checkpoints))))

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
        sampling where it is the size of a fold. No projection is left out, so that records from
        before there was one keep their keys.
        """
        config = dataclasses.asdict(self)
        config["checkpoints"] = list(self.checkpoints)
        del config["name"]
        if self.pca is None:
            del config["pca"]
        if self.sampling != "kfold":
            del config["n_splits"]
        return config


def _one_of(field: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise UserError(f"protocol.{field} is {value!r}; {hint(value, allowed)}")


def _share(field: str, value: float) -> None:
    if not (isinstance(value, float | int) and 0 < value < 1):
        raise UserError(f"protocol.{field} is {value!r}, not between 0 and 1")


def _at_least(field: str, value: int, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise UserError(f"protocol.{field} is {value!r}; it must be a whole number >= {least}")
