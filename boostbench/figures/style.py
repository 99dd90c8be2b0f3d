"""Look of all figures, and their files as PNG, SVG and PDF."""

import re
from collections.abc import Sequence
from functools import partial
from math import ceil
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

from boostbench.util.files import atomic_write, writing_to
from boostbench.util.terminal import printable

#: Colours of hues, in this order: Okabe and Ito's, which differ for all kinds of colour blindness.
#: The first ones differ most in brightness as well.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#000000", "#56b4e9")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_DASHES = ("-", (0, (3, 1)))

#: Inches: the width of a page of two columns.
PAGE_WIDTH = 7.2
#: Resolution of the PNG unless a kind needs a higher one.
DPI = 170

_STYLE = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so that every machine draws the same
    "font.size": 7.5,
    "axes.titlesize": 7.5,
    "axes.labelsize": 7.5,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "legend.fontsize": 7.5,
    "axes.linewidth": 0.6,
    "axes.edgecolor": "#444444",
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.minor.size": 1.5,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "svg.fonttype": "path",
    "svg.hashsalt": "boostbench",  # names inside the file would be random without
}
_SVG_DPI = 150  # resolution of rasterised parts


def style():
    """Return the context manager in which figures are drawn and saved."""
    return matplotlib.rc_context(_STYLE)


def line_style(index: int) -> dict:
    """Return the options of matplotlib for the line of a hue.

    Parameters
    ----------
    index : int
        Position of the hue. Where the colours are used a second time, the lines are dashed.
    """
    # `n_prior_uses` earlier hues have the colour of this one.
    n_prior_uses, colour = divmod(index, len(COLOURS))
    dashes = _DASHES[n_prior_uses % len(_DASHES)]
    return {"color": COLOURS[colour], "linestyle": dashes, "linewidth": 1}


def marked_line_style(index: int) -> dict:
    """Return the options of matplotlib for the line of a hue through marked points.

    Parameters
    ----------
    index : int
        Position of the hue. Where the colours are used a second time, the markers are hollow.
    """
    # Colours and markers are equally many, so that a hue that repeats a colour would repeat its
    # marker, too. The shift prevents it.
    n_prior_uses, position = divmod(index, len(MARKERS))
    marks = {"marker": MARKERS[(position + n_prior_uses) % len(MARKERS)], "markersize": 3}
    edges = {"markeredgewidth": 0}
    if n_prior_uses:
        edges = {"markerfacecolor": "white", "markeredgewidth": 0.7}
    return {**line_style(index), **marks, **edges}


def label(title: str) -> str:
    r"""Return a title for matplotlib: a word after ``^`` is raised, a dollar sign is no formula.

    All titles of users and of tables need it.

    Examples
    --------
    >>> label("RBoost^rank (exp)"), label("5 $")
    ('RBoost$^{\\mathrm{rank}}$ (exp)', '5 \\$')
    """
    title = printable(title).replace("$", r"\$")
    return re.sub(r"\^([^\W_]+)", r"$^{\\mathrm{\1}}$", title)


def break_words(text: str, n_letters: int) -> str:
    r"""Break a text between words, and behind ``=`` and ``_``, into lines of at most `n_letters`.

    A word that is longer stays whole.

    Examples
    --------
    >>> break_words("MultiBoost, at its minimum", 16)
    'MultiBoost, at\nits minimum'
    """
    lines = [""]
    for word in re.findall(r"[^\s=_]*[\s=_]|[^\s=_]+", text):
        if lines[-1] and len(lines[-1]) + len(word.rstrip()) > n_letters:
            lines.append("")
        lines[-1] += word
    return "\n".join(map(str.rstrip, lines))


def put_headline(
    figure: Figure, message: str, lines: Sequence[Line2D] = (), columns: int = 5
) -> None:
    """Put a headline above the panels, and the legend below it.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    message : str
        Sentence in bold; may be empty.
    lines : sequence of matplotlib.lines.Line2D, default=()
        Labelled lines of the legend; empty: no legend here.
    columns : int, default=5
        Entries of the legend in a row.
    """
    weight = {"weight": "bold"}
    if lines:
        # The headline is the title of the legend, as two boxes above the panels would overlap.
        figure.legend(
            handles=lines,
            title=label(message),
            title_fontproperties=weight,
            loc="outside upper center",
            ncols=columns,
            frameon=False,
            columnspacing=1.2,
            handlelength=1.5,
        )
    elif message:
        figure.suptitle(label(message), fontsize="medium", **weight)


