"""Plots of a sum of stumps: shape functions of the features, and heat maps of pairs of features.

The displays draw with matplotlib. `visible_steps` and `heat_map_data` compute the same drawings for
the HTML page, whose template draws them as SVG.
"""

from numbers import Integral
from textwrap import wrap
from typing import NamedTuple

import numpy as np

from boostbench.algorithms.explanation.stump_sums import require_stump_sum, shortest_decimals
from boostbench.inspection.displays import (
    contribution_axis_label,
    make_axes_grid,
    most_important_features,
)

# Width and height of a plot and of a heat map, in inches.
_PLOT_SIZE = (3.2, 2.6)
_HEAT_MAP_SIZE = (3.6, 3.0)

# Maximum number of tick labels of an axis of a heat map.
_MAX_LABELS = 8

# The same for the horizontal and the vertical axis of the small heat maps of the HTML page.
_MAX_SVG_LABELS = (3, 4)

# Edges of the plot area of a heat map in units of the SVG view box, whose zero is at the top left.
_LEFT = 80
_RIGHT = 320
_TOP = 8
_BOTTOM = 190

# Width of the view box, and of a letter of a tick label.
_WIDTH = 340
_LETTER_WIDTH = 6.5

# Letters in a line of a category label: more do not fit beside the plot area.
_LINE_LENGTH = 13

# A feature of whole numbers with more distinct values than this is labelled at its thresholds.
_MAX_VALUES = 10


class VisibleSteps(NamedTuple):
    """Steps of a shape function within the range of samples.

    Attributes
    ----------
    edges : ndarray of shape (n_steps + 1,)
        Values of the feature between which the function is constant, ascending.
    values : ndarray of shape (n_steps, n_outputs)
        Contribution to each score on each step.
    stds : ndarray of shape (n_steps, n_outputs) or None
        Standard deviations of the contributions; None if they are not known.
    deciles : ndarray of shape (9,)
        Deciles of the values that are not missing.
    """

    edges: np.ndarray
    values: np.ndarray
    stds: np.ndarray | None
    deciles: np.ndarray


def visible_steps(term, X):
    """Return the steps of a shape function within the range of samples.

    Parameters
    ----------
    term : boostbench.algorithms.explanation.terms.Term
        Term (shape function) of a numeric feature.
    X : ndarray of shape (n_samples, n_features)
        Samples, with NaN for missing values.

    Returns
    -------
    VisibleSteps
    """
    # A feature without any value is drawn at 0.
    present = X[:, term.feature]
    present = present[~np.isnan(present)] if not np.isnan(present).all() else np.zeros(1)
    low, high = present.min(), present.max()
    edges, values = term.steps(low, high)
    stds = None if term.std is None else term._replace(table=term.std).steps(low, high)[1]
    return VisibleSteps(edges, values, stds, np.quantile(present, np.arange(1, 10) / 10))


