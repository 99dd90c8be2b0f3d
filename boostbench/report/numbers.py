"""How numbers are printed, in every kind of table."""

from collections.abc import Sequence
from math import isnan

import numpy as np

from boostbench.experiment.quantities import Quantity


def mean_std(mean: float, std: float, digits: int = 1) -> str:
    """Print a mean and a standard deviation as the papers do.

    Examples
    --------
    >>> mean_std(2.94, 2.4), mean_std(0.983, float("nan"), digits=3)
    ('2.9 (2.4)', '0.983')
    """
    return f"{mean:.{digits}f}" if isnan(std) else f"{mean:.{digits}f} ({std:.{digits}f})"


def printed(quantity: Quantity, mean: float, std: float) -> str:
    """Print a mean of a quantity with its standard deviation; of CPU times the mean alone."""
    return seconds(mean) if quantity.of_machine else mean_std(mean, std, quantity.digits)


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


def p_value(p: float | None) -> str:
    """Print a p-value with three digits, ``"-"`` for None.

    Examples
    --------
    >>> p_value(0.0312), p_value(2e-5), p_value(None)
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
        Printed digits. Differences are rounded to them as well: what prints as a tie must be one,
        and two differences that print alike must be equal.

    Returns
    -------
    ndarray of float64
        ``a - b``.
    """
    printed = [np.round(np.asarray(values, dtype=float), digits) for values in (a, b)]
    return np.round(printed[0] - printed[1], digits)
