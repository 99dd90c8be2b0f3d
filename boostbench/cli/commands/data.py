"""Fetch a data set and describe it."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from boostbench import configs
from boostbench.busy import busy
from boostbench.cli.words import add_overrides
from boostbench.errors import UserError


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    named = "see 'boostbench list data'; or a data file; several with --bundle"
    parser.add_argument("name", nargs="?", metavar="NAME", help=named)
    bundled = "write NAME [NAME ...], or all data sets, to this folder"
    parser.add_argument("--bundle", type=Path, metavar="DIR", help=bundled)
    add_overrides(parser, "e.g. data.labels=species")


def complete(before: list[str]) -> list[str]:
    """Name the words that may come next."""
    return [] if before else configs.names("data")


def run(args: Namespace) -> int | None:
    """Run it."""
    with busy("starting"):
        from boostbench.cli.dataset import make_bundle, print_dataset

    if args.bundle:
        return make_bundle(args.bundle, [args.name, *args.words] if args.name else [])
    if args.name is None:
        raise UserError("data needs the name of a data set, a file, or --bundle DIR")
    others = [word for word in args.words if "=" not in word and not word.startswith("~")]
    if others:
        several = " ".join([args.name, *others])
        raise UserError(
            f"data describes one data set; 'data --bundle DIR {several}' writes several"
        )
    return print_dataset(args.name, args.words)
