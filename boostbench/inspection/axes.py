"""Axes and figures of the displays."""

from boostbench.util.optional_imports import import_optional


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


def make_axes_grid(n, n_columns, width, height, **shared):
    """Return a new figure with a grid of axes.

    Parameters
    ----------
    n : int
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
        The first `n` axes of the grid.
    """
    n_columns = max(1, min(n_columns, n))
    n_rows = max(1, -(-n // n_columns))
    figure, grid = _import_pyplot().subplots(
        n_rows,
        n_columns,
        squeeze=False,
        layout="constrained",
        figsize=(width * n_columns, height * n_rows),
        **shared,
    )
    axes = list(grid.ravel())
    for ax in axes[n:]:
        ax.remove()
    return figure, grid, axes[:n]


def y_axis_label(shapes):
    """Return the y-axis label of a shape-function plot."""
    return f"Added to the {shapes.outputs[0] if shapes.classes_ is None else 'score'}"


def _import_pyplot():
    """Return ``matplotlib.pyplot``; raise ImportError with advice if it is not installed."""
    return import_optional("matplotlib.pyplot", "displays need")
