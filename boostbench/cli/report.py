"""Write all results as one HTML page."""

from __future__ import annotations

import importlib.util
import os
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from boostbench.cli._commands import check_tables_exist, resolve_names_and_results
from boostbench.util import configs
from boostbench.util.errors import UserError, print_error
from boostbench.util.files import user_path, writing_to
from boostbench.util.terminal import echo, spinner

if TYPE_CHECKING:
    from boostbench.analysis.result_table import Table


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("words", nargs="*", metavar="TABLE", help="default: all; also results=DIR")
    written = "default: report.html in the folder of results"
    parser.add_argument("--output", type=user_path, metavar="FILE", help=written)


def complete(before: list[str], word: str) -> list[str]:
    """Return the names that may come next."""
    return configs.list_options("table")


def run(args: Namespace) -> None:
    """Write the page."""
    check_tables_exist("report", args.words)
    make_report(args.words, args.output)


def make_report(words: Sequence[str], output: Path | None = None) -> None:
    """Write the page of tables; for all tables, also the README of the results and its picture.

    There are two kinds of pages. A page about tables shows the tables, and lists the runs that no
    table shows. A page about runs is written for a folder with few results of the papers' tables,
    which is a user's own: it lists all runs first, and shows the tables that have results.

    Parameters
    ----------
    words : sequence of str
        Names of tables, or paths of YAML files that define some, by default all; and perhaps
        ``results=DIR``, the folder of the records.
    output : Path, default=<results>/report.html
        The file.

    Raises
    ------
    UserError
        If a table is unknown, or there are no records. Nothing was written then.
    """
    with spinner("starting"):
        from boostbench.analysis.recorded_experiments import find_experiments
        from boostbench.analysis.verdicts import count_tables
        from boostbench.execution.progress import counted
        from boostbench.records.index import Records
        from boostbench.records.installed import installed_folder
        from boostbench.report.assemble import read_tables
        from boostbench.report.page.render import find_figures, render_page
        from boostbench.util.files import write_output

    # 1) Read the tables, and decide which kind of page is written.
    names, results = resolve_names_and_results("report", words)
    is_installed = results == installed_folder()
    path = output or (Path() if is_installed else results) / "report.html"
    records = Records(results)
    with spinner("reading records") as show_step:
        user_tables = _find_user_tables(results)
        requested = list(dict.fromkeys(names)) or [*configs.list_options("table"), *user_tables]
        tables = read_tables(requested, records, show_step)
        about_runs = not names and _has_few_published_results(tables)
        if about_runs:
            tables = [
                table for table in tables if any(cell.n_finished for cell in table.last_round_cells)
            ]
        # 2) List the runs, on a page about tables without those that its tables show.
        show_step("listing runs")
        if names:
            runs = []
        else:
            hashes_in_tables = () if about_runs else _config_hashes(tables)
            runs = find_experiments(records, excluded=hashes_in_tables)
        for warning in records.pop_warnings():
            print_error(warning)
        if about_runs and not runs:
            raise UserError(
                f"there is no readable record in {results}; 'boostbench run' and 'boostbench "
                "table' make records"
            )
        # 3) Write the page and, for all tables of the project, the README.
        show_step("writing the page")
        figures = find_figures(results / "figures")
        page = render_page(tables, figures, runs, about_runs=about_runs)
        with writing_to(path, "choose another file by --output"):
            write_output(path, lambda stream: stream.write(page.encode()))
        writes_overview = not (names or about_runs or is_installed)
        overview_note = _write_overview(tables, results) if writes_overview else ""
    # 4) Print the size and the content of the page.
    size = f"{path.stat().st_size / 1e6:.1f} MB"
    total = count_tables(tables).total
    contents = f"{counted(len(tables), 'table')}, {counted(len(figures), 'figure')}"
    if runs:
        contents = f"{counted(len(runs), 'run')}{'' if about_runs else ' beside them'}, {contents}"
    if total.published:
        contents += f", {total}"
    echo(f"written: {path} ({size}: {contents}){overview_note}")


def _find_user_tables(results: Path) -> list[str]:
    """Return the definitions in the current folder whose tables are among the results.

    A file that is not valid is left out with a message, as the user has not named it.
    """
    from boostbench.config.table_definitions import TableDefinition
    from boostbench.config.table_request import TableRequest

    table_names = [file.stem for file in sorted((results / "tables").glob("*.md"))]
    other_names = [name for name in table_names if name not in configs.list_options("table")]
    valid_names = []
    candidates = [name + suffix for name in other_names for suffix in configs.DEFINITION_SUFFIXES]
    for name in filter(os.path.isfile, candidates):
        try:
            TableRequest.compose(TableDefinition.read(name))
            valid_names.append(name)
        except UserError as error:
            print_error(f"{error}; left out")
    return valid_names


def _has_few_published_results(tables: Sequence[Table]) -> bool:
    """Return True if less than half of the published numbers of tables have a result."""
    from boostbench.analysis.verdicts import count_tables

    total = count_tables(tables).total
    return total.compared < total.published / 2


def _config_hashes(tables: Sequence[Table]) -> set[str]:
    """Return the hashes of the configs of all records in tables."""
    cells = [cell for table in tables for cell in table.cells.values()]
    return {
        config
        for cell in cells
        for rows in (cell.finished_splits, cell.failed_splits)
        for config in rows["config"]
    }


def _write_overview(tables: Sequence[Table], results: Path) -> str:
    """Write ``README.md`` and its picture, if matplotlib is installed.

    Returns
    -------
    str
        End of the command's last message, which names the file; empty if nothing was written.
    """
    from boostbench.analysis.verdicts import count_tables
    from boostbench.report.overview import counts_paragraph, make_readme, sort_by_paper, table_lines
    from boostbench.util.files import atomic_write_text

    path = results / "README.md"
    if importlib.util.find_spec("matplotlib") is None:
        print_error(
            f"{path} is left as it is: its picture needs matplotlib: 'pip install matplotlib'"
        )
        return ""
    from boostbench.figures.bars import draw_overview
    from boostbench.figures.style import save

    tallies = count_tables(sort_by_paper(tables))
    figure = draw_overview(table_lines(tallies, tables), tallies.total.verdicts)
    picture = results / "figures" / "overview"
    save(figure, picture, "How much is reproduced, by table", counts_paragraph(tallies.total))
    made = {file.stem for file in (results / "tables").glob("*.md")}
    with writing_to(path):
        atomic_write_text(path, make_readme(tables, "figures/overview.svg", made))
    return f", {path}"
