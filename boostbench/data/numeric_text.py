"""Which texts are numbers: Python and NumPy take ``1_1`` and digits of other scripts as well."""

import numpy as np


def is_plain(text: str) -> bool:
    """Whether a text has no character by which Python takes for a number what people do not.

    Examples
    --------
    >>> is_plain("11"), is_plain("cat"), is_plain("1_1"), is_plain("１")
    (True, True, False, False)
    """
    return text.isascii() and "_" not in text


def all_plain(texts: np.ndarray) -> bool:
    """Whether each of some texts is plain, see `is_plain`.

    Parameters
    ----------
    texts : ndarray of shape (n_texts,), str

    Examples
    --------
    >>> all_plain(np.array(["11", "1"])), all_plain(np.array(["11", "1_1"]))
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
    return is_plain(text)
