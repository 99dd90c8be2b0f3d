"""List algorithms, data sets, tables and figures."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from textwrap import fill

from boostbench.util import configs
from boostbench.util.terminal import echo


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    text = f"{', '.join(list(_LISTS)[:-1])} or {list(_LISTS)[-1]}; default: all"
    parser.add_argument("what", nargs="?", choices=list(_LISTS), metavar="WHAT", help=text)


def complete(before: list[str], word: str) -> list[str]:
    """Return the names that may come next."""
    return [] if before else list(_LISTS)


def run(args: Namespace) -> None:
    """Print names and descriptions, which are read from the YAML files alone."""
    chosen = [args.what] if args.what else list(_LISTS)
    for index, heading in enumerate(chosen):
        group, describe = _LISTS[heading]
        if len(chosen) > 1:
            echo(f"{chr(10) * (index > 0)}{heading}:")
        names = configs.list_options(group)
        width = max(map(len, names), default=0)
        for name in names:
            if group in ("table", "figure"):
                _, content = configs.read_definition(group, name)
            else:
                content = configs.read_option(group, name)
            text = f"{name:{width}}  {describe(content)}"
            echo(fill(text, 80, subsequent_indent=" " * (width + 2)))


def _algorithm(config: dict) -> str:
    return f"{config['title']}: {config['paper']}"


def _data(config: dict) -> str:
    expect = config.get("expect") or {}
    shape = ", ".join(f"{number} {what}" for what, number in expect.items())
    return f"{shape or 'any shape'}; {_source(config)}"


def _source(config: dict) -> str:
    """Say where data come from without a file, as `first_available_source` does, or ``"file"``.

    That module imports NumPy.
    """
    if config.get("sklearn"):
        return "scikit-learn"
    if config.get("generate"):
        return "generated"
    return f"OpenML {config['openml']['id']}" if config.get("openml") else "file"


def _title(config: dict) -> str:
    return config["title"]


_LISTS: dict[str, tuple[str, Callable[[dict], str]]] = {
    "algos": ("algo", _algorithm),
    "data": ("data", _data),
    "tables": ("table", _title),
    "figures": ("figure", _title),
}
