"""``boostbench list``: what there is, read from the YAML files alone."""

from collections.abc import Callable
from textwrap import fill

from boostbench import configs


def print_list(what: str | None) -> int:
    """Print names and what they are.

    Parameters
    ----------
    what : {"algos", "data", "tables", "figures"} or None
        Which list; None prints all.

    Returns
    -------
    int
        0.
    """
    chosen = [what] if what else list(_LISTS)
    for index, heading in enumerate(chosen):
        group, describe = _LISTS[heading]
        if len(chosen) > 1:
            print(f"{chr(10) * (index > 0)}{heading}:")
        names = configs.names(group)
        width = max(map(len, names), default=0)
        for name in names:
            text = f"{name:{width}}  {describe(configs.read(group, name))}"
            print(fill(text, 80, subsequent_indent=" " * (width + 2)))
    return 0


def _algorithm(config: dict) -> str:
    return f"{config['title']}: {config['paper']}"


def _data(config: dict) -> str:
    expect = config.get("expect") or {}
    shape = ", ".join(f"{number} {what}" for what, number in expect.items())
    return shape or "any shape"


def _title(config: dict) -> str:
    return config["title"]


_LISTS: dict[str, tuple[str, Callable[[dict], str]]] = {
    "algos": ("algo", _algorithm),
    "data": ("data", _data),
    "tables": ("table", _title),
    "figures": ("figure", _title),
}
