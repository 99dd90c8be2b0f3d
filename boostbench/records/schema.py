"""Records: the lines of record files as structs, second schema.

A line is decoded straight into the struct of its kind, which checks types and ranges. `Measured` is
the base class of the records of measures; each measure adds its own fields. Entries without a field
are in `values`: the results of a user's measure, and entries that a later version adds.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from boostbench.spec.class_facts import FIRST_EDITION
from boostbench.spec.data import key_options
from boostbench.spec.keys import RecordKeys, digest, drop_removed_parameters

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
#: Number of boosting rounds as the key of a mapping, which is text in JSON.
Round = Annotated[str, Meta(pattern=r"^[1-9]\d{0,14}$")]
Real = Annotated[float, Meta(ge=-_MAX_REAL, le=_MAX_REAL)]
Fraction = Annotated[float, Meta(ge=0, le=1)]
NonNegative = Annotated[float, Meta(ge=0, le=_MAX_REAL)]
#: CPU seconds.
Duration = NonNegative
Time = Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]
Point = dict[str, Any]

# Entries of a record that do not belong to the result.
_CIRCUMSTANCES = ("seconds", "started", "finished", "warnings", "also")
# Name of the last number of a fit among its numbers at checkpoints.
_END = "end"
# Entries of every config; the measure adds the others.
_CONFIG_ENTRIES = {"algo", "data", "grid", "judged_by", "measure", "protocol", "seed"}


class BadLine(ValueError):
    """Error for a line that is neither a record nor a definition; the message has the reason."""


class Data(Struct, frozen=True):
    """Facts of a data set.

    Attributes
    ----------
    name, checksum : str
    n_samples, n_features, n_classes : int
    cut : dict, default={}
        Data options of the first request, see `boostbench.spec.data.config_overrides`.
    missing : str or None
        Imputation of missing values; None without missing values.
    words : str or None
        ``"categories"`` if the estimator got categories.
    """

    name: Name
    checksum: Hash
    n_samples: Rows
    n_features: Rows
    n_classes: Rows
    cut: dict[str, Any] = {}
    missing: str | None = None
    words: str | None = None


class _Algo(Struct):
    """Class of an estimator; its parameters are further entries."""

    target: Name = field(name="_target_")


class _ConfigForm(Struct):
    """Type of the content of a config."""

    algo: _Algo
    data: Data
    grid: dict[str, list]
    protocol: dict[str, Any]
    seed: Count
    measure: Name | UnsetType = UNSET


class _ProvenanceForm(Struct):
    """Type of the content of a provenance."""

    commit: Name
    environment: dict[str, str | Integer] | None
    edition: Rows = FIRST_EDITION
    source: Hash | UnsetType = UNSET
    code: Name | UnsetType = UNSET


class Config:
    """Config of records: all settings and facts that affect a result. Records share it.

    Parameters
    ----------
    content : dict
        Config of JSON types.

    Attributes
    ----------
    original : dict
        Config as it is written.
    hash : str
        Its digest.
    content : dict
        Config without parameters that have become attributes of their class.
    keys : RecordKeys
        Digests without defaults, from which the keys of records are made.
    data : Data
    algo, grid, protocol : dict
    seed : int
    measure, judged_by : str or None
        None: older configs name no measure; the criterion of cross-validation is the error rate.
    checkpoints : list of str
        Checkpoints of the protocol.

    Raises
    ------
    BadLine
        If an entry is missing, or has another type.
    UserError
        If a value has no JSON form.
    """

    def __init__(self, content: dict[str, Any]):
        self.data = check(content, _ConfigForm).data
        self.hash, self.original = digest(content), content
        self.content = {**content, "algo": drop_removed_parameters(content["algo"])}
        self.keys = RecordKeys.from_config(self.content)
        self.algo, self.grid = self.content["algo"], content["grid"]
        self.protocol, self.seed = content["protocol"], content["seed"]
        self.measure, self.judged_by = content.get("measure"), content.get("judged_by")
        checkpoints = self.protocol.get("checkpoints")
        self.checkpoints = list(map(str, checkpoints)) if isinstance(checkpoints, list) else []

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self.hash == other.hash

    def __hash__(self) -> int:
        return hash(self.hash)

    @property
    def target(self) -> str:
        """Dotted name of the estimator's class."""
        return self.algo["_target_"]

    @property
    def measure_settings(self) -> dict[str, Any]:
        """Settings of the measure."""
        return {name: value for name, value in self.content.items() if name not in _CONFIG_ENTRIES}


