"""Where displays draw."""


def canvas(ax=None):
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
        ax = pyplot().subplots(layout="constrained")[1]
    return ax.figure, ax


def pyplot():
    """Import ``matplotlib.pyplot``, or say in one line what is missing."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError(
            "displays need matplotlib; install it by 'pip install matplotlib'"
        ) from None
    return pyplot
