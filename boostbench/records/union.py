"""Unite the records of several folders of results in one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from boostbench.records.cuts import with_ways_of
from boostbench.records.lines import CIRCUMSTANCES
from boostbench.records.store import RecordFile, check_writable, read_records, record_paths
from boostbench.util.errors import UserError

# Besides, last digits of scores, and in which line a fit failed.
_MAY_DIFFER = CIRCUMSTANCES | {"witness", "where"}


@dataclass
class Union:
    """What has become of the records.

    Attributes
    ----------
    added : int
        Records that were not there.
    known : int
        Records of results that were there already.
    conflicts : list of str
        In words, results that are there and that another folder has otherwise. They stay.
    warnings : list of str
        What is wrong with the files that were read.
    """

    added: int = 0
    known: int = 0
    conflicts: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def unite(folders: Iterable[Path], results: Path, newest: bool = False) -> Union:
    """Add the records of several folders to those of another.

    A result that several have counts once. A finished one takes the place of a failure, and one
    of a later edition that of an earlier one; nothing else takes the place of a finished one.
    The folders stay as they are.

    Parameters
    ----------
    folders : iterable of Path
        Folders of results; the shards in them are read too. Of `results` itself these alone.
    results : Path
        The folder that they are added to.
    newest : bool, default=False
        Whether, of two finished ones, the one that was finished later counts.

    Returns
    -------
    Union

    Raises
    ------
    UserError
        If a folder has no records, or `results` cannot be written.
    """
    union, sources = Union(), {}
    for folder in map(Path, folders):
        is_target = folder.resolve() == Path(results).resolve()
        own = () if is_target else (folder,)
        parts = {part: record_paths(part) for part in (*own, *sorted(folder.glob("shards/*")))}
        if is_target and not any(parts.values()):
            raise UserError(
                f"{folder} is the folder that is added to, and has no shards; name others"
            )
        if not any(parts.values()):
            raise UserError(
                f"{folder} holds no records, nor do shards in it; name folders of results"
            )
        for part, files in parts.items():
            for path in files:
                sources.setdefault(path.relative_to(part), []).append(path)
    targets = {name: Path(results) / name for name in sources}
    check_writable(targets.values())
    for name, paths in sorted(sources.items()):
        _add(paths, targets[name], union, newest)
    return union


def _add(paths: list[Path], target: Path, union: Union, newest: bool) -> None:
    here, warnings = read_records(target)
    union.warnings += warnings
    known = {record["key"]: record for record in here}
    new: dict[str, dict] = {}
    for path in paths:
        records, warnings = read_records(path)
        union.warnings += warnings
        for record in records:
            before = known.get(record["key"])
            if before is None or _is_better(record, before, newest):
                kept = with_ways_of(record, before or record)
                known[record["key"]] = new[record["key"]] = kept
                continue
            kept = with_ways_of(before, record)
            if kept is not before:
                known[record["key"]] = new[record["key"]] = kept
            union.known += 1
            if "error" not in before and "error" not in record:
                different = _differences(before, record)
                if different:
                    what = f"split {record['split']} of {path}"
                    union.conflicts.append(f"{what} has another {', '.join(different)}")
    # As one run would have them, whichever folder came first.
    ordered = sorted(new.values(), key=lambda r: (r["config_hash"], r["split"], r.get("fold", 0)))
    RecordFile(target).add(ordered)
    union.added += len(ordered)


def _is_better(record: Mapping, before: Mapping, newest: bool) -> bool:
    """Whether a finished split takes the place of another record of it."""
    return "error" not in record and (
        "error" in before
        or record.get("edition", 1) > before.get("edition", 1)
        or (newest and record.get("finished", "") > before.get("finished", ""))
    )


def _differences(record: Mapping, other: Mapping) -> list[str]:
    """Name what two records of one result have otherwise."""
    names = (record.keys() | other.keys()) - _MAY_DIFFER
    return sorted(name for name in names if record.get(name) != other.get(name))
