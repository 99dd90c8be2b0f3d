"""Coefficient paths, from the records of `boostbench.fitting.measures.paths`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from matplotlib.figure import Figure

from boostbench.config.overrides import parse_overrides
from boostbench.figures.cross import FitKeys
from boostbench.figures.definition import FigureDefinition
from boostbench.figures.drawing import Drawing, sentence
from boostbench.figures.style import label, line_style, make_panels, put_headline, style

_WAYS = {"exact": "exact", "stage_wise": "stage-wise"}
_ROW_HEIGHT = 1.25  # inches
_LEGEND_COLUMNS = 4


def draw_paths(record: Mapping, classes: Sequence[str], names: Sequence[str]) -> Figure:
    """Draw the coefficients of each class in a panel: a row for each loss and way, as in the paper.

    Parameters
    ----------
    record : mapping
        A record of coefficient paths.
    classes : sequence of str
        Headings of the classes.
    names : sequence of str
        Of the features of the data set; those without a name have their number.

    Returns
    -------
    matplotlib.figure.Figure
    """
    rows = [
        (f"{title}\n{loss}", path[way])
        for loss, path in record["paths"].items()
        for way, title in _WAYS.items()
    ]
    norms = [0.0, *record["norms"]]
    with style():
        n_panels = len(rows) * len(classes)
        size = {"height": _ROW_HEIGHT, "extra_height": 0.8, "pad": 0.03}
        figure, panels, _ = make_panels(n_panels, len(classes), **size, sharex=True, sharey=True)
        grid = np.reshape(panels, (len(rows), len(classes)))
        for row, (title, path) in zip(grid, rows, strict=True):
            # All coefficients are 0 at first: (norm, class, stump).
            coefficients = np.insert(np.array(path), 0, 0.0, axis=0)
            for axes, stumps in zip(row, coefficients.transpose(1, 2, 0), strict=True):
                for stump, values in enumerate(stumps):
                    axes.plot(norms, values, **line_style(stump))
                axes.grid(axis="y")
            row[0].set_ylabel(title)
        for axes, heading in zip(grid[0], classes, strict=True):
            axes.set_title(label(heading), pad=3)
        grid[0, 0].set(xlim=(0, norms[-1]), ylim=(0, None))
        figure.supxlabel("L1 norm of all coefficients", fontsize="medium")
        figure.supylabel("coefficient", fontsize="medium")
        lines = grid[0, 0].lines
        for drawn, stump in zip(lines, record["stumps"], strict=True):
            drawn.set_label(label(_called(stump, names)))
        put_headline(figure, message(record), lines, _LEGEND_COLUMNS)
    return figure


def message(record: Mapping) -> str:
    """Return a sentence on the distance of tiny steps from the exact path.

    Parameters
    ----------
    record : mapping
        As of `draw_paths`.

    Returns
    -------
    str
    """
    most = max(_apart(record, loss).max() for loss in record["paths"])
    return f"Tiny steps stay within {most:.1f} % of the L1 norm of the exact path"


def _apart(record: Mapping, loss: str) -> np.ndarray:
    """Return how far the two paths are from each other, in percent of the norm."""
    exact, steps = (np.array(record["paths"][loss][way]) for way in _WAYS)
    return 100 * np.abs(exact - steps).sum(axis=(1, 2)) / record["norms"]


def _called(stump: Mapping, names: Sequence[str]) -> str:
    name = names[stump["feature"]]
    feature = f"feature {name}" if name.isdigit() else name
    return f"{feature} > {stump['threshold']:.2f}"


_HEADER = ["loss", "L1 norm", "largest coefficient", "difference, % of the norm"]
# Number of norms at which the page gives the distance of the paths.
_SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class PathCurves(FitKeys, FigureDefinition):
    """Coefficients of a few stumps, exact and by tiny steps.

    Attributes
    ----------
    classes : dict of int to str
        Headings by the labels of the classes that are taken.
    """

    kind: ClassVar[str] = "paths"

    classes: dict[int, str]

    def draw(self, overrides: list[str]) -> Drawing:
        """Draw it: see `FigureDefinition.draw`."""
        chosen = {"data.classes": list(self.classes)} | self.overrides | parse_overrides(overrides)
        spec = self.compose(chosen, "paths")
        dataset, record, notes = self.fit(spec, "coefficient paths")
        return Drawing(
            draw_paths(record, list(self.classes.values()), dataset.feature_names),
            spec.results,
            [*sentence(message(record)), *notes],
            _facts(record),
            _HEADER,
        )


def _facts(record: Mapping) -> list[list[str]]:
    """Return the distance of the two paths at several norms."""
    norms = np.array(record["norms"])
    shown = np.arange(len(norms), 0, -len(norms) // _SHOWN)[::-1] - 1
    facts = []
    for loss, path in record["paths"].items():
        exact = np.array(path["exact"])
        apart = _apart(record, loss)
        facts += [
            [loss, f"{norms[i]:g}", f"{exact[i].max():.2f}", f"{apart[i]:.1f}"] for i in shown
        ]
    return facts
