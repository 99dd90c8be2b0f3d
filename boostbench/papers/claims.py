"""Claims of papers about algorithms."""

import msgspec


class Claim(msgspec.Struct, frozen=True):
    """Claim of a paper about columns of a table.

    Attributes
    ----------
    says : str
        In words.
    better, alike : list of list of str
        Pairs of columns, in one of the two: the first is better than the second, or they are alike.
    within : float, default=None
        Largest difference of columns that are `alike`, in the unit of the table.
    times : float, default=1.0
        Factor of the numbers of the second columns.
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
