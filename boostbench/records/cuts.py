"""How the data of records were cut, by which readers without the data tell records apart.

A record is reused wherever the data come to the same, however they were asked for. It keeps the
first way as ``cut`` of its data, and those that came later in ``also``.
"""

from collections.abc import Mapping


def decisive(cut: Mapping) -> dict:
    """Leave out what is expected, and asked for missing values: a record has what came of it."""
    return {key: value for key, value in cut.items() if key not in ("expect", "missing")}


def is_cut_so(record: Mapping, cut: Mapping) -> bool:
    """Whether the data of a record were once asked for in a way, of which `decisive` is given."""
    recorded = record["config"]["data"].get("cut", {})
    return any(decisive(way) == cut for way in (recorded, *record.get("also", ())))


def with_ways_of(record: Mapping, other: Mapping) -> Mapping:
    """Give a record with the ways in which another of the same result was asked for; or itself.

    Nobody asks for a cross-validation trial but who has the data.
    """
    if "fold" in record:
        return record
    for way in (other["config"]["data"].get("cut", {}), *other.get("also", ())):
        if not is_cut_so(record, decisive(way)):
            record = with_cut(record, way)
    return record


def with_cut(record: Mapping, cut: Mapping) -> dict:
    """Give a record with one more way of asking for its data."""
    return {**record, "also": [*record.get("also", ()), dict(cut)]}
