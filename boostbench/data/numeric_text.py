"""Recognition of numbers in text.

Python and NumPy also parse ``1_1`` and digits of other scripts, which data files do not mean.
"""

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from boostbench.spec.data import Decimal, Thousands

#: Characters of each mark, as a class of a regular expression. Typesetters use narrow spaces.
_MARKS = {
    "point": r"[.]",
    "comma": r"[,]",
    "space": "[ \u00a0\u2009\u202f]",
    "apostrophe": "['\u2019]",
}


@dataclass(frozen=True)
class Notation:
    """Marks of the numbers in a file.

    Parameters
    ----------
    decimal : {"point", "comma"}, default="point"
        Mark before the fraction.
    thousands : {"point", "comma", "space", "apostrophe"}, default=None
        Mark between groups of three digits. None: there is none.
    """

    decimal: Decimal = "point"
    thousands: Thousands | None = None

    @cached_property
    def _pattern(self) -> re.Pattern:
        mark = _MARKS[self.decimal]
        grouped = rf"\d{{1,3}}({_MARKS[self.thousands]}\d{{3}})+|" if self.thousands else ""
        digits = rf"({grouped}\d+)({mark}\d*)?|{mark}\d+"
        return re.compile(rf"[-+]?({digits})([eE][-+]?\d+)?|[-+]?inf(inity)?", re.ASCII | re.I)

    def normalize(self, text: str) -> str | None:
        """Return a number with a decimal point and nothing between thousands; None for other text.

        Examples
        --------
        >>> Notation("comma", "point").normalize("1.234,5"), Notation("comma").normalize("1.5")
        ('1234.5', None)
        >>> Notation(thousands="space").normalize("12 685")
        '12685'
        """
        if not self._pattern.fullmatch(text):
            return None
        if self.thousands:
            text = re.sub(_MARKS[self.thousands], "", text)
        return text.replace(",", ".")


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
    characters = native.view(np.uint32)  # An array operation is fast enough for millions of texts.
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
