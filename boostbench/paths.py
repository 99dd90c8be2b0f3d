"""Paths as users write them."""

import os
from pathlib import Path


def user_path(text: str) -> Path:
    """Return a path, with ``~`` for a home folder.

    That of a user whom nobody knows stays as it is, a path where nothing is: `Path.expanduser`
    raises a RuntimeError instead.
    """
    return Path(os.path.expanduser(text))
