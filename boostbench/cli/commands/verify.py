"""Fit a random sample of the records again, and compare the results."""

from argparse import ArgumentParser, Namespace

from boostbench.util import configs
from boostbench.util.spinner import spinner
from boostbench.util.user_paths import user_path


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    named = "algorithms and tables; default: all; also results=DIR"
    parser.add_argument("words", nargs="*", metavar="NAME", help=named)
    budget = "recorded CPU time of the sample: 90s, 30m or 2h"
    parser.add_argument("--budget", metavar="TIME", help=budget)
    parser.add_argument(
        "--dry-run", action="store_true", help="only print the number of refits and their time"
    )
    jobs = "processes; default: all cores"
    parser.add_argument("--jobs", type=int, default=-1, metavar="N", help=jobs)
    against = "records that other code made on this machine"
    parser.add_argument("--against", type=user_path, metavar="DIR", help=against)


def complete(before: list[str], word: str) -> list[str]:
    """Name the words that may come next."""
    return configs.list_options("algo")


def run(args: Namespace) -> int:
    """Run it."""
    with spinner("starting"):
        from boostbench.cli.verify import verify

    return verify(args.words, args.budget, args.jobs, args.dry_run, args.against)
