"""How numbers are printed, in every kind of table."""

from math import isnan


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
