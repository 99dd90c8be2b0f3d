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
    data: Mapping[tuple[str, str], Mapping[str, Any]], needed: Collection[tuple[str, str]]
) -> tuple[dict[tuple[str, str], Dataset], list[str]]:
    """Load the data of a table's cells that are needed or here, equal data once.

    Parameters
    ----------
    data : mapping of (str, str) to mapping
        Configs of data by row and column, see `boostbench.data.load.load`. Mostly those of a row
        are equal; a column may cut its data otherwise, or fill what they lack.
    needed : collection of (str, str)
        Cells whose data have to be loaded; others are if that takes no network.

    Returns
    -------
    datasets : dict of (str, str) to Dataset
        By row and column.
    notes : list of str
        Which rows do not run though they are needed, and why.
    """
    alike: dict[str, list[tuple[str, str]]] = {}
    for key, spec in data.items():
        alike.setdefault(repr(spec), []).append(key)
    datasets: dict[tuple[str, str], Dataset] = {}
    absent: dict[str, tuple[Mapping[str, Any], NotAtHand]] = {}
    notes = []
    for keys in alike.values():
        spec = data[keys[0]]
        where, rows = available(spec), dict.fromkeys(key[0] for key in keys if key in needed)
        if not rows and (not where or where.startswith("OpenML")):
            continue
        try:
            datasets |= dict.fromkeys(keys, load(spec))
        except NotAtHand as error:
            absent |= dict.fromkeys(rows, (spec, error))
        except UserError as error:
            notes += [f"{row} is not run: {error}" for row in rows]
    if absent:
        n = len(absent)
        are = "1 row is not run, as its" if n == 1 else f"{n} rows are not run, as their"
        where = ", ".join(f"{row} ({_source(spec)})" for row, (spec, _) in absent.items())
        put = "put NAME.svm (or .arff, .csv, .npz) into $BOOSTBENCH_DATA"
        offline = any(isinstance(error, Offline) for _, error in absent.values())
        put = f"OpenML cannot be reached; {put}" if offline else put[0].upper() + put[1:]
        notes.insert(0, f"{are} data are not at hand: {where}. {put}")
    return datasets, notes


def _source(data: Mapping[str, Any]) -> str:
    return source_of(data) or configs.summary("data", data["name"]) or "no source is known"
