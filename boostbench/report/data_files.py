"""Tables and verdicts as CSV and JSON, and the numbers that are no longer reproduced.

``boostbench table`` writes `table_as_csv`. ``boostbench check`` compares the verdicts of today's
records with the verdicts in ``results/verdicts.csv``.
"""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from math import isnan
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import msgspec

from boostbench.analysis.cells import Cell
from boostbench.analysis.result_table import Table
from boostbench.analysis.verdicts import VERDICTS, Tally, count_tables
from boostbench.fitting.quantities import QUANTITIES
from boostbench.papers.published import find_quantity
from boostbench.report.wording import format_chosen
from boostbench.util.errors import UserError
from boostbench.util.numbers import fixed
from boostbench.util.terminal import escape_formula

#: Attributes of an `Agreement`, the comparison with a published number, that files contain as
#: numbers.
_TEST_NUMBERS = ("difference", "low", "high", "p", "detectable", "p_within")

#: Attributes of an `Agreement` that files contain as truth values.
_TEST_RESULTS = ("differs", "within")

#: CPU times of a record by column of a table's file, in seconds.
_TIMES = {
    "fit_cpu_s": "fit",
    "weak_learner_cpu_s": "weak_learner",
    "coef_cpu_s": "coefficients",
    "calibration_cpu_s": "calibration",
}

#: Columns that a file of verdicts of another version must have.
_REQUIRED_COLUMNS = ("table", "data", "column", "ours", "verdict")


def table_as_csv(table: Table) -> str:
    """Return a table as CSV, one line per cell, with the column names of the published tables.

    Numbers have six significant digits, and are empty if they are unknown. Times are CPU seconds
    per split; prediction times are milliseconds per instance.
    """
    lines = [
        _cell_fields(row, column, cell, table.quantity.name)
        for (row, column), cell in table.cells.items()
    ]
    heads = [head for head, _ in lines[0]]
    return _lines_as_csv(heads, [[_value_as_text(value) for _, value in line] for line in lines])


def _value_as_text(value: str | float | None) -> str:
    """Return a value as text, with six significant digits of a float; None and NaN are empty."""
    if isinstance(value, float):
        return "" if isnan(value) else f"{value:.6g}"
    return "" if value is None else str(value)


def _cell_fields(
    row: str, column: str, cell: Cell, quantity_name: str
) -> list[tuple[str, str | float | bool | None]]:
    """Return the heads and values of a cell's line.

    Parameters
    ----------
    row, column : str
        Names of the row and the column.
    cell : Cell
    quantity_name : str
        Name of the table's quantity, of which two heads are made.
    """
    target, agreement = cell.target, cell.agreement
    fitting = find_quantity(cell.published, "coefficients")
    predicting = find_quantity(cell.published, "predict_per_instance")
    microseconds = cell.finished_splits.average(QUANTITIES["predict_per_instance"])
    return [
        ("data", escape_formula(" ".join(row.split()))),
        ("column", escape_formula(" ".join(column.split()))),
        ("algo", cell.algo),
        ("rounds", cell.rounds),
        (f"{quantity_name}_mean", cell.mean),
        (f"{quantity_name}_std", cell.std),
        ("n_splits", cell.n_finished),
        ("n_failed", cell.n_failed),
        ("n_missing", cell.missing),
        ("n_stale", cell.stale),
        ("n_iterations", cell.n_iterations),
        *[(head, cell.finished_splits.average(QUANTITIES[part])) for head, part in _TIMES.items()],
        ("chosen", format_chosen(cell)),
        ("published_mean", target and target.mean),
        ("published_std", target and target.std),
        *[(head, getattr(agreement, head, None)) for head in (*_TEST_NUMBERS, *_TEST_RESULTS)],
        ("verdict", cell.verdict),
        ("published_coef_cpu_s", fitting and fitting.mean),
        ("test_ms_per_instance", None if microseconds is None else 1e-3 * microseconds),
        ("published_test_ms_per_instance", predicting and 1e-3 * predicting.mean),
        ("command", cell.command),
    ]


