"""Merging of the records of several results folders into one: `boostbench merge`.

Shards of a run, and several machines, write to folders of their own, which are merged afterwards.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from boostbench.records.schema import Record
from boostbench.records.store import RecordFile, check_writable, read_records, record_paths
from boostbench.spec.data import key_options
from boostbench.util.errors import UserError

# Entries in which equal results may differ: last digits of scores, and the line of a failure.
_MAY_DIFFER = {"witness", "where"}


@dataclass
class MergeSummary:
    """Effect of a merge.

    Attributes
    ----------
    n_added : int
        Number of records that were added.
    n_existing : int
        Number of records whose result was there before.
    conflicts : list of str
        Descriptions of results that differ from the result that was there, which is kept.
    warnings : list of str
        Damages of the files that were read.
    """

    n_added: int = 0
    n_existing: int = 0
    conflicts: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def merge_records(folders: Iterable[Path], results: Path, newest: bool = False) -> MergeSummary:
    """Add the records of several folders to the records of another.

    A result that several folders have is added once. A finished result replaces a failure, and a
    result of a later edition replaces an earlier one; otherwise a finished result is kept. The
    source folders do not change.

    Parameters
    ----------
    folders : iterable of Path
        Folders of results, whose shards are read too. If `results` is one of them, only its shards
        are read.
    results : Path
        Folder that the records are added to.
    newest : bool, default=False
        Whether the later of two finished results is kept.

    Returns
    -------
    MergeSummary

    Raises
    ------
    UserError
        If a folder has no records, or `results` cannot be written.
    """
    # 1) List the files of records by their path in a folder of results, from all folders.
    summary, sources = MergeSummary(), {}
    for folder in map(Path, folders):
        is_target = folder.resolve() == Path(results).resolve()
        parts = [] if is_target else [folder]
        files = {part: record_paths(part) for part in (*parts, *sorted(folder.glob("shards/*")))}
        if is_target and not any(files.values()):
            raise UserError(
                f"{folder} is the folder that is added to, and has no shards; name others"
            )
        if not any(files.values()):
            raise UserError(
                f"{folder} holds no records, nor do shards in it; name folders of results"
            )
        for part, paths in files.items():
            for path in paths:
                sources.setdefault(path.relative_to(part), []).append(path)
    # 2) Merge the files of one path. An unwritable file is an error before the first one is merged.
    targets = {name: Path(results) / name for name in sources}
    check_writable(targets.values())
    for name, paths in sorted(sources.items()):
        _merge_files(paths, targets[name], summary, newest)
    return summary


def _merge_files(paths: list[Path], target: Path, summary: MergeSummary, newest: bool) -> None:
    """Add the records of several files to another, and the effect to a summary.

    Parameters
    ----------
    paths : list of Path
        Files that are read.
    target : Path
        File that the records are appended to.
    summary : MergeSummary
        Its numbers are increased.
    newest : bool
        See `merge_records`.
    """
    existing, warnings = read_records(target)
    summary.warnings += warnings
    # 1) Choose a record for each key. All chosen records are in `merged`; the records to write are
    #    in `new`, too.
    merged = {record.key: record for record in existing}
    new = {}
    for path in paths:
        records, warnings = read_records(path)
        summary.warnings += warnings
        for record in records:
            key = record.key
            before = merged.get(key)
            if before is None:
                merged[key] = new[key] = record
            elif _is_better(record, before, newest):
                merged[key] = new[key] = merge_options(record, before)
            else:
                summary.n_existing += 1
                extended = merge_options(before, record)
                if extended is not before:
                    merged[key] = new[key] = extended
                has_both = not before.is_failed and not record.is_failed
                if has_both and (fields := _differing_fields(before, record)):
                    split = f"split {record.split} of {path}"
                    summary.conflicts.append(f"{split} has another {', '.join(fields)}")
    # 2) Write the records in an order that does not depend on the order of the folders.
    ordered = sorted(
        new.values(),
        key=lambda record: (record.config.hash, record.split, record.get("fold") or 0),
    )
    RecordFile(target).add(ordered)
    summary.n_added += len(ordered)


def merge_options(record: Record, other: Record) -> Record:
    """Return `record`, extended with the data options of `other`, a record of the same result.

    Splits are looked up by their data options before the data are loaded. Cross-validation trials
    are looked up afterwards, by the checksum of the data, and need no options.
    """
    if not record.is_trial:
        for options in (other.config.data.data_options, *(other.later_requests or ())):
            if not record.has_options(key_options(options)):
                record = record.add_options(options)
    return record


def _is_better(record: Record, before: Record, newest: bool) -> bool:
    """Return True if a record replaces another record of the same split or trial."""
    return not record.is_failed and (
        before.is_failed
        or record.provenance.edition > before.provenance.edition
        or (newest and record.finished > before.finished)
    )


def _differing_fields(record: Record, other: Record) -> list[str]:
    """Return the fields in which two records of one result differ."""
    entries, other_entries = record.comparable_entries, other.comparable_entries
    names = (entries.keys() | other_entries.keys()) - _MAY_DIFFER
    return sorted(name for name in names if entries.get(name) != other_entries.get(name))
