"""Records: the lines of record files as structs, second schema.

====================  =========================================================
`FailedSplit`         a split whose fit raised an error
`SplitRecord`         a finished split; each measure has a subclass with fields
`FailedTrial`         a failed trial of cross-validation
`TrialRecord`         a finished trial of cross-validation
====================  =========================================================

A line is decoded straight into the struct of its kind, which checks types and ranges
(`boostbench.records.codec`). Entries without a field are in `extra_entries`: the results of a
user's measure, and entries that a later version adds.

The name of a field is the name of its entry in the line, unless ``field(name=...)`` gives another
one: ``test_share``, for instance, is written as ``test_error``, since the property ``test_error``
reads either stored form. UNSET stands for an entry that the line does not have, None for null in
the line.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from boostbench.spec.class_facts import FIRST_EDITION, CodeVersion
from boostbench.spec.data import key_options
from boostbench.spec.keys import RecordKeys, digest, drop_removed_parameters

#: Version of the form of lines. Lines of the first version are no longer read.
SCHEMA = 2

#: First 16 hexadecimal digits of a SHA-256.
Hash = Annotated[str, Meta(pattern="^[0-9a-f]{16}$")]
#: Text that is not empty.
Name = Annotated[str, Meta(min_length=1)]
#: Largest whole number up to which a float represents all whole numbers.
_MAX_INTEGER = 2**53
#: Largest real number: sums of squares, as of a standard deviation, stay below 1.8e308.
_MAX_REAL = 1e100
Integer = Annotated[int, Meta(ge=-_MAX_INTEGER, le=_MAX_INTEGER)]
Count = Annotated[int, Meta(ge=0, le=_MAX_INTEGER)]
Positive = Annotated[int, Meta(ge=1, le=_MAX_INTEGER)]
#: Number of boosting rounds as the key of a mapping: JSON has only text as keys.
Round = Annotated[str, Meta(pattern=r"^[1-9]\d{0,14}$")]
Real = Annotated[float, Meta(ge=-_MAX_REAL, le=_MAX_REAL)]
Fraction = Annotated[float, Meta(ge=0, le=1)]
NonNegative = Annotated[float, Meta(ge=0, le=_MAX_REAL)]
#: CPU seconds.
Duration = NonNegative
#: Time in UTC, such as ``2026-03-01T09:30:00Z``.
Time = Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]
#: Point of a grid: values by parameter.
Point = dict[str, Any]

# Entries of a record that describe a run: they may differ although the results are equal.
_CIRCUMSTANCES = ("seconds", "started", "finished", "warnings", "also")
# Key of the value at the end of a fit, beside its values at checkpoints.
_END = "end"
# Entries of a config that are not settings of its measure.
_CONFIG_ENTRIES = {"algo", "data", "grid", "judged_by", "measure", "protocol", "seed"}


class BadLine(ValueError):
    """Error for a line that is neither a record nor a definition; the message has the reason."""


class Data(Struct, frozen=True):
    """Facts of a data set, as the config of a record has them.

    Attributes
    ----------
    name : str
        Name of the data set and of the folder of its records.
    checksum : str
        Digest of the features and labels, 16 hexadecimal digits.
    n_samples, n_features, n_classes : int
        Numbers of samples, features and classes of the whole data set.
    data_options : dict, default={}
        Data options of the first request, such as the selected rows and classes, see
        `boostbench.spec.data.DataSpec.overrides`; the entry ``cut``.
    missing : str or None
        Imputation of missing values; None without missing values.
    text_encoding : str or None
        Treatment of columns of texts, the entry ``words``: ``"categories"`` if the estimator got
        their codes as categories; None if it got numbers only.
    """

    name: Name
    checksum: Hash
    n_samples: Positive
    n_features: Positive
    n_classes: Positive
    data_options: dict[str, Any] = field(default_factory=dict, name="cut")
    missing: str | None = None
    text_encoding: str | None = field(default=None, name="words")


class _Algo(Struct):
    """Type by which a config's ``algo`` is checked; parameters of the estimator are not in it.

    Attributes
    ----------
    target : str
        Dotted name of the estimator's class, the entry ``_target_``.
    """

    target: Name = field(name="_target_")


class _ConfigForm(Struct):
    """Type by which the content of a `Config` is checked, see its attributes.

    The settings of a measure are further entries, which are not checked.
    """

    algo: _Algo
    data: Data
    grid: dict[str, list]
    protocol: dict[str, Any]
    seed: Count
    measure: Name | UnsetType = UNSET


class _ProvenanceForm(Struct):
    """Type by which the content of a `Provenance` is checked, see its attributes."""

    commit: Name
    environment: dict[str, str | Integer] | None
    edition: Positive = FIRST_EDITION
    source: Hash | UnsetType = UNSET
    # Older records have it; nothing reads it.
    code: Name | UnsetType = UNSET


class Config:
    """Config of records: all settings and facts that affect a result. Records share it.

    Parameters
    ----------
    content : dict
        Config of JSON types, see `boostbench.spec.keys` for an example.

    Attributes
    ----------
    recorded_content : dict
        Config as it is written in files of records.
    hash : str
        Digest of `recorded_content`.
    content : dict
        Config without parameters of ``algo`` that have become attributes of their class, so that
        records of earlier versions have today's keys.
    keys : RecordKeys
        Digests of `content` without defaults, from which the keys of records are made.
    data : Data
        Data set.
    algo : dict
        Class of the estimator (``_target_``) and its parameters.
    grid : dict of str to list
        Candidate values by parameter.
    protocol : dict
        See `boostbench.spec.protocol.ProtocolSpec.to_config`.
    seed : int
        Seed of all random numbers.
    measure : str or None
        Name of the measure; None in older configs, which name none.
    judged_by : str or None
        Criterion of cross-validation; None: the error rate.
    checkpoints : list of str
        Numbers of boosting rounds at which errors are recorded, ascending; empty if there are none.
    target, measure_settings
        See the properties.

    Raises
    ------
    BadLine
        If an entry is missing, or has another type.
    UserError
        If a value has no JSON form.
    """

    def __init__(self, content: dict[str, Any]):
        self.data = check(content, _ConfigForm).data
        self.hash, self.recorded_content = digest(content), content
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
        """Settings of the measure by name: the entries besides those that all configs have."""
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
        Entries as they are written in files of records.
    hash : str
        Digest of `content`.
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
        checked = check(content, _ProvenanceForm)
        self.content, self.hash = content, digest(content)
        self.commit, self.environment = checked.commit, content["environment"] or {}
        self.edition, self.source = checked.edition, content.get("source")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Provenance) and self.hash == other.hash

    def __hash__(self) -> int:
        return hash(self.hash)

    def is_from(self, version: CodeVersion) -> bool:
        """Return True if the version of the code made the records."""
        return (
            self.edition == version.edition
            # Older records have no digest of the source: they match any.
            and self.source in (None, version.source)
            and all(self.environment.get(name, now) == now for name, now in version.versions)
        )


class Record(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """Base class of records: the fields that all of them have.

    Attributes
    ----------
    schema : int
        Number of the schema of the line.
    config : Config
        Shared by records. Their lines have its hash.
    provenance : Provenance
        Shared by records. Their lines have its hash.
    split : int
        Number of the split, from 0.
    rows : str
        Checksum of the numbers of the rows in the training and the test part; for a trial, of the
        rows in the two parts of its fold.
    started, finished : str or UNSET
        Times in UTC.
    later_requests : list of dict or UNSET
        Data options of later requests for equal data, the entry ``also``. The options of the first
        request are in `config.data.data_options`.
    extra_entries : dict or UNSET
        Entries without a field of their own, see the module.
    error, where : str or None
        Error of a failed fit, and its module and line; None for a finished fit.
    is_failed : bool
        True if the fit raised an error.
    is_trial : bool
        True for a cross-validation trial, False for a split.

    Notes
    -----
    There are four views of a record, from the file to the comparison of results:

    - `to_dict` has all entries as they are written: hashes, numbers of wrong rows, lists;
    - `readable_entries` has them without the schema and the hashes, and with errors as fractions
      and values by boosting round;
    - `comparable_entries` has the `readable_entries` that two fits are compared by, without the
      circumstances of a run, such as its times;
    - `get` reads one of the `extra_entries`, or else an attribute, by its name.
    """

    error: ClassVar[str | None] = None
    where: ClassVar[str | None] = None
    is_failed: ClassVar[bool] = False
    is_trial: ClassVar[bool] = False

    schema: Literal[2] = SCHEMA
    config: Config
    provenance: Provenance
    split: Count
    # A checksum: the numbers of the rows themselves are not in the record.
    rows: Hash
    started: Time | UnsetType = UNSET
    finished: Time | UnsetType = UNSET
    later_requests: list[dict[str, Any]] | UnsetType = field(default=UNSET, name="also")
    # The name in the line is empty, as a user's measure may have an entry of any other name.
    # `boostbench.records.codec` collects the entries without a field under it.
    extra_entries: dict[str, Any] | UnsetType = field(default=UNSET, name="")

    @property
    def key(self) -> str:
        """Digest that identifies the experiment and the split."""
        return self.config.keys.split_key(self.split, self.rows)

    @property
    def readable_entries(self) -> dict[str, Any]:
        """Entries of the record as JSON types: errors as fractions, numbers by boosting round."""
        entries = self.to_dict()
        for name in ("schema", "config", "provenance"):
            del entries[name]
        return entries

    @property
    def comparable_entries(self) -> dict[str, Any]:
        """The `readable_entries` without times, warnings and data options of later requests."""
        entries = self.readable_entries
        return {name: entries[name] for name in entries if name not in _CIRCUMSTANCES}

    def has_options(self, options: Mapping[str, Any]) -> bool:
        """Return True if a request for the data set had these options.

        Parameters
        ----------
        options : mapping
            Options that select data, see `boostbench.spec.data.key_options`.
        """
        first_request = self.config.data.data_options
        # Most records were requested once, without options: then the first comparison is enough.
        if first_request == options or key_options(first_request) == options:
            return True
        later_requests = [] if self.later_requests is UNSET else self.later_requests
        return any(key_options(request) == options for request in later_requests)

    def add_options(self, options: Mapping[str, Any]) -> "Record":
        """Return the record with the data options of a later request, see `has_options`."""
        later_requests = [] if self.later_requests is UNSET else self.later_requests
        return msgspec.structs.replace(self, later_requests=[*later_requests, dict(options)])

    def to_dict(self) -> dict[str, Any]:
        """Return the entries of the record's line, as JSON types."""
        # The config and the provenance are written as their hashes.
        entries = msgspec.to_builtins(self, enc_hook=lambda definition: definition.hash)
        # `extra_entries` has the empty name. Its items stand beside the other entries in the line.
        entries.pop("", None)
        return entries if self.extra_entries is UNSET else entries | self.extra_entries

    def get(self, name: str) -> Any:
        """Return one of the `extra_entries`, or else an attribute; None if there is neither."""
        if self.extra_entries is not UNSET and name in self.extra_entries:
            return self.extra_entries[name]
        value = getattr(self, name, None)
        return None if value is UNSET else value