class ShapeFunctionDisplay:
    """Plots of the shape functions of the most important features, one per feature.

    Use `from_estimator` to create it. A curve shows the contribution of the feature to the score of
    a class (for two classes, of the second one) or to the prediction of a regressor. Ticks at the
    bottom mark the deciles of the samples, a diamond the contribution of a missing value, and
    categories are bars. The band around a function of a bag is two standard deviations wide on each
    side.

    Parameters
    ----------
    shapes : boostbench.algorithms.explanation.shape_functions.ShapeFunctions
        Shape functions of the model.
    X : ndarray of shape (n_samples, n_features)
        Encoded samples, which determine the drawn range and the deciles.

    Attributes
    ----------
    axes_ : list of matplotlib.axes.Axes
        Axes of the plots, in the order of importance.
    bands_ : list of list of matplotlib.patches.StepPatch
        Bands of the curves, for each of `axes_`; empty for categories, whose bars have error bars,
        and for models without standard deviations.
    lines_ : list of list of matplotlib.patches.StepPatch
        Curve of each class, for each of `axes_`; a `matplotlib.container.BarContainer` for a
        categorical feature.
    figure_ : matplotlib.figure.Figure
        Figure of the plots.
    """

    def __init__(self, *, shapes, X):
        self.shapes = shapes
        self.X = X

    @classmethod
    def from_estimator(cls, estimator, X, *, features=6, n_columns=3, n_stds=2.0):
        """Draw the shape functions of a fitted model.

        Parameters
        ----------
        estimator : BoostingClassifier or BoostingRegressor
            Fitted model, a sum of stumps.
        X : array-like of shape (n_samples, n_features)
            Samples over which each function is centred to the mean 0, such as the training data.
        features : int, str or list of int or str, default=6
            Maximum number of features, by decreasing importance; or the indices or names of the
            features.
        n_columns : int, default=3
            Maximum number of plots per row.
        n_stds : float, default=2.0
            Half the width of the bands, in standard deviations; 0: no bands.

        Returns
        -------
        ShapeFunctionDisplay

        Raises
        ------
        ValueError
            If the estimator is not a sum of stumps, a feature does not exist, or `features` is
            negative.
        """
        require_stump_sum(estimator)
        shapes = estimator.shape_functions(X)
        display = cls(shapes=shapes, X=shapes.numbers(X))
        return display.plot(features=features, n_columns=n_columns, n_stds=n_stds)

    def plot(self, *, features=6, n_columns=3, n_stds=2.0):
        """Draw the plots; see `from_estimator` for the parameters.

        Returns
        -------
        self
        """
        indices = self._select_features(features)
        self.figure_, grid, self.axes_ = make_axes_grid(
            len(indices), n_columns, *_PLOT_SIZE, sharey=True
        )
        self.lines_, self.bands_ = [], []
        for ax, feature in zip(self.axes_, indices, strict=True):
            curves, bands = self._draw(ax, feature, n_stds)
            self.lines_.append(curves)
            self.bands_.append(bands)
        for row in grid:
            row[0].set_ylabel(contribution_axis_label(self.shapes))
        if self.axes_ and len(self.shapes.outputs) > 1:
            labels = [str(label) for label in self.shapes.outputs]
            self.figure_.legend(
                self.lines_[0], labels, loc="outside upper center", ncols=len(labels)
            )
        return self

    def _select_features(self, features):
        """Return the indices of the features to draw; see `from_estimator`."""
        if isinstance(features, Integral):
            return most_important_features(self.shapes.importances, features)
        features = [features] if isinstance(features, str) else features
        return [self.shapes.feature_index(feature) for feature in features]

    def _draw(self, ax, feature, n_stds):
        """Draw the function of a feature.

        Parameters
        ----------
        ax : matplotlib.axes.Axes
        feature : int
            Index of the feature.
        n_stds : float
            Half the width of the bands, in standard deviations.

        Returns
        -------
        curves, bands : list
            Curves or bars, and bands, one for each score; see `lines_` and `bands_`.
        """
        # 1) Draw bars for categories, curves and bands for numbers.
        term = self.shapes.term(feature)
        ax.axhline(0.0, color="0.7", linewidth=0.8, zorder=0)
        ax.set_xlabel(str(self.shapes.feature_names[feature]))
        half_widths = None if term.std is None or not n_stds else n_stds * term.std
        if term.categories is not None:
            return _draw_bars(ax, term, half_widths), []
        steps = visible_steps(term, self.X)
        curves = [
            ax.stairs(column, steps.edges, baseline=None, color=f"C{index % 10}", linewidth=1.5)
            for index, column in enumerate(steps.values.T)
        ]
        bands = []
        if half_widths is not None:
            step_half_widths = n_stds * steps.stds
            low, high = (steps.values - step_half_widths).T, (steps.values + step_half_widths).T
            bands = [
                ax.stairs(
                    top,
                    steps.edges,
                    baseline=bottom,
                    fill=True,
                    color=f"C{index % 10}",
                    alpha=0.2,
                    linewidth=0,
                )
                for index, (bottom, top) in enumerate(zip(low, high, strict=True))
            ]
        # 2) Mark the deciles of the samples, and the contribution of missing values.
        ax.vlines(
            steps.deciles, 0, 0.04, transform=ax.get_xaxis_transform(), color="k", linewidth=0.8
        )
        if term.has_missing:
            missing_x = steps.edges[-1] + 0.1 * (np.ptp(steps.edges) or 1.0)
            for index, value in enumerate(term.missing):
                half_width = None if half_widths is None else half_widths[-1, index]
                style = {"color": f"C{index % 10}", "markersize": 4, "elinewidth": 0.8}
                ax.errorbar(missing_x, value, half_width, fmt="D", **style)
            ax.annotate(
                "missing",
                (missing_x, 0),
                xycoords=("data", "axes fraction"),
                rotation=90,
                xytext=(0, 6),
                textcoords="offset points",
                ha="center",
                fontsize="x-small",
            )
        return curves, bands


