"""Selection of the remarks that concern the displayed part of a table."""

import re
from collections.abc import Iterable, Mapping, Sequence


def filter_remarks(
    remarks: Sequence[str], titles: Sequence[Mapping[str, str]], displayed: Sequence[Iterable[str]]
) -> list[str]:
    """Return the remarks without those on other rows or columns alone, and where to find these.

    Parameters
    ----------
    remarks : sequence of str
        Sentences on a table.
    titles : sequence of dict of str to str
        For the rows and for the columns of the whole table, the title of each by its name.
    displayed : sequence of iterable of str
        For the rows and for the columns, the names of the displayed ones.

    Returns
    -------
    list of str
    """
    kept = list(remarks)
    for title_of, names in zip(titles, displayed, strict=True):
        shown = {title_of[name] for name in names}
        kept = [r for r in kept if (names_in_text(r, title_of.values()) or shown) & shown]
    if len(kept) < len(remarks):
        kept.append("The whole table has more remarks; rerun=never shows it and runs nothing.")
    return kept


def names_in_text(text: str, names: Iterable[str]) -> set[str]:
    """Return the names that a text contains; a part of a longer name does not count.

    Examples
    --------
    >>> sorted(names_in_text("AdaBoost.MO on vowel528 and wine.", ["AdaBoost", "vowel", "wine"]))
    ['wine']
    """
    longest = sorted(map(re.escape, names), key=len, reverse=True)
    return set(re.findall(rf"(?<![\w.-])(?:{'|'.join(longest)})(?![\w^-]|\.\w)", text))
