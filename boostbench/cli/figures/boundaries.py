"""Figures of decision boundaries."""

from collections.abc import Mapping
from pathlib import Path

from boostbench.cli.figures.cross import compose_cross, load_each
from boostbench.cli.figures.drawing import Drawing, stale_note
from boostbench.definitions.execute import execute
from boostbench.definitions.figure import FigureColumn, FigureDefinition
from boostbench.errors import UserError
from boostbench.experiment.measures.boundary import BoundaryExperiment

_FACTS = ["data", "algorithm", "chosen", "CV error %", "rounds", "training error %"]


def boundaries(definition: FigureDefinition, overrides: list[str]) -> Drawing:
    """Draw decision boundaries; those that are not on record are computed first.

    Parameters
    ----------
    definition : FigureDefinition
        With ``rows`` and ``columns``.
    overrides : list of str
        Hydra overrides for all of it.

    Returns
    -------
    Drawing
    """
    from boostbench.report.figures.boundaries import Panel, draw_boundaries

    cells, specs = compose_cross(definition, definition.rows, overrides)
    rounds = [_rounds(column, spec) for (_, column), spec in zip(cells, specs, strict=True)]
    report = execute(specs, load_each(specs), kind=BoundaryExperiment)
    panels: dict[str, list[Panel]] = {row: [] for row in definition.rows}
    facts, stale = [], []
    for (row, column), spec, number, outcome in zip(
        cells, specs, rounds, report.outcomes, strict=True
    ):
        record = outcome.records[0] if outcome.records else None
        algorithm = spec["algo"]["title"]
        if definition.points and not panels[row]:
            panels[row].append(Panel(definition.points, record, None))
        panels[row].append(Panel(column.title or algorithm, record, number))
        if outcome.stale:
            stale.append(f"{algorithm} on {row}")
        if record:
            facts.append([row, algorithm, *_facts(record, number)])
    return Drawing(
        draw_boundaries(panels),
        Path(specs[0]["results"]),
        stale_note(stale),
        facts,
        _FACTS,
        report.failed,
    )


def _rounds(column: FigureColumn, spec: dict) -> int:
    """Say how many boosting rounds a column shows, and refuse what its record would not hold."""
    checkpoints = spec["protocol"]["checkpoints"]
    number = column.rounds or max(checkpoints, default=0)
    if number not in checkpoints:
        raise UserError(
            f"the figure shows {number} rounds, which protocol.checkpoints={checkpoints} has not"
        )
    asked = spec["algo"].get("n_iterations", number)
    if asked < number:
        raise UserError(f"the figure shows {number} rounds, but algo.n_iterations is {asked}")
    return number


def _facts(record: Mapping, number: int) -> list[str]:
    chosen = ", ".join(f"{key}={value}" for key, value in sorted(record["chosen"].items()))
    error = record["validation_error"]
    done = record["n_iterations"]
    stopped = done is not None and done < number
    return [
        chosen or "-",
        "-" if error is None else f"{100 * error:.1f}",
        f"{done} (of {number})" if stopped else str(number),
        f"{100 * record['train_errors'][str(number)]:.1f}",
    ]
