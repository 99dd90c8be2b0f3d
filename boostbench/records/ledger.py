"""What is on record in a file, by key and by what was asked, and what comes to be."""

from collections.abc import Mapping
from pathlib import Path

from boostbench.records.store import RecordFile, keep_newest
from boostbench.util.errors import UserError


class Ledger:
    """A file of records: what was there when it was opened, and what has come since.

    What has come since takes no memory: it is read again when it is asked for.

    Parameters
    ----------
    path : Path
        The file.
    beneath : mapping of str to dict, default={}
        Records of another file, by key, that count where this one has none.
    is_blank : bool, default=False
        Whether what is there does not count.

    Attributes
    ----------
    warnings : list of str
        What is wrong with the file.
    """

    def __init__(
        self, path: Path, beneath: Mapping[str, dict] | None = None, is_blank: bool = False
    ):
        self.path = path
        self._file = RecordFile(path)
        there = self._file.new()
        self._known, self.warnings = dict(beneath or {}), []
        if not is_blank:
            keep_newest(self._known, there)
            self.warnings = self._file.warnings
        self._asked: dict[str, list[dict]] = {}
        # Keys of what was added, and what others have added and this run has not taken over.
        self._added: set[str] = set()
        self._theirs: dict[str, dict] = {}

    @property
    def records(self) -> dict[str, dict]:
        """All that counts, by key.

        Raises
        ------
        UserError
            If the file has lost what was added to it.
        """
        if self._added:
            written = RecordFile(self.path).new()
            keep_newest(self._known, (r for r in written if r["key"] in self._added))
            if not self._known.keys() >= self._added:
                raise UserError(
                    f"{self.path} has lost records that were just written to it; the same "
                    "command makes them again"
                )
            self._added, self._asked = set(), {}
        return self._known

    def of(self, asked: str) -> list[dict]:
        """Give what was asked so, of any data: see `boostbench.spec.keys.RecordKeys`."""
        known = self.records
        if not self._asked:
            for record in known.values():
                self._asked.setdefault(record["asked"], []).append(record)
        return self._asked.get(asked, [])

    def add(self, record: Mapping) -> str:
        """Put a record down, and give its key."""
        [written] = self._file.add([record])
        self._leave(written["key"])
        return written["key"]

    def theirs(self, key: str) -> dict | None:
        """Give what another run has recorded since this one began."""
        self._theirs |= {record["key"]: record for record in self._file.new()}
        return self._theirs.get(key)

    def take_over(self, key: str) -> None:
        """Let what another run has recorded count."""
        self._theirs.pop(key, None)
        self._leave(key)

    def _leave(self, key: str) -> None:
        """Leave a record on disk until it is asked for."""
        self._known.pop(key, None)
        self._added.add(key)
