"""Results of fits in two forms: as a measure returns them, and as records hold them.

====================  =========================================================================
`SplitResults`        results of a split; each measure returns a subclass with its own fields
`SplitRecord`         record of a finished split; each measure has a subclass with its fields
`FailedSplit`         record of a split whose fit raised an error
`TrialResults`        results of a trial of cross-validation
`TrialRecord`         record of a finished trial
`FailedTrial`         record of a trial whose fit raised an error
====================  =========================================================================

A measure (`boostbench.fitting.measures`) fits an estimator and returns a struct of its results. The
record of a split has the fields of this struct, and facts of the fit such as the number of the
split (`boostbench.records.schema.Record`). `record_type` makes the type of the records from the
type of the results, so that each field is declared once; `boostbench.records.codec.make_record`
makes the records.

In results, UNSET is the value of a result that the measure does not record, and None the value of a
result that the estimator does not have.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from boostbench.records.schema import (
    BadLine,
    Count,
    Duration,
    Fraction,
    Name,
    NonNegative,
    Point,
    Positive,
    Real,
    Record,
    Round,
    Seconds,
    Time,
)

# Errors, which a measure returns as fractions. A record stores fractions, or numbers of wrong rows,
# in fields of other names, see the table in `SplitRecord`.
_TWO_FORM_RESULTS = ("test_error", "train_error", "checkpoints")
# Key of the value at the end of a fit, beside its values at checkpoints.
_END = "end"


class Results(Struct, frozen=True, kw_only=True):
    """Base class of the results of a fit; a failed fit has an instance of this class itself.

    Attributes
    ----------
    extra_entries : dict or UNSET
        Further results of a user's measure by name, as JSON types.
    """

    extra_entries: dict[str, Any] | UnsetType = UNSET


class TrialResults(Results, kw_only=True):
    """Results of a cross-validation trial, the fit of one point of the grid, or of several points.

    They become fields of a `TrialRecord`.

    Attributes
    ----------
    validation_error : float or UNSET
        Loss of a single point.
    digest : str or UNSET
        Digest of the outputs from which the loss was computed, for a single point.
    validation_errors, digests : list or UNSET
        Losses and digests of several points, in the order of the points.
    seconds : Seconds or list of float
        CPU seconds of the fit of a single point, or of each fit for several points.
    """

    seconds: Seconds | list[float]
    validation_error: float | UnsetType = UNSET
    digest: str | UnsetType = UNSET
    validation_errors: list[float] | UnsetType = UNSET
    digests: list[str] | UnsetType = UNSET


class SplitResults(Results, kw_only=True):
    """Results of a split that several measures record; other results are fields of a subclass.

    A subclass declares a field of this class again, without a default, if each of its records must
    have it.

    Attributes
    ----------
    test_error, train_error : float or UNSET
        Fractions of wrong labels of the test and of the training part.
    checkpoints : list of float or UNSET
        Test errors, fractions, at the checkpoints of the protocol. A fit that stopped early may
        have errors at the first checkpoints only.
    digests : list of str or UNSET
        Digests of the predicted labels at the same checkpoints, and at the end of the fit.
    witness : list of float or UNSET
        Mean absolute scores at the same checkpoints and at the end of the fit, or at the end only.
        They reveal different scores of two fits with equal labels.
    n_iterations : int, None or UNSET
        Boosting rounds done; None if the estimator does not count them.
    n_features : int or UNSET
        Number of features after the projection.
    n_parameters : int, None or UNSET
        Number of parameters of the model; None if the estimator does not count them.
    seconds : Seconds or UNSET
        CPU seconds of the fit and of its parts.
    """

    test_error: Fraction | UnsetType = UNSET
    train_error: Fraction | UnsetType = UNSET
    checkpoints: list[Fraction] | UnsetType = UNSET
    digests: list[Name] | UnsetType = UNSET
    witness: list[NonNegative] | UnsetType = UNSET
    n_iterations: Count | UnsetType | None = UNSET
    n_features: Count | UnsetType = UNSET
    n_parameters: Count | UnsetType | None = UNSET
    seconds: Seconds | UnsetType = UNSET

    @classmethod
    def from_dict(cls, entries: Mapping[str, Any]) -> "SplitResults":
        """Return the results that a user's measure returns as a mapping of names to JSON values.

        Values are not checked here: `boostbench.records.codec.make_record` checks all of them, and
        takes values at checkpoints also as a mapping by the number of rounds.
        """
        names = entries.keys() & set(cls.__struct_fields__) - {"extra_entries"}
        fields = {name: entries[name] for name in names}
        extra_entries = {name: entries[name] for name in entries.keys() - names}
        return cls(**fields, extra_entries=extra_entries or UNSET)


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
    #: Errors that a record of the subclass must have, of ``test_error``, ``train_error`` and
    #: ``checkpoints``, each in either stored form.
    required: ClassVar[tuple[str, ...]] = ()

    n_train: Positive
    n_test: Count
    chosen: Point
    validation_error: Real | None
    validation_errors: list[Real] | UnsetType = UNSET
    started: Time
    finished: Time
    warnings: list[str] = field(default_factory=list)
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


def record_type(results: type[SplitResults]) -> type[SplitRecord]:
    """Return the type of the records with these results.

    It has the fields of `SplitRecord`, and the fields that `results` declares itself, with the same
    types. A result without a default is required in either of its stored forms. A variable with
    the name of the type has to hold it in the module of `results`, so that records can be pickled.

    Examples
    --------
    >>> class DepthResults(SplitResults, kw_only=True):
    ...     test_error: Fraction
    ...     depth: Count
    >>> DepthRecord = record_type(DepthResults)
    >>> DepthRecord.__name__, DepthRecord.required, "depth" in DepthRecord.__struct_fields__
    ('DepthRecord', ('test_error',), True)
    """
    # 1) Take the fields that `results` adds to `SplitResults`, or declares in another way.
    shared = msgspec.structs.fields(SplitResults)
    declared = [field for field in msgspec.structs.fields(results) if field not in shared]
    # 2) Errors have stored forms in `SplitRecord`, of which a record must have one.
    required = [field.name for field in declared if field.name in _TWO_FORM_RESULTS]
    # 3) The other fields become fields of the record.
    fields = [
        (field.name, field.type) if field.required else (field.name, field.type, field.default)
        for field in declared
        if field.name not in _TWO_FORM_RESULTS
    ]
    return msgspec.defstruct(
        results.__name__.replace("Results", "Record"),
        fields,
        bases=(SplitRecord,),
        kw_only=True,
        module=results.__module__,
        namespace={"required": tuple(required), "__doc__": f"Record of `{results.__name__}`."},
    )


def _check_validation_errors(record: TrialRecord | SplitRecord) -> None:
    """Raise `BadLine` if a validation error is no fraction where the criterion is an error rate."""
    if record.config.judged_by is not None:
        return
    errors = [] if record.validation_errors is UNSET else [*record.validation_errors]
    if record.validation_error not in (None, UNSET):
        errors.append(record.validation_error)
    if errors and not 0 <= min(errors) <= max(errors) <= 1:
        raise BadLine("validation_error: expected a fraction of 1")
