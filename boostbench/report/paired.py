"""Numbers of several columns that can be compared: over data sets, or over the splits of one."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from boostbench.experiment.quantities import Quantity
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
    """

    numbers: np.ndarray
    quantity: Quantity
    unit: str
    left_out: list[str]

    @property
    def losses(self) -> np.ndarray:
        """The numbers, with the sign that makes the lower one the better, as they are printed."""
        return np.round(self.quantity.sign * self.numbers, self.quantity.digits)

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
        unit = "paired splits"
    else:
        lines = [[cell.mean for cell in cells] for cells in complete]
        unit = "data sets"
    numbers = np.array(lines, dtype=float).reshape(-1, len(columns))
    return Paired(numbers, table.columns[columns[0]].quantity, unit, left_out)
