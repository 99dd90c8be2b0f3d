"""From the configuration of an algorithm to a classifier that can be fitted."""

import importlib
import inspect
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field

import hydra.utils
from hydra.errors import InstantiationException

from boostbench.errors import UserError, first_line, hint

PRESENTATION = ("name", "title", "paper")


@dataclass(frozen=True)
class Algorithm:
    """A classifier, its parameters, and the grid that some of them are chosen from.

    Attributes
    ----------
    name : str
        Names the file of records.
    target : str
        Dotted name of the class.
    params : dict
        Parameters of the constructor. A mapping with a ``_target_`` of its own is an object.
    grid : dict of str to list
        Candidate values by parameter; empty where nothing is tuned.
    """

    name: str
    target: str
    params: Mapping = field(default_factory=dict)
    grid: Mapping = field(default_factory=dict)

    @classmethod
    def from_config(cls, config: Mapping) -> "Algorithm":
        """Take the algorithm from its part of the resolved configuration, and check it.

        Raises
        ------
        UserError
            If the class cannot be found, or lacks a parameter of the configuration or of the grid,
            or does not take a value.
        """
        config = dict(config)
        if "_target_" not in config:
            raise UserError("the algorithm names no class; set algo._target_=package.module.Class")
        for key in ("_target_", "name", "title"):
            if key in config and not isinstance(config[key], str):
                raise UserError(f"algo.{key} is {config[key]!r}; it must be text")
        target = config.pop("_target_")
        grid = config.pop("grid", None) or {}
        if not isinstance(grid, Mapping):
            raise UserError(f"algo.grid is {grid!r}; it must be lists of values by parameter")
        for parameter, values in grid.items():
            _check_values(parameter, values)
        name = config.get("name") or target.rpartition(".")[2]
        params = {key: value for key, value in config.items() if key not in PRESENTATION}
        algorithm = cls(name, target, params, grid)
        for point in algorithm.points():
            algorithm.specimen(**point)
        return algorithm

    def points(self) -> list[dict]:
        """Give every combination of the grid's values; the last parameter varies fastest."""
        return [
            dict(zip(self.grid, values, strict=True))
            for values in itertools.product(*self.grid.values())
        ]

    def locate(self) -> type:
        """Import the class.

        Raises
        ------
        UserError
            If there is no such class.
        """
        try:
            found = import_class(self.target)
        except Exception as error:
            raise UserError(
                f"cannot find algo._target_={self.target}: {first_line(error)}"
            ) from None
        return found

    def build(self, seed: int, **overrides):
        """Make an unfitted classifier.

        Parameters
        ----------
        seed : int
            Becomes the `random_state`, if the class has one and the configuration leaves it open.
        **overrides
            Values that replace those of the configuration, such as a point of the grid.

        Returns
        -------
        estimator

        Raises
        ------
        UserError
            If the class lacks a parameter (near matches are named) or does not take a value.
        """
        found = self.locate()
        params = {**self.params, **overrides}
        known, open_ended = _parameters(found)
        for name in params:
            if name not in known and not open_ended:
                near = hint(name, known) if known else "it takes none"
                raise UserError(f"{found.__name__} has no parameter {name!r}; {near}")
        if "random_state" in known and params.get("random_state") is None:
            params["random_state"] = seed
        try:
            estimator = found(**{name: _instantiate(value) for name, value in params.items()})
            # scikit-learn checks values in fit only, where the mistake would cost every trial.
            if hasattr(estimator, "_parameter_constraints"):
                estimator._validate_params()
        except (TypeError, ValueError, InstantiationException) as error:
            raise UserError(f"{found.__name__}: {first_line(error)}") from None
        return estimator

    def specimen(self, **overrides):
        """Make an unfitted estimator to look at, None where the constructor breaks down.

        Each trial then meets the same exception, which is its failure and recorded.

        Raises
        ------
        UserError
            As of `build`.
        """
        try:
            return self.build(seed=0, **overrides)
        except (UserError, KeyboardInterrupt):
            raise
        except BaseException:
            return None


def import_class(target: str) -> type:
    """Import a class by its dotted name; whatever goes wrong is raised."""
    module, _, name = target.rpartition(".")
    found = getattr(importlib.import_module(module), name)
    if not isinstance(found, type):
        raise TypeError(f"{name} of {module} is no class")
    return found


def _parameters(cls: type) -> tuple[list[str], bool]:
    """Names that the constructor takes, and whether it takes any other."""
    signature = inspect.signature(cls).parameters.values()
    names = [p.name for p in signature if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    return names, any(p.kind is p.VAR_KEYWORD for p in signature)


def _instantiate(value):
    if isinstance(value, Mapping) and "_target_" in value:
        return hydra.utils.instantiate(dict(value), _convert_="all")
    return value


def _check_values(parameter: str, values) -> None:
    if not isinstance(values, list | tuple) or not values:
        raise UserError(f"algo.grid.{parameter} is {values!r}; it must be a list of values")
