"""What a config may name and make: estimators, and nothing else.

A table comes by mail, a record from another laboratory. Importing a module runs it, and so does
making an object of a class. So a name is looked at before its module is imported, and a class
before an object is made, wherever the config comes from: a file, a command line or Python.
"""

import ast
import importlib
import inspect
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import metadata
from importlib.machinery import PathFinder
from importlib.util import find_spec

from boostbench.experiment.environment import distribution_of
from boostbench.util.compat.sklearn import check_parameters
from boostbench.util.errors import UserError, did_you_mean, first_line

#: Packages whose modules do nothing when they are imported.
_KNOWN = ("boostbench", "sklearn")
#: Requires scikit-learn, has no estimators, and makes a folder when it is imported.
_TOOLS = ("openml",)
#: What parameters may be besides estimators; they compute and do nothing else.
_PARTS = (
    "sklearn.gaussian_process.kernels.Kernel",
    "sklearn.model_selection.BaseCrossValidator",
    "sklearn.model_selection.BaseShuffleSplit",
)

#: Parameters that name files, and texts that may: a path, or something with an ending.
_OF_FILES = re.compile(r"file|path|folder|(^|_)dir(_|$|ectory)", re.IGNORECASE)
_LIKE_A_PATH = re.compile(r"[/\\.~]")


def import_class(target: str) -> type:
    """Import a class by its dotted name, if its module may be imported.

    It may if it belongs to boostbench, to scikit-learn or to an installed package that builds on
    one of them, or is a module of the user's own whose source defines the class.

    Parameters
    ----------
    target : str
        Dotted name of the class.

    Raises
    ------
    UserError
        If the module must not be imported; nothing was run then.
    Exception
        Whatever goes wrong in the import.
    """
    module, _, name = target.rpartition(".")
    _check_module(module, name)
    cls = getattr(importlib.import_module(module), name)
    if not isinstance(cls, type):
        raise TypeError(f"{name} of {module} is no class")
    return cls


def locate(target) -> type:
    """Find a class of estimators by its dotted name.

    Parameters
    ----------
    target : str
        Dotted name of the class.

    Raises
    ------
    UserError
        If there is no such class, or it is none of estimators.
    """
    cls = _find(target, "algo")
    if not _is_estimator(cls):
        raise UserError(f"algo._target_={target} is no classifier: it has no fit")
    return cls


def make(value, where: str = "algo"):
    """Make the objects that a parameter's value describes, after a look at their classes.

    Parameters
    ----------
    value : object
        Of JSON types. A mapping with ``_target_`` becomes an object of that class, and its other
        keys are parameters of the constructor; so do mappings inside lists and mappings.
    where : str, default="algo"
        The parameter, in messages.

    Returns
    -------
    object
        What is no object comes back as it is.

    Raises
    ------
    UserError
        If a class is neither of estimators nor of kernels nor of splitters, cannot be found or does
        not take a parameter.
    """
    if isinstance(value, list | tuple):
        return type(value)([make(item, where) for item in value])
    if not isinstance(value, Mapping):
        return value
    if "_target_" not in value:
        return {key: make(item, f"{where}.{key}") for key, item in value.items()}
    cls = _find(value["_target_"], where)
    if not (_is_estimator(cls) or _is_part(cls)):
        raise UserError(
            f"{where}._target_={value['_target_']} is refused: a parameter may be an estimator, a "
            "kernel or a splitter of scikit-learn"
        )
    params = {key: item for key, item in value.items() if key != "_target_"}
    return construct(cls, params, where)


def construct(cls: type, params: Mapping, where: str = "algo"):
    """Make an object of a class that may be made.

    Parameters
    ----------
    cls : type
    params : mapping
        Values of the constructor's parameters, of JSON types; see `make`.
    where : str, default="algo"
        What is made, in messages.

    Raises
    ------
    UserError
        If the class lacks a parameter (near matches are named) or does not take a value, or if a
        parameter may name a file.
    """
    known, open_ended = parameters(cls)
    for name in params:
        if name not in known and not open_ended:
            near = did_you_mean(str(name), known) if known else "it takes none"
            raise UserError(f"{cls.__name__} has no parameter {name!r}; {near}")
    top = cls.__module__.partition(".")[0]
    _refuse_files(params, where, bool(top not in _KNOWN and distribution_of(top)))
    made = {name: make(value, f"{where}.{name}") for name, value in params.items()}
    try:
        built = cls(**made)
        # scikit-learn checks values in `fit` only, where the mistake would cost every trial.
        check_parameters(built)
    except (TypeError, ValueError) as error:
        raise UserError(f"{cls.__name__}: {first_line(error)}") from None
    return built


def class_names(value) -> Iterator[str]:
    """Yield the dotted names of the classes in a config, at any depth."""
    if isinstance(value, Mapping):
        if isinstance(value.get("_target_"), str):
            yield value["_target_"]
        value = list(value.values())
    for item in value if isinstance(value, list | tuple) else ():
        yield from class_names(item)


