"""Results of a fit as a measure returns them, and the types of their records.

A measure (`boostbench.fitting.measures`) fits an estimator and returns a struct of its results, a
subclass of `SplitResults`. The record of a split has the fields of this struct, and facts of the
fit such as the number of the split (`boostbench.records.schema.SplitRecord`). `record_type` makes
the type of the records from the type of the results, so that each field is declared once;
`boostbench.records.codec.make_record` makes the records.

In a struct, UNSET is the value of a result that the measure does not record, and None the value of
a result that the estimator does not have.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from boostbench.records.schema import Count, Fraction, Name, NonNegative, Seconds, SplitRecord

# Results that a record stores in another form than a measure returns them, see `SplitRecord`.
_TWO_FORM_RESULTS = ("test_error", "train_error", "checkpoints")


class Results(Struct, frozen=True, kw_only=True):
    """Base class of the results of a fit; an instance of this class stands for a failed fit.

    Attributes
    ----------
    extra_entries : dict or UNSET
        Further results of a user's measure by name, as JSON types.
    """

    extra_entries: dict[str, Any] | UnsetType = UNSET


class TrialResults(Results, kw_only=True):
    """Results of a cross-validation trial, the fit of one point of the grid, or of several points.

    They become fields of a `boostbench.records.schema.TrialRecord`.

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
