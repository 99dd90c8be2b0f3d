"""Run the missing splits of a table, then print and save it."""

from argparse import ArgumentParser, Namespace

from boostbench.cli.words import add_definition, add_names, add_overrides
from boostbench.util import configs
from boostbench.util.spinner import spinner


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    add_definition(parser, "table")
    for what in ("row", "column"):
        add_names(parser, f"--{what}", f"only this {what}; names with commas", metavar="NAME")
    parser.add_argument(
        "--orientation",
        choices=["auto", "normal", "transposed"],
        default="auto",
        help="of the LaTeX table; auto: transposed if it has more columns than rows",
    )
    add_overrides(parser, "for every cell, e.g. protocol.n_splits=3")


def complete(before: list[str], word: str) -> list[str]:
    """Name the words that may come next."""
    return [] if before else configs.list_options("table")


def run(args: Namespace) -> int:
    """Run it."""
    with spinner("starting"):
        from boostbench.cli.table import make_table

    return make_table(args.name, args.words, args.row, args.column, args.orientation)
