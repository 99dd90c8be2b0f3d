"""The overview of reproduced numbers in ``results/README.md``."""

from collections.abc import Collection, Iterable, Sequence

from boostbench.analysis.tables import Table
from boostbench.analysis.verdicts import VERDICTS, counts
from boostbench.report import overview
from boostbench.report.renderers.markdown import aligned, escape


def readme(tables: Sequence[Table], picture: str, written: Collection[str]) -> str:
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
    tables = overview.sort_by_paper(tables)
    counted = counts(tables)
    total, columns = counted.total, counted.total.verdicts
    rows = []
    for line in overview.table_lines(counted, tables):
        title, about = escape(line.title), escape(line.about)
        name = f"[{title}](tables/{line.name}.md)" if line.name in written else title
        texts = [f"{name}: {about}" if about else name, line.tally.published]
        texts += [
            *(line.tally.count(verdict) for verdict in columns),
            str(line.swaps),
            str(line.effects),
        ]
        rows.append([f"**{text}**" for text in texts] if line.is_paper else texts)
    table = aligned(rows, ["table", "published", *columns, overview.SWAPPED, overview.REPLICATED])
    facts = [
        *overview.sentences(total),
        overview.sharpness(total),
        overview.swapped(counted.swaps[""]),
        overview.replicated(counted.effects[""]),
    ]
    return "\n\n".join(
        [
            "# Results",
            "Written by `boostbench report` from `records/`; do not edit.",
            "Each published number has a verdict:",
            _items(f"*{verdict}*: {VERDICTS[verdict].meaning}" for verdict in columns),
            "In numbers:",
            _items(filter(None, facts)),
            f"![How much is reproduced, by table]({picture})",
            table,
            overview.counting(total, tables),
            f"*{overview.SWAPPED}*: {overview.SWAPPED_EXPLANATION}.",
            f"*{overview.REPLICATED}*: {overview.REPLICATED_EXPLANATION}.",
            "`boostbench report` also writes `report.html`, one page with every table, figure and "
            "the details of each number.\n",
        ]
    )


def _items(texts: Iterable[str]) -> str:
    return "\n".join(f"- {text}" for text in texts)
