"""Run the missing splits of a table, then print and save it."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from boostbench.cli._commands import (
    add_definition_argument,
    add_names_option,
    add_overrides_argument,
)
from boostbench.util import configs
from boostbench.util.errors import print_error
from boostbench.util.files import writing_to
from boostbench.util.terminal import echo, spinner

if TYPE_CHECKING:
    from boostbench.config.table_request import TableRequest
    from boostbench.report.renderers.latex import Orientation


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    add_definition_argument(parser, "table")
    for part in ("row", "column"):
        add_names_option(
            parser, f"--{part}", f"only this {part}; names with commas", metavar="NAME"
        )
    parser.add_argument(
        "--orientation",
        choices=["auto", "normal", "transposed"],
        default="auto",
        help="of the LaTeX table; auto: transposed if it has more columns than rows",
    )
    add_overrides_argument(parser, "for every cell, e.g. protocol.n_splits=3")


def complete(before: list[str], word: str) -> list[str]:
    """Return the names that may come next."""
    return [] if before else configs.list_options("table")


def run(args: Namespace) -> int:
    """Make the table, or one table for each quantity of ``quantity=A,B``."""
    with spinner("starting"):
        from boostbench.config.overrides import check_no_conflicting_values
        from boostbench.config.table_definitions import TableDefinition
        from boostbench.config.table_request import TableRequest

    settings = split_quantities(args.words)
    check_no_conflicting_values(settings[0])
    # A wrong name of a later quantity is reported before the first table runs.
    with spinner("composing configs"):
        definition = TableDefinition.read(args.name)
        requests = [
            TableRequest.compose(definition, overrides, args.row, args.column)
            for overrides in settings
        ]
    return max(make_table(request, args.orientation) for request in requests)


def split_quantities(overrides: Sequence[str]) -> list[list[str]]:
    """Return the overrides of one table for each quantity that they name.

    Examples
    --------
    >>> split_quantities(["quantity=test_error,auc", "protocol.n_splits=3"])
    [['quantity=test_error', 'protocol.n_splits=3'], ['quantity=auc', 'protocol.n_splits=3']]
    >>> split_quantities(["rerun=never"])
    [['rerun=never']]
    """
    for position, override in enumerate(overrides):
        key, _, names = override.partition("=")
        if key == "quantity" and "," in names:
            before, after = overrides[:position], overrides[position + 1 :]
            return [[*before, f"quantity={name}", *after] for name in names.split(",")]
    return [list(overrides)]


def make_table(request: TableRequest, orientation: Orientation = "auto") -> int:
    """Run the missing splits of a table, print it, and write it under ``results/tables``.

    Parameters
    ----------
    request : TableRequest
        Definition of the requested rows and columns, with the config of each cell.
    orientation : {"auto", "normal", "transposed"}, default="auto"
        Orientation of the LaTeX table, see `boostbench.report.renderers.latex.latex`.

    Returns
    -------
    int
        0, or 1 if splits failed.
    """
    with spinner("starting"):
        from boostbench.execution.jobs import plan_table
        from boostbench.report.assemble import assemble
        from boostbench.report.data_files import table_as_csv
        from boostbench.report.document import make_document, make_summary
        from boostbench.report.renderers.console import (
            print_headline,
            print_judgement,
            print_summary,
            print_table,
        )
        from boostbench.report.renderers.latex import latex, latex_notes
        from boostbench.report.renderers.markdown import markdown
        from boostbench.util.files import atomic_write_text
        from boostbench.util.terminal import make_console

    # 1) Run the missing splits, after the numbers that are on record already.
    plan, console = plan_table(request.runnable_cells), make_console()
    shared_settings = request.shared_config  # a config with the settings that all cells share
    has_missing_splits = plan.run is not None and bool(plan.run.planned)
    has_records = any(cell.results.records for cell in plan.cells)
    if has_missing_splits and has_records:
        console.print("On record, before what is missing runs:", style="bold")
        print_table(console, make_document(assemble(request, plan.results)))
        console.print()
    plan = plan.run_missing_fits()
    # A shard has a part of each cell's splits, so that it prints no table.
    if shared_settings.shard and shared_settings.rerun != "never":
        return int(any(cell.results.failures for cell in plan.cells))
    # 2) Print the table; a single row is printed as a summary, a line for each algorithm.
    table = assemble(request, plan.results)
    document = make_document(table)
    print_headline(console, document)
    if len(table.rows) == 1:
        # Columns may cut the data in different ways.
        dataset = plan.datasets[0] if len(plan.datasets) == 1 else None
        print_summary(console, make_summary(dataset, list(table.cells.values())))
    else:
        print_table(console, document)
    print_judgement(console, document)
    # 3) Write the files.
    texts = {
        ".md": markdown(document),
        ".csv": table_as_csv(table),
        ".tex": latex(document, orientation),
        "-notes.tex": latex_notes(document),
    }
    path = request.results / "tables" / document.name
    with writing_to(path, depth=1):
        for suffix, text in texts.items():
            # The name of a table may have dots, so that `Path.with_suffix` would cut it.
            atomic_write_text(path.with_name(path.name + suffix), text)
    echo(f"\nwritten: {path}{', '.join(texts)}")
    failed = sum(cell.n_failed for cell in table.last_round_cells)
    if failed:
        n_splits = failed + sum(cell.n_finished for cell in table.last_round_cells)
        print_error(f"{failed} of {n_splits} splits failed")
    return int(failed > 0)
