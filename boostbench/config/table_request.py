"""Requests of tables, and comparison of experiments with the tables' definitions.

Commands that run or show a table make a `TableRequest`: a definition, overrides of a command line,
and the config of each cell. The report reads it. ``boostbench run`` shows the published number of
the cell that is nearest to its experiment, which `find_reference` finds.
"""

import itertools
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from boostbench.config.table_definitions import TableDefinition, shipped_data, shipped_definition
from boostbench.papers.metadata import library
from boostbench.papers.published import Published, find_quantity
from boostbench.spec import measures
from boostbench.spec.experiment import ExperimentConfig, Profile, TableCell
from boostbench.spec.keys import digest
from boostbench.util.configs import list_options
from boostbench.util.errors import UserError
from boostbench.util.files import slug

#: Overrides that change where and how a table is made, and not its content.
_WITHOUT_EFFECT = ("results=", "rerun=", "shard=", "parallel=", "parallel.")
#: Setting of the shown quantity, which is no override of a cell.
_QUANTITY = "quantity="

#: Settings of data that affect no result: name, source and expected counts.
_SOURCE_KEYS = ("data.name", "data.openml", "data.sklearn", "data.expect")

#: Largest number of bytes of a table's file name: file systems allow 255, less the longest suffix.
_MAX_NAME_BYTES = 255 - len("-matrix.svg")


class TableRequest(msgspec.Struct, frozen=True, dict=True):
    """Request of a table.

    Attributes
    ----------
    definition : TableDefinition
        Definition of the requested rows and columns.
    cells : list of TableCell
        Cells row by row, with those that are not run.
    name, title : str
        Name of the files, and heading.
    changes : list of str
        Settings of a row that differ from the definition: ``["protocol.n_splits=3"]``. The row is
        the first one with such settings.
    effective_overrides : list of str
        Overrides of the command line, as the user wrote them, that change the content of the table.
        They are part of the name. Overrides that repeat the definition are not.
    """

    definition: TableDefinition
    cells: list[TableCell]
    name: str
    title: str
    changes: list[str] = []
    effective_overrides: list[str] = []

    @classmethod
    def compose(
        cls,
        definition: TableDefinition,
        overrides: Sequence[str] = (),
        rows: Sequence[str] = (),
        columns: Sequence[str] = (),
    ) -> "TableRequest":
        """Compose the configs of a table.

        Parameters
        ----------
        definition : TableDefinition
            Definition of the whole table.
        overrides : sequence of str, default=()
            Overrides for every cell, and ``quantity=NAME`` for the shown quantity. Overrides that
            change the content of the table change its name too.
        rows, columns : sequence of str, default=()
            Requested rows and columns, see `TableDefinition.subset`. Empty: all.

        Raises
        ------
        UserError
            If the definition has no such row or column, or runs no such cell; if an override is not
            valid; or if the table shows rounds or a quantity that are not recorded.
        """
        # 1) Select the displayed quantity, the rows and the columns.
        quantities = [override for override in overrides if override.startswith(_QUANTITY)]
        overrides = [override for override in overrides if override not in quantities]
        for override in quantities:
            definition = definition.replace_quantity(override.removeprefix(_QUANTITY))
        part = definition.subset(rows, columns)
        part.check_is_run()
        # 2) Compose the cells.
        cells = part.compose(overrides)
        for cell in cells:
            with part.error_context(cell.row, cell.column):
                _check_recorded(part, cell.config)
        # 3) Compare them with the definition. If nothing changes, the overrides repeat the
        #    definition, and do not enter the name.
        effective = [override for override in overrides if not override.startswith(_WITHOUT_EFFECT)]
        changes: list[str] = []
        if effective:
            defined = [cell.config for cell in part.compose()]
            changes = _find_changes_of_first_row(cells, defined)
            cells = [
                cell._replace(departures=find_departures(config, cell.config))
                for cell, config in zip(cells, defined, strict=True)
            ]
        effective = [*(effective if changes else []), *quantities]
        changes = [*dict.fromkeys(changes), *quantities]
        return cls(
            definition=part,
            cells=cells,
            name=file_name([part.name, *rows, *columns, *map(_slug, effective)]),
            title=part.title + _profile_note(cells[0].config.profile),
            changes=changes,
            effective_overrides=effective,
        )

    @cached_property
    def _command_name(self) -> str:
        """Name of the table in commands; the path of its file if it is not in ``conf``."""
        definition = self.definition
        return definition.name if definition.name in list_options("table") else definition.path

    def command(self, cell: TableCell) -> str:
        """Return the command that runs a cell again, in another folder of results."""
        options = ["--row", cell.row, "--column", cell.column, "rerun=all", "results=again"]
        return shlex.join(
            ["boostbench", "table", self._command_name, *self.effective_overrides, *options]
        )

    @property
    def shared_config(self) -> ExperimentConfig:
        """Config of the first cell, with the settings of the run that all cells share."""
        return self.cells[0].config

    @property
    def results(self) -> Path:
        """Folder of the records and of the table's files."""
        return self.shared_config.results

    @property
    def runnable_cells(self) -> list[TableCell]:
        """Cells that are run, row by row."""
        return [cell for cell in self.cells if cell.is_run]


