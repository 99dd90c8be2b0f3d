"""Specification of a data set: the fields of ``conf/data/NAME.yaml``."""

import functools
from collections.abc import Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import msgspec
from msgspec import Meta

from boostbench.util import configs, validation
from boostbench.util.errors import UserError
from boostbench.util.user_paths import user_path
from boostbench.util.validation import annotated_type, describe_type

#: Names of the marks before the fraction of a number and between groups of three digits.
Decimal = Literal["point", "comma"]
Thousands = Literal["point", "comma", "space", "apostrophe"]
#: Counts that ``data.expect`` may state.
COUNTS = ("samples", "features", "classes")
#: Statistics of the training part that replace missing values, within each trial.
IMPUTATIONS = ("mean", "median", "most_frequent")
#: Missing values are kept for algorithms that support them. For other algorithms, the statistic
#: FALLBACK replaces them.
KEEP, FALLBACK = "keep", "median"
#: Settings of ``data.missing`` besides null, which means `KEEP` for a user's file and an error for
#: other data.
CHOICES = ("drop", KEEP, *IMPUTATIONS)

#: Keys that name a source. ``openml_task`` excludes them.
_SOURCES = ("path", "openml", "sklearn", "generate")

_text = partial(annotated_type, str, min_length=1)
_count = partial(annotated_type, int, ge=1)
_Text, _Count = Annotated[str, Meta(min_length=1)], Annotated[int, Meta(ge=1)]
_Label = _Text | int
_Range = tuple[Annotated[int, Meta(ge=0)], _Count]
_Counts = dict[Literal[tuple(COUNTS)], _Count | None]


# Required keys of nested mappings; other keys are checked separately.
class _OpenMLKeys(TypedDict):
    id: Any


class _DescriptorKeys(TypedDict):
    kind: Any
    shape: Any


class _GeneratorKeys(TypedDict):
    function: _Text


def _nullable(**kinds: Any) -> dict[str, Any]:
    return {key: kind | None for key, kind in kinds.items()}


_EXPECT = annotated_type(_Counts, f"numbers of {', '.join(COUNTS)}")
_TRAIN_ROWS = _count("a number of rows")
_FEATURES = annotated_type(_Range, "[start, stop], numbers of features from 0")
_PATTERNS = annotated_type(list[_Text], "a list of columns")
_OPENML = _nullable(
    id=_count("a number"),
    target=_text("the name of a column"),
    keep=_PATTERNS,
    drop=_PATTERNS,
    features=_FEATURES,
    train_rows=_TRAIN_ROWS,
    expect=_EXPECT,
)
_DESCRIPTOR = {
    "kind": Literal["gist", "hog", "hog_pyramid"],
    "shape": annotated_type(list[_Count], "[height, width] or [height, width, 3]"),
}
_KEYS = _nullable(
    name=_text("text"),
    path=_text("the path of a file, as text"),
    labels=annotated_type(_Label, "the name of a column"),
    missing=annotated_type(Literal[CHOICES], f"null, {', '.join(CHOICES)}"),
    na_values=annotated_type(
        list[_Text | int | float], "a list of words or numbers, such as [unknown,-999]"
    ),
    header=annotated_type(bool, "true or false"),
    decimal=annotated_type(Decimal, "point or comma"),
    thousands=annotated_type(Thousands, "point, comma, space or apostrophe"),
    drop=annotated_type(list[_Text | int], "a list of columns, such as [customer_id]"),
    file=_text("text"),
    features=_FEATURES,
    rows=annotated_type(_Range, "[start, stop], numbers of rows from 0"),
    classes=annotated_type(
        Annotated[int, Meta(ge=0)] | list[_Label], "a number of classes, or a list of labels"
    ),
    positive=annotated_type(list[_Label], "a list of labels"),
    pools=annotated_type(
        tuple[_Count, _Count, _Count], "[number, splits of each, rows of each class]"
    ),
    redraw=_count("a number of rows of each class"),
    train_rows=_TRAIN_ROWS,
    openml=annotated_type(_OpenMLKeys, "a mapping with an id"),
    openml_task=_count("the number of a task of OpenML"),
    sklearn=_text("the name of a loader, such as load_wine"),
    as_in_libsvm=annotated_type(bool, "true or false"),
    generate=annotated_type(
        _GeneratorKeys, "a mapping with the name of a function and its arguments"
    ),
    seed=annotated_type(int, "a whole number, 0 or more", ge=0),
    descriptor=annotated_type(_DescriptorKeys, "a mapping with kind and shape"),
    expect=_EXPECT,
)