def _draw_bars(ax, term, half_widths):
    """Draw a bar for each category, and one for missing values if the training data had some.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    term : boostbench.algorithms.explanation.terms.Term
        Term of a categorical feature.
    half_widths : ndarray of shape (n_categories + 1, n_outputs) or None
        Half the lengths of the error bars; None: no error bars.

    Returns
    -------
    list of matplotlib.container.BarContainer
        Bars of each score. The bars of a category stand side by side.
    """
    names = [str(category) for category in term.categories]
    table = term.values
    if term.has_missing:
        names, table = [*names, "missing"], term.table
    width = 0.8 / table.shape[1]
    positions = np.arange(len(names))
    bars = [
        ax.bar(
            positions + (index + 0.5) * width - 0.4,
            column,
            width,
            yerr=None if half_widths is None else half_widths[: len(table), index],
            error_kw={"elinewidth": 0.8},
            color=f"C{index % 10}",
        )
        for index, column in enumerate(table.T)
    ]
    ax.set_xticks(
        positions, names, rotation=90 if max(map(len, names)) > 4 else 0, fontsize="small"
    )
    return bars


class PairDisplay:
    """Heat maps of the tables of pairs of features, one per pair.

    Use `from_estimator` to create it. The value of a cell is added to the score of a class (for two
    classes, of the second one) or to the prediction of a regressor, on top of the contributions of
    the single features, which `ShapeFunctionDisplay` shows.

    Parameters
    ----------
    shapes : boostbench.algorithms.explanation.shape_functions.ShapeFunctions
        Shape functions of the bag.

    Attributes
    ----------
    axes_ : list of matplotlib.axes.Axes
        Axes of the heat maps, in the order of importance.
    meshes_ : list of matplotlib.collections.QuadMesh
        Heat maps, with a common colour scale.
    figure_ : matplotlib.figure.Figure
        Figure of the heat maps.
    """

    def __init__(self, *, shapes):
        self.shapes = shapes

    @classmethod
    def from_estimator(cls, estimator, X=None, *, n_pairs=6, output=None, n_columns=3):
        """Draw the tables of a fitted bag.

        Parameters
        ----------
        estimator : BaggedMCBoost or BaggedLsBoostRegressor
            Fitted bag with pairs of features.
        X : array-like of shape (n_samples, n_features), default=None
            Samples over which the tables are centred to the mean 0. None: the training samples.
        n_pairs : int, default=6
            Maximum number of pairs, by decreasing importance.
        output : label, default=None
            Class whose score is drawn, if there are more than two. None: the last class.
        n_columns : int, default=3
            Maximum number of heat maps per row.

        Returns
        -------
        PairDisplay

        Raises
        ------
        ValueError
            If the estimator is not a sum of stumps, has no pairs, does not know the class
            `output`, or `n_pairs` is not positive.
        """
        require_stump_sum(estimator)
        display = cls(shapes=estimator.shape_functions(X))
        return display.plot(n_pairs=n_pairs, output=output, n_columns=n_columns)

    def plot(self, *, n_pairs=6, output=None, n_columns=3):
        """Draw the heat maps; see `from_estimator` for the parameters.

        Returns
        -------
        self
        """
        if n_pairs < 1:
            raise ValueError(f"n_pairs must be 1 or more, got {n_pairs!r}")
        if not self.shapes.pairs:
            raise ValueError("the model has no pairs of features: set interactions of a bag")
        outputs = list(self.shapes.outputs)
        if output is not None and output not in outputs:
            raise ValueError(f"there is no score of {output!r}")
        output_index = len(outputs) - 1 if output is None else outputs.index(output)
        order = np.argsort(-self.shapes.pair_importances, kind="stable")[:n_pairs]
        self.figure_, _, self.axes_ = make_axes_grid(len(order), n_columns, *_HEAT_MAP_SIZE)
        largest = (
            max(np.abs(pair.table[..., output_index]).max() for pair in self.shapes.pairs) or 1.0
        )
        self.meshes_ = [
            self._draw_heat_map(ax, self.shapes.pairs[index], output_index, largest)
            for ax, index in zip(self.axes_, order, strict=True)
        ]
        class_suffix = f" of {outputs[output_index]}" if len(outputs) > 1 else ""
        label = f"{contribution_axis_label(self.shapes)}{class_suffix}"
        self.figure_.colorbar(self.meshes_[0], ax=self.axes_, label=label)
        return self

    def _draw_heat_map(self, ax, pair, output, largest):
        """Draw the table of a pair for one score.

        Parameters
        ----------
        ax : matplotlib.axes.Axes
        pair : object
            Pair of features: its `table` has the shape (n_cells, n_cells, n_outputs), and its
            `axes` describe the cells of both features.
        output : int
            Index of the score.
        largest : float
            Contribution that is drawn in full colour.

        Returns
        -------
        matplotlib.collections.QuadMesh
        """
        mesh = ax.pcolormesh(pair.table[..., output].T, cmap="RdBu_r", vmin=-largest, vmax=largest)
        for axis, ax_axis in zip(pair.axes, (ax.xaxis, ax.yaxis), strict=True):
            positions, texts = zip(
                *tick_labels(axis, self.shapes.cell_names(axis), _MAX_LABELS), strict=True
            )
            ax_axis.set_ticks(positions, texts, fontsize="small")
        ax.tick_params(axis="x", rotation=90)
        first, second = (str(self.shapes.feature_names[axis.feature]) for axis in pair.axes)
        ax.set(xlabel=first, ylabel=second)
        return mesh


