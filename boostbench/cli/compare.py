"""Test which algorithms differ in the records."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from boostbench.cli._commands import add_names_option, resolve_names_and_results
from boostbench.util import configs
from boostbench.util.errors import UserError, join_words, truncated_list, unknown_name_error
from boostbench.util.files import slug, user_path
from boostbench.util.terminal import echo, spinner

if TYPE_CHECKING:
    from boostbench.analysis.cells import Cell
    from boostbench.analysis.comparison import Comparison
    from boostbench.analysis.result_table import Table
    from boostbench.config.table_definitions import RowDefinition, TableDefinition
    from boostbench.records.index import Records


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    algorithms = "columns of tables, or algorithms; also results=DIR"
    parser.add_argument("words", nargs="+", metavar="NAME", help=algorithms)
    add_names_option(parser, "--tables", "names with commas; default: all that have them")
    add_names_option(parser, "--data", "names with commas; default: all data sets")
    parser.add_argument("--json", action="store_true", help="print JSON")
    drawn = "draw the ranks and all pairs"
    parser.add_argument("--figure", nargs="?", const="", metavar="FILE", help=drawn)
    equal = "differences up to X do not count; default: 1 point"
    parser.add_argument("--rope", type=float, metavar="X", help=equal)


def complete(before: list[str], word: str) -> list[str]:
    """Return the names that may come next."""
    return configs.list_options("algo")


def run(args: Namespace) -> None:
    """Compare the algorithms."""
    compare(
        args.words,
        args.tables,
        args.data,
        as_json=args.json,
        figure=args.figure,
        rope=args.rope,
    )


#: Endings of a figure's file; all three formats are written, whichever is given.
_FIGURE_SUFFIXES = {"", ".png", ".svg", ".pdf"}


def compare(
    words: Sequence[str],
    tables: Sequence[str] = (),
    data: Sequence[str] = (),
    as_json: bool = False,
    figure: str | None = None,
    rope: float | None = None,
) -> None:
    """Compare algorithms by their records, and test which differences are significant.

    Parameters
    ----------
    words : sequence of str
        Two or more columns of tables, and perhaps ``results=DIR``, the folder of records.
    tables : sequence of str, default=()
        Tables that are searched for the numbers, in this order. Empty: all tables that have all of
        the algorithms.
    data : sequence of str, default=()
        Names of rows. Empty: all rows but second versions of the same data.
    as_json : bool, default=False
        Print JSON instead of sentences and tables.
    figure : str, default=None
        File for the critical-difference diagram, written as PNG, SVG and PDF, and beside it
        ``FILE-matrix``, every two algorithms; ``""`` for files under ``results/figures``.
    rope : float, default=None
        Numbers that differ by no more are equal for practical purposes. Default: one percentage
        point; none in other units.

    Raises
    ------
    UserError
        If a name is unknown, or the numbers cannot be compared. Nothing was written then.
    """
    with spinner("starting"):
        from boostbench.analysis.comparison import compare_columns
        from boostbench.records.index import Records
        from boostbench.report.renderers.comparison_report import (
            comparison_as_json,
            print_comparison,
        )
        from boostbench.report.renderers.console import short_names
        from boostbench.util.terminal import make_console

    # 1) Check the arguments.
    names, results = resolve_names_and_results("compare", words)
    if len(set(names)) < 2 or len(set(names)) < len(names):
        raise UserError("compare needs two algorithms or more, each once, such as 'a b'")
    if rope is not None and not rope > 0:
        raise UserError(f"--rope is {rope:g}; it is a difference that does not matter, more than 0")
    if figure is not None:
        _check_figure(figure, names)
    # 2) Collect the numbers, compare them, and print the comparison.
    with spinner("reading records") as show_step:
        records = Records(results)
        collected = _collect(names, tables, data, records, show_step)
        table = collected.table
        comparison = compare_columns(table, rope=rope)
    if as_json:
        echo(comparison_as_json(table, collected.table_names, comparison))
    else:
        console = make_console()
        print_comparison(console, table, comparison)
        for sentence in _missing_runs_note(collected, records):
            console.print(sentence, style="yellow")
    # 3) Draw the figures. Without a name, they go to the folder of results.
    if figure is not None:
        if figure:
            written = _draw_figures(table, comparison, user_path(figure).with_suffix(""), depth=0)
        else:
            path = results / "figures" / _figure_name([*names, *tables, *data])
            written = _draw_figures(table, comparison, path, depth=1)
        stream = sys.stderr if as_json else sys.stdout
        echo(f"\nwritten: {short_names(written)}", file=stream)


class _Collected(NamedTuple):
    """Numbers that are compared.

    Attributes
    ----------
    table : Table
    table_names : sequence of str, default=()
        Name of the table that each row comes from; empty if runs are compared.
    table_arguments : sequence of str, default=()
        The same tables as ``boostbench table`` takes them: a name, or the path of a YAML file.
    """

    table: Table
    table_names: Sequence[str] = ()
    table_arguments: Sequence[str] = ()


def _collect(
    names: Sequence[str],
    tables: Sequence[str],
    data: Sequence[str],
    records: Records,
    show_step: Callable[..., None],
) -> _Collected:
    """Return the numbers of tables or, without a common row, of all runs.

    Runs are compared if no table has all of the algorithms, or if no row of the tables has a number
    of each. If `tables` are named, runs are never compared.

    Parameters
    ----------
    names, tables, data : sequence of str
        See `compare`.
    records : Records
        Records of the results folder.
    show_step : callable
        Shows the current step, see `boostbench.util.terminal.spinner`.
    """
    from boostbench.analysis.result_table import merge
    from boostbench.report.assemble import read_tables

    # 1) Select the tables. If no table has all of the algorithms, take the runs; without runs, the
    #    error of the selection is raised.
    try:
        chosen = select_tables(names, tables, data)
    except UserError:
        runs_table = None if tables else _table_of_runs(names, data, records)
        if runs_table is None:
            raise
        return _Collected(runs_table)
    # 2) Merge the tables. If no row has a number of each algorithm, take the runs if there are any.
    candidates = read_tables(chosen, records, show_step)
    table, table_names = merge(candidates, names, data)
    argument_of_table = dict(zip([candidate.name for candidate in candidates], chosen, strict=True))
    has_full_row = any(all(table.cells[row, name].numbers for name in names) for row in table.rows)
    runs_table = None if tables or has_full_row else _table_of_runs(names, data, records)
    if runs_table:
        return _Collected(runs_table)
    return _Collected(table, table_names, [argument_of_table[name] for name in table_names])


def _table_of_runs(names: Sequence[str], data: Sequence[str], records: Records) -> Table | None:
    """Return the table of all runs of some algorithms; None if no data set has runs of each.

    Parameters
    ----------
    names : sequence of str
        Algorithms.
    data : sequence of str
        Names of data sets. Empty: all.
    records : Records

    Raises
    ------
    UserError
        If there is a table, and a name of `data` is unknown.
    """
    from boostbench.analysis.recorded_experiments import (
        experiments_on,
        find_experiments,
        table_of_experiments,
    )

    # The config of a data set with the key `redraw` draws rows with replacement, so that a row may
    # lie in the training and in the test part. Such data are compared only if they are named.
    data_with_leak = {
        name
        for name in configs.list_options("data")
        if configs.read_option("data", name).get("redraw")
    }
    left_out = data_with_leak - set(data)
    runs = [run for run in find_experiments(records) if run.config.data.name not in left_out]
    table = table_of_experiments(runs, names, data)
    for name in data if table else ():
        if not experiments_on(runs, name):
            raise unknown_name_error(
                "data set", name, {run.cell.data for run in runs}, is_listed=False
            )
    return table


def _missing_runs_note(collected: _Collected, records: Records) -> list[str]:
    """Return sentences on the commands for missing numbers, and on records of other settings."""
    table = collected.table
    missing = {key: cell for key, cell in table.cells.items() if not cell.n_finished}
    if not missing:
        return []
    argument_of_row = dict(zip(table.rows, collected.table_arguments, strict=True))
    commands = list(
        dict.fromkeys(f"'boostbench table {argument_of_row[row]}'" for row, _ in missing)
    )
    sentences = [f"Missing numbers are run by {join_words(commands)}."]
    other_settings = dict.fromkeys(
        table.rows[row] for (row, _), cell in missing.items() if _has_records(records, cell)
    )
    if other_settings:
        sentences.append(
            f"{join_words(list(other_settings))} also has records of other settings, such as "
            "profile=quick, which compare does not use."
        )
    return sentences


def _has_records(records: Records, cell: Cell) -> bool:
    """Return True if any settings of a cell's algorithm are on record on its data set."""
    from boostbench.records.store import record_path

    index = records.index(record_path(records.results, cell.data, cell.algo))
    # A file system that ignores case has one folder for two names of data sets.
    return any(record.config.data.name == cell.data for record in index)


