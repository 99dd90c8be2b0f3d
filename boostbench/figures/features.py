"""Which features boosting selects, by `boostbench.fitting.measures.feature_use`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from boostbench.execution.jobs import execute
from boostbench.figures.cross import OfCross
from boostbench.figures.definition import FigureDefinition
from boostbench.figures.drawing import Drawing, stale_note
from boostbench.figures.style import COLOURS, MARKERS, label, make_panels, say_no_record, style
from boostbench.fitting.quantities import TEST_ERROR
from boostbench.util.errors import UserError
from boostbench.util.numbers import fixed

#: How many features a panel shows, those that are selected most.
SHOWN = 16
_COLUMNS = 2
_PANEL_HEIGHT, _TURNED = 1.7, 0.9  # inches; more for names that are turned
_LONGEST, _SHORT = 22, 3  # characters of a name: more are cut, and more are turned
_SPREAD = 0.5  # of the space of a feature, for the markers of the algorithms


def shares(records: Sequence[Mapping]) -> np.ndarray:
    """Give the share of each split's stumps that test each feature, in percent.

    It has the shape (n_splits, n_features). Rows of splits without any stump are zero.
    """
    counts = np.array([record["counts"] for record in records], dtype=float)
    return 100 * counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)


def draw_features(
    panels: Mapping[str, Mapping[str, Sequence[Mapping]]], names: Mapping[str, Sequence[str]]
) -> Figure:
    """Draw how often features are selected: mean over splits, and standard deviation.

    Parameters
    ----------
    panels : mapping
        By the title of a panel (a data set) and of an algorithm, the records of its splits;
        algorithms without records are not drawn.
    names : mapping
        Names of the features by the title of a panel.

    Returns
    -------
    matplotlib.figure.Figure
        Features are sorted by the mean over the algorithms.
    """
    titles = list(dict.fromkeys(title for curves in panels.values() for title in curves))
    with style():
        are_words = any(len(name) > _SHORT for own in names.values() for name in own)
        height = _PANEL_HEIGHT + _TURNED * are_words
        figure, grid, _ = make_panels(len(panels), min(_COLUMNS, len(panels)), height, more=0.3)
        for axes, (title, algorithms) in zip(grid, panels.items(), strict=True):
            axes.set_title(label(title))
            drawn = {name: shares(records) for name, records in algorithms.items() if records}
            if drawn:
                _draw(axes, drawn, titles, names[title])
            else:
                say_no_record(axes)
                axes.set(xticks=[], yticks=[])
        handles = {}
        for axes in grid:
            lines, labels = axes.get_legend_handles_labels()
            handles |= dict(zip(labels, lines, strict=True))
        if handles:
            figure.legend(
                handles.values(),
                map(label, handles),
                loc="outside lower center",
                ncols=len(handles),
                frameon=False,
            )
    return figure


def _draw(
    axes: Axes,
    drawn: Mapping[str, np.ndarray],
    titles: Sequence[str],
    names: Sequence[str],
) -> None:
    means = np.mean([values.mean(axis=0) for values in drawn.values()], axis=0)
    # A stable sort leaves equals in the order of the data.
    features = np.argsort(-means, kind="stable")[:SHOWN]
    offsets = np.linspace(-_SPREAD / 2, _SPREAD / 2, len(titles)) if len(titles) > 1 else [0.0]
    places = np.arange(len(features))
    for name, values in drawn.items():
        number = titles.index(name)
        chosen = values[:, features]
        axes.errorbar(
            places + offsets[number],
            chosen.mean(axis=0),
            chosen.std(axis=0, ddof=1) if len(values) > 1 else None,
            fmt=MARKERS[number % len(MARKERS)],
            color=COLOURS[number % len(COLOURS)],
            markersize=3,
            elinewidth=0.7,
            label=name,
        )
    shown = [names[feature] for feature in features]
    axes.set_xticks(places, [label(_shortened(name)) for name in shown])
    if any(len(name) > _SHORT for name in shown):
        axes.tick_params(axis="x", rotation=45)
        for text in axes.get_xticklabels():
            text.set(ha="right", rotation_mode="anchor")
    axes.set_xlim(-0.6, len(features) - 0.4)
    axes.set_ylim(bottom=0)
    axes.grid(axis="y")
    axes.set(xlabel="feature", ylabel="% of the stumps")


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


_HEADER = ["data", "algorithm", "splits", "features selected", "most selected", "test error %"]
# How many features the page about the figure names.
_NAMED = 3


@dataclass(frozen=True, kw_only=True)
class Features(OfCross, FigureDefinition):
    """How often features are selected, of algorithms that boost stumps."""

    def draw(self, overrides: list[str]) -> Drawing:
        """Draw it: see `FigureDefinition.draw`."""
        cells, specs = self.compose(overrides, "feature_use")
        titles = [
            column.title or spec["algo"]["title"]
            for (_, column), spec in zip(cells, specs, strict=True)
        ]
        for title, number in Counter(titles[: len(self.columns)]).items():
            if number > 1:
                raise UserError(
                    f"figure {self.name} has {number} columns {title!r}; give each a title"
                )
        report = execute(specs)
        called = {
            row: outcome.experiment.dataset.feature_names
            for (row, _), outcome in zip(cells, report.outcomes, strict=True)
        }
        panels: dict[str, dict[str, list[dict]]] = {row: {} for row in self.rows}
        facts, stale = [], []
        for (row, _), title, outcome in zip(cells, titles, report.outcomes, strict=True):
            panels[row][title] = outcome.records
            if outcome.records:
                facts.append([row, title, *_facts(outcome.records, called[row])])
            if outcome.stale:
                stale.append(f"{title} on {row}")
        return Drawing(
            draw_features(panels, called),
            Path(specs[0]["results"]),
            stale_note(stale),
            facts,
            _HEADER,
            report.failed,
        )


def _facts(records: list[dict], names: Sequence[str]) -> list[str]:
    means = shares(records).mean(axis=0)
    order = (-means).argsort(kind="stable")[:_NAMED]
    return [
        str(len(records)),
        f"{(means > 0).sum()} of {len(means)}",
        ", ".join(f"{names[feature]} ({means[feature]:.0f}%)" for feature in order),
        fixed(TEST_ERROR.mean(records), 1),
    ]
