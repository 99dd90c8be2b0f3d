"""Findings of `boostbench verify`, which fits records again: ``<results>/verified.jsonl``.

`boostbench verify` draws records at random, fits them again with today's code (a *refit*), and
compares the results. Records of one algorithm with the same choices, such as a loss, on one data
set are a *group*. A *finding*, one line of JSON, is the result of the refits of a group; the last
line of a group counts. Tables mark records as stale that a finding contradicts. Lines of version
1.0.0 name the data set without its checksum: they hold for all data sets of the name whose group
has no line of its own.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from boostbench.records.codec import parse
from boostbench.records.schema import (
    BadLine,
    Config,
    Count,
    Hash,
    Name,
    Positive,
    Record,
    Time,
    check,
)
from boostbench.spec.class_facts import FIRST_EDITION, CodeVersion
from boostbench.util.errors import UserError, os_error_reason
from boostbench.util.files import atomic_write, file_lock, is_regular_file, open_append

#: States of a group: all refits gave the recorded results, some did not, or some raised an error.
STATES = ("same", "different", "failed")
#: Number of refits with the recorded results that verify a group. A fault that changes every second
#: record escapes five refits with a probability of 3%.
N_VERIFYING = 5

# States in files of version 1.0.0, and today's states that replace them.
_OLD_STATES = {
    **dict.fromkeys(("verified", "compatible", "equivalent", "unverified"), "same"),
    "refuted": "different",
}


class Group(NamedTuple):
    """Identity of a group of records.

    Attributes
    ----------
    target : str
        Dotted name of the estimator's class.
    choices : str
        Its parameters that are names, such as a loss: ``"loss=logistic, step=newton"``.
    data : str
        Name of the data set.
    checksum : str, default=""
        Checksum of the data set, as several may have one name. Empty: any data set of the name.
    """

    target: str
    choices: str
    data: str
    checksum: str = ""

    @classmethod
    def from_config(cls, config: Config) -> "Group":
        """Return the group of the records of a config."""
        named = (
            f"{name}={value}"
            for name, value in sorted(config.algo.items())
            if isinstance(value, str) and name != "_target_"
        )
        return cls(config.target, ", ".join(named), config.data.name, config.data.checksum)

    @property
    def algorithm(self) -> tuple[str, str]:
        """Class and choices, which several groups share, each on another data set."""
        return self.target, self.choices

    @property
    def class_name(self) -> str:
        """Name of the class without its module."""
        return self.target.rpartition(".")[2]

    def __str__(self) -> str:
        choices = f" ({self.choices})" if self.choices else ""
        return f"{self.class_name}{choices} on {self.data}"


class Finding(msgspec.Struct, kw_only=True, frozen=True, omit_defaults=True):
    """Result of the refits of a group, a line of the file, see the module.

    `boostbench.execution.verification` makes findings.

    Attributes
    ----------
    target, choices, data, checksum : str
        The group, see `Group`.
    edition : int, default=1
        Edition of the estimator's class that made the records: a number that increases when a
        change of the code changes results.
    state : {"same", "different", "failed"}
        See `STATES`.
    commit, when : str
        Code and time (UTC) of the last refit.
    total : int
        Number of records of the group.
    same : dict of str to list of str
        Keys of records that a refit repeated, by the kernel of linear algebra of the refit
        (`boostbench.records.environment.blas`), as last digits depend on it.
    other_errors : dict of str to float
        Refits with another kernel than the record's, and with another result: error today minus
        error on record, in percentage points, by the key of the record.
    different : dict of str to str
        Description of the differences, by the key of the record.
    failed : dict of str to str
        Error of the refit, by the key of the record.
    stale_before : str, default=""
        Records that were finished before this time are stale. Empty: none.
    """

    target: Name
    choices: str
    data: Name
    checksum: Hash | Literal[""] = ""
    edition: Positive = FIRST_EDITION
    # The old states are read, too: `RefitFindings.read` replaces them.
    state: Literal[(*STATES, *_OLD_STATES)]
    commit: str
    when: Time
    total: Count
    # `name` is the name of the entry in files since version 1.0.0.
    same: dict[str, list[Hash]] = msgspec.field(default_factory=dict, name="agreed")
    other_errors: dict[Hash, float | None] = msgspec.field(default_factory=dict, name="unlike")
    different: dict[Hash, str] = msgspec.field(default_factory=dict, name="refuted")
    failed: dict[Hash, str] = {}
    stale_before: Time | Literal[""] = msgspec.field(default="", name="until")

    @property
    def is_verified(self) -> bool:
        """True if `N_VERIFYING` records, or all, were fitted again, each with the same result."""
        n_same = len(set().union(*self.same.values()))
        is_repeated = self.state == "same" and not self.other_errors
        return is_repeated and n_same >= min(N_VERIFYING, self.total)

    @property
    def group(self) -> Group:
        """Group of the records."""
        return Group(self.target, self.choices, self.data, self.checksum)


_DECODER = msgspec.json.Decoder(Finding)


class RefitFindings:
    """Findings of a results folder, and the records that they make stale.

    Parameters
    ----------
    findings : iterable of Finding
        In the order of their lines; the last one of a group counts.
    warnings : iterable of str, default=()
        One for each damaged line.

    Attributes
    ----------
    by_group : dict of Group to Finding
        Last finding of each group.
    warnings : list of str
        The parameter.
    """

    def __init__(self, findings: Iterable[Finding] = (), warnings: Iterable[str] = ()):
        self.by_group = {finding.group: finding for finding in findings}
        self.warnings = list(warnings)

    @classmethod
    def read(cls, results: Path) -> "RefitFindings":
        """Read the findings of a folder; without a file there are none.

        Raises
        ------
        UserError
            If the file cannot be read.
        """
        path, warnings = verified_path(results), []
        body = _read(path)
        try:
            # Decoding all lines at once takes a fifth of the time of decoding each.
            findings = _DECODER.decode_lines(body)
        except (ValueError, RecursionError):
            # A line is damaged: decode each line, to keep the other ones and to name this one.
            findings = []
            for number, line in enumerate(body.splitlines(), start=1):
                try:
                    findings.append(check(parse(line), Finding))
                except BadLine as error:
                    warnings.append(f"{path}:{number}: {error}; left out")
        renamed = [
            finding
            if finding.state in STATES
            else msgspec.structs.replace(finding, state=_OLD_STATES[finding.state])
            for finding in findings
        ]
        return cls(renamed, warnings)

    def find(self, record: Record) -> Finding | None:
        """Return the finding of a record's group and edition; None if there is none."""
        group = Group.from_config(record.config)
        # Findings of version 1.0.0 have no checksum.
        finding = self.by_group.get(group) or self.by_group.get(group._replace(checksum=""))
        return finding if finding and finding.edition == record.provenance.edition else None

    def is_stale(self, record: Record, version: CodeVersion) -> bool:
        """Return True if a record is of an older edition, or contradicted by a refit."""
        return bool(self.stale_records([record], version))

    def stale_records(self, records: Iterable[Record], version: CodeVersion) -> list[Record]:
        """Return the records of an older edition of their class, or contradicted by a refit.

        Parameters
        ----------
        records : iterable of Record
        version : CodeVersion
            Version of the code that makes the numbers of their config today.
        """
        stale = []
        # Many records share a config and a provenance, and so the time before which they are stale.
        # None: all are stale, as other code made them; empty: none is.
        times = {}
        for record in records:
            hashes = record.config.hash, record.provenance.hash
            if hashes not in times:
                finding = self.find(record)
                stale_before = finding.stale_before if finding else ""
                times[hashes] = stale_before if record.provenance.is_from(version) else None
            stale_before = times[hashes]
            if stale_before is None or (record.finished or "") < stale_before:
                stale.append(record)
        return stale


