"""Look-up of records: the index of a record file, and the results of an experiment.

====================  ============================================================================
`RecordIndex`         records of one file, by key or by settings
`Records`             indexes of all files of a results folder
`ExperimentResults`   recorded, failed and missing splits of one experiment
`title_data_sets`     titles that distinguish data sets of one name
====================  ============================================================================

Tables, comparisons and figures find the results of an experiment by its specification
(`Records.find`), without the data. A run, which has loaded the data, looks up each split by its
key, a digest of the experiment, the data and the split (`RecordIndex.get`).
"""

import itertools
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from boostbench.records.fit_results import FailedSplit, SplitRecord
from boostbench.records.schema import Data, Record
from boostbench.records.store import (
    NewestRecords,
    RecordFile,
    parse_record_path,
    record_path,
    record_paths,
)
from boostbench.records.verified import Finding, RefitFindings
from boostbench.spec import measures
from boostbench.spec.class_facts import CodeVersion
from boostbench.spec.data import selecting_options
from boostbench.spec.experiment import ExperimentSpec
from boostbench.util.errors import UserError

# Digits of a checksum in a title: enough to distinguish the few data sets of one name.
_CHECKSUM_DIGITS = 8


@dataclass(frozen=True, kw_only=True)
class ExperimentResults:
    """Recorded splits of one experiment.

    Attributes
    ----------
    records : list of SplitRecord
        Finished splits in their order.
    failures : list of FailedSplit
        Failed splits in their order, with their newest attempt.
    missing : int
        Number of splits that have never run.
    stale : int
        Number of `records` that are out of date: the code of the estimator's class has changed its
        numbers since (another *edition*), or `boostbench verify` got a different result.
    finding : Finding or None
        Result of the verification of their group, see `boostbench.records.verified`.
    """

    records: list[SplitRecord]
    failures: list[FailedSplit]
    missing: int
    stale: int
    finding: Finding | None = None

    @classmethod
    def from_splits(
        cls,
        split_records: list[Record],
        n_splits: int,
        version: CodeVersion,
        findings: RefitFindings,
        **fields: Any,
    ) -> "ExperimentResults":
        """Return the results of recorded splits.

        Parameters
        ----------
        split_records : list of Record
            Newest record of each split, finished or failed, in their order.
        n_splits : int
            Number of splits of the experiment.
        version : CodeVersion
            Version of the code that makes its numbers today.
        findings : RefitFindings
            Findings of the results folder.
        **fields
            Further attributes of a subclass.
        """
        records = [record for record in split_records if not record.is_failed]
        return cls(
            records=records,
            failures=[record for record in split_records if record.is_failed],
            missing=n_splits - len(split_records),
            stale=len(findings.stale_records(records, version)),
            finding=findings.find(records[0]) if records else None,
            **fields,
        )

    def is_sufficient(self, rerun: str) -> bool:
        """Return True if the setting of ``rerun`` requires no further fits.

        Parameters
        ----------
        rerun : {"never", "missing", "stale", "all"}
            Splits that run again, see `boostbench.execution.runner.Run.plan`.
        """
        if rerun == "all" or (rerun == "stale" and self.stale):
            return False
        return bool(self.records) and not self.failures and not self.missing