def _find_changes_of_first_row(
    cells: Sequence[TableCell], defined: Sequence[ExperimentConfig]
) -> list[str]:
    """Return the differences from a definition in the first row that has any; else an empty list.

    One row is enough, as the definition of another row may have the requested values.

    Parameters
    ----------
    cells : sequence of TableCell
        Cells of a request, row by row.
    defined : sequence of ExperimentConfig
        Config of each cell by the definition.
    """
    pairs = zip(cells, defined, strict=True)
    for _, row in itertools.groupby(pairs, key=lambda pair: pair[0].row):
        changes = [change for cell, config in row for change in _find_changes(config, cell.config)]
        if changes:
            return changes
    return []


def _profile_note(profile: Profile) -> str:
    """Return the limits of a profile for a title, such as `` (quick: at most 3 splits)``."""
    if profile.name == "paper":
        return ""
    limits = {
        "splits": profile.protocol.get("n_splits"),
        "rounds": profile.algo.get("all", {}).get("n_iterations"),
    }
    texts = ", ".join(f"{number} {noun}" for noun, number in limits.items() if number)
    return f" ({profile.name}{texts and f': at most {texts}'})"


def _check_recorded(definition: TableDefinition, config: ExperimentConfig) -> None:
    """Check that a cell can be run, and that its displayed numbers are recorded.

    Raises
    ------
    UserError
        If the class lacks a parameter, or the protocol or the measure does not record the number.
    """
    # 1) Errors are recorded at the checkpoints of the protocol. Making the specification checks the
    #    parameters.
    measure = measures.find(config.spec.measure)
    checkpoints = config.spec.protocol.checkpoints if measure.has_checkpoints else ()
    unrecorded = set(definition.rounds) - set(checkpoints)
    if unrecorded:
        rounds = ", ".join(map(str, sorted(unrecorded)))
        advice = "add them to the table's overrides: protocol.checkpoints=[...]"
        if not measure.has_checkpoints:
            advice = f"measure={measure.name} records the last round alone"
        raise UserError(f"no test error is recorded after {rounds} rounds; {advice}")
    # 2) The measure must record the quantity.
    name = definition.displayed_quantity(measure.quantity).name
    if not measure.has_quantity(name):
        candidates = sorted(measures.names(), key=lambda candidate: candidate != "prediction")
        suitable = [
            f"measure={candidate}"
            for candidate in candidates
            if measures.find(candidate).has_quantity(name)
        ]
        advice = f"add {suitable[0]} to the table's overrides" if suitable else "no measure does"
        raise UserError(f"measure={measure.name} records no {name}; {advice}")


def _slug(override: str) -> str:
    """Shorten an override for a file name: ``protocol=quick`` to ``quick``.

    Examples
    --------
    >>> _slug("protocol=quick"), _slug("algo.n_iterations=5"), _slug("algo.grid.nu=[1e-3,1e-4]")
    ('quick', 'n_iterations=5', 'nu=1e-3,1e-4')
    """
    key, _, value = override.lstrip("+~").partition("=")
    short = f"{key.rpartition('.')[2]}={value}" if "." in key else value
    return slug(short, ".=,-", "")[:60]


def file_name(parts: Sequence[str]) -> str:
    """Return the name of a table's files, without folders; a digest replaces a long end.

    Examples
    --------
    >>> file_name(["mine", "d/my.csv", "n_splits=3"])
    'mine-d_my.csv-n_splits=3'
    """
    name = re.sub(r"[/\\]+", "_", "-".join(parts))
    encoded = os.fsencode(name)
    if len(encoded) <= _MAX_NAME_BYTES:
        return name
    end = f"-{digest(name)[:8]}"
    return encoded[: _MAX_NAME_BYTES - len(end)].decode(errors="ignore") + end


# --- Comparison of experiments with definitions ---
#
# A *change* is any setting that differs from the definition of a table, such as its seed. A
# *departure* is one that affects the results: the number is no longer comparable with the
# published one.


class _Setting(NamedTuple):
    """Setting of an experiment: its dotted key, such as ``data.path``, and its value."""

    key: str
    value: Any


