"""Shards: parts of the work that machines do on their own, each into files of its own."""

import re
from pathlib import Path
from typing import NamedTuple

from boostbench.util.errors import UserError


class Shard(NamedTuple):
    """One of so many parts of the work.

    Which part a piece of work belongs to follows from its key alone, so that all machines agree.

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
        """Read ``"3/20"``; None is no shard.

        Raises
        ------
        UserError
            If it is anything else.

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
        """Whether the piece of work with this key, of hex digits, belongs to it."""
        return int(key, 16) % self.n_shards == self.number - 1

    def folder(self, results: Path) -> Path:
        """Give the folder of its own records, beside those of all."""
        return Path(results) / "shards" / f"{self.number}-of-{self.n_shards}"

    def __str__(self) -> str:
        return f"{self.number}/{self.n_shards}"
