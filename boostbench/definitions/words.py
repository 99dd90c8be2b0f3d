"""Words on the command line of commands that only read records."""

from collections.abc import Sequence
from pathlib import Path

from boostbench.errors import UserError


def split_words(command: str, words: Sequence[str]) -> tuple[list[str], Path]:
    """Tell names from ``results=DIR``.

    Parameters
    ----------
    command : str
        Whose words they are.
    words : sequence of str
        As on the command line.

    Returns
    -------
    names : list of str
    results : Path
        Folder of the records, by default ``results``.

    Raises
    ------
    UserError
        Another override.
    """
    names, results = [], Path("results")
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            names.append(word)
        elif key == "results" and value:
            results = Path(value)
        else:
            raise UserError(f"{command} knows only results=DIR, not {word!r}: it runs nothing")
    return names, results
