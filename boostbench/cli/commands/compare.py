"""Test which algorithms differ in the records."""

from argparse import ArgumentParser, Namespace

from boostbench.cli.words import add_names
from boostbench.util import configs
from boostbench.util.spinner import spinner


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    named = "columns of tables, or algorithms; also results=DIR"
    parser.add_argument("words", nargs="+", metavar="NAME", help=named)
    add_names(parser, "--tables", "names with commas; default: all that have them")
    add_names(parser, "--data", "names with commas; default: all data sets")
    parser.add_argument("--json", action="store_true", help="print JSON")
    drawn = "draw the ranks and all pairs"
    parser.add_argument("--figure", nargs="?", const="", metavar="FILE", help=drawn)
    equal = "differences up to X do not count; default: 1 point"
    parser.add_argument("--rope", type=float, metavar="X", help=equal)


def complete(before: list[str], word: str) -> list[str]:
    """Name the words that may come next."""
    return configs.list_options("algo")


def run(args: Namespace) -> None:
    """Run it."""
    with spinner("starting"):
        from boostbench.cli.compare import compare

    compare(args.words, args.tables, args.data, args.json, args.figure, args.rope)
