"""What is recorded of a fit: a measure is a file here, and found by its name."""

import pkgutil
from functools import cache

import hydra.utils

from boostbench.errors import UserError, first_line, unknown
from boostbench.experiment.measures.base import Measure


def names() -> list[str]:
    """List the measures, which are the modules of this package that hold one."""
    return [module.name for module in pkgutil.iter_modules(__path__) if module.name != "base"]


@cache
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
        raise unknown("measure", str(name), names())
    path = name if "." in name else f"{__name__}.{name}.{name.title().replace('_', '')}"
    try:
        found = hydra.utils.get_class(path)
    except Exception as error:
        raise UserError(f"cannot find measure={name}: {first_line(error)}") from None
    if not issubclass(found, Measure):
        raise UserError(f"measure={name} is no {Measure.__module__}.{Measure.__name__}")
    return found()
