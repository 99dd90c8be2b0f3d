"""Tables of what is on record, whether the data are at hand or not."""

from collections.abc import Sequence
from pathlib import Path

from boostbench import configs
from boostbench.definitions.assemble import assemble
from boostbench.definitions.complaints import complain
from boostbench.definitions.compose import experiments
from boostbench.definitions.table import Definition
from boostbench.experiment.archive import Records
from boostbench.report.tables import Table


def recorded_tables(names: Sequence[str] | None, results: Path) -> tuple[list[Table], list[str]]:
    """Make tables of records alone; nothing is run, and no data set is loaded.

    Parameters
    ----------
    names : sequence of str or None
        Names of tables, or paths of YAML files that define some; None for all in ``conf/table``.
    results : Path
        Folder of the records.

    Returns
    -------
    tables : list of Table
    warnings : list of str
        One for each damaged line of the files of records.

    Raises
    ------
    UserError
        Unknown table.
    """
    known = configs.names("table") if names is None else names
    definitions = [Definition.read(name) for name in known]
    keys = [(d, (row, column)) for d in definitions for row in d.rows for column in d.columns]
    # All at once, as tables share most of what their cells are composed of.
    specs = experiments([definition.cell(*key) for definition, key in keys])
    composed = {definition.name: {} for definition in definitions}
    for (definition, key), spec in zip(keys, specs, strict=True):
        composed[definition.name][key] = spec
    records = Records(results)
    tables = [_table(d, composed[d.name], records) for d in definitions]
    return tables, records.warnings


def read_tables(names: Sequence[str] | None, results: Path) -> list[Table]:
    """Make tables as `recorded_tables` does, and complain of damaged records."""
    tables, warnings = recorded_tables(names, results)
    for warning in warnings:
        complain(warning)
    return tables


def _table(definition: Definition, specs: dict, records: Records) -> Table:
    found = {key: records.find(spec) for key, spec in specs.items() if definition.runs(*key)}
    classes = {
        row: content.records[0]["config"]["data"]["n_classes"]
        for (row, _), content in found.items()
        if content.records
    }
    return assemble(definition, specs, found, classes, available=definition.rows)
