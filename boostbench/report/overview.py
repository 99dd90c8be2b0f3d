"""How much is reproduced, line by line: what the page, the figure and the README show alike."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isnan
from statistics import median

from boostbench.report.papers import papers, title
from boostbench.report.tables import Table
from boostbench.report.verdicts import VERDICTS, Counts, Tally, not_shown


@dataclass(frozen=True)
class Line:
    """What is counted, and the counts.

    Attributes
    ----------
    name : str
        Of the paper, table or algorithm.
    title : str
        What is written.
    tally : Tally
        The numbers.
    about : str
        What more there is to say of it.
    is_paper : bool
        Whether the lines after it are its tables.
    """

    name: str
    title: str
    tally: Tally
    about: str = ""
    is_paper: bool = False


def in_order(tables: Iterable[Table]) -> list[Table]:
    """Put tables of one paper together, papers in their order, tables of no paper last."""
    order = [*papers(), *dict.fromkeys(table.paper for table in tables if table.paper), ""]
    return sorted(tables, key=lambda table: order.index(table.paper))


def short_title(table: Table) -> str:
    """Give a table's title without the paper's."""
    return table.title.removeprefix(f"{title(table.paper)}, ")


def by_table(counts: Counts, tables: Iterable[Table]) -> list[Line]:
    """List papers and under each its tables; tables of no paper are left out."""
    lines = []
    for paper, tally in counts.papers.items():
        lines.append(Line(paper, title(paper), tally, is_paper=True))
        for table in tables:
            if table.paper == paper:
                number, _, about = short_title(table).partition(": ")
                lines.append(Line(table.name, number, counts.tables[table.name], about))
    return lines


def by_algorithm(counts: Counts, titles: Mapping[str, str]) -> list[Line]:
    """List algorithms of which something is published, the most numbers first."""
    lines = [
        Line(name, titles.get(name, name), tally)
        for name, tally in counts.algorithms.items()
        if tally.published
    ]
    return sorted(lines, key=lambda line: -line.tally.published)


def verdicts(counts: Counts) -> list[str]:
    """Give the verdicts that some published number has, in their order."""
    return [verdict for verdict in VERDICTS if verdict in counts.total.shown]


def headline(total: Tally) -> str:
    """Tell the counts in a sentence.

    Examples
    --------
    >>> numbers = dict.fromkeys(VERDICTS, 0) | {"reproduced": 3, "worse": 1, "not run": 4}
    >>> headline(Tally(numbers))
    'The tables hold 8 published numbers. Beside 4 of them there is one of ours: 3 are
    reproduced (75%), 0 are better and 1 is worse.'
    """
    text = f"The tables hold {total.published} published numbers."
    if not total.compared:
        return f"{text} Beside none of them there is one of ours yet."
    share = f"{100 * total['reproduced'] / total.compared:.0f}%"
    return (
        f"{text} Beside {total.compared} of them there is one of ours: "
        f"{_are(total['reproduced'])} reproduced ({share}), {_are(total['better'])} better and "
        f"{_are(total['worse'])} worse."
    )


def sharpness(total: Tally) -> str:
    """Tell how small a difference can be seen, in a sentence; empty without any interval.

    Examples
    --------
    >>> sharpness(Tally({}, widths=[(1.0, 0.1), (2.0, 0.4), (3.0, 0.2)]))
    'Half of the 95% intervals are wider than ± 2.0 percentage points, or ± 20% of the published
    number: a smaller difference counts as reproduced there.'
    """
    if not total.widths:
        return ""
    halves, shares = zip(*total.widths, strict=True)
    points = [half for half in halves if not isnan(half)]
    absolute = f"± {median(points):.1f} percentage points, or " if points else ""
    return (
        f"Half of the 95% intervals are wider than {absolute}± {100 * median(shares):.0f}% of the "
        "published number: a smaller difference counts as reproduced there."
    )


def counting(total: Tally, tables: Iterable[Table]) -> str:
    """Tell how the published numbers of some tables are counted."""
    text = "Each published number counts once."
    if total.repeated:
        text = (
            "Each published number counts once, beside the first cell that shows it: "
            f"{total.repeated} more cells stand beside numbers that count already, because a paper "
            "prints them twice or because two versions of ours are shown."
        )
    absent = not_shown(tables)
    if absent:
        text += f" Of the same tables, the papers print {absent} more numbers that have no cell."
    return text


def _are(number: int) -> str:
    return f"{number} {'is' if number == 1 else 'are'}"
