"""Lines of record files as structs, second schema: field types, definitions and the base class.

====================  =========================================================================
`Config`              all settings and facts that affect a result; records share it
`Provenance`          code and machine that made records; records share it
`Record`              base class of the records of finished and failed fits, whose subclasses are
                      in `boostbench.records.fit_results`
`check`               conversion of JSON types to a struct, with an error that names the field
====================  =========================================================================

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
from boostbench.spec.data import selecting_options
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

# Entries of a record that describe the run of a fit: they may differ although the results are
# equal. The entry "also" has the data options of later requests.
_CIRCUMSTANCES = ("seconds", "started", "finished", "warnings", "also")
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
        `boostbench.spec.data.DataSpec.differences_from_shipped`; the entry ``cut``.
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
    target : str
        Dotted name of the estimator's class.
    measure_settings : dict
        Settings of the measure by name.

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


class Record(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """Base class of records: the fields that all of them have.

    Attributes
    ----------
    schema : int
        Number of the schema of the line.
    config : Config
        All settings of the fit. Records share the object, and their lines have its hash.
    provenance : Provenance
        Code and machine of the fit. Records share the object, and their lines have its hash.
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

    - `to_dict` returns all entries as they are written: hashes, numbers of wrong rows, lists;
    - `readable_entries` leaves out the schema and the hashes, and gives errors as fractions and
      values by boosting round;
    - `comparable_entries` also leaves out the circumstances of a run, such as its times: two fits
      are compared by the others;
    - `get` returns one of the `extra_entries`, or else an attribute, by its name.
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
            Options that select data, see `boostbench.spec.data.selecting_options`.
        """
        first_request = self.config.data.data_options
        # Most records were requested once, without options: then the first comparison is enough.
        if first_request == options or selecting_options(first_request) == options:
            return True
        later_requests = [] if self.later_requests is UNSET else self.later_requests
        return any(selecting_options(request) == options for request in later_requests)

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
