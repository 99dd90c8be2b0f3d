"""Pack results into an archive, or install the results of a release."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from boostbench.util.files import user_path
from boostbench.util.terminal import echo, spinner


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    install = actions.add_parser("install", help="make results readable from every folder")
    install.add_argument("file", type=user_path, metavar="FILE", help="results-1.1.0.tar")
    pack = actions.add_parser("pack", help="write a folder of results as an archive")
    pack.add_argument("file", type=user_path, metavar="FILE", help="archive to write")
    pack.add_argument(
        "--folder", type=user_path, default=Path("results"), metavar="DIR", help="default: results"
    )


def run(args: Namespace) -> None:
    """Pack or install results."""
    from boostbench.records.installed import install_archive, write_archive

    if args.action == "pack":
        with spinner("packing"):
            digest = write_archive(args.folder, args.file)
        echo(f"written: {args.file}, {args.file}.sha256 ({digest})")
    else:
        with spinner("installing"):
            folder = install_archive(args.file)
        echo(
            f"installed: {folder}\ncheck, report, compare and export read these results in a "
            "folder without results of its own."
        )
