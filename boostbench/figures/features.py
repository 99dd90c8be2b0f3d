"""Features that boosting selects, by `boostbench.fitting.measures.fitted_model`."""

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from boostbench.execution.jobs import execute
from boostbench.figures.definition import Drawing, stale_note
from boostbench.figures.panels import Point, draw_markers, draw_panels, tidy
from boostbench.figures.sources import CrossFigure
from boostbench.figures.style import break_words, label, mark_as_empty, style
from boostbench.fitting.measures.fitted_model import FeatureUseRecord
from boostbench.fitting.quantities import TEST_ERROR
from boostbench.util.errors import UserError
from boostbench.util.numbers import fixed

#: Number of features of a panel: the most frequent ones.
MAX_FEATURES = 16
_COLUMNS = 2  # panels in a row
_PANEL_HEIGHT = 1.7  # inches
_NAMES_HEIGHT = 0.9  # inches, for names at an angle of 45 degrees
_LEGEND_HEIGHT = 0.3  # inches
_MAX_NAME = 22  # letters; longer names are broken into lines
_MAX_LEVEL_NAME = 3  # letters; longer names are at an angle


def selection_shares(records: Sequence[FeatureUseRecord]) -> np.ndarray:
    """Return the share of each split's stumps that test each feature, in percent.

    Parameters
    ----------
    records : sequence of FeatureUseRecord
        Records of feature use.

    Returns
    -------
    ndarray of shape (n_splits, n_features)
        Rows of splits without any stump are zero.
    """
    counts = np.array([record.counts for record in records], dtype=float)
    return 100 * counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)


class FeatureUse(NamedTuple):
    """Use of features by an algorithm on a data set.

    Attributes
    ----------
    panel, title : str
        Titles of the data set and of the algorithm.
    names : sequence of str
        Names of the features.
    records : sequence of FeatureUseRecord
        Records of the splits; an algorithm without records is not drawn.
    """

    panel: str
    title: str
    names: Sequence[str]
    records: Sequence[FeatureUseRecord]


def draw_features(uses: Sequence[FeatureUse]) -> Figure:
    """Draw how often features are selected: mean over splits, and standard deviation.

    Parameters
    ----------
    uses : sequence of FeatureUse
        Data sets and algorithms in the order of panels and of the legend.

    Returns
    -------
    matplotlib.figure.Figure
        Features are sorted by the mean over the algorithms.
    """
    panels = list(dict.fromkeys(use.panel for use in uses))
    titles = list(dict.fromkeys(use.title for use in uses))
    # 1) Select the most frequent features of each panel, and compute their means and deviations.
    points, shown = [], {}
    for panel in panels:
        drawn = [use for use in uses if use.panel == panel and use.records]
        if not drawn:
            continue
        shares_of_uses = [selection_shares(use.records) for use in drawn]
        means = np.mean([shares.mean(axis=0) for shares in shares_of_uses], axis=0)
        # A stable sort leaves equal features in the order of the data.
        features = np.argsort(-means, kind="stable")[:MAX_FEATURES]
        shown[panel] = [drawn[0].names[feature] for feature in features]
        for use, shares in zip(drawn, shares_of_uses, strict=True):
            selected = shares[:, features]  # (n_splits, n_shown_features)
            has_stds = len(selected) > 1
            stds = selected.std(axis=0, ddof=1) if has_stds else np.full(len(features), np.nan)
            for x, (mean, std) in enumerate(zip(selected.mean(axis=0), stds, strict=True)):
                points.append(Point(panel, use.title, x, mean, std))
    # 2) Draw the points.
    longest = max((len(name) for drawn in shown.values() for name in drawn), default=0)
    figure, grid = draw_panels(
        tidy(points),
        draw_markers,
        panels=panels,
        hues=titles,
        # Names of several lines need the width of the page.
        n_columns=1 if longest > _MAX_NAME else min(_COLUMNS, len(panels)),
        height=_PANEL_HEIGHT + _NAMES_HEIGHT * (longest > _MAX_LEVEL_NAME),
        legend="none",
        extra_height=_LEGEND_HEIGHT,
    )
    # 3) Write the names of the features, and the legend.
    with style():
        for axes, panel in zip(grid, panels, strict=True):
            if panel in shown:
                _name_features(axes, shown[panel])
            else:
                mark_as_empty(axes)
                axes.set(xticks=[], yticks=[])
        handles = {bars.get_label(): bars for axes in grid for bars in axes.containers}
        # Empty panels alone have nothing to name.
        if handles:
            figure.legend(
                handles.values(),
                map(label, handles),
                loc="outside lower center",
                ncols=len(handles),
                frameon=False,
            )
    return figure


def _name_features(axes: Axes, names: Sequence[str]) -> None:
    """Write the names of the features below their points at 0, 1, ..."""
    axes.set_xticks(range(len(names)), [label(break_words(name, _MAX_NAME)) for name in names])
    if any(len(name) > _MAX_LEVEL_NAME for name in names):
        axes.tick_params(axis="x", rotation=45)
        for text in axes.get_xticklabels():
            text.set(ha="right", rotation_mode="anchor")
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.set_ylim(bottom=0)
    axes.set(xlabel="feature", ylabel="% of the stumps")


_HEADER = ["data", "algorithm", "splits", "features selected", "most selected", "test error %"]
# Largest number of features that a line of the figure's page names.
_MAX_NAMED = 3


class Features(CrossFigure, frozen=True, kw_only=True):
    """Figure of the shares of the stumps that test each feature."""

    kind: ClassVar[str] = "features"

    def draw(self, overrides: list[str]) -> Drawing:
        """Draw the figure: see `FigureDefinition.draw`."""
        cells, configs = self.compose(overrides, "feature_use")
        titles = [
            column.title or config.algorithm.title
            for (_, column), config in zip(cells, configs, strict=True)
        ]
        # The first cells are the columns of the first row.
        for title, number in Counter(titles[: len(self.columns)]).items():
            if number > 1:
                raise UserError(
                    f"figure {self.name} has {number} columns {title!r}; give each a title"
                )
        report = execute(configs)
        uses, table_rows, stale = [], [], []
        for (row, _), title, outcome in zip(cells, titles, report.results, strict=True):
            names = outcome.experiment.dataset.feature_names
            uses.append(FeatureUse(row, title, names, outcome.records))
            if outcome.records:
                table_rows.append([row, title, *_table_line(outcome.records, names)])
            if outcome.stale:
                stale.append(f"{title} on {row}")
        return Drawing(
            draw_features(uses),
            configs[0].results,
            stale_note(stale),
            table_rows,
            _HEADER,
            report.failed,
        )


def _table_line(records: Sequence[FeatureUseRecord], names: Sequence[str]) -> list[str]:
    """Return the texts below `_HEADER` from ``splits`` on."""
    means = selection_shares(records).mean(axis=0)
    order = (-means).argsort(kind="stable")[:_MAX_NAMED]
    return [
        str(len(records)),
        f"{(means > 0).sum()} of {len(means)}",
        ", ".join(f"{names[feature]} ({means[feature]:.0f}%)" for feature in order),
        fixed(TEST_ERROR.mean(records), 1),
    ]
