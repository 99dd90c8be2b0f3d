"""What the config of a data set may say."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

from msgspec import Meta

from boostbench import configs
from boostbench.data.dataset import COUNTS
from boostbench.data.missing_values import CHOICES
from boostbench.errors import UserError
from boostbench.paths import user_path
from boostbench.util import validation
from boostbench.util.validation import said, words

#: Where data come from; a task says it all.
_SOURCES = ("path", "openml", "sklearn", "generate")

_text = partial(said, str, min_length=1)
_count = partial(said, int, ge=1)
_Text, _Count = Annotated[str, Meta(min_length=1)], Annotated[int, Meta(ge=1)]
_Label = _Text | int
_Range = tuple[Annotated[int, Meta(ge=0)], _Count]
_Counts = dict[Literal[tuple(COUNTS)], _Count | None]


# What a mapping must hold, whatever else there is.
class _OfOpenML(TypedDict):
    id: Any


class _OfImages(TypedDict):
    kind: Any
    shape: Any


class _Call(TypedDict):
    function: _Text


def _or_null(**kinds: Any) -> dict[str, Any]:
    return {key: kind | None for key, kind in kinds.items()}


_EXPECT = said(_Counts, f"numbers of {', '.join(COUNTS)}")
_TRAIN_ROWS = _count("a number of rows")
_FEATURES = said(_Range, "[start, stop], numbers of features from 0")
_PATTERNS = said(list[_Text], "a list of columns")
_OPENML = _or_null(
    id=_count("a number"),
    target=_text("the name of a column"),
    keep=_PATTERNS,
    drop=_PATTERNS,
    features=_FEATURES,
    train_rows=_TRAIN_ROWS,
    expect=_EXPECT,
)
_DESCRIPTOR = {
    "kind": Literal["gist", "hog", "hog_pyramid"],
    "shape": said(list[_Count], "[height, width] or [height, width, 3]"),
}
_KEYS = _or_null(
    name=_text("text"),
    path=_text("the path of a file, as text"),
    labels=said(_Label, "the name of a column"),
    missing=said(Literal[CHOICES], f"null, {', '.join(CHOICES)}"),
    na_values=said(list[_Text | int | float], "a list of words or numbers, such as [unknown,-999]"),
    header=said(bool, "true or false"),
    file=_text("text"),
    features=_FEATURES,
    rows=said(_Range, "[start, stop], numbers of rows from 0"),
    classes=said(
        Annotated[int, Meta(ge=0)] | list[_Label], "a number of classes, or a list of labels"
    ),
    positive=said(list[_Label], "a list of labels"),
    pools=said(tuple[_Count, _Count, _Count], "[number, splits of each, rows of each class]"),
    redraw=_count("a number of rows of each class"),
    train_rows=_TRAIN_ROWS,
    openml=said(_OfOpenML, "a mapping with an id"),
    openml_task=_count("the number of a task of OpenML"),
    sklearn=_text("the name of a loader, such as load_wine"),
    as_in_libsvm=said(bool, "true or false"),
    generate=said(_Call, "a mapping with the name of a function and its arguments"),
    seed=said(int, "a whole number, 0 or more", ge=0),
    descriptor=said(_OfImages, "a mapping with kind and shape"),
    expect=_EXPECT,
)


def check(spec: Mapping[str, Any]) -> None:
    """Refuse what the config of a data set may not say, see `boostbench.util.validation.check`.

    Examples
    --------
    >>> check({"name": "toy", "rows": [0, 3]})
    """
    validation.check(_KEYS, spec, "data")
    if spec.get("name") is None:
        raise UserError("data.name is missing; a data set needs a name")
    others = [key for key in _SOURCES if spec.get(key)] if spec.get("openml_task") else []
    if others:
        raise UserError(
            f"data.openml_task says where the data come from; it cannot go with data.{others[0]}, "
            f"which {spec['name']} has; leave one of them out"
        )
    validation.check(_OPENML, spec.get("openml") or {}, "data.openml")
    validation.check(_DESCRIPTOR, spec.get("descriptor") or {}, "data.descriptor")
    validation.check_finite(spec, "data")
    for key in ("features", "rows"):
        if spec.get(key) and spec[key][0] >= spec[key][1]:
            raise UserError(f"data.{key} is {spec[key]!r}; it must be {words(_KEYS[key])}")


def cut_of(spec: Mapping[str, Any]) -> dict:
    """Say how a config of a data set departs from that of its name in ``conf/data``.

    Returns
    -------
    dict
        In JSON types: such as the classes that are taken, or the path of a file of the user's own;
        None for what that of its name has alone. `boostbench.data.load` gives the same data for the
        config of that name with these values.
    """
    name = spec.get("name")
    named = configs.read("data", name) if name in configs.names("data") else {"name": name}
    cut = {key: value for key, value in spec.items() if value != named.get(key)}
    cut |= dict.fromkeys(key for key, value in named.items() if value and key not in spec)
    if isinstance(cut.get("path"), str):
        path, here = user_path(cut["path"]).absolute(), Path.cwd()
        path = path.relative_to(here) if path.is_relative_to(here) else path
        cut["path"] = path.as_posix()  # records are found by it on any system
    return cut
