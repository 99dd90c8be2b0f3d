"""Verdicts as CSV and JSON, and the numbers that are no longer reproduced."""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from operator import itemgetter
from pathlib import Path

from boostbench.analysis.cells import Cell
from boostbench.analysis.tables import Table
from boostbench.analysis.verdicts import VERDICTS, Tally, counts
from boostbench.report.renderers.csv_file import FACTS, JUDGED, lines_as_csv
from boostbench.util.errors import UserError
from boostbench.util.numbers import fixed

#: Columns of the file, and the columns that a file of another version must have.
_FILE_COLUMNS = (
    *("table", "data", "algo", "column", "ours", "published", "n", "detectable"),
    *("differs", "within", "verdict"),
)
_REQUIRED_COLUMNS = ("table", "data", "column", "ours", "verdict")


def verdict_lines(tables: Iterable[Table]) -> list[dict]:
    """Return the verdict on every published number of tables.

    Returns
    -------
    list of dict
        One dictionary per number: its place (``table``, ``data``, ``algo``, ``column``); ``ours``
        with ``ours_std`` over ``n`` splits; ``published`` with ``published_std`` over
        ``published_n`` repeats; the `Agreement` with the ``difference``, its 95% interval
        (``low``, ``high``), ``p``, the ``detectable`` difference, ``differs``, ``within`` and
        ``p_within``; the name of the ``quantity`` and its printed ``digits``; the ``verdict``
        with its ``rule``, the verdict ``without_pool``, its ``basis`` and a ``note`` on the
        reason; and the ``command`` that reproduces the number. Unknown values are None.
    """
    return [
        _verdict(table.name, row, column, cell)
        for table in tables
        for (row, column), cell in table.cells.items()
        if cell.target
    ]


def _verdict(table: str, row: str, column: str, cell: Cell) -> dict:
    agreement, target = cell.agreement, cell.target
    return {
        **{"table": table, "data": row, "algo": cell.algo, "column": column},
        **{"ours": _rounded(cell.mean), "ours_std": _rounded(cell.std), "n": len(cell.values)},
        **{
            "published": target.mean,
            "published_std": _rounded(target.std),
            "published_n": target.n,
        },
        **{name: agreement and _rounded(getattr(agreement, name)) for name in JUDGED},
        **{name: agreement and getattr(agreement, name) for name in FACTS},
        **{"quantity": cell.quantity.name, "digits": cell.quantity.digits},
        **{"verdict": cell.verdict, "rule": cell.rule},
        "without_pool": cell.without_pool.verdict,
        **{"basis": agreement and agreement.basis, "note": cell.note},
        "command": cell.command or None,
    }


def _rounded(value: float) -> float | None:
    return None if isnan(value) else round(value, 6)


def lost_verdicts(before: Iterable[dict[str, str]], now: Iterable[dict]) -> list[tuple[dict, dict]]:
    """Return the numbers that were reproduced before and no longer are.

    Parameters
    ----------
    before : iterable of dict
        Lines of a file of verdicts.
    now : iterable of dict
        Current verdicts; places that are missing on either side are not compared.

    Returns
    -------
    list of (dict, dict)
        Former and current verdict of each number.
    """
    place = itemgetter("table", "data", "column")
    reproduced = {place(line): line for line in before if line["verdict"] == "reproduced"}
    return [
        (reproduced[place(line)], line)
        for line in now
        if place(line) in reproduced and line["verdict"] != "reproduced"
    ]


def read_verdicts(path: Path) -> list[dict[str, str]]:
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
            return lines
    except (UnicodeDecodeError, csv.Error):
        pass
    raise UserError(
        f"{path} is no file of verdicts; remove it, and boostbench check --update writes it anew"
    )


def file_lines(verdicts: Iterable[dict]) -> list[dict[str, str]]:
    """Return the lines of a file of verdicts, with rounded errors."""

    def printed(line: dict, name: str) -> str:
        if name not in ("ours", "detectable"):
            return str(line[name])
        return fixed(line[name], line["digits"])

    return [
        {name: "" if line[name] is None else printed(line, name) for name in _FILE_COLUMNS}
        for line in verdicts
    ]


def verdicts_as_csv(lines: Iterable[dict[str, str]]) -> str:
    """Return the text of a file of verdicts, sorted by table."""
    return lines_as_csv(_FILE_COLUMNS, sorted(lines, key=lambda line: line["table"]))


def verdicts_as_json(tables: Sequence[Table], verdicts: Sequence[Mapping]) -> str:
    """Return verdicts and their counts as JSON.

    Parameters
    ----------
    tables : sequence of Table
        Tables whose cells are counted.
    verdicts : sequence of mapping
        Lines of `verdict_lines`.
    """
    counted = counts(tables)
    content = {
        "counts": {
            "all": _counted(counted.total),
            "tables": {name: _counted(tally) for name, tally in counted.tables.items()},
        },
        "swaps": {name or "all": swaps._asdict() for name, swaps in counted.swaps.items()},
        "effects": {name or "all": each._asdict() for name, each in counted.effects.items()},
        "verdicts": list(verdicts),
    }
    return json.dumps(content, indent=1, ensure_ascii=False)


def _counted(tally: Tally) -> dict:
    return {
        "published": tally.published,
        "verdicts": {v: tally[v] for v in VERDICTS if v != "not published"},
        "decided": dict(tally.decided),
        "within": {f"{margin:.0%}": n for margin, n in tally.within.items()},
        "reproduced_interval": [None if isnan(end) else round(end, 4) for end in tally.interval],
        "corrected": tally.corrected,
        "without_pool": tally.without_pool and _counted(tally.without_pool),
    }
