"""What is known of the reasons for differences, from ``transcribed/notes.yaml``."""

from collections.abc import Mapping
from functools import cache

import yaml

from boostbench.papers.metadata import read_text


def find_note(table: str, where: Mapping[str, str]) -> str | None:
    """Look up why a number may not be reproduced.

    Parameters
    ----------
    table : str
        Name of the published table's CSV file without its ending.
    where : mapping of str to str
        ``data``, ``algo`` and whatever else the published table tells its lines apart by.

    Returns
    -------
    str or None
        The first note of the file that fits; None where nothing is known.
    """
    place = {**where, "table": table}
    return next((text for about, text in _notes() if _fits(about, place)), None)


@cache
def _notes() -> list[tuple[dict[str, set[str]], str]]:
    notes = []
    for entry in yaml.safe_load(read_text("notes.yaml")):
        note = " ".join(entry.pop("note").split())
        about = {
            key: set(map(str, value if isinstance(value, list) else [value]))
            for key, value in entry.items()
        }
        notes.append((about, note))
    return notes


def _fits(about: Mapping[str, set[str]], place: Mapping[str, str]) -> bool:
    return all(place.get(key) in values for key, values in about.items())
