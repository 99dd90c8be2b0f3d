"""Titles of the data sets that records are of.

A data set is identified by its name and the checksum of its values. Its name alone does not do: it
may be the stem of a file name, and files in different folders may share that.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping

#: Digits of a checksum in a title.
_CHECKSUM_DIGITS = 8


def title_data_sets(data: Iterable[Mapping]) -> dict[tuple[str, str], str]:
    """Give each data set a title that no other one has.

    Parameters
    ----------
    data : iterable of mapping
        The ``data`` of the configs of records.

    Returns
    -------
    dict of (str, str) to str
        Titles by name and checksum. The title is the name. Where several data sets have one name,
        the settings in which they differ stand behind it, such as the path of the file, and the
        checksum where the settings are equal, too.

    Examples
    --------
    >>> paths = {"0f": "a/iris.csv", "1e": "b/iris.csv"}
    >>> data = [{"name": "iris", "checksum": c, "cut": {"path": p}} for c, p in paths.items()]
    >>> list(title_data_sets(data).values())
    ['iris (a/iris.csv)', 'iris (b/iris.csv)']
    """
    cuts: dict[str, dict[str, Mapping]] = {}
    for facts in data:
        cuts.setdefault(facts["name"], {}).setdefault(facts["checksum"], facts.get("cut", {}))
    titles = {}
    for name, by_checksum in cuts.items():
        settings = _differing_settings(by_checksum)
        n_equal = Counter(map(tuple, settings.values()))
        for checksum, texts in settings.items():
            if n_equal[tuple(texts)] > 1:
                texts = [*texts, f"checksum {checksum[:_CHECKSUM_DIGITS]}"]
            titles[name, checksum] = f"{name} ({', '.join(texts)})" if texts else name
    return titles


def _differing_settings(cuts: Mapping[str, Mapping]) -> dict[str, list[str]]:
    """Return the settings of each data set that are not equal in all of them, as text."""
    written = {
        checksum: {key: json.dumps(value, ensure_ascii=False) for key, value in cut.items()}
        for checksum, cut in cuts.items()
    }
    n_equal = Counter(setting for cut in written.values() for setting in cut.items())
    return {
        checksum: [
            cuts[checksum][key] if key == "path" else f"{key}={value}"
            for key, value in cut.items()
            # The expected shape follows from the other settings.
            if key != "expect" and n_equal[key, value] < len(cuts)
        ]
        for checksum, cut in written.items()
    }
