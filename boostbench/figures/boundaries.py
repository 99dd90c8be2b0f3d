"""Decision boundaries, from the records of `boostbench.fitting.measures.boundary`."""

from collections.abc import Sequence
from math import sqrt
from typing import ClassVar, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from boostbench.config.compose import compose_experiment
from boostbench.config.overrides import Settings, parse_overrides
from boostbench.data.dataset import Dataset
from boostbench.data.loading import load_each
from boostbench.data.sources import first_available_source
from boostbench.execution.jobs import execute
from boostbench.figures.definition import Drawing, FigureDefinition, stale_note
from boostbench.figures.panels import draw_panels
from boostbench.figures.sources import CrossColumn, CrossFigure
from boostbench.figures.style import (
    COLOURS,
    MARKERS,
    PAGE_WIDTH,
    label,
    make_panels,
    mark_as_empty,
    style,
)
from boostbench.fitting.measures.boundary import BoundaryRecord, decode
from boostbench.spec.experiment import ExperimentConfig
from boostbench.util.errors import UserError
from boostbench.util.numbers import fixed

_WHITE_SHARE = 0.62  # share of white in the colour of a region
_ROW_LABEL_WIDTH = 0.18  # inches, of the titles of rows
_COLUMN_TITLE_HEIGHT = 0.28  # inches above the panels, with room for a superscript
_MAP_DPI = 300  # then a cell of the map is more than a pixel
_PANEL_GAP = 0.03  # inches between two panels
# Areas of a marker in square points (1/72 inch): on a map, and without one.
_MARKER_AREA_ON_MAP = 2.5
_MARKER_AREA = 5
_BORDER_COLOUR = (0.25, 0.25, 0.25)  # dark grey, as red, green and blue from 0 to 1


class MapPanel(NamedTuple):
    """A panel of a grid of maps.

    Attributes
    ----------
    row, title : str
        Titles of its row (a data set) and of its column.
    record : BoundaryRecord or None
        A boundary record; None where there is none.
    rounds : int or None
        Number of boosting rounds to show, one of the record's ``maps``; None: points alone.
    """

    row: str
    title: str
    record: BoundaryRecord | None
    rounds: int | None


def draw_boundaries(panels: Sequence[MapPanel]) -> Figure:
    """Draw regions of equal prediction, the points in them, and the lines between them.

    Parameters
    ----------
    panels : sequence of MapPanel
        Panels row by row; all rows have the same columns.

    Returns
    -------
    matplotlib.figure.Figure
    """
    rows = list(dict.fromkeys(panel.row for panel in panels))
    n_columns = len(panels) // len(rows)
    side = (PAGE_WIDTH - _ROW_LABEL_WIDTH * (len(rows) > 1)) / n_columns - _PANEL_GAP
    size = {"height": side, "extra_height": _COLUMN_TITLE_HEIGHT, "pad": 0.02}
    with style():
        figure, grid, _ = make_panels(len(panels), n_columns, **size, dpi=_MAP_DPI)
        for index, (axes, panel) in enumerate(zip(grid, panels, strict=True)):
            axes.set(xticks=[], yticks=[], box_aspect=1)
            axes.spines[:].set_visible(True)
            if index < n_columns:
                axes.set_title(label(panel.title), pad=3)
            _draw_map(axes, panel)
            if index % n_columns == 0 and len(rows) > 1:
                axes.set_ylabel(label(panel.row))
    return figure


def _draw_map(axes: Axes, panel: MapPanel) -> None:
    """Draw the regions of a panel, and the points in them."""
    if panel.record is None:
        mark_as_empty(axes)
        return
    extent = panel.record.extent
    axes.set(xlim=extent[:2], ylim=extent[2:])
    has_map = panel.rounds is not None
    if has_map:
        picture = _region_picture(decode(panel.record.maps[str(panel.rounds)]))
        axes.imshow(picture, extent=extent, origin="lower", aspect="auto", interpolation="none")
    points = panel.record.points
    x, y, classes = map(np.array, (points.x, points.y, points.label))
    for class_number in np.unique(classes):
        is_member = classes == class_number
        # Thousands of markers make a small file if they are drawn as pixels.
        axes.scatter(
            x[is_member],
            y[is_member],
            s=_MARKER_AREA_ON_MAP if has_map else _MARKER_AREA,
            c=_class_colour(class_number),
            marker=MARKERS[class_number % len(MARKERS)],
            linewidths=0,
            rasterized=True,
        )