def heat_map_data(shapes, X, *, index, output, largest, format_contribution, format_deviation):
    """Return the drawing of a pair for the HTML page.

    Parameters
    ----------
    shapes : boostbench.algorithms.explanation.shape_functions.ShapeFunctions
    X : ndarray of shape (n_samples, n_features)
        Samples; cells of a feature with a few whole numbers are named by these.
    index : int
        Index of the pair.
    output : int
        Index of the score.
    largest : float
        Contribution that is drawn in full colour.
    format_contribution, format_deviation : callable
        Return the text of a contribution, and of two standard deviations.

    Returns
    -------
    dict
        - "features": names of both features;
        - "cells": position ("x", "y"), relative "value" and tooltip ("text") of each cell;
        - "width", "height": size of a cell;
        - "x_marks", "y_marks": position and lines of text of each tick label of an axis;
        - "n_x_lines": number of lines below the plot area;
        - "box": edges of the plot area.
    """
    # 1) Name the cells of both features. A feature with a few whole numbers has cells such as "1 to
    # 3".
    pair, stds = shapes.pairs[index], shapes.pair_stds[index]
    horizontal_axis, vertical_axis = pair.axes
    # Distinct whole numbers of each feature; None if its cells are named by thresholds.
    whole_numbers = [
        None if axis.thresholds is None else distinct_integers(X[:, axis.feature])
        for axis in pair.axes
    ]
    names = [
        shapes.cell_names(axis) if numbers is None else _integer_cell_names(axis, numbers)
        for axis, numbers in zip(pair.axes, whole_numbers, strict=True)
    ]
    # 2) Place the cells: the first feature runs to the right, the second one upwards.
    width = (_RIGHT - _LEFT) / horizontal_axis.n_cells
    height = (_BOTTOM - _TOP) / vertical_axis.n_cells
    table = pair.table[..., output]
    features = [str(shapes.feature_names[axis.feature]) for axis in pair.axes]
    cells = [
        {
            "x": round(_LEFT + width * column, 2),
            "y": round(_BOTTOM - height * (row + 1), 2),
            "value": round(float(table[column, row]) / largest, 3),
            "text": f"{features[0]} {names[0][column]}, {features[1]} {names[1][row]}: "
            + format_contribution(float(table[column, row]))
            + ("" if stds is None else f" {format_deviation(stds[column, row, output])}"),
        }
        for column, row in np.ndindex(*table.shape)
    ]
    # 3) Place the tick labels, wrapped into lines.
    x_marks, y_marks = (
        [
            (position, wrap(text, _LINE_LENGTH) or [""])
            for position, text in tick_labels(
                axis, labels, max_labels, in_cells=numbers is not None
            )
        ]
        for axis, labels, numbers, max_labels in zip(
            pair.axes, names, whole_numbers, _MAX_SVG_LABELS, strict=True
        )
    )
    return {
        "features": features,
        "cells": cells,
        "width": round(width + 0.05, 2),
        "height": round(height + 0.05, 2),
        # The middle of a label is moved to the left if the label would leave the view box.
        "x_marks": [
            (
                round(
                    min(
                        _LEFT + width * position,
                        _WIDTH - _LETTER_WIDTH * max(map(len, lines)) / 2,
                    ),
                    1,
                ),
                lines,
            )
            for position, lines in x_marks
        ],
        "y_marks": [(round(_BOTTOM - height * position, 1), lines) for position, lines in y_marks],
        "n_x_lines": max(len(lines) for _, lines in x_marks),
        "box": {"left": _LEFT, "right": _RIGHT, "top": _TOP, "bottom": _BOTTOM},
    }