def script_classes(names: Iterable[str]) -> dict[str, type]:
    """Return the classes among `names` that the running script defines, by their last name."""
    script = sys.modules["__main__"]
    short = [name.rpartition(".")[2] for name in names if name.startswith("__main__.")]
    return {name: getattr(script, name) for name in short}


@cache
def parameters(cls: type) -> tuple[list[str], bool]:
    """Give the names that a constructor takes, and whether it takes any other."""
    signature = inspect.signature(cls).parameters.values()
    names = [p.name for p in signature if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    return names, any(p.kind is p.VAR_KEYWORD for p in signature)


def _refuse_files(params: Mapping, where: str, foreign: bool) -> None:
    """Refuse parameters by which a fit would read or write a file.

    Of a package that is neither boostbench nor scikit-learn nobody here knows what its texts mean.
    The same holds for mappings, which a grid search passes on.
    """
    for name, value in params.items():
        own = str(name).rpartition("__")[2]
        place = f"{where}.{name}"
        if own == "memory" and value is not None:
            # joblib writes what is fitted to this folder, and runs what it reads from there.
            raise UserError(f"{place} is refused: no folder is written to in a fit; set null")
        for item in _spread(value):
            if isinstance(item, Mapping):
                if "_target_" not in item:
                    _refuse_files(item, place, True)
            elif foreign and isinstance(item, str) and _may_be_a_file(own, item):
                raise UserError(
                    f"{place}={item} is refused, as it may name a file; a class in a module of "
                    "your own can set it"
                )


def _spread(value):
    """Yield a value, or what is in nested lists."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from _spread(item)
    else:
        yield value


def _may_be_a_file(name: str, text: str) -> bool:
    return bool(_OF_FILES.search(name) or _LIKE_A_PATH.search(text) or os.path.lexists(text))


def _find(target, where: str) -> type:
    if not isinstance(target, str):
        raise UserError(f"{where}._target_ is {target!r}; it must be text")
    try:
        return import_class(target)
    except (Exception, SystemExit) as error:
        raise UserError(f"cannot find {where}._target_={target}: {first_line(error)}") from None


def _is_estimator(cls: type) -> bool:
    """Whether a class has `fit` and, where it is not the user's own, parameters to ask for."""
    if not hasattr(cls, "fit"):
        return False
    return hasattr(cls, "get_params") or not distribution_of(cls.__module__.partition(".")[0])


def _is_part(cls: type) -> bool:
    return issubclass(cls, tuple(map(import_class, _PARTS)))


def _check_module(module: str, name: str) -> None:
    """Refuse a module that must not be imported, without importing it or its package."""
    parts = module.split(".")
    if not all(part.isidentifier() for part in (*parts, name)):
        raise UserError("package.module.Class is expected")
    if module == "__main__":
        return
    if any(part.startswith("__") for part in parts):
        raise UserError(f"{module} is no module of classes")
    top = parts[0]
    if top in _KNOWN:
        return
    if top in sys.stdlib_module_names:
        raise UserError(f"{top} is a module of Python itself")
    if distribution := distribution_of(top):
        if top in _TOOLS or not _builds_on_estimators(distribution):
            raise UserError(
                f"{distribution} is not known to build on scikit-learn; "
                "derive a class from that one in a module of your own"
            )
    elif module not in sys.modules:
        _check_source(parts, name)


def _check_source(parts: list[str], name: str) -> None:
    """Refuse a module of the user's own that does not define a class, by its source."""
    places = None
    for n in range(len(parts)):
        module = ".".join(parts[: n + 1])
        spec = find_spec(module) if n == 0 else PathFinder.find_spec(module, places)
        if spec is None or (n + 1 < len(parts) and not spec.submodule_search_locations):
            raise ModuleNotFoundError(f"No module named {module!r}")
        places = spec.submodule_search_locations
    source = getattr(spec.loader, "get_source", lambda _: None)(module) or ""
    # A package gathers classes of its modules; a program imports what it only uses.
    kinds = (ast.ClassDef, ast.alias) if places else ast.ClassDef
    nodes = [node for node in ast.walk(ast.parse(source, spec.origin)) if isinstance(node, kinds)]
    defined = [getattr(node, "asname", None) or node.name for node in nodes]
    if name not in defined:
        raise UserError(f"{module} defines no such class; {did_you_mean(name, defined)}")


@cache
def _builds_on_estimators(distribution: str) -> bool:
    """Whether an installed distribution requires one of `_KNOWN`, if only for some of it."""
    required = metadata.requires(distribution) or ()
    names = {re.match(r"[\w.-]+", requirement)[0].lower() for requirement in required}
    return not names.isdisjoint(("scikit-learn", "boostbench"))
