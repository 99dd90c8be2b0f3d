"""Merge the records of several folders of results."""

from argparse import ArgumentParser, Namespace

from boostbench.util.errors import print_error
from boostbench.util.files import parse_names_and_results, user_path
from boostbench.util.terminal import echo, spinner


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    folders_help = "folders to read; also results=DIR, the folder to write"
    parser.add_argument("words", nargs="+", metavar="DIR", help=folders_help)
    newest_help = "of two finished results, take the one that was finished later"
    parser.add_argument("--newest", action="store_true", help=newest_help)


def run(args: Namespace) -> int:
    """Add the records of folders to another folder, and print the numbers of records."""
    folders, results = parse_names_and_results("merge", args.words)
    with spinner("merging"):
        from boostbench.records.merging import merge_records

        summary = merge_records(map(user_path, folders), results, newest=args.newest)
    for problem in (*summary.warnings, *summary.conflicts):
        print_error(problem)
    n_conflicts = len(summary.conflicts)
    conflicts = f"; {n_conflicts} kept their first result" if n_conflicts else ""
    echo(f"{results}: {summary.n_added} records added, {summary.n_existing} were there{conflicts}")
    return int(bool(summary.warnings or summary.conflicts))
