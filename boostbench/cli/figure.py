"""``boostbench figure``: a paper's figure, drawn from records."""

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from boostbench.cli.compose import experiments
from boostbench.cli.definition import Definition
from boostbench.cli.execute import execute
from boostbench.cli.figure_definition import FigureColumn, FigureDefinition
from boostbench.cli.rows import load_rows
from boostbench.data.load import load
from boostbench.errors import UserError
from boostbench.experiment.boundary import BoundaryExperiment
from boostbench.experiment.plan import Experiment
from boostbench.experiment.runner import collect

_FACTS = ["data", "algorithm", "chosen", "CV error %", "rounds", "training error %"]


@dataclass(frozen=True)
class _Drawing:
    """A figure of matplotlib, the folder of results, and what the page about it says."""

    figure: Any
    results: Path
    notes: list[str]
    facts: list[list[str]] = field(default_factory=list)
    failed: int = 0


def make_figure(name: str, overrides: Sequence[str]) -> int:
    """Draw a figure, and write it under ``results/figures`` as PNG and SVG with a page about it.

    Decision boundaries that are not on record are computed first. Curves are drawn of what the
    records of a table hold.

    Parameters
    ----------
    name : str
        Name of the figure, or path of a YAML file that defines one.
    overrides : sequence of str
        Hydra overrides for all of it.

    Returns
    -------
    int
        0, or 1 when something to be drawn failed.

    Raises
    ------
    UserError
        For what the user can put right; nothing was written then.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise UserError("figures need matplotlib; install it by pip install 'boostbench[plots]'")
    from boostbench.report.figures.page import page
    from boostbench.report.figures.style import save

    definition = FigureDefinition.read(name)
    draw = _curves if definition.table else _boundaries
    drawing = draw(definition, list(overrides))
    path = drawing.results / "figures" / definition.name
    written = save(drawing.figure, path, definition.title, definition.caption)
    text = page(
        definition.name,
        definition.title,
        definition.caption,
        drawing.notes,
        drawing.facts,
        _FACTS,
    )
    written.append(path.with_suffix(".md"))
    written[-1].write_text(text, encoding="utf-8")
    print(definition.title, definition.caption, *drawing.notes, sep="\n")
    print(f"\nwritten: {', '.join(map(str, written))}")
    return int(drawing.failed > 0)


def _boundaries(definition: FigureDefinition, overrides: list[str]) -> _Drawing:
    from boostbench.report.figures.boundaries import Panel, draw_boundaries

    cells = [(row, column) for row in definition.rows for column in definition.columns]
    specs = experiments(
        [
            [f"data={row}", f"algo={c.algo}", *definition.overrides, *c.overrides, *overrides]
            for row, c in cells
        ]
    )
    rounds = [_rounds(column, spec) for (_, column), spec in zip(cells, specs, strict=True)]
    data = {spec["data"]["name"]: spec["data"] for spec in specs}
    datasets = {name: load(spec) for name, spec in data.items()}
    report = execute(
        specs, [datasets[spec["data"]["name"]] for spec in specs], kind=BoundaryExperiment
    )
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
    return _Drawing(
        draw_boundaries(panels),
        Path(specs[0]["results"]),
        _stale_note(stale),
        facts,
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


def _curves(definition: FigureDefinition, overrides: list[str]) -> _Drawing:
    from boostbench.report.figures.curves import draw_curves

    table = Definition.read(definition.table)
    cells = [(row, column) for row in table.rows for column in table.columns]
    composed = experiments([table.cell(*cell) + overrides for cell in cells])
    specs = dict(zip(cells, composed, strict=True))
    results = Path(composed[0]["results"])
    panels: dict[str, dict[str, list[dict]]] = {}
    lacking: dict[str, dict[str, list[str]]] = {}
    stale = []
    datasets = load_rows(specs)
    for (row, _), spec in specs.items():
        if row not in datasets:
            lacking[row] = {"data not available": []}
            continue
        experiment = Experiment.from_config(spec, datasets[row])
        [outcome] = collect([experiment], results=results).outcomes
        title = spec["algo"]["title"]
        panels.setdefault(row, {})[title] = outcome.records
        n_splits, n_done = len(experiment.splits), len(outcome.records)
        if n_done < n_splits:
            what = f"only {n_done} of {n_splits} splits" if n_done else "not run"
            lacking.setdefault(row, {}).setdefault(what, []).append(title)
        if outcome.stale:
            stale.append(f"{title} on {row}")
    drawn = {row: curves for row, curves in panels.items() if any(curves.values())}
    if not drawn:
        raise UserError(
            f"nothing of table {table.name} is recorded in {results}; "
            f"'boostbench table {table.name}' runs it"
        )
    notes = [f"Lacking on {row}: {_lacking(reasons)}." for row, reasons in lacking.items()]
    return _Drawing(draw_curves(drawn), results, notes + _stale_note(stale))


def _lacking(reasons: Mapping[str, list[str]]) -> str:
    """Name what is not drawn, or of too few splits.

    Examples
    --------
    >>> _lacking({"not run": ["AdaBoost.MH", "MultiBoost"], "data not available": []})
    'AdaBoost.MH, MultiBoost (not run); all (data not available)'
    """
    return "; ".join(f"{', '.join(who) or 'all'} ({why})" for why, who in reasons.items())


def _stale_note(stale: list[str]) -> list[str]:
    if not stale:
        return []
    what = ", ".join(dict.fromkeys(stale))
    return [f"Made by other code than today's (rerun=stale runs it again): {what}."]
