"""The page that says what a figure shows."""

from collections.abc import Sequence

from tabulate import tabulate


def page(
    name: str,
    title: str,
    caption: str,
    notes: Sequence[str],
    facts: Sequence[Sequence[str]] = (),
    header: Sequence[str] = (),
) -> str:
    """Write the Markdown page of a figure.

    Parameters
    ----------
    name : str
        Of the picture beside it, without ``.svg``.
    title, caption : str
        What stands above and under it.
    notes : sequence of str
        What else a reader must know.
    facts, header : sequence
        Lines of a table, and its headings.

    Returns
    -------
    str
        Text of the file, with a newline at its end.
    """
    parts = [f"# {title}", f"![{title}]({name}.svg)", caption, *notes]
    if facts:
        parts.append(tabulate(facts, header, tablefmt="pipe", disable_numparse=True))
    return "\n\n".join(parts) + "\n"