def distinct_integers(column):
    """Return the distinct values of a feature; None unless these are a few whole numbers.

    Parameters
    ----------
    column : ndarray of shape (n_samples,)
        Values, with NaN for missing ones.
    """
    values = np.unique(column[~np.isnan(column)])
    is_few = 0 < len(values) <= _MAX_VALUES
    return values if is_few and np.array_equal(values, np.floor(values)) else None


def _integer_cell_names(axis, values):
    """Return the names of the cells of a feature with whole numbers: ``"0"``, ``"1 to 3"``.

    Parameters
    ----------
    axis : boostbench.core.learners.feature_interactions.Axis
        Cells of the feature.
    values : ndarray
        Distinct values of the feature, ascending.
    """
    # A cell holds the whole numbers above its lower threshold, up to its upper one. The first and
    # the last cell are open: they end at the data, or one whole number beyond the threshold. The
    # first and the last whole number of cell i are lowest[i] and highest[i].
    lowest = [min(values[0], np.floor(axis.thresholds[0])), *np.floor(axis.thresholds) + 1]
    highest = [*np.floor(axis.thresholds), max(values[-1], lowest[-1])]
    names = [
        f"{low:.0f}" if low == high else f"{low:.0f} to {high:.0f}"
        for low, high in zip(lowest, highest, strict=True)
    ]
    return [*names, "missing"] if axis.has_missing else names


def tick_labels(axis, names, max_labels, in_cells=False):
    """Return positions and texts of the tick labels of an axis.

    Parameters
    ----------
    axis : boostbench.core.learners.feature_interactions.Axis
        Cells of a feature, an element of the ``axes`` of a pair.
    names : list of str
        Names of its cells.
    max_labels : int
        Maximum number of thresholds or categories with a label.
    in_cells : bool, default=False
        True if labels are in the middle of the cells and not at the thresholds between them.

    Returns
    -------
    list of (float, str)
        Position in cells, and text. Thresholds are at the edges of cells; categories and missing
        values in the middle.
    """
    if axis.thresholds is None or in_cells:
        # The quotient is rounded up.
        step = -(-len(names) // max_labels)
        return [(position + 0.5, name) for position, name in enumerate(names)][::step]
    # Label evenly spaced thresholds. Threshold number n, from 0, is the edge between cells n and n
    # + 1.
    positions = np.unique(np.linspace(0, len(axis.thresholds) - 1, max_labels).round().astype(int))
    texts = shortest_decimals(axis.thresholds[positions], digits=3)
    labels = [(int(position) + 1, text) for position, text in zip(positions, texts, strict=True)]
    if not axis.has_missing:
        return labels
    # The label of missing values replaces the last threshold, which it would overlap.
    return [*(labels[:-1] or labels), (axis.n_cells - 0.5, "missing")]
