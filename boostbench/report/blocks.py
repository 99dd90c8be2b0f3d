"""Blocks of a document, the input of every renderer.

`boostbench.report.document` makes them from a table. They hold printed texts, so that a renderer
needs to know no table and no records.
"""

from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple


class Head(NamedTuple):
    """Heading of a column.

    Attributes
    ----------
    group : str
        Heading over several columns, such as an algorithm; empty for a column by itself.
    title : str
        Heading of the column.
    search_text : str, default=""
        Text in lower case that a search on the page matches: names of the algorithm.
    """

    group: str
    title: str
    search_text: str = ""


class Entry(NamedTuple):
    """Printed entry of a table.

    Attributes
    ----------
    text : str
        A number, or the reason why there is none.
    best : bool, default=False
        Whether the entry is the best of its row.
    marks : str, default=""
        Marks behind the text, such as † for stale records.
    published : str, default=""
        Published number, formatted.
    value : float, default=None
        Number behind the text, by which the page sorts a column; None without a number.
    verdict : str, default=""
        Verdict of the comparison with the published number.
    place : (str, str), default=None
        Names of the row and the column of the table cell whose details the page shows; None for
        CPU times, speed-ups and ranks.
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
        """Text with its marks."""
        return self.text + self.marks


@dataclass(frozen=True)
class Line:
    """A line of a list.

    Attributes
    ----------
    texts : list of str
        Texts under the heads.
    bold : frozenset of int, default=frozenset()
        Indices of the texts in bold.
    has_our_number : bool, default=True
        Whether the line has a number of ours; the terminal omits lines without one.
    verdict : str, default=""
        Verdict at the beginning of the last text.
    search_text : str, default=""
        Text that a search matches.
    """

    texts: list[str]
    bold: frozenset[int] = frozenset()
    has_our_number: bool = True
    verdict: str = ""
    search_text: str = ""


@dataclass(frozen=True)
class Listing:
    """A list with the sentences below it.

    Attributes
    ----------
    title : str
        Heading; consecutive lists with the same title share it.
    heads : list of str
        Headings of the columns.
    lines : list of Line
        Lines under the heads.
    explanation : str
        Explanation of the columns.
    summary : str, default=""
        Summary of the lines.
    reasons : list of str, default=[]
        Further sentences, such as reasons for differences.
    n_names : int, default=2
        Number of leading columns that hold names.
    is_appendix : bool, default=False
        Whether the list is written to files only and not to the screen.
    """

    title: str
    heads: list[str]
    lines: list[Line]
    explanation: str
    summary: str = ""
    reasons: list[str] = field(default_factory=list)
    n_names: int = 2
    is_appendix: bool = False

    @property
    def rows(self) -> list[list[str]]:
        """Texts of all lines."""
        return [line.texts for line in self.lines]


class Row(NamedTuple):
    """Row of a table, which is a data set.

    Attributes
    ----------
    title : str
        Name of the data set.
    label : str
        Title with the number of classes, ``"glass (6 classes)"``, where the table shows it.
    search_text : str
        Text in lower case that a search on the page matches: names of the data set.
    entries : list of Entry
        Entries under the heads.
    """

    title: str
    label: str
    search_text: str
    entries: list[Entry]


class RankRow(NamedTuple):
    """Average ranks of the columns, and a sentence about them.

    Attributes
    ----------
    entries : list of Entry
        Ranks under the heads; empty for columns that are not ranked.
    explanation : str
        Number of data sets behind the ranks, and the test of their differences.
    """

    entries: list[Entry]
    explanation: str


class Summary(NamedTuple):
    """Results of algorithms on one data set.

    Attributes
    ----------
    data : list of str
        Shape of the data set, and its source; empty if the data are not available.
    heads : list of str
        Headings of the columns.
    rows : list of list of Entry
        One row per algorithm.
    sentences : list of str
        Further scores, and values chosen by cross-validation.
    warnings : list of str
        Differences from the published experiments.
    explanation : str
        Explanation of the columns.
    """

    data: list[str]
    heads: list[str]
    rows: list[list[Entry]]
    sentences: list[str]
    warnings: list[str]
    explanation: str


class CellDetails(NamedTuple):
    """Facts about a cell, which a page shows beside its number.

    Attributes
    ----------
    heading : str
        Algorithm and data set.
    has_note : bool
        Whether a note explains the difference from the published number.
    facts : list of (str, str)
        Terms and their texts.
    """

    heading: str
    has_note: bool
    facts: list[tuple[str, str]]


@dataclass(frozen=True)
class Document:
    """A table with its sentences and lists, in reading order.

    Attributes
    ----------
    name, title : str
        Name of the table, from which file names are made, and its title.
    headline : str or None
        Sentence on settings that differ from the definition of the table.
    heads : list of Head
        Headings of the columns.
    rows : list of Row
        Rows under the heads.
    caption : str
        Explanation of the numbers.
    tests : str
        Results of tests of two columns, as one paragraph; empty without tests.
    claims : list of str
        Judgements of the paper's claims.
    notes : list of str
        Remarks on the numbers, one sentence each.
    freshness : list of str
        Sentences on stale numbers and on refits.
    ranks : RankRow or None
        Average ranks; None where nothing can be ranked.
    listings : list of Listing
        Lists of pairs of columns, of published numbers and of times.
    """

    name: str
    title: str
    headline: str | None
    heads: list[Head]
    rows: list[Row]
    caption: str
    tests: str
    claims: list[str]
    notes: list[str]
    freshness: list[str]
    ranks: RankRow | None
    listings: list[Listing]

    @property
    def findings(self) -> list[str]:
        """Results of tests, and judgements of claims."""
        return [*([self.tests] if self.tests else []), *self.claims]

    @property
    def full_notes(self) -> list[str]:
        """Remarks, and sentences on freshness."""
        return [*self.notes, *self.freshness]

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Headings of column groups with their numbers of columns; empty without groups."""
        by_group = groupby(self.heads, attrgetter("group"))
        groups = [(group, len(list(heads))) for group, heads in by_group]
        return groups if any(group for group, _ in groups) else []
