"""Keys of records: digests of a specification without its defaults, and of the rows of a split.

A run looks up by its key whether a fit is on record. The *config* of an experiment holds all
settings that affect its results, and nothing else, as JSON types::

    {"algo": {"_target_": "boostbench.MCBoost", "nu": 0.1, ...}, "grid": {"nu": [0.1, 0.01]},
     "data": {"name": "iris", "checksum": "...", ...}, "protocol": {"sampling": "kfold", ...},
     "seed": 0, "measure": "prediction"}

It is recorded in full, with the value of every parameter of the constructor. A key leaves out each
setting that is at its default today. So a new parameter whose default changes nothing leaves the
keys of all records as they are, whereas a record made under an old default keeps that setting in
its key.
"""

import contextlib
import functools
import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from boostbench.spec.class_facts import (
    DefaultParameter,
    class_attribute,
    constructor_defaults,
)
from boostbench.spec.protocol import ProtocolSpec
from boostbench.util.errors import UserError


def _struct_entries(value: object) -> Any:
    """Return the entries of a struct, which the encoder of JSON does not know."""
    if isinstance(value, msgspec.Struct):
        return msgspec.to_builtins(value)
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


_encode = json.JSONEncoder(
    sort_keys=True,
    separators=(",", ":"),
    ensure_ascii=False,
    allow_nan=False,
    default=_struct_entries,
).encode


def canonical_json(content: Any) -> str:
    """Return the JSON text of a value, with sorted keys and without spaces.

    Raises
    ------
    UserError
        If the value has no JSON form.
    """
    try:
        text = _encode(content)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise UserError(f"a value cannot be written down as JSON: {error}") from None
    return text


def digest(content: Any) -> str:
    """Return the first 16 hex digits of the SHA-256 of a value's `canonical_json`.

    Examples
    --------
    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    return hashlib.sha256(canonical_json(content).encode()).hexdigest()[:16]


class RecordKeys(NamedTuple):
    """Digests of the config of an experiment, without its defaults.

    Attributes
    ----------
    settings : str
        Digest of the settings without the data. Records are found by it before the data are loaded.
    split : str
        Digest of all settings and of the data. `split_key` adds the number and the rows of a split.
    trial : str
        Digest of the settings that affect a cross-validation trial, which fits a point of the grid
        to a part of the training samples. `trial_key` adds the point and the rows. The grid is left
        out, so that it can grow and keep the trials of its former points.
    """

    settings: str
    split: str
    trial: str

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> "RecordKeys":
        """Return the keys of a config with its ``data``, see the module."""
        all_settings = remove_defaults(config)
        settings = {name: value for name, value in all_settings.items() if name != "data"}
        # The key of a trial states its rows; otherwise the protocol only affects its features.
        protocol = {name: settings["protocol"].get(name) for name in ("scale", "pca")}
        # `judged_by` is the criterion of cross-validation, if it is not the error rate.
        trial_names = ("algo", "data", "seed", "judged_by")
        trial = {name: all_settings.get(name) for name in trial_names} | {"protocol": protocol}
        return cls(settings=digest(settings), split=digest(all_settings), trial=digest(trial))

    def split_key(self, split: int, rows: str) -> str:
        """Return the key of a split's record.

        Parameters
        ----------
        split : int
            Number of the split.
        rows : str
            Checksum of the rows of its training and test part.
        """
        # The text equals `canonical_json` of a list, whose general form would take most of the time
        # in which a run reads its records.
        return hashlib.sha256(f'["{self.split}",{split},"{rows}"]'.encode()).hexdigest()[:16]

    def trial_key(self, split: int, fold: int, points: list[dict[str, Any]], rows: str) -> str:
        """Return the key of a cross-validation trial's record.

        Parameters
        ----------
        split, fold : int
            Number of the split whose training part is divided, and of the fold.
        points : list of dict
            Fitted points of the grid, in their order.
        rows : str
            Checksum of the rows of its training and validation part.
        """
        return digest([self.trial, split, fold, points, rows])


def remove_defaults(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a config without settings at their default, and without two entries.

    The entry ``cut`` of the data, the options that selected rows and columns, is left out, as the
    checksum identifies the data. The name of the measure is left out, as its settings identify it.

    Parameters
    ----------
    config : mapping
        Config, see the module; ``data`` may be missing.

    Examples
    --------
    >>> algo = {"_target_": "sklearn.svm.SVC", "C": 10.0, "kernel": "rbf"}
    >>> protocol = {"scale": "minmax", "test_size": 0.5}
    >>> remove_defaults({"algo": algo, "protocol": protocol, "seed": 0})
    {'algo': {'_target_': 'sklearn.svm.SVC', 'C': 10.0}, 'protocol': {'test_size': 0.5}, 'seed': 0}
    """
    settings = {name: value for name, value in config.items() if name != "measure"}
    if "data" in config:
        settings["data"] = {name: fact for name, fact in config["data"].items() if name != "cut"}
    settings["algo"] = _remove_default_parameters(config["algo"])
    # Settings are compared by texts, see `_default_texts`.
    defaults = _protocol_defaults()
    settings["protocol"] = {
        name: value
        for name, value in config["protocol"].items()
        if (name, repr(value)) not in defaults
    }
    return settings


