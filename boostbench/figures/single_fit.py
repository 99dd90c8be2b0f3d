"""Figures of one fit: codewords in the plane before and after training, and coefficient paths."""

from collections.abc import Sequence
from math import ceil, prod
from typing import ClassVar, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from boostbench.config.compose import check_option
from boostbench.config.overrides import parse_overrides
from boostbench.data.dataset import Dataset
from boostbench.data.loading import load
from boostbench.figures.definition import Drawing, headline_note
from boostbench.figures.sources import FitFigure
from boostbench.figures.style import COLOURS, label, line_style, make_panels, put_headline, style
from boostbench.fitting.measures.fitted_model import PathsRecord, PathStump
from boostbench.fitting.quantities import TEST_ERROR
from boostbench.util import configs
from boostbench.util.errors import UserError
from boostbench.util.numbers import fixed
from boostbench.util.terminal import spinner

_HEIGHT = 3.9  # inches
# Lengths are in units of the radius of the circle that the codewords end on.
_SIDE = 0.27  # side of a picture
_GAP = 0.02  # smallest gap between two pictures
_STEP = 0.05  # a picture is moved outwards in such steps until it overlaps no other


class CodewordPanel(NamedTuple):
    """Codewords of length 1, an array of shape (n_classes, 2), under a heading."""

    title: str
    codewords: np.ndarray


def draw_codewords(panels: Sequence[CodewordPanel], pictures: Sequence[np.ndarray]) -> Figure:
    """Draw codewords as rays, each with the picture of its class behind its end.

    Parameters
    ----------
    panels : sequence of CodewordPanel
        Panels side by side.
    pictures : sequence of ndarray of shape (height, width)
        Gray pictures, one for each class.

    Returns
    -------
    matplotlib.figure.Figure
    """
    centres = [picture_centres(panel.codewords) for panel in panels]
    # All panels have one scale, by the outermost picture.
    limit = _SIDE / 2 + _GAP + np.abs(centres).max()
    with style():
        figure, grid, _ = make_panels(len(panels), len(panels), _HEIGHT)
        for axes, panel, panel_centres in zip(grid, panels, centres, strict=True):
            axes.set_title(label(panel.title), pad=3)
            _draw_codewords(axes, panel.codewords, panel_centres, pictures)
            axes.set(xlim=(-limit, limit), ylim=(-limit, limit), aspect="equal")
            axes.set_axis_off()
    return figure


def picture_centres(codewords: np.ndarray) -> np.ndarray:
    """Return positions of pictures on the rays of their codewords, without overlaps.

    Each picture is as near to the circle as the pictures before it allow.

    Parameters
    ----------
    codewords : ndarray of shape (n_classes, 2)
        Vectors of length 1.

    Returns
    -------
    ndarray of shape (n_classes, 2)
        Centres of the pictures.
    """
    centres: list[np.ndarray] = []
    for codeword in codewords:
        # A corner is 0.71 sides from the centre, so that no corner is inside the circle.
        radius = 1 + _SIDE * 0.75
        # Squares overlap if their centres are nearer than a side in both coordinates.
        while any(np.abs(radius * codeword - other).max() < _SIDE + _GAP for other in centres):
            radius += _STEP
        centres.append(radius * codeword)
    return np.array(centres)


def _draw_codewords(
    axes: Axes, codewords: np.ndarray, centres: np.ndarray, pictures: Sequence[np.ndarray]
) -> None:
    """Draw the circle, and each codeword with a ray to the centre of its picture."""
    angles = np.linspace(0, 2 * np.pi, 200)
    axes.plot(np.cos(angles), np.sin(angles), color="#dddddd", linewidth=0.8)
    for codeword, centre, picture in zip(codewords, centres, pictures, strict=True):
        axes.plot(*zip([0, 0], centre, strict=True), color="#bbbbbb", linewidth=0.5, zorder=1)
        axes.plot(*zip([0, 0], codeword, strict=True), color=COLOURS[0], linewidth=0.8, zorder=2)
        x, y = centre
        half_side = _SIDE / 2
        extent = (x - half_side, x + half_side, y - half_side, y + half_side)
        axes.imshow(picture, cmap="gray", extent=extent, zorder=3)


