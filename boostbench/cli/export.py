"""Write all splits on record as CSV or Parquet, or all results as an RO-Crate."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from boostbench.util.errors import UserError, print_error
from boostbench.util.files import parse_names_and_results, user_path
from boostbench.util.terminal import echo, spinner


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("words", nargs="*", metavar="results=DIR", help="default: results")
    written = "default: splits.csv in the folder of results"
    parser.add_argument("--output", type=user_path, metavar="FILE", help=written)
    parser.add_argument(
        "--crate", type=user_path, metavar="FILE", help="write an RO-Crate instead, a zip file"
    )
    parser.add_argument(
        "--license", default="No license is stated.", metavar="TEXT", help="license in the RO-Crate"
    )


def run(args: Namespace) -> None:
    """Write a row for each split on record."""
    names, results = parse_names_and_results("export", args.words)
    if names:
        raise UserError(f"export takes results=DIR alone, not {names[0]!r}")
    if args.crate is not None:
        from boostbench.records.installed import find_results
        from boostbench.report.crate import write_crate

        with spinner("packing"):
            n_files = write_crate(find_results(results), args.crate, args.license)
        echo(f"written: {args.crate} ({n_files} files)")
        return
    with spinner("reading records"):
        from boostbench.analysis.frame import read_frame, write_frame
        from boostbench.records.installed import find_results, installed_folder

        results = find_results(results)
        frame, warnings = read_frame(results)
    for warning in warnings:
        print_error(warning)
    folder = Path() if results == installed_folder() else results
    path = folder / "splits.csv" if args.output is None else args.output
    write_frame(frame, path)
    echo(f"written: {path} ({len(frame)} splits, {int(frame['error'].notna().sum())} failed)")
