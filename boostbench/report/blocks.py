"""The blocks of a document: what a renderer gets, whatever a table is about."""

from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple


class Head(NamedTuple):
    """Heading of a column, that over several of them, and what a search finds them by."""

    group: str
    title: str
    find: str = ""


class Entry(NamedTuple):
    """What stands in a place of a table.

    Attributes
    ----------
    text : str
        A number, or why there is none.
    best : bool, default=False
        Whether it is the best of its row.
    marks : str, default=""
        Stand behind the text.
    published : str, default=""
        The number that it is compared with.
    value : float, default=None
        What a column is sorted by.
    verdict : str, default=""
        What the comparison says.
    place : (str, str), default=None
        Row and column of the cell that it is about.
    """

    text: str
    best: bool = False
    marks: str = ""
    published: str = ""
    value: float | None = None
    verdict: str = ""
    place: tuple[str, str] | None = None

    @property
    def printed(self) -> str:
        """The text with its marks."""
        return self.text + self.marks


@dataclass(frozen=True)
class Line:
    """A line of a list.

    Attributes
    ----------
    texts : list of str
        Under the heads.
    strong : set of int, default=set()
        Places of the texts that are emphasised.
    is_known : bool, default=True
        Whether there is a number of ours; where there is little space, other lines are left out.
    verdict : str, default=""
        That the last text begins with.
    find : str, default=""
        What a search finds it by.
    """

    texts: list[str]
    strong: frozenset[int] = frozenset()
    is_known: bool = True
    verdict: str = ""
    find: str = ""


@dataclass(frozen=True)
class Listing:
    """A list, and what is said below it.

    Attributes
    ----------
    title : str
        Heading; lists of one title after each other share it.
    heads : list of str
        Headings of the columns.
    lines : list of Line
        Under them.
    explanation : str
        Says what they are.
    summary : str, default=""
        What they come to.
    reasons : list of str, default=[]
        What more there is to say.
    left : int, default=2
        How many columns hold names.
    is_appendix : bool, default=False
        Whether it is for files alone, not for a screen.
    """

    title: str
    heads: list[str]
    lines: list[Line]
    explanation: str
    summary: str = ""
    reasons: list[str] = field(default_factory=list)
    left: int = 2
    is_appendix: bool = False

    @property
    def rows(self) -> list[list[str]]:
        """The texts of all lines."""
        return [line.texts for line in self.lines]


class Row(NamedTuple):
    """A row: its title, the title with what there is to say, what a search finds, its entries."""

    title: str
    label: str
    find: str
    entries: list[Entry]


class RankRow(NamedTuple):
    """Average ranks of the columns, and a sentence about them.

    Attributes
    ----------
    entries : list of Entry
        Under the heads; empty for columns that are not ranked.
    explanation : str
    """

    entries: list[Entry]
    explanation: str


@dataclass(frozen=True)
class Document:
    """A table with all that is said of it, in the order in which it is read.

    Attributes
    ----------
    name, title : str
        Of the table; the first names files.
    headline : str or None
        What is not as the table is defined.
    heads : list of Head
        Of each column.
    rows : list of Row
        Under them.
    caption : str
        What the numbers are.
    tests : list of str
        Results of tests of two columns, one sentence each.
    tests_summary : str
        The same results in short; empty without tests.
    claims : list of str
        Judgements of the paper's claims.
    notes : list of str
        Remarks on the numbers, one sentence each.
    freshness : list of str
        Sentences on stale numbers and on refits.
    ranks : RankRow or None
        Average ranks; None where nothing can be ranked.
    listings : list of Listing
        Of every two columns, of published numbers, of times.
    """

    name: str
    title: str
    headline: str | None
    heads: list[Head]
    rows: list[Row]
    caption: str
    tests: list[str]
    tests_summary: str
    claims: list[str]
    notes: list[str]
    freshness: list[str]
    ranks: RankRow | None
    listings: list[Listing]

    @property
    def findings(self) -> list[str]:
        """The results of tests, and the judgements of claims."""
        return [*self.tests, *self.claims]

    @property
    def full_notes(self) -> list[str]:
        """The remarks, and the sentences on freshness."""
        return [*self.notes, *self.freshness]

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Headings over several columns, and over how many; none where no column has one."""
        groups = [(group, len(list(heads))) for group, heads in groupby(self.heads, itemgetter(0))]
        return groups if any(group for group, _ in groups) else []