def _lines_as_csv(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return lines as CSV text below their heads."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows(lines)
    return out.getvalue()


class PublishedVerdict(msgspec.Struct, frozen=True):
    """Verdict on a published number; unknown values are None.

    Attributes
    ----------
    table, data, algo, column : str
        Names of the table, the row, the algorithm and the column.
    ours, ours_std : float
        Our mean and standard deviation over the splits, in the unit of the quantity.
    n : int
        Number of splits with a number.
    published, published_std : float
        Published mean and standard deviation.
    published_n : int
        Number of repeats behind the published number.
    difference, low, high : float
        Ours minus published, with its 95% interval.
    p, p_within : float
        P-values of two null hypotheses: that ours equals the published number, and that the
        difference exceeds the margin of the verdicts.
    detectable : float
        Difference that would have been detected with a probability of 80%.
    differs, within : bool
        Whether the tests reject these hypotheses at 5%.
    quantity : str
        Name of the quantity.
    digits : int
        Number of its printed decimals.
    verdict : str
        Verdict, such as ``"reproduced"``.
    rule : {"tost", "power"}
        Rule of the verdict, see `Agreement.verdict`.
    without_pool : str
        Verdict if the paper drew new samples for each split, and not one pool for all of them.
    basis : str
        Source of the interval of the difference, such as ``"welch"``.
    note : str
        Known reason for a difference.
    command : str
        Command that repeats the experiment.
    """

    table: str
    data: str
    algo: str
    column: str
    ours: float | None
    ours_std: float | None
    n: int
    published: float
    published_std: float | None
    published_n: int
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    detectable: float | None
    p_within: float | None
    differs: bool | None
    within: bool | None
    quantity: str
    digits: int
    verdict: str
    rule: str
    without_pool: str
    basis: str | None
    note: str | None
    command: str | None


class VerdictLine(NamedTuple):
    """Line of a file of verdicts, in texts.

    The attributes are the columns of the file. They are attributes of `PublishedVerdict`, with
    `ours` and `detectable` rounded as they are printed; empty texts stand for unknown values.
    """

    table: str = ""
    data: str = ""
    algo: str = ""
    column: str = ""
    ours: str = ""
    published: str = ""
    n: str = ""
    detectable: str = ""
    differs: str = ""
    within: str = ""
    verdict: str = ""


def find_verdicts(tables: Iterable[Table]) -> list[PublishedVerdict]:
    """Return the verdict on every published number of tables."""
    return [
        _judge_cell(table.name, row, column, cell)
        for table in tables
        for (row, column), cell in table.cells.items()
        if cell.target
    ]


def _judge_cell(table: str, row: str, column: str, cell: Cell) -> PublishedVerdict:
    """Return the verdict on the published number of a cell."""
    agreement, target = cell.agreement, cell.target
    return PublishedVerdict(
        table=table,
        data=row,
        algo=cell.algo,
        column=column,
        ours=_round_for_json(cell.mean),
        ours_std=_round_for_json(cell.std),
        n=len(cell.numbers),
        published=target.mean,
        published_std=_round_for_json(target.std),
        published_n=target.n,
        **{name: agreement and _round_for_json(getattr(agreement, name)) for name in _TEST_NUMBERS},
        **{name: agreement and getattr(agreement, name) for name in _TEST_RESULTS},
        quantity=cell.quantity.name,
        digits=cell.quantity.digits,
        verdict=cell.verdict,
        rule=cell.rule,
        without_pool=cell.unpooled.verdict,
        basis=agreement and agreement.basis,
        note=cell.note,
        command=cell.command or None,
    )


def _round_for_json(value: float) -> float | None:
    """Return a number with six decimals, which JSON prints; None for NaN."""
    return None if isnan(value) else round(value, 6)


def lost_verdicts(
    before: Iterable[VerdictLine], now: Iterable[PublishedVerdict]
) -> list[tuple[VerdictLine, PublishedVerdict]]:
    """Return the numbers that were reproduced before and no longer are.

    Parameters
    ----------
    before : iterable of VerdictLine
        Lines of a file of verdicts.
    now : iterable of PublishedVerdict
        Current verdicts; cells that are missing on either side are not compared.

    Returns
    -------
    list of (VerdictLine, PublishedVerdict)
        Former and current verdict of each number.
    """
    cell_key = attrgetter("table", "data", "column")
    reproduced = {cell_key(line): line for line in before if line.verdict == "reproduced"}
    return [
        (reproduced[cell_key(verdict)], verdict)
        for verdict in now
        if cell_key(verdict) in reproduced and verdict.verdict != "reproduced"
    ]


def read_verdicts(path: Path) -> list[VerdictLine]:
    """Read a file of verdicts; return an empty list if it does not exist.

    Raises
    ------
    UserError
        If the file is not a file of verdicts.
    """
    if not path.is_file():
        return []
    try:
        lines = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
        if all(line.keys() >= set(_REQUIRED_COLUMNS) for line in lines):
            names = VerdictLine._fields
            return [VerdictLine(*(line.get(name, "") for name in names)) for line in lines]
    except (UnicodeDecodeError, csv.Error):
        pass
    raise UserError(
        f"{path} is no file of verdicts; remove it, and boostbench check --update writes it anew"
    )


def verdict_lines(verdicts: Iterable[PublishedVerdict]) -> list[VerdictLine]:
    """Return the lines of a file of verdicts, with rounded errors."""
    lines = []
    for verdict in verdicts:
        values = {name: getattr(verdict, name) for name in VerdictLine._fields}
        for name in ("ours", "detectable"):
            if values[name] is not None:
                values[name] = fixed(values[name], verdict.digits)
        texts = ["" if value is None else str(value) for value in values.values()]
        lines.append(VerdictLine(*texts))
    return lines


def verdicts_as_csv(lines: Iterable[VerdictLine]) -> str:
    """Return the text of a file of verdicts, sorted by table."""
    ordered = sorted(lines, key=lambda line: line.table)
    return _lines_as_csv(VerdictLine._fields, ordered)


def verdicts_as_json(tables: Sequence[Table], verdicts: Sequence[PublishedVerdict]) -> str:
    """Return verdicts and their counts as JSON.

    Parameters
    ----------
    tables : sequence of Table
        Tables whose cells are counted.
    verdicts : sequence of PublishedVerdict
        Verdicts on their published numbers.
    """
    counted = count_tables(tables)
    # Tables without a paper have verdicts only.
    tables_of_papers = [group for group in counted.tables if group.swaps is not None]
    groups = [*tables_of_papers, *counted.papers]
    content = {
        "counts": {
            "all": _tally_as_dict(counted.total),
            "tables": {group.name: _tally_as_dict(group.tally) for group in counted.tables},
        },
        "swaps": {
            **{group.name: group.swaps._asdict() for group in groups},
            "all": counted.swaps._asdict(),
        },
        "effects": {
            **{group.name: group.effects._asdict() for group in groups},
            "all": counted.effects._asdict(),
        },
        "verdicts": msgspec.to_builtins(verdicts),
    }
    return json.dumps(content, indent=1, ensure_ascii=False)


def _tally_as_dict(tally: Tally) -> dict:
    """Return counts of verdicts for JSON; an interval without ends has nulls."""
    return {
        "published": tally.published,
        "verdicts": {v: tally[v] for v in VERDICTS if v != "not published"},
        "decided": dict(tally.decidable),
        "within": {f"{margin:.0%}": n for margin, n in tally.within.items()},
        "reproduced_interval": [None if isnan(end) else round(end, 4) for end in tally.interval],
        "corrected": tally.corrected,
        "without_pool": tally.without_pool and _tally_as_dict(tally.without_pool),
    }
