"""What is on record in a folder of results, and what of an experiment without its data."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from boostbench.records.cuts import is_cut_so
from boostbench.records.data_sets import title_data_sets
from boostbench.records.ledger import Ledger
from boostbench.records.store import parts_of, record_path, record_paths
from boostbench.records.verified import Finding, Verified
from boostbench.spec import measures
from boostbench.spec.code_version import CodeVersion
from boostbench.spec.data import DataSpec
from boostbench.spec.experiment import ExperimentSpec

K = TypeVar("K")


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """What there is of one experiment.

    Attributes
    ----------
    records : list of dict
        Finished splits in their order.
    failures : list of dict
        Failed splits in their order, as their newest attempt left them.
    missing : int
        Number of splits that have never run.
    stale : int
        How many of `records` are of another edition than today's, or refuted.
    finding : Finding or None
        What is known of them by fitting some of them again.
    """

    records: list[dict]
    failures: list[dict]
    missing: int
    stale: int
    finding: Finding | None = None

    def is_whole(self, rerun: str) -> bool:
        """Whether nothing has to run, as far as is known without the data."""
        if rerun == "all" or (rerun == "stale" and self.stale):
            return False
        return bool(self.records) and not self.failures and not self.missing

    @classmethod
    def of(
        cls, splits: list[dict], n_splits: int, maker: CodeVersion, verified: Verified, **more
    ) -> "Recorded":
        """Sum up what was found of so many splits, by what makes it today; `more` are fields."""
        records = [record for record in splits if "error" not in record]
        return cls(
            records=records,
            failures=[record for record in splits if "error" in record],
            missing=n_splits - len(splits),
            stale=sum(verified.is_stale(record, maker) for record in records),
            finding=verified.find(records[0]) if records else None,
            **more,
        )


class Records:
    """The records of a results folder, each file read once.

    Parameters
    ----------
    results : Path
        The folder.

    """

    def __init__(self, results: Path):
        self.results = results
        self._ledgers: dict[Path, Ledger] = {}
        self._told: set[str] = set()

    @cached_property
    def verified(self) -> Verified:
        """What is known of them by fitting some of them again."""
        return Verified.read(self.results)

    def ledger(self, path: Path) -> Ledger:
        """Open a file, see `boostbench.records.store.record_path`."""
        if path not in self._ledgers:
            self._ledgers[path] = Ledger(path)
        return self._ledgers[path]

    def new_warnings(self) -> list[str]:
        """Say what is wrong with the files that were read since the last time."""
        of_files = [warning for ledger in self._ledgers.values() for warning in ledger.warnings]
        new = [w for w in (*self.verified.warnings, *of_files) if w not in self._told]
        self._told.update(new)
        return new

    def find(self, spec: ExperimentSpec) -> Recorded:
        """Return the records of an experiment, found by its specification.

        `boostbench.execution.runner.Run` compares the checksum of the data. Here, where the data
        are not loaded, records must have the name, the options and the number of classes of the
        specification. If there are several versions of the data, the newest record decides.
        """
        path = record_path(
            self.results,
            spec.data.name,
            spec.algorithm.name,
            measures.find(spec.measure).suffix,
        )
        imputation = spec.effective_imputation(spec.data.missing)
        newest = _newest_version(
            [
                record
                for record in self.ledger(path).of(spec.settings_key)
                if _matches_data(record, spec.data, imputation)
            ]
        )
        # Only the data tell the number of all fixed splits.
        n_splits = len(newest)
        if spec.protocol.n_splits is not None:
            n_splits = spec.protocol.n_parts
            newest = {split: record for split, record in newest.items() if split < n_splits}
        in_order = [newest[split] for split in sorted(newest)]
        return Recorded.of(in_order, n_splits, spec.code_version, self.verified)

    def find_each(self, configs: Mapping[K, Mapping]) -> dict[K, Recorded]:
        """Return the records of the experiments of resolved configs, see `find`."""
        return {key: self.find(ExperimentSpec.from_config(c)) for key, c in configs.items()}

    def each(
        self, is_wanted: Callable[[str, str], bool] = lambda algo, kind: True
    ) -> list[tuple[tuple[str, str, str], dict]]:
        """List all records of some kinds.

        Parameters
        ----------
        is_wanted : callable, default=all
            Returns whether the records of an algorithm's file of a kind are listed.

        Returns
        -------
        list of ((str, str, str), dict)
            Title of the data set, see `boostbench.records.data_sets.title_data_sets`; name of the
            algorithm; kind; and the record.
        """
        # The config names the data set, and not the folder: a file system that ignores case has
        # one folder for two names.
        entries = [
            (parts_of(path), record)
            for path in record_paths(self.results)
            if is_wanted(*parts_of(path))
            for record in self.ledger(path).records.values()
        ]
        titles = title_data_sets(record["config"]["data"] for _, record in entries)
        listed = []
        for (algo, kind), record in entries:
            facts = record["config"]["data"]
            listed.append(((titles[facts["name"], facts["checksum"]], algo, kind), record))
        return listed


def _matches_data(record: Mapping, data: DataSpec, imputation: str | None) -> bool:
    """Return True if the data of a record have the name, options and classes of `data`."""
    facts = record["config"]["data"]
    return (
        facts["name"] == data.name
        and is_cut_so(record, data.key_options)
        and data.n_classes in (None, facts["n_classes"])
        # The imputation has no effect where no value is missing.
        and facts.get("missing") in (None, imputation)
    )


def _newest_version(records: list[dict]) -> dict[int, dict]:
    """Give the newest record of each split, of the data as they were used last."""
    if not records:
        return {}
    # Of those of one second, the last of the file.
    last = _version(max(reversed(records), key=lambda record: record.get("finished", "")))
    return {r["split"]: r for r in records if _version(r) == last}


def _version(record: Mapping) -> tuple:
    data = record["config"]["data"]
    return data["checksum"], data.get("words")