class Provenance:
    """Code and machine that made records. Records share it.

    Parameters
    ----------
    content : dict
        Entries of JSON types.

    Attributes
    ----------
    content : dict
    hash : str
        Digest of the content.
    commit : str
        Commit of boostbench, or its version.
    environment : dict
        Libraries and processor, see `boostbench.records.environment`; empty if it is unknown.
    edition : int
        Edition of the estimator's class, see `boostbench.spec.class_facts`.
    source : str or None
        Digest of the files of a user's classes.

    Raises
    ------
    BadLine
        If an entry is missing, or has another type.
    """

    def __init__(self, content: dict[str, Any]):
        form = check(content, _ProvenanceForm)
        self.content, self.hash = content, digest(content)
        self.commit, self.environment = form.commit, content["environment"] or {}
        self.edition, self.source = form.edition, content.get("source")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Provenance) and self.hash == other.hash

    def __hash__(self) -> int:
        return hash(self.hash)


class Record(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """Fields of all records.

    Attributes
    ----------
    config : Config
    provenance : Provenance
    split : int
        Number of the split, from 0.
    rows : str
        Checksum of the rows of its training and test part, or of the parts of a fold.
    started, finished : str
        Times in UTC.
    also : list of dict
        Data options of later requests. The data of the config have the options of the first one.
    values : dict
        Entries without a field of their own.
    """

    error: ClassVar[str | None] = None
    where: ClassVar[str | None] = None
    is_trial: ClassVar[bool] = False

    schema: Literal[2] = SCHEMA
    config: Config
    provenance: Provenance
    split: Count
    rows: Hash
    started: Time | UnsetType = UNSET
    finished: Time | UnsetType = UNSET
    also: list[dict[str, Any]] | UnsetType = UNSET
    # An entry of a line has a name, so that this field is set by `boostbench.records.codec` only.
    values: dict[str, Any] | UnsetType = field(default=UNSET, name="")

    @property
    def is_failed(self) -> bool:
        """True if the fit raised an error."""
        return self.error is not None

    @property
    def key(self) -> str:
        """Digest that identifies the experiment and the split."""
        return self.config.keys.split_key(self.split, self.rows)

    @property
    def entries(self) -> dict[str, Any]:
        """Entries of the record as JSON types: errors as fractions, numbers by boosting round."""
        entries = self.to_line()
        for name in ("schema", "config", "provenance"):
            del entries[name]
        return entries

    @property
    def results(self) -> dict[str, Any]:
        """The `entries` without times, warnings and data options."""
        entries = self.entries
        return {name: entries[name] for name in entries if name not in _CIRCUMSTANCES}

    def has_options(self, options: Mapping[str, Any]) -> bool:
        """Return True if the data set was requested with options whose `key_options` are these."""
        first_request = self.config.data.cut
        # Most records were requested once, without options: then the first comparison is enough.
        if first_request == options or key_options(first_request) == options:
            return True
        later_requests = [] if self.also is UNSET else self.also
        return any(key_options(request) == options for request in later_requests)

    def add_options(self, options: Mapping[str, Any]) -> "Record":
        """Return a record with further data options."""
        later_requests = [] if self.also is UNSET else self.also
        return msgspec.structs.replace(self, also=[*later_requests, dict(options)])

    def to_line(self) -> dict[str, Any]:
        """Return the entries of the record's line."""
        entries = msgspec.to_builtins(self, enc_hook=lambda shared: shared.hash)
        entries.pop("", None)
        return entries if self.values is UNSET else entries | self.values

    def entry(self, name: str) -> Any:
        """Return an entry by its name; None if the record does not have it."""
        if self.values is not UNSET and name in self.values:
            return self.values[name]
        value = getattr(self, name, None)
        return None if value is UNSET else value


class Failure(Record, kw_only=True):
    """Failed fit of a split.

    Attributes
    ----------
    error, where : str
        Error, and its module and line.
    """

    error: str
    where: str


class _TrialFields(Record, kw_only=True):
    """Fields of cross-validation trials: one point of the grid, or several that share a fit.

    Attributes
    ----------
    fold : int
        Number of the fold, from 0.
    points : list of dict
    """

    is_trial: ClassVar[bool] = True

    fold: Count
    single_point: Point | UnsetType = field(default=UNSET, name="point")
    several_points: Annotated[list[Point], Meta(min_length=1)] | UnsetType = field(
        default=UNSET, name="points"
    )

    def __post_init__(self):
        if (self.single_point is UNSET) == (self.several_points is UNSET):
            raise BadLine("record: it has to have either a point or points")

    @property
    def points(self) -> list[Point]:
        """Points of the grid that were fitted."""
        return [self.single_point] if self.several_points is UNSET else self.several_points

    @property
    def key(self) -> str:
        """Digest that identifies the experiment, the split, the fold and the points."""
        return self.config.keys.trial_key(self.split, self.fold, self.points, self.rows)


class FailedTrial(_TrialFields, kw_only=True):
    """Failed cross-validation trial; see `Failure`."""

    error: str
    where: str


class TrialRecord(_TrialFields, kw_only=True):
    """Finished cross-validation trial.

    Attributes
    ----------
    validation_error : float
        Loss of a single point, a fraction unless the measure has another criterion.
    validation_errors : list of float
        Losses of several points.
    digest, digests : str, list of str
        Digests of the judged outputs.
    seconds : dict or list of float
        CPU seconds of the parts of a fit, or of each fit of a path.
    """

    finished: Time
    seconds: dict[str, Duration | None] | list[Duration]
    validation_error: Real | UnsetType = UNSET
    validation_errors: list[Real] | UnsetType = UNSET
    digest: Name | UnsetType = UNSET
    digests: list[Name] | UnsetType = UNSET

    def __post_init__(self):
        super().__post_init__()
        if self.several_points is UNSET:
            is_complete = self.validation_error is not UNSET
        else:
            n_errors = 0 if self.validation_errors is UNSET else len(self.validation_errors)
            is_complete = n_errors == len(self.several_points)
        if not is_complete:
            raise BadLine("record: it has to have a validation error for each point")
        _check_validation_errors(self)

    @property
    def is_path(self) -> bool:
        """True if several fits share a trial."""
        return isinstance(self.seconds, list)

    def cpu_seconds(self, part: str = "fit") -> float | None:
        """Return the recorded CPU seconds of a part of the fit, or of all fits of a path."""
        if isinstance(self.seconds, dict):
            return self.seconds.get(part)
        return sum(self.seconds) if part == "fit" else None


class Measured(Record, kw_only=True):
    """Finished fit of a split; measures have subclasses.

    A number of wrong rows is written instead of an error rate where they are equivalent, and
    numbers at checkpoints are written as a list in the order of the config's checkpoints.

    Attributes
    ----------
    n_train, n_test : int
        Sizes of both parts.
    chosen : dict
        Chosen point of the grid.
    validation_error : float or None
        Its mean validation error; None without tuning.
    warnings : list of str
    n_iterations : int or None
        Boosting rounds done.
    n_features : int
        Number of features after the projection.
    n_parameters : int or None
        Number of parameters of the model.
    seconds : dict of str to float
        CPU seconds of the parts of the fit.
    """

    is_path: ClassVar[bool] = False
    #: Error rates that a subclass requires.
    required: ClassVar[tuple[str, ...]] = ()

    n_train: Rows
    n_test: Count
    chosen: Point
    validation_error: Real | None
    validation_errors: list[Real] | UnsetType = UNSET
    started: Time
    finished: Time
    warnings: list[str] = []
    test_share: Fraction | UnsetType = field(default=UNSET, name="test_error")
    n_test_wrong: Count | UnsetType = UNSET
    train_share: Fraction | UnsetType = field(default=UNSET, name="train_error")
    n_train_wrong: Count | UnsetType = UNSET
    checkpoint_shares: dict[Round, Fraction] | UnsetType = field(default=UNSET, name="checkpoints")
    n_wrong: list[Count] | dict[Round, Count] | UnsetType = UNSET
    staged_digests: list[Name] | dict[str, Name] | UnsetType = field(default=UNSET, name="digests")
    staged_witness: list[NonNegative] | dict[str, NonNegative] | UnsetType = field(
        default=UNSET, name="witness"
    )
    n_iterations: Count | UnsetType | None = UNSET
    n_features: Count | UnsetType = UNSET
    n_parameters: Count | UnsetType | None = UNSET
    seconds: dict[str, Duration | None] | UnsetType = UNSET

    def __post_init__(self):
        if self.provenance.content["environment"] is None:
            raise BadLine("its provenance has no environment")
        self._check_wrong_rows()
        self._check_list_lengths()
        for name in self.required:
            if getattr(self, name) is None:
                raise BadLine(f"record: there is no {name}")
        _check_validation_errors(self)

    def _check_wrong_rows(self) -> None:
        """Raise `BadLine` if a number of wrong rows exceeds the number of rows."""
        by_round = self.n_wrong.values() if isinstance(self.n_wrong, dict) else self.n_wrong
        for name, n_wrong, n_rows in (
            ("n_test_wrong", self.n_test_wrong, self.n_test),
            ("n_train_wrong", self.n_train_wrong, self.n_train),
            # `by_round` is UNSET, which is false, or may have no checkpoint.
            ("n_wrong", max(by_round) if by_round else UNSET, self.n_test),
        ):
            if n_wrong is not UNSET and n_wrong > n_rows:
                raise BadLine(f"{name}: there are {n_rows} rows")

    def _check_list_lengths(self) -> None:
        """Raise `BadLine` if a list has more numbers than the config has checkpoints."""
        for name, stored, has_end in (
            ("n_wrong", self.n_wrong, False),
            ("digests", self.staged_digests, True),
            ("witness", self.staged_witness, True),
        ):
            n_stages = len(stored) - has_end if isinstance(stored, list) else 0
            # -1: an empty list that lacks the number at the end.
            if not 0 <= n_stages <= len(self.config.checkpoints):
                raise BadLine(f"{name}: the config has fewer checkpoints")

    @property
    def test_error(self) -> float | None:
        """Test error, a fraction; None if it was not measured."""
        return _error_rate(self.test_share, self.n_test_wrong, self.n_test)

    @property
    def train_error(self) -> float | None:
        """Training error, a fraction; None if it was not measured."""
        return _error_rate(self.train_share, self.n_train_wrong, self.n_train)

    @property
    def checkpoints(self) -> dict[str, float] | None:
        """Test errors by the number of boosting rounds; None if they were not measured."""
        if self.n_wrong is UNSET:
            return None if self.checkpoint_shares is UNSET else self.checkpoint_shares
        n_wrong = self._index_by_round(self.n_wrong, has_end=False)
        return {
            rounds: _error_rate(UNSET, n_rows_wrong, self.n_test)
            for rounds, n_rows_wrong in n_wrong.items()
        }

    @property
    def digests(self) -> dict[str, str] | None:
        """Digests of the outputs by the number of boosting rounds, and at the ``end``."""
        return self._index_by_round(self.staged_digests, has_end=True)

    @property
    def witness(self) -> dict[str, float] | None:
        """Mean absolute scores by the number of boosting rounds, and at the ``end``."""
        return self._index_by_round(self.staged_witness, has_end=True)

    @property
    def entries(self) -> dict[str, Any]:
        """Entries of the record as JSON types: errors as fractions, numbers by boosting round."""
        entries = super().entries
        for name in ("n_test_wrong", "n_train_wrong", "n_wrong"):
            entries.pop(name, None)
        for name in ("test_error", "train_error", "checkpoints", "digests", "witness"):
            value = getattr(self, name)
            if value is not None:
                entries[name] = value
        return entries

    def cpu_seconds(self, part: str = "fit") -> float | None:
        """Return the recorded CPU seconds of a part of the fit; None if they are unknown."""
        if isinstance(self.seconds, dict):
            return self.seconds.get(part)
        seconds = getattr(self.seconds, part, UNSET)
        return None if seconds is UNSET else seconds

    def _index_by_round(
        self, stored: list | dict | UnsetType, *, has_end: bool
    ) -> dict[str, Any] | None:
        """Return stored values at checkpoints by the number of boosting rounds.

        Parameters
        ----------
        stored : list, dict or UNSET
            Field of the record. A list is in the order of the config's checkpoints; a dict has the
            numbers of rounds already.
        has_end : bool
            Whether the last value belongs to the ``end`` of the fit instead of a checkpoint.

        Returns
        -------
        dict or None
            None if the record has no values.
        """
        if isinstance(stored, list):
            end = [_END] if has_end else []
            # A fit that stopped early has values at the first checkpoints only.
            rounds = self.config.checkpoints[: len(stored) - len(end)]
            return dict(zip([*rounds, *end], stored, strict=True))
        return None if stored is UNSET else stored


class Seconds(Struct, frozen=True, gc=False):
    """CPU seconds of a fit and its parts, of a prediction, and of the reference job."""

    fit: Duration
    predict_per_instance: Duration
    calibration: Duration
    weak_learner: Duration | UnsetType | None = UNSET
    coefficients: Duration | UnsetType | None = UNSET


def check(content: Any, form: type, dec_hook=None) -> Any:
    """Return content of JSON types as a struct.

    Raises
    ------
    BadLine
        If a field is missing, has another type or is out of range; the message names it.

    Examples
    --------
    >>> check({"name": "iris", "checksum": 5}, Data)
    Traceback (most recent call last):
    boostbench.records.schema.BadLine: checksum: expected str, got int
    """
    try:
        return msgspec.convert(content, form, str_keys=True, dec_hook=dec_hook)
    except ValueError as error:
        if isinstance(error.__cause__, BadLine):
            raise error.__cause__ from None
        # The message is like "Expected `float` <= 1.0 - at `$.test_error`".
        reason, _, json_path = str(error).replace("`", "").partition(" - at ")
        reason = reason.replace("Object missing required field", "there is no")
        field_name = json_path.removeprefix("key in ").lstrip("$.") or "record"
        raise BadLine(f"{field_name}: {reason[:1].lower()}{reason[1:]}") from None
    except RecursionError:
        raise BadLine("it is nested too deeply") from None


def _error_rate(share: float | UnsetType, n_wrong: int | UnsetType, n_rows: int) -> float | None:
    """Return an error rate from the one of its two forms that is stored; None without both.

    Parameters
    ----------
    share : float or UNSET
        Fraction of wrong rows.
    n_wrong : int or UNSET
        Number of wrong rows.
    n_rows : int
        Number of rows. 0: the test part is empty, and its error rate is 0.
    """
    if n_wrong is not UNSET:
        return n_wrong / (n_rows or 1)
    return None if share is UNSET else share


def _check_validation_errors(record: TrialRecord | Measured) -> None:
    """Raise `BadLine` if a validation error is no fraction where the criterion is an error rate."""
    if record.config.judged_by is not None:
        return
    errors = [] if record.validation_errors is UNSET else [*record.validation_errors]
    if record.validation_error not in (None, UNSET):
        errors.append(record.validation_error)
    if errors and not 0 <= min(errors) <= max(errors) <= 1:
        raise BadLine("validation_error: expected a fraction of 1")
