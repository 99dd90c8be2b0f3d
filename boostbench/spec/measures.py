"""Registry of measures: a measure is a class in a file of one folder, and is found by its name.

The names and file suffixes of measures are read from the sources, so that listing them imports no
measure.
"""

import functools
import re
import typing
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from boostbench.spec.class_facts import class_attribute
from boostbench.spec.protocol import ProtocolSpec
from boostbench.spec.trusted_imports import import_class
from boostbench.util.errors import UserError, did_you_mean, first_line

#: Package of the measures.
MEASURES = "boostbench.fitting.measures"
#: Dotted name of their base class.
_BASE = f"{MEASURES}.base.Measure"


class MeasureLike(typing.Protocol):
    """Attributes by which a measure affects a specification.

    Measures derive from `boostbench.fitting.measures.base.Measure`, which this package, a lower
    one, does not import.

    Attributes
    ----------
    name : str
        Name in the registry, or dotted name of the class.
    suffix : str
        Suffix of the record files.
    settings : mapping
        Settings of the measure that affect its results, as JSON types.
    judged_by : str
        Name of the selection criterion of cross-validation; empty for the error rate.
    takes_tables : bool
        True: the estimator may get missing values and categories. False: it gets numbers.
    """

    name: str
    suffix: str
    settings: Mapping[str, Any]
    judged_by: str
    takes_tables: bool

    def arrange(self, protocol: ProtocolSpec) -> ProtocolSpec:
        """Return the protocol with defaults in place of settings without effect on this measure.

        Raises
        ------
        UserError
            If the measure cannot follow a setting.
        """


class _MeasureClass(NamedTuple):
    """Name of a measure, ``"feature_use"``, and dotted name of its class, ``"...FeatureUse"``."""

    name: str
    target: str


@functools.cache
def _measure_classes() -> list[_MeasureClass]:
    """Return the measures of boostbench, in the order of their names."""
    classes = []
    [folder] = find_spec(MEASURES).submodule_search_locations
    for path in Path(folder).glob("*.py"):
        bases = {"Measure"}
        # A measure derives from the base class, or from another measure of its file.
        for cls, base in re.findall(r"(?m)^class (\w+)\((\w+)[,)]", path.read_text("utf-8")):
            if base in bases:
                bases.add(cls)
                classes.append(_MeasureClass(name_of_class(cls), f"{MEASURES}.{path.stem}.{cls}"))
    return sorted(classes)


def name_of_class(cls: str) -> str:
    """Return the name of the measure that a class of boostbench defines.

    Examples
    --------
    >>> name_of_class("FeatureUse")
    'feature_use'
    """
    return re.sub(r"(?<!^)(?=[A-Z])", "_", cls).lower()


@functools.cache
def names() -> list[str]:
    """Return the names of all measures of boostbench."""
    return [measure.name for measure in _measure_classes()]


def find(name: str) -> MeasureLike:
    """Return a measure.

    Parameters
    ----------
    name : str
        One of `names`, or the dotted name of a user's class, ``package.module.Class``.

    Raises
    ------
    UserError
        If there is no such measure.
    """
    if not isinstance(name, str) or ("." not in name and name not in names()):
        raise UserError(f"unknown measure {name!r}; {did_you_mean(name, names())}")
    # A user's module may change while a notebook runs.
    return _load(name) if "." in name else _load_once(name)


def _load(name: str) -> MeasureLike:
    """Return a new measure, see `find`."""
    try:
        cls = import_class(_class_target(name))
    except (Exception, SystemExit) as error:
        raise UserError(f"cannot find measure={name}: {first_line(error)}") from None
    if not issubclass(cls, import_class(_BASE)):
        raise UserError(f"measure={name} is no {_BASE}")
    return cls()


_load_once = functools.cache(_load)


@functools.cache
def find_by_suffix(suffix: str) -> MeasureLike | None:
    """Return the measure whose record files have a suffix; None if no measure of boostbench has it.

    The suffixes are read from the sources, so that only this measure is imported.
    """
    # Most records are of the measure `prediction`, whose source is read first.
    for name in sorted(names(), key=lambda name: name != "prediction"):
        if class_attribute(_class_target(name), "suffix", "") == suffix:
            return find(name)
    return None


def _class_target(name: str) -> str:
    """Return the dotted name of a measure's class, which is the name of a user's measure."""
    return next((target for measure, target in _measure_classes() if measure == name), name)
