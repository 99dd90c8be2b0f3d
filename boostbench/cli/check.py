"""Judge the records by the published numbers."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from boostbench.cli._commands import check_tables_exist, resolve_names_and_results
from boostbench.util.errors import UserError, print_error
from boostbench.util.files import user_path, writing_to
from boostbench.util.terminal import echo, spinner

if TYPE_CHECKING:
    from rich.console import Console

    from boostbench.analysis.result_table import Table
    from boostbench.report.data_files import PublishedVerdict, VerdictLine


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
    """Judge by the papers, or by the numbers of a file."""
    if args.published is None:
        check_tables_exist("check", args.words)
        if args.update and args.rule != "tost":
            raise UserError("--update saves the verdicts of --rule tost; leave out --rule")
        return check(args.words, as_json=args.json, update=args.update, rule=args.rule)
    if args.update:
        raise UserError("--update is for the papers' tables, not for --published")
    return check_published(
        args.published,
        args.words,
        as_json=args.json,
        repeats=args.repeats,
        decimals=args.decimals,
        rule=args.rule,
    )


def check(
    words: Sequence[str], as_json: bool = False, update: bool = False, rule: str = "tost"
) -> int:
    """Compare the records with the published numbers, and with ``results/verdicts.csv``.

    Parameters
    ----------
    words : sequence of str
        Names of tables, and perhaps ``results=DIR``; without names, all tables of the papers.
    as_json : bool, default=False
        Print counts and verdicts as JSON instead of tables.
    update : bool, default=False
        Save today's verdicts, with which later checks compare.
    rule : {"tost", "power"}, default="tost"
        Rule of the verdicts, see `Agreement.verdict`. The file has verdicts by the default rule,
        so verdicts by another rule are neither compared with it nor saved.

    Returns
    -------
    int
        0, or 1 if a number that was reproduced is no longer reproduced.

    Raises
    ------
    UserError
        If a table is unknown, or the file of verdicts is not valid or cannot be written.
    """
    with spinner("starting"):
        from boostbench.records.index import Records
        from boostbench.records.installed import installed_folder
        from boostbench.report.assemble import read_tables
        from boostbench.report.data_files import (
            find_verdicts,
            lost_verdicts,
            read_verdicts,
            verdict_lines,
            verdicts_as_csv,
            verdicts_as_json,
        )
        from boostbench.util.files import atomic_write_text

    # 1) Judge the tables.
    names, results = resolve_names_and_results("check", words)
    if update and results == installed_folder():
        raise UserError("installed results are read-only; name another folder by results=")
    with spinner("reading records") as show_step:
        tables = read_tables(names or None, Records(results), show_step)
        if not names:
            tables = [table for table in tables if table.paper]
        tables = [table.replace_rule(rule) for table in tables]
        now = find_verdicts(tables)
    # 2) Print the verdicts.
    path = results / "verdicts.csv"
    before = read_verdicts(path) if rule == "tost" else []
    if as_json:
        echo(verdicts_as_json(tables, now))
    else:
        # Tables that are named are printed in full, even without records.
        without_records = [] if names else [table for table in tables if not _has_records(table)]
        with_records = [table for table in tables if table not in without_records]
        _print_verdicts(with_records, without_records)
    # 3) Save the verdicts, keeping the lines of other tables; or compare them with the saved ones.
    if update:
        judged = {table.name for table in tables}
        lines = verdict_lines(now) + [line for line in before if line.table not in judged]
        with writing_to(path):
            atomic_write_text(path, verdicts_as_csv(lines))
        echo(f"written: {path}", file=sys.stderr)
        return 0
    regressions = lost_verdicts(before, now)
    for then, today in regressions:
        print_error(_regression_message(then, today))
    return int(bool(regressions))


def _has_records(table: Table) -> bool:
    """Return True if a split of a cell is on record, finished with a number or failed."""
    return any(cell.numbers or cell.n_failed for cell in table.cells.values())


def _print_verdicts(with_records: Sequence[Table], without_records: Sequence[Table]) -> None:
    """Print the verdicts of tables, and the names of tables without records."""
    from boostbench.analysis.algorithm_pairs import judge_claims
    from boostbench.report.findings import published_listing
    from boostbench.report.renderers.console import print_listing
    from boostbench.report.wording import freshness_notes, partial_notes
    from boostbench.util.terminal import make_console

    console = make_console()
    for table in with_records:
        console.print(table.title, style="bold")
        print_listing(console, published_listing(table))
        stale = freshness_notes(table.cells.values(), [])
        for line in [*partial_notes(table), *judge_claims(table), *stale]:
            console.print(line)
        console.print()
    if without_records:
        console.print(
            f"Nothing is on record of {', '.join(table.name for table in without_records)}."
        )
        console.print()
    if len(with_records) + len(without_records) > 1:
        _print_counts(console, with_records, without_records)


def _print_counts(
    console: Console, with_records: Sequence[Table], without_records: Sequence[Table]
) -> None:
    """Print the counts of verdicts: a line for each table with records, and sentences on all.

    Parameters
    ----------
    console : Console
    with_records, without_records : sequence of Table
        Tables. The published numbers of both count in the sentences.
    """
    from rich.text import Text

    from boostbench.analysis.verdicts import VERDICTS, count_tables
    from boostbench.report.overview import (
        counting_sentences,
        counts_paragraph,
        detectable_sentences,
        effects_sentence,
        swaps_sentence,
    )
    from boostbench.report.renderers.console import make_grid

    # 1) Print the numbers of verdicts, a column for each verdict that occurs.
    tables = [*with_records, *without_records]
    tallies = count_tables(tables)
    lines = [(table.name, tallies.table(table.name).tally) for table in with_records]
    lines.append(("all", tallies.total))
    occurring = set().union(*(tally.verdicts for _, tally in lines))
    shown = [verdict for verdict in VERDICTS if verdict in occurring]
    heads = ["table", "published", *(verdict.replace(" ", "\n") for verdict in shown)]
    grid = make_grid(heads, gap=1)
    for name, tally in lines:
        # `count` gives "3", or "3 / 1": with and without the variance of samples drawn once. The
        # second number goes to a second line.
        numbers = [
            text.replace(" / ", "\n/ ") if text != "0" else "-"
            for text in map(tally.count_text, shown)
        ]
        style = "bold" if name == "all" else ""
        grid.add_row(*(Text(text, style) for text in (name, str(tally.published), *numbers)))
    console.print(grid)
    # 2) Print sentences on all numbers: the differences that could be detected; how well verdicts
    #    distinguish algorithms (swaps: our numbers against other algorithms' published ones); and
    #    how many published differences between two algorithms we find as well (effects).
    if tallies.total.published:
        console.print(counts_paragraph(tallies.total), style="bold")
        for sentence in (
            detectable_sentences(tallies.total),
            swaps_sentence(tallies.swaps),
            effects_sentence(tallies.effects),
        ):
            if sentence:
                console.print(sentence)
        console.print(counting_sentences(tallies.total, tables))


def _regression_message(then: VerdictLine, now: PublishedVerdict) -> str:
    """Return the message about a number that is no longer reproduced."""
    from boostbench.util.numbers import fixed

    cell = f"{now.table}, {now.column} on {now.data}"
    digits = now.digits
    ours = "without a number" if now.ours is None else f"with {fixed(now.ours, digits)}"
    return (
        f"{cell}: reproduced before with {then.ours}, now {now.verdict} {ours} "
        f"(published: {fixed(now.published, digits)})"
    )


def check_published(
    path: Path,
    words: Sequence[str],
    as_json: bool = False,
    repeats: int | None = None,
    decimals: int | None = None,
    rule: str = "tost",
) -> int:
    """Compare the records with the published numbers of a file.

    Parameters
    ----------
    path : Path
        CSV file, see `boostbench.papers.published.read_published_file`.
    words : sequence of str
        Perhaps ``results=DIR``.
    as_json : bool, default=False
        Print counts and verdicts as JSON instead of a table.
    repeats : int, default=None
        Number of repetitions of each published experiment, if the file has no column ``n``.
    decimals : int, default=None
        Number of decimals of the published numbers. None: as in the file.
    rule : {"tost", "power"}, default="tost"
        Rule of the verdicts, see `Agreement.verdict`.

    Returns
    -------
    int
        0, or 1 if a number differs from the published one.

    Raises
    ------
    UserError
        If the file is not valid, or one of its lines matches several experiments.
    """
    with spinner("starting"):
        from boostbench.analysis.recorded_experiments import (
            find_experiments,
            table_of_published_file,
        )
        from boostbench.papers.published import (
            MAX_DECIMALS,
            MAX_REPEATS,
            read_published_file,
            unit_warnings,
        )
        from boostbench.records.index import Records
        from boostbench.report.data_files import find_verdicts, verdicts_as_json
        from boostbench.report.findings import published_listing
        from boostbench.report.renderers.console import print_listing
        from boostbench.util.terminal import make_console

    # 1) Check the arguments, and read the file.
    names, results = resolve_names_and_results("check", words)
    if names:
        raise UserError(f"check --published judges the lines of {path}, and no table {names[0]!r}")
    if repeats is not None and not 1 <= repeats <= MAX_REPEATS:
        raise UserError(f"--repeats is {repeats}; it must be 1 to {MAX_REPEATS}")
    if decimals is not None and not 0 <= decimals <= MAX_DECIMALS:
        raise UserError(f"--decimals is {decimals}; it must be 0 to {MAX_DECIMALS}")
    quantity, lines = read_published_file(path, repeats, decimals)
    # 2) Find the runs with the settings of each line.
    with spinner("reading records"):
        records = Records(results)
        runs = find_experiments(records, algorithms={line.algo for line in lines})
        table = table_of_published_file(path, quantity, lines, runs).replace_rule(rule)
    for warning in [*unit_warnings(path, quantity, lines), *records.pop_warnings()]:
        print_error(warning)
    # 3) Print the verdicts.
    if as_json:
        echo(verdicts_as_json([table], find_verdicts([table])))
    else:
        console = make_console()
        console.print(table.title, style="bold")
        print_listing(console, replace(published_listing(table), reasons=[]))
    agreements = [cell.agreement for cell in table.cells.values()]
    return int(any(agreement and agreement.differs for agreement in agreements))
