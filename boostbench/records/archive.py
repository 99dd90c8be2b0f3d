"""What is on record of an experiment whose data are not at hand."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from boostbench.experiment import measures
from boostbench.experiment.algorithm import Algorithm
from boostbench.experiment.protocol import Protocol
from boostbench.records.keys import digest, request, shortened
from boostbench.records.makers import Maker
from boostbench.records.store import read, record_path
from boostbench.records.verified import Finding, Verified


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


class Records:
    """The records of a results folder, each file read once.

    Parameters
    ----------
    results : Path
        The folder.

    Attributes
    ----------
    warnings : list of str
        What is wrong with the files that were read.
    """

    def __init__(self, results: Path):
        self.results = results
        self._verified = Verified.read(results)
        self.warnings: list[str] = list(self._verified.warnings)
        # By file, the records by what was asked of the data.
        self._files: dict[Path, dict[str, list[dict]]] = {}
        # By what is written of them: a table has the same algorithms in every row.
        self._algorithms: dict[str, Algorithm] = {}

    def find(self, config: Mapping) -> Recorded:
        """Find what is recorded of an experiment, going by what was asked.

        `boostbench.running.runner.collect` knows from the data which record is which; here the
        name and the number of classes of the data have to do. Where several versions of the data
        have been used, the one of the newest record counts.

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
        algorithm = self._algorithm(config["algo"])
        protocol = Protocol.from_config(config["protocol"])
        measure = measures.find(config.get("measure", "prediction"))
        asked = request(algorithm, protocol, config.get("seed", 0), measure)
        name = digest(shortened(asked))
        data = config["data"]
        path = record_path(self.results, data["name"], algorithm.name, measure.suffix)
        found = _newest_version(
            [one for one in self._read(path).get(name, []) if _is_of(one["config"]["data"], data)]
        )
        if protocol.sampling != "fixed":  # how many fixed splits there are, only the data tell
            found = {split: record for split, record in found.items() if split < protocol.n_parts}
            missing = protocol.n_parts - len(found)
        else:
            missing = 0
        records = [found[split] for split in sorted(found) if "error" not in found[split]]
        maker = Maker.of(asked["algo"], type(measure))
        return Recorded(
            records=records,
            failures=[found[split] for split in sorted(found) if "error" in found[split]],
            missing=missing,
            finding=self._verified.find(records[0]) if records else None,
            stale=sum(self._verified.is_stale(record, maker) for record in records),
        )

    def _algorithm(self, config: Mapping) -> Algorithm:
        written = repr(config)
        if written not in self._algorithms:
            self._algorithms[written] = Algorithm.from_config(config)
        return self._algorithms[written]

    def all(self, path: Path) -> list[dict]:
        """Give all records of a file."""
        return [record for asked in self._read(path).values() for record in asked]

    def _read(self, path: Path) -> dict[str, list[dict]]:
        if path not in self._files:
            records, warnings = read(path)
            self._files[path] = {}
            for record in records:
                self._files[path].setdefault(record["asked"], []).append(record)
            self.warnings += warnings
        return self._files[path]


def _is_of(recorded: Mapping, spec: Mapping) -> bool:
    """Whether recorded facts of data are those that a config of data leads to expect."""
    classes = spec.get("classes") or (spec.get("expect") or {}).get("classes")
    if spec.get("positive"):
        classes = 2
    if isinstance(classes, Iterable):
        classes = len(list(classes))
    # Where nothing is missing, it does not matter how it would be filled.
    filled = recorded.get("missing") in (None, spec.get("missing"))
    same = recorded["name"] == spec["name"] and classes in (None, recorded["n_classes"])
    return same and filled


def _newest_version(records: list[dict]) -> dict[int, dict]:
    """Give the newest record of each split, of the data that were used last."""
    if not records:
        return {}
    # Of those of one second, the last of the file.
    last = max(reversed(records), key=lambda record: record.get("finished", ""))
    checksum = last["config"]["data"]["checksum"]
    return {r["split"]: r for r in records if r["config"]["data"]["checksum"] == checksum}