def find_departures(defined: ExperimentConfig, config: ExperimentConfig) -> tuple[str, ...]:
    """Return the settings by which an experiment differs from its definition.

    Parameters
    ----------
    defined, config : ExperimentConfig
        Configs by the definition of a table, and by the request.

    Returns
    -------
    tuple of str
        Settings of the request, such as ``"algo.n_iterations=3"``. Seeds and numbers of splits do
        not count.
    """
    return tuple(sorted(_differences(_result_settings(defined), _result_settings(config))))


def _find_changes(defined: ExperimentConfig, config: ExperimentConfig) -> list[str]:
    """Return all settings of a request that differ from the definition, even names and titles."""
    return _differences(_content_settings(defined), _content_settings(config))


def _differences(defined: Iterable[_Setting], settings: Iterable[_Setting]) -> list[str]:
    """Return the settings with another value than in `defined`, such as ``["seed=3"]``.

    A setting of `defined` alone is in the result, too, with the value None.
    """
    values, defined_values = dict(settings), dict(defined)
    return [
        f"{key}={values.get(key)}"
        for key in {**values, **defined_values}
        if values.get(key) != defined_values.get(key)
    ]


def _content_settings(config: ExperimentConfig) -> Iterator[_Setting]:
    """Yield the settings that affect the content of a table, as the config has them."""
    yield _Setting("profile", config.profile.name)
    yield _Setting("seed", config.seed)
    yield _Setting("measure", config.measure)
    yield from _group_settings("data", config.data.to_config())
    yield from _group_settings("protocol", msgspec.structs.asdict(config.protocol))
    algorithm = config.algorithm
    yield _Setting("algo.name", algorithm.name)
    yield _Setting("algo.title", algorithm.title)
    yield _Setting("algo._target_", algorithm.target)
    yield from _group_settings("algo", algorithm.params)
    yield _Setting("algo.grid", algorithm.grid)


def _result_settings(config: ExperimentConfig) -> Iterator[_Setting]:
    """Yield the settings that decide the results, with the defaults of the algorithm.

    The number of splits is none of them, except as the number of folds: verdicts count the splits.
    """
    yield _Setting("measure", config.measure)
    for setting in _group_settings("data", config.data.to_config()):
        if setting.key not in _SOURCE_KEYS:
            yield setting
    settings = msgspec.structs.replace(config.spec, seed=0).settings
    for setting in _group_settings("protocol", settings["protocol"]):
        # Checkpoints are rounds at which errors are recorded; they do not affect the result.
        if setting.key != "protocol.checkpoints":
            yield setting
    yield from _group_settings("algo", settings["algo"])
    yield _Setting("algo.grid", settings["grid"])


def _group_settings(group: str, content: Any) -> Iterator[_Setting]:
    """Yield the settings of a group of a config, which is a mapping; tuples become lists."""
    for key, value in content.items():
        yield _Setting(f"{group}.{key}", list(value) if isinstance(value, tuple) else value)


class Reference(NamedTuple):
    """Published numbers of an experiment.

    Attributes
    ----------
    published : tuple of Published
        One for each quantity; empty: no table of the paper has the experiment.
    departures : tuple of str
        Settings by which the experiment differs from the paper's table, see `find_departures`.
    """

    published: tuple[Published, ...]
    departures: tuple[str, ...]


def find_reference(config: ExperimentConfig) -> Reference:
    """Return the published numbers of the cell that is nearest to an experiment.

    Parameters
    ----------
    config : ExperimentConfig
        Config of the experiment; the name of its protocol names the paper.

    Returns
    -------
    Reference
        Empty if no table of the paper has the algorithm on the data set.
    """
    # The nearest cell is the one with the fewest different settings.
    references = []
    for definition, row, column in _similar_cells(config):
        [cell] = definition.compose(rows=[row], columns=[column])
        rounds = definition.rounds[-1] if definition.rounds else None
        published = definition.find_published(row, column, cell.config.algorithm, rounds)
        if find_quantity(published, definition.displayed_quantity().name):
            references.append(Reference(published, find_departures(cell.config, config)))
    return min(
        references, key=lambda reference: len(reference.departures), default=Reference((), ())
    )


def _similar_cells(config: ExperimentConfig) -> Iterator[tuple[TableDefinition, str, str]]:
    """Yield the cells with an experiment's algorithm and data set, in the tables of its paper.

    A cell is a table's definition and the names of the row and the column.
    """
    data, algo, paper = config.data.name, config.algorithm.name, config.protocol.name
    names = {table.definition for table in library().tables if table.paper == paper} - {""}
    for name in sorted(names):
        # Most tables lack the data set, and checking a whole definition is slow.
        if data not in shipped_data(name):
            continue
        definition = shipped_definition(name)
        # A table that only cites the numbers of the paper is none of its tables.
        if definition.paper != paper:
            continue
        for row, column in itertools.product(definition.rows, definition.columns):
            if (row.data, column.algo) == (data, algo):
                yield definition, row.name, column.name
