"""Data sets without a file or a download: scikit-learn's, and artificial ones."""

import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from boostbench.data.dataset import Dataset
from boostbench.data.text import parse_labels
from boostbench.util.errors import UserError

#: Decimals of generated features: they make checksums independent of the processor.
_DECIMALS = 6
#: Tolerance of coordinates, by which points on an edge are inside a pattern: rounding errors are
#: smaller.
_EDGE_TOLERANCE = 1e-9


def make_gaussians(
    means: Sequence[Sequence[float]],
    covariance: Sequence[Sequence[float]],
    samples_per_class: int = 100,
    random_state: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw normally distributed classes that differ in their means only.

    Parameters
    ----------
    means : sequence of shape (n_classes, n_features)
        Mean of each class.
    covariance : sequence of shape (n_features, n_features)
        Covariance of every class.
    samples_per_class : int, default=100
        Number of samples of each class.
    random_state : int, default=0
        Seed.

    Returns
    -------
    X : ndarray of shape (n_classes * samples_per_class, n_features), float64
        Features, rounded to 6 decimals.
    y : ndarray of shape (n_classes * samples_per_class,), int64
        Class numbers from 0, class by class.

    Raises
    ------
    ValueError
        If the shapes do not fit, or the covariance is not positive definite.

    Examples
    --------
    >>> X, y = make_gaussians([[0, 0], [5, 5]], [[1, 0.5], [0.5, 1]], samples_per_class=3)
    >>> X.shape, y.tolist()
    ((6, 2), [0, 0, 0, 1, 1, 1])
    """
    rng = np.random.default_rng(random_state)
    draws = [
        rng.multivariate_normal(
            mean, covariance, samples_per_class, check_valid="raise", method="cholesky"
        )
        for mean in means
    ]
    # The last bits of the draws depend on the processor. Rounding removes them, so that checksums
    # and stumps are equal on all machines.
    X = np.concatenate(draws).round(_DECIMALS)
    return X, np.repeat(np.arange(len(draws)), samples_per_class)


def make_pattern(
    name: str, n_samples: int | None = None, random_state: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Label the points of a grid by one of the patterns of Fawcett's gallery.

    Table 12.3 of RpBoost has the formulas of half of the patterns. The formulas of the other
    patterns are boostbench's own, and look like the pictures of the gallery, in which slopes and
    corners were partly drawn at random.

    Parameters
    ----------
    name : {"sine", "linear", "parity", "annulus", "parabolic", "disjunctive", "polynomial", \
            "checkerboard"}
        Name of the pattern.
    n_samples : int, default=None
        Approximate number of points to draw, stratified by class. None: all points.
    random_state : int, default=0
        Seed of the draw.

    Returns
    -------
    X : ndarray of shape (n_points, 2), float64
        Points of a grid of 81 x 81 points over [0, 4] x [0, 4], with a step of 0.05.
    y : ndarray of shape (n_points,), int64
        1 inside the pattern, -1 outside.

    Raises
    ------
    ValueError
        If there is no such pattern.

    Examples
    --------
    >>> X, y = make_pattern("checkerboard")
    >>> X[0].tolist(), int(y[0]), round(float((y > 0).mean()), 2)
    ([0.0, 0.0], 1, 0.56)
    """
    if name not in _PATTERNS:
        raise ValueError(f"there is no pattern {name!r}; the patterns are {', '.join(_PATTERNS)}")
    # Rounding removes the representation error of 0.05 for points on an edge.
    ticks = np.round(np.arange(81) * 0.05, 2)
    u, v = (grid.ravel() for grid in np.meshgrid(ticks, ticks))
    X, y = np.column_stack([u, v]), np.where(_PATTERNS[name](u, v), 1, -1)
    if n_samples is None:
        return X, y
    rng = np.random.default_rng(random_state)
    class_rows = [np.flatnonzero(y == label) for label in (-1, 1)]
    drawn = [
        rng.choice(rows, round(n_samples * len(rows) / len(X)), replace=False)
        for rows in class_rows
    ]
    selected = np.sort(np.concatenate(drawn))
    return X[selected], y[selected]


def make_ringnorm(n_samples: int = 7400, random_state: int = 0) -> tuple[np.ndarray, np.ndarray]:
    r"""Draw Breiman's ringnorm: a wide Gaussian and a narrow one inside it, in 20 dimensions.

    Class 1 is :math:`N(0, 4 I)`, class -1 :math:`N(a 1, I)` with :math:`a = 2 / \sqrt{20}`, each
    with probability 1/2.

    Parameters
    ----------
    n_samples : int, default=7400
        Number of samples.
    random_state : int, default=0
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 20), float64
        Features, rounded to 6 decimals.
    y : ndarray of shape (n_samples,), int64
        Classes, -1 or 1.

    References
    ----------
    .. [1] L. Breiman, "Bias, variance, and arcing classifiers", report 460, Berkeley, 1996. Other
       implementations differ in a, which is :math:`1 / \sqrt{20}` in R's mlbench. The
       means of the data of Raetsch's benchmark agree with :math:`a = 2 / \sqrt{20}`.

    Examples
    --------
    >>> make_ringnorm(3)[0].shape
    (3, 20)
    """
    draws, y = _draw_normal(n_samples, random_state)
    X = np.where(y[:, None] > 0, 2 * draws, draws + 2 / np.sqrt(20))
    return X.round(_DECIMALS), y


def make_twonorm(n_samples: int = 7400, random_state: int = 0) -> tuple[np.ndarray, np.ndarray]:
    r"""Draw Breiman's twonorm: two Gaussians of unit covariance in 20 dimensions.

    Their means are :math:`\pm a 1` with :math:`a = 2 / \sqrt{20}`; both have probability 1/2.

    Parameters
    ----------
    n_samples, random_state
        See `make_ringnorm`.

    Returns
    -------
    X, y
        See `make_ringnorm`, which has the reference. `y` is the sign of the mean.

    Examples
    --------
    >>> make_twonorm(3)[0].shape
    (3, 20)
    """
    draws, y = _draw_normal(n_samples, random_state)
    return (draws + 2 / np.sqrt(20) * y[:, None]).round(_DECIMALS), y


def _draw_normal(n_samples: int, random_state: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points for `make_ringnorm` and `make_twonorm`, before their classes are moved apart.

    Returns
    -------
    draws : ndarray of shape (n_samples, 20), float64
        Standard normal points.
    y : ndarray of shape (n_samples,), int64
        Random classes, -1 or 1.
    """
    rng = np.random.default_rng(random_state)
    y = np.where(rng.random(n_samples) < 0.5, 1, -1)
    return rng.standard_normal((n_samples, 20)), y


def make_waveform(n_samples: int = 5000, random_state: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw Breiman's waveform, with one of the three classes against the two others.

    A sample is a random convex combination of two of three triangular waves at 21 points, with
    noise from N(0, 1). The waves have their peaks at the points 7, 11 and 15, and class 1
    combines the first two, as in Raetsch's benchmark.

    Parameters
    ----------
    n_samples, random_state
        See `make_ringnorm`.

    Returns
    -------
    X : ndarray of shape (n_samples, 21), float64
        Features, rounded to 6 decimals.
    y : ndarray of shape (n_samples,), int64
        1 for a third of the samples, -1 for the others.

    References
    ----------
    .. [1] L. Breiman, J. Friedman, R. Olshen and C. Stone, "Classification and regression trees",
       1984, section 2.6.2.

    Examples
    --------
    >>> make_waveform(3)[0].shape
    (3, 21)
    """
    rng = np.random.default_rng(random_state)
    # Wave w at point p is max(6 - |p - peak|, 0), of shape (3, 21).
    waves = np.maximum(6 - np.abs(np.arange(1, 22) - np.array([[7], [11], [15]])), 0)
    pairs = np.array([[0, 1], [0, 2], [1, 2]])
    pair = rng.integers(3, size=n_samples)
    fraction = rng.random((n_samples, 1))
    first, second = (waves[pairs[pair, side]] for side in (0, 1))
    X = fraction * first + (1 - fraction) * second + rng.standard_normal((n_samples, 21))
    return X.round(_DECIMALS), np.where(pair == 0, 1, -1)


# The functions of patterns return a mask of the points inside, for coordinates `u` (to the right)
# and `v` (upwards) of shape (n_points,).


def _parity(u, v):
    """Return a mask of the points in discs around every other point of a 3 x 3 grid."""
    inside = np.zeros(len(u), bool)
    for i, j in itertools.product((1, 2, 3), repeat=2):
        if (i + j) % 2 == 0:
            inside |= (u - i) ** 2 + (v - j) ** 2 <= 0.25 + _EDGE_TOLERANCE
    return inside


def _annulus(u, v):
    """Return a mask of the points in a ring around the centre, of radius 1 to 1.5."""
    squared_radius = (u - 2) ** 2 + (v - 2) ** 2
    return (squared_radius >= 1 - _EDGE_TOLERANCE) & (squared_radius <= 2.25 + _EDGE_TOLERANCE)


def _disjunctive(u, v):
    """Return a mask of the points in four L-shaped polygons.

    The polygons are turned by 0, 90, 180 and 270 degrees in the order of a grid, not of a circle
    about its centre. A circle would make the pattern symmetric, so that a sum of stumps could fit
    it without errors.
    """
    inside = np.zeros(len(u), bool)
    for turns, (i, j) in enumerate(itertools.product((1, 3), repeat=2)):
        du, dv = u - i, v - j
        for _ in range(turns):
            du, dv = dv, -du
        is_inside_square = (np.abs(du) <= 0.7 + _EDGE_TOLERANCE) & (
            np.abs(dv) <= 0.7 + _EDGE_TOLERANCE
        )
        inside |= is_inside_square & (np.minimum(du, dv) < -0.1 - _EDGE_TOLERANCE)
    return inside


def _checkerboard(u, v):
    """Return a mask of every other square of a board of 3 x 3 squares, with sides of 4/3."""
    column, row = (np.minimum(3 * values // 4, 2) for values in (u, v))
    return (column + row) % 2 == 0


#: Patterns by name: functions from coordinates to a mask.
_PATTERNS = {
    # The paper leaves out the 2; then 93 % of the points would be inside.
    "sine": lambda u, v: v > 0.84 * np.sin(1.78 * u) + 2,
    "linear": lambda u, v: v > 1.87 * u - 1.74,
    "parity": _parity,
    "annulus": _annulus,
    # The paper has "+ 1" inside the fraction; then AdaBoost is more accurate than published.
    "parabolic": lambda u, v: v > (u - 2) ** 2 / (4 * 0.25) + 1,
    "disjunctive": _disjunctive,
    "polynomial": lambda u, v: v > (u - 2) ** 3 / 2 + (u - 2.2) ** 2 / 2 + 2,
    "checkerboard": _checkerboard,
}


def load_builtin(name: str, loader: str) -> Dataset:
    """Load a data set that ships with scikit-learn, by a loader such as ``"load_wine"``."""
    load = _sklearn_function(loader, "load_")
    make = functools.partial(load, return_X_y=True)
    dataset = _make_dataset(name, make, loader, f"scikit-learn {loader}")
    names = getattr(load(), "feature_names", None)
    return dataset if names is None else replace(dataset, names=list(map(str, names)))


def rescale_like_libsvm(dataset: Dataset) -> Dataset:
    """Scale a data set so that it equals the scaled file of LIBSVM's collection.

    LIBSVM's ``svm-scale`` reads features in single precision, scales each to [-1, 1] over all rows
    and prints six digits; its classes count from 1.

    Parameters
    ----------
    dataset : Dataset
        Data set with dense features that are not constant, and whole numbers as classes.

    Examples
    --------
    >>> toy = Dataset("toy", np.array([[1.0], [2.0], [7.0]]), np.array([0, 1, 1]), "made here")
    >>> rescale_like_libsvm(toy).X.ravel()
    array([-1.      , -0.666667,  1.      ])
    """
    X = dataset.X.astype(np.float32).astype(float)
    low, high = X.min(axis=0), X.max(axis=0)
    scaled = 2 * ((X - low) / (high - low)) - 1
    rounded = np.array([float(f"{value:.6g}") for value in scaled.flat]).reshape(X.shape)
    source = f"{dataset.source}, scaled as in LIBSVM's collection"
    return replace(dataset, X=rounded, y=dataset.y - dataset.y.min() + 1, source=source)


def generate(name: str, function_name: str, /, **arguments: Any) -> Dataset:
    """Generate a data set.

    Parameters
    ----------
    name : str
        Name of the data set.
    function_name : str
        Name of a generator from `boostbench.data.sources.generators` or `sklearn.datasets`, such as
        ``"make_hastie_10_2"``.
    **arguments
        Arguments of the generator, with ``random_state``, so that every load returns the same data.

    Returns
    -------
    Dataset

    Raises
    ------
    UserError
        If there is no such function, or it does not accept the arguments.
    """
    is_of_project = function_name in _GENERATORS
    make = (
        _GENERATORS[function_name] if is_of_project else _sklearn_function(function_name, "make_")
    )
    argument_text = ", ".join(f"{key}={value}" for key, value in arguments.items())
    origin = f"our own {function_name}" if is_of_project else function_name
    source = f"generated by {origin}({argument_text})"
    return _make_dataset(name, functools.partial(make, **arguments), function_name, source)


def _make_dataset(name: str, make: Callable, function_name: str, source: str) -> Dataset:
    """Return the data set of a function that returns features and labels.

    Parameters
    ----------
    name : str
        Name of the data set.
    make : callable
        Function without arguments.
    function_name : str
        Name of the function in messages.
    source : str
        Origin, see `Dataset`.
    """
    try:
        X, y = make()
        X = X.astype(float)
    except Exception as error:  # functions raise any error for wrong arguments
        reason = " ".join(str(error).split()) or type(error).__name__
        raise UserError(f"data set {name!r}: {function_name} says: {reason}") from None
    if X.ndim != 2 or np.shape(y) != X.shape[:1]:
        raise UserError(f"data set {name!r}: {function_name} gives no features with one label each")
    return Dataset(name, X, parse_labels(y, f"data set {name!r}, {function_name}"), source)


def _sklearn_function(function_name: str, prefix: str) -> Callable:
    """Return a function of `sklearn.datasets`, after checking its name.

    Parameters
    ----------
    function_name : str
        Name of the function.
    prefix : {"load_", "make_"}
        Required start of the name.

    Raises
    ------
    UserError
        If scikit-learn has no such function.
    """
    from sklearn import datasets  # slow to import

    if not function_name.startswith(prefix) or not hasattr(datasets, function_name):
        raise UserError(
            f"scikit-learn has no function datasets.{function_name} to {prefix[:-1]} data"
        )
    return getattr(datasets, function_name)


#: The project's own generators, by their names in ``data.generate``.
_GENERATORS = {
    make.__name__: make
    for make in (make_gaussians, make_pattern, make_ringnorm, make_twonorm, make_waveform)
}
