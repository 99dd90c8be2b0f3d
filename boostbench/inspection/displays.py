"""Displays of importances and of errors by round, and helpers of all displays.

A display holds the data of a plot, and draws it with matplotlib, as in `sklearn.inspection`.
"""

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils import check_consistent_length, column_or_1d

from boostbench.algorithms.explanation.stump_sums import feature_names
from boostbench.util.process import import_optional


def get_axes(ax=None):
    """Return the axes of a display, and their figure.

    Parameters
    ----------
    ax : matplotlib.axes.Axes, default=None
        Existing axes; None: a new pyplot figure.

    Returns
    -------
    figure : matplotlib.figure.Figure
    ax : matplotlib.axes.Axes

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    if ax is None:
        ax = _import_pyplot().subplots(layout="constrained")[1]
    return ax.figure, ax


def make_axes_grid(n_axes, n_columns, width, height, **shared):
    """Return a new figure with a grid of axes.

    Parameters
    ----------
    n_axes : int
        Number of axes; unused axes of the last row are removed.
    n_columns : int
        Maximum number of axes per row.
    width, height : float
        Size of each axes, in inches.
    **shared
        Further arguments of ``matplotlib.pyplot.subplots``, such as ``sharey``.

    Returns
    -------
    figure : matplotlib.figure.Figure
    grid : ndarray of shape (n_rows, n_columns)
        All axes of the grid.
    axes : list of matplotlib.axes.Axes
        The first `n_axes` axes of the grid.
    """
    n_columns = max(1, min(n_columns, n_axes))
    n_rows = max(1, -(-n_axes // n_columns))
    figure, grid = _import_pyplot().subplots(
        n_rows,
        n_columns,
        squeeze=False,
        layout="constrained",
        figsize=(width * n_columns, height * n_rows),
        **shared,
    )
    axes = list(grid.ravel())
    for ax in axes[n_axes:]:
        ax.remove()
    return figure, grid, axes[:n_axes]


def contribution_axis_label(shapes):
    """Return the y-axis label of a plot of contributions: to a score, or to a named number.

    Parameters
    ----------
    shapes : boostbench.algorithms.explanation.shape_functions.ShapeFunctions
        Shape functions of the model.
    """
    return f"Added to the {shapes.outputs[0] if shapes.classes_ is None else 'score'}"


def _import_pyplot():
    """Return ``matplotlib.pyplot``; raise ImportError with advice if it is not installed."""
    return import_optional("matplotlib.pyplot", "displays need")


def most_important_features(importances, n):
    """Return the indices of the features of the largest positive importance.

    Parameters
    ----------
    importances : ndarray of shape (n_features,)
    n : int
        Maximum number of features.

    Returns
    -------
    list of int
        Indices by decreasing importance; ties go to the first feature.

    Raises
    ------
    ValueError
        If n is negative.
    """
    if n < 0:
        raise ValueError(f"the number of features must be 0 or more, got {n!r}")
    return [
        int(feature)
        for feature in np.argsort(-importances, kind="stable")[:n]
        if importances[feature] > 0
    ]


class ImportanceDisplay:
    """Bar chart of the most important features.

    Use `from_estimator` to create it.

    Parameters
    ----------
    importances : ndarray of shape (n_features,)
        Importance of each feature.
    feature_names : ndarray of shape (n_features,)
        Name of each feature.

    Attributes
    ----------
    bars_ : matplotlib.container.BarContainer
        Bars of the chart.
    ax_ : matplotlib.axes.Axes
        Axes of the chart.
    figure_ : matplotlib.figure.Figure
        Figure of the chart.
    """

    def __init__(self, *, importances, feature_names):
        self.importances = importances
        self.feature_names = feature_names

    @classmethod
    def from_estimator(cls, estimator, *, n_features=10, ax=None):
        """Draw the `feature_importances_` of a fitted estimator.

        Parameters
        ----------
        estimator : estimator
            Fitted estimator with `feature_importances_`.
        n_features : int, default=10
            Maximum number of features. Features of importance 0 are not drawn.
        ax : matplotlib.axes.Axes, default=None
            Existing axes; None: a new figure.

        Returns
        -------
        ImportanceDisplay
        """
        display = cls(
            importances=estimator.feature_importances_, feature_names=feature_names(estimator)
        )
        return display.plot(n_features=n_features, ax=ax)

    def plot(self, *, n_features=10, ax=None):
        """Draw the bars; see `from_estimator` for the parameters.

        Returns
        -------
        self
        """
        self.figure_, self.ax_ = get_axes(ax)
        order = most_important_features(self.importances, n_features)[::-1]
        self.bars_ = self.ax_.barh(self.feature_names[order].astype(str), self.importances[order])
        self.ax_.set(xlabel="Importance", xlim=(0, None))
        return self


class StagedErrorDisplay:
    """Plot of the error after each boosting round: error rate, or mean squared error.

    Use `from_estimator` to create it. To draw several curves into one plot, pass the `ax_` of the
    first display to the others.

    Parameters
    ----------
    errors : ndarray of shape (n_iterations,)
        Error after each round: fraction of wrong labels, or mean squared error.
    name : str, default=None
        Name of the curve in the legend.
    ylabel : str, default="Error (fraction of samples)"
        Label of the vertical axis.

    Attributes
    ----------
    line_ : matplotlib.lines.Line2D
        Curve of the errors.
    ax_ : matplotlib.axes.Axes
        Axes of the plot.
    figure_ : matplotlib.figure.Figure
        Figure of the plot.
    """

    def __init__(self, *, errors, name=None, ylabel="Error (fraction of samples)"):
        self.errors = errors
        self.name = name
        self.ylabel = ylabel

    @classmethod
    def from_estimator(cls, estimator, X, y, *, name=None, ax=None, **kwargs):
        """Draw the errors of a fitted classifier or regressor.

        Parameters
        ----------
        estimator : estimator
            Fitted estimator of boostbench or scikit-learn with `staged_predict`.
        X : array-like of shape (n_samples, n_features)
            Test samples.
        y : array-like of shape (n_samples,)
            True labels or numbers of the samples.
        name : str, default=None
            Name of the curve; None: the name of the estimator's class.
        ax : matplotlib.axes.Axes, default=None
            Existing axes; None: a new figure.
        **kwargs
            Arguments of `matplotlib.axes.Axes.plot`.

        Returns
        -------
        StagedErrorDisplay

        Raises
        ------
        ValueError
            If the estimator has no staged predictions (such as bags), or the numbers of samples and
            labels differ.
        """
        if not hasattr(estimator, "staged_predict"):
            raise ValueError(
                f"{type(estimator).__name__} keeps no stages: it has no staged_predict"
            )
        y = column_or_1d(y)
        check_consistent_length(X, y)
        name = type(estimator).__name__ if name is None else name
        stages = estimator.staged_predict(X)
        if is_regressor(estimator):
            errors = np.array([np.mean((prediction - y) ** 2) for prediction in stages])
            display = cls(errors=errors, name=name, ylabel="Mean squared error")
        else:
            errors = np.array([np.mean(labels != y) for labels in stages])
            display = cls(errors=errors, name=name)
        return display.plot(ax=ax, **kwargs)

    def plot(self, *, ax=None, **kwargs):
        """Draw the curve; see `from_estimator` for the parameters.

        Returns
        -------
        self
        """
        self.figure_, self.ax_ = get_axes(ax)
        rounds = np.arange(1, len(self.errors) + 1)
        (self.line_,) = self.ax_.plot(rounds, self.errors, **{"label": self.name, **kwargs})
        self.ax_.set(xlabel="Boosting rounds", ylabel=self.ylabel)
        self.ax_.set_ylim(bottom=0)
        # matplotlib gives a curve without a name a label "_child0", which legends skip.
        if not self.line_.get_label().startswith("_"):
            self.ax_.legend()
        return self
