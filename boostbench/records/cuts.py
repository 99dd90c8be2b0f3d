"""How the data of records were cut, by which readers without the data tell records apart.

A record is reused wherever the data come to the same, however they were asked for. It keeps the
first way as ``cut`` of its data, and those that came later in ``also``.
"""

from collections.abc import Mapping

from boostbench.spec.data import key_options


def is_cut_so(record: Mapping, cut: Mapping) -> bool:
    """Return True if a record was requested with data options whose `key_options` are `cut`."""
    recorded = record["config"]["data"].get("cut", {})
    return any(key_options(way) == cut for way in (recorded, *record.get("also", ())))


def with_ways_of(record: Mapping, other: Mapping) -> Mapping:
    """Give a record with the ways in which another of the same result was asked for; or itself.

    Nobody asks for a cross-validation trial but who has the data.
    """
    if "fold" in record:
        return record
    for way in (other["config"]["data"].get("cut", {}), *other.get("also", ())):
        if not is_cut_so(record, key_options(way)):
            record = with_cut(record, way)
    return record


def with_cut(record: Mapping, cut: Mapping) -> dict:
    """Give a record with one more way of asking for its data."""
    return {**record, "also": [*record.get("also", ()), dict(cut)]}
