"""Specification of a data set: the fields of ``conf/data/NAME.yaml``.

`boostbench.data.loading.load` loads the data of a `DataSpec`. A user's overrides (``data.rows``)
and the files of ``conf/data`` are checked against it.
"""

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from boostbench.util import configs, validation
from boostbench.util.errors import UserError
from boostbench.util.files import user_path
from boostbench.util.validation import annotated_type

#: Names of the mark before the fraction of a number.
Decimal = Literal["point", "comma"]
#: Names of the mark between groups of three digits.
Thousands = Literal["point", "comma", "space", "apostrophe"]
#: Statistics of the training part that replace missing values, within each trial.
IMPUTATIONS = ("mean", "median", "most_frequent")
#: Setting of ``data.missing``: missing values are kept for algorithms that support them.
KEEP_MISSING = "keep"
#: Statistic that replaces missing values, under `KEEP_MISSING`, for algorithms that do not support
#: them.
FALLBACK_IMPUTATION = "median"
#: Settings of ``data.missing`` besides null, which means `KEEP_MISSING` for a user's file and an
#: error for other data.
MISSING_CHOICES = ("drop", KEEP_MISSING, *IMPUTATIONS)

#: Keys that name a source of the data; ``openml_task`` names one, too, and excludes them.
_SOURCES = ("path", "openml", "sklearn", "generate")

_Word = Annotated[str, Meta(min_length=1)]
_NonNegative = Annotated[int, Meta(ge=0)]
_Positive = Annotated[int, Meta(ge=1)]
_Label = _Word | int
# Half-open range: its first number, and the number after its last one.
_Range = tuple[_NonNegative, _Positive]
# Description of the values of ``data.generate`` for messages.
_GENERATOR = "a mapping with the name of a function and its arguments"

# Types of keys, with a description of their values for messages.
_Text = annotated_type(str, "text", min_length=1)
_Patterns = annotated_type(list[_Word], "a list of columns")
_Features = annotated_type(_Range, "[start, stop], numbers of features from 0")
_Rows = annotated_type(_Range, "[start, stop], numbers of rows from 0")
_RowCount = annotated_type(int, "a number of rows", ge=1)
# Options of the structs for nested mappings, such as ``data.expect``.
_NestedStruct = {"frozen": True, "omit_defaults": True, "forbid_unknown_fields": True}


class DataCounts(msgspec.Struct, **_NestedStruct):
    """Known counts of a data set, which each copy of its file must have.

    Attributes
    ----------
    samples, features, classes : int, default=None
        Numbers of samples, features and classes. None: the number is not known.
    """

    samples: _Positive | None = None
    features: _Positive | None = None
    classes: _Positive | None = None


_Counts = annotated_type(DataCounts, f"numbers of {', '.join(DataCounts.__struct_fields__)}")


class OpenMLSource(msgspec.Struct, **_NestedStruct):
    """Data set on OpenML: the fields of ``data.openml``.

    Attributes
    ----------
    id : int
        Number of the data set.
    target : str, default=None
        Column of the classes. None: OpenML's.
    keep, drop : list of str, default=None
        Patterns of the columns to use (None: all), and to leave out.
    features : (int, int), default=UNSET
        `DataSpec.features` for OpenML's copy, whose columns may differ. UNSET: the same as for
        other sources. None: all features.
    expect : DataCounts, default=UNSET
        `DataSpec.expect` for OpenML's copy. UNSET: the same as for other sources. None: no counts.
    train_rows : int, default=None
        Number of first rows that are the official training part. None: there is none.
    """

    id: annotated_type(int, "a number", ge=1)
    target: annotated_type(str, "the name of a column", min_length=1) | None = None
    keep: _Patterns | None = None
    drop: _Patterns | None = None
    features: _Features | UnsetType | None = UNSET
    train_rows: _RowCount | None = None
    expect: _Counts | UnsetType | None = UNSET


class DataQuery(msgspec.Struct, frozen=True):
    """Request of a data set of OpenML, by which its cached answer is found.

    Attributes
    ----------
    id, target, keep, drop
        See `OpenMLSource`.
    missing : str, default=None
        See `DataSpec`.
    """

    id: int
    target: str | None = None
    keep: list[str] | None = None
    drop: list[str] | None = None
    missing: str | None = None


class TaskQuery(msgspec.Struct, frozen=True):
    """Request of a task of OpenML, by which its cached answer is found.

    Attributes
    ----------
    task : int
        Number of the task.
    missing : str, default=None
        See `DataSpec`.
    """

    task: int
    missing: str | None = None


class ImageDescriptor(msgspec.Struct, **_NestedStruct):
    """Descriptor of images, which replaces their pixels as features.

    Attributes
    ----------
    kind : {"gist", "hog", "hog_pyramid"}
        Name of the descriptor.
    shape : list of int
        Height and width of an image in pixels, and 3 if it has colors.
    """

    kind: Literal["gist", "hog", "hog_pyramid"]
    shape: annotated_type(list[_Positive], "[height, width] or [height, width, 3]")


class DataSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """Specification of a data set; None stands for a key that is not set.

    Attributes
    ----------
    name : str
        Name of the data set and of the folder of its records.
    path : str
        File, which has priority over all other sources.
    labels : str or int
        Column of the classes in a CSV or ARFF file.
    missing : {"drop", "keep", "mean", "median", "most_frequent"}
        Treatment of missing values: ``drop`` removes rows; a statistic replaces missing values in
        each fit; ``keep`` leaves them to algorithms that support missing values, and means the
        median for other algorithms. None: ``keep`` for a file `path`, an error for other data.
    na_values : list of (str, int or float)
        Further words or numbers that mark missing values in a CSV file.
    header : bool
        Whether the first line of a CSV file is a header. None: a guess.
    decimal, thousands : str
        Marks of the numbers in a CSV file, see `boostbench.data.readers.base.ReadOptions`.
    drop : list of (str or int)
        Columns of a CSV or ARFF file to leave out, names or patterns of `fnmatch`.
    file : str
        Stem of the file in ``$BOOSTBENCH_DATA`` and in the cache. None: `name`.
    features, rows : (int, int)
        Half-open ranges of the features and the rows to use.
    classes : int or list of labels
        Classes to use: the number of the first ones, or their labels.
    positive : list of labels
        Labels that become class 1; all others become class -1.
    pools : (int, int, int)
        Number of pools, number of splits of a pool, and number of rows of each class in a pool.
        A pool is a random part of the data. Each is split several times; these are the fixed splits
        of the data set. `seed` determines them.
    redraw : int
        Number of rows of each class to draw with replacement, as `seed` determines.
    train_rows : int
        Number of first rows of the file, including rows that `missing` drops, that are the official
        training part.
    openml : OpenMLSource
        Data set on OpenML.
    openml_task : int
        Task of OpenML, whose splits become the fixed splits.
    sklearn : str
        Loader of scikit-learn, such as ``load_wine``.
    as_in_libsvm : bool
        Whether scikit-learn's data set is scaled to equal the file of LIBSVM's collection.
    generate : dict
        Name ``function`` of a generator, and its arguments.
    seed : int
        Seed of the generator, of `pools` and of `redraw`. None: 0.
    descriptor : ImageDescriptor
        Descriptor that replaces the images.
    expect : DataCounts
        Known counts of the data before `classes`, `positive` and `redraw`, after `descriptor`.
    """

    name: _Text
    path: annotated_type(str, "the path of a file, as text", min_length=1) | None = None
    labels: annotated_type(_Label, "the name of a column") | None = None
    missing: (
        annotated_type(Literal[MISSING_CHOICES], f"null, {', '.join(MISSING_CHOICES)}") | None
    ) = None
    na_values: (
        annotated_type(
            list[_Word | int | float], "a list of words or numbers, such as [unknown,-999]"
        )
        | None
    ) = None
    header: annotated_type(bool, "true or false") | None = None
    decimal: annotated_type(Decimal, "point or comma") | None = None
    thousands: annotated_type(Thousands, "point, comma, space or apostrophe") | None = None
    drop: annotated_type(list[_Label], "a list of columns, such as [customer_id]") | None = None
    file: _Text | None = None
    features: _Features | None = None
    rows: _Rows | None = None
    classes: (
        annotated_type(_NonNegative | list[_Label], "a number of classes, or a list of labels")
        | None
    ) = None
    positive: annotated_type(list[_Label], "a list of labels") | None = None
    pools: (
        annotated_type(
            tuple[_Positive, _Positive, _Positive], "[number, splits of each, rows of each class]"
        )
        | None
    ) = None
    redraw: annotated_type(int, "a number of rows of each class", ge=1) | None = None
    train_rows: _RowCount | None = None
    openml: annotated_type(OpenMLSource, "a mapping with an id") | None = None
    openml_task: annotated_type(int, "the number of a task of OpenML", ge=1) | None = None
    sklearn: annotated_type(str, "the name of a loader, such as load_wine", min_length=1) | None = (
        None
    )
    as_in_libsvm: annotated_type(bool, "true or false") | None = None
    generate: annotated_type(dict[str, Any], _GENERATOR) | None = None
    seed: annotated_type(int, "a whole number, 0 or more", ge=0) | None = None
    descriptor: annotated_type(ImageDescriptor, "a mapping with kind and shape") | None = None
    expect: _Counts | None = None

    @classmethod
    def from_config(cls, config: "Mapping[str, Any] | DataSpec") -> "DataSpec":
        """Return the specification in the ``data`` of a resolved config, after checking it.

        Raises
        ------
        UserError
            If a key is unknown (near matches are named), or a value is not possible.

        Examples
        --------
        >>> DataSpec.from_config({"name": "toy", "rows": [0, 3]}).rows
        (0, 3)
        """
        if isinstance(config, DataSpec):
            return config
        if config.get("name") is None:
            # An error in another key is reported first: a misspelled name is an unknown key.
            validation.check_config_group(cls, {**config, "name": "-"}, "data")
            raise UserError("data.name is missing; a data set needs a name")
        return validation.struct_from_config(cls, config, "data")

    def __post_init__(self):
        if self.generate is not None and not isinstance(self.generate.get("function"), str):
            raise UserError(f"data.generate is {self.generate!r}; it must be {_GENERATOR}")
        other_sources = [key for key in _SOURCES if getattr(self, key)]
        if self.openml_task and other_sources:
            raise UserError(
                "data.openml_task names the source of the data; it cannot go with "
                f"data.{other_sources[0]}, which {self.name} has; leave one of them out"
            )
        validation.check_finite({"na_values": self.na_values, "generate": self.generate}, "data")
        for key in ("features", "rows"):
            bounds = getattr(self, key)
            if bounds and bounds[0] >= bounds[1]:
                raise UserError(
                    f"data.{key} is {list(bounds)!r}; it must be [start, stop], numbers of {key} "
                    "from 0"
                )

    def to_config(self) -> dict[str, Any]:
        """Return the keys that are set, as JSON types."""
        config = msgspec.to_builtins(self)
        # JSON has no tuples, such as the ranges `features` and `rows`, which to_builtins keeps.
        for mapping in (config, config.get("openml", {})):
            mapping |= {
                key: list(value) for key, value in mapping.items() if isinstance(value, tuple)
            }
        return config

    @property
    def file_stem(self) -> str:
        """Name of the files of the data set, without endings."""
        return self.file or self.name

    @property
    def effective_missing(self) -> str | None:
        """Effective setting for missing values: one of `MISSING_CHOICES`, or None for an error.

        Examples
        --------
        >>> DataSpec("mine", path="mine.csv").effective_missing
        'keep'
        """
        return self.missing or (KEEP_MISSING if self.path else None)

    @property
    def n_classes(self) -> int | None:
        """Number of classes that are used; None: it is unknown before the data are loaded."""
        if self.positive:
            return 2
        if self.classes:
            return self.classes if isinstance(self.classes, int) else len(self.classes)
        return self.expect.classes if self.expect else None

    @property
    def openml_query(self) -> DataQuery | TaskQuery | None:
        """Request to OpenML; None: the data are not on OpenML."""
        if self.openml_task:
            return TaskQuery(self.openml_task, self.missing)
        if not self.openml:
            return None
        source = self.openml
        return DataQuery(source.id, source.target, source.keep, source.drop, self.missing)

    def openml_copy_spec(self) -> "DataSpec":
        """Return the specification with the features, training rows and counts of OpenML's copy."""
        if not self.openml:
            # A task of OpenML: its splits take the place of the official training part.
            return msgspec.structs.replace(self, train_rows=None)
        fields = {"features": self.openml.features, "expect": self.openml.expect}
        differing = {name: value for name, value in fields.items() if value is not UNSET}
        return msgspec.structs.replace(self, train_rows=self.openml.train_rows, **differing)

    @property
    def differences_from_shipped(self) -> dict[str, Any]:
        """Differences to the config of the same name in ``conf/data``, the shipped config.

        Changed and additional keys with their values, in JSON types, such as the selected classes
        or the path of a user's file; None for a removed key. `boostbench.data.load` returns the
        same data for the config in ``conf/data`` with these values.
        """
        # 1) Take the keys with another value.
        shipped, config = _shipped_spec(self.name).to_config(), self.to_config()
        differences = {key: value for key, value in config.items() if value != shipped.get(key)}
        # 2) Set removed keys to None. A false value, such as a seed of 0, is like a missing key.
        differences |= {key: None for key, value in shipped.items() if value and key not in config}
        # 3) Write the path in one form: records are looked up by it, from any system.
        if self.path:
            path, working_folder = user_path(self.path).absolute(), Path.cwd()
            is_below = path.is_relative_to(working_folder)
            path = path.relative_to(working_folder) if is_below else path
            differences["path"] = path.as_posix()
        return differences


@functools.cache
def _shipped_spec(name: str) -> DataSpec:
    """Return the specification of this name in ``conf/data``, or one with the name alone.

    It is cached, as the cells of tables share a few data sets and parsing YAML is slow.
    """
    if name not in configs.list_options("data"):
        return DataSpec(name)
    return DataSpec.from_config(configs.read_option("data", name))


def selecting_options(differences: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that select other data than the shipped config does.

    Parameters
    ----------
    differences : mapping
        `DataSpec.differences_from_shipped`, of today or of a record.

    Returns
    -------
    dict
        The options without ``expect``, which only checks counts, and without ``missing``, whose
        effect a record states by itself, see `boostbench.records.schema.Data`.
    """
    return {key: value for key, value in differences.items() if key not in ("expect", "missing")}
