"""Codewords in the plane before and after training, with a picture of each class."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from boostbench.config.compose import check_option
from boostbench.config.overrides import parse_overrides
from boostbench.data.dataset import Dataset
from boostbench.data.loading import load
from boostbench.figures.cross import FitKeys
from boostbench.figures.definition import FigureDefinition
from boostbench.figures.drawing import Drawing
from boostbench.figures.style import COLOURS, label, make_panels, style
from boostbench.fitting.quantities import TEST_ERROR
from boostbench.util import configs
from boostbench.util.errors import UserError
from boostbench.util.numbers import fixed
from boostbench.util.spinner import spinner

_HEIGHT = 3.9  # inches
# Side of a picture and gap between two pictures, in units of the radius of the circle.
_SIDE, _GAP = 0.27, 0.02
_STEP = 0.05


def draw_codewords(panels: Mapping[str, np.ndarray], pictures: Sequence[np.ndarray]) -> Figure:
    """Draw codewords as rays, each with the picture of its class behind its end.

    Parameters
    ----------
    panels : mapping of str to ndarray of shape (n_classes, 2)
        Codewords of length 1 by the title of a panel.
    pictures : sequence of ndarray of shape (height, width)
        Gray, one for each class.

    Returns
    -------
    matplotlib.figure.Figure
    """
    with style():
        figure, grid, _ = make_panels(len(panels), len(panels), _HEIGHT)
        placed = {title: places(codewords) for title, codewords in panels.items()}
        reach = _SIDE / 2 + _GAP + max(np.abs(centres).max() for centres in placed.values())
        for axes, (title, codewords) in zip(grid, panels.items(), strict=True):
            axes.set_title(label(title), pad=3)
            _draw(axes, codewords, placed[title], pictures)
            axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
            axes.set_axis_off()
    return figure


def places(codewords: np.ndarray) -> np.ndarray:
    """Find places for pictures: on the rays of codewords, as near as they do not overlap.

    Parameters
    ----------
    codewords : ndarray of shape (n_classes, 2)
        Of length 1.

    Returns
    -------
    ndarray of shape (n_classes, 2)
        Centres of the pictures.
    """
    taken: list[np.ndarray] = []
    for codeword in codewords:
        radius = 1 + _SIDE * 0.75
        while any(np.abs(radius * codeword - other).max() < _SIDE + _GAP for other in taken):
            radius += _STEP
        taken.append(radius * codeword)
    return np.array(taken)


def _draw(
    axes: Axes, codewords: np.ndarray, centres: np.ndarray, pictures: Sequence[np.ndarray]
) -> None:
    turn = np.linspace(0, 2 * np.pi, 200)
    axes.plot(np.cos(turn), np.sin(turn), color="#dddddd", linewidth=0.8)
    for codeword, centre, picture in zip(codewords, centres, pictures, strict=True):
        axes.plot(*zip([0, 0], centre, strict=True), color="#bbbbbb", linewidth=0.5, zorder=1)
        axes.plot(*zip([0, 0], codeword, strict=True), color=COLOURS[0], linewidth=0.8, zorder=2)
        (x, y), half = centre, _SIDE / 2
        extent = (x - half, x + half, y - half, y + half)
        axes.imshow(picture, cmap="gray", extent=extent, zorder=3)


@dataclass(frozen=True, kw_only=True)
class CodewordPictures(FitKeys, FigureDefinition):
    """Codewords in the plane before and after the training, of the first split.

    The algorithm has codewords of two dimensions.

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
        """Draw it: see `FigureDefinition.draw`."""
        chosen = self.overrides | parse_overrides(overrides) | {"protocol.n_splits": 1}
        spec = self.compose(chosen, "codewords")
        pictures = self._pictures(spec.data.classes)
        _, record, notes = self.fit(spec, "codewords")
        first, last = (np.array(record[key]) for key in ("first", "last"))
        if first.shape[1] != 2 or len(first) != len(pictures):
            raise UserError(
                f"figure {self.name} needs codewords of 2 dimensions and a picture for each class; "
                f"there are {first.shape} codewords and {len(pictures)} pictures"
            )
        title = spec.algorithm.title
        return Drawing(
            draw_codewords({"at first": first, f"learned by {title}": last}, pictures),
            spec.results,
            notes,
            [[title, str(record["n_iterations"]), fixed(TEST_ERROR.of(record), 1)]],
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
        return _typical(images, sides)


def _typical(images: Dataset, shape: Sequence[int]) -> list[np.ndarray]:
    """Choose the picture of each class that is nearest to the mean of them, at equal contrast."""
    chosen = []
    for class_name in images.classes:
        members = images.X[images.y == class_name]
        even = members - members.mean(axis=1, keepdims=True)
        even /= np.linalg.norm(even, axis=1, keepdims=True) + 1e-12
        chosen.append(members[(even @ even.mean(axis=0)).argmax()].reshape(shape))
    return chosen
