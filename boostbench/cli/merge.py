"""``boostbench merge``: unite the records of several folders of results."""

from collections.abc import Sequence
from pathlib import Path

from boostbench.definitions.files import split_words
from boostbench.errors import complain
from boostbench.experiment.union import unite


def merge(words: Sequence[str]) -> int:
    """Add the records of some folders to those of another, and say what became of them.

    Parameters
    ----------
    words : sequence of str
        The folders; and perhaps ``results=DIR``, the folder that they are added to.

    Returns
    -------
    int
        0; 1 where a folder has another result of the same work, or records cannot be read.

    Raises
    ------
    UserError
        If a folder has no records, or nothing can be written.
    """
    folders, results = split_words("merge", words)
    union = unite(map(Path, folders), results)
    for told in (*union.warnings, *union.conflicts):
        complain(told)
    kept = f"; of {len(union.conflicts)} the one that was there first stays"
    conflicts = kept if union.conflicts else ""
    print(f"{results}: {union.added} records added, {union.known} were there{conflicts}")
    return int(bool(union.warnings or union.conflicts))