def _check_figure(figure: str, names: Sequence[str]) -> None:
    """Raise an error if the figure has another format, or shows fewer than three algorithms."""
    from boostbench.figures.definition import require_matplotlib

    if Path(figure).suffix not in _FIGURE_SUFFIXES or (figure and not Path(figure).name.strip(".")):
        raise UserError(f"a figure is a .png, .svg or .pdf file, not {figure!r}; put --figure last")
    if len(names) < 3:
        raise UserError("the figure shows average ranks: it needs three algorithms or more")
    require_matplotlib()


def _figure_name(words: Sequence[str]) -> str:
    """Return the name of the figure's files without their ending."""
    from boostbench.config.table_request import file_name

    return file_name(["compare", *(slug(word, ".@=,-") for word in words)])


def _draw_figures(table: Table, comparison: Comparison, path: Path, depth: int) -> list[Path]:
    """Draw the critical-difference diagram, and the matrix of all pairs.

    Parameters
    ----------
    table : Table
    comparison : Comparison
    path : Path
        Path of the diagram's files without their ending.
    depth : int
        Number of parent folders that must not be links, see `boostbench.util.files.writing_to`.

    Returns
    -------
    list of Path
        Written files.
    """
    from boostbench.report.column_tests import comparison_listing

    if comparison.friedman is None:
        raise UserError("nothing to draw: fewer than two data sets have a number of each algorithm")
    from boostbench.figures.significance import draw_critical_difference, draw_matrix
    from boostbench.figures.style import save

    by_rank, title = draw_critical_difference(table, comparison), f"Ranks of {table.title}"
    sentence = comparison.friedman.sentence(comparison.paired_numbers.unit)
    ranks = save(by_rank, path, title, sentence, depth)
    matrix = draw_matrix(table, comparison)
    matrix_path = path.with_name(f"{path.name}-matrix")
    explanation = comparison_listing(table, comparison).explanation
    return ranks + save(matrix, matrix_path, f"Every two of {table.title}", explanation, depth)


