"""Registry of measures: a measure is a module of one folder, and is found by its name."""

import functools
import pkgutil
import typing
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from boostbench.spec.class_facts import class_attribute
from boostbench.spec.trusted_imports import import_class
from boostbench.util.errors import UserError, did_you_mean, first_line

#: Package whose modules are measures, except its module ``base``.
MEASURES = "boostbench.fitting.measures"


class MeasureLike(typing.Protocol):
    """Attributes by which a measure affects a specification, see its base class.

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
        Whether the estimator may get missing values and categories.
    """

    name: str
    suffix: str
    settings: Mapping[str, Any]
    judged_by: str
    takes_tables: bool

    def arrange(self, protocol: Any) -> Any:
        """Return the part of a protocol that affects the results of this measure."""


@functools.cache
def names() -> list[str]:
    """Return the names of all measures."""
    folders = find_spec(MEASURES).submodule_search_locations
    return [module.name for module in pkgutil.iter_modules(folders) if module.name != "base"]


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
    try:
        cls = import_class(_class_name(name))
    except (Exception, SystemExit) as error:
        raise UserError(f"cannot find measure={name}: {first_line(error)}") from None
    if not issubclass(cls, import_class(f"{MEASURES}.base.Measure")):
        raise UserError(f"measure={name} is no {MEASURES}.base.Measure")
    return cls()


_load_once = functools.cache(_load)


@functools.cache
def find_by_suffix(suffix: str) -> MeasureLike | None:
    """Return the measure whose record files have a suffix; None: a user's measure.

    The suffixes are read from the sources, so that only this measure is imported.
    """
    # `prediction` has most records.
    for name in sorted(names(), key=lambda name: name != "prediction"):
        if class_attribute(_class_name(name), "suffix", "") == suffix:
            return find(name)
    return None


def _class_name(name: str) -> str:
    """Return the dotted name of a measure's class."""
    return name if "." in name else f"{MEASURES}.{name}.{name.title().replace('_', '')}"
