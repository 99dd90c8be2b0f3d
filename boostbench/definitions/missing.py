"""What a table lacks: which of its cells have to run, and which cannot."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from boostbench.data.dataset import Dataset
from boostbench.data.load import NotAtHand, Offline, available, load, source_of
from boostbench.definitions.assemble import Key
from boostbench.errors import UserError
from boostbench.records.archive import Recorded
from boostbench.running.runner import check_rerun


@dataclass(frozen=True)
class Missing:
    """What has to run, and what cannot.

    Attributes
    ----------
    cells : list of (str, str)
        Rows and columns that are to be run, as far as splits of them lack.
    datasets : dict of str to Dataset
        The data of rows, of all that run and of others that were at hand.
    notes : list of str
        What does not run, and why: a sentence each.
    """

    cells: list[Key]
    datasets: dict[str, Dataset]
    notes: list[str] = field(default_factory=list)


def find_missing(
    specs: Mapping[Key, dict], recorded: Mapping[Key, Recorded], rerun: str
) -> Missing:
    """Find what a table lacks; data of complete rows are not downloaded.

    A named data set is one, whatever copy of it is at hand: what is on record of another copy is
    not run again. A file of one's own is what is in it.

    Parameters
    ----------
    specs : mapping
        Resolved configs by row and column.
    recorded : mapping
        What is on record, by row and column, of the cells that are to be run at all.
    rerun : {"missing", "stale", "all"}
        See `boostbench.running.runner.run`.

    Returns
    -------
    Missing

    Raises
    ------
    UserError
        If `rerun` is none of these.
    """
    check_rerun(rerun)
    data = {row: spec["data"] for (row, _), spec in specs.items()}
    whole = {key for key, found in recorded.items() if _is_whole(found, specs[key], rerun)}
    lacking = {key[0] for key in recorded if key not in whole}
    wanted = {row: data[row] for row in data if row in lacking or _is_here(data[row])}
    datasets, absent = _load(wanted)
    cells, elsewhere = [], []
    for key, found in recorded.items():
        if key[0] not in datasets:
            continue
        other = bool(found.records) and _checksum(found) != datasets[key[0]].checksum
        # How many fixed splits there are, only the data tell.
        fixed = specs[key]["protocol"].get("sampling") == "fixed"
        if key not in whole or (data[key[0]].get("path") if other else fixed):
            cells.append(key)
        elif other:
            elsewhere.append(key[0])
    notes = _absences({row: error for row, error in absent.items() if row in lacking}, data)
    if elsewhere:
        rows = ", ".join(f"{row} ({datasets[row].source})" for row in dict.fromkeys(elsewhere))
        notes.append(
            f"what is on record rests on other copies than those at hand: {rows}. It is shown and "
            "not run again; rerun=all does"
        )
    return Missing(cells, datasets, notes)


def _is_whole(found: Recorded, spec: Mapping, rerun: str) -> bool:
    """Whether nothing of a cell has to run, as far as is known without its data."""
    if rerun == "all" or (rerun == "stale" and found.stale):
        return False
    return bool(found.records) and not found.failures and not found.missing


def _checksum(found: Recorded) -> str:
    return found.records[0]["config"]["data"]["checksum"]


def _is_here(data: Mapping) -> bool:
    """Whether a data set is read without a network."""
    where = available(data)
    return bool(where) and not where.startswith("OpenML")


def _load(rows: Mapping[str, Mapping]) -> tuple[dict[str, Dataset], dict[str, UserError]]:
    """Load the data of rows, equal ones once; give what went wrong with the others."""
    datasets, absent = {}, {}
    loaded: dict[str, Dataset] = {}
    for row, data in rows.items():
        asked = repr(data)
        try:
            if asked not in loaded:
                loaded[asked] = load(data)
            datasets[row] = loaded[asked]
        except UserError as error:
            absent[row] = error
    return datasets, absent


def _absences(errors: Mapping[str, UserError], data: Mapping[str, Mapping]) -> list[str]:
    """Say which rows do not run: in one sentence those whose data are not at hand."""
    notes = [
        f"{row} is not run: {error}"
        for row, error in errors.items()
        if not isinstance(error, NotAtHand)
    ]
    absent = {row: error for row, error in errors.items() if isinstance(error, NotAtHand)}
    if absent:
        rows = (
            "1 row is not run, as its data are"
            if len(absent) == 1
            else (f"{len(absent)} rows are not run, as their data are")
        )
        unknown = "no source is known"
        where = ", ".join(f"{row} ({source_of(data[row]) or unknown})" for row in absent)
        offline = any(isinstance(error, Offline) for error in absent.values())
        put = "put NAME.svm (or .arff, .csv, .npz) into $BOOSTBENCH_DATA"
        put = f"OpenML cannot be reached; {put}" if offline else put[0].upper() + put[1:]
        notes.insert(0, f"{rows} not at hand: {where}. {put}")
    return notes