def verified_path(results: Path) -> Path:
    """Return the path of the findings of a folder."""
    return Path(results) / "verified.jsonl"


def add_finding(results: Path, finding: Finding) -> None:
    """Append a finding to the file of a folder.

    Raises
    ------
    UserError
        If the file cannot be written.
    """
    with open_append(verified_path(results), "findings to ", _is_whole) as file:
        file.write(msgspec.json.encode(finding, order="sorted") + b"\n")


def compact(results: Path) -> None:
    """Leave the last line of each group, as it is, and sort the lines by group.

    Raises
    ------
    UserError
        If the file cannot be read or written.
    """
    path = verified_path(results)
    with file_lock(path, "findings to "):  # a process that appends waits for the new file
        last_lines = {}
        for line in _read(path).splitlines():
            try:
                last_lines[check(parse(line), Finding).group] = line
            except BadLine:
                continue
        lines = [last_lines[group] + b"\n" for group in sorted(last_lines)]
        atomic_write(path, lambda stream: stream.writelines(lines))


def _read(path: Path) -> bytes:
    """Return the content of the file of findings; a file that does not exist is empty."""
    try:
        return path.read_bytes() if is_regular_file(path) else b""
    except OSError as error:
        raise UserError(f"cannot read findings from {path}: {os_error_reason(error)}") from None


def _is_whole(line: bytes) -> bool:
    """Return True if a line without its line end is a finding."""
    try:
        check(parse(line), Finding)
    except BadLine:
        return False
    return True
