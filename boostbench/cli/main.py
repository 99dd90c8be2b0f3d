"""The dispatcher: which command, and what becomes of its errors.

Commands are imported when they are called, so that light ones answer at once, and after their names
are checked, so that a misspelt one does too.
"""

import argparse
import atexit
import gc
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from boostbench import __version__
from boostbench.busy import busy
from boostbench.definitions import files
from boostbench.errors import Terminated, UserError, complain, debugging, hint

_EXAMPLES = """\
examples:
  boostbench run algo=rboost_proj data=wine
  boostbench run -m algo=rboost_proj,adaboost_mh data=wine,iris
  boostbench table demo
  boostbench compare rboost_proj adaboost_mh
  boostbench list algos

'boostbench run --help' shows all configuration groups and values.
"""


# New objects until Python looks for circles; 700 by default.
_COLLECT_AFTER = 100_000


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str, default=sys.argv[1:]
        Command and arguments.

    Returns
    -------
    int
        0 when all is well, 1 when splits failed, 2 for a mistake of the user (one line on
        stderr, nothing written), 130 after Ctrl-C, 143 after SIGTERM. With
        ``BOOSTBENCH_DEBUG=1`` or ``HYDRA_FULL_ERROR=1`` in the environment, mistakes show their
        traceback.
    """
    own_process = argv is None
    argv = list(sys.argv[1:] if argv is None else argv)
    logging.basicConfig(format="boostbench: %(message)s")
    # Python would collect the objects of all modules one by one at the end: a third of a second.
    atexit.register(gc.freeze)
    if own_process:
        # Records are many small dicts in no circle, which it would go through again and again.
        gc.set_threshold(_COLLECT_AFTER)
    # A class in a file beside the user is found, after all that is installed.
    if "" not in sys.path:
        sys.path.append("")
    try:
        return _dispatch(argv)
    except SystemExit as stop:
        # argparse and Hydra leave this way.
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except Terminated:
        return 143
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader has seen enough ('boostbench list | head'); nothing must be flushed to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except UserError as error:
        if debugging():
            raise
        complain(error)
        return 2
    finally:
        if own_process:
            _end_workers()


def _end_workers() -> None:
    """End worker processes at once, where there are any: they would take a second to end."""
    if "joblib.externals.loky.reusable_executor" in sys.modules:
        from joblib.externals.loky.reusable_executor import get_reusable_executor

        get_reusable_executor(reuse=True).shutdown(wait=False, kill_workers=True)


def _dispatch(argv: list[str]) -> int:
    if argv[:1] == ["run"]:
        with busy("starting"):
            from boostbench.cli.run import run

        return run(argv[1:])
    if argv[:1] in (["-sc"], ["--shell-completion"]):
        from boostbench.cli.completion import complete

        return complete(argv, make_parser()[1])
    parser, commands = make_parser()
    if argv and not argv[0].startswith("-") and argv[0] not in commands:
        raise UserError(f"unknown command {argv[0]!r}; {hint(argv[0], commands)}")
    args, others = parser.parse_known_args(argv)
    if others:
        # argparse takes no words behind options, but 'compare a b --json results=DIR' has some.
        words = getattr(args, "words", getattr(args, "overrides", None))
        if words is None or any(word.startswith("-") for word in others):
            parser.error(f"unrecognized arguments: {' '.join(others)}")
        words += others
    if args.command is None:
        parser.print_help()
        return 0
    return args.function(args)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Tell in one line, where argparse would print the usage before it."""
        raise UserError(f"{message}; '{self.prog} --help' shows how")


