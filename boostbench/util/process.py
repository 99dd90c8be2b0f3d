"""State of this process: imported libraries, temporary changes, and the end of its workers."""

import random
import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any


@contextmanager
def temporarily_set(values: MutableMapping, **changes: object) -> Iterator[None]:
    """Change entries of a mapping, such as `os.environ`, and restore them after the block.

    Entries that did not exist before are removed.
    """
    old_values = {key: values[key] for key in changes if key in values}
    values.update(changes)
    try:
        yield
    finally:
        for key in changes.keys() - old_values.keys():
            values.pop(key, None)
        values.update(old_values)


@contextmanager
def random_state_restored() -> Iterator[None]:
    """Restore the state of Python's `random` after a block: importing rich draws numbers."""
    state = random.getstate()
    try:
        yield
    finally:
        random.setstate(state)


def end_workers() -> None:
    """End joblib's worker processes at once, if there are any: they would take a second to end."""
    if "joblib.externals.loky.reusable_executor" not in sys.modules:
        return
    from multiprocessing import active_children

    from joblib.externals.loky.reusable_executor import get_reusable_executor

    # scikit-learn imports loky. A request for the executor would start one if there is none.
    if active_children():
        # joblib's method, which also removes the folder of arrays that workers have mapped.
        get_reusable_executor(reuse=True).terminate(kill_workers=True)


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
        import_module(library)
    except ModuleNotFoundError as error:
        if error.name != library:
            raise
        raise ImportError(f"{prefix} {library}; install it by 'pip install {library}'") from None
    return import_module(name)


def lazy_attributes(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the functions ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package : str
        Name of the package.
    modules : mapping of str to str
        For each public name, the module of the package that defines it.
    """

    def import_attribute(name: str) -> Any:
        """Import a public name from its module, and store it in the package."""
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{modules[name]}"), name)
        # Later accesses find the value without this function.
        setattr(sys.modules[package], name, value)
        return value

    return import_attribute, lambda: [*modules]
