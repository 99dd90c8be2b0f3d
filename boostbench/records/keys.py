"""What makes two pieces of work the same: what was asked, and the rows that it was asked of.

The *config* of an experiment says in JSON types all that decides its results, and nothing else. It
is written down in full, every parameter of the constructor with the value that it had. A *key*
leaves out what is at its default today. So a new parameter whose default changes nothing leaves the
keys of all records as they are, while a record made under an old default says so and is another.
"""

import functools
import hashlib
import inspect
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import msgspec
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

from boostbench.data.missing_values import FALLBACK, KEEP
from boostbench.records.makers import Maker
from boostbench.spec import measures
from boostbench.spec.algorithm import AlgorithmSpec
from boostbench.spec.measures import MeasureLike
from boostbench.spec.protocol import ProtocolSpec
from boostbench.spec.trusted_imports import import_class
from boostbench.util import validation
from boostbench.util.errors import UserError


def digest(content) -> str:
    """Give the first 16 hex digits of the SHA-256 of JSON types, whatever the order of keys.

    Raises
    ------
    UserError
        If the content has no JSON form.

    Examples
    --------
    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    return hashlib.sha256(as_json(content).encode()).hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class Request:
    """What is asked of any data.

    Attributes
    ----------
    algorithm : AlgorithmSpec
    protocol : ProtocolSpec
        As far as it matters to the measure.
    seed : int
        All randomness comes from here, the number of the split and the number of the fold.
    measure : MeasureLike
    """

    algorithm: AlgorithmSpec
    protocol: ProtocolSpec
    seed: int
    measure: MeasureLike

    @classmethod
    def of(cls, config: Mapping) -> "Request":
        """Take it from a resolved config.

        Parameters
        ----------
        config : mapping
            Plain types; ``algo``, ``protocol``, ``seed`` and ``measure`` are looked at. Without the
            last, which `boostbench.spec.measures.find` finds, `prediction` is meant.

        Raises
        ------
        UserError
            If it asks for something that does not exist or cannot be.
        """
        algorithm = AlgorithmSpec.from_config(config["algo"])
        protocol = ProtocolSpec.from_config(config["protocol"])
        measure, seed = measures.find(config.get("measure", "prediction")), config.get("seed", 0)
        if type(seed) is not int or seed < 0:
            raise UserError(f"seed is {seed!r}; it must be a whole number, 0 or more")
        return cls(algorithm, measure.arrange(protocol), seed, measure)

    @cached_property
    def points(self) -> list[dict]:
        """Points of the grid to choose from; a single one where nothing is tuned."""
        return self.algorithm.points() if self.protocol.tune != "none" else [{}]

    @cached_property
    def takes(self) -> tuple[bool, bool]:
        """Whether the estimator gets missing values, and categories, as they are.

        It is asked: by scikit-learn's tags, and by its parameter `categorical_features`, if it has
        one. Where features are projected, or samples get the length 1, they are numbers.
        """
        estimator = self.algorithm.estimator
        is_number = self.protocol.pca is not None or self.protocol.scale == "unit"
        if is_number or not (self.measure.takes_tables and isinstance(estimator, BaseEstimator)):
            return False, False
        tags = get_tags(estimator).input_tags
        asked = getattr(estimator, "categorical_features", None)
        has_own = hasattr(estimator, "categorical_features")
        is_categorical = isinstance(asked, str) if has_own else tags.categorical
        return tags.allow_nan, is_categorical

    def filled(self, choice: str | None) -> str | None:
        """Say how missing values are filled, or `KEEP`, where ``data.missing`` is some choice."""
        return FALLBACK if choice == KEEP and not self.takes[0] else choice

    @cached_property
    def asked(self) -> dict:
        """The part of a config that does not depend on the data, in JSON types.

        That is ``algo``, ``grid``, ``protocol`` and ``seed``, and what of the measure decides its
        records. A parameter that the grid decides is left out of the algorithm's own, and how it is
        tuned where there is nothing to choose.

        Raises
        ------
        UserError
            If a parameter has no JSON form; the message names one that is nan or infinite.
        """
        grid = dict(self.algorithm.grid) if self.protocol.tune != "none" else {}
        validation.check_finite(self.algorithm.params, "algo")
        validation.check_finite(grid, "algo.grid")
        algo = _completed({"_target_": self.algorithm.target, **self.algorithm.params})
        settings = self.protocol.to_config()
        if len(self.points) == 1:
            del settings["tune"], settings["n_folds"]
            # A finished split is the same under any limit; where trials compete, some may be
            # missing.
            settings.pop("time_limit", None)
        asked = {
            "algo": {name: value for name, value in algo.items() if name not in grid},
            "grid": grid,
            "protocol": settings,
            "seed": self.seed,
            **self.measure.settings,
        }
        if self.measure.judged_by:
            asked["judged_by"] = self.measure.judged_by
        return json.loads(as_json(asked))

    @cached_property
    def maker(self) -> Maker:
        """What makes its numbers today."""
        return Maker.of(self.asked["algo"], type(self.measure))


class Identity(NamedTuple):
    """What a config amounts to, whatever is written down of defaults.

    Attributes
    ----------
    asked : str
        Digest of what was asked of any data.
    full : str
        Digest of all that decides a split's results, besides the rows of the split.
    trial : str
        Digest of what touches a cross-validation trial, besides its point and its rows: not the
        grid, so that a grid of single points can grow and keep its trials.
    """

    asked: str
    full: str
    trial: str

    @classmethod
    def of(cls, config: Mapping) -> "Identity":
        """Take it from a config in JSON types, with its ``data``."""
        short = shortened(config)
        prepared = {name: short["protocol"].get(name) for name in ("scale", "pca")}
        touched = ("algo", "data", "seed", "judged_by")
        trial = {name: short.get(name) for name in touched} | {"protocol": prepared}
        data = short.pop("data")
        return cls(digest(short), digest({**short, "data": data}), digest(trial))

    def split_key(self, split: int, rows: str) -> str:
        """Give the key of a split's record.

        Parameters
        ----------
        split : int
            Number of the split.
        rows : str
            Checksum of the rows that it trains and tests on.
        """
        # As `digest` would, which takes most of the time of reading a record.
        return hashlib.sha256(f'["{self.full}",{split},"{rows}"]'.encode()).hexdigest()[:16]

    def trial_key(self, split: int, fold: int, points: list[dict], rows: str) -> str:
        """Give the key of a cross-validation trial's record.

        Parameters
        ----------
        split, fold : int
            Number of the split whose training part is divided, and of the fold.
        points : list of dict
            Points of the grid that are fitted, in their order.
        rows : str
            Checksum of the rows that it trains and validates on.
        """
        return digest([self.trial, split, fold, points, rows])


def shortened(config: Mapping) -> dict:
    """Leave out of a config what is at its default today, and what only names the data and measure.

    The checksum of the data and the measure's settings say what these are.

    Examples
    --------
    >>> algo = {"_target_": "sklearn.svm.SVC", "C": 10.0, "kernel": "rbf"}
    >>> shortened({"algo": algo, "protocol": {"scale": "minmax", "test_size": 0.5}, "seed": 0})
    {'algo': {'_target_': 'sklearn.svm.SVC', 'C': 10.0}, 'protocol': {'test_size': 0.5}, 'seed': 0}
    """
    short = {name: value for name, value in config.items() if name != "measure"}
    if "data" in config:
        short["data"] = {name: fact for name, fact in config["data"].items() if name != "cut"}
    return {
        **short,
        "algo": _shortened(config["algo"]),
        "protocol": dict(_beyond(config["protocol"], _settings())),
    }


@functools.cache
def defaults(target: str) -> dict:
    """Give the defaults of a constructor's parameters, as far as they have a JSON form.

    Parameters
    ----------
    target : str
        Dotted name of the class; one that cannot be imported has none.
    """
    try:
        signature = inspect.signature(import_class(target)).parameters.values()
    except (Exception, SystemExit):
        return {}
    values = {}
    for parameter in signature:
        if parameter.default is not parameter.empty:
            try:
                values[parameter.name] = json.loads(as_json(parameter.default))
            except UserError:
                continue
    return values


def of_today(value):
    """Leave out of an object's parameters what its class has fixed since, at the value they have.

    Examples
    --------
    >>> of_today({"_target_": "boostbench.LPBoost", "C": 1.0, "n_iter_no_change": None})
    {'_target_': 'boostbench.LPBoost', 'C': 1.0}
    """
    if isinstance(value, Mapping):
        target = value["_target_"] if _is_object(value) else None
        return {
            name: of_today(item)
            for name, item in value.items()
            if not (target and _is_fixed(target, name, as_json(item)))
        }
    return [of_today(item) for item in value] if isinstance(value, list | tuple) else value


@functools.cache
def _is_fixed(target: str, name: str, written: str) -> bool:
    """Whether a parameter is none any more, and an attribute of the class has its value."""
    own = defaults(target)
    fixed = getattr(import_class(target), name, ...) if own and name not in own else ...
    try:
        return as_json(fixed) == written
    except UserError:
        return False


@functools.cache
def _written(target: str) -> dict[str, str]:
    """Give the defaults as they are written."""
    return {name: as_json(value) for name, value in defaults(target).items()}


@functools.cache
def _settings() -> dict[str, str]:
    return {field.name: as_json(field.default) for field in msgspec.structs.fields(ProtocolSpec)}


def _completed(value):
    """Write down the defaults of an object's parameters, and of those of objects within."""
    if isinstance(value, Mapping):
        own = defaults(value["_target_"]) if _is_object(value) else {}
        return {**own, **{name: _completed(item) for name, item in value.items()}}
    return [_completed(item) for item in value] if isinstance(value, list | tuple) else value


def _shortened(value):
    if isinstance(value, Mapping):
        own = _written(value["_target_"]) if _is_object(value) else {}
        beyond = {name: _shortened(item) for name, item in _beyond(value, own)}
        # scikit-learn's default of a parameter that it gives up, in versions that do.
        return {name: item for name, item in beyond.items() if item != "deprecated"}
    return [_shortened(item) for item in value] if isinstance(value, list | tuple) else value


def _is_object(value: Mapping) -> bool:
    # Positional arguments would have to be matched to names first.
    return isinstance(value.get("_target_"), str) and "_args_" not in value


def _beyond(values: Mapping, written: Mapping[str, str]) -> Iterator[tuple]:
    """Give the values that are not the defaults; 1 and 1.0 differ, as they do to estimators."""
    for name, value in values.items():
        if name not in written or as_json(value) != written[name]:
            yield name, value


_encode = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
).encode


def as_json(content) -> str:
    """Write JSON types down in one way.

    Raises
    ------
    UserError
        If they have no JSON form.
    """
    try:
        text = _encode(content)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise UserError(f"a value cannot be written down as JSON: {error}") from None
    return text