def make_parser() -> tuple[argparse.ArgumentParser, list[str]]:
    """Make the parser of all commands but ``run``, and name the commands."""
    parser = _Parser(
        prog="boostbench",
        description="Reproduce the tables and figures of five boosting papers, cell by cell.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"boostbench {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    def add(name: str, does: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=does, description=f"{does[0].upper()}{does[1:]}.")

    # Handled before argparse, as its arguments are Hydra's; here for the help.
    add("run", "run one experiment, or several with -m")

    table = add("table", "run what is missing of a table, print and write it")
    table.add_argument("name", metavar="NAME", help="see 'boostbench list tables'; or a YAML file")
    for what in ("row", "column"):
        table.add_argument(
            f"--{what}",
            action="append",
            default=[],
            metavar="NAME",
            help=f"only this {what}; names with commas",
        )
    _add_overrides(table, "for every cell, e.g. protocol.n_splits=3")
    table.set_defaults(function=_table)

    figure = add("figure", "compute what is missing of a figure, and draw it")
    figure.add_argument(
        "name", metavar="NAME", help="see 'boostbench list figures'; or a YAML file"
    )
    _add_overrides(figure, "for all of it, e.g. algo.n_iterations=2000")
    figure.set_defaults(function=_figure)

    compare = add("compare", "test which algorithms differ in the records")
    compare.add_argument(
        "words",
        nargs="+",
        metavar="NAME",
        help="columns of tables, or algorithms; also results=DIR",
    )
    compare.add_argument(
        "--tables",
        action="append",
        default=[],
        help="names with commas; default: all that have them",
    )
    compare.add_argument(
        "--data", action="append", default=[], help="names with commas; default: all data sets"
    )
    compare.add_argument("--json", action="store_true", help="print JSON")
    compare.add_argument(
        "--figure", nargs="?", const="", metavar="FILE", help="draw the ranks and all pairs"
    )
    compare.add_argument(
        "--rope", type=float, metavar="X", help="differences up to X do not count; default: 1 point"
    )
    compare.set_defaults(function=_compare)

    check = add("check", "judge the records by the published numbers")
    check.add_argument("words", nargs="*", metavar="TABLE", help="default: all; also results=DIR")
    check.add_argument("--json", action="store_true", help="print JSON")
    check.add_argument(
        "--update",
        action="store_true",
        help="save today's verdicts; later checks name what got worse",
    )
    check.add_argument(
        "--published", type=Path, metavar="FILE", help="judge by the numbers of this CSV file"
    )
    check.add_argument(
        "--repeats",
        type=int,
        metavar="N",
        help="repeats of each experiment in FILE, if it has no column n",
    )
    check.add_argument(
        "--decimals",
        type=int,
        metavar="N",
        help="decimals that the paper prints, if fewer than usual or than in FILE",
    )
    check.set_defaults(function=_check)

    verify = add("verify", "fit a draw of the records again, and compare what comes out")
    verify.add_argument(
        "words",
        nargs="*",
        metavar="NAME",
        help="algorithms and tables; default: all",
    )
    verify.add_argument(
        "--budget", metavar="TIME", help="CPU time of the fits by what is on record: 90s, 30m or 2h"
    )
    verify.add_argument("--dry-run", action="store_true", help="only print what would be fitted")
    verify.add_argument(
        "--jobs", type=int, default=-1, metavar="N", help="processes; default: all cores"
    )
    verify.add_argument(
        "--against", type=Path, metavar="DIR", help="records that other code made on this machine"
    )
    verify.add_argument(
        "--equivalent",
        action="store_true",
        help="where records come out otherwise, see whether they are as good",
    )
    verify.set_defaults(function=_verify)

    export = add("export", "write all splits on record as CSV or Parquet")
    export.add_argument("words", nargs="*", metavar="results=DIR", help="default: results")
    export.add_argument(
        "--output", type=Path, metavar="FILE", help="default: splits.csv in the folder of results"
    )
    export.set_defaults(function=_export)

    merge = add("merge", "merge the records of several folders of results")
    merge.add_argument(
        "words",
        nargs="+",
        metavar="DIR",
        help="folders to read; also results=DIR, the folder to write",
    )
    merge.set_defaults(function=_merge)

    report = add("report", "write all results as one HTML page")
    report.add_argument("words", nargs="*", metavar="TABLE", help="default: all; also results=DIR")
    report.add_argument(
        "--output", type=Path, metavar="FILE", help="default: report.html in the folder of results"
    )
    report.set_defaults(function=_report)

    listing = add("list", "list algorithms, data sets, tables and figures")
    listing.add_argument(
        "what",
        nargs="?",
        choices=["algos", "data", "tables", "figures"],
        metavar="WHAT",
        help="algos, data, tables or figures; default: all",
    )
    listing.set_defaults(function=_list)

    data = add("data", "fetch a data set and describe it")
    data.add_argument(
        "name", nargs="?", metavar="NAME", help="see 'boostbench list data'; or a data file"
    )
    data.add_argument(
        "--bundle", type=Path, metavar="DIR", help="write NAME, or all data sets, to this folder"
    )
    _add_overrides(data, "e.g. data.labels=species")
    data.set_defaults(function=_data)
    return parser, list(commands.choices)


def _add_overrides(parser: argparse.ArgumentParser, text: str) -> None:
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help=text)


def _find_tables(command: str, words: Sequence[str]) -> None:
    """Refuse names of tables that do not exist."""
    for name in files.split_words(command, words)[0]:
        files.find("table", name)


def _table(args: argparse.Namespace) -> int:
    files.find("table", args.name)
    with busy("starting"):
        from boostbench.cli.table import make_table

    return make_table(args.name, args.overrides, _names(args.row), _names(args.column))


def _figure(args: argparse.Namespace) -> int:
    files.find("figure", args.name)
    with busy("starting"):
        from boostbench.cli.figure import make_figure

    return make_figure(args.name, args.overrides)


def _compare(args: argparse.Namespace) -> int:
    with busy("starting"):
        from boostbench.cli.compare import compare

    tables, data = _names(args.tables), _names(args.data)
    return compare(args.words, tables, data, args.json, args.figure, args.rope)


def _names(texts: Sequence[str]) -> list[str]:
    """Take names with commas apart."""
    return [name for text in texts for name in text.split(",") if name]


def _check(args: argparse.Namespace) -> int:
    if args.published is None:
        _find_tables("check", args.words)
    with busy("starting"):
        from boostbench.cli.check import check, check_claimed

    if args.published is not None:
        if args.update:
            raise UserError("--update is for the papers' tables, not for --published")
        return check_claimed(args.published, args.words, args.json, args.repeats, args.decimals)
    return check(args.words, args.json, args.update)


def _verify(args: argparse.Namespace) -> int:
    with busy("starting"):
        from boostbench.cli.verify import verify

    return verify(args.words, args.budget, args.jobs, args.dry_run, args.against, args.equivalent)


def _export(args: argparse.Namespace) -> int:
    with busy("reading records"):
        from boostbench.cli.export import export

        return export(args.words, args.output)


def _merge(args: argparse.Namespace) -> int:
    with busy("merging"):
        from boostbench.cli.merge import merge

        return merge(args.words)


def _report(args: argparse.Namespace) -> int:
    _find_tables("report", args.words)
    with busy("starting"):
        from boostbench.cli.report import make_report

    return make_report(args.words, args.output)


def _list(args: argparse.Namespace) -> int:
    from boostbench.cli.listing import print_list

    return print_list(args.what)


def _data(args: argparse.Namespace) -> int:
    with busy("starting"):
        from boostbench.cli.dataset import make_bundle, print_dataset

    if args.bundle:
        return make_bundle(args.bundle, [args.name, *args.overrides] if args.name else [])
    if args.name is None:
        raise UserError("data needs the name of a data set, a file, or --bundle DIR")
    return print_dataset(args.name, args.overrides)