class CodewordPictures(FitFigure, frozen=True, kw_only=True):
    """Figure of two-dimensional codewords before and after the training on the first split.

    Attributes
    ----------
    images : str
        Name of the data set of pictures, which has the same rows as `data`.
    shape : list of int
        Height and width of a picture.
    """

    kind: ClassVar[str] = "codewords"

    images: str
    shape: list[int]

    def draw(self, overrides: list[str]) -> Drawing:
        """Draw the figure: see `FigureDefinition.draw`."""
        # The user may override all settings but the number of splits.
        settings = self.overrides | parse_overrides(overrides) | {"protocol.n_splits": 1}
        config = self.compose(settings, "codewords")
        pictures = self._pictures(config.data.classes)
        _, record, notes = self.fit(config, "codewords")
        first, last = map(np.array, (record.first, record.last))
        if first.shape[1] != 2 or len(first) != len(pictures):
            raise UserError(
                f"figure {self.name} needs codewords of 2 dimensions and a picture for each class; "
                f"there are {first.shape} codewords and {len(pictures)} pictures"
            )
        title = config.algorithm.title
        panels = [CodewordPanel("at first", first), CodewordPanel(f"learned by {title}", last)]
        return Drawing(
            draw_codewords(panels, pictures),
            config.results,
            notes,
            [[title, str(record.n_iterations), fixed(TEST_ERROR.number(record), 1)]],
            ["algorithm", "rounds", "test error %"],
        )

    def _pictures(self, classes: int | list | None) -> list[np.ndarray]:
        """Load the images of some classes, and choose one of each."""
        check_option("data", self.images, configs.list_options("data"))
        with spinner("loading data"):
            images = load(configs.read_option("data", self.images) | {"classes": classes})
        sides = self.shape
        if len(sides) != 2 or min(sides) < 1 or prod(sides) != images.n_features:
            raise UserError(
                f"figure {self.name}: shape is {sides}; it must be height and width of a picture, "
                f"which has {images.n_features} pixels in {self.images}"
            )
        return typical_pictures(images, sides)


def typical_pictures(images: Dataset, shape: Sequence[int]) -> list[np.ndarray]:
    """Return the picture of each class that correlates most with the mean picture of the class.

    Parameters
    ----------
    images : Dataset
        Pictures as rows of pixels.
    shape : sequence of int
        Height and width.

    Returns
    -------
    list of ndarray of shape (height, width)
    """
    typical = []
    for class_name in images.classes:
        members = images.X[images.y == class_name]
        # Scale the pictures to mean 0 and length 1, so that a product is a correlation. The small
        # number keeps a constant picture at 0.
        scaled = members - members.mean(axis=1, keepdims=True)
        scaled /= np.linalg.norm(scaled, axis=1, keepdims=True) + 1e-12
        typical.append(members[(scaled @ scaled.mean(axis=0)).argmax()].reshape(shape))
    return typical


# Titles of the two solutions in a record: the exact path, and tiny steps of stage-wise boosting.
_SOLUTIONS = {"exact": "exact", "stage_wise": "stage-wise"}
_ROW_HEIGHT = 1.25  # inches
_LEGEND_COLUMNS = 4


