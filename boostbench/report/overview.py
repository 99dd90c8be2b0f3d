"""How much is reproduced, line by line: what the page, the figure and the README show alike."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isnan
from statistics import median

from boostbench.report.papers import papers, title
from boostbench.report.statistics.agreement import POWER
from boostbench.report.tables import Table
from boostbench.report.verdicts import CORRECTED, VERDICTS, Counts, Tally, not_shown


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
    reproduced (75%), 0 are better, 1 is worse and 0 are undecided.'
    """
    text = f"The tables hold {total.published} published numbers."
    if not total.compared:
        return f"{text} Beside none of them there is one of ours yet."
    share = f"{100 * total['reproduced'] / total.compared:.0f}%"
    text = (
        f"{text} Beside {total.compared} of them there is one of ours: "
        f"{_are(total['reproduced'])} reproduced ({share}), {_are(total['better'])} better, "
        f"{_are(total['worse'])} worse and {_are(total['undecided'])} undecided."
    )
    if total.is_corrected:
        better, worse = total.corrected["better"], total.corrected["worse"]
        text += f" Corrected for the number of comparisons, {better} are better and {worse} worse."
    return text


def sharpness(total: Tally) -> str:
    """Tell how small a difference would have been found; empty where that is known of no number."""
    tested = [cell for cell in total.judged if not isnan(cell.agreement.detectable)]
    if not tested:
        return ""
    points = [cell.agreement.detectable for cell in tested if cell.quantity.symbol == "%"]
    size = f"{median(cell.agreement.share for cell in tested):.0%} of the published error"
    if points:
        size = f"{median(points):.1f} percentage points, or {size},"
    text = (
        f"In half of the cells a difference of {size} would have been found with a probability of "
        f"{POWER:.0%}."
    )
    beyond = sum(
        cell.agreement.verdict == "undecided" and not cell.agreement.can_tell for cell in tested
    )
    if beyond:
        text += (
            f" Of the undecided numbers, {beyond} would be so with any number of splits of ours, "
            "as the paper's are too few or are of one pool."
        )
    return text


def counting(total: Tally, tables: Iterable[Table]) -> str:
    """Tell how the published numbers of some tables are counted."""
    text = "Each published number counts once."
    if total.repeated:
        text = (
            "Each published number counts once, beside the first cell that was run: "
            f"{total.repeated} more cells stand beside numbers that count already, because a paper "
            "prints them twice or because two versions of ours are shown."
        )
    if total.is_corrected:
        text += f" {CORRECTED}"
    absent = not_shown(tables)
    if absent:
        text += f" Of the same tables, the papers print {absent} more numbers that have no cell."
    return text


def _are(number: int) -> str:
    return f"{number} {'is' if number == 1 else 'are'}"
