"""The data sets of a table's rows."""

from collections.abc import Mapping

from boostbench.data.dataset import Dataset
from boostbench.data.load import load
from boostbench.definitions.complaints import complain
from boostbench.errors import UserError


def load_rows(specs: Mapping[tuple[str, str], dict]) -> dict[str, Dataset]:
    """Load each row's data set once; complain of those that cannot be had, and leave them out.

    Parameters
    ----------
    specs : mapping
        Resolved configs by row and column.

    Returns
    -------
    dict of str to Dataset
        By row.
    """
    datasets, unavailable = {}, {}
    for (row, _), spec in specs.items():
        if row not in datasets and row not in unavailable:
            try:
                datasets[row] = load(spec["data"])
            except UserError as error:
                unavailable[row] = str(error)
    for row, why in unavailable.items():
        complain(f"{row} is left out: {why}")
    return datasets
