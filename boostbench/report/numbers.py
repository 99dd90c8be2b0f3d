"""How numbers are printed, in every kind of table."""

from collections.abc import Sequence
from math import isnan

import numpy as np


def mean_std(mean: float, std: float) -> str:
    """Print a mean and a standard deviation as the papers do, e.g. ``"2.9 (2.4)"``."""
    return f"{mean:.1f}" if isnan(std) else f"{mean:.1f} ({std:.1f})"


def seconds(value: float | None) -> str:
    """Print seconds with three significant digits, ``"-"`` for None.

    Examples
    --------
    >>> seconds(0.01234), seconds(12.345), seconds(1234.5), seconds(None)
    ('0.0123', '12.3', '1234', '-')
    """
    if value is None:
        return "-"
    return f"{value:.0f}" if value >= 1000 else f"{value:#.3g}".rstrip(".")


def differences(a: Sequence[float], b: Sequence[float], digits: int = 1) -> np.ndarray:
    """Subtract paired numbers as they are printed.

    Parameters
    ----------
    a, b : sequence of float of the same length
        Paired numbers, e.g. mean test errors in percent on the same data sets.
    digits : int, default=1
        Printed digits. Differences are rounded to them as well: what prints as a tie must be one,
        and two differences that print alike must be equal.

    Returns
    -------
    ndarray of float64
        ``a - b``.
    """
    printed = [np.round(np.asarray(values, dtype=float), digits) for values in (a, b)]
    return np.round(printed[0] - printed[1], digits)
