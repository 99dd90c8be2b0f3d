"""Safe import of the classes that a config names: estimators and parts of estimators.

A table may come by mail, and a record from another laboratory. Importing a module runs its code,
and so does instantiating a class. Therefore a name is checked before its module is imported, and a
class before it is instantiated, whether the config comes from a file, a command line or Python.
`boostbench.spec.algorithm.AlgorithmSpec` imports and builds all estimators by these functions.
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
from typing import NamedTuple

from boostbench.util.errors import UserError, did_you_mean, first_line

#: Packages whose modules have no side effects on import, and their distributions. Building the
#: index of all installed packages takes as long as reading thousands of records.
_TRUSTED_PACKAGES = {"boostbench": "boostbench", "sklearn": "scikit-learn"}
#: Packages that require scikit-learn but have no estimators, and make a folder on import.
_REFUSED_PACKAGES = ("openml",)
#: Base classes of parameters besides estimators. They compute, without other effects.
_COMPONENTS = (
    "sklearn.gaussian_process.kernels.Kernel",
    "sklearn.model_selection.BaseCrossValidator",
    "sklearn.model_selection.BaseShuffleSplit",
)

#: Patterns of parameters that name files, and of texts that may be paths.
_FILE_PARAMETER = re.compile(r"file|path|folder|(^|_)dir(_|$|ectory)", re.IGNORECASE)
_PATH_CHARACTER = re.compile(r"[/\\.~]")


def distribution_of(package: str) -> str | None:
    """Return the distribution that a top-level package was installed from; None without one."""
    if package in _TRUSTED_PACKAGES:
        return _TRUSTED_PACKAGES[package]
    return min(_packages_distributions().get(package, []), default=None)


# Listing the distributions of all packages takes a tenth of a second.
_packages_distributions = cache(metadata.packages_distributions)


def import_class(target: str) -> type:
    """Import a class by its dotted name, if its module may be imported.

    A module may be imported if it belongs to boostbench, to scikit-learn or to an installed
    package that requires one of them, or if it is a user's module, which no distribution has
    installed, and its source defines the class.

    Parameters
    ----------
    target : str
        Dotted name of the class.

    Raises
    ------
    UserError
        If the module must not be imported. No code was run then.
    Exception
        Any error of the import itself.
    """
    module, _, name = target.rpartition(".")
    _check_module(module, name)
    cls = getattr(importlib.import_module(module), name)
    if not isinstance(cls, type):
        raise TypeError(f"{name} of {module} is not a class")
    return cls


def import_estimator(target) -> type:
    """Import a class of estimators by its dotted name, see `import_class`.

    Parameters
    ----------
    target : str
        Dotted name of the class. A config may have a value of another type, which is an error.

    Raises
    ------
    UserError
        If there is no such class, or it has no ``fit``.
    """
    cls = _import_named_class(target, "algo")
    if not _is_estimator(cls):
        raise UserError(f"algo._target_={target} is no classifier: it has no fit")
    return cls


def instantiate(value, where: str = "algo"):
    """Instantiate the objects in the value of a parameter, after a check of their classes.

    Parameters
    ----------
    value : object
        Value of JSON types. A mapping with ``_target_``, at any depth, becomes an object of that
        class; its other keys are parameters of the constructor.
    where : str, default="algo"
        Name of the parameter in messages.

    Returns
    -------
    object
        The value with objects in place of these mappings.

    Raises
    ------
    UserError
        If a class is no estimator, kernel or splitter, cannot be imported, or does not take a
        parameter.
    """
    if isinstance(value, list | tuple):
        return type(value)([instantiate(item, where) for item in value])
    if not isinstance(value, Mapping):
        return value
    if "_target_" not in value:
        return {key: instantiate(item, f"{where}.{key}") for key, item in value.items()}
    cls = _import_named_class(value["_target_"], where)
    if not (_is_estimator(cls) or _is_allowed_component(cls)):
        raise UserError(
            f"{where}._target_={value['_target_']} is refused: a parameter may be an estimator, a "
            "kernel or a splitter of scikit-learn"
        )
    params = {key: item for key, item in value.items() if key != "_target_"}
    return instantiate_class(cls, params, where)


def instantiate_class(cls: type, params: Mapping, where: str = "algo"):
    """Instantiate a class that was checked, see `instantiate`.

    Parameters
    ----------
    cls : type
    params : mapping
        Parameters of the constructor, as JSON types.
    where : str, default="algo"
        Name of the object in messages.

    Raises
    ------
    UserError
        If the class lacks a parameter (near matches are named) or rejects a value, or if a
        parameter may name a file.
    """
    # 1) Compare the parameters with the constructor's.
    names, is_open_ended = constructor_parameters(cls)
    for name in params:
        if name not in names and not is_open_ended:
            near = did_you_mean(str(name), names) if names else "it takes none"
            raise UserError(f"{cls.__name__} has no parameter {name!r}; {near}")
    # 2) Refuse files. The meaning of parameters is unknown in the package of somebody else.
    package = cls.__module__.partition(".")[0]
    is_unknown = package not in _TRUSTED_PACKAGES and distribution_of(package) is not None
    for name, value in params.items():
        _refuse_file(name, value, where, refuses_paths=is_unknown)
    # 3) Build the objects in the parameters, then the object itself.
    # scikit-learn takes a second to import, and names are checked without it.
    from boostbench.util.compat import check_parameters

    arguments = {name: instantiate(value, f"{where}.{name}") for name, value in params.items()}
    try:
        instance = cls(**arguments)
        # scikit-learn validates parameters in `fit`, where a mistake would fail each trial.
        check_parameters(instance)
    except (TypeError, ValueError) as error:
        raise UserError(f"{cls.__name__}: {first_line(error)}") from None
    return instance


def class_names(value) -> Iterator[str]:
    """Yield the dotted names of the classes in a config, at any depth."""
    if isinstance(value, Mapping):
        if isinstance(value.get("_target_"), str):
            yield value["_target_"]
        value = list(value.values())
    for item in value if isinstance(value, list | tuple) else ():
        if isinstance(item, Mapping | list | tuple):
            yield from class_names(item)


class ScriptClass(NamedTuple):
    """Class that the running script defines, with its name in the module ``__main__``."""

    name: str
    cls: type


def script_classes(targets: Iterable[str]) -> list[ScriptClass]:
    """Return the classes of the running script among dotted names such as ``__main__.Mine``."""
    script = sys.modules["__main__"]
    modules_and_names = [target.rpartition(".")[::2] for target in targets]
    return [
        ScriptClass(name, getattr(script, name))
        for module, name in modules_and_names
        if module == "__main__"
    ]


class ConstructorParameters(NamedTuple):
    """Parameters that a constructor takes by name.

    Attributes
    ----------
    names : list of str
        Names in the signature.
    is_open_ended : bool
        True if the constructor takes any other name, too, by ``**kwargs``.
    """

    names: list[str]
    is_open_ended: bool


@cache
def constructor_parameters(cls: type) -> ConstructorParameters:
    """Return the parameters of a class's constructor."""
    signature = inspect.signature(cls).parameters.values()
    names = [p.name for p in signature if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    return ConstructorParameters(names, any(p.kind is p.VAR_KEYWORD for p in signature))


def _refuse_file(name, value, where: str, refuses_paths: bool) -> None:
    """Refuse a parameter by which a fit would read or write a file.

    Parameters
    ----------
    name : object
        Name of the parameter: text, or another key of YAML.
    value : object
        Value of JSON types.
    where : str
        Name of the object in messages.
    refuses_paths : bool
        Whether texts that look like paths are refused, because the meaning of the parameter is
        unknown. They are always refused in a mapping without a class, as a grid search passes its
        entries to other estimators.

    Raises
    ------
    UserError
        If the parameter may name a file or is scikit-learn's ``memory``.
    """
    # scikit-learn names the parameter of an inner estimator ``estimator__memory``.
    parameter, path = str(name).rpartition("__")[2], f"{where}.{name}"
    if parameter == "memory" and value is not None:
        # joblib writes fitted objects to this folder, and unpickles files that it finds there.
        raise UserError(f"{path} is refused: a fit must not write to a folder; set null")
    for item in _flatten(value):
        if isinstance(item, Mapping):
            for inner_name, inner in item.items() if "_target_" not in item else ():
                _refuse_file(inner_name, inner, path, refuses_paths=True)
        elif refuses_paths and isinstance(item, str) and _may_name_file(parameter, item):
            raise UserError(
                f"{path}={item} is refused, as it may name a file; a class in a module of your own "
                "can set it"
            )


def _flatten(value):
    """Yield a value, or the items of nested lists."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from _flatten(item)
    else:
        yield value


def _may_name_file(name: str, text: str) -> bool:
    """Return True if the name of a parameter or its value suggests a file, or the file exists."""
    return bool(
        _FILE_PARAMETER.search(name) or _PATH_CHARACTER.search(text) or os.path.lexists(text)
    )


def _import_named_class(target, where: str) -> type:
    """Return the class that a config names by ``_target_``, or raise a `UserError`.

    Parameters
    ----------
    target : object
        Value of ``_target_``, which should be text.
    where : str
        Name of the object in messages.
    """
    if not isinstance(target, str):
        raise UserError(f"{where}._target_ is {target!r}; it must be text")
    try:
        return import_class(target)
    except (Exception, SystemExit) as error:
        raise UserError(f"cannot find {where}._target_={target}: {first_line(error)}") from None


def _is_estimator(cls: type) -> bool:
    """Return True if a class has `fit` and, unless it is a user's class, `get_params`."""
    if not hasattr(cls, "fit"):
        return False
    return hasattr(cls, "get_params") or not distribution_of(cls.__module__.partition(".")[0])


def _is_allowed_component(cls: type) -> bool:
    """Return True for a kernel or a splitter of scikit-learn, or a class derived from one."""
    return issubclass(cls, tuple(map(import_class, _COMPONENTS)))


def _check_module(module: str, name: str) -> None:
    """Raise an error for a module that must not be imported, without importing its package.

    Parameters
    ----------
    module : str
        Dotted name of the module.
    name : str
        Name of the class in it.

    Raises
    ------
    UserError
        If it is a module of Python, of a package that is not known to build on scikit-learn, or a
        user's module that does not define the class.
    ModuleNotFoundError
        If a user's module does not exist.
    """
    parts = module.split(".")
    if not all(part.isidentifier() for part in (*parts, name)):
        raise UserError("package.module.Class is expected")
    if module == "__main__":
        return
    if any(part.startswith("__") for part in parts):
        raise UserError(f"{module} is not a module of classes")
    package = parts[0]
    if package in _TRUSTED_PACKAGES:
        return
    if package in sys.stdlib_module_names:
        raise UserError(f"{package} is a module of Python itself")
    if distribution := distribution_of(package):
        if package in _REFUSED_PACKAGES or not _builds_on_scikit_learn(distribution):
            raise UserError(
                f"{distribution} is not known to build on scikit-learn; "
                "derive a class from that one in a module of your own"
            )
    elif module not in sys.modules:
        _check_source(parts, name)


def _check_source(parts: list[str], name: str) -> None:
    """Raise an error for a user's module whose source does not define the class.

    Parameters
    ----------
    parts : list of str
        Parts of the module's dotted name.
    name : str
        Name of the class.
    """
    # 1) Find the file of the module, package by package: Python's `find_spec` would import the
    #    packages above it.
    folders = None
    for n in range(len(parts)):
        module = ".".join(parts[: n + 1])
        spec = find_spec(module) if n == 0 else PathFinder.find_spec(module, folders)
        if spec is None or (n + 1 < len(parts) and not spec.submodule_search_locations):
            raise ModuleNotFoundError(f"No module named {module!r}")
        folders = spec.submodule_search_locations
    # 2) Compare the class with the names that the source defines.
    source = getattr(spec.loader, "get_source", lambda _: None)(module) or ""
    # A package re-exports the classes of its modules. The imports of a script are for its own use.
    is_package = bool(folders)
    node_types = (ast.ClassDef, ast.alias) if is_package else (ast.ClassDef,)
    nodes = ast.walk(ast.parse(source, spec.origin))
    # An import may give a class another name, `asname`.
    defined = [
        getattr(node, "asname", None) or node.name for node in nodes if isinstance(node, node_types)
    ]
    if name not in defined:
        raise UserError(f"{module} defines no such class; {did_you_mean(name, defined)}")


@cache
def _builds_on_scikit_learn(distribution: str) -> bool:
    """Return True if a distribution requires scikit-learn or boostbench, perhaps as an extra."""
    required = metadata.requires(distribution) or ()
    names = {re.match(r"[\w.-]+", requirement)[0].lower() for requirement in required}
    return not names.isdisjoint(("scikit-learn", "boostbench"))