class RecordIndex:
    """Records of a file, found by their key or by their settings.

    An iteration yields the newest record of each key, in the order of the file.

    Parameters
    ----------
    path : Path
        File of records.
    other_records : iterable of Record, default=()
        Records of another file, for keys that this file does not have.
    ignore_existing : bool, default=False
        Whether the records that are in the file already are left out.

    Attributes
    ----------
    path : Path
        The parameter.
    warnings : list of str
        Damages of the file.

    Notes
    -----
    `find_with_settings` reads `_records`, all lines; `get` and the iteration read `_newest`, the
    last record of each key. `add` and `adopt` keep no record in memory, as a run may add many: they
    move its key from `_newest` to `_unread`, and the next access reads its record from the file
    (`_read_added`). `_foreign` holds records of concurrent runs until `adopt` is called.
    """

    def __init__(
        self, path: Path, other_records: Iterable[Record] = (), ignore_existing: bool = False
    ):
        self.path = path
        self._file = RecordFile(path)
        existing = self._file.read_new()
        # Records in the order of their lines, older versions of a key included.
        self._records = list(other_records)
        self.warnings: list[str] = []
        if not ignore_existing:
            self._records += existing
            self.warnings = self._file.warnings
        # Keys of records that are in the file and not yet in `_newest`.
        self._unread: set[str] = set()
        # Records that other runs have added since the file was read, by key.
        self._foreign = {}

    @cached_property
    def _newest(self) -> NewestRecords:
        """Newest record of each key. A table does not need keys, which take time to compute."""
        return NewestRecords(self._records)

    def __iter__(self) -> Iterator[Record]:
        self._read_added()
        return iter(self._newest)

    def get(self, key: str) -> Record | None:
        """Return the newest record of a key; None if there is none.

        Raises
        ------
        UserError
            If records that were added are no longer in the file.
        """
        self._read_added()
        return self._newest.get(key)

    def find_with_settings(self, settings_key: str) -> list[Record]:
        """Return the records of an experiment's settings, in the order of their lines.

        Older records of a split are included; the last one of a split counts.

        Parameters
        ----------
        settings_key : str
            Digest of all settings, without the checksum of the data, see
            `boostbench.spec.keys.RecordKeys`.

        Raises
        ------
        UserError
            If records that were added are no longer in the file.
        """
        self._read_added()
        return [record for record in self._records if record.config.keys.settings == settings_key]

    def add(self, record: Record) -> str:
        """Append a record to the file, and return its key."""
        [written] = self._file.add([record])
        key = written.key
        self._mark_unread(key)
        return key

    def find_foreign(self, key: str) -> Record | None:
        """Return the record of a key that a concurrent run has added since the file was read.

        None if there is none. The record is not in the index until `adopt` is called.
        """
        self._foreign |= {record.key: record for record in self._file.read_new()}
        return self._foreign.get(key)

    def adopt(self, key: str) -> None:
        """Include the record of a key that `find_foreign` has returned."""
        self._foreign.pop(key, None)
        self._mark_unread(key)

    def _mark_unread(self, key: str) -> None:
        """Remove the record of a key from memory: the next access reads it from the file."""
        self._newest.remove(key)
        self._unread.add(key)

    def _read_added(self) -> None:
        """Read the records that this run has added or adopted since the last access.

        Raises
        ------
        UserError
            If the file has lost them.
        """
        if not self._unread:
            return
        # `self._file` does not return records that it has written or returned: read all lines.
        written = RecordFile(self.path).read_new()
        for record in written:
            if record.key in self._unread:
                self._newest.add(record)
        if any(self._newest.get(key) is None for key in self._unread):
            raise UserError(
                f"{self.path} has lost records that were just written to it; the same command "
                "makes them again"
            )
        self._unread = set()
        self._records = list(self._newest)


class RecordTitle(NamedTuple):
    """Names of the experiment of a record.

    Attributes
    ----------
    data : str
        Title of the data set, see `title_data_sets`.
    algorithm : str
        Name of the algorithm.
    kind : str
        Kind of the record: ``"tuning"``, or the suffix of a measure.
    """

    data: str
    algorithm: str
    kind: str


class Records:
    """Records of a results folder; each file is read once, at its first use.

    Parameters
    ----------
    results : Path
        Folder of the results.

    Attributes
    ----------
    results : Path
        The parameter.
    findings : RefitFindings
        Findings of `boostbench verify` in the folder.
    """

    def __init__(self, results: Path):
        self.results = results
        # Index of each file that was read, by path.
        self._indexes = {}
        # Warnings that `pop_warnings` has returned.
        self._reported: set[str] = set()

    @cached_property
    def findings(self) -> RefitFindings:
        """Findings of `boostbench verify` in the folder."""
        return RefitFindings.read(self.results)

    def index(self, path: Path) -> RecordIndex:
        """Return the index of a file, see `boostbench.records.store.record_path`."""
        if path not in self._indexes:
            self._indexes[path] = RecordIndex(path)
        return self._indexes[path]

    def pop_warnings(self) -> list[str]:
        """Return the warnings about damaged files that were not returned before."""
        warnings = [*self.findings.warnings]
        for index in self._indexes.values():
            warnings += index.warnings
        new = [warning for warning in warnings if warning not in self._reported]
        self._reported.update(new)
        return new

    def find(self, spec: ExperimentSpec) -> ExperimentResults:
        """Return the results of an experiment, found by its specification.

        The data are not loaded, so that their checksum is unknown. Instead, records must have the
        name, the options and the number of classes of the specification. If these match several
        data sets, the data set of the newest record is taken.
        """
        # 1) Find the records with the settings of the experiment.
        suffix = measures.find(spec.measure).suffix
        path = record_path(self.results, spec.data.name, spec.algorithm.name, suffix)
        records = self.index(path).find_with_settings(spec.settings_key)
        # 2) Select the configs by the facts of their data; many records share a config.
        imputation = spec.effective_imputation(spec.data.effective_missing)
        matching_hashes = {
            config.hash
            for config in {record.config for record in records}
            if config.data.name == spec.data.name
            and spec.data.n_classes in (None, config.data.n_classes)
            # The imputation has no effect on data without missing values.
            and config.data.missing in (None, imputation)
        }
        # 3) Select the records whose data were requested with the options of the specification.
        options = selecting_options(spec.data.differences_from_shipped)
        matches = [
            record
            for record in records
            if record.config.hash in matching_hashes and record.has_options(options)
        ]
        # 4) Take the data set that was used last, and the splits of the protocol.
        splits, n_splits = _records_of_newest_data(matches), spec.protocol.total_splits
        # Splits that the data set brings along are not counted in the protocol.
        if n_splits is None:
            n_splits = len(splits)
        splits = [record for record in splits if record.split < n_splits]
        return ExperimentResults.from_splits(splits, n_splits, spec.code_version, self.findings)

    def titled_records(
        self, is_wanted: Callable[[str, str], bool] = lambda algo, kind: True
    ) -> list[tuple[RecordTitle, Record]]:
        """Return all records of the folder, with the names of their data set and algorithm.

        Parameters
        ----------
        is_wanted : callable, default=all
            Function that selects the files to read: it takes an algorithm's name and a kind of
            records, see `boostbench.records.store.record_path`, and returns a bool.

        Returns
        -------
        list of (RecordTitle, Record)
        """
        entries = [
            (parse_record_path(path), record)
            for path in record_paths(self.results)
            if is_wanted(*parse_record_path(path))
            for record in self.index(path)
        ]
        # The folder does not name the data set for certain: a file system that ignores case has one
        # folder for two names.
        titles = title_data_sets([record.config.data for _, record in entries])
        return [
            (RecordTitle(title, algo, kind), record)
            for title, ((algo, kind), record) in zip(titles, entries, strict=True)
        ]


