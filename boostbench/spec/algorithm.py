"""Specification of an algorithm: an estimator's class, its parameters and its grid.

A config group ``algo`` becomes an `AlgorithmSpec`, from which each fit builds its estimator.
"""

import itertools
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec

from boostbench.spec import trusted_imports
from boostbench.spec.trusted_imports import ScriptClass
from boostbench.util.errors import UserError

#: Keys of an algorithm's config that do not affect its results.
PRESENTATION = ("name", "title", "paper")

# Texts of the specifications that `AlgorithmSpec.check` has accepted in this process. The cells of
# a table share an algorithm, which is checked once.
_accepted: set[str] = set()


class AlgorithmSpec(msgspec.Struct, frozen=True, dict=True):
    """A classifier, its parameters, and the grid from which parameters are chosen.

    Attributes
    ----------
    name : str
        Stem of the record files.
    target : str
        Dotted name of the class.
    params : dict
        Parameters of the constructor by name, as JSON types. A mapping with a ``_target_`` becomes
        an object of that class, whose parameters are the other entries.
    grid : dict of str to list
        Candidate values by parameter. Cross-validation chooses one *point*, a value for each of
        these parameters. Empty: nothing is tuned.
    title : str, default=""
        Heading in tables and figures.
    """

    name: str
    target: str
    params: dict[str, Any] = {}
    grid: dict[str, list] = {}
    title: str = ""

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> "AlgorithmSpec":
        """Return the specification in the ``algo`` of a resolved config.

        The class is not imported; `check` does this, and tests the parameters.

        Parameters
        ----------
        config : mapping
            ``_target_``, ``name``, ``title``, ``paper`` and ``grid``; all other entries are
            parameters of the constructor.

        Raises
        ------
        UserError
            If the class is not named, or a name or the grid has another type.
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
            if not isinstance(values, list | tuple) or not values:
                raise UserError(f"algo.grid.{parameter} is {values!r}; it must be a list of values")
        name = config.get("name") or target.rpartition(".")[2]
        params = {key: value for key, value in config.items() if key not in PRESENTATION}
        return cls(name, target, params, dict(grid), config.get("title") or name)

    def check(self) -> None:
        """Check the parameters: import the class, and instantiate it with each point of the grid.

        A specification that was accepted once in this process is not checked again.

        Raises
        ------
        UserError
            If the class cannot be found, lacks a parameter of the config or of the grid, or rejects
            a value.
        """
        # Parameters may be lists, which cannot be in a set: a text stands for them.
        specification = repr((self.target, self.params, self.grid))
        if specification not in _accepted:
            for point in self.points():
                self.try_build(**point)
            _accepted.add(specification)

    def __reduce__(self) -> tuple:
        """Return the recipe of a pickle, with the classes of the running script.

        A worker process does not have the classes of a user's script.
        """
        targets = [self.target, *trusted_imports.class_names([self.params, self.grid])]
        fields = msgspec.structs.astuple(self)
        return _unpickle, (trusted_imports.script_classes(targets), *fields)

    def points(self) -> list[dict[str, Any]]:
        """Return the points of the grid, which are all combinations of its values.

        Returns
        -------
        list of dict
            Values by parameter. The last parameter varies fastest. An empty grid has one point,
            which is empty.
        """
        return [
            dict(zip(self.grid, values, strict=True))
            for values in itertools.product(*self.grid.values())
        ]

    def import_class(self) -> type:
        """Import the class, see `boostbench.spec.trusted_imports.import_estimator`."""
        return trusted_imports.import_estimator(self.target)

    def build(self, seed: int, **overrides: Any) -> Any:
        """Return an unfitted classifier.

        Parameters
        ----------
        seed : int
            Value of the parameter `random_state`, if the class has it and `params` leave it None.
        **overrides
            Values in place of those in `params`, such as a point of the grid.

        Returns
        -------
        estimator

        Raises
        ------
        UserError
            See `boostbench.spec.trusted_imports.instantiate_class`.
        """
        cls = self.import_class()
        params = {**self.params, **overrides}
        parameter_names = trusted_imports.constructor_parameters(cls).names
        if "random_state" in parameter_names and params.get("random_state") is None:
            params["random_state"] = seed
        return trusted_imports.instantiate_class(cls, params)

    @cached_property
    def estimator(self) -> Any:
        """Unfitted estimator with `params`, for its tags; None if its constructor fails."""
        return self.try_build()

    def try_build(self, **overrides: Any) -> Any:
        """Return an unfitted estimator, or None if the constructor of a user's class fails.

        A wrong parameter is a `UserError`, which is raised. Any other error is left to the fits:
        each of them builds the estimator again, and records the error as its failure.

        Parameters
        ----------
        **overrides
            See `build`.

        Raises
        ------
        UserError
            See `build`.
        """
        try:
            return self.build(seed=0, **overrides)
        except (UserError, KeyboardInterrupt):
            raise
        except BaseException:  # a user's class may even raise SystemExit
            return None


def _unpickle(script_classes: Sequence[ScriptClass], *fields: Any) -> AlgorithmSpec:
    """Return a specification, after adding the script's classes to the worker's main module.

    There `AlgorithmSpec.import_class` finds them by the dotted name ``__main__.Class``.
    """
    vars(sys.modules["__main__"]).update(script_classes)
    return AlgorithmSpec(*fields)