def _region_picture(classes: np.ndarray) -> np.ndarray:
    """Return the picture of a map, with dark cells along the borders of the regions.

    Parameters
    ----------
    classes : ndarray of shape (n_rows, n_columns), dtype=int
        Predicted class of each cell of the map.

    Returns
    -------
    ndarray of shape (n_rows, n_columns, 3)
        Red, green and blue from 0 to 1.
    """
    palette = np.array([to_rgb(_class_colour(number)) for number in range(classes.max() + 1)])
    picture = (_WHITE_SHARE + (1 - _WHITE_SHARE) * palette)[classes]
    border = np.zeros(classes.shape, bool)
    # A border cell has another class above it or to its right.
    border[:-1] |= classes[:-1] != classes[1:]
    border[:, :-1] |= classes[:, :-1] != classes[:, 1:]
    picture[border] = _BORDER_COLOUR
    return picture


def _class_colour(class_number: int) -> str:
    """Return the colour of a class by its position among the classes."""
    return COLOURS[class_number % len(COLOURS)]


_HEADER = ["data", "algorithm", "chosen", "CV error %", "rounds", "training error %"]


class BoundaryColumn(CrossColumn, frozen=True, kw_only=True):
    """Column of a figure of boundaries: an algorithm after a number of boosting rounds.

    Attributes
    ----------
    rounds : int, default=None
        Boosting rounds to show; by default the last of ``protocol.checkpoints``.
    """

    rounds: int | None = None


class Boundaries(CrossFigure, frozen=True, kw_only=True):
    """Figure of decision boundaries, each of one fit on all points of a data set of two features.

    Attributes
    ----------
    columns : list of BoundaryColumn
        The algorithms.
    points : str, default=None
        Heading of a first column with the data alone; None for no such column.
    """

    kind: ClassVar[str] = "boundaries"

    columns: list[BoundaryColumn]
    points: str | None = None

    def draw(self, overrides: list[str]) -> Drawing:
        """Draw the figure: see `FigureDefinition.draw`."""
        cells, configs = self.compose(overrides, "boundary")
        rounds_of_cells = [
            _shown_rounds(column, config)
            for (_, column), config in zip(cells, configs, strict=True)
        ]
        report = execute(configs)
        panels: list[MapPanel] = []
        table_rows, stale = [], []
        for (row, column), config, rounds, outcome in zip(
            cells, configs, rounds_of_cells, report.results, strict=True
        ):
            record = outcome.records[0] if outcome.records else None
            algorithm = config.algorithm.title
            if self.points and column is self.columns[0]:
                panels.append(MapPanel(row, self.points, record, None))
            panels.append(MapPanel(row, column.title or algorithm, record, rounds))
            if outcome.stale:
                stale.append(f"{algorithm} on {row}")
            if record:
                table_rows.append([row, algorithm, *_summary_row(record, rounds)])
        return Drawing(
            draw_boundaries(panels),
            configs[0].results,
            stale_note(stale),
            table_rows,
            _HEADER,
            report.failed,
        )


def _shown_rounds(column: BoundaryColumn, config: ExperimentConfig) -> int:
    """Return the boosting rounds that a column shows; raise an error if no record has them."""
    checkpoints = list(config.protocol.checkpoints)
    rounds = column.rounds or max(checkpoints, default=0)
    if rounds not in checkpoints:
        raise UserError(
            f"the figure shows {rounds} rounds, which protocol.checkpoints={checkpoints} has not"
        )
    n_iterations = config.algorithm.params.get("n_iterations", rounds)
    # The algorithm itself refuses values that are no numbers.
    if isinstance(n_iterations, int) and n_iterations < rounds:
        raise UserError(
            f"the figure shows {rounds} rounds, but algo.n_iterations is {n_iterations}"
        )
    return rounds


