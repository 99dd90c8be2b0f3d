"""Paths from user input, and file names made from text."""

import os
import re
import unicodedata
from itertools import groupby
from pathlib import Path


def user_path(text: str) -> Path:
    """Return a path in which ``~`` is replaced by the home folder.

    ``~`` with an unknown user name is not replaced; `Path.expanduser` raises a RuntimeError then.
    """
    return Path(os.path.expanduser(text))


def slug(text: str, punctuation: str, substitute: str = "_") -> str:
    """Return a text in which each run of characters unsuitable for file names is replaced.

    Parameters
    ----------
    text : str
        Any text.
    punctuation : str
        Characters to keep in addition to letters, digits and ``_``. Combining marks count as
        letters: without them, names in Indic scripts and in Thai would become equal.
    substitute : str, default="_"
        Replacement of each run.

    Examples
    --------
    >>> slug("my = data.csv", "."), slug("कि.csv", ".")
    ('my_data.csv', 'कि.csv')
    """

    def stays(character: str) -> bool:
        is_mark = unicodedata.category(character).startswith("M")
        return is_mark or character in punctuation or bool(re.match(r"\w", character))

    runs = groupby(text, stays)
    return "".join("".join(run) if is_kept else substitute for is_kept, run in runs)