def _records_of_newest_data(records: list[Record]) -> list[Record]:
    """Return the last record of each split of the data set that was used last, sorted by split.

    Records are of one data set if they share the checksum of the values and the encoding of the
    columns of texts.
    """
    if not records:
        return []
    # Times are recorded in seconds; among equal times, the last line of the file is the newest, and
    # `max` returns the first of equal records.
    newest = max(reversed(records), key=lambda record: record.finished or "").config.data
    by_split = {
        record.split: record
        for record in records
        if record.config.data.checksum == newest.checksum
        and record.config.data.text_encoding == newest.text_encoding
    }
    return [by_split[split] for split in sorted(by_split)]


def title_data_sets(data: Sequence[Data]) -> list[str]:
    """Return a unique title for each data set.

    A data set is identified by its name and the checksum of its values. A name may be the stem of a
    file name, which files in several folders share.

    Parameters
    ----------
    data : sequence of Data
        Data sets of the configs of records; several may be equal.

    Returns
    -------
    list of str
        Title of each item of `data`: the name of the data set. If several data sets have this name,
        it is followed by the settings in which they differ, such as the path of the file, and by
        the checksum if all settings are equal.

    Examples
    --------
    >>> paths = {"0f": "a/iris.csv", "1e": "b/iris.csv"}
    >>> data = [Data("iris", c, 150, 4, 3, data_options={"path": p}) for c, p in paths.items()]
    >>> title_data_sets(data)
    ['iris (a/iris.csv)', 'iris (b/iris.csv)']
    """
    # 1) Group the data sets by name. The first of several equal data sets gives the settings.
    namesakes = defaultdict(dict)
    for facts in data:
        namesakes[facts.name].setdefault(facts.checksum, facts)
    titles = {}
    for name, by_checksum in namesakes.items():
        # 2) List the settings of each data set, pairs of a key and a value as JSON, and count the
        #    data sets that share a setting.
        settings = {
            checksum: [
                (key, json.dumps(value, ensure_ascii=False))
                for key, value in facts.data_options.items()
            ]
            for checksum, facts in by_checksum.items()
        }
        n_sharing = Counter(itertools.chain.from_iterable(settings.values()))
        # 3) Name the settings that not all of them share. A path needs no key; the expected shape,
        #    "expect", follows from the other settings.
        differing = {
            checksum: tuple(
                by_checksum[checksum].data_options["path"] if key == "path" else f"{key}={value}"
                for key, value in pairs
                if key != "expect" and n_sharing[key, value] < len(by_checksum)
            )
            for checksum, pairs in settings.items()
        }
        # 4) Add the checksum where two data sets have the same settings.
        n_equal = Counter(differing.values())
        for checksum, texts in differing.items():
            if n_equal[texts] > 1:
                texts = (*texts, f"checksum {checksum[:_CHECKSUM_DIGITS]}")
            titles[name, checksum] = f"{name} ({', '.join(texts)})" if texts else name
    return [titles[facts.name, facts.checksum] for facts in data]