def _summary_row(record: BoundaryRecord, shown_rounds: int) -> list[str]:
    """Return the texts below `_HEADER` from ``chosen`` on.

    `shown_rounds` is the number of rounds that the figure shows; a fit may have stopped before it.
    """
    chosen = ", ".join(f"{key}={value}" for key, value in sorted(record.chosen.items()))
    error = record.validation_error
    done_rounds = record.n_iterations
    has_stopped = done_rounds is not None and done_rounds < shown_rounds
    return [
        chosen or "-",
        "-" if error is None else fixed(100 * error, 1),
        f"{done_rounds} (of {shown_rounds})" if has_stopped else str(shown_rounds),
        fixed(100 * record.train_errors[str(shown_rounds)], 1),
    ]


_CLOUD_COLUMNS = 5  # panels in a row
_CLOUD_TITLE_HEIGHT = 0.24  # inches, height of a title
_CLOUD_DPI = 200  # resolution; thousands of points are drawn as pixels
_MAX_CLOUD_MARKER_AREA = 5.0  # square points (1/72 inch), of a marker


def draw_points(datasets: Sequence[Dataset]) -> Figure:
    """Draw the samples of each data set, coloured by class.

    Parameters
    ----------
    datasets : sequence of Dataset
        Data sets of two features; their names are the titles.

    Returns
    -------
    matplotlib.figure.Figure
    """
    # 1) Arrange the samples: a class is a hue, named by its position among the classes.
    n_columns = min(_CLOUD_COLUMNS, len(datasets))
    side = PAGE_WIDTH / n_columns - 0.05  # inches, with a gap between panels
    frame = pd.concat(
        pd.DataFrame(
            {
                "panel": dataset.name,
                "hue": number,
                "x": dataset.X[dataset.y == class_name, 0],
                "y": dataset.X[dataset.y == class_name, 1],
                # The squares of points on a grid touch each other.
                "area": min(_MAX_CLOUD_MARKER_AREA, (72 * side / sqrt(dataset.n_samples)) ** 2),
            }
        )
        for dataset in datasets
        for number, class_name in enumerate(dataset.classes)
    )
    # 2) Draw a square panel for each data set, without ticks.
    figure, grid = draw_panels(
        frame,
        _draw_class,
        panels=[dataset.name for dataset in datasets],
        hues=range(max(dataset.n_classes for dataset in datasets)),
        n_columns=n_columns,
        height=side + _CLOUD_TITLE_HEIGHT,
        legend="none",
        grid_lines=None,
        pad=0.02,
        dpi=_CLOUD_DPI,
    )
    for axes in grid:
        axes.set(xticks=[], yticks=[], box_aspect=1)
        axes.spines[:].set_visible(True)
    return figure


def _draw_class(axes: Axes, data: pd.DataFrame, index: int, n_hues: int) -> None:
    """Draw the samples of a class."""
    axes.scatter(
        data.x,
        data.y,
        s=data.area.iloc[0],
        c=_class_colour(index),
        marker="s",
        linewidths=0,
        rasterized=True,
    )


class PointClouds(FigureDefinition, frozen=True, kw_only=True):
    """Figure of the points of data sets with two features.

    Attributes
    ----------
    rows : list of str
        Names of the data sets.
    """

    kind: ClassVar[str] = "points"

    rows: list[str]

    def draw(self, overrides: list[str]) -> Drawing:
        """Draw the figure: see `FigureDefinition.draw`."""
        configs = [
            compose_experiment(Settings({"data": row}) | parse_overrides(overrides))
            for row in self.rows
        ]
        available = [config for config in configs if first_available_source(config.data)]
        if not available:
            raise UserError(f"none of the data sets of figure {self.name} is at hand")
        datasets = load_each([config.data for config in available])
        absent = [config.data.name for config in configs if config not in available]
        for dataset in datasets:
            if dataset.n_features != 2 or dataset.is_sparse:
                raise UserError(
                    f"figure {self.name} needs 2 dense features, and {dataset.name!r} has "
                    f"{dataset.n_features}; take another data set"
                )
        table_rows = [
            [
                dataset.name,
                str(dataset.n_samples),
                f"{100 * np.mean(dataset.y == dataset.classes[-1]):.1f}",
            ]
            for dataset in datasets
        ]
        header = ["data", "points", "last class %"]
        notes = [f"Not at hand: {', '.join(absent)}."] if absent else []
        return Drawing(draw_points(datasets), configs[0].results, notes, table_rows, header)
