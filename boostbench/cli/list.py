"""List algorithms, data sets, tables and figures."""

from argparse import ArgumentParser, Namespace
from textwrap import fill

from boostbench.util import configs
from boostbench.util.errors import join_words
from boostbench.util.terminal import echo

#: Groups of configs by the word that lists them.
_GROUPS = {"algos": "algo", "data": "data", "tables": "table", "figures": "figure"}


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    names = join_words(list(_GROUPS), "or")
    parser.add_argument(
        "what", nargs="?", choices=list(_GROUPS), metavar="WHAT", help=f"{names}; default: all"
    )


def complete(before: list[str], word: str) -> list[str]:
    """Return the names that may come next."""
    return [] if before else list(_GROUPS)


def run(args: Namespace) -> None:
    """Print names and descriptions, which are read from the YAML files alone."""
    chosen = [args.what] if args.what else list(_GROUPS)
    for index, heading in enumerate(chosen):
        if len(chosen) > 1:
            if index:
                echo()
            echo(f"{heading}:")
        group = _GROUPS[heading]
        names = configs.list_options(group)
        width = max(map(len, names), default=0)
        for name in names:
            if group in ("table", "figure"):
                _, content = configs.read_definition(group, name)
            else:
                content = configs.read_option(group, name)
            text = f"{name:{width}}  {_describe(group, content)}"
            echo(fill(text, 80, subsequent_indent=" " * (width + 2)))


def _describe(group: str, content: dict) -> str:
    """Return the description of a config or a definition, by the content of its YAML file."""
    if group == "algo":
        return f"{content['title']}: {content['paper']}"
    if group != "data":
        return content["title"]
    counts = content.get("expect") or {}
    shape = ", ".join(f"{number} {name}" for name, number in counts.items()) or "any shape"
    # The source without a local file. `boostbench.data.sources` decides by the same order,
    # but it imports NumPy.
    if content.get("sklearn"):
        source = "scikit-learn"
    elif content.get("generate"):
        source = "generated"
    elif content.get("openml"):
        source = f"OpenML {content['openml']['id']}"
    else:
        source = "file"
    return f"{shape}; {source}"
