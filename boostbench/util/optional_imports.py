"""Import of optional libraries."""

import importlib
from types import ModuleType


def import_optional(name: str, prefix: str = "this needs") -> ModuleType:
    """Import a module, or raise an error that names the missing library.

    Parameters
    ----------
    name : str
        Name of a library, or of a module in it.
    prefix : str, default="this needs"
        Start of the message, in front of the name of the library.

    Raises
    ------
    ImportError
        If the library is not installed. An installed library that fails to import raises its own
        error.
    """
    library = name.partition(".")[0]
    try:
        importlib.import_module(library)
    except ModuleNotFoundError as error:
        if error.name != library:
            raise
        raise ImportError(f"{prefix} {library}; install it by 'pip install {library}'") from None
    return importlib.import_module(name)