def check_spec(spec: Mapping[str, Any]) -> None:
    """Check the config of a data set, see `boostbench.util.validation.validate_mapping`.

    Examples
    --------
    >>> check_spec({"name": "toy", "rows": [0, 3]})
    """
    validation.validate_mapping(_KEYS, spec, "data")
    if spec.get("name") is None:
        raise UserError("data.name is missing; a data set needs a name")
    other_sources = [key for key in _SOURCES if spec.get(key)] if spec.get("openml_task") else []
    if other_sources:
        raise UserError(
            "data.openml_task names the source of the data; it cannot go with "
            f"data.{other_sources[0]}, which {spec['name']} has; leave one of them out"
        )
    validation.validate_mapping(_OPENML, spec.get("openml") or {}, "data.openml")
    validation.validate_mapping(_DESCRIPTOR, spec.get("descriptor") or {}, "data.descriptor")
    validation.check_finite(spec, "data")
    for key in ("features", "rows"):
        if spec.get(key) and spec[key][0] >= spec[key][1]:
            raise UserError(f"data.{key} is {spec[key]!r}; it must be {describe_type(_KEYS[key])}")


def missing_setting(spec: Mapping[str, Any]) -> str | None:
    """Return the effective setting of ``data.missing``: one of `CHOICES`, or None for an error.

    Examples
    --------
    >>> missing_setting({"name": "mine", "path": "mine.csv", "missing": None})
    'keep'
    """
    return spec.get("missing") or (KEEP if spec.get("path") else None)


def config_overrides(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the differences of a config to the config of the same name in ``conf/data``.

    Returns
    -------
    dict
        Changed and additional keys with their values, in JSON types, such as the selected classes
        or the path of a user's file; None for a removed key. `boostbench.data.load` returns the
        same data for the config in ``conf/data`` with these values.
    """
    original = _shipped_config(spec.get("name"))
    overrides = {key: value for key, value in spec.items() if value != original.get(key)}
    overrides |= dict.fromkeys(key for key, value in original.items() if value and key not in spec)
    if isinstance(overrides.get("path"), str):
        path, working_folder = user_path(overrides["path"]).absolute(), Path.cwd()
        path = path.relative_to(working_folder) if path.is_relative_to(working_folder) else path
        overrides["path"] = path.as_posix()  # records are looked up by it on all systems
    return overrides


@functools.cache
def _shipped_config(name: str) -> dict[str, Any]:
    """Return the config of this name in ``conf/data``, or the name alone; it must not be changed.

    The cells of tables share a few data sets, and parsing YAML takes most of the time.
    """
    is_shipped = name in configs.list_options("data")
    return configs.read_option("data", name) if is_shipped else {"name": name}


class DataSpec(msgspec.Struct, frozen=True, dict=True):
    """Specification of a data set by which its records are found.

    Attributes
    ----------
    name : str
        Name of the folder of the records.
    options : dict
        Resolved config of the data set, see `boostbench.data.load`.
    """

    name: str
    options: dict[str, Any] = {}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> "DataSpec":
        """Return the specification in the ``data`` of a resolved config, see `check_spec`."""
        return cls(config["name"], dict(config))

    @property
    def missing(self) -> str | None:
        """Effective setting for missing values, see `missing_setting`."""
        return missing_setting(self.options)

    @property
    def n_classes(self) -> int | None:
        """Number of classes; None: it is unknown before the data are loaded."""
        if self.options.get("positive"):
            return 2
        classes = self.options.get("classes")
        if classes:
            return classes if isinstance(classes, int) else len(list(classes))
        return (self.options.get("expect") or {}).get("classes")

    @cached_property
    def key_options(self) -> dict[str, Any]:
        """Options that distinguish data sets of one name, see `key_options`."""
        return key_options(config_overrides(self.options))


def key_options(overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `config_overrides` that select other data.

    Expected counts select none. A record states the effect of the setting for missing values.
    """
    return {key: value for key, value in overrides.items() if key not in ("expect", "missing")}
