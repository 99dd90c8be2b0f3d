"""What papers say of algorithms in words."""

import msgspec


class Claim(msgspec.Struct, frozen=True):
    """What the paper says of columns, to be judged.

    Attributes
    ----------
    says : str
        In words.
    better, alike : list of list of str
        Pairs of columns, in one of the two: the first is better than the second, or they are alike.
    within : float, default=None
        How far apart columns may be to be `alike`, in the unit of what the table shows.
    times : float, default=1.0
        What the numbers of the second columns are multiplied by.
    rows : list of str
        Where; empty for everywhere.
    """

    says: str
    better: list[list[str]] = []
    alike: list[list[str]] = []
    within: float | None = None
    times: float = 1.0
    rows: list[str] = []

    @property
    def pairs(self) -> list[list[str]]:
        """The pairs of columns."""
        return self.better or self.alike
