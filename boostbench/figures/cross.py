"""What figures of data sets by algorithms have in common: their experiments, and the data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from boostbench.busy import busy
from boostbench.data.dataset import Dataset
from boostbench.data.load import load
from boostbench.definitions.compose import experiment
from boostbench.definitions.outcomes import execute
from boostbench.definitions.overrides import Settings, settings
from boostbench.definitions.table import choose_data
from boostbench.errors import UserError
from boostbench.figures.drawing import stale_note


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


def compose_cross(
    rows: Sequence[str],
    columns: Sequence[CrossColumn],
    overrides: Mapping[str, Any],
    given: Sequence[str],
) -> tuple[list[tuple[str, CrossColumn]], list[dict]]:
    """Compose an experiment for each data set and column of a figure.

    Parameters
    ----------
    rows : sequence of str
        The data sets, by name or by the path of a file.
    columns : sequence of CrossColumn
        The algorithms.
    overrides : Settings
        Those of the definition for all of it, which come before those of a column.
    given : sequence of str
        Hydra overrides of the command line, which come last.

    Returns
    -------
    cells : list of (str, Column)
        Row by row.
    specs : list of dict
        Resolved config of each.
    """
    cells, asked = [(row, column) for row in rows for column in columns], settings(given)
    chosen = [choose_data(row) | {"algo": column.algo} | overrides for row, column in cells]
    specs = [
        experiment(own | column.overrides | asked, asked)
        for own, (_, column) in zip(chosen, cells, strict=True)
    ]
    return cells, specs


def run_single(
    data: str, algo: str, overrides: Mapping[str, Any], measure: str, what: str
) -> tuple[dict, Dataset, dict, list[str]]:
    """Run a figure of one fit.

    Parameters
    ----------
    data, algo : str
        Names.
    overrides : Settings
        What else is not as usual.
    measure : str
        What is recorded.
    what : str
        That in words.

    Returns
    -------
    spec : dict
        The resolved config.
    dataset : Dataset
    record : dict
    notes : list of str
        Says where it is stale.

    Raises
    ------
    UserError
        If it failed.
    """
    spec = experiment({"data": data, "algo": algo} | overrides)
    [dataset] = load_each([spec])
    [outcome] = execute([spec], [dataset], measure=measure).outcomes
    if not outcome.records:
        raise UserError(f"no {what} of {algo} on {data}; see above")
    stale = [f"{spec['algo']['title']} on {data}"] if outcome.stale else []
    return spec, dataset, outcome.records[0], stale_note(stale)


def load_each(specs: Sequence[dict]) -> list[Dataset]:
    """Load the data of each config, equal ones once."""
    configs = {repr(spec["data"]): spec["data"] for spec in specs}
    with busy("loading data"):
        datasets = {written: load(data) for written, data in configs.items()}
    return [datasets[repr(spec["data"])] for spec in specs]
