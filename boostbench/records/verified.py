"""What is known of records by fitting some of them again: ``<results>/verified.jsonl``.

Records of one algorithm with the same choices on one data set are a *group*. The file has a line
of JSON for each group of which records have been fitted again
(`boostbench.execution.verification`); of several the last counts.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from boostbench.records.journal import appending
from boostbench.records.lines import parse
from boostbench.records.makers import FIRST_EDITION, Maker
from boostbench.records.schema import BadLine, Count, Hash, Name, Rows, Time, check
from boostbench.util.atomic_write import atomic_write
from boostbench.util.errors import UserError, os_error_reason
from boostbench.util.file_lock import file_lock

#: What may be known of a group.
STATES = ("verified", "compatible", "equivalent", "unverified", "refuted")


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
        algo = config["algo"]
        named = (
            f"{k}={v}" for k, v in sorted(algo.items()) if isinstance(v, str) and k != "_target_"
        )
        return cls(algo["_target_"], ", ".join(named), config["data"]["name"])

    def __str__(self) -> str:
        choices = f" ({self.choices})" if self.choices else ""
        return f"{self.target.rpartition('.')[2]}{choices} on {self.data}"


class Finding(msgspec.Struct, kw_only=True, frozen=True, omit_defaults=True):
    """What is known of a group.

    Attributes
    ----------
    target, choices, data : str
        See `Group`.
    edition : int, default=1
        Of which records it speaks.
    state : {"verified", "compatible", "equivalent", "unverified", "refuted"}
        See `boostbench.execution.verification`.
    commit, when : str
        Of the last verification; the time is UTC.
    total : int
        How many records there were.
    agreed : dict of str to list of str
        By the kernel of BLAS (`boostbench.records.environment.blas`), keys of records that came
        out as they are.
    unlike : dict of str to float
        Keys of records that came out otherwise by another kernel than theirs, or by one that may be
        another; and today's error less that on record, in percentage points (None without one).
    refuted : dict of str to str
        Keys of records that today's code does not give, and what differs.
    until : str, default=""
        Of a refuted group, records that were finished before this time are refuted.
    """

    target: Name
    choices: str
    data: Name
    edition: Rows = FIRST_EDITION
    state: Literal["verified", "compatible", "equivalent", "unverified", "refuted"]
    commit: str
    when: Time
    total: Count
    agreed: dict[str, list[Hash]] = {}
    unlike: dict[Hash, float | None] = {}
    refuted: dict[Hash, str] = {}
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

    Attributes
    ----------
    findings : dict of Group to Finding
    warnings : list of str
    """

    def __init__(self, findings: Iterable[Finding] = (), warnings: Iterable[str] = ()):
        self.findings = {finding.group: finding for finding in findings}
        self.warnings = list(warnings)
        self._known: dict[str, Finding | None] = {}

    @classmethod
    def read(cls, results: Path) -> "Verified":
        """Read the findings of a folder; without a file there are none.

        Raises
        ------
        UserError
            If the file cannot be read.
        """
        path = verified_path(results)
        try:
            body = path.read_bytes() if path.is_file() else b""
        except OSError as error:
            raise UserError(f"cannot read findings from {path}: {os_error_reason(error)}") from None
        findings, warnings = [], []
        for number, line in enumerate(body.splitlines(), start=1):
            try:
                findings.append(_parse(line))
            except BadLine as error:
                warnings.append(f"{path}:{number}: {error}; left out")
        return cls(findings, warnings)

    def find(self, record: Mapping) -> Finding | None:
        """Give what is known of a record's group, if that speaks of its edition."""
        name = record["config_hash"]
        if name not in self._known:
            self._known[name] = self.findings.get(Group.of(record["config"]))
        finding = self._known[name]
        return (
            finding if finding and finding.edition == record.get("edition", FIRST_EDITION) else None
        )

    def is_stale(self, record: Mapping, maker: Maker) -> bool:
        """Whether a record is of another edition than today's, or refuted."""
        if not maker.made(record):
            return True
        finding = self.find(record)
        return finding is not None and record.get("finished", "") < finding.until


def verified_path(results: Path) -> Path:
    """Give the file of the findings."""
    return Path(results) / "verified.jsonl"


def add_finding(results: Path, finding: Finding) -> None:
    """Write down what is known of a group by now: a kill at any moment loses nothing before.

    Raises
    ------
    UserError
        If the file cannot be written.
    """
    with appending(verified_path(results), "findings to ", _is_whole) as file:
        file.write(_line(finding))


def tidy(results: Path) -> None:
    """Leave one line for each group, in their order.

    Raises
    ------
    UserError
        If the file cannot be written.
    """
    path = verified_path(results)
    # Others who add lines wait, and add them to the new file.
    with file_lock(path, "findings to "):
        findings = sorted(Verified.read(results).findings.items())
        lines = [_line(finding) for _, finding in findings]
        atomic_write(path, lambda stream: stream.writelines(lines))


def _line(finding: Finding) -> bytes:
    return msgspec.json.encode(finding, order="sorted") + b"\n"


def _parse(line: bytes) -> Finding:
    content = parse(line)
    check(content, Finding)
    return msgspec.convert(content, Finding)


def _is_whole(line: bytes) -> bool:
    try:
        _parse(line)
    except BadLine:
        return False
    return True
