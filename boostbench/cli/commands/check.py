"""Judge the records by the published numbers."""

from argparse import ArgumentParser, Namespace

from boostbench.cli.words import find_tables
from boostbench.util.errors import UserError
from boostbench.util.spinner import spinner
from boostbench.util.user_paths import user_path


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("words", nargs="*", metavar="TABLE", help="default: all; also results=DIR")
    parser.add_argument("--json", action="store_true", help="print JSON")
    saved = "save today's verdicts; later checks name what got worse"
    parser.add_argument("--update", action="store_true", help=saved)
    judged = "judge by the numbers of this CSV file"
    parser.add_argument("--published", type=user_path, metavar="FILE", help=judged)
    repeats = "repeats of each experiment in FILE, if it has no column n"
    parser.add_argument("--repeats", type=int, metavar="N", help=repeats)
    decimals = "decimals that the paper prints, if fewer than usual or than in FILE"
    parser.add_argument("--decimals", type=int, metavar="N", help=decimals)
    rule = "'power' gives the verdicts of version 1.0 (default: tost)"
    parser.add_argument("--rule", choices=("tost", "power"), default="tost", help=rule)


def run(args: Namespace) -> int:
    """Run it."""
    if args.published is None:
        find_tables("check", args.words)
        with spinner("starting"):
            from boostbench.cli.check import check

        if args.update and args.rule != "tost":
            raise UserError("--update saves the verdicts of --rule tost; leave out --rule")
        return check(args.words, args.json, args.update, args.rule)
    with spinner("starting"):
        from boostbench.cli.check_published import check_published

    if args.update:
        raise UserError("--update is for the papers' tables, not for --published")
    return check_published(
        args.published, args.words, args.json, args.repeats, args.decimals, args.rule
    )
