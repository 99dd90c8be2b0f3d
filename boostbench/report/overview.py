"""Counts of reproduced numbers as sentences and lines.

The HTML page, the overview figure, the README of the results and ``boostbench check`` use them. A
verdict compares one number with its published number. *Swaps* compare it with the published numbers
of the other algorithms on the same data. *Effects* are pairs of algorithms whose published numbers
differ measurably.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from math import isnan
from statistics import median

from boostbench.analysis.algorithm_pairs import Effects, Swaps
from boostbench.analysis.result_table import Table
from boostbench.analysis.statistics.agreement import MARGIN, POWER
from boostbench.analysis.verdicts import (
    COMPARED,
    CORRECTED,
    VERDICTS,
    WITHOUT_POOL,
    Counts,
    Tally,
    count_numbers_without_cell,
    count_tables,
)
from boostbench.papers.metadata import library, paper_title
from boostbench.report.renderers.markdown import escape, pipe_table_of_markdown
from boostbench.report.wording import STALE
from boostbench.util.configs import read_titles
from boostbench.util.errors import join_words

#: Heading of `CountedLine.swaps`, and its explanation.
SWAPS_HEAD = "reproduced, own / other"
SWAPS_EXPLANATION = (
    "the share that is reproduced beside the published number of the same algorithm, and beside "
    "the published numbers of the other algorithms on the same data"
)

#: Heading of `CountedLine.effects`, and its explanation.
EFFECTS_HEAD = "effects: order / significant"
EFFECTS_EXPLANATION = (
    "the number of pairs of algorithms that the published numbers separate on a data set, the "
    "share that has the same order in ours, and the share that ours separate as well"
)


@dataclass(frozen=True)
class CountedLine:
    """A paper, table or algorithm with its counts.

    Attributes
    ----------
    name : str
        Name of the paper, table or algorithm.
    title : str
        Printed title.
    tally : Tally
        Counts of verdicts.
    subtitle : str
        Title of a table without its number: ``"error by nu"`` of ``"Table I: error by nu"``.
    swaps : Swaps
        Comparisons with the published numbers of other algorithms.
    effects : Effects
        Pairs of algorithms that the published numbers separate.
    is_paper : bool
        Whether the line is a paper, followed by the lines of its tables.
    """

    name: str
    title: str
    tally: Tally
    subtitle: str = ""
    swaps: Swaps = field(default_factory=Swaps)
    effects: Effects = field(default_factory=Effects)
    is_paper: bool = False


def sort_by_paper(tables: Iterable[Table]) -> list[Table]:
    """Return tables sorted by paper; tables without a paper come last."""
    papers = [paper.name for paper in library().papers]
    order = [*papers, *dict.fromkeys(table.paper for table in tables if table.paper), ""]
    return sorted(tables, key=lambda table: order.index(table.paper))


def short_title(table: Table) -> str:
    """Return the title of a table without the title of its paper."""
    return table.title.removeprefix(f"{paper_title(table.paper)}, ")


def table_lines(counts: Counts, tables: Iterable[Table]) -> list[CountedLine]:
    """Return the lines of papers, each followed by its tables; other tables are omitted."""
    lines = []
    for paper in counts.papers:
        _, tally, swaps, effects = paper
        lines.append(
            CountedLine(
                paper.name, paper_title(paper.name), tally, "", swaps, effects, is_paper=True
            )
        )
        for table in tables:
            if table.paper == paper.name:
                number, _, subtitle = short_title(table).partition(": ")
                _, tally, swaps, effects = counts.table(table.name)
                lines.append(CountedLine(table.name, number, tally, subtitle, swaps, effects))
    return lines


def algorithm_lines(counts: Counts) -> list[CountedLine]:
    """Return the lines of algorithms by descending number of published numbers."""
    titles = read_titles("algo")
    lines = [
        CountedLine(algorithm.name, titles.get(algorithm.name, algorithm.name), algorithm.tally)
        for algorithm in counts.algorithms
        if algorithm.tally.published
    ]
    return sorted(lines, key=lambda line: -line.tally.published)


def counts_paragraph(total: Tally) -> str:
    """Return the counts as one paragraph.

    Examples
    --------
    >>> from boostbench.analysis.verdicts import VERDICTS
    >>> numbers = dict.fromkeys(VERDICTS, 0) | {"undecided": 3, "not run": 5}
    >>> counts_paragraph(Tally(numbers))
    'The tables hold 8 published numbers. For 3 of them there is a number of ours. 0 are reproduced
    (0%), 0 are better, 0 are worse and 3 are undecided. 0%, 0% and 0% of the numbers are shown to
    lie within 10%, 20% and 30% of the published error. 0 can be decided: a difference of 20% of the
    published error would have been detected.'
    """
    return " ".join(counts_sentences(total))


def counts_sentences(total: Tally) -> list[str]:
    """Return the counts in sentences: all compared numbers, then the decidable ones."""
    # 1) Count all compared numbers.
    text = f"The tables hold {total.published} published numbers."
    if not total.compared:
        return [f"{text} For none of them there is a number of ours yet."]
    verdicts = ", ".join(f"{_number_and_verb(total[v])} {v}" for v in ("better", "worse"))
    parts = [
        f"{text} For {total.compared} of them there is a number of ours.",
        f"{_number_and_verb(total['reproduced'])} reproduced ({_reproduced_share(total)}), "
        f"{verdicts} and {_number_and_verb(total['undecided'])} undecided.",
        _margins_sentence(total),
    ]
    # 2) Count the numbers whose detectable difference is within the margin.
    decidable = total.decidable
    n_decidable = decidable.total()
    text = (
        f"{n_decidable} can be decided: a difference of {MARGIN:.0%} of the published error would "
        "have been detected"
    )
    if n_decidable:
        verdicts = ", ".join(f"{_number_and_verb(decidable[v])} {v}" for v in ("better", "worse"))
        text += (
            f": {_number_and_verb(decidable['reproduced'])} reproduced "
            f"({decidable['reproduced'] / n_decidable:.0%}), {verdicts} and "
            f"{_number_and_verb(decidable['undecided'])} undecided"
        )
    parts.append(f"{text}.")
    # 3) Count again with a correction, and without the variance of drawn pools.
    if total.is_corrected:
        counts = ", ".join(
            f"{_number_and_verb(n)} {verdict}" for verdict, n in total.corrected.items()
        )
        parts.append(f"Corrected for the number of tests, {counts}.")
    if total.without_pool:
        verdicts = ", ".join(f"{_number_and_verb(total.without_pool[v])} {v}" for v in COMPARED)
        parts.append(f"Without the variance of one pool in any interval, {verdicts}.")
    if older := sum(bool(cell.stale) for cell in total.judged):
        parts.append(
            f"{older} of ours rest on records of an older edition, in part or whole ({STALE} in "
            "the tables); today's code may give others."
        )
    return parts


def _reproduced_share(total: Tally) -> str:
    """Return the share of the compared numbers that is reproduced, with its interval."""
    share = f"{total['reproduced'] / total.compared:.0%}"
    low, high = total.interval
    if isnan(low):
        return share
    return f"{share}; 95% interval over data sets {low:.0%} to {high:.0%}"


def _margins_sentence(total: Tally) -> str:
    """Return the shares within each margin, so that a reader can choose another margin."""
    margins = join_words([f"{margin:.0%}" for margin in total.within])
    shares = join_words([f"{n / total.compared:.0%}" for n in total.within.values()])
    return f"{shares} of the numbers are shown to lie within {margins} of the published error."


def swaps_sentence(swaps: Swaps) -> str:
    """Return a sentence on how well verdicts distinguish algorithms; empty without swaps.

    Examples
    --------
    >>> swaps_sentence(Swaps(8, 9, 10, 30, 35, 40))
    'How well verdicts distinguish algorithms: 80% of 10 numbers are reproduced, and 90% do not
    differ measurably, when they are compared with the published number of their own algorithm; 75%
    and 88% when they are compared with those of other algorithms on the same data.'
    """
    if not swaps.n_other:
        return ""
    return (
        f"How well verdicts distinguish algorithms: {swaps.own / swaps.n_own:.0%} of {swaps.n_own} "
        f"numbers are reproduced, and {swaps.own_alike / swaps.n_own:.0%} do not differ "
        "measurably, when they are compared with the published number of their own algorithm; "
        f"{swaps.other / swaps.n_other:.0%} and {swaps.other_alike / swaps.n_other:.0%} when they "
        "are compared with those of other algorithms on the same data."
    )


def effects_sentence(effects: Effects) -> str:
    """Return a sentence about the replicated effects; empty without an effect."""
    if not effects.separated:
        return ""
    same_order, separated, opposite = (
        f"{n / effects.separated:.0%}"
        for n in (effects.same_sign, effects.significant, effects.reversed_significant)
    )
    return (
        f"Of {effects.separated} pairs of algorithms that the papers' numbers separate on a data "
        f"set, {same_order} have the same order in ours, and {separated} are separated by ours as "
        f"well; {opposite} are separated in the opposite order."
    )


def detectable_sentences(total: Tally) -> str:
    """Return sentences on the detectable differences; empty if none is known.

    A difference is detectable if a test would find it with a probability of 80%, given the splits
    of both sides.
    """
    # Half of the cells have a detectable difference of at most the median. Cells of which only the
    # rounding is known have none.
    tested = [cell for cell in total.judged if not isnan(cell.agreement.detectable)]
    if not tested:
        return ""
    points = [cell.agreement.detectable for cell in tested if cell.quantity.symbol == "%"]
    size = (
        f"{median(cell.agreement.detectable_share for cell in tested):.0%} of the published error"
    )
    if points:
        size = f"{median(points):.1f} percentage points, or {size},"
    text = (
        f"In half of the cells a difference of {size} would have been detected with a probability "
        f"of {POWER:.0%}."
    )
    undecided = [cell.agreement for cell in tested if cell.agreement.verdict == "undecided"]
    n_undecidable = sum(not agreement.can_be_reproduced for agreement in undecided)
    if n_undecidable:
        text += (
            f" {n_undecidable} of the undecided numbers could not be shown to lie within "
            f"{MARGIN:.0%} by any number of splits of ours: the paper has too few splits, or drew "
            "them from one pool of samples."
        )
    return text


def counting_sentences(total: Tally, tables: Iterable[Table]) -> str:
    """Return sentences on how published numbers are counted."""
    text = "Each published number counts once."
    if total.repeated:
        text = (
            "Each published number counts once, beside the first cell that was run: "
            f"{total.repeated} more cells are beside numbers that count already, because a paper "
            "prints them twice or because two versions of ours are shown."
        )
    if total.is_corrected:
        text += f" {CORRECTED}"
    if total.without_pool:
        text += f" {WITHOUT_POOL}"
    absent = count_numbers_without_cell(tables)
    if absent:
        text += f" Of the same tables, the papers print {absent} more numbers that have no cell."
    return text


def _number_and_verb(number: int) -> str:
    """Return a number with its verb: ``"1 is"``, ``"2 are"``."""
    return f"{number} {'is' if number == 1 else 'are'}"


def make_readme(tables: Sequence[Table], picture: str, written: Collection[str]) -> str:
    """Return the overview as Markdown.

    Parameters
    ----------
    tables : sequence of Table
        All tables.
    picture : str
        Path of the headline picture.
    written : collection of str
        Names of the tables that have a file ``tables/NAME.md``.

    Returns
    -------
    str
        Text of the file, with a newline at its end.
    """
    tables = sort_by_paper(tables)
    counted = count_tables(tables)
    total, columns = counted.total, counted.total.verdicts
    rows = []
    for line in table_lines(counted, tables):
        title, subtitle = escape(line.title), escape(line.subtitle)
        name = f"[{title}](tables/{line.name}.md)" if line.name in written else title
        texts = [
            f"{name}: {subtitle}" if subtitle else name,
            line.tally.published,
            *(line.tally.count_text(verdict) for verdict in columns),
            str(line.swaps),
            str(line.effects),
        ]
        rows.append([f"**{text}**" for text in texts] if line.is_paper else texts)
    table = pipe_table_of_markdown(rows, ["table", "published", *columns, SWAPS_HEAD, EFFECTS_HEAD])
    facts = [
        *counts_sentences(total),
        detectable_sentences(total),
        swaps_sentence(counted.swaps),
        effects_sentence(counted.effects),
    ]
    return "\n\n".join(
        [
            "# Results",
            "Written by `boostbench report` from `records/`; do not edit.",
            "Each published number has a verdict:",
            _markdown_list(f"*{verdict}*: {VERDICTS[verdict].meaning}" for verdict in columns),
            "In numbers:",
            _markdown_list(filter(None, facts)),
            f"![How much is reproduced, by table]({picture})",
            table,
            counting_sentences(total, tables),
            f"*{SWAPS_HEAD}*: {SWAPS_EXPLANATION}.",
            f"*{EFFECTS_HEAD}*: {EFFECTS_EXPLANATION}.",
            "`boostbench report` also writes `report.html`, one page with every table, figure and "
            "the details of each number.\n",
        ]
    )


def _markdown_list(texts: Iterable[str]) -> str:
    """Return texts as a list of Markdown, one item a line."""
    return "\n".join(f"- {text}" for text in texts)
