"""From the configuration of an algorithm to a classifier that can be fitted."""

import itertools
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from boostbench.experiment import targets
from boostbench.util.errors import UserError

PRESENTATION = ("name", "title", "paper")

# What classes were seen to take, as it is written.
_taken: set[str] = set()


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
        algorithm, written = cls(name, target, params, grid), repr((target, params, grid))
        if written not in _taken:  # many experiments share an algorithm
            for point in algorithm.points():
                algorithm.specimen(**point)
            _taken.add(written)
        return algorithm

    def __getstate__(self) -> dict:
        """Return the state with the classes of the script, which a worker process does not have."""
        names = [self.target, *targets.class_names([self.params, self.grid])]
        return {**vars(self), "script_classes": targets.script_classes(names)}

    def __setstate__(self, state: dict) -> None:
        vars(sys.modules["__main__"]).update(state.pop("script_classes"))
        vars(self).update(state)

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
            If there is no such class, or it is none of estimators, see `targets.locate`.
        """
        return targets.locate(self.target)

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
            If the class lacks a parameter or does not take a value, or an object within is none
            that may be made, see `targets.construct`.
        """
        cls = self.locate()
        params = {**self.params, **overrides}
        if "random_state" in targets.parameters(cls)[0] and params.get("random_state") is None:
            params["random_state"] = seed
        return targets.construct(cls, params)

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


def _check_values(parameter: str, values) -> None:
    if not isinstance(values, list | tuple) or not values:
        raise UserError(f"algo.grid.{parameter} is {values!r}; it must be a list of values")
