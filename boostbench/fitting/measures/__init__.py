"""What is recorded of a fit: a measure is a file here, and found by its name."""

import functools
import pkgutil

from boostbench.experiment.schema import Measured
from boostbench.experiment.targets import import_class
from boostbench.fitting.measures.base import Measure
from boostbench.util.errors import UserError, did_you_mean, first_line


@functools.cache
def names() -> list[str]:
    """List the measures, which are the modules of this package that hold one."""
    return [module.name for module in pkgutil.iter_modules(__path__) if module.name != "base"]


def find(name: str) -> Measure:
    """Find a measure.

    Parameters
    ----------
    name : str
        One of `names`, or the dotted path of a class of somebody else's, ``package.module.Class``.

    Raises
    ------
    UserError
        If there is none.
    """
    if not isinstance(name, str) or ("." not in name and name not in names()):
        raise UserError(f"unknown measure {name!r}; {did_you_mean(name, names())}")
    path = name if "." in name else f"{__name__}.{name}.{name.title().replace('_', '')}"
    try:
        cls = import_class(path)
    except (Exception, SystemExit) as error:
        raise UserError(f"cannot find measure={name}: {first_line(error)}") from None
    if not issubclass(cls, Measure):
        raise UserError(f"measure={name} is no {Measure.__module__}.{Measure.__name__}")
    return cls()


@functools.cache
def form_of(suffix: str) -> type[Measured]:
    """Give the type of the records in files of a measure; `Measured` for somebody else's."""
    # That of most records first: each measure that is looked at is imported.
    for name in sorted(names(), key=lambda name: name != "prediction"):
        measure = find(name)
        if measure.suffix == suffix:
            return measure.form
    return Measured
