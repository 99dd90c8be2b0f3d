"""Data sets of two features, as they are."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from boostbench.config.compose import experiment
from boostbench.config.overrides import settings
from boostbench.data.dataset import Dataset
from boostbench.data.loading import load_each
from boostbench.data.sources.lookup import first_available_source
from boostbench.figures.definition import FigureDefinition
from boostbench.figures.drawing import Drawing
from boostbench.figures.style import COLOURS, PAGE_WIDTH, label, make_panels, style
from boostbench.util.errors import UserError

_COLUMNS = 5
_TITLE = 0.24  # inches
_DPI = 200
_LARGEST = 5.0  # square points of a marker


def draw_points(datasets: Mapping[str, Dataset]) -> Figure:
    """Draw the samples of each data set, coloured by class.

    Parameters
    ----------
    datasets : mapping of str to Dataset
        By title, each with two features.

    Returns
    -------
    matplotlib.figure.Figure
    """
    n_columns = min(_COLUMNS, len(datasets))
    side = PAGE_WIDTH / n_columns - 0.05
    with style():
        figure, grid, _ = make_panels(len(datasets), n_columns, side + _TITLE, dpi=_DPI, pad=0.02)
        for axes, (title, dataset) in zip(grid, datasets.items(), strict=True):
            axes.set(xticks=[], yticks=[], box_aspect=1)
            axes.set_title(label(title), pad=3)
            axes.spines[:].set_visible(True)
            # Points of a grid touch each other: squares, as wide as the step.
            step = 72 * side / sqrt(dataset.n_samples)
            for index, own in enumerate(dataset.classes):
                axes.scatter(
                    *dataset.X[dataset.y == own].T,
                    s=min(_LARGEST, step**2),
                    c=COLOURS[index % len(COLOURS)],
                    marker="s",
                    linewidths=0,
                    rasterized=True,
                )
    return figure


@dataclass(frozen=True, kw_only=True)
class PointClouds(FigureDefinition):
    """Data sets of two features.

    Attributes
    ----------
    rows : list of str
        Their names.
    """

    rows: list[str]

    def draw(self, overrides: list[str]) -> Drawing:
        """Draw it: see `FigureDefinition.draw`."""
        specs = [experiment({"data": row} | settings(overrides)) for row in self.rows]
        at_hand = [spec for spec in specs if first_available_source(spec["data"])]
        if not at_hand:
            raise UserError(f"none of the data sets of figure {self.name} is at hand")
        loaded = load_each([spec["data"] for spec in at_hand])
        datasets = {dataset.name: dataset for dataset in loaded}
        absent = [spec["data"]["name"] for spec in specs if spec not in at_hand]
        for name, dataset in datasets.items():
            if dataset.n_features != 2 or dataset.is_sparse:
                raise UserError(
                    f"figure {self.name} needs 2 dense features, and {name!r} has "
                    f"{dataset.n_features}; take another data set"
                )
        facts = [
            [name, str(d.n_samples), *(f"{100 * np.mean(d.y == c):.1f}" for c in d.classes[-1:])]
            for name, d in datasets.items()
        ]
        header = ["data", "points", "last class %"]
        notes = [f"Not at hand: {', '.join(absent)}."] if absent else []
        return Drawing(draw_points(datasets), Path(specs[0]["results"]), notes, facts, header)
