"""Data options of records: the settings of ``data`` under which their data set was requested.

A record is reused for every request whose data have its checksum. It keeps the options of the first
request as ``cut`` of its data, and the options of later requests in ``also``. Readers that do not
load the data find records by these options.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from boostbench.spec.data import key_options

# Digits of a checksum in a title.
_CHECKSUM_DIGITS = 8


def has_options(record: Mapping[str, Any], options: Mapping[str, Any]) -> bool:
    """Return True if a record was requested with data options whose `key_options` are `options`."""
    first = record["config"]["data"].get("cut", {})
    if key_options(first) == options:  # most records have no other options
        return True
    return any(key_options(each) == options for each in record.get("also", ()))


def add_options(record: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with further data options."""
    return {**record, "also": [*record.get("also", ()), dict(options)]}


def merge_options(record: Mapping[str, Any], other: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return `record`, extended with the data options of `other`, a record of the same result.

    Cross-validation trials are looked up after the data set is loaded, and need no options.
    """
    if "fold" in record:
        return record
    for options in (other["config"]["data"].get("cut", {}), *other.get("also", ())):
        if not has_options(record, key_options(options)):
            record = add_options(record, options)
    return record


def title_data_sets(data: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], str]:
    """Return a unique title for each data set.

    A data set is identified by its name and the checksum of its values. A name may be the stem of a
    file name, which files in several folders share.

    Parameters
    ----------
    data : iterable of mapping
        The ``data`` of the configs of records.

    Returns
    -------
    dict of (str, str) to str
        Titles by name and checksum. The title is the name. If several data sets have this name, it
        is followed by the settings in which they differ, such as the path of the file, and by the
        checksum if all settings are equal.

    Examples
    --------
    >>> paths = {"0f": "a/iris.csv", "1e": "b/iris.csv"}
    >>> data = [{"name": "iris", "checksum": c, "cut": {"path": p}} for c, p in paths.items()]
    >>> list(title_data_sets(data).values())
    ['iris (a/iris.csv)', 'iris (b/iris.csv)']
    """
    options_by_name: dict[str, dict[str, Mapping[str, Any]]] = {}
    for facts in data:
        by_checksum = options_by_name.setdefault(facts["name"], {})
        by_checksum.setdefault(facts["checksum"], facts.get("cut", {}))
    titles = {}
    for name, by_checksum in options_by_name.items():
        settings = _differing_settings(by_checksum)
        n_equal = Counter(map(tuple, settings.values()))
        for checksum, texts in settings.items():
            if n_equal[tuple(texts)] > 1:
                texts = [*texts, f"checksum {checksum[:_CHECKSUM_DIGITS]}"]
            titles[name, checksum] = f"{name} ({', '.join(texts)})" if texts else name
    return titles


def _differing_settings(options: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the settings of each data set that are not equal in all of them, as text."""
    texts = {
        checksum: {key: json.dumps(value, ensure_ascii=False) for key, value in each.items()}
        for checksum, each in options.items()
    }
    n_equal = Counter(setting for each in texts.values() for setting in each.items())
    return {
        checksum: [
            options[checksum][key] if key == "path" else f"{key}={value}"
            for key, value in each.items()
            # The expected shape follows from the other settings.
            if key != "expect" and n_equal[key, value] < len(options)
        ]
        for checksum, each in texts.items()
    }
