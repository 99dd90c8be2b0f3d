"""Rounding and formatting of numbers, the same in all tables, tests, files and figures."""

from collections.abc import Sequence
from math import isnan

import numpy as np
from numpy.typing import ArrayLike

#: One half in units of the last digit, with a tolerance for halves that floating point represents a
#: little too low.
_HALF = 0.5 + 1e-9


def rounded(values: ArrayLike, digits: int) -> np.ndarray | np.float64:
    """Round to decimals, halves away from zero, as decimal numbers are rounded by hand.

    A mean of 50 splits of 40 test samples is 0.05, 0.15, 0.25, ... exactly, while binary floating
    point has numbers a little below or above these. A value within 1e-9 units of the last digit of
    a half is therefore rounded as a half.

    Parameters
    ----------
    values : array-like of float
        Numbers; NaN stays.
    digits : int
        Decimals.

    Returns
    -------
    float64 or ndarray of float64
        Array of the shape of `values`; never -0.

    Examples
    --------
    >>> rounded([0.05, 0.15, 2.35, -0.05, -0.04, 0.049], 1).tolist()
    [0.1, 0.2, 2.4, -0.1, 0.0, 0.0]
    """
    values = np.asarray(values, dtype=float)
    units = np.floor(np.abs(values) * 10.0**digits + _HALF)
    # Adding 0.0 turns -0.0 into 0.0.
    return np.copysign(units, values) / 10.0**digits + 0.0


def round_significant(value: float, digits: int) -> float:
    """Round to significant digits.

    Examples
    --------
    >>> round_significant(0.00123456, 3), round_significant(98765.4, 3)
    (0.00123, 98800.0)
    """
    return float(f"{value:.{digits}g}")


def fixed(value: float, digits: int, sign: str = "") -> str:
    """Format a number with `digits` decimals, see `rounded`; ``sign="+"`` writes a plus sign, too.

    Examples
    --------
    >>> fixed(0.15, 1), fixed(-0.04, 1, "+"), fixed(12.5, 0)
    ('0.2', '+0.0', '13')
    """
    return f"{rounded(value, digits):{sign}.{digits}f}"


def mean_std(mean: float, std: float, digits: int = 1) -> str:
    """Format a mean and a standard deviation as the papers do.

    Examples
    --------
    >>> mean_std(2.94, 2.4), mean_std(0.983, float("nan"), digits=3)
    ('2.9 (2.4)', '0.983')
    """
    return fixed(mean, digits) + ("" if isnan(std) else f" ({fixed(std, digits)})")


def format_seconds(value: float | None) -> str:
    """Format seconds with three significant digits, ``"-"`` for None.

    Examples
    --------
    >>> [format_seconds(value) for value in (0.01234, 12.345, 999.7, 1234.5, None)]
    ['0.0123', '12.3', '1000', '1234', '-']
    """
    if value is None:
        return "-"
    # Three significant digits of 999.5 and more would be written with an exponent: 1e+03.
    return f"{value:.0f}" if value >= 999.5 else f"{value:#.3g}".rstrip(".")


def format_ratio(value: float) -> str:
    """Format a ratio with two significant digits, and from 100 on without decimals.

    Examples
    --------
    >>> format_ratio(0.123), format_ratio(5.56), format_ratio(120.2)
    ('0.12', '5.6', '120')
    """
    return f"{value:.0f}" if value >= 99.5 else f"{value:.2g}"


def format_p_value(p: float | None) -> str:
    """Format a p-value with three decimals, ``"-"`` for None or NaN.

    Examples
    --------
    >>> format_p_value(0.0312), format_p_value(2e-5), format_p_value(None)
    ('0.031', '<0.001', '-')
    """
    if p is None or isnan(p):
        return "-"
    return f"{p:.3f}" if p >= 0.001 else "<0.001"


def differences(a: Sequence[float], b: Sequence[float], digits: int = 1) -> np.ndarray:
    """Subtract paired numbers as they are printed.

    Parameters
    ----------
    a, b : sequence of float of the same length
        Paired numbers, e.g. mean test errors in percent on the same data sets.
    digits : int, default=1
        Printed decimals. Differences are rounded to them as well, so that numbers that print alike
        are ties, and differences that print alike are equal.

    Returns
    -------
    ndarray of float64
        ``a - b``.
    """
    return rounded(rounded(a, digits) - rounded(b, digits), digits)
