"""The page that says what a figure shows."""

from collections.abc import Sequence

from tabulate import tabulate

from boostbench.report.renderers.markdown import escape


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
    title = escape(title)
    parts = [f"# {title}", f"![{title}]({name}.svg)", escape(caption), *map(escape, notes)]
    if facts:
        rows = [[escape(text) for text in row] for row in facts]
        parts.append(tabulate(rows, header, tablefmt="pipe", disable_numparse=True))
    return "\n\n".join(parts) + "\n"
