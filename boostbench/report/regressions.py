"""Verdicts on disk, to see which numbers are no longer reproduced."""

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from math import isnan
from pathlib import Path

from boostbench.errors import UserError
from boostbench.report.numbers import fixed
from boostbench.report.tables import Table


@dataclass(frozen=True)
class Verdict:
    """What became of a published number.

    Attributes
    ----------
    table, data, algo, column : str
        Where it is: table and row and column of ours, and the algorithm's name.
    ours, ours_std : float or None
        Our mean and its standard deviation over splits; None without any.
    n : int
        Number of splits behind them.
    published : float
    published_std : float or None
        The paper's.
    published_n : int
        Number of repeats behind them.
    difference, low, high : float or None
        Ours minus published, with its 95% interval.
    p : float or None
        Two-sided p-value of the difference.
    detectable : float or None
        The difference that would have been found with a probability of 80%.
    quantity : str
        Name of what the numbers are.
    digits : int
        Their printed decimals.
    verdict : str
        One of `boostbench.report.verdicts.VERDICTS`.
    without_pool : str
        The same without the luck of one pool in the interval.
    basis : str or None
        What it rests on, one of `boostbench.report.statistics.agreement.BASES`; None where
        nothing is compared.
    note : str or None
        What is known of the reason for a difference.
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
    quantity: str
    digits: int
    verdict: str
    without_pool: str
    basis: str | None
    note: str | None

    @property
    def place(self) -> tuple[str, str, str]:
        """Table, row and column."""
        return self.table, self.data, self.column


#: Columns of the file, and those of them that a file of another version has to have.
_FILED = ("table", "data", "algo", "column", "ours", "published", "n", "detectable", "verdict")
_NEEDED = ("table", "data", "column", "ours", "verdict")


def verdicts(tables: Iterable[Table]) -> list[Verdict]:
    """Judge every published number of some tables."""
    return [
        _verdict(table, row, column)
        for table in tables
        for (row, column), cell in table.cells.items()
        if cell.target
    ]


def _verdict(table: Table, row: str, column: str) -> Verdict:
    cell = table.cells[row, column]
    agreement = cell.agreement
    judged = ("difference", "low", "high", "p", "detectable")
    return Verdict(
        table=table.name,
        data=row,
        algo=cell.algo,
        column=column,
        ours=_known(cell.mean),
        ours_std=_known(cell.std),
        n=len(cell.values),
        published=cell.target.mean,
        published_std=_known(cell.target.std),
        published_n=cell.target.n,
        **{name: _known(getattr(agreement, name)) if agreement else None for name in judged},
        quantity=cell.quantity.name,
        digits=cell.quantity.digits,
        verdict=cell.verdict,
        without_pool=cell.without_pool.verdict,
        basis=agreement.basis if agreement else None,
        note=cell.note,
    )


def _known(value: float) -> float | None:
    return None if isnan(value) else round(value, 6)


def lost(before: Iterable[dict[str, str]], now: Iterable[Verdict]) -> list[tuple[dict, Verdict]]:
    """Find what was reproduced and no longer is.

    Parameters
    ----------
    before : iterable of dict
        Lines of a file of verdicts.
    now : iterable of Verdict
        Verdicts of today; places that only one of the two has are not compared.

    Returns
    -------
    list of (dict, Verdict)
        Before and now.
    """
    reproduced = {
        (line["table"], line["data"], line["column"]): line
        for line in before
        if line["verdict"] == "reproduced"
    }
    return [
        (reproduced[one.place], one)
        for one in now
        if one.place in reproduced and one.verdict != "reproduced"
    ]


def read_verdicts(path: Path) -> list[dict[str, str]]:
    """Read a file of verdicts; there are none where there is no file.

    Raises
    ------
    UserError
        If it is not such a file.
    """
    if not path.is_file():
        return []
    lines = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    if not all(line.keys() >= set(_NEEDED) for line in lines):
        raise UserError(f"{path} is no file of verdicts; boostbench check --update writes it anew")
    return lines


def filed(verdicts: Iterable[Verdict]) -> list[dict[str, str]]:
    """Make lines of a file of verdicts, errors as they are printed."""
    return [
        {
            **{name: str(getattr(one, name)) for name in _FILED},
            **{name: _printed(getattr(one, name), one.digits) for name in ("ours", "detectable")},
        }
        for one in verdicts
    ]


def _printed(value: float | None, digits: int) -> str:
    return "" if value is None else fixed(value, digits)


def to_csv(lines: Iterable[dict[str, str]]) -> str:
    """Write the text of a file of verdicts, table by table."""
    out = io.StringIO()
    writer = csv.DictWriter(out, _FILED, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(sorted(lines, key=lambda line: line["table"]))
    return out.getvalue()
