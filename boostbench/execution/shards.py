"""Shards: parts of a run that machines execute independently, each into its own files."""

import re
from pathlib import Path
from typing import NamedTuple

from boostbench.util.errors import UserError


class Shard(NamedTuple):
    """Part of a run.

    The key of a piece of work alone determines its shard, so that all machines agree.

    Attributes
    ----------
    number : int
        From 1.
    n_shards : int
    """

    number: int
    n_shards: int

    @classmethod
    def parse(cls, text: str | None) -> "Shard | None":
        """Parse ``"3/20"``; None is no shard.

        Raises
        ------
        UserError
            If the text has another form.

        Examples
        --------
        >>> Shard.parse("3/20")
        Shard(number=3, n_shards=20)
        """
        if text is None:
            return None
        match = re.fullmatch(r"([1-9]\d{0,5})/([1-9]\d{0,5})", str(text))
        if not match or int(match[1]) > int(match[2]):
            raise UserError(f"shard is {text!r}; write shard=3/20 for the third of twenty parts")
        return cls(int(match[1]), int(match[2]))

    def takes(self, key: str) -> bool:
        """Return True if the piece of work with this key (hex digits) belongs to the shard."""
        return int(key, 16) % self.n_shards == self.number - 1

    def folder(self, results: Path) -> Path:
        """Return the folder of the records of this shard."""
        return Path(results) / "shards" / f"{self.number}-of-{self.n_shards}"

    def __str__(self) -> str:
        return f"{self.number}/{self.n_shards}"
