"""Experiments and data of figures that cross data sets with algorithms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from boostbench.config.compose import (
    check_applicable,
    compose_experiment,
    data_settings,
    select_applicable,
)
from boostbench.config.overrides import Settings, parse_overrides
from boostbench.data.dataset import Dataset
from boostbench.execution.jobs import execute
from boostbench.figures.drawing import stale_note
from boostbench.spec.experiment import ExperimentConfig
from boostbench.util.errors import UserError


@dataclass(frozen=True, kw_only=True)
class CrossColumn:
    """An algorithm of a figure.

    Attributes
    ----------
    algo : str
        Its name.
    title : str, default=None
        Heading; by default the title of the algorithm.
    overrides : Settings
        Hydra overrides that hold for it alone.
    """

    algo: str
    title: str | None = None
    overrides: Settings = field(default_factory=Settings)


@dataclass(frozen=True, kw_only=True)
class OfCross:
    """Keys of figures of several algorithms on several data sets.

    Attributes
    ----------
    rows : list of str
        The data sets, by name or by the path of a file.
    columns : list of CrossColumn
        The algorithms.
    overrides : Settings
        Hydra overrides of all columns; the overrides of a column come later.
    """

    rows: list[str]
    columns: list[CrossColumn]
    overrides: Settings = field(default_factory=Settings)

    def compose(
        self, given: Sequence[str], measure: str
    ) -> tuple[list[tuple[str, CrossColumn]], list[ExperimentConfig]]:
        """Give row and column of each cell, and its config; `given` overrides come last."""
        cells, asked = list(product(self.rows, self.columns)), parse_overrides(given)
        algos = [{"algo": column.algo} for column in self.columns]
        check_applicable(self.overrides, algos, f"figure {self.name}")
        check_applicable(asked, algos)
        specs = []
        for row, column in cells:
            algo = {"algo": column.algo}
            for_all, now = (select_applicable(each, algo) for each in (self.overrides, asked))
            chosen = data_settings(row) | algo | for_all | column.overrides | now
            specs.append(compose_experiment(chosen | {"measure": measure}, asked))
        return cells, specs


@dataclass(frozen=True, kw_only=True)
class FitKeys:
    """Keys of figures of one fit.

    Attributes
    ----------
    data, algo : str
        Names of the data set and of the algorithm.
    overrides : Settings
        Hydra overrides.
    """

    data: str
    algo: str
    overrides: Settings = field(default_factory=Settings)

    def compose(self, chosen: Mapping[str, Any], measure: str) -> ExperimentConfig:
        """Compose the config; `chosen` has all further choices, `overrides` included."""
        return compose_experiment(
            {"data": self.data, "algo": self.algo} | chosen | {"measure": measure}
        )

    def fit(self, config: ExperimentConfig, what: str) -> tuple[Dataset, dict, list[str]]:
        """Run it.

        Parameters
        ----------
        config : ExperimentConfig
            Result of `compose`.
        what : str
            What is recorded, in words.

        Returns
        -------
        dataset : Dataset
        record : dict
        notes : list of str
            Says where it is stale.

        Raises
        ------
        UserError
            If it failed.
        """
        [outcome] = execute([config]).outcomes
        if not outcome.records:
            raise UserError(f"no {what} of {self.algo} on {self.data}; see above")
        stale = [f"{config.algorithm.title} on {self.data}"] if outcome.stale else []
        return outcome.experiment.dataset, outcome.records[0], stale_note(stale)
