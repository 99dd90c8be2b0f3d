"""Fetch a data set and describe it."""

from argparse import ArgumentParser, Namespace

from boostbench.cli.words import add_overrides
from boostbench.util import configs
from boostbench.util.errors import UserError
from boostbench.util.spinner import spinner
from boostbench.util.user_paths import user_path


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    named = "see 'boostbench list data', several with --bundle; or a data file"
    parser.add_argument("name", nargs="?", metavar="NAME", help=named)
    bundled = "write NAME [NAME ...], or all data sets, to this folder"
    parser.add_argument("--bundle", type=user_path, metavar="DIR", help=bundled)
    add_overrides(parser, "e.g. data.labels=species")


def complete(before: list[str], word: str) -> list[str]:
    """Name the words that may come next."""
    return [] if before else configs.list_options("data")


def run(args: Namespace) -> int | None:
    """Run it."""
    with spinner("starting"):
        from boostbench.cli.dataset import make_bundle, print_dataset

    if args.bundle:
        return make_bundle(args.bundle, [args.name, *args.words] if args.name else [])
    if args.name is None:
        raise UserError("data needs the name of a data set, a file, or --bundle DIR")
    others = [word for word in args.words if "=" not in word and not word.startswith("~")]
    if others:
        raise UserError(f"data describes one data set; {_advice([args.name, *others])}")
    return print_dataset(args.name, args.words)


def _advice(names: list[str]) -> str:
    """Say what to do with several names; a file goes into no bundle."""
    if all(map(configs.is_data_set_name, names)):
        return f"'data --bundle DIR {' '.join(names)}' writes several"
    return "name each in a command of its own"
