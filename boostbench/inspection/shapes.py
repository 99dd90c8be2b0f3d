"""Plots of the shape functions of a sum of stumps."""

from numbers import Integral
from typing import NamedTuple

import numpy as np

from boostbench.algorithms.explanation.stump_sums import require_stump_sum
from boostbench.inspection.displays import make_axes_grid, most_important, y_axis_label

# Size of a plot in inches.
_WIDTH, _HEIGHT = 3.2, 2.6


class VisibleSteps(NamedTuple):
    """Steps of a shape function within the range of samples.

    Attributes
    ----------
    edges : ndarray of shape (n_steps + 1,)
        Edges of the steps.
    values : ndarray of shape (n_steps, n_outputs)
        Contribution on each step.
    stds : ndarray of shape (n_steps, n_outputs) or None
        Standard deviations of the contributions; None if they are not known.
    deciles : ndarray of shape (9,)
        Deciles of the values that are not missing; 0 if all are missing.
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
    X : ndarray of shape (n_samples, n_features)

    Returns
    -------
    VisibleSteps
    """
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
            len(indices), n_columns, _WIDTH, _HEIGHT, sharey=True
        )
        self.lines_, self.bands_ = [], []
        for ax, feature in zip(self.axes_, indices, strict=True):
            curves, bands = self._draw(ax, feature, n_stds)
            self.lines_.append(curves)
            self.bands_.append(bands)
        for row in grid:
            row[0].set_ylabel(y_axis_label(self.shapes))
        if self.axes_ and len(self.shapes.outputs) > 1:
            labels = [str(label) for label in self.shapes.outputs]
            self.figure_.legend(
                self.lines_[0], labels, loc="outside upper center", ncols=len(labels)
            )
        return self

    def _select_features(self, features):
        """Return the indices of the features to draw; see `from_estimator`."""
        if isinstance(features, Integral):
            return most_important(self.shapes.importances, features)
        features = [features] if isinstance(features, str) else features
        return [self.shapes.feature_index(feature) for feature in features]

    def _draw(self, ax, feature, n_stds):
        """Draw the function of a feature, and return its curves or bars, and its bands."""
        # 1) Draw bars for categories, curves and bands for numbers.
        term = self.shapes.term(feature)
        ax.axhline(0.0, color="0.7", linewidth=0.8, zorder=0)
        ax.set_xlabel(str(self.shapes.feature_names[feature]))
        stds = None if term.std is None or not n_stds else n_stds * term.std
        if term.categories is not None:
            return _draw_bars(ax, term, stds), []
        steps = visible_steps(term, self.X)
        curves = [
            ax.stairs(column, steps.edges, baseline=None, color=f"C{index % 10}", linewidth=1.5)
            for index, column in enumerate(steps.values.T)
        ]
        bands = []
        if stds is not None:
            half_widths = n_stds * steps.stds
            low, high = (steps.values - half_widths).T, (steps.values + half_widths).T
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
                half_width = None if stds is None else stds[-1, index]
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


def _draw_bars(ax, term, stds):
    """Draw a bar for each category, and one for missing values if the training data had some."""
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
            yerr=None if stds is None else stds[: len(table), index],
            error_kw={"elinewidth": 0.8},
            color=f"C{index % 10}",
        )
        for index, column in enumerate(table.T)
    ]
    ax.set_xticks(
        positions, names, rotation=90 if max(map(len, names)) > 4 else 0, fontsize="small"
    )
    return bars
