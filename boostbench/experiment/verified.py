"""What is known of records by fitting some of them again: ``<results>/verified.jsonl``.

Records of one algorithm with the same choices on one data set are a *group*. The file has a line
of JSON for each group of which records have been fitted again, see `boostbench.experiment.verify`.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from boostbench.experiment.lines import parse
from boostbench.experiment.makers import FIRST_EDITION, Maker
from boostbench.experiment.schema import BadLine, Count, Name, Time, check


class Group(NamedTuple):
    """What records have in common that are verified together.

    Attributes
    ----------
    target : str
        Dotted name of the estimator's class.
    choices : str
        Its parameters that are names, such as a loss: ``"loss=logistic, step=newton"``.
    data : str
        Name of the data set.
    """

    target: str
    choices: str
    data: str

    @classmethod
    def of(cls, config: Mapping) -> "Group":
        """Say to which group records of a config belong."""
        algo = dict(config["algo"])
        target = algo.pop("_target_")
        choices = sorted(f"{k}={v}" for k, v in algo.items() if isinstance(v, str))
        return cls(target, ", ".join(choices), config["data"]["name"])


class Finding(msgspec.Struct, kw_only=True, frozen=True, omit_defaults=True):
    """What is known of a group.

    Attributes
    ----------
    target, choices, data : str
        See `Group`.
    state : {"verified", "compatible", "equivalent", "unverified", "refuted"}
        See `boostbench.experiment.verify`.
    edition : int, default=1
        Of which records it speaks.
    until : str, default=""
        Of a refuted group, records that were finished up to this time are refuted.
    """

    target: Name
    choices: str
    data: Name
    state: Literal["verified", "compatible", "equivalent", "unverified", "refuted"]
    edition: Count = FIRST_EDITION
    until: Time | Literal[""] = ""

    @property
    def group(self) -> Group:
        """Of which group it is."""
        return Group(self.target, self.choices, self.data)


class Verified:
    """The findings of a folder of results.

    Parameters
    ----------
    findings : iterable of Finding
    warnings : iterable of str, default=()
        One for each damaged line.
    """

    def __init__(self, findings: Iterable[Finding] = (), warnings: Iterable[str] = ()):
        self.findings = {finding.group: finding for finding in findings}
        self.warnings = list(warnings)
        self._known: dict[str, Finding | None] = {}

    @classmethod
    def read(cls, results: Path) -> "Verified":
        """Read the findings of a folder; without a file there are none."""
        path = verified_path(results)
        if not path.is_file():
            return cls()
        found, warnings = [], []
        for number, line in enumerate(path.read_bytes().splitlines(), start=1):
            try:
                content = parse(line)
                check(content, Finding)
                found.append(msgspec.convert(content, Finding))
            except BadLine as error:
                warnings.append(f"{path}:{number}: {error}; left out")
        return cls(found, warnings)

    def find(self, record: Mapping) -> Finding | None:
        """Give what is known of a record's group, if that speaks of its edition."""
        name = record["config_hash"]
        if name not in self._known:
            self._known[name] = self.findings.get(Group.of(record["config"]))
        found = self._known[name]
        return found if found and found.edition == record.get("edition", FIRST_EDITION) else None

    def is_stale(self, record: Mapping, maker: Maker) -> bool:
        """Whether a record is of another edition than today's, or refuted."""
        if not maker.made(record):
            return True
        found = self.find(record)
        return found is not None and record.get("finished", "") <= found.until


def verified_path(results: Path) -> Path:
    """Give the file of the findings."""
    return Path(results) / "verified.jsonl"
