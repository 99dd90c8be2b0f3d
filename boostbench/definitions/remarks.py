"""Which remarks of a table are on some of its rows and columns."""

import re
from collections.abc import Iterable, Mapping, Sequence

from boostbench.config.rows_and_columns import ColumnDefinition, RowDefinition
from boostbench.util import configs


def remarks_on(
    remarks: Sequence[str],
    rows: Mapping[str, RowDefinition],
    columns: Mapping[str, ColumnDefinition],
    kept_rows: Iterable[str],
    kept_columns: Iterable[str],
) -> list[str]:
    """Leave out what is said of other rows or columns alone, and say where it is."""
    kept = list(remarks)
    headings = {name: column.heading(name, _config(name)) for name, column in columns.items()}
    for titles, names in (
        ({name: row.title for name, row in rows.items()}, kept_rows),
        (headings, kept_columns),
    ):
        shown = {titles[name] for name in names}
        kept = [r for r in kept if (named(r, titles.values()) or shown) & shown]
    if len(kept) < len(remarks):
        kept.append("The whole table has more remarks; rerun=never shows it and runs nothing.")
    return kept


def named(text: str, names: Iterable[str]) -> set[str]:
    """Find names in a text; one that is a part of another is none.

    Examples
    --------
    >>> sorted(named("AdaBoost.MO on vowel528, and on wine.", ["AdaBoost", "vowel", "wine"]))
    ['wine']
    """
    longest = sorted(map(re.escape, names), key=len, reverse=True)
    return set(re.findall(rf"(?<![\w.-])(?:{'|'.join(longest)})(?![\w^-]|\.\w)", text))


def _config(name: str) -> Mapping:
    """Read the config of the algorithm that a column may be called by."""
    return (
        configs.read_option("algo", name)
        if name in configs.list_options("algo")
        else {"title": name}
    )
