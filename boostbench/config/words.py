"""Words of commands that only read what is on record."""

from collections.abc import Sequence
from pathlib import Path

from boostbench.util.errors import UserError, invalid_folder_error
from boostbench.util.user_paths import user_path


def split_words(command: str, words: Sequence[str]) -> tuple[list[str], Path]:
    """Tell names from ``results=DIR``, in the words of a command that only reads records.

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
        Another override, or no folder.
    """
    names, results = [], Path("results")
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            names.append(word)
        elif word == "results=":
            raise invalid_folder_error(value)
        elif key == "results":
            results = user_path(value)
        else:
            raise UserError(
                f"{command} goes by what is on record and takes results=DIR alone, not {word!r}; "
                f"'boostbench table NAME {word}' shows what that gives"
            )
    return names, results
