"""What figures of data sets by algorithms have in common: their experiments, and the data."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from boostbench.busy import busy
from boostbench.data.dataset import Dataset
from boostbench.data.load import load
from boostbench.definitions.compose import experiments
from boostbench.definitions.outcomes import execute
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
    overrides : list of str
        Hydra overrides that hold for it alone.
    """

    algo: str
    title: str | None = None
    overrides: list[str] = field(default_factory=list)


def compose_cross(
    rows: Sequence[str],
    columns: Sequence[CrossColumn],
    overrides: Sequence[str],
    given: Sequence[str],
) -> tuple[list[tuple[str, CrossColumn]], list[dict]]:
    """Compose an experiment for each data set and column of a figure.

    Parameters
    ----------
    rows : sequence of str
        The data sets, by name or by the path of a file.
    columns : sequence of CrossColumn
        The algorithms.
    overrides, given : sequence of str
        Hydra overrides for all of it: those of the definition, which come before those of a column,
        and those of the command line, which come last.

    Returns
    -------
    cells : list of (str, Column)
        Row by row.
    specs : list of dict
        Resolved config of each.
    """
    cells = [(row, column) for row in rows for column in columns]
    specs = experiments(
        [
            [choose_data(row), f"algo={column.algo}", *overrides, *column.overrides, *given]
            for row, column in cells
        ],
        asked=given,
    )
    return cells, specs


def run_single(
    data: str, algo: str, overrides: Sequence[str], measure: str, what: str
) -> tuple[dict, Dataset, dict, list[str]]:
    """Run a figure of one fit.

    Parameters
    ----------
    data, algo : str
        Names.
    overrides : sequence of str
        Hydra overrides.
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
    [spec] = experiments([[f"data={data}", f"algo={algo}", *overrides]])
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
