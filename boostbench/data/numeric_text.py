"""Which texts are numbers: Python and NumPy take ``1_1`` and digits of other scripts as well."""

import numpy as np


def is_plain_ascii(text: str) -> bool:
    """Whether a text has no character by which Python takes for a number what people do not.

    Examples
    --------
    >>> is_plain_ascii("11"), is_plain_ascii("cat"), is_plain_ascii("1_1"), is_plain_ascii("１")
    (True, True, False, False)
    """
    return text.isascii() and "_" not in text


def are_plain_ascii(texts: np.ndarray) -> bool:
    """Whether each of some texts is plain, see `is_plain_ascii`.

    Parameters
    ----------
    texts : ndarray of shape (n_texts,), str

    Examples
    --------
    >>> are_plain_ascii(np.array(["11", "1"])), are_plain_ascii(np.array(["11", "1_1"]))
    (True, False)
    """
    native = np.ascontiguousarray(texts, texts.dtype.newbyteorder("="))
    characters = native.view(np.uint32)  # all at once, as there may be millions
    return bool(characters.max(initial=0) < 128 and not (characters == ord("_")).any())


def is_number(text: str) -> bool:
    """Whether a text is a number, perhaps infinite or NaN, with blanks around it or not.

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
