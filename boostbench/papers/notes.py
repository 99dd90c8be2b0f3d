"""Claims, notes, statements and remarks: sentences beside the numbers of a table.

Notes are known reasons for differences, from the ``notes.yaml`` of a paper's folder. A note fits a
cell where all its keys do: ``table`` is a published table, ``data`` a row of ours, and all other
keys are columns of the published table; a list holds alternatives. Statements are the paper's tests
of two algorithms, from its ``wilcoxon.csv``.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec
import yaml

from boostbench.papers.metadata import Condition, library, published_table, read_conditions
from boostbench.papers.published import Published, read_paper_file
from boostbench.util.configs import paper_folders


class Claim(msgspec.Struct, frozen=True):
    """Claim of a paper about columns of a table.

    Attributes
    ----------
    says : str
        Claim in words.
    better, alike : list of list of str
        Pairs of columns, in one of the two lists: the first is better than the second, or both are
        alike.
    within : float, default=None
        Largest difference of columns that are `alike`, in the unit of the table.
    times : float, default=1.0
        Factor of the numbers of the second columns.
    rows : list of str
        Names of the rows that the claim is about; empty: all rows.
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


class _Note(NamedTuple):
    """Entry of a ``notes.yaml``.

    Attributes
    ----------
    text : str
        The note.
    where : tuple of Condition
        Conditions on the cells that it explains.
    """

    text: str
    where: tuple[Condition, ...]


def find_note(published: Published, data: str) -> str | None:
    """Return the reason why a published number may not be reproduced.

    Parameters
    ----------
    published : Published
        The number, with its line of the published table.
    data : str
        Name of our data set, which may differ from the name in the published table.

    Returns
    -------
    str or None
        First note of the paper that fits; None without one, and for a number of a user's file.
    """
    table = library().find_table(published.table)
    if table is None:
        return None
    facts = {**published.line, "data": data, "table": published.table}
    for note in _read_notes(table.path.with_name("notes.yaml")):
        if all(facts.get(column) in values for column, values in note.where):
            return note.text
    return None


@cache
def _read_notes(path: Path) -> list[_Note]:
    """Return the notes of a file; none if there is no file."""
    if not path.exists():
        return []
    notes = []
    for entry in yaml.safe_load(path.read_text(encoding="utf-8")):
        # The lines of published tables are texts, so that numbers of YAML are compared as texts.
        where = [
            Condition(column, tuple(map(str, values)))
            for column, values in read_conditions(entry, "note")
        ]
        notes.append(_Note(" ".join(entry["note"].split()), tuple(where)))
    return notes


class Statement(NamedTuple):
    """Line of a paper's ``wilcoxon.csv``: a signed-rank test that the paper reports.

    Attributes
    ----------
    table : str
        Number of the table in the paper.
    a, b : str
        Names of the two algorithms.
    n_data, statistic, critical_value_5pct : str
        Number of data sets, and the numbers of the test as they are printed.
    significant : {"yes", "no"}
        Result at 5 %.
    """

    table: str
    a: str
    b: str
    n_data: str
    statistic: str
    critical_value_5pct: str
    significant: str

    @property
    def sentence(self) -> str:
        """The statement in words."""
        verdict = "rejects" if self.significant == "yes" else "fails to reject"
        return (
            f"The paper, over {self.n_data} data sets: statistic {self.statistic}, critical value "
            f"{self.critical_value_5pct}; WSRT {verdict} the null hypothesis."
        )


def read_statements(paper: str) -> list[Statement]:
    """Return the signed-rank tests that a paper reports; none without a ``wilcoxon.csv``."""
    path = dict(paper_folders())[paper] / "wilcoxon.csv"
    if not path.exists():
        return []
    lines = read_paper_file(path)
    return [Statement(*(line.texts[name] for name in Statement._fields)) for line in lines]


def find_statement(table: str, a: Collection[str], b: Collection[str]) -> str | None:
    """Return a paper's statement on a Wilcoxon signed-rank test between two columns.

    Parameters
    ----------
    table : str
        Name of the CSV file without its ending.
    a, b : collection of str
        Names of each of the two algorithms: ``rboost_proj``, ``rboost_proj:wlda``.

    Returns
    -------
    str or None
        Sentence; None if the paper reports no such test.
    """
    paper_table = published_table(table)
    for reported in read_statements(paper_table.paper):
        is_pair = (reported.a in a and reported.b in b) or (reported.a in b and reported.b in a)
        if reported.table == paper_table.number and is_pair:
            return reported.sentence
    return None


def filter_remarks(
    remarks: Sequence[str],
    titles: Sequence[Collection[str]],
    displayed_titles: Sequence[Collection[str]],
) -> list[str]:
    """Return the remarks on displayed rows and columns, and a hint if there are more remarks.

    A remark that names no row concerns all rows, and one that names no column all columns.

    Parameters
    ----------
    remarks : sequence of str
        Sentences on a table.
    titles, displayed_titles : sequence of collection of str
        Titles of the rows, and titles of the columns. The first argument has all titles of the
        table, the second one the displayed titles.

    Returns
    -------
    list of str
        Selected remarks. If some are left out, a last sentence says how to show all.
    """
    selected = list(remarks)
    # The first pass is for rows, the second one for columns. A remark is left out if it names
    # titles, and none of them is displayed.
    for all_titles, shown_titles in zip(titles, displayed_titles, strict=True):
        selected = [
            remark
            for remark in selected
            if not (named := names_in_text(remark, all_titles)) or named & set(shown_titles)
        ]
    if len(selected) < len(remarks):
        selected.append("The whole table has more remarks; rerun=never shows it and runs nothing.")
    return selected


def names_in_text(text: str, names: Iterable[str]) -> set[str]:
    """Return the names that a text contains; a part of a longer name does not count.

    Examples
    --------
    >>> sorted(names_in_text("AdaBoost.MO on vowel528 and wine.", ["AdaBoost", "vowel", "wine"]))
    ['wine']
    """
    longest = sorted(map(re.escape, names), key=len, reverse=True)
    return set(re.findall(rf"(?<![\w.-])(?:{'|'.join(longest)})(?![\w^-]|\.\w)", text))
