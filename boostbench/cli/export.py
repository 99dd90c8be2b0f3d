"""``boostbench export``: all splits on record as one file for other programs."""

from collections.abc import Sequence
from pathlib import Path

from boostbench.definitions.files import split_words
from boostbench.errors import UserError, complain
from boostbench.report.frame import read_frame, write_frame


def export(words: Sequence[str], output: Path | None = None) -> int:
    """Write a row for each split on record.

    Parameters
    ----------
    words : sequence of str
        Perhaps ``results=DIR``, the folder of the records.
    output : Path, default=<results>/splits.csv
        The file, ``*.csv`` or ``*.parquet``.

    Returns
    -------
    int
        0.

    Raises
    ------
    UserError
        If nothing is on record, or the file cannot be written.
    """
    names, results = split_words("export", words)
    if names:
        raise UserError(f"export takes results=DIR alone, not {names[0]!r}")
    frame, warnings = read_frame(results)
    for warning in warnings:
        complain(warning)
    path = results / "splits.csv" if output is None else output
    write_frame(frame, path)
    print(f"written: {path} ({len(frame)} splits, {int(frame['error'].notna().sum())} failed)")
    return 0
