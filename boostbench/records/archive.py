"""What is on record in a folder of results, and what of an experiment without its data."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from boostbench.data.missing_values import missing_setting
from boostbench.data.spec import config_overrides
from boostbench.records.cuts import decisive, is_cut_so
from boostbench.records.data_sets import title_data_sets
from boostbench.records.keys import Request, digest, shortened
from boostbench.records.ledger import Ledger
from boostbench.records.makers import Maker
from boostbench.records.store import parts_of, record_path, record_paths
from boostbench.records.verified import Finding, Verified

K = TypeVar("K")

#: What of a config does not depend on the data.
_ASKED = ("algo", "protocol", "seed", "measure")


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
        cls, splits: list[dict], n_splits: int, maker: Maker, verified: Verified, **more
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
        # By what is written of them: a table asks the same of every row's data.
        self._requests: dict[str, tuple[Request, str]] = {}
        self._cuts: dict[str, dict] = {}

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

    def find(self, config: Mapping) -> Recorded:
        """Find what is recorded of an experiment, going by what was asked.

        `boostbench.execution.runner.Run` knows from the data which record is which; here the name
        and the number of classes of the data have to do, and how they were cut: see
        `boostbench.data.spec.config_overrides`. Where several versions of the data have been used,
        the one of the newest record counts.

        Parameters
        ----------
        config : mapping
            Resolved config: ``algo``, ``data``, ``protocol`` and ``seed`` are looked at.

        Returns
        -------
        Recorded

        Raises
        ------
        UserError
            If the config asks for something that does not exist.
        """
        (request, asked), data = self._asked(config), config["data"]
        kind, protocol = request.measure.suffix, request.protocol
        path = record_path(self.results, data["name"], request.algorithm.name, kind)
        found, filled = self.ledger(path).of(asked), request.filled(missing_setting(data))
        cut = self._cut(data)
        newest = _newest_version([r for r in found if _is_of(r, data, cut, filled)])
        n_splits = len(newest)  # how many all fixed splits are, only the data tell
        if protocol.n_splits is not None:
            n_splits = protocol.n_parts
            newest = {split: record for split, record in newest.items() if split < n_splits}
        in_order = [newest[split] for split in sorted(newest)]
        return Recorded.of(in_order, n_splits, request.maker, self.verified)

    def find_each(self, configs: Mapping[K, Mapping]) -> dict[K, Recorded]:
        """Find what is recorded of several experiments, see `find`."""
        return {key: self.find(config) for key, config in configs.items()}

    def each(
        self, is_wanted: Callable[[str], bool] = lambda kind: True
    ) -> list[tuple[tuple[str, str, str], dict]]:
        """List all records of some kinds.

        Parameters
        ----------
        is_wanted : callable, default=all
            Says of a kind whether its records are listed.

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
            if is_wanted(parts_of(path)[1])
            for record in self.ledger(path).records.values()
        ]
        titles = title_data_sets(record["config"]["data"] for _, record in entries)
        listed = []
        for (algo, kind), record in entries:
            facts = record["config"]["data"]
            listed.append(((titles[facts["name"], facts["checksum"]], algo, kind), record))
        return listed

    def _cut(self, data: Mapping) -> dict:
        """Give how a config cuts data, by which records are told apart."""
        written = repr(data)
        if written not in self._cuts:
            self._cuts[written] = decisive(config_overrides(data))
        return self._cuts[written]

    def _asked(self, config: Mapping) -> tuple[Request, str]:
        """Give what a config asks of any data, and how records name that."""
        written = repr({key: value for key, value in config.items() if key in _ASKED})
        if written not in self._requests:
            request = Request.of(config)
            self._requests[written] = request, digest(shortened(request.asked))
        return self._requests[written]


def _is_of(record: Mapping, spec: Mapping, cut: Mapping, missing: str | None) -> bool:
    """Whether the facts of a record's data are those that a config of data leads to expect."""
    recorded = record["config"]["data"]
    if recorded["name"] != spec["name"] or not is_cut_so(record, cut):
        return False
    classes = spec.get("classes") or (spec.get("expect") or {}).get("classes")
    if spec.get("positive"):
        classes = 2
    if isinstance(classes, Iterable):
        classes = len(list(classes))
    # Where nothing is missing, it does not matter what would become of it.
    return classes in (None, recorded["n_classes"]) and recorded.get("missing") in (None, missing)


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
