"""Paths as users write them, and names of files that are made of text."""

import os
import re
import unicodedata
from itertools import groupby
from pathlib import Path


def user_path(text: str) -> Path:
    """Return a path, with ``~`` for a home folder.

    That of a user whom nobody knows stays as it is, a path where nothing is: `Path.expanduser`
    raises a RuntimeError instead.
    """
    return Path(os.path.expanduser(text))


def slug(text: str, punctuation: str, substitute: str = "_") -> str:
    """Replace each run of characters that a name of a file should not have.

    Parameters
    ----------
    text : str
        Any text.
    punctuation : str
        Characters that stay beside letters, digits and ``_``. Combining marks are letters: without
        them, names in Indic scripts and in Thai would become equal.
    substitute : str, default="_"
        Stands for each run.

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
