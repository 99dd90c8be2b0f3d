"""Decision boundaries, from the records of `boostbench.experiment.measures.boundary`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from boostbench.experiment.measures.boundary import decode
from boostbench.report.figures.style import COLOURS, MARKERS, PAGE_WIDTH, label, style

_TINT = 0.62  # part of white in the colour of a region
_LABEL = 0.18  # inches for a line of text
_DPI = 300  # a cell of the map is more than a pixel
_LINE = (0.25, 0.25, 0.25)


@dataclass(frozen=True)
class Panel:
    """One picture of a figure.

    Attributes
    ----------
    title : str
        Heading of its column.
    record : dict or None
        A boundary record; None where there is none.
    rounds : int or None
        Boosting rounds to show, one of the record's ``maps``; None shows the points alone.
    """

    title: str
    record: Mapping | None
    rounds: int | None


def draw_boundaries(rows: Mapping[str, Sequence[Panel]]) -> Figure:
    """Draw regions of equal prediction, the points in them, and the lines between them.

    Parameters
    ----------
    rows : mapping of str to sequence of Panel
        Panels by the title of their row, equally many in each.

    Returns
    -------
    matplotlib.figure.Figure
    """
    n_columns = len(next(iter(rows.values())))
    side = (PAGE_WIDTH - _LABEL * (len(rows) > 1)) / n_columns - 0.03
    size = (PAGE_WIDTH, side * len(rows) + _LABEL)
    with style():
        figure = Figure(figsize=size, dpi=_DPI, layout="constrained")
        figure.get_layout_engine().set(w_pad=0.02, h_pad=0.02, wspace=0.02, hspace=0.02)
        grid = figure.subplots(len(rows), n_columns, squeeze=False)
        for row, (title, panels) in enumerate(rows.items()):
            for axes, panel in zip(grid[row], panels, strict=True):
                axes.set(xticks=[], yticks=[], box_aspect=1)
                axes.spines[:].set_visible(True)
                if row == 0:
                    axes.set_title(label(panel.title), pad=3)
                _draw(axes, panel)
            if len(rows) > 1:
                grid[row, 0].set_ylabel(title)
    return figure


def _draw(axes: Axes, panel: Panel) -> None:
    if panel.record is None:
        axes.text(0.5, 0.5, "no record", ha="center", va="center", transform=axes.transAxes)
        return
    extent = panel.record["extent"]
    axes.set(xlim=extent[:2], ylim=extent[2:])
    alone = panel.rounds is None
    if not alone:
        picture = _picture(decode(panel.record["maps"][str(panel.rounds)]))
        axes.imshow(picture, extent=extent, origin="lower", aspect="auto", interpolation="none")
    points = panel.record["points"]
    x, y, classes = (np.array(points[name]) for name in ("x", "y", "label"))
    for number in np.unique(classes):
        own = classes == number
        # Thousands of markers: as pixels they make a small file.
        axes.scatter(
            x[own],
            y[own],
            s=5 if alone else 2.5,
            c=_colour(number),
            marker=MARKERS[number % len(MARKERS)],
            linewidths=0,
            rasterized=True,
        )


def _picture(classes: np.ndarray) -> np.ndarray:
    """Colour the cells, and darken those beside a cell of another class."""
    palette = np.array([to_rgb(_colour(number)) for number in range(classes.max() + 1)])
    picture = (_TINT + (1 - _TINT) * palette)[classes]
    border = np.zeros(classes.shape, bool)
    border[:-1] |= classes[:-1] != classes[1:]
    border[:, :-1] |= classes[:, :-1] != classes[:, 1:]
    picture[border] = _LINE
    return picture


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]
