"""What the config of a data set may say."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from boostbench import configs
from boostbench.data.dataset import COUNTS
from boostbench.data.missing import CHOICES
from boostbench.errors import UserError, unknown


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _is_count(value: Any, least: int = 1) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _is_range(value: Any) -> bool:
    return (
        _is_list(value, lambda row: _is_count(row, 0)) and len(value) == 2 and value[0] < value[1]
    )


def _is_list(value: Any, of: Callable[[Any], bool]) -> bool:
    return isinstance(value, (list, tuple)) and all(map(of, value))


def _is_label(value: Any) -> bool:
    return _is_text(value) or (isinstance(value, int) and not isinstance(value, bool))


def _are_counts(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and value.keys() <= COUNTS.keys()
        and all(count is None or _is_count(count) for count in value.values())
    )


#: What the data of a task of OpenML are called, with its number behind.
TASK = "openml-task-"
#: Where data come from; a task says it all.
_SOURCES = ("path", "openml", "sklearn", "generate")

# Of descriptors; their module is slow to import.
KINDS = ("gist", "hog", "hog_pyramid")

_COUNTS = (_are_counts, f"numbers of {', '.join(COUNTS)}")
_TRAIN_ROWS = (_is_count, "a number of rows")
_PATTERNS = (lambda value: _is_list(value, _is_text), "a list of columns")
_OPENML = {
    "id": (_is_count, "a number"),
    "target": (_is_text, "the name of a column"),
    "keep": _PATTERNS,
    "drop": _PATTERNS,
    "train_rows": _TRAIN_ROWS,
    "expect": _COUNTS,
}
_DESCRIPTOR = {
    "kind": (lambda value: value in KINDS, " or ".join(KINDS)),
    "shape": (lambda value: _is_list(value, _is_count), "[height, width] or [height, width, 3]"),
}
#: For each key of a config: whether a value may be there, and what may be, in words.
_KEYS = {
    "name": (_is_text, "text"),
    "path": (_is_text, "the path of a file, as text"),
    "openml_task": (_is_count, "the number of a task of OpenML"),
    "labels": (_is_label, "the name of a column"),
    "missing": (lambda value: value in CHOICES, f"null, {', '.join(CHOICES)}"),
    "na_values": (
        lambda value: _is_list(value, lambda one: _is_label(one) or isinstance(one, float)),
        "a list of words or numbers, such as [unknown,-999]",
    ),
    "file": (_is_text, "text"),
    "features": (_is_range, "[start, stop], numbers of features from 0"),
    "rows": (_is_range, "[start, stop], numbers of rows from 0"),
    "classes": (
        lambda value: _is_count(value, 0) or _is_list(value, _is_label),
        "a number of classes, or a list of labels",
    ),
    "positive": (lambda value: _is_list(value, _is_label), "a list of labels"),
    "pools": (
        lambda value: _is_list(value, _is_count) and len(value) == 3,
        "[number, splits of each, rows of each class]",
    ),
    "redraw": (_is_count, "a number of rows of each class"),
    "train_rows": _TRAIN_ROWS,
    "openml": (lambda value: isinstance(value, Mapping) and "id" in value, "a mapping with an id"),
    "sklearn": (_is_text, "the name of a loader, such as load_wine"),
    "as_in_libsvm": (lambda value: isinstance(value, bool), "true or false"),
    "generate": (
        lambda value: isinstance(value, Mapping) and _is_text(value.get("function")),
        "a mapping with the name of a function and its arguments",
    ),
    "seed": (lambda value: _is_count(value, 0), "a whole number, 0 or more"),
    "descriptor": (
        lambda value: isinstance(value, Mapping) and {"kind", "shape"} <= value.keys(),
        "a mapping with kind and shape",
    ),
    "expect": _COUNTS,
}


def check(spec: Mapping[str, Any]) -> None:
    """Refuse what the config of a data set may not say.

    Parameters
    ----------
    spec : mapping
        As for `boostbench.data.load`.

    Raises
    ------
    UserError
        An unknown key, with the near matches, or a value of another kind.

    Examples
    --------
    >>> check({"name": "toy", "rows": [0, 3]})
    """
    _check(spec, _KEYS, "data")
    if spec.get("name") is None:
        raise UserError("data.name is missing; a data set needs a name")
    others = [key for key in _SOURCES if spec.get(key)] if spec.get("openml_task") else []
    if others:
        raise UserError(
            f"data.openml_task says where the data come from; it cannot go with data.{others[0]}, "
            f"which {spec['name']} has; leave one of them out"
        )
    _check(spec.get("openml") or {}, _OPENML, "data.openml")
    _check(spec.get("descriptor") or {}, _DESCRIPTOR, "data.descriptor")


def cut_of(spec: Mapping[str, Any]) -> dict:
    """Say how a config of a data set departs from that of its name in ``conf/data``.

    Returns
    -------
    dict
        In JSON types: such as the classes that are taken, or the path of a file of the user's own.
        `boostbench.data.load` gives the same data for the config of that name with these values.
    """
    name = spec.get("name")
    named = configs.read("data", name) if name in configs.names("data") else {"name": name}
    cut = {key: value for key, value in spec.items() if value != named.get(key)}
    if isinstance(cut.get("path"), str) and Path(cut["path"]).is_relative_to(Path.cwd()):
        cut["path"] = str(Path(cut["path"]).relative_to(Path.cwd()))
    return cut


def _check(spec: Mapping, keys: Mapping, where: str) -> None:
    for key, value in spec.items():
        if key not in keys:
            raise unknown(f"key of {where}", str(key), keys, listed=False)
        is_right, what = keys[key]
        if value is not None and not is_right(value):
            raise UserError(f"{where}.{key} is {value!r}; it must be {what}")