def draw_paths(record: PathsRecord, classes: Sequence[str], names: Sequence[str]) -> Figure:
    """Draw the coefficients of each class in a panel, with a row for each loss and solution.

    Parameters
    ----------
    record : PathsRecord
        A record of coefficient paths.
    classes : sequence of str
        Headings of the classes.
    names : sequence of str
        Names of the features; the name of an unnamed feature is its number.

    Returns
    -------
    matplotlib.figure.Figure
    """
    # 1) Collect the rows: title, and coefficients of shape (n_norms, n_classes, n_stumps).
    rows = [
        (f"{title}\n{loss}", getattr(path, solution))
        for loss, path in record.paths.items()
        for solution, title in _SOLUTIONS.items()
    ]
    norms = [0.0, *record.norms]
    # 2) Draw a line for each stump in each panel.
    with style():
        n_panels = len(rows) * len(classes)
        size = {"height": _ROW_HEIGHT, "extra_height": 0.8, "pad": 0.03}
        figure, panels, _ = make_panels(n_panels, len(classes), **size, sharex=True, sharey=True)
        grid = np.reshape(panels, (len(rows), len(classes)))
        for row, (title, path) in zip(grid, rows, strict=True):
            # All coefficients are 0 at first, where the norm is 0.
            coefficients = np.insert(np.array(path), 0, 0.0, axis=0)
            for axes, stumps in zip(row, coefficients.transpose(1, 2, 0), strict=True):
                for stump, values in enumerate(stumps):
                    axes.plot(norms, values, **line_style(stump))
                axes.grid(axis="y")
            row[0].set_ylabel(title)
        # 3) Write the headings and the legend; all panels draw the stumps in one order.
        for axes, heading in zip(grid[0], classes, strict=True):
            axes.set_title(label(heading), pad=3)
        grid[0, 0].set(xlim=(0, norms[-1]), ylim=(0, None))
        figure.supxlabel("L1 norm of all coefficients", fontsize="medium")
        figure.supylabel("coefficient", fontsize="medium")
        lines = grid[0, 0].lines
        for drawn, stump in zip(lines, record.stumps, strict=True):
            drawn.set_label(label(_stump_label(stump, names)))
        put_headline(figure, paths_headline(record), lines, _LEGEND_COLUMNS)
    return figure


def paths_headline(record: PathsRecord) -> str:
    """Return a sentence on the distance of tiny steps from the exact path.

    Parameters
    ----------
    record : PathsRecord
        A record of coefficient paths.

    Returns
    -------
    str
    """
    largest = max(_path_distances(record, loss).max() for loss in record.paths)
    return f"Tiny steps stay within {largest:.1f} % of the L1 norm of the exact path"


def _path_distances(record: PathsRecord, loss: str) -> np.ndarray:
    """Return the L1 distance of the two paths at each norm, in percent of the norm."""
    # Both paths have the shape (n_norms, n_classes, n_stumps).
    exact, steps = (np.array(getattr(record.paths[loss], solution)) for solution in _SOLUTIONS)
    return 100 * np.abs(exact - steps).sum(axis=(1, 2)) / record.norms


def _stump_label(stump: PathStump, names: Sequence[str]) -> str:
    """Return the label of a stump, ``"age > 30.00"``."""
    name = names[stump.feature]
    feature = f"feature {name}" if name.isdigit() else name
    return f"{feature} > {stump.threshold:.2f}"


_HEADER = ["loss", "L1 norm", "largest coefficient", "difference, % of the norm"]
# Number of norms at which the page states the distance of the paths.
_N_SHOWN = 5


class PathCurves(FitFigure, frozen=True, kw_only=True):
    """Figure of the coefficients of a few stumps, exact and by tiny steps.

    Attributes
    ----------
    classes : dict of int to str
        Headings by the labels of the classes; samples of other classes are left out.
    """

    kind: ClassVar[str] = "paths"

    classes: dict[int, str]

    def draw(self, overrides: list[str]) -> Drawing:
        """Draw the figure: see `FigureDefinition.draw`."""
        # The user may override the classes, too.
        settings = (
            {"data.classes": list(self.classes)} | self.overrides | parse_overrides(overrides)
        )
        config = self.compose(settings, "paths")
        dataset, record, notes = self.fit(config, "coefficient paths")
        return Drawing(
            draw_paths(record, list(self.classes.values()), dataset.feature_names),
            config.results,
            [*headline_note(paths_headline(record)), *notes],
            _summary_rows(record),
            _HEADER,
        )


def _summary_rows(record: PathsRecord) -> list[list[str]]:
    """Return the distance of the two paths at several norms."""
    norms = np.array(record.norms)
    # Evenly spaced positions, which end with the last norm.
    step = ceil(len(norms) / _N_SHOWN)
    shown = sorted(range(len(norms) - 1, -1, -step))
    table_rows = []
    for loss, path in record.paths.items():
        exact = np.array(path.exact)
        distances = _path_distances(record, loss)
        table_rows += [
            [loss, f"{norms[i]:g}", f"{exact[i].max():.2f}", f"{distances[i]:.1f}"] for i in shown
        ]
    return table_rows
