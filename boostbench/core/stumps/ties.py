"""Which of several weak learners is the best one, where rounding cannot tell.

Sums come out with other last digits when they are added up in another order: by another library of
linear algebra, in another layout of the data, from a sample of weight 2 instead of one twice. Of
weak learners whose sums differ by no more than such digits, a search takes the first in an order
that is that of the weak learners themselves: by feature, threshold and column.
"""

import numpy as np

# Sums that differ by no more than this part of the sum of all sizes are equal. It is far above what
# sums in double precision are off by, which for n samples is at most 3 n 2^-53 of that, and far
# below what matters to a model.
TIE_TOLERANCE = 2.0**-30


def argmax_with_tolerance(sizes, scale):
    """Find the first of the largest numbers.

    Parameters
    ----------
    sizes : ndarray of shape (..., n_sizes)
    scale : float or ndarray of shape (...)
        The sum of the sizes of what was added up: numbers are equal where they differ by no more
        than `TIE_TOLERANCE` of it.

    Returns
    -------
    int or ndarray of shape (...)

    Examples
    --------
    >>> int(argmax_with_tolerance(np.array([0.1, 0.3, 0.1 + 0.2]), scale=1.0))
    1
    """
    least = sizes.max(axis=-1) - TIE_TOLERANCE * np.asarray(scale)
    return (sizes >= least[..., None]).argmax(axis=-1)
