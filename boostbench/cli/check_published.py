"""``boostbench check --published``: which numbers of a file are reproduced."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from boostbench.analysis.published_file import (
    MOST_DECIMALS,
    MOST_REPEATS,
    beside_records,
    doubts,
    read_published_file,
)
from boostbench.analysis.runs import find_runs
from boostbench.cli.words import names_on_record
from boostbench.records.archive import Records
from boostbench.report.findings import published_listing
from boostbench.report.renderers.terminal import print_listing
from boostbench.report.renderers.verdicts_json import to_json
from boostbench.report.verdict_history import verdict_lines
from boostbench.util import configs
from boostbench.util.console import make_console
from boostbench.util.errors import UserError, print_error
from boostbench.util.printable import echo
from boostbench.util.spinner import spinner


def check_published(
    path: Path,
    words: Sequence[str],
    as_json: bool = False,
    repeats: int | None = None,
    decimals: int | None = None,
    rule: str = "tost",
) -> int:
    """Judge what is recorded by the published numbers of a file.

    Parameters
    ----------
    path : Path
        CSV file, see `boostbench.analysis.published_file.read_published_file`.
    words : sequence of str
        Perhaps ``results=DIR``.
    as_json : bool, default=False
        Print counts and verdicts as JSON instead of a table.
    repeats : int, default=None
        How often each published experiment was repeated, where the file does not tell.
    decimals : int, default=None
        To which the published numbers are rounded, where the file does not tell.
    rule : {"tost", "power"}, default="tost"
        Rule of the verdicts, see `Agreement.verdict`.

    Returns
    -------
    int
        0, or 1 when one of the numbers differs from the published one.

    Raises
    ------
    UserError
        If something is wrong with the file, or a line of it fits several experiments.
    """
    names, results = names_on_record("check", words)
    if names:
        raise UserError(f"check --published judges the lines of {path}, and no table {names[0]!r}")
    if repeats is not None and not 1 <= repeats <= MOST_REPEATS:
        raise UserError(f"--repeats is {repeats}; it must be 1 to {MOST_REPEATS}")
    if decimals is not None and not 0 <= decimals <= MOST_DECIMALS:
        raise UserError(f"--decimals is {decimals}; it must be 0 to {MOST_DECIMALS}")
    lines = read_published_file(path, repeats, decimals)
    titles = configs.read_titles("algo")
    with spinner("reading records"):
        records = Records(results)
        table = beside_records(path, lines, find_runs(records, titles), titles).judged_by(rule)
    for warning in [*doubts(path, lines), *records.new_warnings()]:
        print_error(warning)
    if as_json:
        echo(to_json([table], verdict_lines([table])))
    else:
        console = make_console()
        console.print(table.title, style="bold")
        print_listing(console, replace(published_listing(table), reasons=[]))
    return int(any(c.agreement and c.agreement.differs for c in table.cells.values()))
