"""Numbers of several columns that can be compared: over data sets, or over the splits of one."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

import numpy as np

from boostbench.analysis.cells import Cell
from boostbench.analysis.tables import Table
from boostbench.fitting.quantities import Quantity
from boostbench.util.numbers import differences, rounded


@dataclass(frozen=True)
class Paired:
    """Numbers of several columns on the data sets or splits that all of them have.

    Attributes
    ----------
    numbers : ndarray of shape (n_pairs, n_columns), float64
        Means over the splits, or the numbers of the splits if the table has one data set.
    quantity : Quantity
        Quantity of the numbers.
    unit : {"data sets", "paired splits"}
        Meaning of the rows of `numbers`.
    left_out : list of str
        Titles of the data sets on which some of the columns have no number.
    ratio : float or None
        Of paired splits, see `tested_ratio`.
    repeated : list of str
        Titles of rows with the data and the settings of a row before them, which count once.
    """

    numbers: np.ndarray
    quantity: Quantity
    unit: str
    left_out: list[str]
    ratio: float | None = None
    repeated: list[str] = field(default_factory=list)

    @property
    def losses(self) -> np.ndarray:
        """The numbers, with the sign that makes the lower one the better, as they are printed."""
        return rounded(self.quantity.sign * self.numbers, self.quantity.digits)

    def differences(self, a: int, b: int) -> np.ndarray:
        """Subtract the losses of two columns, by their places, as they are printed."""
        return differences(*self.losses.T[[a, b]], self.quantity.digits)

    def apart(self, a: int, b: int) -> np.ndarray:
        """Subtract two columns, by their places, in full digits."""
        return self.numbers[:, a] - self.numbers[:, b]

    @property
    def note(self) -> str | None:
        """Sentence on the rows that are left out; None without any."""
        sentences = []
        if self.left_out:
            n, are = len(self.left_out), "sets are" if len(self.left_out) > 1 else "set is"
            sentences.append(
                f"{n} data {are} left out, where a number is missing: {', '.join(self.left_out)}."
            )
        if self.repeated:
            rows = ", ".join(self.repeated)
            sentences.append(f"The data and settings of a row before, which count once: {rows}.")
        return " ".join(sentences) or None


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
    left_out = [row for row, cells in rows.items() if not all(cell.values for cell in cells)]
    first: dict[tuple, str] = {}
    for row, cells in rows.items():
        if row not in left_out:
            first.setdefault(tuple(map(_experiment, cells)), row)
    repeated = [row for row in rows if row not in left_out and row not in first.values()]
    complete = [rows[row] for row in first.values()]
    if len(table.rows) == 1:
        values = [cell.values for cells in complete for cell in cells]
        shared = sorted(set.intersection(*map(set, values))) if values else []
        lines = [[numbers_by_split[split] for numbers_by_split in values] for split in shared]
        unit, ratio = "paired splits", tested_ratio(cell for cells in complete for cell in cells)
    else:
        lines = [[cell.mean for cell in cells] for cells in complete]
        unit, ratio = "data sets", None
    numbers = np.array(lines, dtype=float).reshape(-1, len(columns))
    quantity = table.columns[columns[0]].quantity
    left_out, repeated = ([table.rows[row] for row in each] for each in (left_out, repeated))
    return Paired(numbers, quantity, unit, left_out, ratio, repeated)


def _experiment(cell: Cell) -> str:
    """Return an identifier of an experiment, without the seed and the name of the data."""
    config = dict(cell.spec)
    config |= {"data": config["data"]["checksum"], "seed": None}
    return json.dumps(config, sort_keys=True)


def tested_ratio(cells: Iterable[Cell]) -> float | None:
    """Return the number of test samples divided by the number of training samples.

    Parameters
    ----------
    cells : iterable of Cell

    Returns
    -------
    float or None
        Mean over the splits; None if they are not random divisions of one set of samples, such as
        official parts, and without splits.
    """
    return ratio_of_records([record for cell in cells for record in cell.rows.records])


def ratio_of_records(records: Sequence[Mapping]) -> float | None:
    """Return the ratio of `tested_ratio` for records of splits."""
    protocols = [record["config"]["protocol"] for record in records]
    random = (
        protocol["sampling"] != "official" and protocol.get("test", "part") in ("part", "rest")
        for protocol in protocols
    )
    if not records or not all(random):
        return None
    return fmean(record["n_test"] / record["n_train"] for record in records)
