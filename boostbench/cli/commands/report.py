"""Write all results as one HTML page."""

from argparse import ArgumentParser, Namespace

from boostbench.cli.words import find_tables
from boostbench.util import configs
from boostbench.util.spinner import spinner
from boostbench.util.user_paths import user_path


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("words", nargs="*", metavar="TABLE", help="default: all; also results=DIR")
    written = "default: report.html in the folder of results"
    parser.add_argument("--output", type=user_path, metavar="FILE", help=written)


def complete(before: list[str], word: str) -> list[str]:
    """Name the words that may come next."""
    return configs.list_options("table")


def run(args: Namespace) -> None:
    """Run it."""
    find_tables("report", args.words)
    with spinner("starting"):
        from boostbench.cli.report import make_report

    make_report(args.words, args.output)
