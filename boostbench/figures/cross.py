"""What figures of data sets by algorithms have in common: their experiments, and the data."""

from collections.abc import Sequence

from boostbench.data.dataset import Dataset
from boostbench.data.load import load
from boostbench.definitions.compose import experiments
from boostbench.figures.definition import FigureColumn, FigureDefinition


def compose_cross(
    definition: FigureDefinition, rows: Sequence[str], overrides: Sequence[str]
) -> tuple[list[tuple[str, FigureColumn]], list[dict]]:
    """Compose an experiment for each data set and column of a figure.

    Parameters
    ----------
    definition : FigureDefinition
        With ``columns``.
    rows : sequence of str
        The data sets.
    overrides : sequence of str
        Hydra overrides for all of it, which come last.

    Returns
    -------
    cells : list of (str, FigureColumn)
        Row by row.
    specs : list of dict
        Resolved config of each.
    """
    cells = [(row, column) for row in rows for column in definition.columns]
    specs = experiments(
        [
            [f"data={row}", f"algo={c.algo}", *definition.overrides, *c.overrides, *overrides]
            for row, c in cells
        ]
    )
    return cells, specs


def load_each(specs: Sequence[dict]) -> list[Dataset]:
    """Load the data of each config, those of one name once."""
    datasets = {name: load(data) for name, data in {_name(s): s["data"] for s in specs}.items()}
    return [datasets[_name(spec)] for spec in specs]


def _name(spec: dict) -> str:
    return spec["data"]["name"]
