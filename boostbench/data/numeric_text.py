"""Recognition of numbers in text.

Python and NumPy also parse ``1_1`` and digits of other scripts, which data files do not mean.
"""

import numpy as np


def is_plain_ascii(text: str) -> bool:
    """Return whether a text has only ASCII characters and no underscore.

    Examples
    --------
    >>> is_plain_ascii("11"), is_plain_ascii("cat"), is_plain_ascii("1_1"), is_plain_ascii("１")
    (True, True, False, False)
    """
    return text.isascii() and "_" not in text


def is_all_plain_ascii(texts: np.ndarray) -> bool:
    """Return whether all texts have only ASCII characters and no underscore.

    Parameters
    ----------
    texts : ndarray of shape (n_texts,), str

    Examples
    --------
    >>> is_all_plain_ascii(np.array(["11", "1"])), is_all_plain_ascii(np.array(["11", "1_1"]))
    (True, False)
    """
    native = np.ascontiguousarray(texts, texts.dtype.newbyteorder("="))
    characters = native.view(np.uint32)  # one array operation, as there may be millions
    return bool(characters.max(initial=0) < 128 and not (characters == ord("_")).any())


def is_number(text: str) -> bool:
    """Return whether a text is a number, infinite or NaN; blanks around it are allowed.

    Examples
    --------
    >>> is_number(" +1.5e3"), is_number("1_1"), is_number("cat")
    (True, False, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return is_plain_ascii(text)
