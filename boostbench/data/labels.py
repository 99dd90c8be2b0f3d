"""Class labels: numbers where they are whole numbers, text otherwise."""

import numpy as np

from boostbench.errors import UserError


def as_labels(values, where: str) -> np.ndarray:
    """Turn what a file says into labels.

    Parameters
    ----------
    values : array-like of shape (n_samples,)
        Numbers or text.
    where : str
        What to call the source in messages, e.g. the file name.

    Returns
    -------
    ndarray of shape (n_samples,)
        int64 where every label is a whole number (``"+1"``, ``2.0``), else str.

    Raises
    ------
    UserError
        Labels missing, or numbers with fractions.

    Examples
    --------
    >>> as_labels(["+1", "-1.0"], "toy.csv").tolist()
    [1, -1]
    >>> as_labels(["cat", "dog"], "toy.csv").tolist()
    ['cat', 'dog']
    """
    values = np.asarray(values)
    if not np.issubdtype(values.dtype, np.number):
        values = np.char.strip(values.astype(str))
        missing = values == ""
    else:
        missing = np.isnan(values)
    if missing.any():
        raise UserError(
            f"{where}: {int(missing.sum())} labels are missing, the first in row "
            f"{int(missing.argmax()) + 1} (counted from 1); every row needs its class"
        )
    try:
        numbers = values.astype(float)
    except ValueError:
        return values
    with np.errstate(invalid="ignore"):
        whole = numbers.astype(np.int64)
    odd = whole != numbers
    if odd.any():
        first = int(odd.argmax())
        raise UserError(
            f"{where}: the label {values[first]} in row {first + 1} (counted from 1) is not a "
            "whole number, as in a regression set; name the column of classes by data.labels"
        )
    return whole
