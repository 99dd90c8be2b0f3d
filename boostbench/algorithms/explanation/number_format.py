"""Thresholds as text, with as many digits as they need."""

from math import floor

import numpy as np

# Numbers from here on have no digit after the point that anybody would read.
_HUGE = 1e15
# Digits of a number in double precision.
_ALL = 17


def written(numbers, digits=6):
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
    >>> written([2.45, 4.85, 1 / 3])
    ['2.45', '4.85', '0.333333']
    >>> written([2008.5, 2009.5, 2010.5], digits=3)
    ['2008.5', '2009.5', '2010.5']
    """
    numbers = np.asarray(numbers, float).tolist()
    distinct = sorted(set(numbers))
    around = [np.nan, *distinct, np.nan]
    texts = {
        number: _written(number, (low, high), digits)
        for low, number, high in zip(around, distinct, around[2:], strict=False)
    }
    return [texts[number] for number in numbers]


def _written(number, others, digits):
    is_huge = abs(number) >= _HUGE
    if not is_huge:
        # One after the point, so that all halves are written alike.
        digits = max(digits, len(str(int(abs(number)))) + 1)
    for some in range(digits, _ALL):
        text = f"{number:.{some}g}"
        on_its_side = is_huge or floor(float(text)) == floor(number)
        if on_its_side and all(text != f"{other:.{some}g}" for other in others):
            return text
    return repr(number)
