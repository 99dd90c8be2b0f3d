"""The data sets of several experiments, equal ones loaded once."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from boostbench import configs
from boostbench.busy import busy
from boostbench.data.dataset import Dataset
from boostbench.data.load import load
from boostbench.data.sources import NotAtHand, Offline, available, source_of
from boostbench.errors import UserError


def load_each(data: Sequence[Mapping[str, Any]]) -> list[Dataset]:
    """Load the data of configs, see `boostbench.data.load.load`; equal data once."""
    different = {repr(spec): spec for spec in data}
    with busy("loading data"):
        loaded = {written: load(spec) for written, spec in different.items()}
    return [loaded[repr(spec)] for spec in data]


def load_rows(
    data: Mapping[str, Mapping[str, Any]], needed: Collection[str]
) -> tuple[dict[str, Dataset], list[str]]:
    """Load the data of rows that are needed or here, equal data once.

    Parameters
    ----------
    data : mapping of str to mapping
        Configs of data by row, see `boostbench.data.load.load`.
    needed : collection of str
        Rows that have to be loaded; others are if that takes no network.

    Returns
    -------
    datasets : dict of str to Dataset
        By row.
    notes : list of str
        Which of the needed ones do not run, and why.
    """
    datasets: dict[str, Dataset] = {}
    loaded: dict[str, Dataset] = {}
    absent: dict[str, NotAtHand] = {}
    notes = []
    for row, spec in data.items():
        asked, where = repr(spec), available(spec)
        if row not in needed and (not where or where.startswith("OpenML")):
            continue
        try:
            if asked not in loaded:
                loaded[asked] = load(spec)
            datasets[row] = loaded[asked]
        except NotAtHand as error:
            absent |= {row: error} if row in needed else {}
        except UserError as error:
            notes += [f"{row} is not run: {error}"] if row in needed else []
    if absent:
        n = len(absent)
        are = "1 row is not run, as its" if n == 1 else f"{n} rows are not run, as their"
        where = ", ".join(f"{row} ({_source(data[row])})" for row in absent)
        put = "put NAME.svm (or .arff, .csv, .npz) into $BOOSTBENCH_DATA"
        offline = any(isinstance(error, Offline) for error in absent.values())
        put = f"OpenML cannot be reached; {put}" if offline else put[0].upper() + put[1:]
        notes.insert(0, f"{are} data are not at hand: {where}. {put}")
    return datasets, notes


def _source(data: Mapping[str, Any]) -> str:
    return source_of(data) or configs.summary("data", data["name"]) or "no source is known"
