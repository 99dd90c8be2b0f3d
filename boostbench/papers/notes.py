"""Known reasons for differences, from the ``notes.yaml`` of a paper's folder.

A note fits a cell where all its keys do: ``table`` is a published table, ``data`` a row of ours,
and all other keys are columns of the published table; a list holds alternatives.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import yaml

from boostbench.papers.metadata import published_table, tables


def find_note(table: str, where: Mapping[str, str]) -> str | None:
    """Return the reason why a number may not be reproduced.

    Parameters
    ----------
    table : str
        Name of the published table; a file of published numbers has no notes.
    where : mapping of str to str
        ``data``, ``algo`` and the other columns that distinguish the lines of the table.

    Returns
    -------
    str or None
        First note of the file that fits; None without one.
    """
    if table not in tables():
        return None
    place = {**where, "table": table}
    path = published_table(table).path.with_name("notes.yaml")
    return next((text for about, text in _read_notes(path) if _fits(about, place)), None)


@cache
def _read_notes(path: Path) -> list[tuple[dict[str, set[str]], str]]:
    if not path.exists():
        return []
    notes = []
    for entry in yaml.safe_load(path.read_text(encoding="utf-8")):
        note = " ".join(entry.pop("note").split())
        about = {
            key: set(map(str, value if isinstance(value, list) else [value]))
            for key, value in entry.items()
        }
        notes.append((about, note))
    return notes


def _fits(about: Mapping[str, set[str]], place: Mapping[str, str]) -> bool:
    return all(place.get(key) in values for key, values in about.items())