def select_tables(
    names: Sequence[str], tables: Sequence[str] = (), data: Collection[str] = ()
) -> list[str]:
    """Choose the tables that hold all of some algorithms.

    Parameters
    ----------
    names : sequence of str
        Columns of tables, see `boostbench.analysis.result_table.find_column`.
    tables : sequence of str, default=()
        Names of tables, or paths of YAML files. Empty: all tables of ``conf`` that hold the
        algorithms, the ones with the most data sets first. Tables in which a data set has several
        rows are then chosen only if there are no others.
    data : collection of str, default=()
        Rows that some of the tables must have.

    Returns
    -------
    list of str
        Chosen tables: entries of `tables`, or names of tables of ``conf``.

    Raises
    ------
    UserError
        If a table, an algorithm or a row is unknown, or no table holds all algorithms.
    """
    from boostbench.analysis.result_table import find_column
    from boostbench.config.table_definitions import TableDefinition, read_definitions

    # 1) Find the tables with a column of each algorithm. The keys that name tables are entries of
    #    `tables`, which may be paths, or names of tables of ``conf``.
    definitions = {table: TableDefinition.read(table) for table in tables}
    definitions = definitions or {definition.name: definition for definition in read_definitions()}
    table_columns = {table: _column_names(definition) for table, definition in definitions.items()}
    tables_with_column = {
        name: [table for table in table_columns if find_column(table_columns[table], name)]
        for name in names
    }
    for name in names:
        if not tables_with_column[name]:
            raise _missing_column_error(name, definitions.values())
    # 2) Report a named table without one of the columns, or that no table has all of them.
    for table in tables:
        lacking = [name for name in names if table not in tables_with_column[name]]
        if lacking:
            listed = ", ".join(table_columns[table])
            raise UserError(f"table {table} has no {join_words(lacking)}; it has {listed}")
    chosen = [
        table for table in definitions if all(table in tables_with_column[name] for name in names)
    ]
    if not chosen:
        where = "; ".join(f"{name} is in {', '.join(tables_with_column[name])}" for name in names)
        raise UserError(f"no table holds {join_words(names)} together: {where}")
    # 3) Order the tables of ``conf``, and check the names of rows.
    if not tables:
        chosen = [table for table in chosen if not _repeats_data(definitions[table])] or chosen
        chosen.sort(key=lambda table: -len(_first_versions(definitions[table])))
    rows = {row for table in chosen for row in definitions[table].row_names}
    for row in data:
        if row not in rows:
            raise unknown_name_error("data set of these tables", row, rows, is_listed=False)
    return chosen


def _column_names(definition: TableDefinition) -> list[str]:
    """Return the names of a table's columns: ``mcboost``, or ``mcboost@100`` for 100 rounds.

    A table with several numbers of rounds has a column for each algorithm and number.
    """
    rounds = [f"@{number}" for number in definition.rounds] or [""]
    return [f"{column}{suffix}" for column in definition.column_names for suffix in rounds]


def _first_versions(definition: TableDefinition) -> list[RowDefinition]:
    """Return the rows without second versions of another row's data (`published_as`)."""
    return [row for row in definition.rows if not row.published_as]


def _repeats_data(definition: TableDefinition) -> bool:
    """Return True if several rows have the same data, with different settings."""
    data = [row.data for row in _first_versions(definition)]
    return len(set(data)) < len(data)


def _missing_column_error(name: str, definitions: Collection[TableDefinition]) -> UserError:
    """Return the error for a name that no column has, or that several columns may mean."""
    all_columns = [column for definition in definitions for column in definition.columns]
    columns_of_algorithm = list(
        dict.fromkeys(column.name for column in all_columns if column.algo == name)
    )
    if columns_of_algorithm:
        return UserError(
            f"{name!r} is ambiguous: columns of this algorithm are "
            f"{truncated_list(columns_of_algorithm)}; name those to be compared, or run "
            f"'boostbench run algo={name} data=...' where the others were run"
        )
    # A name with @ asks for a number of rounds, and is compared with such names, too.
    columns = {column for definition in definitions for column in _column_names(definition)}
    valid_names = {column.partition("@")[0] for column in columns}
    if "@" in name:
        valid_names |= columns
    return unknown_name_error("algorithm", name, valid_names, is_listed=False)
