"""Figures of the features that boosting selects."""

from pathlib import Path

from boostbench.cli.figures.cross import compose_cross, load_each
from boostbench.cli.figures.drawing import Drawing, stale_note
from boostbench.definitions.execute import execute
from boostbench.definitions.figure import FigureDefinition
from boostbench.experiment.measures.feature_use import FeatureUseExperiment

_HEADER = ["data", "algorithm", "splits", "features selected", "most selected", "test error %"]
# How many features the page about the figure names.
_NAMED = 3


def features(definition: FigureDefinition, overrides: list[str]) -> Drawing:
    """Draw how often features are selected; what is not on record is computed first.

    Parameters
    ----------
    definition : FigureDefinition
        With ``features`` and ``columns``.
    overrides : list of str
        Hydra overrides for all of it.

    Returns
    -------
    Drawing
    """
    from boostbench.report.figures.features import draw_features

    cells, specs = compose_cross(definition, definition.features, overrides)
    report = execute(specs, load_each(specs), kind=FeatureUseExperiment)
    panels: dict[str, dict[str, list[dict]]] = {row: {} for row in definition.features}
    facts, stale = [], []
    for (row, column), spec, outcome in zip(cells, specs, report.outcomes, strict=True):
        title = column.title or spec["algo"]["title"]
        panels[row][title] = outcome.records
        if outcome.records:
            facts.append([row, title, *_facts(outcome.records)])
        if outcome.stale:
            stale.append(f"{title} on {row}")
    return Drawing(
        draw_features(panels),
        Path(specs[0]["results"]),
        stale_note(stale),
        facts,
        _HEADER,
        report.failed,
    )


def _facts(records: list[dict]) -> list[str]:
    from boostbench.report.figures.features import shares

    means = shares(records).mean(axis=0)
    order = (-means).argsort(kind="stable")[:_NAMED]
    error = sum(record["test_error"] for record in records) / len(records)
    return [
        str(len(records)),
        f"{(means > 0).sum()} of {len(means)}",
        ", ".join(f"{feature + 1} ({means[feature]:.0f}%)" for feature in order),
        f"{100 * error:.1f}",
    ]
