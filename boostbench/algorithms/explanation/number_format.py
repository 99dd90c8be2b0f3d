"""Thresholds as text, with as many digits as they need."""

from math import floor

import numpy as np

# Numbers from here on have no digit after the point that anybody would read.
_MAX_WITH_FRACTION = 1e15
# Digits of a number in double precision.
_MAX_DIGITS = 17


def shortest_decimals(numbers, digits=6):
    """Write down thresholds of a feature, in few digits, as long as these say the same.

    Parameters
    ----------
    numbers : array-like of shape (n,)
        Finite.
    digits : int, default=6
        So many as a rule. There are more where a whole number below 1e15 would be on the other side
        of what is written, and where different numbers would read alike.

    Returns
    -------
    list of n str

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
        # One after the point, so that all halves are written alike.
        digits = max(digits, len(str(int(abs(number)))) + 1)
    for n_digits in range(digits, _MAX_DIGITS):
        text = f"{number:.{n_digits}g}"
        keeps_integer_part = is_huge or floor(float(text)) == floor(number)
        if keeps_integer_part and all(text != f"{other:.{n_digits}g}" for other in neighbours):
            return text
    return repr(number)
