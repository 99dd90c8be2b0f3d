"""Where displays draw."""

from boostbench.util.optional_imports import import_optional


def get_axes(ax=None):
    """Return axes to draw on, and their figure.

    Parameters
    ----------
    ax : matplotlib.axes.Axes, default=None
        None makes a new figure by pyplot.

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
    """Return a new figure with axes in rows.

    Parameters
    ----------
    n : int
        How many axes; places left over in the last row are removed.
    n_columns : int
        Axes in a row at most.
    width, height : float
        Inches of each.
    **shared
        As ``sharey`` of ``matplotlib.pyplot.subplots``.

    Returns
    -------
    figure : matplotlib.figure.Figure
    grid : ndarray of shape (n_rows, n_columns)
        All places.
    axes : list of n matplotlib.axes.Axes
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
    """Say what the functions of `ShapeFunctions` are added to, beside an axis."""
    return f"Added to the {'prediction' if shapes.classes_ is None else 'score'}"


def _import_pyplot():
    """Import ``matplotlib.pyplot``, or say in one line what is missing."""
    return import_optional("matplotlib.pyplot", "displays need")
