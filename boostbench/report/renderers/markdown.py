"""Documents as Markdown."""

import re
from collections.abc import Iterable, Sequence
from functools import cache

from tabulate import tabulate

from boostbench.report.blocks import Document, Entry
from boostbench.util.terminal import printable

# Characters that are markup at any position; an underscore is not markup inside a word.
_MARKUP = re.compile(r"[|*`~]|\\(?=[!-/:-@\[-`{-~])|(?<![^\W_])_|_(?![^\W_])|(?<=\])\(|&(?=#?\w+;)")
# Characters that begin a heading, a list or a quotation.
_START = re.compile(r"^(\d*)([#>+.)-])(?=\s|#)")


def markdown(document: Document) -> str:
    """Return a document as Markdown."""
    parts = [f"# {escape(document.title)}"]
    if document.headline:
        parts.append(f"**{escape(document.headline)}**")
    heads = [f"{head.group}, {head.title}".removeprefix(", ") for head in document.heads]
    rows = [[row.label, *row.entries] for row in document.rows]
    parts.append(pipe_table(rows, ["data", *heads]))
    parts += map(escape, [document.caption, *document.findings, *document.full_notes])
    title = None
    for listing in document.listings:
        if listing.title != title:
            title = listing.title
            parts.append(f"## {title}")
        parts.append(pipe_table(listing.rows, listing.heads, listing.n_names))
        sentences = [listing.summary, listing.explanation, *listing.reasons]
        parts += [escape(text) for text in sentences if text]
    return "\n\n".join(parts) + "\n"


@cache
def escape(text: str) -> str:
    r"""Return plain text as one line of Markdown, with all markup escaped.

    Examples
    --------
    >>> print(escape("a|b <i> *c* rboost_proj _d_"))
    a\|b &lt;i> \*c\* rboost_proj \_d\_
    """
    text = text if text.isprintable() else printable(text)
    text = _MARKUP.sub(r"\\\g<0>", " ".join(text.split()))
    return _START.sub(r"\1\\\2", text.replace("<", "&lt;"))


def pipe_table(rows: Iterable[Sequence[str | Entry]], heads: Sequence[str], n_left: int = 1) -> str:
    """Return a Markdown table of plain texts, which are escaped; best entries are bold.

    The first `n_left` columns are left-aligned, the others right-aligned.
    """
    written = [list(map(_bold, row)) for row in rows]
    return pipe_table_of_markdown(written, [escape(head) for head in heads], n_left)


def pipe_table_of_markdown(
    rows: Sequence[Sequence[str]], heads: Sequence[str], n_left: int = 1
) -> str:
    """Return a table of texts that are Markdown already; see `pipe_table`."""
    return tabulate(
        rows,
        heads,
        tablefmt="pipe",
        disable_numparse=True,
        colalign=["left"] * n_left + ["right"] * (len(heads) - n_left),
    )


def _bold(text: str | Entry) -> str:
    """Return a text or an entry as Markdown, in bold if the entry is the best of its row."""
    if isinstance(text, str):
        return escape(text)
    return f"**{escape(text.printed)}**" if text.best else escape(text.printed)
