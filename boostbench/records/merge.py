"""Merging of the records of several results folders into one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from boostbench.records.codec import CIRCUMSTANCES
from boostbench.records.data_options import merge_options
from boostbench.records.store import RecordFile, check_writable, read_records, record_paths
from boostbench.util.errors import UserError

# Fields in which equal results may differ: last digits of scores, and the line of a failure.
_MAY_DIFFER = CIRCUMSTANCES | {"witness", "where"}


@dataclass
class MergeSummary:
    """Effect of a merge.

    Attributes
    ----------
    added : int
        Number of records that were added.
    known : int
        Number of records whose result was there before.
    conflicts : list of str
        Descriptions of results that differ from the result that was there, which is kept.
    warnings : list of str
        Damages of the files that were read.
    """

    added: int = 0
    known: int = 0
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
    targets = {name: Path(results) / name for name in sources}
    check_writable(targets.values())
    for name, paths in sorted(sources.items()):
        _merge_files(paths, targets[name], summary, newest)
    return summary


def _merge_files(paths: list[Path], target: Path, summary: MergeSummary, newest: bool) -> None:
    existing, warnings = read_records(target)
    summary.warnings += warnings
    merged: dict[str, Mapping[str, Any]] = {record["key"]: record for record in existing}
    new: dict[str, Mapping[str, Any]] = {}
    for path in paths:
        records, warnings = read_records(path)
        summary.warnings += warnings
        for record in records:
            key = record["key"]
            before = merged.get(key)
            if before is None or _is_better(record, before, newest):
                merged[key] = new[key] = merge_options(record, before or record)
                continue
            extended = merge_options(before, record)
            if extended is not before:
                merged[key] = new[key] = extended
            summary.known += 1
            if "error" not in before and "error" not in record:
                fields = _differing_fields(before, record)
                if fields:
                    place = f"split {record['split']} of {path}"
                    summary.conflicts.append(f"{place} has another {', '.join(fields)}")
    # The order does not depend on the order of the folders.
    ordered = sorted(new.values(), key=lambda r: (r["config_hash"], r["split"], r.get("fold", 0)))
    RecordFile(target).add(ordered)
    summary.added += len(ordered)


def _is_better(record: Mapping[str, Any], before: Mapping[str, Any], newest: bool) -> bool:
    """Return True if a record replaces another record of the same split or trial."""
    return "error" not in record and (
        "error" in before
        or record.get("edition", 1) > before.get("edition", 1)
        or (newest and record.get("finished", "") > before.get("finished", ""))
    )


def _differing_fields(record: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Return the fields in which two records of one result differ."""
    names = (record.keys() | other.keys()) - _MAY_DIFFER
    return sorted(name for name in names if record.get(name) != other.get(name))
