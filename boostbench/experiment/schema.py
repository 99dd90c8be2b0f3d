"""What a record may hold, second schema: types against which every line is checked.

More than a type names may always be there.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

SCHEMA = 2

Hash = Annotated[str, Meta(pattern="^[0-9a-f]{16}$")]
Name = Annotated[str, Meta(min_length=1)]
#: Largest whole number, which a float still holds exactly.
_MAX_INT = 2**53
#: Largest real number: sums and squares of as many as there may be are finite.
_MAX_REAL = 1e100
Integer = Annotated[int, Meta(ge=-_MAX_INT, le=_MAX_INT)]
Count = Annotated[int, Meta(ge=0, le=_MAX_INT)]
Rows = Annotated[int, Meta(ge=1, le=_MAX_INT)]
#: Keys, which are texts in JSON.
Round = Annotated[int, Meta(ge=1, le=_MAX_INT)]
Real = Annotated[float, Meta(ge=-_MAX_REAL, le=_MAX_REAL)]
Fraction = Annotated[float, Meta(ge=0, le=1)]
Duration = Annotated[float, Meta(ge=0, le=_MAX_REAL)]
Time = Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]
Point = dict[str, Any]


class Algo(Struct):
    """Class and parameters, of which any may be there."""

    target: Name = msgspec.field(name="_target_")


class Data(Struct):
    """Facts of the data set."""

    name: Name
    checksum: Hash
    n_samples: Rows
    n_features: Rows
    n_classes: Rows
    cut: dict[str, Any] = {}


class Config(Struct):
    """All that decides a result."""

    algo: Algo
    data: Data
    grid: dict[str, list]
    protocol: dict[str, Any]
    seed: Count
    measure: Name | UnsetType = UNSET


class Provenance(Struct):
    """What made a record, and where.

    Attributes
    ----------
    commit : str
        Of boostbench, or its version.
    environment : dict
        See `boostbench.experiment.environment`.
    edition, source : int, str
        See `boostbench.records.makers`.
    code : str
        Of older records, a fingerprint of the source.
    """

    commit: Name
    environment: dict[str, str | Integer] | None
    edition: Rows = 1
    source: Hash | UnsetType = UNSET
    code: Name | UnsetType = UNSET


class Record(Struct):
    """What every record says."""

    schema: Literal[2]
    config: Hash
    provenance: Hash
    split: Count
    rows: Hash


class Failure(Record):
    """A split that failed."""

    error: str
    where: str


class TrialLine(Record):
    """A cross-validation trial, of one point of the grid or of a path of several."""

    fold: Count
    point: Point | None = None
    points: Annotated[list[Point], Meta(min_length=1)] | None = None

    def __post_init__(self):
        if (self.point is None) == (self.points is None):
            raise ValueError("it has to have either a point or points")


class FailedTrialLine(TrialLine, kw_only=True):
    """A cross-validation trial that failed."""

    error: str
    where: str


class FinishedTrialLine(TrialLine, kw_only=True):
    """A cross-validation trial with what it is judged by."""

    finished: Time
    seconds: dict[str, Duration | None] | list[Duration]
    validation_error: Real | None = None
    validation_errors: list[Real] | None = None
    digest: Name | None = None
    digests: list[Name] | None = None

    def __post_init__(self):
        super().__post_init__()
        if self.points is None:
            is_right = self.validation_error is not None
        else:
            is_right = len(self.validation_errors or []) == len(self.points)
        if not is_right:
            raise ValueError("it has to have a validation error for each point")


class Measured(Record, kw_only=True):
    """A fit of which something was measured."""

    n_train: Rows
    n_test: Count
    chosen: Point
    validation_error: Real | None
    validation_errors: list[Real] | UnsetType = UNSET
    started: Time
    finished: Time
    warnings: list[str]
    also: list[dict[str, Any]] | UnsetType = UNSET
    test_error: Fraction | UnsetType = UNSET
    train_error: Fraction | UnsetType = UNSET
    checkpoints: dict[Round, Fraction] | UnsetType = UNSET
    digests: dict[str, Name] | UnsetType = UNSET
    witness: dict[str, Duration] | UnsetType = UNSET
    n_iterations: Count | UnsetType | None = UNSET
    n_features: Count | UnsetType = UNSET
    n_parameters: Count | UnsetType | None = UNSET
    seconds: dict[str, Duration | None] | UnsetType = UNSET


def points_of(record: Mapping) -> list[Point]:
    """Give the points of the grid that a cross-validation trial is of; none for a split."""
    return (record.get("points") or [record["point"]]) if "fold" in record else []


class BadLine(ValueError):
    """A line that is no record and no definition; the message says why."""


def check(content, form: type) -> None:
    """Hold content of JSON types against a type.

    Raises
    ------
    BadLine
        If something is missing, of another type or impossible; the message names it.

    Examples
    --------
    >>> check({"commit": 5, "environment": None}, Provenance)
    Traceback (most recent call last):
    boostbench.experiment.schema.BadLine: commit: expected str, got int
    """
    try:
        msgspec.convert(content, form, str_keys=True)
    except ValueError as error:
        # "Expected `float` <= 1.0 - at `$.test_error`"
        what, _, where = str(error).replace("`", "").partition(" - at ")
        what = what.replace("Object missing required field", "there is no")
        place = where.removeprefix("key in ").lstrip("$.") or "record"
        raise BadLine(f"{place}: {what[:1].lower()}{what[1:]}") from None
    except RecursionError:
        raise BadLine("it is nested too deeply") from None