def make_panels(
    n_panels: int,
    n_columns: int,
    height: float,
    *,
    width: float = PAGE_WIDTH,
    extra_height: float = 0,
    dpi: int = DPI,
    pad: float | None = None,
    **options,
) -> tuple[Figure, list[Axes], list[Axes]]:
    """Make a figure of panels, row by row.

    Parameters
    ----------
    n_panels, n_columns : int
        Number of panels, and number of panels in a row.
    height, width, extra_height : float
        Height of a row, width of the figure, and height of the figure beyond its rows; inches.
    dpi : int, default=170
        Resolution of the PNG, in dots per inch.
    pad : float, default=None
        Inches around a panel; None: default of matplotlib.
    **options
        Options of `matplotlib.figure.Figure.subplots`.

    Returns
    -------
    figure : matplotlib.figure.Figure
    panels, free : list of matplotlib.axes.Axes
        Panels to draw in, and the empty panels of the last row.
    """
    n_rows = ceil(n_panels / n_columns)
    figure = Figure(figsize=(width, height * n_rows + extra_height), dpi=dpi, layout="constrained")
    if pad is not None:
        figure.get_layout_engine().set(w_pad=pad, h_pad=pad)
    grid = figure.subplots(n_rows, n_columns, squeeze=False, **options).ravel().tolist()
    for axes in grid[n_panels:]:
        axes.set_axis_off()
    return figure, grid[:n_panels], grid[n_panels:]


def legend_lines(titles: Sequence[str]) -> list[Line2D]:
    """Return the lines of a legend: each title with the look of its line."""
    return [Line2D([], [], label=label(t), **marked_line_style(i)) for i, t in enumerate(titles)]


def plain_ticks(axis: Axis, positions: Sequence[float] | None = None) -> None:
    """Write plain numbers such as 1000 at the ticks of an axis, and remove its minor ticks.

    Parameters
    ----------
    axis : matplotlib.axis.Axis
    positions : sequence of float, default=None
        Positions of the ticks. None: matplotlib chooses them.
    """
    if positions is not None:
        axis.set_major_locator(FixedLocator(positions))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_locator(NullLocator())


def mark_as_empty(axes: Axes) -> None:
    """Write into a panel that there is no record to draw."""
    axes.text(0.5, 0.5, "no record", ha="center", va="center", transform=axes.transAxes)


def save(figure: Figure, path: Path, title: str, description: str, depth: int = 1) -> list[Path]:
    """Write a figure as PNG, SVG and PDF, the same bytes each time.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure.
    path : Path
        Path of the files without suffix; the folder is made.
    title, description : str
        Texts for readers who cannot see the picture, which are written into the files.
    depth : int, default=1
        Number of the files' folders that must not be links, see
        `boostbench.util.files.check_folders`: 1 for ``figures`` in a folder of results; 0 if
        the user named the file.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    UserError
        If they cannot be written.
    """
    title, description = printable(title), printable(description)
    texts = {"Title": title, "Description": description}
    # Dates and versions of matplotlib are left out, so that equal pictures are equal files.
    options = {
        ".png": {
            "dpi": figure.dpi,
            "metadata": {**texts, "Software": None},
            "pil_kwargs": {"optimize": True},
        },
        ".svg": {"dpi": _SVG_DPI, "metadata": {**texts, "Date": None}},
        ".pdf": {
            "dpi": figure.dpi,
            "metadata": {
                **{"Title": title, "Subject": description},
                **dict.fromkeys(("Creator", "Producer", "CreationDate")),
            },
        },
    }
    written = []
    with writing_to(path, depth=depth):
        for suffix, file_options in options.items():
            file = path.with_name(path.name + suffix)
            with style():
                atomic_write(file, partial(figure.savefig, format=suffix[1:], **file_options))
            written.append(file)
    return written
