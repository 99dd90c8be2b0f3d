"""Numbers of several columns that can be compared: over data sets, or over the splits of one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from boostbench.experiment.quantities import Quantity
from boostbench.report.cells import Cell
from boostbench.report.numbers import rounded
from boostbench.report.tables import Table


@dataclass(frozen=True)
class Paired:
    """Numbers of several columns on what all of them have.

    Attributes
    ----------
    numbers : ndarray of shape (n_pairs, n_columns), float64
        Means over the splits; of a table with one data set, the numbers of the splits.
    quantity : Quantity
        What the numbers are.
    unit : {"data sets", "paired splits"}
        What the lines of `numbers` are.
    left_out : list of str
        Titles of the data sets on which some of the columns have no number.
    ratio : float or None
        Of paired splits, see `tested_ratio`.
    """

    numbers: np.ndarray
    quantity: Quantity
    unit: str
    left_out: list[str]
    ratio: float | None = None

    @property
    def losses(self) -> np.ndarray:
        """The numbers, with the sign that makes the lower one the better, as they are printed."""
        return rounded(self.quantity.sign * self.numbers, self.quantity.digits)

    @property
    def note(self) -> str | None:
        """Tell what is left out; None when nothing is."""
        if not self.left_out:
            return None
        n, are = len(self.left_out), "sets are" if len(self.left_out) > 1 else "set is"
        return f"{n} data {are} left out, where a number is missing: {', '.join(self.left_out)}."


def paired(table: Table, columns: Sequence[str]) -> Paired:
    """Collect the numbers of a table that tests can compare.

    Parameters
    ----------
    table : Table
        The table; its `uncounted` rows take no part.
    columns : sequence of str
        Names of the columns.

    Returns
    -------
    Paired
    """
    rows = {
        row: [table.cells[row, column] for column in columns]
        for row in table.rows
        if row not in table.uncounted
    }
    complete = [cells for cells in rows.values() if all(cell.values for cell in cells)]
    left_out = [
        table.rows[row] for row, cells in rows.items() if not all(cell.values for cell in cells)
    ]
    if len(table.rows) == 1:
        values = [cell.values for cells in complete for cell in cells]
        shared = sorted(set.intersection(*map(set, values))) if values else []
        lines = [[one[split] for one in values] for split in shared]
        unit, ratio = "paired splits", tested_ratio(cell for cells in complete for cell in cells)
    else:
        lines = [[cell.mean for cell in cells] for cells in complete]
        unit, ratio = "data sets", None
    numbers = np.array(lines, dtype=float).reshape(-1, len(columns))
    return Paired(numbers, table.columns[columns[0]].quantity, unit, left_out, ratio)


def tested_ratio(cells: Iterable[Cell]) -> float | None:
    """Give the number of tested samples by that of those trained on, as splits share samples.

    Parameters
    ----------
    cells : iterable of Cell

    Returns
    -------
    float or None
        Mean over the splits; None without any, and where they are no random divisions of one set of
        samples: where all test the official part, or what they train on.
    """
    records = [record for cell in cells for record in cell.records]
    protocols = [record["config"]["protocol"] for record in records]
    random = (
        protocol["sampling"] != "official" and protocol.get("test", "part") in ("part", "rest")
        for protocol in protocols
    )
    if not records or not all(random):
        return None
    return fmean(record["n_test"] / record["n_train"] for record in records)
