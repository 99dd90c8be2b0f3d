"""Types of the lines of record files, second schema. Every line is checked against its type.

A line may have more fields than its type.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

SCHEMA = 2

Hash = Annotated[str, Meta(pattern="^[0-9a-f]{16}$")]
Name = Annotated[str, Meta(min_length=1)]
#: Largest whole number up to which a float represents all whole numbers.
_MAX_INT = 2**53
#: Largest real number: the sum of squares of all numbers of a record stays finite.
_MAX_REAL = 1e100
Integer = Annotated[int, Meta(ge=-_MAX_INT, le=_MAX_INT)]
Count = Annotated[int, Meta(ge=0, le=_MAX_INT)]
Rows = Annotated[int, Meta(ge=1, le=_MAX_INT)]
#: Key of a mapping, text in JSON.
Round = Annotated[int, Meta(ge=1, le=_MAX_INT)]
Real = Annotated[float, Meta(ge=-_MAX_REAL, le=_MAX_REAL)]
Fraction = Annotated[float, Meta(ge=0, le=1)]
Duration = Annotated[float, Meta(ge=0, le=_MAX_REAL)]
Time = Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]
Point = dict[str, Any]


class Algo(Struct):
    """Class of an estimator; its parameters are further fields."""

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
    """Settings and facts that affect a result."""

    algo: Algo
    data: Data
    grid: dict[str, list]
    protocol: dict[str, Any]
    seed: Count
    measure: Name | UnsetType = UNSET


class Provenance(Struct):
    """Code and machine that made a record.

    Attributes
    ----------
    commit : str
        Commit of boostbench, or its version.
    environment : dict
        Libraries and processor, see `boostbench.records.environment`.
    edition, source : int, str
        Version of the estimator's class, see `boostbench.spec.code_version`.
    code : str
        Source fingerprint; only in records written before editions existed.
    """

    commit: Name
    environment: dict[str, str | Integer] | None
    edition: Rows = 1
    source: Hash | UnsetType = UNSET
    code: Name | UnsetType = UNSET


class Record(Struct):
    """Fields of all records."""

    schema: Literal[2]
    config: Hash
    provenance: Hash
    split: Count
    rows: Hash


class Failure(Record):
    """Record of a failed split."""

    error: str
    where: str


class TrialLine(Record):
    """Cross-validation trial of one point of the grid, or of several that share a fit."""

    fold: Count
    point: Point | None = None
    points: Annotated[list[Point], Meta(min_length=1)] | None = None

    def __post_init__(self):
        if (self.point is None) == (self.points is None):
            raise ValueError("it has to have either a point or points")


class FailedTrialLine(TrialLine, kw_only=True):
    """Failed cross-validation trial."""

    error: str
    where: str


class FinishedTrialLine(TrialLine, kw_only=True):
    """Finished cross-validation trial with its selection criterion."""

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
    """Record of a measured fit."""

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
    """Return the points of the grid that a cross-validation trial fits; a split has none."""
    return (record.get("points") or [record["point"]]) if "fold" in record else []


class BadLine(ValueError):
    """Error for a line that is neither a record nor a definition; the message has the reason."""


def check(content, form: type) -> None:
    """Check content of JSON types against a type.

    Raises
    ------
    BadLine
        If a field is missing, has another type or is out of range; the message names it.

    Examples
    --------
    >>> check({"commit": 5, "environment": None}, Provenance)
    Traceback (most recent call last):
    boostbench.records.schema.BadLine: commit: expected str, got int
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
