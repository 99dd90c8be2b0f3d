"""Merging of the records of several results folders into one: `boostbench merge`.

Several machines write to results folders of their own, and the *shards* of a run, its parts that a
cluster computes at the same time, to ``<results>/shards/<name>``. They are merged afterwards.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from boostbench.records.schema import Record
from boostbench.records.store import RecordFile, check_writable, read_records, record_paths
from boostbench.spec.data import selecting_options
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
    result of a later edition of the estimator's class replaces one of an earlier edition; otherwise
    the result that is there is kept. The source folders do not change.

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
    # 1) Group the files of all folders by their path in a results folder.
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
    # 2) Merge the files of each path into one. Check all targets before the first merge, so that a
    #    file that cannot be written leaves no half-merged folder.
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
    # 1) Choose a record for each key. `merged` holds all chosen records. `new` holds the records to
    #    write, which the target lacks, or which replace one of its records.
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
                are_finished = not before.is_failed and not record.is_failed
                if are_finished and (fields := _differing_fields(before, record)):
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

    Equal data may have been requested by different options. A table looks up splits by the options,
    without the data, so that a split has to list all of them. Cross-validation trials are looked up
    by the checksum of the loaded data, and need no options. `record` itself is returned if it has
    all options already.
    """
    if not record.is_trial:
        for options in (other.config.data.data_options, *(other.later_requests or ())):
            if not record.has_options(selecting_options(options)):
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
