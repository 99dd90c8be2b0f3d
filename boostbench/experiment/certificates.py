"""Certificates: evidence that today's code gives what older code has put on record.

``<results>/certificates.jsonl`` holds one line of JSON for each; it only grows. A record is fresh
if today's code made it, or if certificates lead from the code that made it to today's.
"""

import dataclasses
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from boostbench.errors import UserError
from boostbench.experiment.journal import appending
from boostbench.experiment.keys import digest
from boostbench.experiment.lines import parse

#: From the strongest evidence to the weakest.
GRADES = ("identical", "equivalent")
#: What is known of records that today's code made.
TODAY = "today"


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """What was found when records were fitted again by two codes on one machine.

    Attributes
    ----------
    target : str
        Dotted name of the estimator's class.
    before, after : str
        Fingerprints of the two codes.
    commits : dict of str to str
        The commit of each, under ``before`` and ``after``.
    grade : {"identical", "equivalent"}
        Nothing differs; or errors differ by less than matters, on average.
    configurations : list of str
        Hashes of the configurations for which it holds.
    sample : list of dict
        One for each pair of fits: ``file``, ``key``, ``config_hash``, ``split``, and ``error``, the
        difference in percentage points (after less before; None where no error is measured),
        ``rounds`` and ``size``, those of n_iterations and n_parameters.
    environments : dict of str to dict
        Machine and libraries, of each code.
    when : str
        UTC, e.g. ``"2026-11-22T16:00:00Z"``.
    seconds : float
        CPU seconds of all fits.
    """

    target: str
    before: str
    after: str
    commits: Mapping[str, str]
    grade: str
    configurations: list[str]
    sample: list[dict]
    environments: Mapping[str, dict]
    when: str
    seconds: float


class Certificates:
    """The certificates of a folder of results.

    Parameters
    ----------
    certificates : iterable of Certificate
    warnings : list of str, default=[]
        One for each damaged line.

    Attributes
    ----------
    certificates : list of Certificate
    warnings : list of str

    Examples
    --------
    >>> Certificates([]).grade("a.B", "old code", "new code", "configuration") is None
    True
    """

    def __init__(self, certificates: Iterable[Certificate], warnings: Iterable[str] = ()):
        self.warnings = list(warnings)
        self.certificates = list(certificates)
        self._by_code: dict[tuple[str, str], list[tuple[Certificate, frozenset]]] = {}
        for one in self.certificates:
            covered = frozenset(one.configurations)
            self._by_code.setdefault((one.target, one.before), []).append((one, covered))
        self._known: dict[tuple[str, str, str, str], str | None] = {}

    @classmethod
    def read(cls, results: Path) -> "Certificates":
        """Read the certificates of a folder; without a file there are none."""
        path = certificates_path(results)
        if not path.is_file():
            return cls([])
        found, warnings = [], []
        lines = path.read_bytes().split(b"\n")
        for number, line in enumerate(lines, start=1):
            certificate = _parse(line)
            if certificate is not None:
                found.append(certificate)
            elif line.strip():
                warnings.append(f"{path}:{number}: not a certificate, left out")
        return cls(found, warnings)

    def freshness(self, record: Mapping, today: str) -> str | None:
        """Say how a record stands to today's code.

        Parameters
        ----------
        record : mapping
            With its ``config``, ``config_hash`` and ``code``.
        today : str
            Fingerprint of today's code for it.

        Returns
        -------
        {"today", "identical", "equivalent"} or None
            Whether today's code made it, or a certificate holds for it; None for a stale record.
        """
        if record["code"] == today:
            return TODAY
        target = record["config"]["algo"]["_target_"]
        return self.grade(target, record["code"], today, record["config_hash"])

    def count(self, records: Iterable[Mapping], today: str) -> tuple[int, dict[str, int]]:
        """Count the stale records, and those that rest on a certificate, by its grade."""
        counts = Counter(self.freshness(record, today) for record in records)
        return counts[None], {grade: counts[grade] for grade in GRADES if counts[grade]}

    def grade(self, target: str, made: str, today: str, config_hash: str) -> str | None:
        """Say how well it is known that today's code gives what other code has given.

        Certificates of grade ``identical`` are chained, one after the other; an ``equivalent`` one
        counts only where it leads from the one code to the other by itself.

        Parameters
        ----------
        target : str
            Dotted name of the estimator's class.
        made, today : str
            Fingerprints of the code of the record, and of today's.
        config_hash : str
            The record's configuration.

        Returns
        -------
        {"identical", "equivalent"} or None
            None where nothing is known.
        """
        asked = target, made, today, config_hash
        if asked not in self._known:
            self._known[asked] = self._grade(*asked)
        return self._known[asked]

    def _grade(self, target: str, made: str, today: str, config_hash: str) -> str | None:
        reached, waiting = {made}, [made]
        while waiting:
            for one, covered in self._by_code.get((target, waiting.pop()), []):
                links = one.grade == "identical" and config_hash in covered
                if links and one.after not in reached:
                    reached.add(one.after)
                    waiting.append(one.after)
        if today in reached:
            return "identical"
        direct = self._by_code.get((target, made), [])
        return next(
            (
                "equivalent"
                for one, covered in direct
                if one.grade == "equivalent" and one.after == today and config_hash in covered
            ),
            None,
        )


def certificates_path(results: Path) -> Path:
    """Give the file of the certificates."""
    return Path(results) / "certificates.jsonl"


def file_certificate(results: Path, certificate: Certificate) -> None:
    """Add a certificate to the file.

    Raises
    ------
    UserError
        If the file cannot be written to.
    """
    content = dataclasses.asdict(certificate)
    line = json.dumps({"key": digest(content), **content}, separators=(",", ":"))
    path = certificates_path(results)
    with appending(path, "certificates to ", lambda last: _parse(last) is not None) as file:
        file.write(f"{line}\n".encode())


def _parse(line: bytes) -> Certificate | None:
    try:
        content = parse(line)
        if content.pop("key") != digest(content):
            return None
        certificate = Certificate(**content)
        covered = {pair["config_hash"] for pair in certificate.sample}
    except (ValueError, TypeError, KeyError, AttributeError, UserError):
        return None
    # What it holds for has to have been looked at.
    is_sound = certificate.grade in GRADES and covered >= set(certificate.configurations)
    return certificate if is_sound else None
