"""Formatting of thresholds with as many digits as necessary."""

from math import floor

import numpy as np

# Numbers of this size and above have no meaningful decimals.
_MAX_WITH_FRACTION = 1e15
# Significant digits that identify a number in double precision.
_MAX_DIGITS = 17


def shortest_decimals(numbers, digits=6):
    """Format thresholds of a feature with few digits that do not change their meaning.

    Parameters
    ----------
    numbers : array-like of shape (n,)
        Finite numbers.
    digits : int, default=6
        Usual number of significant digits. More are used if a whole number below 1e15 would change
        sides with the rounded threshold, or different numbers would have equal texts.

    Returns
    -------
    list of str
        Text of each number.

    Examples
    --------
    >>> shortest_decimals([2.45, 4.85, 1 / 3])
    ['2.45', '4.85', '0.333333']
    >>> shortest_decimals([2008.5, 2009.5, 2010.5], digits=3)
    ['2008.5', '2009.5', '2010.5']
    """
    numbers = np.asarray(numbers, float).tolist()
    distinct = sorted(set(numbers))
    neighbours = [np.nan, *distinct, np.nan]
    texts = {
        number: _shortest_decimal(number, (low, high), digits)
        for low, number, high in zip(neighbours, distinct, neighbours[2:], strict=False)
    }
    return [texts[number] for number in numbers]


def _shortest_decimal(number, neighbours, digits):
    is_huge = abs(number) >= _MAX_WITH_FRACTION
    if not is_huge:
        # Keep at least one decimal, so that all halves have the same format.
        digits = max(digits, len(str(int(abs(number)))) + 1)
    for n_digits in range(digits, _MAX_DIGITS):
        text = f"{number:.{n_digits}g}"
        keeps_integer_part = is_huge or floor(float(text)) == floor(number)
        if keeps_integer_part and all(text != f"{other:.{n_digits}g}" for other in neighbours):
            return text
    return repr(number)
