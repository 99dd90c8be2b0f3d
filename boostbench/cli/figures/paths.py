"""Figures of coefficient paths."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from boostbench.cli.figures.drawing import Drawing, stale_note
from boostbench.data.load import load
from boostbench.definitions.compose import experiments
from boostbench.definitions.execute import execute
from boostbench.definitions.figure import FigureDefinition
from boostbench.errors import UserError
from boostbench.experiment.measures.paths import PathExperiment

_HEADER = ["loss", "L1 norm", "largest coefficient", "difference, % of the norm"]
# Norms of which the page tells how far the paths are from each other.
_SHOWN = 5


def paths(definition: FigureDefinition, overrides: list[str]) -> Drawing:
    """Draw the coefficients of a few stumps; they are computed where they are not on record.

    Parameters
    ----------
    definition : FigureDefinition
        With ``classes``.
    overrides : list of str
        Hydra overrides for all of it.

    Returns
    -------
    Drawing

    Raises
    ------
    UserError
        If they cannot be computed.
    """
    from boostbench.report.figures.paths import draw_paths

    taken = ",".join(map(str, definition.classes))
    chosen = [f"data={definition.data}", f"algo={definition.algo}", f"++data.classes=[{taken}]"]
    [spec] = experiments([[*chosen, *definition.overrides, *overrides]])
    [outcome] = execute([spec], [load(spec["data"])], kind=PathExperiment).outcomes
    if not outcome.records:
        raise UserError(
            f"no coefficient paths of {definition.algo} on {definition.data}; see above"
        )
    [record] = outcome.records
    stale = [f"{spec['algo']['title']} on {definition.data}"] if outcome.stale else []
    return Drawing(
        draw_paths(record, list(definition.classes.values())),
        Path(spec["results"]),
        stale_note(stale),
        _facts(record),
        _HEADER,
    )


def _facts(record: Mapping) -> list[list[str]]:
    """Say how far the two paths are from each other, along them."""
    norms = np.array(record["norms"])
    shown = np.arange(len(norms), 0, -len(norms) // _SHOWN)[::-1] - 1
    facts = []
    for loss, path in record["paths"].items():
        exact, steps = np.array(path["exact"]), np.array(path["stage_wise"])
        apart = np.abs(exact - steps).sum(axis=(1, 2)) / norms
        facts += [
            [loss, f"{norms[i]:g}", f"{exact[i].max():.2f}", f"{100 * apart[i]:.1f}"] for i in shown
        ]
    return facts
