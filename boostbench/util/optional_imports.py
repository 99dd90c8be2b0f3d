"""Libraries that not everyone has installed."""

import importlib
from types import ModuleType


def import_optional(name: str, prefix: str = "this needs") -> ModuleType:
    """Import a module, or say in one line what is missing.

    Parameters
    ----------
    name : str
        Of a library, or of a module in it.
    prefix : str, default="this needs"
        Who cannot do without it, as the message begins.

    Raises
    ------
    ImportError
        If the library is not installed. One that is installed but broken raises its own error.
    """
    library = name.partition(".")[0]
    try:
        importlib.import_module(library)
    except ModuleNotFoundError as error:
        if error.name != library:
            raise
        raise ImportError(f"{prefix} {library}; install it by 'pip install {library}'") from None
    return importlib.import_module(name)
