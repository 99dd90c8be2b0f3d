"""Figures of what the records of tables hold: error curves, and CPU times."""

from collections.abc import Mapping
from pathlib import Path
from statistics import fmean

from boostbench.cli.figures.drawing import Drawing, stale_note
from boostbench.definitions.compose import experiments
from boostbench.definitions.figure import FigureDefinition
from boostbench.definitions.table import Definition
from boostbench.errors import UserError
from boostbench.experiment.archive import Recorded, Records
from boostbench.report import numbers

#: The parts of a table's cells that are drawn: by row and by the label of the column.
_Cells = dict[str, dict[str, Recorded]]


def curves(definition: FigureDefinition, overrides: list[str]) -> Drawing:
    """Draw test error against boosting rounds.

    Parameters
    ----------
    definition : FigureDefinition
        With ``table``.
    overrides : list of str
        Hydra overrides for all of it.

    Returns
    -------
    Drawing

    Raises
    ------
    UserError
        If nothing is recorded.
    """
    from boostbench.report.figures.curves import draw_curves

    table = Definition.read(definition.table)
    cells, results = _recorded(table, list(table.rows), overrides)
    panels = {
        table.rows[row].title: {label: there.records for label, there in columns.items()}
        for row, columns in cells.items()
        if any(there.records for there in columns.values())
    }
    notes = _lacking(table, cells) + _stale(table, cells)
    return Drawing(draw_curves(panels, definition.error_axis), results, notes)


def times(definition: FigureDefinition, overrides: list[str]) -> Drawing:
    """Draw the CPU time that the coefficients take against what the rows of a table vary.

    Parameters
    ----------
    definition : FigureDefinition
        With ``panels``.
    overrides : list of str
        Hydra overrides for all of it.

    Returns
    -------
    Drawing

    Raises
    ------
    UserError
        If nothing of a panel is recorded.
    """
    from boostbench.report.figures.times import draw_times

    panels, facts, notes, labels = {}, [], [], {}
    for panel in definition.panels:
        table = Definition.read(panel.table)
        cells, results = _recorded(table, list(panel.rows), overrides)
        lines = panels.setdefault(panel.title, {})
        for row, value in panel.rows.items():
            for label, there in cells[row].items():
                labels[label] = None
                if there.records:
                    lines.setdefault(label, {})[value] = _seconds(there)
            facts.append([f"{panel.title}: {value}", *map(_spent, cells[row].values())])
        notes += _lacking(table, cells) + _stale(table, cells)
    return Drawing(
        draw_times(panels, list(labels)),
        results,
        list(dict.fromkeys(notes)),
        facts,
        ["CPU seconds", *labels],
    )


def _seconds(there: Recorded) -> float:
    return fmean(record["seconds"]["coefficients"] for record in there.records)


def _spent(there: Recorded) -> str:
    if not there.records:
        return "-"
    rounds = fmean(record["n_iterations"] for record in there.records)
    return f"{numbers.seconds(_seconds(there))} ({rounds:.0f} rounds)"


def _recorded(table: Definition, rows: list[str], overrides: list[str]) -> tuple[_Cells, Path]:
    """Find what is recorded of some rows of a table, and say in which folder that is."""
    for row in rows:
        if row not in table.rows:
            raise UserError(
                f"table {table.name} has no row {row!r}; it has {', '.join(table.rows)}"
            )
    keys = [(row, column) for row in rows for column in table.columns if table.runs(row, column)]
    specs = experiments([table.cell(*key) + overrides for key in keys])
    results = Path(specs[0]["results"])
    records = Records(results)
    cells: _Cells = {}
    for (row, column), spec in zip(keys, specs, strict=True):
        label = table.label(column, spec["algo"])
        cells.setdefault(row, {})[label] = records.find(spec)
    if not any(there.records for columns in cells.values() for there in columns.values()):
        raise UserError(
            f"nothing of table {table.name} is recorded in {results}; "
            f"'boostbench table {table.name}' runs it"
        )
    return cells, results


def _lacking(table: Definition, cells: _Cells) -> list[str]:
    """Name what is not drawn, or is of too few splits."""
    notes = []
    for row, columns in cells.items():
        reasons: dict[str, list[str]] = {}
        for label, there in columns.items():
            done, lacking = len(there.records), len(there.failures) + there.missing
            if lacking:
                what = f"only {done} of {done + lacking} splits" if done else "not run"
                reasons.setdefault(what, []).append(label)
        reasons = {
            why: ["all"] if len(who) == len(columns) else who for why, who in reasons.items()
        }
        if reasons:
            notes.append(f"Lacking on {table.rows[row].title}: {_sentence(reasons)}.")
    return notes


def _sentence(reasons: Mapping[str, list[str]]) -> str:
    """Join who lacks and why.

    Examples
    --------
    >>> _sentence({"not run": ["AdaBoost.MH", "MultiBoost"], "only 2 of 10 splits": ["SAMME"]})
    'AdaBoost.MH, MultiBoost (not run); SAMME (only 2 of 10 splits)'
    """
    return "; ".join(f"{', '.join(who)} ({why})" for why, who in reasons.items())


def _stale(table: Definition, cells: _Cells) -> list[str]:
    return stale_note(
        f"{label} on {table.rows[row].title}"
        for row, columns in cells.items()
        for label, there in columns.items()
        if there.stale
    )