def fill_defaults(value: Any) -> Any:
    """Return the parameters of an object, and of objects in them, with their defaults.

    Parameters
    ----------
    value : mapping, list or other JSON type
        A mapping with ``_target_`` has the parameters of an object of that class. Other values are
        returned as they are.
    """
    if isinstance(value, Mapping):
        defaults = dict(json_defaults(_object_target(value)))
        return defaults | {name: fill_defaults(item) for name, item in value.items()}
    return [fill_defaults(item) for item in value] if isinstance(value, list | tuple) else value


def drop_removed_parameters(value: Any) -> Any:
    """Return the parameters of an object without those that became attributes of its class.

    Records keep parameters that a later version of their class no longer has. Such a parameter is
    dropped if it has the value that the class has fixed since; see `fill_defaults` for `value`.

    Examples
    --------
    >>> algo = {"_target_": "boostbench.LPBoost", "C": 1.0, "n_iter_no_change": None}
    >>> drop_removed_parameters(algo)
    {'_target_': 'boostbench.LPBoost', 'C': 1.0}
    """
    if isinstance(value, Mapping):
        target = _object_target(value)
        today = {parameter.name for parameter in json_defaults(target)}
        parameters = {}
        for name, item in value.items():
            # A class that cannot be imported has no parameters today, and keeps the recorded ones.
            is_former = today and name not in today
            if is_former and _is_attribute(target, name, canonical_json(item)):
                continue
            is_nested = isinstance(item, Mapping | list | tuple)
            parameters[name] = drop_removed_parameters(item) if is_nested else item
        return parameters
    if isinstance(value, list | tuple):
        return [drop_removed_parameters(item) for item in value]
    return value


@functools.cache
def json_defaults(target: str) -> list[DefaultParameter]:
    """Return the parameters of a constructor with their defaults, converted to JSON types.

    A parameter whose default has no JSON form is left out.

    Parameters
    ----------
    target : str
        Dotted name of the class. A class that cannot be imported has none; neither has the empty
        name, see `_object_target`.
    """
    parameters = []
    for name, default in constructor_defaults(target) if target else []:
        with contextlib.suppress(UserError):
            parameters.append(DefaultParameter(name, json.loads(canonical_json(default))))
    return parameters


@functools.cache
def _is_attribute(target: str, name: str, text: str) -> bool:
    """Return True if an attribute of the class has this name and value, a text of JSON."""
    # If the class lacks the attribute, the default `...` is encoded, which raises the error.
    try:
        return canonical_json(class_attribute(target, name, ...)) == text
    except UserError:
        return False


@functools.cache
def _default_texts(target: str) -> frozenset[tuple[str, str]]:
    """Return the names of a class's parameters with the texts of their defaults.

    Values of JSON types are compared by their texts in Python, as 1, 1.0 and True are equal, and
    estimators may treat them differently.
    """
    return frozenset((name, repr(default)) for name, default in json_defaults(target))


@functools.cache
def _protocol_defaults() -> frozenset[tuple[str, str]]:
    """Return the names of a protocol's settings with the texts of their defaults."""
    fields = msgspec.structs.fields(ProtocolSpec)
    return frozenset(
        (field.name, repr(json.loads(canonical_json(field.default))))
        for field in fields
        if not field.required
    )


def _remove_default_parameters(value: Any) -> Any:
    """Return the parameters of an object, and of objects in them, without defaults."""
    if isinstance(value, list | tuple):
        return [_remove_default_parameters(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    defaults = _default_texts(_object_target(value))
    return {
        name: _remove_default_parameters(item) if isinstance(item, Mapping | list | tuple) else item
        for name, item in value.items()
        # scikit-learn gives the value "deprecated" to a parameter that it is going to remove.
        if (name, repr(item)) not in defaults and item != "deprecated"
    }


def _object_target(value: Any) -> str:
    """Return the ``_target_`` in a mapping of parameters, a dotted name; empty if it has none.

    Positional arguments count as no class, since the names of their parameters are unknown.
    """
    target = value.get("_target_")
    return target if isinstance(target, str) and "_args_" not in value else ""