class FailedSplit(Record, kw_only=True):
    """Failed fit of a split.

    Attributes
    ----------
    error, where : str
        Error, and its module and line.
    """

    is_failed: ClassVar[bool] = True

    error: str
    where: str


class Seconds(Struct, frozen=True, kw_only=True, gc=False):
    """CPU seconds of a fit.

    Attributes
    ----------
    fit : float
        Whole fit.
    calibration : float or UNSET
        Reference job, see `boostbench.fitting.trial.calibration`, by which times of different
        machines are compared.
    weak_learner, coefficients : float, None or UNSET
        Parts of the fit: training of the weak learners, and computation of their coefficients. None
        if the estimator does not measure them.
    """

    fit: Duration
    calibration: Duration | UnsetType = UNSET
    weak_learner: Duration | UnsetType | None = UNSET
    coefficients: Duration | UnsetType | None = UNSET


class _TrialFields(Record, kw_only=True):
    """Fields of cross-validation trials of one point of the grid, or of several points.

    Several points are a trial if the fits of a warm-started path, or the stages of one fit, reach
    them; see `boostbench.fitting.tuning`.

    Attributes
    ----------
    fold : int
        Number of the fold, from 0.
    single_point : dict or UNSET
        Stored form of one point: the entry ``point``.
    several_points : list of dict or UNSET
        Stored form of several points: the entry ``points``.
    points : list of dict
        Property that has the points of either stored form.
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
    """Failed cross-validation trial; see `FailedSplit`."""

    is_failed: ClassVar[bool] = True

    error: str
    where: str


class TrialRecord(_TrialFields, kw_only=True):
    """Finished cross-validation trial.

    A trial of one point has a `validation_error`, a `digest`, and the `seconds` of the parts of its
    fit. A trial of several points has `validation_errors` and `digests` in the order of the points.

    Attributes
    ----------
    validation_error : float or UNSET
        Loss of a single point, a fraction unless the measure has another criterion.
    validation_errors : list of float or UNSET
        Losses of several points.
    digest : str or UNSET
        Digest of the outputs that were judged, for a single point.
    digests : list of str or UNSET
        Digests of the outputs that were judged, for several points.
    seconds : Seconds or list of float
        For a single point, CPU seconds of the fit and its parts. For several points, CPU seconds of
        each fit of a warm-started path, or of the one fit whose stages were judged.
    """

    finished: Time
    seconds: Seconds | list[Duration]
    validation_error: Real | UnsetType = UNSET
    validation_errors: list[Real] | UnsetType = UNSET
    digest: Name | UnsetType = UNSET
    digests: list[Name] | UnsetType = UNSET

    def __post_init__(self):
        super().__post_init__()
        if self.several_points is UNSET:
            has_all_errors = self.validation_error is not UNSET
        else:
            n_errors = 0 if self.validation_errors is UNSET else len(self.validation_errors)
            has_all_errors = n_errors == len(self.several_points)
        if not has_all_errors:
            raise BadLine("record: it has to have a validation error for each point")
        _check_validation_errors(self)

    @property
    def has_several_points(self) -> bool:
        """True for a trial of several points, such as a warm-started path of fits.

        Its `seconds` are total times of fits, and not times of the parts of one fit.
        """
        return isinstance(self.seconds, list)

    def cpu_seconds(self, part: str = "fit") -> float | None:
        """Return the CPU seconds of a part of the fit, or of all fits of several points.

        None: the part was not measured.

        Parameters
        ----------
        part : str, default="fit"
            Attribute of `seconds`. For several points, only the whole fit was measured.
        """
        if self.has_several_points:
            return sum(self.seconds) if part == "fit" else None
        seconds = getattr(self.seconds, part, UNSET)
        return None if seconds is UNSET else seconds


class SplitRecord(Record, kw_only=True):
    """Finished fit of a split; measures have subclasses.

    Errors have two stored forms, and a property that reads either: the number of wrong rows is
    stored if it gives the error rate exactly, as it is shorter. Values at checkpoints are stored as
    a list in the order of the config's checkpoints, which the value at the end of the fit follows;
    a fit that stopped early has values at the first checkpoints only. Values at other numbers of
    rounds, of a user's measure, are stored as a mapping.

    ==========================================  ===============
    Stored form                                 Property
    ==========================================  ===============
    ``test_share``, or ``n_test_wrong``         ``test_error``
    ``train_share``, or ``n_train_wrong``       ``train_error``
    ``checkpoint_shares``, or ``n_wrong``       ``checkpoints``
    ==========================================  ===============

    Attributes
    ----------
    n_train, n_test : int
        Sizes of both parts.
    chosen : dict
        Chosen point of the grid.
    validation_error : float or None
        Mean validation error of the chosen point over the folds; None without tuning.
    validation_errors : list of float or UNSET
        Validation errors of several points; no measure of boostbench writes them.
    warnings : list of str
        Warnings that the fit gave.
    test_share, train_share : float or UNSET
        Stored test and training error, fractions.
    n_test_wrong, n_train_wrong : int or UNSET
        Number of wrong rows of the test and of the training part.
    checkpoint_shares : dict of str to float or UNSET
        Stored test errors by the number of boosting rounds, fractions.
    n_wrong : list of int, dict of str to int, or UNSET
        Numbers of wrong rows of the test part at checkpoints.
    digests : list of str, dict of str to str, or UNSET
        Digests of the predicted labels at checkpoints and at the end.
    witness : list of float, dict of str to float, or UNSET
        Mean absolute scores at checkpoints and at the end, a witness of the scores: two fits that
        predict equal labels may differ in their scores. The mean reveals this, and takes less space
        than all scores. Its last digits depend on the machine.
    n_iterations : int, None or UNSET
        Boosting rounds done.
    n_features : int or UNSET
        Number of features after the projection.
    n_parameters : int, None or UNSET
        Number of parameters of the model.
    seconds : dict of str to float, or UNSET
        CPU seconds of the parts of the fit. `Seconds` in some subclasses.
    """

    has_several_points: ClassVar[bool] = False
    #: Results that a record of the subclass must have: ``test_error``, ``train_error`` or
    #: ``checkpoints``, each in either stored form.
    required: ClassVar[tuple[str, ...]] = ()

    n_train: Positive
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
    digests: list[Name] | dict[str, Name] | UnsetType = UNSET
    witness: list[NonNegative] | dict[str, NonNegative] | UnsetType = UNSET
    n_iterations: Count | UnsetType | None = UNSET
    n_features: Count | UnsetType = UNSET
    n_parameters: Count | UnsetType | None = UNSET
    seconds: dict[str, Duration | None] | UnsetType = UNSET

    def __post_init__(self):
        # This runs for each line of a file: calls of other functions would take most of its time.
        if self.provenance.content["environment"] is None:
            raise BadLine("its provenance has no environment")
        # 1) A number of wrong rows does not exceed the number of rows.
        checkpoint_counts = (
            self.n_wrong.values() if isinstance(self.n_wrong, dict) else self.n_wrong
        )
        for name, n_wrong, n_rows in (
            ("n_test_wrong", self.n_test_wrong, self.n_test),
            ("n_train_wrong", self.n_train_wrong, self.n_train),
            # `checkpoint_counts` may be UNSET, whose truth value is False, or empty.
            ("n_wrong", max(checkpoint_counts) if checkpoint_counts else UNSET, self.n_test),
        ):
            if n_wrong is not UNSET and n_wrong > n_rows:
                raise BadLine(f"{name}: there are {n_rows} rows")
        # 2) A list has at most as many numbers as the config has checkpoints, and one more if its
        #    last one belongs to the end of the fit.
        for name, stored, has_end in (
            ("n_wrong", self.n_wrong, False),
            ("digests", self.digests, True),
            ("witness", self.witness, True),
        ):
            n_at_checkpoints = len(stored) - has_end if isinstance(stored, list) else 0
            # -1: an empty list, which lacks the number at the end.
            if not 0 <= n_at_checkpoints <= len(self.config.checkpoints):
                raise BadLine(f"{name}: the config has fewer checkpoints")
        # 3) A required result is there in one of its two stored forms.
        for name, share, n_wrong in (
            ("test_error", self.test_share, self.n_test_wrong),
            ("train_error", self.train_share, self.n_train_wrong),
            ("checkpoints", self.checkpoint_shares, self.n_wrong),
        ):
            if share is UNSET and n_wrong is UNSET and name in self.required:
                raise BadLine(f"record: there is no {name}")
        # 4) Validation errors are fractions, unless cross-validation used another criterion.
        if self.validation_errors is not UNSET or not 0 <= (self.validation_error or 0) <= 1:
            _check_validation_errors(self)

    @property
    def test_error(self) -> float | None:
        """Test error, a fraction; None if it was not measured."""
        if self.n_test_wrong is UNSET:
            return None if self.test_share is UNSET else self.test_share
        # The error rate of an empty test part is 0.
        return self.n_test_wrong / (self.n_test or 1)

    @property
    def train_error(self) -> float | None:
        """Training error, a fraction; None if it was not measured."""
        if self.n_train_wrong is UNSET:
            return None if self.train_share is UNSET else self.train_share
        return self.n_train_wrong / self.n_train

    @property
    def checkpoints(self) -> dict[str, float] | None:
        """Test errors, fractions, by the number of boosting rounds; None: not measured."""
        if self.n_wrong is UNSET:
            return None if self.checkpoint_shares is UNSET else self.checkpoint_shares
        n_rows = self.n_test or 1
        n_wrong = self._index_by_round(self.n_wrong)
        return {rounds: number / n_rows for rounds, number in n_wrong.items()}

    @property
    def last_digest(self) -> str | None:
        """Digest of the predicted labels at the end of the fit; None: not recorded."""
        if isinstance(self.digests, list):
            return self.digests[-1]
        return None if self.digests is UNSET else self.digests.get(_END)

    @property
    def readable_entries(self) -> dict[str, Any]:
        """Entries of the record as JSON types: errors as fractions, numbers by boosting round."""
        entries = super().readable_entries
        for name in ("n_test_wrong", "n_train_wrong", "n_wrong"):
            entries.pop(name, None)
        for name in ("test_error", "train_error", "checkpoints"):
            value = getattr(self, name)
            if value is not None:
                entries[name] = value
        for name in ("digests", "witness"):
            if name in entries:
                entries[name] = self._index_by_round(entries[name], has_end=True)
        return entries

    def cpu_seconds(self, part: str = "fit") -> float | None:
        """Return the CPU seconds of a part of the fit; None if it was not measured.

        Parameters
        ----------
        part : str, default="fit"
            Key of `seconds`, or name of an attribute of its struct.
        """
        # A dict here, a struct in some subclasses, or UNSET, which has no attribute of the name.
        if isinstance(self.seconds, dict):
            return self.seconds.get(part)
        seconds = getattr(self.seconds, part, UNSET)
        return None if seconds is UNSET else seconds

    def _index_by_round(self, stored: list | dict, has_end: bool = False) -> dict[str, Any]:
        """Return stored values at checkpoints by the number of boosting rounds.

        Parameters
        ----------
        stored : list or dict
            Field of the record. A list is in the order of the config's checkpoints; a dict has the
            numbers of rounds already.
        has_end : bool, default=False
            Whether the last value belongs to the ``end`` of the fit instead of a checkpoint.
        """
        if isinstance(stored, dict):
            return stored
        end = [_END] if has_end else []
        # A fit that stopped early has values at the first checkpoints only.
        rounds = self.config.checkpoints[: len(stored) - len(end)]
        return dict(zip([*rounds, *end], stored, strict=True))


def check(content: Any, form: type, dec_hook=None) -> Any:
    """Convert content of JSON types to a struct, which checks its types and ranges.

    Parameters
    ----------
    content : dict
        Entries by name.
    form : type
        Type of the struct.
    dec_hook : callable, default=None
        Function of a type and a value that decodes types which JSON does not have, see
        `msgspec.convert`.

    Returns
    -------
    struct of type `form`

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
        # `__post_init__` and `dec_hook` raise BadLine, which msgspec wraps.
        if isinstance(error.__cause__, BadLine):
            raise error.__cause__ from None
        # The message is like "Expected `float` <= 1.0 - at `$.test_error`".
        reason, _, json_path = str(error).replace("`", "").partition(" - at ")
        reason = reason.replace("Object missing required field", "there is no")
        field_name = json_path.removeprefix("key in ").lstrip("$.") or "record"
        raise BadLine(f"{field_name}: {reason[:1].lower()}{reason[1:]}") from None
    except RecursionError:
        raise BadLine("it is nested too deeply") from None


def _check_validation_errors(record: TrialRecord | SplitRecord) -> None:
    """Raise `BadLine` if a validation error is no fraction where the criterion is an error rate."""
    if record.config.judged_by is not None:
        return
    errors = [] if record.validation_errors is UNSET else [*record.validation_errors]
    if record.validation_error not in (None, UNSET):
        errors.append(record.validation_error)
    if errors and not 0 <= min(errors) <= max(errors) <= 1:
        raise BadLine("validation_error: expected a fraction of 1")
